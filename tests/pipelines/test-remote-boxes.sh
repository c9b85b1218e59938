#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# remote-boxes.sh: all boxes of 100 frames reach another process over TCP and RTP, and
# through a Matroska file; each attached to its frame.
. "$(dirname "$0")/check.sh"

prepare remote-boxes

refused 'send or receive' remote-boxes
refused 'tcp or rtp' remote-boxes send --over udp
refused 'a number' remote-boxes send --port x
refused 'no such recording' remote-boxes send --boxes none.jsonl

random_recording boxes.jsonl
video=(videotestsrc num-buffers=100 ! video/x-raw,format=I420,width=320,height=240,framerate=10/1)
nms_launch -q "${video[@]}" ! jpegenc ! avimux ! filesink location=video.avi
nms_launch -q filesrc location=video.avi ! decodebin ! boxreplay location=boxes.jsonl \
  ! boxrecord location=sent.jsonl ! fakesink
recording sent.jsonl 100

# has FILE: whether a receiver has written 100 frames
has () { [ "$(cat "$1" | wc -l)" -ge 100 ]; }
bound () { grep -qs ":$(printf %04X "$1") " /proc/net/{tcp,tcp6,udp,udp6}; }
ended () { ! kill -0 "$1"; }

port=$(python3 -c 'import random; print(random.randrange(20000, 30000, 4))')

# transfer WAY: receives in the background while it sends, once both ports of the receiver are bound.
transfer ()
{
  local second=1
  [ "$1" = tcp ] || second=2
  timeout -k 5 100 "$PIPELINES/remote-boxes.sh" receive --over "$1" --port "$port" \
    --output "$1.jsonl" >receiver.out 2>receiver.err &
  receiver=$!
  until_true bound "$port" || true
  until_true bound $((port + second)) || true
  run remote-boxes send --over "$1" --port "$port" --boxes boxes.jsonl --input video.avi
}

transfer tcp
wait $receiver || { cat receiver.{out,err} >&2; fail "the receiver ended with $?"; }
grep -q '^100 frames' receiver.out
same sent.jsonl tcp.jsonl
cmp tcp.jsonl sent.jsonl || fail "the times differ"

# (on a busy machine rtpsession of GStreamer 1.22 does not always pass EOS to its RTCP pad, and then
# the sender does not end; all frames have to arrive all the same)
(transfer rtp) &
sender=$!
until_true has rtp.jsonl || { cat receiver.{out,err} >&2; fail "not all frames arrived over RTP"; }
pkill -f "remote-boxes.sh receive --over rtp --port $port" || true
if ! tries=150 until_true ended $sender; then
  echo "the sender of RTP has not ended: rtpsession has lost EOS"
  pkill -f "remote-boxes.sh send --over rtp --port $port" || true
fi
wait $sender || true
same sent.jsonl rtp.jsonl

# Matroska carries the text as a subtitle stream. A GAP event is not stored: where the
# stream has no text, the frame must not wait for the next one for ever.
for empty in true false; do
  nms_launch -q filesrc location=video.avi ! decodebin ! boxreplay location=boxes.jsonl \
    ! boxrecord name=boxes empty-lines=$empty boxes.src ! queue ! jpegenc ! mux. \
    boxes.boxes ! queue ! mux. matroskamux name=mux ! filesink location=boxes.mkv
  NMS_LIMIT=60 nms_launch -q filesrc location=boxes.mkv ! matroskademux name=demux \
    demux.video_0 ! queue ! jpegdec ! boxes.sink demux.subtitle_0 ! queue ! boxes.boxes \
    boxreplay name=boxes ! boxrecord location=mkv-$empty.jsonl ! fakesink
  same sent.jsonl mkv-$empty.jsonl
done

# unixfdsink passes frames without a copy and loses regions; the text passes beside them,
# from GStreamer 1.28 on. The receiver joins in mid-stream, and has each frame from then on.
[[ $(gst-launch-1.0 --version) =~ version\ 1\.(2[89]|[3-9][0-9]) ]] || exit 0
nms_launch -q videotestsrc is-live=true num-buffers=100 ! "${video[@]:3}" \
  ! boxreplay location=boxes.jsonl match=index \
  ! boxrecord name=boxes empty-lines=true location=fd-sent.jsonl \
  boxes.src ! queue ! unixfdsink socket-path=video.socket \
  boxes.boxes ! queue ! unixfdsink socket-path=boxes.socket >sender.out 2>&1 &
sockets () { [ -S video.socket ] && [ -S boxes.socket ]; }
until_true sockets || true
NMS_LIMIT=60 nms_launch -q unixfdsrc socket-path=video.socket ! queue ! boxes.sink \
  unixfdsrc socket-path=boxes.socket ! queue ! boxes.boxes \
  boxreplay name=boxes ! boxrecord location=fd.jsonl ! fakesink sync=false
cat sender.out
same fd-sent.jsonl fd.jsonl 51
