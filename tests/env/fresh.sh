#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# fresh: tests what README promises, on a Debian 12 that has nothing on it: the three
# -dev packages build nmsfilter; quickstart.sh works, and its second run does
# nothing twice; tests/run.sh installs its own needs and passes. Exits 77 where no such
# folder can be made (not root, or not allowed to mount).
. "$(dirname "$0")/../../pipelines/common.sh"
. "$NMS_ROOT/tests/env/system.sh"

system_can_be_made || { say "$NMS_REASON"; exit 77; }

nms_build_dir
root=$(mktemp -d "$NMS_BUILD_DIR/fresh.XXXXXX")
trap 'system_remove "$root"' EXIT
system_make "$root/system" bookworm || die "debootstrap failed"
say "a bare system after $SECONDS s"

# Copies the checkout without build results to a path with a space.
mkdir -p "$root/system/home/new user"
system_copy_checkout "$root/system/home/new user"

step () # TEXT COMMAND
{
  local from=$SECONDS
  say "-- $1"
  system_inside "$root/system" "/home/new user" bash -c "$2" || die "$1: failed"
  say "-- $1: $((SECONDS - from)) s"
}

step "the three -dev packages" '
  . pipelines/common.sh && NMS_BUILD_DIR=/tmp/minimal && nms_build_dir &&
  nms_install $NMS_PACKAGES_MINIMAL && nms_build three -Dtests=disabled &&
  grep -E "box.*NO" /tmp/minimal/three/meson-logs/meson-log.txt'
step "quickstart" 'pipelines/quickstart.sh --output /tmp/out && ls -l /tmp/out'
step "the application in Python" '
  . pipelines/env.sh && nms-filter --version && /usr/bin/python3 pipelines/embed/filter-video.py \
    /tmp/out/quickstart.mp4 /tmp/out/before.jsonl fakesink </dev/null'
step "quickstart once more" '
  pipelines/quickstart.sh --seconds 4 --output /tmp/out >/tmp/second && cat /tmp/second &&
  ! grep -E "Installing|Configuring|Building" /tmp/second'
step "the tests" 'tests/run.sh'
