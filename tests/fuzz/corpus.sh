#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# corpus unpack ARCHIVE FOLDER: writes the inputs of a fuzzer to a new folder, in place of an old one.
# corpus pack FOLDER ARCHIVE: makes an archive of the folder; the same files give the same bytes.
set -euo pipefail

case $1 in
  unpack)
    rm -rf "$3"
    mkdir -p "$3"
    tar -xzf "$2" -C "$3"
    ;;
  pack)
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=a=r,u+w,a+X -C "$2" -cf - . |
      gzip -9n >"$3"
    ;;
  *) exit 2 ;;
esac
