#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# reproducible: the same sources give the same installed files, byte for byte.
usage ()
{
  cat <<END
usage: tests/env/reproducible.sh INSTALLED MESON-OPTIONS...

Builds a copy of the checkout with the MESON-OPTIONS in another folder, time zone and umask,
with files of another date, and installs it. Compares the names, modes and bytes of the files with
those below INSTALLED, which an installation of this checkout with the same options and --destdir
made.
END
}

. "$(dirname "$0")/../../pipelines/common.sh"
. "$NMS_ROOT/tests/env/system.sh"

[ $# -gt 0 ] || { usage >&2; exit 2; }
installed=$1
shift
nms_temporary work "${TMPDIR:-/tmp}/nms-reproducible.XXXXXX"
source="$work/copied sources" again="$work/installed"
mkdir "$source"
system_copy_checkout "$source"
find "$source" -exec touch -h -d 2001-02-03 {} +

umask 077
export TZ=Asia/Tokyo
# (as deep below the sources as build/release is, because ccache then has the objects; a path that
# depends on the depth is found below)
build="$source/build/again"
nms_child meson setup "$build" "$source" "$@" >"$work/log" 2>&1 &&
  nms_child ninja -C "$build" >>"$work/log" 2>&1 &&
  nms_child meson install -C "$build" --no-rebuild --destdir "$again" >>"$work/log" 2>&1 ||
  { tail -n 30 "$work/log"; die "the second build failed"; }

names () { (cd "$1" && find . -mindepth 1 -printf '%p %m %l\n' | sort); }
diff <(names "$installed") <(names "$again") || die "other files or modes"
diff -r --no-dereference "$installed" "$again" || die "other bytes"
# (meson leaves the end of a search path of the build folder behind the one of the installed library)
found=$(find "$again" -type f -exec perl -0777 -ne \
  's|\$ORIGIN[/\0]\.\./||g; print "$ARGV\n" if m|\.\./|' {} +)
[ -z "$found" ] || die "these files have paths that depend on the build folder: $found"
say "$(find "$again" -type f | wc -l) files are the same, after $SECONDS s"
