#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# live-camera: runs a people detector and nmsfilter on a live camera and prints a report
# every second.
usage ()
{
  cat <<END
usage: pipelines/live-camera.sh CAMERA [--output FILE] [--seconds N] [--reconnect]

  CAMERA         /dev/video0 (or another V4L2 device), rtsp://... (or another
                 live URI), or 'test': an RTSP camera on this machine that plays
                 --input, started and stopped by the script
  --output FILE  write the picture with its boxes, as .mp4 or .mkv; without a
                 display the default is output/camera.mkv in the checkout
  --seconds N    end so long after the first frame (default: 0, at Ctrl-C, which
                 ends the file properly)
  --reconnect    wait for a camera that is gone, and go on, in the same file; a
                 picture of another size is scaled to the size of the first one,
                 with black borders where the shape differs;
                 without it the script ends with an error
  --patience N   a camera without a frame for so many seconds is gone (10)
  --iou N        nmsfilter's iou-threshold (default: 0.3)
  --score N      and its score-threshold (default: 0.7)
  --detector 'ELEMENTS'
                 another detector for RGB frames, as gst-launch-1.0 takes it
  --input FILE   the video of the test camera (default: vtest.avi, which Debian ships)
  --codec jpeg|h264
                 and what it sends (default: h264)

Where there is a display, a window shows the picture. The report says how many
frames came in that second, how many the detector was too slow for, what
nmsfilter was given and left so far, and the time it took for a frame.
END
}

. "$(dirname "$0")/common.sh"

camera=${1-}
case $camera in
  -h | --help) usage; exit 0 ;;
  '' | -*) die "which camera? It comes first (--help lists them)" ;;
esac
shift
options=() reconnect=()
for argument; do
  case $argument in
    --reconnect) reconnect=(--reconnect) ;;
    *) options+=("$argument") ;;
  esac
done
NMS_OPTIONS="--iou:NMS_IOU --score:NMS_SCORE --detector:NMS_OWN_DETECTOR
  --codec:NMS_CODEC --patience:NMS_PATIENCE"
nms_arguments ${options[@]+"${options[@]}"}
case ${NMS_CODEC:=h264} in jpeg | h264) ;; *) die "--codec takes jpeg or h264, not '$NMS_CODEC'" ;; esac
nms_is_number "${NMS_PATIENCE:=10}" ||
  die "--patience takes a number of seconds, not '$NMS_PATIENCE'"
case $camera in
  test | *://*) ;;
  *)
    [ -e "$camera" ] || die "there is no camera '$camera'"
    [ -c "$camera" ] || die "'$camera' is no device (a camera is /dev/video0, rtsp://... or test)"
    [ -r "$camera" ] || die "cannot read the camera '$camera'"
    camera="v4l2://$(realpath "$camera")"
    ;;
esac

window=()
if [ -n "${DISPLAY-}${WAYLAND_DISPLAY-}" ]; then
  window=(--window)
else
  NMS_OUTPUT=${NMS_OUTPUT:-$NMS_ROOT/output/camera.mkv}
fi
case ${NMS_OUTPUT-} in
  '') ;;
  *.[mM][pP]4 | *.[mM][kK][vV]) nms_output_dir "$(dirname "$NMS_OUTPUT")" ;;
  *) die "--output takes a file that ends in .mp4 or .mkv, not '$NMS_OUTPUT'" ;;
esac
nms_prepare
nms_prepare_python
if [ -n "${NMS_OWN_DETECTOR-}" ]; then
  detector=$NMS_OWN_DETECTOR
else
  nms_detector
  detector=${NMS_DETECTOR[*]}
fi
nms_filter

if [ "$camera" = test ]; then
  nms_install $NMS_PACKAGES_TEST_CAMERA
  # The server ends when no process holds this pipe open.
  exec {address}< <(exec "$NMS_PYTHON" "$NMS_ROOT/pipelines/live/rtsp-server.py" \
    "${NMS_INPUT:-$(nms_sample_video)}" "$NMS_CODEC")
  read -r -t 30 -u "$address" camera || die "the test camera did not start"
  say "The test camera is $camera"
fi

[ -z "${NMS_PRELOAD-}" ] || export LD_PRELOAD=$NMS_PRELOAD
exec "$NMS_PYTHON" "$NMS_ROOT/pipelines/live/camera.py" "$camera" \
  --detector "$detector" --filter "${NMS_FILTER[*]}" --seconds "$NMS_SECONDS" \
  --patience "$NMS_PATIENCE" ${NMS_OUTPUT:+--file "$NMS_OUTPUT"} ${window[@]+"${window[@]}"} \
  ${reconnect[@]+"${reconnect[@]}"}
