#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every gst-launch-1.0 line of README.md and pipelines/README.md runs as it is
# printed, in order, but for two things: a window becomes a fakesink, and the
# video ends after 25 frames.
. "$(dirname "$0")/check.sh"

# What quickstart.sh would install, and the plugin's place.
NMS_SELF=readme
. "$PIPELINES/common.sh"
nms_prepare

# The property table is what the element has.
nms_preloaded gst-inspect-1.0 nmsfilter >inspected
python3 - "$ROOT/README.md" <<'END' || fail "README's property table"
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
table = text.split("## Properties of nmsfilter")[1].split("\n## ")[0]
rows = re.findall(r"^\| (`.*?) \|", table, re.M)
listed = {name for row in rows for name in re.findall(r"`([a-z-]+)`", row)}
inspected = open("inspected").read().split("Element Properties:")[1]
real = set(re.findall(r"^  ([a-z-]+) +: ", inspected, re.M))
real -= {"name", "parent", "qos"}
print("missing:", real - listed, "too many:", listed - real)
assert real == listed
END

python3 - "$ROOT/README.md" "$ROOT/pipelines/README.md" <<'END'
import re, sys
count = 0
for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M):
        if "gst-launch-1.0" not in block and not re.search(r"^[A-Z]+=", block, re.M):
            continue
        block = re.sub(r"\bautovideosink\b", "fakesink", block)
        block = re.sub(r"\bdecodebin !", "decodebin ! queue" + 2 * " ! identity eos-after=26" + " !",
                       block)
        count += block.count("gst-launch-1.0")
        open("block-%02d-%d.sh" % (count, len(block)), "w").write(block)
print(count, "lines of gst-launch-1.0")
assert count >= 5
END
: >all.sh
for block in block-*.sh; do
  cat "$block" >>all.sh
done
# (a function of that name: the lines themselves stay as they are)
[ -z "${NMS_PRELOAD-}" ] ||
  eval 'gst-launch-1.0 () { LD_PRELOAD=$NMS_PRELOAD command gst-launch-1.0 "$@"; }'
# One shell, as a reader would have: what a block sets, later ones use.
(set -x; . ./all.sh) >out 2>err </dev/null || { cat out err >&2; fail "a line of the READMEs failed"; }
! grep -E '^(WARNING|ERROR)|CRITICAL|no element|no property' err ||
  { cat err >&2; fail "complaints"; }
find . -type f -name '*.jsonl' | sort
for file in *.jsonl; do
  recording "$file" 25
  [ "$(boxes "$file")" -gt 0 ] || fail "$file has no boxes"
done
