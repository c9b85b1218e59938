# SPDX-License-Identifier: LGPL-2.1-or-later
# check: what the tests of the pipelines share. Sourced; each test runs in an
# empty folder whose name has a space and a quote.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PIPELINES=$ROOT/pipelines
WORK=$(mktemp -d "${TMPDIR:-/tmp}/nms it's.XXXXXX")
# (programs that still run if the test fails would outlast it)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$WORK"' EXIT
cd "$WORK"

# prepare NAME: prepares this shell as the scripts do: their packages, and the folder of the plugin.
prepare ()
{
  NMS_SELF=$1
  . "$PIPELINES/common.sh"
  nms_prepare
}

fail ()
{
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# limited SCRIPT ARGUMENTS...: runs a script, for at most 100 s (status 124).
limited () { timeout -k 5 100 "$PIPELINES/$1.sh" "${@:2}"; }

# until_true COMMAND...: waits until it succeeds, for a minute, or for `tries` tenths of a second.
until_true ()
{
  for _ in $(seq "${tries-600}"); do
    ! "$@" 2>/dev/null || return 0
    sleep 0.1
  done
  printf 'in vain: %s\n' "$*" >&2
  return 1
}

# ends STATUS COMMAND...: fails unless the command, whose output goes to out and err, ends with this
# status. A missing package makes the test skip.
ends ()
{
  local rc=0
  "${@:2}" >out 2>err || rc=$?
  [ "$rc" != 77 ] || { cat err >&2; exit 77; }
  [ "$rc" = "$1" ] || { cat out err >&2; fail "${*:2} ended with $rc, not $1"; }
}
run () { ends 0 limited "$@"; }

# refused TEXT SCRIPT ARGUMENTS...: fails unless the script fails and prints TEXT to stderr, in one
# line that begins with its name.
refused ()
{
  ends 1 limited "${@:2}"
  grep -q "^$2: .*$1" err || { cat out err >&2; fail "${*:2} does not say '$1'"; }
}

said () { grep -qE -- "$1" out || { cat out err >&2; fail "no '$1' in the output"; }; }

# Fails unless the file is a recording of that many frames, each line JSON with the members that
# readers need.
recording ()
{
  python3 - "$1" "$2" <<'END' || fail "$1 is not a recording of $2 frames"
import json, sys
with open(sys.argv[1], encoding="utf-8") as f:
    frames = [json.loads(line) for line in f]
times = [frame["timestamp"] for frame in frames]
for frame in frames:
    assert frame["resolution"]["width"] > 0 and frame["resolution"]["height"] > 0
    for box in frame["objects"]:
        assert {"x", "y", "w", "h", "roi_type"} <= box.keys(), box
assert times == sorted(set(times)), times
print(sys.argv[1], len(frames), "frames")
assert len(frames) == int(sys.argv[2])
END
}

boxes ()
{
  python3 -c 'import json, sys
print(sum(len(json.loads(line)["objects"]) for line in open(sys.argv[1], encoding="utf-8")))' "$1"
}

# Fails unless every box of the second recording is in the same frame of the first one.
subset ()
{
  python3 - "$1" "$2" <<'END' || fail "$2 has boxes that $1 has not"
import json, sys
key = lambda box: tuple(box[k] for k in "xywh")
for a, b in zip(open(sys.argv[1]), open(sys.argv[2])):
    left, of = map(lambda t: [key(o) for o in json.loads(t)["objects"]], (b, a))
    for box in left:
        of.remove(box)
END
}

# picture FILE WIDTH HEIGHT: fails unless FILE is a PNG of that size.
picture ()
{
  python3 - "$@" <<'END' || fail "$1 is no PNG of $2 x $3"
import struct, sys
head = open(sys.argv[1], "rb").read(24)
assert head[:8] == b"\x89PNG\r\n\x1a\n"
print(struct.unpack(">II", head[16:24]))
assert struct.unpack(">II", head[16:24]) == (int(sys.argv[2]), int(sys.argv[3]))
END
}

# video FILE WIDTH HEIGHT FRAMES: fails unless FILE decodes to that many frames of that size.
video ()
{
  local caps frames
  caps=$(gst-launch-1.0 -v filesrc location="$1" ! decodebin ! videoconvert \
    ! video/x-raw,format=RGB ! identity name=probe ! multifilesink location=frame-%05d 2>&1)
  grep -q "GstIdentity:probe.GstPad:src: caps = .*width=(int)$2, height=(int)$3," <<<"$caps" ||
    { printf '%s\n' "$caps" >&2; fail "$1 is no video of $2 x $3"; }
  frames=$(find . -maxdepth 1 -name 'frame-*' | wc -l)
  rm -f frame-*
  [ "$frames" = "$4" ] || fail "$1 has $frames frames, not $4"
}

# random_recording FILE: writes 200 frames, 10 a second, with boxes at random places, none on every
# seventh frame; labels with what markup escapes.
random_recording ()
{
  python3 - "$1" <<'END'
import json, random, sys
random.seed(1)
with open(sys.argv[1], "w", encoding="utf-8") as file:
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
}

# same SENT RECEIVED [LEAST]: fails unless the recordings have the same boxes on the same frames. With
# LEAST the received one may begin later and has at least that many frames.
same ()
{
  python3 - "$@" <<'END' || fail "$2 has other boxes than $1"
import json, sys
sent, got = ([json.loads(line)["objects"] for line in open(name, encoding="utf-8")]
             for name in sys.argv[1:3])
if len(sys.argv) > 3:
    assert len(got) >= int(sys.argv[3]), len(got)
    sent = sent[-len(got):]
wrong = [n for n, (a, b) in enumerate(zip(sent, got)) if a != b]
print(sys.argv[2], len(got), "frames,", sum(map(len, got)), "boxes,", len(wrong), "frames differ")
assert sent == got, wrong[:10]
END
}
