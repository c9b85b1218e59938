#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# quickstart.sh on H.264 whose width is no multiple of 16, cut short and whole: the
# decoder asks downstream for its allocation with every frame, which a queue before the
# cut leaves unanswered in GStreamer 1.22, so the pipeline hangs.
. "$(dirname "$0")/check.sh"

# With such sizes GStreamer 1.26 aborts itself ("video meta uses 1088x1920 instead of
# 1080x1920"), and with 1.28 the decoder's pipeline ends in an error.
case $(gst-launch-1.0 --version) in
  *"GStreamer 1.22."*) ;;
  *) echo "the scripts are for GStreamer 1.22, newer ones fail at these sizes"; exit 77 ;;
esac

for size in 1080x1920 854x480 333x211; do
  gst-launch-1.0 -q videotestsrc num-buffers=6 \
    ! "video/x-raw,width=${size%x*},height=${size#*x},framerate=10/1" \
    ! x264enc speed-preset=ultrafast ! mp4mux ! filesink location=$size.mp4
  run quickstart --input $size.mp4 --output cut --seconds .4
  recording cut/before.jsonl 4
  run quickstart --input $size.mp4 --output whole --seconds 0
  recording whole/before.jsonl 6
done

# A cut is exact to the frame with decoders that hold frames back: B frames, MPEG-4.
video=(videotestsrc num-buffers=30 ! "video/x-raw,width=160,height=120,framerate=10/1")
gst-launch-1.0 -q "${video[@]}" ! x264enc bframes=3 b-adapt=false ! mp4mux \
  ! filesink location=b.mp4
gst-launch-1.0 -q "${video[@]}" ! avenc_mpeg4 max-bframes=2 ! avimux ! filesink location=4.avi
for file in b.mp4 4.avi; do
  run record --input $file --output $file.jsonl --seconds 1.2
  recording $file.jsonl 12
done
