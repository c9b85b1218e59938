#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# readme-install: executes the commands of README's section Install as they are
# printed, in a checkout at ~/gst-nms, the name that git gives it, where ~ is a
# new folder. Checks after each block what the section promises: the elements, a C
# program that uses nmscore, and that nothing is left after the uninstallation.
. "$(dirname "$0")/../../pipelines/common.sh"
. "$NMS_ROOT/tests/env/system.sh"

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
mkdir "$home/gst-nms"
system_copy_checkout "$home/gst-nms"
cd "$home/gst-nms"

# Writes the code blocks of the section into files: block-1 and block-2.
awk -v folder="$home" '
  /^## / { inside = $0 == "## Install" }
  inside && /^```/ { open = !open; if (open) n++; next }
  open { print >(folder "/block-" n) }' README.md
[ -s "$home/block-1" ] && [ -s "$home/block-2" ] && [ ! -e "$home/block-3" ] ||
  die "README's section Install has other than two blocks of commands"
# The program has to run before the last line, which uninstalls the library.
sed -i '$w '"$home/uninstall"'
$d' "$home/block-2"

# Runs all blocks in one shell, as a reader does, with only PATH of this environment.
cat >"$home/commands" <<END
set -eux
. "$home/block-1"
nms-filter --version
gst-inspect-1.0 nms
gst-inspect-1.0 nms | grep -F "Filename                 \$HOME/nms/"
for element in boxmerge boxoverlay boxrecord boxreplay boxselect boxsteady boxtransform nmsfilter \
  tiledetect; do
  gst-inspect-1.0 \$element >/dev/null
done
. "$home/block-2"
printf '0 0 10 10 .8\n1 1 11 11 .9\n50 50 60 60 .7\n' | ./boxes 0.5 >kept
cat kept
[ "\$(cat kept)" = 'kept 1
kept 2
0 suppressed by 1' ]
. "$home/uninstall"
if gst-inspect-1.0 nmsfilter; then exit 1; fi
[ ! -e "\$HOME/nms" ]
END
env -i PATH="$PATH" HOME="$home" LC_ALL=C.UTF-8 bash "$home/commands"
