#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# record.sh, replay.sh, before-after.sh: detect once, filter often.
. "$(dirname "$0")/check.sh"

run record --seconds 2 --output "a/raw boxes.jsonl"
recording "a/raw boxes.jsonl" 20
all=$(boxes "a/raw boxes.jsonl")
[ "$all" -gt 100 ] || fail "$all boxes recorded"
said "20 frames, $all boxes"

run replay --boxes "a/raw boxes.jsonl" --seconds 2 --output b --iou "0.2 0.5 1" --score 0
for t in 0.2 0.5 1; do
  recording "b/replay-$t.jsonl" 20
  subset "a/raw boxes.jsonl" "b/replay-$t.jsonl"
done
some=$(boxes b/replay-0.2.jsonl) more=$(boxes b/replay-0.5.jsonl)
[ "$some" -gt 0 ] && [ "$some" -lt "$more" ] && [ "$more" -lt "$all" ] ||
  fail "0.2 leaves $some, 0.5 leaves $more of $all"
# No overlap exceeds the threshold 1, so that run changes no byte.
cmp "a/raw boxes.jsonl" b/replay-1.jsonl || fail "record, replay and record gave other bytes"
said "^0.5 +$all +$more\$"

# After the end of the recording the frames have no boxes, and the video has its full length.
run replay --boxes "a/raw boxes.jsonl" --seconds 30 --output b --iou 0.5 --score 0
recording b/replay-0.5.jsonl 300
[ "$(boxes b/replay-0.5.jsonl)" = "$more" ] || fail "boxes after the recording's end"

run before-after --boxes "a/raw boxes.jsonl" --seconds 2 --output "c/side by side.mp4"
video "c/side by side.mp4" 1536 576 20

refused "boxes FILE is needed" replay
refused "no such recording" replay --boxes none.jsonl
refused "from 0 to 1, not '1.5'" replay --boxes "a/raw boxes.jsonl" --iou "0.5 1.5"
refused "from 0 to 1, not '2.5'" replay --boxes "a/raw boxes.jsonl" --score 2.5
printf '{"timestamp":0,"objects":[{"x":1}]}\n{"oops"\n' >broken.jsonl
refused "the pipeline failed" replay --boxes broken.jsonl --seconds 1 --output b
grep -q "broken.jsonl" err || fail "the file is not named"
