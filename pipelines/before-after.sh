#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# before-after: makes a video with the recorded boxes left and the filtered boxes right.
usage ()
{
  cat <<END
usage: pipelines/before-after.sh --boxes FILE [--input VIDEO] [--output FILE] [--seconds N]
                                 [--iou T] [--score T]

  --boxes FILE       a recording: record.sh makes one, quickstart.sh's before.jsonl is one
  --input VIDEO      the video that was recorded (default: vtest.avi)
  --output FILE      the new video (default: output/before-after.mp4 in the checkout)
  --seconds N        how much of the video (default: 0, all of it)
  --iou T            overlap threshold (default: 0.3)
  --score T          boxes with lower scores are dropped (default: 0.7)
END
}

. "$(dirname "$0")/common.sh"

NMS_OPTIONS="--boxes:NMS_BOXES --iou:NMS_IOU --score:NMS_SCORE"
nms_arguments "$@"
nms_need_boxes
file=${NMS_OUTPUT:-$NMS_ROOT/output/before-after.mp4}
nms_output_dir "$(dirname "$file")"
nms_prepare
nms_open_video
nms_filter
nms_two_halves
nms_work_dir "$(dirname "$file")"
nms_encode "$NMS_WORK/video.mp4"

nms_launch -q -e "${NMS_SOURCE[@]}" ! boxreplay "$(nms_set location "$NMS_BOXES")" ! tee name=raw \
  raw. ! queue ! "${NMS_DRAW[@]}" ! "${NMS_CAPTION[@]}" text=recorded ! mix.sink_0 \
  raw. ! queue ! "${NMS_FILTER[@]}" ! "${NMS_DRAW[@]}" ! "${NMS_CAPTION[@]}" text=nmsfilter \
  ! mix.sink_1 "${NMS_MIX[@]}" ! "${NMS_ENCODE[@]}" \
  2>"$NMS_WORK/errors" || nms_failed "$NMS_WORK/errors"
grep -A 1 '^WARNING' "$NMS_WORK/errors" >&2 || true

mv "$NMS_WORK/video.mp4" "$file"
say "Recorded boxes left, filtered boxes right: $file"
