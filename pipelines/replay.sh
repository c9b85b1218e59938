#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# replay: filters a recording with several thresholds; boxreplay takes the place of the
# detector.
usage ()
{
  cat <<END
usage: pipelines/replay.sh --boxes FILE [--input VIDEO] [--output DIR] [--seconds N]
                           [--iou "T ..."] [--score T]

Filters a recording once for each threshold and says how many boxes are left.

  --boxes FILE       a recording: record.sh makes one, quickstart.sh's before.jsonl is one
  --input VIDEO      the video that was recorded (default: vtest.avi)
  --output DIR       where replay-T.jsonl go (default: output/ in the checkout)
  --seconds N        how much of the video (default: 0, all of it)
  --iou "T ..."      overlap thresholds (default: "0.1 0.3 0.5 0.7")
  --score T          boxes with lower scores are dropped (default: 0.7)
END
}

. "$(dirname "$0")/common.sh"

NMS_OPTIONS="--boxes:NMS_BOXES --iou:NMS_THRESHOLDS --score:NMS_SCORE"
nms_arguments "$@"
nms_need_boxes
out=${NMS_OUTPUT:-$NMS_ROOT/output}
nms_output_dir "$out"
nms_prepare
nms_open_video
nms_work_dir "$out"

say "threshold  boxes in  boxes out"
for NMS_IOU in ${NMS_THRESHOLDS:-0.1 0.3 0.5 0.7}; do
  nms_filter
  nms_launch -q "${NMS_SOURCE[@]}" ! boxreplay "$(nms_set location "$NMS_BOXES")" \
    ! boxrecord "$(nms_set location "$NMS_WORK/in.jsonl")" \
    ! "${NMS_FILTER[@]}" ! boxrecord "$(nms_set location "$NMS_WORK/out.jsonl")" ! fakesink \
    2>"$NMS_WORK/errors" || nms_failed "$NMS_WORK/errors"
  ! grep -q '^WARNING' "$NMS_WORK/errors" || nms_failed "$NMS_WORK/errors" "threshold $NMS_IOU"
  mv "$NMS_WORK/out.jsonl" "$out/replay-$NMS_IOU.jsonl"
  printf '%-9s  %8d  %9d\n' "$NMS_IOU" "$(nms_total_boxes "$NMS_WORK/in.jsonl")" \
    "$(nms_total_boxes "$out/replay-$NMS_IOU.jsonl")"
done
say "The boxes that are left: $out/replay-*.jsonl"
