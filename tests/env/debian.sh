#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# debian: makes another Debian in a folder and runs commands in it: a newer one, whose GStreamer has
# GstAnalytics, or one for 32-bit x86.
usage ()
{
  cat <<END
usage: tests/env/debian.sh trixie|sid|bookworm-i386 COMMAND...

Makes the folder build/trixie (Debian 13, GStreamer 1.26) or build/sid (Debian
unstable, 1.28) with all that the tests need, or build/bookworm-i386 (Debian 12 for
32-bit x86) with what the suite gst needs, once, and runs the COMMAND there, in this
checkout.

Needs root and debootstrap, and fails where these folders cannot be made.
NMS_BUILD_DIR names the build folder (default: build/ in the checkout).
END
}

. "$(dirname "$0")/../../pipelines/common.sh"
. "$NMS_ROOT/tests/env/system.sh"

# Runs apt-get inside until it succeeds, because the index of unstable may be outdated.
install_packages ()
{
  say "Installing packages in $release"
  # shellcheck disable=SC2016,SC2086
  system_inside "$folder" / bash -c 'export DEBIAN_FRONTEND=noninteractive
    apt-get -q -o Acquire::Check-Valid-Until=false update &&
    apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends "$@" &&
    apt-get clean' - $PACKAGES >>"$folder.log" 2>&1 ||
    { tail -n 20 "$folder.log" >&2; die "the packages could not be installed in $folder"; }
}

release=${1-} debian=$release architecture=
PACKAGES="$NMS_PACKAGES_MINIMAL $NMS_PACKAGES_ELEMENTS $NMS_PACKAGES_PIPELINES
  $NMS_PACKAGES_ANALYTICS $NMS_PACKAGES_TEST_CAMERA binutils gstreamer1.0-plugins-bad
  libopencv-dev opencv-doc python3-opencv gstreamer1.0-python3-plugin-loader python3-onnx python3-dev python3-jsonschema python3-numpy"
case $release in
  -h | --help) usage; exit 0 ;;
  # (with the torch that has torch.compile and torch.export; one release suffices)
  trixie) PACKAGES="$PACKAGES python3-torchvision" ;;
  sid) ;;
  bookworm-i386)
    debian=bookworm architecture=i386
    PACKAGES="$NMS_PACKAGES_MINIMAL $NMS_PACKAGES_ELEMENTS binutils gstreamer1.0-tools
      gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-libav fonts-dejavu-core
      opencv-doc python3-jsonschema"
    ;;
  *) usage >&2; exit 2 ;;
esac
shift
[ $# -gt 0 ] || { usage >&2; exit 2; }
system_can_be_made || die "no folder with $release can be made: $NMS_REASON"

nms_build_dir
NMS_BUILD_DIR=$(cd "$NMS_BUILD_DIR" && pwd)
folder="$NMS_BUILD_DIR/$release"
packages=$(printf '%s ' $PACKAGES)
if [ ! -e "$folder/complete" ] || [ "$(cat "$folder/packages" 2>/dev/null)" != "$packages" ]; then
  say "Making $folder, or adding to it"
  system_make "$folder" "$debian" "$architecture" ||
    die "debootstrap failed (the whole log: $folder.log)"
  install_packages
  printf '%s\n' "$packages" >"$folder/packages"
  say "Made $folder in $SECONDS s"
fi

NMS_SHARED="$NMS_ROOT
$NMS_BUILD_DIR"
NMS_PASS="NMS_BUILD_DIR=$NMS_BUILD_DIR NMS_INSTALL=no LC_ALL=C.UTF-8 ${NMS_PASS-}"
system_inside "$folder" "$NMS_ROOT" "$@"
