#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# publish: writes the filtered boxes of each frame to standard output as soon as the frame
# has passed, for any program that reads lines.
usage ()
{
  cat <<END
usage: pipelines/publish.sh [--input VIDEO] [--seconds N] | program

Detects, filters and writes one JSON object a frame to standard output, each as
soon as its frame has passed, until the program closes its input. Everything else
goes to standard error. Try

  pipelines/publish.sh | python3 -c '
  import json, sys
  for line in sys.stdin:
      frame = json.loads(line)
      print(frame["timestamp"] / 1e9, len(frame["objects"]), flush=True)'

  --input VIDEO   any video (default: vtest.avi, which Debian ships)
  --seconds N     how much of the video (default: 0, all of it)
END
}

. "$(dirname "$0")/common.sh"

nms_arguments "$@"
[ -z "${NMS_OUTPUT-}" ] || die "the lines go to standard output; there is no --output"
nms_prepare >&2
nms_open_video >&2
nms_detector
nms_filter
nms_work_dir "${TMPDIR:-/tmp}"

# -q, because gst-launch-1.0 would write messages between the lines otherwise.
nms_launch -q "${NMS_SOURCE[@]}" ! "${NMS_DETECTOR[@]}" ! "${NMS_FILTER[@]}" \
  ! boxrecord location=- ! fakesink \
  2>"$NMS_WORK/errors" || {
  # (boxrecord's error for EPIPE: the reader closed the pipe, which is a normal end)
  grep -q '^ERROR: .*Cannot write to -: the reader closed the pipe' "$NMS_WORK/errors" ||
    nms_failed "$NMS_WORK/errors"
}
