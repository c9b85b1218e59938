#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# packages: builds the Debian packages of debian/ from a copy of the checkout, checks them with
# lintian, and runs debian/tests with them in a Debian 12 that has nothing else on it, where it
# also removes them again. Exits 77 where no such folder can be made.
. "$(dirname "$0")/../../pipelines/common.sh"
. "$NMS_ROOT/tests/env/system.sh"

system_can_be_made || { say "$NMS_REASON"; exit 77; }
for program in dpkg-buildpackage dh lintian autopkgtest; do
  command -v "$program" >/dev/null || { say "$program is not installed"; exit 77; }
done

nms_build_dir
work=$(mktemp -d "$NMS_BUILD_DIR/packages.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
mkdir "$work/gst-nms"
system_copy_checkout "$work/gst-nms"

version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$NMS_ROOT/meson.build")
[ "$(dpkg-parsechangelog -l "$NMS_ROOT/debian/changelog" -S Version)" = "$version" ] ||
  die "debian/changelog has another version than meson.build, $version"

say "-- dpkg-buildpackage"
(cd "$work/gst-nms" && env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$work" LC_ALL=C.UTF-8 \
  DEB_BUILD_OPTIONS="parallel=$(nproc) noautodbgsym" dpkg-buildpackage -us -uc -b) \
  >"$work/log" 2>&1 || { tail -n 40 "$work/log"; die "dpkg-buildpackage failed"; }
say "-- lintian after $SECONDS s"
lintian --allow-root --fail-on error,warning "$work"/gst-nms_*.changes || die "lintian failed"

system_make "$work/system" bookworm || die "debootstrap failed"
say "-- autopkgtest after $SECONDS s"
autopkgtest "$work/gst-nms" "$work"/*.deb -- chroot "$work/system" || die "autopkgtest failed"

say "-- install and purge after $SECONDS s"
mkdir "$work/system/packages"
cp "$work"/*.deb "$work/system/packages"
# shellcheck disable=SC2016
system_inside "$work/system" / bash -ec '
  export DEBIAN_FRONTEND=noninteractive
  apt-get -q -y install /packages/*.deb >/dev/null
  names=$(for file in /packages/*.deb; do dpkg-deb -f "$file" Package; done)
  apt-get -q -y purge $names >/dev/null
  left=$(find / -xdev ! -path "/proc/*" ! -path "/packages/*" ! -path "/tmp/*" ! -path "/var/*" \
    \( -name "*nmscore*" -o -name "*gstnms*" -o -name "nms-*" -o -name "GstNms*" \))
  [ -z "$left" ] || { echo "left behind: $left"; exit 1; }' || die "install or purge failed"
say "done in $SECONDS s"
