#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# fresh: what README promises, on a Debian 12 that has nothing on it: the three
# -dev packages build nmsfilter; quickstart.sh works, and its second run does
# nothing twice; tests/run.sh installs its own needs. Exits 77 where no such
# folder can be made (not root, or not allowed to mount).
. "$(dirname "$0")/../../pipelines/common.sh"

[ "$(id -u)" = 0 ] || { say "only root can make a bare system"; exit 77; }
unshare --mount true 2>/dev/null || { say "mounting is not allowed here"; exit 77; }
command -v debootstrap >/dev/null || { say "debootstrap is not installed"; exit 77; }

nms_build_dir
root=$(mktemp -d "$NMS_BUILD_DIR/fresh.XXXXXX")
trap 'rm -rf --one-file-system "$root"' EXIT
debootstrap --variant=minbase bookworm "$root/system" >"$root/log" 2>&1 ||
  { tail -n 20 "$root/log"; die "debootstrap failed"; }
say "a bare system after $SECONDS s"

# The checkout without anything that was built, in a path with a space.
mkdir -p "$root/system/home/new user"
(
  cd "$NMS_ROOT"
  if git rev-parse --show-toplevel >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard | tar -c --null --files-from=-
  else
    tar -c --exclude='./build*' --exclude='./output*' .
  fi
) | tar -x -C "$root/system/home/new user"

# Each command in namespaces of its own, so that what it mounts goes with it.
inside ()
{
  # shellcheck disable=SC2016
  unshare --mount --pid --fork sh -c 'mount -t proc proc "$1/proc" && shift 1 &&
    exec chroot "$@"' sh "$root/system" "$root/system" /usr/bin/env -i \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    bash -c "cd '/home/new user' && $1"
}

step () # TEXT COMMAND
{
  local from=$SECONDS
  say "-- $1"
  inside "$2" || die "$1: failed"
  say "-- $1: $((SECONDS - from)) s"
}

step "the three -dev packages" '
  . pipelines/common.sh && NMS_BUILD_DIR=/tmp/minimal && nms_build_dir &&
  nms_install $NMS_PACKAGES_MINIMAL && nms_build three -Dtests=enabled &&
  grep -E "box.*NO" /tmp/minimal/three/meson-logs/meson-log.txt &&
  meson test -C /tmp/minimal/three --no-rebuild nmsfilter nmsfilter-unscored test-semantics'
step "quickstart" 'pipelines/quickstart.sh --seconds 4 --output /tmp/out && ls -l /tmp/out'
step "quickstart once more" '
  pipelines/quickstart.sh --seconds 4 --output /tmp/out >/tmp/second && cat /tmp/second &&
  ! grep -E "Installing|Configuring|Building" /tmp/second'
step "tests/run.sh install" 'tests/run.sh install'
