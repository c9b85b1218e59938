#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# abi: the binary interface of libnmscore, compared with a recorded one.
usage ()
{
  cat <<END
usage: tests/abi/abi.sh [--exact | --record | --test]

Compares the functions that libnmscore exports and the types of its installed
headers with tests/abi/libnmscore.abi. New functions, new constants, and new
fields at the end of structs that begin with their size are allowed. Any other
difference fails, because programs that were built with the recorded version
could break: CONTRIBUTING.md, "The library's interface", says what to do.

  --exact   allows no difference at all
  --record  writes tests/abi/libnmscore.abi, as a release does
  --test    makes such changes in copies of the checkout, and checks that each
            is found, and that allowed ones pass

Needs abigail-tools. The recorded interface is that of x86-64: exits with 77 on
other machines.
END
}

. "$(dirname "$0")/../../pipelines/common.sh"
. "$NMS_ROOT/tests/env/system.sh"

folder="$NMS_ROOT/tests/abi"

# dump FILE: builds the library with debug information and writes its interface. The option xla
# changes no interface, and without it fewer files are compiled.
dump ()
{
  local dir="$NMS_BUILD_DIR/abi" root="$NMS_BUILD_DIR/abi/root"
  NMS_TARGET=nmscore-library nms_build abi --buildtype=debug --prefix=/usr -Dplugin=false \
    -Dtests=disabled -Dpython=disabled -Dxla=disabled || die "the library could not be built"
  rm -rf "$root"
  meson install -C "$dir" --no-rebuild --tags devel --destdir "$root" >"$dir.log" ||
    die "the headers could not be installed (the log: $dir.log)"
  abidw --headers-dir "$root/usr/include" --drop-private-types --exported-interfaces-only \
    --no-show-locs --no-corpus-path --no-comp-dir-path --type-id-style hash --out-file "$1" \
    "$dir/nmscore/libnmscore.so" || die "abidw failed"
}

compare_exactly ()
{
  dump "$NMS_BUILD_DIR/abi.dump"
  abidiff "$folder/libnmscore.abi" "$NMS_BUILD_DIR/abi.dump" ||
    die "the interface differs from the recorded one"
}

compare ()
{
  dump "$NMS_BUILD_DIR/abi.dump"
  python3 "$folder/cut-growth.py" "$folder/libnmscore.abi" "$NMS_BUILD_DIR/abi.dump" ||
    die "the dump could not be read"
  abidiff --no-added-syms "$folder/libnmscore.abi" "$NMS_BUILD_DIR/abi.dump" ||
    die "the interface differs from the recorded one"
  say "The interface is compatible with the recorded one."
}

# expect passes|TEXT: compares the interface of the copy. With a TEXT the comparison has to fail
# and to report it.
expect ()
{
  local rc=0
  NMS_BUILD_DIR="$copy/build" "$copy/tests/abi/abi.sh" >"$copy.log" 2>&1 || rc=$?
  if [ "$1" = passes ]; then
    [ "$rc" = 0 ] && return 0
  else
    [ "$rc" = 1 ] && grep -qF "$1" "$copy.log" && return 0
  fi
  cat "$copy.log"
  die "expected: $1"
}

# edit FILE COMMAND: edits a file of the copy with sed, which has to change it.
edit ()
{
  cp "$copy/$1" "$copy.before"
  sed -i "$2" "$copy/$1"
  ! cmp -s "$copy/$1" "$copy.before" || die "$1 has no line for: $2"
}

test_changes ()
{
  local work copy
  nms_temporary work "${TMPDIR:-/tmp}/nms-abi.XXXXXX"
  copy="$work/copy"
  mkdir "$copy"
  system_copy_checkout "$copy"

  say "-- allowed: a function, a constant, a field at the end of a struct with a size"
  edit nmscore/accel/lazy/nmslazy.h 's/^typedef enum nms_lazy_type {/&\n  NMS_LAZY_ADDED = 99,/'
  edit nmscore/nmscore.h 's/^} nms_boxes;/  nms_column added;\n&\nNMS_API int nms_added (void);/'
  printf 'int\nnms_added (void)\n{\n  return 0;\n}\n' >>"$copy/nmscore/errors.c"
  expect passes
  grep -q "^new: nms_boxes.added" "$copy.log" ||
    die "the new field was not compared"
  say "-- a function is not exported"
  edit nmscore/nmscore.map 's/local: /&nms_strerror; /'
  expect nms_strerror
  edit nmscore/nmscore.map 's/nms_strerror; //'
  say "-- two fields of a struct are exchanged"
  edit nmscore/nmscore.h '/^  uint32_t method;/ { h; d }; /^  uint32_t metric;/ G'
  expect "'uint32_t method' offset changed"
}

nms_build_dir
[ "$(uname -m)" = x86_64 ] || { say "the recorded interface is that of x86-64"; exit 77; }
command -v abidiff >/dev/null || { say "abidiff is not installed (abigail-tools)"; exit 77; }
case ${1-} in
  "") compare ;;
  --exact) compare_exactly ;;
  --record) dump "$folder/libnmscore.abi" ;;
  --test) test_changes ;;
  -h | --help) usage ;;
  *) usage >&2; exit 2 ;;
esac
