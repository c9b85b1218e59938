#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# unixfd: all boxes of 200 frames reach another process in the metadata of their buffers.
. "$(dirname "$0")/check.sh"

prepare unixfd
[[ $(gst-launch-1.0 --version) =~ version\ 1\.(2[4-9]|[3-9][0-9]) ]] || {
  echo "unixfdsink and metadata that passes through it need GStreamer 1.24"
  exit 77
}

# transfer VIDEO...: sends 200 frames of the source VIDEO with the boxes of boxes.jsonl, and
# compares those of the receiver, frame by frame.
transfer ()
{
  rm -f video.socket
  nms_launch -q "$@" ! boxreplay location=boxes.jsonl match=index \
    ! boxrecord line-meta=true location=sent.jsonl \
    ! unixfdsink socket-path=video.socket wait-for-connection=true sync=false >sender.out 2>&1 &
  until_true [ -S video.socket ] || true
  NMS_LIMIT=60 nms_launch -q unixfdsrc socket-path=video.socket \
    ! boxreplay line-meta=true ! boxrecord location=received.jsonl ! fakesink sync=false ||
    { cat sender.out >&2; fail "the receiver ended with an error"; }
  wait %% || { cat sender.out >&2; fail "the sender ended with an error"; }
  recording sent.jsonl 200
  same sent.jsonl received.jsonl
}

random_recording boxes.jsonl
source=(videotestsrc num-buffers=200)
caps=video/x-raw,format=I420,width=320,height=240,framerate=10/1
transfer "${source[@]}" ! "$caps"
# the same with a queue in between, and with pictures of another format
transfer "${source[@]}" ! "${caps/I420/RGB}" ! queue
