#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# abi: the binary interface of libnmscore, compared with that of the last release.
usage ()
{
  cat <<END
usage: tests/abi/abi.sh [--test]

Builds libnmscore of the checkout and of the last tag vVERSION, and compares the
functions that they export, the types of their installed headers and the numbers of
their constants. New functions, new constants, and new fields at the end of structs
that begin with their size are allowed. Any other difference fails, because programs
that were built with the release could break: CONTRIBUTING.md, "The library's
interface", says what to do. A library with another soname is not compared.

  --test    makes such changes in copies of the checkout, and checks that each
            is found, and that allowed ones pass

Needs abigail-tools. Exits with 77 if nothing has been released yet.
END
}

. "$(dirname "$0")/../../pipelines/common.sh"
. "$NMS_ROOT/tests/env/system.sh"

# dump SOURCES FOLDER: builds the library of SOURCES in FOLDER with debug information and writes its
# interface there. The option accel changes no interface, and without it fewer files are compiled.
dump ()
{
  local dir="$NMS_BUILD_DIR/$2" library
  NMS_ROOT=$1 NMS_TARGET=nmscore-library nms_build "$2" --buildtype=debug --prefix=/usr \
    -Dplugin=false -Dtests=disabled -Dpython=disabled -Daccel=disabled ||
    die "the library of $1 could not be built"
  rm -rf "$dir/root"
  meson install -C "$dir" --no-rebuild --tags devel --destdir "$dir/root" >"$dir.log" ||
    die "the headers could not be installed (the log: $dir.log)"
  library="$dir/nmscore/libnmscore.so"
  abidw --headers-dir "$dir/root/usr/include" --drop-private-types --exported-interfaces-only \
    --no-show-locs --no-corpus-path --no-comp-dir-path --type-id-style hash \
    --out-file "$dir/libnmscore.abi" "$library" || die "abidw failed"
  constants "$library" >"$dir/constants.txt"
  readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p' >"$dir/soname.txt"
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

compare ()
{
  local tag sources="$NMS_BUILD_DIR/abi-sources" old="$NMS_BUILD_DIR/abi-released"
  local new="$NMS_BUILD_DIR/abi" gone failed=
  tag=$(git -C "$NMS_ROOT" describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null) ||
    { say "no release to compare with"; exit 77; }
  rm -rf "$sources"
  mkdir -p "$sources"
  git -C "$NMS_ROOT" archive "$tag" | tar -x -C "$sources"
  dump "$sources" abi-released
  dump "$NMS_ROOT" abi
  cmp -s "$old/soname.txt" "$new/soname.txt" ||
    { say "The soname is another one than in $tag."; return; }
  python3 "$NMS_ROOT/tests/abi/cut-growth.py" "$old/libnmscore.abi" "$new/libnmscore.abi" ||
    die "the dump could not be read"
  gone=$(LC_ALL=C comm -23 "$old/constants.txt" "$new/constants.txt")
  [ -z "$gone" ] || { say "constants with other numbers, or removed: $gone"; failed=yes; }
  abidiff --no-added-syms "$old/libnmscore.abi" "$new/libnmscore.abi" || failed=yes
  [ -z "$failed" ] || die "the interface differs from that of $tag"
  say "The interface is compatible with that of $tag."
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
  git -C "$copy" init -q
  git -C "$copy" add -A
  git -C "$copy" -c user.name=x -c user.email=x@example.org commit -q -m copy
  git -C "$copy" tag v0

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
command -v abidiff >/dev/null || { say "abidiff is not installed (abigail-tools)"; exit 77; }
case ${1-} in
  "") compare ;;
  --test) test_changes ;;
  -h | --help) usage ;;
  *) usage >&2; exit 2 ;;
esac
