#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# view-in-browser: shows the filtered video of a camera or a file on a page, with its counts
# and with sliders that change nmsfilter while it plays.
usage ()
{
  cat <<END
usage: pipelines/view-in-browser.sh CAMERA|FILE [--port N] [--listen ADDRESS] [--seconds N]

  CAMERA         /dev/video0 (or another V4L2 device), rtsp://... (or another live
                 URI); it is waited for when it is gone
  FILE           a video, which is played at its own speed, again and again; 'test':
                 vtest.avi, which Debian ships
  --port N       the port of the page (default: 8080; 0: any free one)
  --listen ADDRESS
                 who can see the page: 127.0.0.1 (the default) only this machine,
                 0.0.0.0 every machine that reaches this one. There is no password
  --seconds N    end so long after the first frame (default: 0, at Ctrl-C)
  --patience N   a camera without a frame for so many seconds is gone (10)
  --iou N        nmsfilter's iou-threshold at the start (default: 0.3)
  --score N      and its score-threshold (default: 0.7)
  --detector 'ELEMENTS'
                 another detector for RGB frames, as gst-launch-1.0 takes it

The page shows the picture, how many boxes came in and were kept, why the others were
dropped, the latency and the frames a second. Several browsers can look at it.
END
}

. "$(dirname "$0")/common.sh"

source=${1-}
case $source in
  -h | --help) usage; exit 0 ;;
  '' | -*) die "which camera or file? It comes first (--help lists them)" ;;
esac
shift
NMS_OPTIONS="--iou:NMS_IOU --score:NMS_SCORE --detector:NMS_OWN_DETECTOR
  --port:NMS_PORT --listen:NMS_LISTEN --patience:NMS_PATIENCE"
nms_arguments "$@"
[ -z "${NMS_OUTPUT-}${NMS_INPUT-}" ] || die "the video comes first, and there is no --output"
[[ ${NMS_PORT:=8080} =~ ^[0-9]{1,5}$ ]] && [ "$NMS_PORT" -le 65535 ] ||
  die "--port takes a number up to 65535, not '$NMS_PORT'"
nms_is_number "${NMS_PATIENCE:=10}" ||
  die "--patience takes a number of seconds, not '$NMS_PATIENCE'"
again=(--reconnect)
if [[ $source != test && $source != *://* && ! -c $source ]]; then
  NMS_INPUT=$source
  nms_check_input
fi
nms_prepare
nms_prepare_python
case $source in
  *://*) ;;
  *)
    if [ -c "$source" ]; then
      [ -r "$source" ] || die "cannot read the camera '$source'"
      source="v4l2://$(realpath "$source")"
    else
      source=$("$NMS_PYTHON" -c 'import pathlib, sys
print (pathlib.Path (sys.argv[1]).resolve ().as_uri ())' "${NMS_INPUT:-$(nms_sample_video)}")
      again=(--loop)
    fi
    ;;
esac
if [ -n "${NMS_OWN_DETECTOR-}" ]; then
  detector=$NMS_OWN_DETECTOR
else
  nms_detector
  detector=${NMS_DETECTOR[*]}
fi
nms_filter

[ -z "${NMS_PRELOAD-}" ] || export LD_PRELOAD=$NMS_PRELOAD
exec "$NMS_PYTHON" "$NMS_ROOT/pipelines/live/view.py" "$source" \
  --detector "$detector" --filter "${NMS_FILTER[*]}" --seconds "$NMS_SECONDS" \
  --patience "$NMS_PATIENCE" --listen "${NMS_LISTEN:-127.0.0.1}" --port "$NMS_PORT" "${again[@]}"
