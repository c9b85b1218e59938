#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# tag: shows which boxes the filter would remove and why, and removes none.
usage ()
{
  cat <<END
usage: pipelines/tag.sh [--input VIDEO] [--output DIR] [--seconds N]
                        [--iou T] [--score T]

Runs nmsfilter with action=tag: every box stays and says what became of it.

  --input VIDEO      any video (default: vtest.avi, which Debian ships)
  --output DIR       where tag.mp4 (kept boxes in colour, the others grey and
                     dashed) and tag.jsonl go (default: output/ in the checkout)
  --seconds N        how much of the video (default: 10; 0: all of it)
  --iou T            overlap threshold (default: 0.3)
  --score T          boxes with lower scores are dropped (default: 0.7)
END
}

. "$(dirname "$0")/common.sh"

NMS_SECONDS=10
NMS_OPTIONS="--iou:NMS_IOU --score:NMS_SCORE"
nms_arguments "$@"
out=${NMS_OUTPUT:-$NMS_ROOT/output}
nms_output_dir "$out"
nms_prepare
nms_open_video
nms_detector
nms_filter
nms_two_halves
nms_work_dir "$out"
nms_encode "$NMS_WORK/tag.mp4"

nms_launch -q -e "${NMS_SOURCE[@]}" ! "${NMS_DETECTOR[@]}" ! "${NMS_FILTER[@]}" action=tag \
  ! boxrecord "$(nms_set location "$NMS_WORK/tag.jsonl")" ! "${NMS_DRAW[@]}" ! "${NMS_ENCODE[@]}" \
  2>"$NMS_WORK/errors" || nms_failed "$NMS_WORK/errors"

mv "$NMS_WORK/tag.mp4" "$NMS_WORK/tag.jsonl" "$out/"
say "$(wc -l <"$out/tag.jsonl") frames, $(nms_boxes "$(nms_total_boxes "$out/tag.jsonl")"), of these"
grep -o '"state":"[a-z-]*"' "$out/tag.jsonl" | sort | uniq -c | sed 's/"state"://; s/"//g'
say "Results: $out/tag.mp4 and $out/tag.jsonl"
