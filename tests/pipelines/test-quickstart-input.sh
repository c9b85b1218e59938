#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# quickstart.sh: other videos, and arguments that are refused.
. "$(dirname "$0")/check.sh"

limited quickstart --help >out
said '^usage: pipelines/quickstart.sh'
said '--seconds N'

# Every script refuses wrong arguments before anything is installed, built or made.
for script in quickstart record tag publish replay before-after "live-camera test"; do
  # shellcheck disable=SC2086
  NMS_PLUGIN_DIR='' NMS_BUILD_DIR=$PWD/none refused "is a folder, not a video" $script --input .
  [ ! -e none ] || fail "$script builds before it looks at its input"
done

refused "no such file: 'none.avi'" quickstart --input none.avi --output o
[ ! -e none.avi ] || fail "the missing input was made"
printf 'this is a text, and no video at all\n' >text.avi
refused "'text.avi' is not a video" quickstart --input text.avi --output o
: >empty.mp4
refused "'empty.mp4' is not a video" quickstart --input empty.mp4 --output o
refused "exists and is no folder" quickstart --output text.avi
refused "cannot make the output folder" quickstart --output text.avi/below
refused "unknown option '--sceonds'" quickstart --sceonds 3
refused "unknown option 'video.avi'" quickstart video.avi
refused "not 'ten'" quickstart --seconds ten
refused "not '-3'" quickstart --seconds -3
refused "needs a value" quickstart --seconds
refused "needs a value" quickstart --input ""
if [ "$(id -u)" != 0 ]; then
  mkdir locked && chmod a-w locked
  refused "cannot write in the output folder" quickstart --output locked
fi

# A video of an odd size and an unusual rate, with sound and without people.
gst-launch-1.0 -q videotestsrc num-buffers=9 \
  ! video/x-raw,width=161,height=121,framerate=30000/1001 \
  ! videoconvert ! vp8enc ! matroskamux name=mux ! filesink location='odd "one".mkv' \
  audiotestsrc num-buffers=10 ! audioconvert ! vorbisenc ! mux.
run quickstart --input 'odd "one".mkv' --output o --seconds 100
recording o/before.jsonl 9
recording o/after.jsonl 9
picture o/quickstart.png 324 122
# (vp8 hides frames and the muxer rounds to milliseconds, so no exact count)
said "^Frames:    9$"
said "found no people"

# A video that is scaled down for the detector.
gst-launch-1.0 -q videotestsrc num-buffers=3 ! video/x-raw,width=1920,height=1080 \
  ! jpegenc ! avimux ! filesink location=wide.avi
run quickstart --input wide.avi --output wide --seconds 0
said "1920 x 1080; the detector gets it as 1280 x 720"
picture wide/quickstart.png 2560 720

# A video that a phone recorded sideways, with the turn in its header, stands upright, and so do its boxes.
gst-launch-1.0 -q filesrc location="$ROOT/docs/methods/crowd.jpg" ! jpegdec ! videoconvert ! videoscale \
  ! video/x-raw,format=I420,width=768,height=576 ! imagefreeze num-buffers=9 \
  ! video/x-raw,framerate=10/1 ! videoflip video-direction=90l \
  ! x264enc bframes=0 speed-preset=veryfast ! mp4mux ! filesink location=lying.mp4
python3 - <<'END'
data = bytearray(open("lying.mp4", "rb").read())
matrix = data.index(b"tkhd") + 44
turn = (0, 1 << 16, 0, -1 << 16, 0, 0, 0, 0, 1 << 30)
data[matrix:matrix + 36] = b"".join(n.to_bytes(4, "big", signed=True) for n in turn)
open("phone.mp4", "wb").write(data)
END
run quickstart --input phone.mp4 --seconds .5 --output upright
picture upright/quickstart.png 1536 576
recording upright/after.jsonl 5
python3 - <<'END' || fail "boxes of a video that was turned upright"
import json
for line in open("upright/after.jsonl"):
    frame = json.loads(line)
    assert frame["resolution"] == {"width": 768, "height": 576}, frame["resolution"]
    assert frame["objects"] and all(box["h"] > box["w"] for box in frame["objects"])
END

# A file with sound alone.
gst-launch-1.0 -q audiotestsrc num-buffers=50 ! wavenc ! filesink location=sound.wav
gst-launch-1.0 -q audiotestsrc num-buffers=50 ! vorbisenc ! oggmux ! filesink location=sound.ogg
for file in sound.wav sound.ogg; do
  refused "'$file' is not a video" quickstart --input $file --output sound
done
