#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# record: writes all boxes of the detector as JSON Lines. Detection takes most of the time;
# replay.sh and before-after.sh read the recording instead.
usage ()
{
  cat <<END
usage: pipelines/record.sh [--input VIDEO] [--output FILE] [--seconds N]

Runs the detector on a video and writes its raw boxes, one line a frame.

  --input VIDEO   any video (default: vtest.avi, which Debian ships)
  --output FILE   the recording (default: output/raw.jsonl in the checkout)
  --seconds N     how much of the video (default: 0, all of it)
END
}

. "$(dirname "$0")/common.sh"

nms_arguments "$@"
file=${NMS_OUTPUT:-$NMS_ROOT/output/raw.jsonl}
nms_output_dir "$(dirname "$file")"
nms_prepare
nms_open_video
nms_detector
nms_work_dir "$(dirname "$file")"

nms_launch -q "${NMS_SOURCE[@]}" ! "${NMS_DETECTOR[@]}" \
  ! boxrecord "$(nms_set location "$NMS_WORK/raw.jsonl")" ! fakesink \
  2>"$NMS_WORK/errors" || nms_failed "$NMS_WORK/errors"

mv "$NMS_WORK/raw.jsonl" "$file"
say "$(wc -l <"$file") frames, $(nms_boxes "$(nms_total_boxes "$file")") in $file"
