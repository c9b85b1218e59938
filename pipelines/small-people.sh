#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# small-people: runs the same detector on whole frames and on tiles of them, and compares the boxes
# with people who were marked by hand. Prints numbers and makes a picture of both side by side.
usage ()
{
  cat <<END
usage: pipelines/small-people.sh [--output DIR] [--seconds N]

Runs hogdetect on 20 frames of vtest.avi: on the whole frame, with tiledetect on
2 x 2 tiles that overlap by 64 pixels, and on the whole frame enlarged. Each tile
is enlarged 1.8 times, to the height of the frame, and so is the frame. Prints how
many of the people that were marked by hand (pipelines/people/) each run found,
how many boxes are wrong, and the processor time of a frame.

  --output DIR   where the picture goes (default: output/ in the checkout)
  --seconds N    how much of the video, at least 3 (default: 0, all of it)

A person is found by a box with an IoU of at least 0.5. Result: small-people.png.
END
}

. "$(dirname "$0")/common.sh"

TILES=(tiledetect columns=2 rows=2 overlap=64 detector="hogdetect scale=1.8")
nms_arguments "$@"
[ -z "${NMS_INPUT-}" ] || die "people were marked only in vtest.avi; there is no --input"
LC_ALL=C awk -v s="$NMS_SECONDS" 'BEGIN { exit s > 0 && s < 3 }' || die "--seconds: at least 3"
out=${NMS_OUTPUT:-$NMS_ROOT/output}
nms_output_dir "$out"
nms_prepare
nms_open_video
nms_two_halves
nms_work_dir "$out"
work=$NMS_WORK
people=$NMS_ROOT/pipelines/people/countpeople.py
size=$((NMS_WIDTH * NMS_HEIGHT * 3))
RAW=(rawvideoparse format=rgb width="$NMS_WIDTH" height="$NMS_HEIGHT" framerate=10/1)

numbers=$(python3 "$people" frames "$NMS_SECONDS" 10)
frames=$(wc -w <<<"$numbers")
mkfifo "$work/video"
python3 "$people" pick "$numbers" "$size" <"$work/video" >"$work/frames.rgb" &
picker=$!
nms_launch -q "${NMS_SOURCE[@]}" ! fdsink fd=3 3>"$work/video" 2>"$work/errors" ||
  nms_failed "$work/errors"
wait "$picker"
head -c "$size" "$work/frames.rgb" >"$work/first.rgb"

# detect FRAMES RECORDING DETECTOR...: records the detector's boxes after nmsfilter.
detect ()
{
  nms_launch -q filesrc "$(nms_set location "$work/$1")" ! "${RAW[@]}" ! "${@:3}" \
    ! nmsfilter iou-threshold=0.3 score-threshold=0.7 \
    ! boxrecord "$(nms_set location "$work/$2")" ! fakesink \
    >"$work/errors" 2>&1 || nms_failed "$work/errors"
}

# Sets SPENT, the processor time in ms of the programs that the script has run.
spent ()
{
  local minutes seconds
  SPENT=0
  times >"$work/times"
  while IFS=m read -r minutes seconds; do
    seconds=${seconds%s}
    SPENT=$((SPENT + minutes * 60000 + 10#${seconds/[.,]/}))
  done < <(tail -n 1 "$work/times" | tr ' ' '\n')
}

# timed RECORDING DETECTOR...: sets MS, the processor time of a frame without the start.
timed ()
{
  local start first
  spent
  start=$SPENT
  detect first.rgb "$@"
  spent
  first=$SPENT
  detect frames.rgb "$@"
  spent
  MS=0
  [ "$frames" -lt 2 ] || MS=$(((SPENT - first - (first - start)) / (frames - 1)))
}

say "Detecting people in $frames frames"
timed whole.jsonl hogdetect
ms_whole=$MS
timed tiles.jsonl "${TILES[@]}"
ms_tiles=$MS
timed enlarged.jsonl hogdetect scale=1.8
ms_enlarged=$MS
python3 "$people" compare "$NMS_ROOT/pipelines/people/people.csv" "$numbers" "$work" \
  "$work"/{whole,tiles,enlarged}.jsonl >"$work/counted"
{
  read -r all whole small whole_small whole_nobody whole_twice
  read -r _ tiles _ tiles_small tiles_nobody tiles_twice
  read -r _ enlarged _ enlarged_small enlarged_nobody enlarged_twice
  read -r frame there whole_there tiles_there
} <"$work/counted"

row () { printf '%-12s %7s %21s %12s %11s\n' "$@"; }
say "$all people marked by hand, $small of them less than 75 pixels tall"
row "" found "found of small ones" "wrong boxes" "ms a frame"
row "whole frame" "$whole" "$whole_small" $((whole_nobody + whole_twice)) "$ms_whole"
row "2 x 2 tiles" "$tiles" "$tiles_small" $((tiles_nobody + tiles_twice)) "$ms_tiles"
row "enlarged" "$enlarged" "$enlarged_small" $((enlarged_nobody + enlarged_twice)) "$ms_enlarged"

# Draws the frame with the largest difference.
tail -c "+$((frame * size + 1))" "$work/frames.rgb" | head -c "$size" >"$work/frame.rgb" || true
half ()
{
  HALF=("$1." ! queue ! boxreplay match=index "$(nms_set location "$work/$2.jsonl")"
    ! boxoverlay show-score=false ! "${NMS_CAPTION[@]}" "$(nms_set text "$3")" ! "mix.sink_$2")
}
half raw 0 "whole frame: $whole_there of $there people"
left=("${HALF[@]}")
half raw 1 "2 x 2 tiles: $tiles_there of $there people"
nms_launch -q filesrc "$(nms_set location "$work/frame.rgb")" ! "${RAW[@]}" ! tee name=raw \
  "${left[@]}" "${HALF[@]}" "${NMS_MIX[@]}" ! pngenc snapshot=true compression-level=9 \
  ! filesink "$(nms_set location "$work/small-people.png")" >"$work/errors" 2>&1 ||
  nms_failed "$work/errors" "the picture could not be made"
mv "$work/small-people.png" "$out/"
say "Picture: $out/small-people.png (frame $(cut -d ' ' -f $((frame + 1)) <<<"$numbers"))"
