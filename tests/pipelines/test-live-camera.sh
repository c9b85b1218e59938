#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# live-camera.sh on cameras of this machine: reports, files, memory, and cameras
# that go and come back.
. "$(dirname "$0")/check.sh"

refused 'which camera' live-camera
refused 'no camera' live-camera /dev/nosuch
refused 'no device' live-camera .
refused 'codec' live-camera test --codec av1
refused 'patience' live-camera test --patience soon
refused "ends in .mp4 or .mkv, not 'o.avi'" live-camera test --output o.avi
refused "ends in .mp4 or .mkv, not 'mkv'" live-camera test --output mkv

prepare live-camera
nms_prepare_python

# (a recording instead of the detector, for which a busy machine is too slow)
run record --seconds 8 --output raw.jsonl
detector='boxreplay match=index loop=true location=raw.jsonl'

# frames FILE: prints how many frames can be decoded from it.
frames ()
{
  gst-launch-1.0 -q filesrc location="$1" ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 \
    ! fdsink | wc -c | awk '{ print $1 / (768 * 576) }'
}

# Fails unless each frame of FILE is later than the frame before it.
in_order ()
{
  gst-launch-1.0 -v filesrc location="$1" ! parsebin ! identity silent=false ! fakesink |
    grep -oE 'pts: [0-9:.]+' >times
  sort -c -u times || fail "the times of the frames in $1 do not increase"
}

# memory PID: prints the memory of the program that timeout, whose PID this is, runs.
memory () { sed -nE 's/^VmRSS:[^0-9]*([0-9]+) kB/\1/p' "/proc/$(pgrep -P "$1")/status"; }

# The last report and the files: every frame that got to the detector was filtered,
# drawn, encoded and is in the file. ($1: the least number of frames)
finished ()
{
  local name=$1 file=$2 least=$3 taken
  taken=$(sed -nE "s/^([0-9]+) frames in $file\$/\1/p" "$name.out")
  [ -n "$taken" ] || { cat "$name".{out,err} >&2; fail "$name: no last line"; }
  [ "$taken" -ge "$least" ] || { cat "$name".{out,err} >&2; fail "$name: $taken frames only"; }
  [ "$(frames "$file")" = "$taken" ] || fail "$name: $(frames "$file") of $taken frames in $file"
  in_order "$file"
  local report='[0-9]+ dropped, boxes [1-9][0-9]* in, [1-9][0-9]* out, nmsfilter [0-9]+ us a frame'
  grep -qE "^[0-9]+ frames/s, $report\$" "$name.out" ||
    { cat "$name.out" >&2; fail "$name: no report"; }
}

reported () { [ "$(grep -cE '^[1-9][0-9]* frames/s' "$1.out")" -ge "$2" ]; }

# reports NAME N: waits until that many seconds with frames were reported.
reports ()
{
  ! until_true reported "$@" || return 0
  cat "$1".{out,err} >&2
  fail "$1: fewer than $2 reports"
}

# Runs both codecs at once, each for over 10 s: one ends by itself, the other by Ctrl-C.
start ()
{
  local name=$1
  shift
  timeout --foreground -k 5 110 "$PIPELINES/live-camera.sh" "$@" --detector "$detector" \
    >"$name.out" 2>"$name.err" &
}

# interrupt PID: does what Ctrl-C does. The signal goes to the script, because the timeout of newer
# coreutils does not pass on a signal that a background process ignores.
interrupt () { kill -INT "$(pgrep -P "$1")"; }

start jpeg test --codec jpeg --seconds 18 --output jpeg.mp4
jpeg=$!
start h264 test --output h264.mkv
h264=$!
reports jpeg 5
reports h264 5
before="$(memory $jpeg) $(memory $h264)"
# (the first ends by the clock, however few of its seconds had frames; the loop ends before
# the video of the other camera does, after 79 s)
for _ in $(seq 80); do
  kill -0 $jpeg 2>/dev/null && [ "$(grep -cE '^[1-9][0-9]* frames/s' jpeg.out)" -lt 15 ] || break
  memory $jpeg >>jpeg.kb || true
  memory $h264 >>h264.kb || true
  sleep 0.5
done
reports h264 15
# (the least of the last five, because the queue before the encoder may hold 10 MB for a moment)
least () { tail -n 5 "$1" | sort -n | head -n 1; }
after="$(least jpeg.kb) $(least h264.kb)"
interrupt $h264
wait $h264 || { cat h264.{out,err} >&2; fail "h264 ended with $?"; }
wait $jpeg || { cat jpeg.{out,err} >&2; fail "jpeg ended with $?"; }
finished jpeg jpeg.mp4 40
finished h264 h264.mkv 40
printf 'memory in kB: %s, later: %s\n' "$before" "$after"
# (not under a sanitizer, which keeps freed memory)
[ -n "${NMS_PRELOAD-}" ] || awk -v b="$before" -v a="$after" 'BEGIN {
  split (b, x); split (a, y); exit !(y[1] - x[1] < 12000 && y[2] - x[2] < 12000) }' ||
  fail "memory grows"
no_server () { ! pgrep -s 0 -f "$PIPELINES/live/rtsp-server.py" >/dev/null; }
tries=50 until_true no_server || fail "a test camera was left behind"

# Only the seconds with pictures count, not the time that the camera takes to start.
start brief test --seconds 1 --output brief.mkv
wait $! || { cat brief.{out,err} >&2; fail "brief ended with $?"; }
said=$(sed -nE 's/^([0-9]+) frames in brief.mkv$/\1/p' brief.out)
[ "$said" -ge 4 ] && [ "$(frames brief.mkv)" = "$said" ] || fail "brief: $said frames"

# When the camera disappears, the program prints one line and ends with an error, and the file is
# complete. With --reconnect it waits for the camera and goes on in the same file, even if the
# pictures then have another size, shape, rate and range of colours.
serve ()
{
  "$NMS_PYTHON" "$PIPELINES/live/rtsp-server.py" "$1" h264 "${@:2}" \
    > >(head -n 1 >address; cat) 2>server.err &
  server=$!
  until_true [ -s address ]
}
serve "$(nms_sample_video)"
address=$(cat address) port=$(sed -E 's/.*:([0-9]+).*/\1/' address)
start gone "$address" --output gone.mkv
gone=$!
start back "$address" --output back.mp4 --reconnect
back=$!
reports gone 3
reports back 3
kill -9 $server
rc=0
wait $gone || rc=$?
[ $rc = 1 ] || { cat gone.{out,err} >&2; fail "a lost camera ends with $rc"; }
[ "$(grep -c '' gone.err)" = 1 ] && grep -q '^live-camera: the camera is gone: ' gone.err ||
  { cat gone.err >&2; fail "a lost camera is not said in one line"; }
finished gone gone.mkv 10
at=$(grep -cE '^[1-9][0-9]* frames/s' back.out)
gst-launch-1.0 -q videotestsrc num-buffers=600 ! video/x-raw,width=320,height=200,framerate=15/1 \
  ! jpegenc ! avimux ! filesink location=other.avi
serve other.avi "$port"
reports back $((at + 3))
interrupt $back
wait $back || { cat back.{out,err} >&2; fail "after a reconnection it ended with $?"; }
kill -9 $server
grep -q '^The camera is gone (.*); waiting for it.$' back.out
finished back back.mp4 20

# There is no camera at the address.
refused 'cannot open rtsp://127.0.0.1:9/none: ' live-camera rtsp://127.0.0.1:9/none --output none.mkv
