#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# scales: prints what hogdetect finds in whole frames, in tiles, in both, and in tiles of two sizes.
usage ()
{
  cat <<END
usage: pipelines/people/scales.sh [--seconds N]

Prints how many of the people that were marked by hand in 20 frames of vtest.avi, and
of large people (README.md of this folder), are found in the whole frame, with
tiledetect, and with its properties whole-frame and scales; how many boxes are on
nobody, and how many are duplicates: most of such a box lies on a person whom another
box finds. Each picture has 768 x 576 pixels when it reaches the detector. Takes
minutes.

  --seconds N   how much of the video, at least 3 (default: 0, all of it)
END
}

. "$(dirname "$0")/../common.sh"

nms_arguments "$@"
[ -z "${NMS_INPUT-}" ] || die "people were marked only in vtest.avi; there is no --input"
LC_ALL=C awk -v s="$NMS_SECONDS" 'BEGIN { exit s > 0 && s < 3 }' || die "--seconds: at least 3"
nms_prepare
nms_element hogdetect
nms_open_video
nms_work_dir "${TMPDIR:-/tmp}"
work=$NMS_WORK
people=$NMS_ROOT/pipelines/people/countpeople.py
small=$NMS_ROOT/pipelines/people/people.csv
INPUT="videoscale add-borders=false ! video/x-raw,width=768,height=576 ! hogdetect"
FOUR=(tiledetect columns=2 rows=2 overlap=64 detector="$INPUT")
NINE=(tiledetect columns=3 rows=3 overlap=64 detector="$INPUT")

numbers=$(python3 "$people" frames "$NMS_SECONDS" 10)
mkfifo "$work/video"
python3 "$people" pick "$numbers" $((NMS_WIDTH * NMS_HEIGHT * 3)) <"$work/video" >"$work/small.rgb" &
picker=$!
nms_launch -q "${NMS_SOURCE[@]}" ! fdsink fd=3 3>"$work/video" 2>"$work/errors" ||
  nms_failed "$work/errors"
wait "$picker"
python3 "$people" enlarge "$numbers" "$NMS_WIDTH" "$NMS_HEIGHT" "$work/large.csv" \
  <"$work/small.rgb" >"$work/large.rgb"
large_numbers=$(tail -n +2 "$work/large.csv" | cut -d, -f1 | sort -nu | tr '\n' ' ')

# count SCENE LIST NUMBERS NAME DETECTOR...: a row for each metric.
count ()
{
  local metric people_there found
  nms_launch -q filesrc "$(nms_set location "$work/$1.rgb")" \
    ! rawvideoparse format=rgb width="$NMS_WIDTH" height="$NMS_HEIGHT" framerate=10/1 ! "${@:5}" \
    ! tee name=t ! queue ! nmsfilter iou-threshold=0.3 score-threshold=0.7 \
    ! boxrecord "$(nms_set location "$work/iou")" ! fakesink t. ! queue \
    ! nmsfilter metric=ios iou-threshold=0.5 score-threshold=0.7 \
    ! boxrecord "$(nms_set location "$work/ios")" ! fakesink >"$work/errors" 2>&1 ||
    nms_failed "$work/errors"
  for metric in iou ios; do
    python3 "$people" compare "$2" "$3" "$work" "$work/$metric" "$work/$metric" >"$work/counted"
    read -r people_there found _ _ nobody twice <"$work/counted"
    printf '%-6s %-28s %-4s %4d of %-4d %10d %11d\n' "$1" "$4" $metric "$found" "$people_there" \
      "$nobody" "$twice"
  done
}

# scene SCENE LIST NUMBERS
scene ()
{
  count "$@" "whole frame" hogdetect
  count "$@" "2x2 tiles" "${FOUR[@]}"
  count "$@" "2x2 tiles, whole-frame=true" "${FOUR[@]}" whole-frame=true
  count "$@" "3x3 tiles, scales=2x2+64" "${NINE[@]}" scales=2x2+64
}

printf '%-6s %-28s %-6s %11s %10s %11s\n' scene "" metric found "on nobody" duplicates
scene small "$small" "$numbers"
scene large "$work/large.csv" "$large_numbers"
