#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# remote-boxes: sends a video and its boxes to another process or machine, as two streams
# that GStreamer keeps in time, over TCP or RTP.
usage ()
{
  cat <<END
usage: pipelines/remote-boxes.sh receive [--over tcp|rtp] [--port N] [--output FILE] [--seconds N]
       pipelines/remote-boxes.sh send [--over tcp|rtp] [--port N] [--host ADDRESS]
                                 [--boxes FILE] [--input VIDEO] [--seconds N]

Start the receiver first. It attaches the boxes to their frames and writes them as
JSON Lines; replace its last elements by your own.

  --over tcp|rtp  tcp (default): no frame is lost, times are exact to the ns, and the
                  receiver ends with the sender. rtp: in real time; frames may be lost,
                  and the receiver ends at Ctrl-C or after --seconds
  --port N        the first port (default: 7700); tcp takes two, rtp four
  --host ADDRESS  the receiver (default: 127.0.0.1)
  --output FILE   the boxes that arrive (default: output/received.jsonl in the checkout)
  --boxes FILE    send these boxes (record.sh makes such files) instead of the detector's
  --input VIDEO   any video (default: vtest.avi, which Debian ships)
  --seconds N     how much of the video to send, or how long to receive (default: 0, all)
END
}

. "$(dirname "$0")/common.sh"

side=${1-}
case $side in
  -h | --help) usage; exit 0 ;;
  send | receive) shift ;;
  *) die "send or receive? It comes first (--help lists the options)" ;;
esac
NMS_OPTIONS="--over:NMS_OVER --port:NMS_PORT --host:NMS_HOST --boxes:NMS_BOXES"
nms_arguments "$@"
case ${NMS_OVER:=tcp} in tcp | rtp) ;; *) die "--over takes tcp or rtp, not '$NMS_OVER'" ;; esac
[[ ${NMS_PORT:=7700} =~ ^[0-9]{1,5}$ ]] || die "--port takes a number, not '$NMS_PORT'"
host=(host="${NMS_HOST:-127.0.0.1}")
[ -z "${NMS_BOXES-}" ] || nms_need_boxes
if [ "$side" = receive ]; then
  file=${NMS_OUTPUT:-$NMS_ROOT/output/received.jsonl}
  nms_output_dir "$(dirname "$file")"
fi
nms_prepare
nms_install gstreamer1.0-plugins-bad   # gdppay, gdpdepay
nms_work_dir "${TMPDIR:-/tmp}"

# Each source pad of boxrecord and each sink pad of boxreplay has a queue, because the
# other one would wait for it otherwise.
send_tcp ()
{
  nms_launch -q "${NMS_SOURCE[@]}" ! "${detector[@]}" ! boxrecord name=boxes \
    boxes.src ! queue ! videoconvert ! jpegenc ! gdppay ! tcpclientsink "${host[@]}" port="$NMS_PORT" \
    boxes.boxes ! queue ! gdppay ! tcpclientsink "${host[@]}" port=$((NMS_PORT + 1))
}

receive_tcp ()
{
  nms_launch -q boxreplay name=boxes ! boxrecord "$(nms_set location "$file")" ! fakesink \
    tcpserversrc host=0.0.0.0 port="$NMS_PORT" ! gdpdepay ! jpegdec ! queue ! boxes.sink \
    tcpserversrc host=0.0.0.0 port=$((NMS_PORT + 1)) ! gdpdepay ! queue ! boxes.boxes
}

# rtpgstpay sends no GAP events, hence empty-lines. RTCP tells the receiver how the times of
# the two streams relate, by the times of the frames (rtcp-sync-send-time=false), because those
# at which packets are sent vary by more than a frame on a busy machine.
send_rtp ()
{
  nms_launch -q rtpbin name=rtp rtcp-sync-send-time=false \
    "${NMS_SOURCE[@]}" ! "${detector[@]}" ! boxrecord name=boxes empty-lines=true \
    boxes.src ! queue ! videoconvert ! video/x-raw,format=I420 ! jpegenc ! rtpjpegpay \
    ! rtp.send_rtp_sink_0 \
    boxes.boxes ! queue ! rtpgstpay ! rtp.send_rtp_sink_1 \
    rtp.send_rtp_src_0 ! udpsink "${host[@]}" port="$NMS_PORT" \
    rtp.send_rtcp_src_0 ! udpsink "${host[@]}" port=$((NMS_PORT + 1)) sync=false async=false \
    rtp.send_rtp_src_1 ! udpsink "${host[@]}" port=$((NMS_PORT + 2)) \
    rtp.send_rtcp_src_1 ! udpsink "${host[@]}" port=$((NMS_PORT + 3)) sync=false async=false
}

receive_rtp ()
{
  local rtp="application/x-rtp,clock-rate=90000"
  nms_launch -q rtpbin name=rtp \
    udpsrc port="$NMS_PORT" buffer-size=4194304 \
    caps="$rtp,media=video,encoding-name=JPEG,payload=26" ! rtp.recv_rtp_sink_0 \
    udpsrc port=$((NMS_PORT + 1)) ! rtp.recv_rtcp_sink_0 \
    udpsrc port=$((NMS_PORT + 2)) buffer-size=4194304 \
    caps="$rtp,media=application,encoding-name=X-GST,payload=96" ! rtp.recv_rtp_sink_1 \
    udpsrc port=$((NMS_PORT + 3)) ! rtp.recv_rtcp_sink_1 \
    rtp. ! rtpjpegdepay ! jpegdec ! queue ! boxes.sink rtp. ! rtpgstdepay ! queue ! boxes.boxes \
    boxreplay name=boxes boxes-timeout=1000000000 ! boxrecord "$(nms_set location "$file")" \
    ! fakesink sync=false
}

if [ "$side" = send ]; then
  nms_open_video
  nms_detector
  detector=("${NMS_DETECTOR[@]}")
  [ -z "${NMS_BOXES-}" ] || detector=(boxreplay "$(nms_set location "$NMS_BOXES")")
else
  NMS_LIMIT=$NMS_SECONDS
fi
rc=0
"${side}_$NMS_OVER" 2>"$NMS_WORK/errors" || rc=$?
# (124: the time limit of the receiver)
[ "$rc" = 0 ] || [ "$side,$rc" = receive,124 ] || nms_failed "$NMS_WORK/errors"
[ "$side" = send ] ||
  say "$(wc -l <"$file") frames, $(nms_boxes "$(nms_total_boxes "$file")") in $file"
