#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# publish.sh prints lines to standard output, live, and nothing else. tag.sh tells which boxes are
# dropped and why.
. "$(dirname "$0")/check.sh"

run publish --seconds 2
recording out 20
[ "$(boxes out)" -gt 0 ] || fail "no boxes"

# A reader that takes three lines and closes the pipe ends the script without an error.
limited publish --seconds 60 2>err | head -n 3 >three ||
  { cat err >&2; fail "a reader that leaves is an error"; }
[ ! -s err ] || { cat err >&2; fail "a reader that leaves is complained about"; }
recording three 3

run publish --help
said 'python3 -c'

run tag --seconds 2 --output .
recording tag.jsonl 20
video tag.mp4 768 576 20
said '[0-9]+ kept$'
said '[0-9]+ suppressed$'
said '[0-9]+ below-score$'
python3 - <<'END' || fail "tags"
import json
boxes = [(box, frame["objects"]) for frame in map(json.loads, open("tag.jsonl"))
         for box in frame["objects"]]
states = {box["nms"]["state"] for box, _ in boxes}
assert states == {"kept", "suppressed", "below-score"}, states
for box, others in boxes:
    if box["nms"]["state"] == "suppressed":
        assert others[box["nms"]["suppressed-by"]]["nms"]["state"] == "kept"
END
