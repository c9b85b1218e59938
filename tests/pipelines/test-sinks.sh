#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs the pipelines of the section "Other sinks" of docs/recording.md as they are printed, on a video
# of 25 frames, and compares the lines that arrive.
. "$(dirname "$0")/check.sh"

prepare sinks

random_recording all.jsonl
head -n 25 all.jsonl >raw.jsonl
export VIDEO=clip.avi
nms_launch -q videotestsrc num-buffers=25 ! video/x-raw,width=160,height=120,framerate=10/1 \
  ! jpegenc ! avimux ! filesink location=clip.avi
nms_launch -q filesrc location=clip.avi ! decodebin ! boxreplay location=raw.jsonl \
  ! boxrecord location=wanted.jsonl ! fakesink

python3 - "$ROOT/docs/recording.md" <<'END'
import re, sys
section = open(sys.argv[1], encoding="utf-8").read().split("\n## Other sinks\n")[1].split("\n## ")[0]
blocks = re.findall(r"^```sh\n(.*?)^```", section, re.S | re.M)
for name, sink in (("files", "multifilesink"), ("program", "fdsink"), ("port", "tcpserversink")):
    block, = (block for block in blocks if " %s " % sink in block)
    assert "recorder.boxes ! queue leaky=downstream !" in block
    open(name + ".sh", "w").write(block)
assert len(blocks) == 3
END
preload=${NMS_PRELOAD:+LD_PRELOAD=$NMS_PRELOAD}
gst-launch-1.0 () { timeout 60 env $preload gst-launch-1.0 "$@"; }
played () { (. "./$1.sh") >out 2>err || { cat out err >&2; fail "the pipeline of $1"; }; }

played files
[ "$(find . -name 'boxes*.jsonl' | wc -l)" -gt 1 ] || fail "one file only"
[ "$(find . -name 'boxes*.jsonl' -size +20000c | wc -l)" = 0 ] || fail "a file is too large"
cat boxes*.jsonl >files.jsonl
played program

# the reader connects before the first line
python3 - >port.jsonl <<'END' &
import socket, time
for attempt in range(1500):
    try:
        connection = socket.create_connection(("127.0.0.1", 7702))
        break
    except OSError:
        time.sleep(0.01)
while block := connection.recv(65536):
    print(block.decode(), end="")
END
reader=$!
played port
wait "$reader" || fail "the reader"

same wanted.jsonl files.jsonl
same wanted.jsonl lines.jsonl
same wanted.jsonl port.jsonl 6
