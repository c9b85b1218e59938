#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# remote-boxes.sh: all boxes of 200 frames reach another process over TCP and RTP, and
# through a Matroska file; each attached to its frame.
. "$(dirname "$0")/check.sh"

NMS_SELF=remote-boxes
. "$PIPELINES/common.sh"
nms_prepare

refused 'send or receive' remote-boxes
refused 'tcp or rtp' remote-boxes send --over udp
refused 'a number' remote-boxes send --port x
refused 'no such recording' remote-boxes send --boxes none.jsonl

# Boxes at random places, none on every seventh frame; labels with what markup escapes.
python3 - <<'END'
import json, random
random.seed(1)
with open("boxes.jsonl", "w", encoding="utf-8") as file:
    for frame in range(200):
        objects = []
        for number in range(0 if frame % 7 == 3 else 1 + frame % 9):
            x, y = random.random() * 0.8, random.random() * 0.8
            bounds = {"x_min": x, "y_min": y, "x_max": x + random.random() * 0.2,
                      "y_max": y + random.random() * 0.2}
            label = ["person", "car", "a&b <i>\"q\"'s\u00e9"][number % 3]
            objects.append({"roi_type": label, "region_id": number + 1, "detection":
                            {"bounding_box": bounds, "confidence": random.random()}})
        print(json.dumps({"timestamp": frame * 100000000, "objects": objects}), file=file)
END
video=(videotestsrc num-buffers=200 ! video/x-raw,format=I420,width=320,height=240,framerate=10/1)
nms_launch -q "${video[@]}" ! jpegenc ! avimux ! filesink location=video.avi
nms_launch -q filesrc location=video.avi ! decodebin ! boxreplay location=boxes.jsonl \
  ! boxrecord location=sent.jsonl ! fakesink
recording sent.jsonl 200

# same FILE: the recording has the boxes of sent.jsonl on the same frames.
same ()
{
  python3 - "$1" <<'END' || fail "$1 has other boxes than were sent"
import json, sys
sent, got = ([json.loads(line)["objects"] for line in open(name, encoding="utf-8")]
             for name in ("sent.jsonl", sys.argv[1]))
wrong = [n for n, (a, b) in enumerate(zip(sent, got)) if a != b]
print(sys.argv[1], len(got), "frames,", len(wrong), "differ")
assert sent == got, wrong[:10]
END
}

# received FILE: waits until a receiver has written 200 frames.
received ()
{
  for _ in $(seq 300); do
    [ "$(cat "$1" 2>/dev/null | wc -l)" -lt 200 ] || return 0
    sleep 0.1
  done
  cat receiver.{out,err} >&2
  fail "$1: only $(cat "$1" | wc -l) frames arrived"
}

trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$WORK"' EXIT
port=$(python3 -c 'import random; print(random.randrange(20000, 30000, 4))')

# transfer WAY: receives in the background while it sends.
transfer ()
{
  timeout -k 5 100 "$PIPELINES/remote-boxes.sh" receive --over "$1" --port "$port" \
    --output "$1.jsonl" >receiver.out 2>receiver.err &
  receiver=$!
  sleep 2
  run remote-boxes send --over "$1" --port "$port" --boxes boxes.jsonl --input video.avi
}

transfer tcp
wait $receiver || { cat receiver.{out,err} >&2; fail "the receiver ended with $?"; }
grep -q '^200 frames' receiver.out
same tcp.jsonl
cmp tcp.jsonl sent.jsonl || fail "the times differ"

transfer rtp
received rtp.jsonl
kill $receiver
wait $receiver || true
same rtp.jsonl

# Matroska carries the text as a subtitle stream. A GAP event is not stored: where the
# stream has no text, the frame must not wait for the next one for ever.
for empty in true false; do
  nms_launch -q filesrc location=video.avi ! decodebin ! boxreplay location=boxes.jsonl \
    ! boxrecord name=boxes empty-lines=$empty boxes.src ! queue ! jpegenc ! mux. \
    boxes.boxes ! queue ! mux. matroskamux name=mux ! filesink location=boxes.mkv
  NMS_LIMIT=60 nms_launch -q filesrc location=boxes.mkv ! matroskademux name=demux \
    demux.video_0 ! queue ! jpegdec ! boxes.sink demux.subtitle_0 ! queue ! boxes.boxes \
    boxreplay name=boxes ! boxrecord location=mkv-$empty.jsonl ! fakesink
  same mkv-$empty.jsonl
done

# unixfdsink passes frames without a copy and loses regions; the text passes beside them,
# from GStreamer 1.28 on. The receiver joins in mid-stream, and has each frame from then on.
[[ $(gst-launch-1.0 --version) =~ version\ 1\.(2[89]|[3-9][0-9]) ]] || exit 0
nms_launch -q videotestsrc is-live=true num-buffers=100 ! "${video[@]:3}" \
  ! boxreplay location=boxes.jsonl match=index \
  ! boxrecord name=boxes empty-lines=true location=fd-sent.jsonl \
  boxes.src ! queue ! unixfdsink socket-path=video.socket \
  boxes.boxes ! queue ! unixfdsink socket-path=boxes.socket >sender.out 2>&1 &
for _ in $(seq 100); do
  [ ! -S video.socket ] || [ ! -S boxes.socket ] || break
  sleep 0.1
done
NMS_LIMIT=60 nms_launch -q unixfdsrc socket-path=video.socket ! queue ! boxes.sink \
  unixfdsrc socket-path=boxes.socket ! queue ! boxes.boxes \
  boxreplay name=boxes ! boxrecord location=fd.jsonl ! fakesink sync=false
python3 - <<'END' || { cat sender.out >&2; fail "other boxes through unixfdsink"; }
import json
sent, got = ([json.loads(line)["objects"] for line in open(name, encoding="utf-8")]
             for name in ("fd-sent.jsonl", "fd.jsonl"))
print("unixfd", len(got), "of", len(sent), "frames")
assert len(got) > 50 and got == sent[-len(got):]
END
