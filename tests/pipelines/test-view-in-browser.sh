#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# view-in-browser.sh: the page in headless Chromium, requests that it refuses, and a viewer
# that reads nothing while others look.
. "$(dirname "$0")/check.sh"

refused 'which camera or file' view-in-browser
refused 'no such file' view-in-browser /dev/nosuch
refused 'up to 65535' view-in-browser test --port 70000
refused 'no --output' view-in-browser test --output o.mp4
refused 'takes an IP address' view-in-browser test --listen nowhere

prepare view-in-browser
nms_prepare_python
run record --seconds 8 --output raw.jsonl

: >page.out
"$PIPELINES/view-in-browser.sh" test --port 0 --detector 'boxreplay match=index loop=true
  location=raw.jsonl' >page.out 2>page.err &
page=$!
serves () { url=$(sed -nE 's|^Open (http://127.0.0.1:[0-9]+)/ .*|\1|p' page.out) && [ -n "$url" ]; }
until_true serves || { cat page.err >&2; fail "the script serves no page"; }

# answered STATUS CURL-ARGUMENTS...: fails unless the server answers with this status.
answered ()
{
  local status
  status=$(curl -s -o answer -w '%{http_code}' --max-time 20 "${@:2}")
  [ "$status" = "$1" ] || { cat answer >&2; fail "$* was answered with $status"; }
}
json='Content-Type: application/json'
answered 404 "$url/nothing"
answered 403 "$url/state" -H 'Host: elsewhere.example'
answered 403 "$url/settings" -H 'Host: elsewhere.example' -H "$json" -d '{"iou-threshold":1}'
answered 415 "$url/settings" -d '{"iou-threshold":1}'
answered 413 "$url/settings" -H "$json" -d "{\"drop-classes\":[\"$(printf '%070000d' 0)\"]}"
for settings in '{"iou-threshold":2}' '{"iou-threshold":NaN}' '{"iou-threshold":"1"}' \
  '{"min-neighbors":-1}' '{"drop-classes":"face"}' '{"drop-classes":["a,b"]}' '{"action":1}' \
  '[]' '{' "$(printf '%020000d' 0 | tr 0 '[')"; do
  answered 400 "$url/settings" -H "$json" -d "$settings"
done
answered 200 "$url/state"

# One viewer connects and reads nothing. The page must be served to others meanwhile.
python3 -c 'import socket, sys, time
stalled = socket.create_connection (("127.0.0.1", int (sys.argv[1])))
stalled.sendall (b"GET /video HTTP/1.1\r\nHost: localhost\r\n\r\n")
time.sleep (1000)' "${url##*:}" &
stalled=$!

rc=0
timeout -k 5 150 /usr/bin/python3 "$ROOT/tests/pipelines/viewpage.py" "$url/" >seen 2>&1 || rc=$?
cat seen
[ "$rc" != 77 ] || exit 77
[ "$rc" = 0 ] || { cat page.out page.err >&2; fail "the page in Chromium"; }
# (the page was taken when all boxes were shown; nothing else in it is cyan)
cyan=$(gst-launch-1.0 -q filesrc location=page.png ! pngdec ! videoconvert \
  ! video/x-raw,format=RGB ! fdsink | python3 -c 'import sys
rgb = sys.stdin.buffer.read ()
print (sum (r < 90 and g > 150 and b > 150 for r, g, b in zip (rgb[::3], rgb[1::3], rgb[2::3])))')
[ "$cyan" -gt 500 ] || fail "$cyan pixels of boxes in the picture of the page"

# The stalled viewer is disconnected after 10 s.
unseen () { curl -s "$url/state" | grep -q '"viewers": 0'; }
tries=200 until_true unseen || fail "viewers are left: $(curl -s "$url/state")"
kill -0 $stalled || fail "the stalled viewer ended by itself"
kill $stalled
kill -INT $page
wait $page || { cat page.out page.err >&2; fail "the script ended with $?"; }
grep -qE '^[1-9][0-9]* frames$' page.out || { cat page.out; fail "no last line"; }
