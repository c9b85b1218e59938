#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# packages: builds the Debian packages and uses them in a system with nothing else on it.
usage ()
{
  cat <<END
usage: tests/env/packages.sh [bookworm|trixie|sid]

Builds the packages of debian/ from a copy of the checkout in Debian 12 (here),
13 or unstable (in a folder of tests/env/debian.sh), checks them with lintian and
runs debian/tests with them in a new folder of that release. There it also
upgrades them from packages of an older version, with a pipeline before and
after, and purges them. Exits with 77 where no such folder can be made.
END
}

. "$(dirname "$0")/../../pipelines/common.sh"
. "$NMS_ROOT/tests/env/system.sh"

release=${1-bookworm}
case $release in
  -h | --help) usage; exit 0 ;;
  bookworm | trixie | sid) ;;
  *) usage >&2; exit 2 ;;
esac
system_can_be_made || { say "$NMS_REASON"; exit 77; }
needed="autopkgtest dpkg-deb"
[ "$release" != bookworm ] || needed="$needed dpkg-buildpackage dh lintian"
for program in $needed; do
  command -v "$program" >/dev/null || { say "$program is not installed"; exit 77; }
done

nms_build_dir
NMS_BUILD_DIR=$(cd "$NMS_BUILD_DIR" && pwd)
export NMS_BUILD_DIR
work=$(mktemp -d "$NMS_BUILD_DIR/packages.XXXXXX")
trap 'system_remove "$work"' EXIT
mkdir "$work/gst-nms" "$work/old"
system_copy_checkout "$work/gst-nms"
version=$(dpkg-parsechangelog -l "$work/gst-nms/debian/changelog" -S Version)

# Runs a command in the release in which the packages are built.
build_inside ()
{
  if [ "$release" = bookworm ]; then
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$work" LC_ALL=C.UTF-8 "$@"
  else
    "$NMS_ROOT/tests/env/debian.sh" "$release" env HOME="$work" "$@"
  fi
}

# Installs what debian/control needs, and lintian, into the folder of a newer Debian.
install_build_packages ()
{
  # shellcheck disable=SC2016
  build_inside DEBIAN_FRONTEND=noninteractive bash -c '
    apt-get -q -o Acquire::Check-Valid-Until=false update &&
    apt-get -q -y -o Dpkg::Use-Pty=0 --no-install-recommends build-dep "$1" &&
    apt-get -q -y -o Dpkg::Use-Pty=0 --no-install-recommends install lintian' - "$work/gst-nms"
}

# Writes copies of the packages to $work/old, with the lower version 0~old.
make_old_packages ()
{
  local package
  for package in "$work"/*.deb; do
    rm -rf "$work/unpacked"
    dpkg-deb -R "$package" "$work/unpacked" &&
      sed -i "s/^Version: .*/Version: 0~old/; s/(\(>\?=\) $version)/(\1 0~old)/g" \
        "$work/unpacked/DEBIAN/control" &&
      dpkg-deb --root-owner-group -Znone -b "$work/unpacked" "$work/old" >/dev/null || return 1
  done
}

if [ "$release" != bookworm ]; then
  install_build_packages >"$work/log" 2>&1 ||
    { tail -n 40 "$work/log"; die "the packages for the build could not be installed"; }
fi
say "-- dpkg-buildpackage after $SECONDS s"
# shellcheck disable=SC2016
build_inside DEB_BUILD_OPTIONS="parallel=$(nproc) noautodbgsym" bash -c \
  'cd "$1" && dpkg-buildpackage -us -uc -b' - "$work/gst-nms" >"$work/log" 2>&1 ||
  { tail -n 40 "$work/log"; die "dpkg-buildpackage failed"; }
say "-- lintian after $SECONDS s"
build_inside lintian --allow-root --fail-on error,warning "$work"/gst-nms_*.changes ||
  die "lintian failed"

system_make "$work/system" "$release" || die "debootstrap failed"
# (a mirror's index of unstable may be older than a week, and autopkgtest reads it again at the end)
echo 'Acquire::Check-Valid-Until "false";' >"$work/system/etc/apt/apt.conf.d/valid-until"
say "-- autopkgtest after $SECONDS s"
autopkgtest "$work/gst-nms" "$work"/*.deb -- chroot "$work/system" || die "autopkgtest failed"

say "-- upgrade and purge after $SECONDS s"
make_old_packages || die "the packages of an older version could not be made"
mkdir "$work/system/packages"
cp -r "$work"/*.deb "$work/old" "$work/gst-nms/debian/tests/pipeline" "$work/system/packages"
# (the programs that the pipeline needs are there, because autopkgtest leaves them)
# shellcheck disable=SC2016
system_inside "$work/system" /packages bash -ec '
  export DEBIAN_FRONTEND=noninteractive AUTOPKGTEST_TMP=/tmp
  names=$(for file in *.deb; do dpkg-deb -f "$file" Package; done)
  check_versions ()
  {
    [ "$(dpkg-query -W -f "\${Version}\n" $names | sort -u)" = "$1" ] ||
      { echo "not all packages have version $1"; exit 1; }
    sh pipeline >/dev/null
  }
  apt-get -q -y purge $names >/dev/null
  apt-get -q -y install ./old/*.deb >/dev/null
  check_versions "0~old"
  apt-get -q -y install ./*.deb >/dev/null
  check_versions "$1"
  apt-get -q -y purge $names >/dev/null
  left=$(find / -xdev \( -path /proc -o -path /packages -o -path /tmp -o -path /root/.cache \
    -o -path /var/log -o -path /var/cache/apt \) -prune -o \
    \( -name "*nmscore*" -o -name "*nmsaccel*" -o -name "*gstnms*" -o -name "nms-*" -o -name "GstNms*" \
    -o -name "gstreamer1.0-nms*" \) -print)
  [ -z "$left" ] || { echo "left behind: $left"; exit 1; }
  if dpkg-query -W $names 2>/dev/null | grep .; then exit 1; fi' - "$version" ||
  die "install, upgrade or purge failed"
say "done in $SECONDS s"
