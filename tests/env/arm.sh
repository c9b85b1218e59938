#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# arm FOLDER: a cross file for meson on standard output, and in FOLDER what it
# needs: the libraries of Debian 12 for AArch64, unpacked, not installed. Made
# once; a second run finds them there.
set -euo pipefail

folder=$1
root=$folder/root

if [ ! -e "$folder/complete" ]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  # the first stage runs no program of the other architecture
  debootstrap --foreign --arch=arm64 --variant=minbase \
    --include=libglib2.0-dev,libc6-dev,libgcc-12-dev bookworm "$root" >"$folder/log" 2>&1 ||
    { tail -n 5 "$folder/log" >&2; exit 1; }
  for package in "$root"/var/cache/apt/archives/*.deb; do
    case ${package##*/} in
      lib* | linux-libc-dev_* | zlib1g*) dpkg-deb -x "$package" "$root" ;;
    esac
  done
  touch "$folder/complete"
fi

libraries=$root/usr/lib/aarch64-linux-gnu
cat <<END
[binaries]
c = ['aarch64-linux-gnu-gcc', '--sysroot=$root']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64', '-L', '$root']

[properties]
sys_root = '$root'
pkg_config_libdir = '$libraries/pkgconfig:$root/usr/share/pkgconfig'

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'cortex-a72'
endian = 'little'
END
