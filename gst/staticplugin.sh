#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# staticplugin OBJCOPY AR OUTPUT ARCHIVE LINKER...: makes the archive OUTPUT of one object, which
# has everything in ARCHIVE and exports only the entry points of the plugin, because a name
# like label_cache_new of an archive would clash with one of the application. LINKER is the
# command of the compiler.
set -eu
objcopy=$1 ar=$2 output=$3 archive=$4
shift 4
object=$output.o
"$@" -r -nostdlib -o "$object" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive
# (Without section groups, such as those of inline functions: the linker drops a group if the
# application has one of that name, and refuses references to local symbols of a dropped group.)
"$objcopy" --localize-hidden --wildcard --localize-symbol='nms_*' --remove-section=.group "$object"
rm -f "$output"
"$ar" rcs "$output" "$object"
rm -f "$object"
