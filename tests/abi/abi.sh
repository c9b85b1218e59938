#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# abi: the binary interface of libnmscore, compared with a recorded one.
usage ()
{
  cat <<END
usage: tests/abi/abi.sh [--exact | --record | --test]

Compares the functions that libnmscore exports and the types of its installed
headers with tests/abi/libnmscore.abi, and the numbers of their constants with
tests/abi/constants.txt. New functions, new constants, and new fields at the end
of structs that begin with their size are allowed. Any other difference fails,
because programs that were built with the recorded version could break:
CONTRIBUTING.md, "The library's interface", says what to do.

  --exact   allows no difference at all
  --record  writes these two files, as a release does
  --test    makes such changes in copies of the checkout, and checks that each
            is found, and that allowed ones pass

Needs abigail-tools. The recorded interface is that of x86-64: exits with 77 on
other machines.
END
}

. "$(dirname "$0")/../../pipelines/common.sh"
. "$NMS_ROOT/tests/env/system.sh"

folder="$NMS_ROOT/tests/abi"

# dump FOLDER: builds the library with debug information and writes its interface to FOLDER. The
# option accel changes no interface, and without it fewer files are compiled.
dump ()
{
  local dir="$NMS_BUILD_DIR/abi" root="$NMS_BUILD_DIR/abi/root"
  NMS_TARGET=nmscore-library nms_build abi --buildtype=debug --prefix=/usr -Dplugin=false \
    -Dtests=disabled -Dpython=disabled -Daccel=disabled || die "the library could not be built"
  rm -rf "$root"
  meson install -C "$dir" --no-rebuild --tags devel --destdir "$root" >"$dir.log" ||
    die "the headers could not be installed (the log: $dir.log)"
  mkdir -p "$1"
  abidw --headers-dir "$root/usr/include" --drop-private-types --exported-interfaces-only \
    --no-show-locs --no-corpus-path --no-comp-dir-path --type-id-style hash \
    --out-file "$1/libnmscore.abi" "$dir/nmscore/libnmscore.so" || die "abidw failed"
  constants "$dir/nmscore/libnmscore.so" >"$1/constants.txt"
}

# Prints the public constants and their numbers, from debug information, because abidw writes only
# the enums that a function or struct names.
constants ()
{
  readelf --debug-dump=info "$1" | LC_ALL=C awk '
    /DW_TAG_/ { constant = /DW_TAG_enumerator\)/ }
    constant && /DW_AT_name/ { name = $NF }
    constant && /DW_AT_const_value/ && name ~ /^NMS_[A-Z]/ { print name, $NF }' | LC_ALL=C sort -u
}

# compare [exact]: with exact additions are differences too.
compare ()
{
  local new="$NMS_BUILD_DIR/abi/dump" options=--no-added-syms gone failed=
  dump "$new"
  if [ "${1-}" = exact ]; then
    options=
    cmp "$folder/constants.txt" "$new/constants.txt" || die "the constants differ"
  else
    python3 "$folder/cut-growth.py" "$folder/libnmscore.abi" "$new/libnmscore.abi" ||
      die "the dump could not be read"
  fi
  gone=$(LC_ALL=C comm -23 "$folder/constants.txt" "$new/constants.txt")
  [ -z "$gone" ] || { say "constants with other numbers, or removed: $gone"; failed=yes; }
  # shellcheck disable=SC2086
  abidiff $options "$folder/libnmscore.abi" "$new/libnmscore.abi" || failed=yes
  [ -z "$failed" ] ||
    die "the interface differs from the recorded one"
  say "The interface is compatible with the recorded one."
}

# expect passes|TEXT...: compares the interface of the copy. With a TEXT the comparison has to fail
# and to report each.
expect ()
{
  local rc=0 text
  NMS_BUILD_DIR="$copy/build" "$copy/tests/abi/abi.sh" >"$copy.log" 2>&1 || rc=$?
  for text; do
    if [ "$text" = passes ]; then
      [ "$rc" = 0 ] && continue
    else
      [ "$rc" = 1 ] && grep -qF "$text" "$copy.log" && continue
    fi
    cat "$copy.log"
    die "expected: $text"
  done
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
  edit nmscore/nmscore.h 's/^typedef enum nms_engine {/&\n  NMS_ENGINE_OTHER = 99,/'
  edit nmscore/nmscore.h 's/^} nms_boxes;/  nms_column added;\n&\nNMS_API int nms_added (void);/'
  printf 'int\nnms_added (void)\n{\n  return 0;\n}\n' >>"$copy/nmscore/call/errors.c"
  expect passes
  grep -q "^new: nms_boxes.added" "$copy.log" ||
    die "the new field was not compared"
  say "-- a function is not exported"
  edit nmscore/nmscore.map 's/local: /&nms_strerror; /'
  expect nms_strerror
  edit nmscore/nmscore.map 's/nms_strerror; //'
  say "-- two fields of a struct are exchanged, a constant has another number"
  edit nmscore/nmscore.h '/^  uint32_t method;/ { h; d }; /^  uint32_t metric;/ G'
  edit nmscore/nmscore.h 's/NMS_ENGINE_ADDED = 255/NMS_ENGINE_ADDED = 254/'
  expect "'uint32_t method' offset changed" "NMS_ENGINE_ADDED 255"
}

nms_build_dir
[ "$(uname -m)" = x86_64 ] || { say "the recorded interface is that of x86-64"; exit 77; }
command -v abidiff >/dev/null || { say "abidiff is not installed (abigail-tools)"; exit 77; }
case ${1-} in
  "") compare ;;
  --exact) compare exact ;;
  --record) dump "$folder" ;;
  --test) test_changes ;;
  -h | --help) usage ;;
  *) usage >&2; exit 2 ;;
esac
