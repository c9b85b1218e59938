#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes the pictures of docs/methods.md again and compares settings and numbers of boxes with
# those that the guide states under each picture.
. "$(dirname "$0")/check.sh"

ends 0 timeout -k 5 200 "$ROOT/docs/methods/methodpictures.sh" --output made

guide=$ROOT/docs/methods.md
while IFS=: read -r name settings boxes; do
  picture "made/$name.png" 480 375
  picture "$ROOT/docs/methods/$name.png" 480 375
  grep -qF "(methods/$name.png)" "$guide" || fail "the guide does not show $name.png"
  grep -qF ":$boxes, \`${settings# }\` |" "$guide" ||
    fail "the guide does not state '$boxes, ${settings# }' for $name"
done < <(grep ' boxes$' out)
grep -qx 'detected: iou-threshold=1: 66 boxes' out || fail "other boxes than the detector's"

# Each method of the element has a picture.
methods=$(env GST_PLUGIN_PATH="$NMS_PLUGIN_DIR" ${NMS_PRELOAD:+"LD_PRELOAD=$NMS_PRELOAD"} \
  gst-inspect-1.0 nmsfilter |
  sed -n '/Enum "GstNmsMethod"/,/^  [a-z]/s/^ *([0-9]*): \([a-z-]*\) .*/\1/p')
[ "$(wc -w <<<"$methods")" -ge 9 ] || fail "gst-inspect-1.0 lists the methods '$methods'"
for name in $methods; do
  grep -q "^$name: method=$name " out || fail "method $name has no picture"
done
