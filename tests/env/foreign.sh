#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# foreign ARCHITECTURE FOLDER: prepares a cross build of the core for another processor. Prints a
# cross file for meson. The first run makes FOLDER/root, the libraries of Debian 12 for
# ARCHITECTURE; each run writes FOLDER/run, a script that runs a program of that processor.
# ARCHITECTURE is Debian's name: arm64, armhf, i386 or s390x. The packages are unpacked but not
# installed, because their installation scripts need programs of that processor.
set -euo pipefail

architecture=$1
folder=$2
root=$folder/root

# the compiler's prefix, meson's family and byte order, and qemu's name
case $architecture in
  arm64) triplet=aarch64-linux-gnu family=aarch64 endian=little qemu=aarch64 ;;
  armhf) triplet=arm-linux-gnueabihf family=arm endian=little qemu=arm ;;
  i386) triplet=i686-linux-gnu family=x86 endian=little qemu= ;;
  s390x) triplet=s390x-linux-gnu family=s390x endian=big qemu=s390x ;;
  *) printf '%s: unknown architecture\n' "$architecture" >&2; exit 2 ;;
esac

case $folder in
  *' '*) printf 'debootstrap ends early in a path with a space: %s\n' "$folder" >&2; exit 1 ;;
esac
if [ ! -e "$folder/complete" ]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  # the first stage runs no program of the other architecture
  debootstrap --foreign --arch="$architecture" --variant=minbase \
    --include=libglib2.0-dev,libc6-dev,libgcc-12-dev bookworm "$root" >"$folder/log" 2>&1 ||
    { tail -n 5 "$folder/log" >&2; exit 1; }
  for package in "$root"/var/cache/apt/archives/*.deb; do
    case ${package##*/} in
      lib* | linux-libc-dev_* | zlib1g*) dpkg-deb -x "$package" "$root" ;;
    esac
  done
  touch "$folder/complete"
fi

libraries=$root/usr/lib/${triplet/i686/i386}
loader='' # linked into programs that run as they are, with the libraries of the folder
if [ -n "$qemu" ]; then
  run="qemu-$qemu -L '$root'"
else
  run=
  loader="'-Wl,--disable-new-dtags', '-Wl,--dynamic-linker=$root/lib/ld-linux.so.2',
  '-Wl,-rpath=$libraries:$root/lib/${triplet/i686/i386}'"
fi
printf '#!/bin/sh\nexec %s "$@"\n' "$run" >"$folder/run"
chmod +x "$folder/run"
cat <<END
[binaries]
c = ['$triplet-gcc', '--sysroot=$root']
ar = '$triplet-ar'
strip = '$triplet-strip'
pkgconfig = 'pkg-config'
exe_wrapper = '$folder/run'

[properties]
sys_root = '$root'
pkg_config_libdir = '$libraries/pkgconfig:$root/usr/share/pkgconfig'

[built-in options]
c_link_args = [$loader]

[host_machine]
system = 'linux'
cpu_family = '$family'
cpu = '$family'
endian = '$endian'
END
