#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# small-people.sh on the first three frames: the numbers, the picture, and how boxes are counted.
. "$(dirname "$0")/check.sh"

run small-people --seconds 10.5 --output "the results"
said '^18 people marked by hand, 4 of them less than 75 pixels tall$'
picture "the results/small-people.png" 1536 576
[ "$(ls -A "the results")" = small-people.png ] || fail "more than the picture"
read -r _ _ whole _ _ <<<"$(grep '^whole frame' out)"
read -r _ _ _ _ tiles _ <<<"$(grep '^2 x 2 tiles' out)"
read -r _ enlarged _ <<<"$(grep '^enlarged' out)"
[ "$enlarged" -gt "$whole" ] || { cat out; fail "the enlarged frame finds $enlarged"; }
[ "$tiles" -gt "$whole" ] || { cat out; fail "the tiles find $tiles, the whole frame $whole"; }
refused "at least 3" small-people --seconds 1
refused "only in vtest.avi" small-people --input "the results/small-people.png"

# Frame 20 has five people. Of the boxes below the first finds one, the second is the same again,
# the third has too little overlap, and the other recording finds all five.
python3 - "$PIPELINES/people/people.csv" <<'END'
import csv, json, sys
rows = [[int(v) for v in row[1:]] for row in csv.reader(open(sys.argv[1])) if row[0] == "20"]
def write(name, boxes):
    print(json.dumps({"objects": [
        {"x": x, "y": y, "w": w, "h": h, "detection": {"confidence": score}}
        for (x, y, w, h), score in boxes]}), file=open(name, "w"))
x, y, w, h = rows[1]
write("some.jsonl", [(rows[0], .9), (rows[0], .8), ((x, y + h // 2, w, h), .7)])
write("all.jsonl", [(row, .5) for row in rows])
END
"$PIPELINES/people/countpeople.py" compare "$PIPELINES/people/people.csv" 20 . some.jsonl all.jsonl some.jsonl >counted
printf '%s\n' "5 1 0 0 1 1" "5 5 0 0 0 0" "5 1 0 0 1 1" "0 5 1 5" | diff - counted || fail "the counts"
[ "$(grep -o '"roi_type": "[a-z ]*"' 0.jsonl | sort | uniq -c | tr -s ' \n' ' ')" = \
  ' 1 "roi_type": "found" 4 "roi_type": "not found" 2 "roi_type": "wrong" ' ] || fail "$(cat 0.jsonl)"

# A scene of large people: one frame for each person of at least 100 pixels, enlarged 3 times.
people="$PIPELINES/people/people.csv"
read -r number left top width height <<<"$(awk -F, 'NR > 1 && $5 >= 100 { print $1, $2, $3, $4, $5
  exit }' "$people")"
count=$(awk -F, -v n="$number" '$1 == n && $5 >= 100' "$people" | wc -l)
head -c $((768 * 576 * 3)) /dev/zero >one.rgb
printf 'abc' | dd of=one.rgb bs=1 seek=$(((top * 768 + left) * 3)) conv=notrunc status=none
"$PIPELINES/people/countpeople.py" enlarge "$number" 768 576 large.csv <one.rgb >large.rgb
[ "$(stat -c %s large.rgb)" = $((count * 768 * 576 * 3)) ] || fail "the size of the scene"
python3 - $((3 * width)) $((3 * height)) <<'END'
import csv, sys
people = [[int(v) for v in row] for row in list(csv.reader(open("large.csv")))[1:]]
(x, y), = [p[1:3] for p in people if p[0] == 0 and p[3:] == [int(v) for v in sys.argv[1:]]][:1]
pixels = open("large.rgb", "rb").read()[:768 * 576 * 3]
assert pixels.count(b"abc") == 9, pixels.count(b"abc")
for row in range(3):
    start = ((y + row) * 768 + x) * 3
    assert pixels[start:start + 9] == b"abcabcabc", row
END
