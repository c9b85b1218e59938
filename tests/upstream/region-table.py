#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""region-table.py [--check DOCUMENT]

Measures what elements of GStreamer do to the boxes on the buffers that they pass: boxreplay
attaches one box with a confidence, the element works on the picture, boxrecord writes what is
left. Prints one row of a table for each element: what became of a region of interest and, where
the plugin has GstAnalytics, of an OD. Finds the plugin by GST_PLUGIN_PATH.

With --check, compares the rows with the column of this version of GStreamer in the table of the
document, and fails if one differs.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from metakinds import kinds

WIDTH, HEIGHT = 640, 480
BOX = (100, 50, 200, 100)

# elements, and the rectangle after them that covers the same part of the picture
CASES = [
    ("videoconvert ! video/x-raw,format=RGB", BOX),
    ("videoscale ! video/x-raw,width=320,height=240", (50, 25, 100, 50)),
    ("videocrop left=40 top=20", (60, 30, 200, 100)),
    ("videobox left=40 top=20", (60, 30, 200, 100)),
    ("videobox left=-40 top=-20", (140, 70, 200, 100)),
    ("aspectratiocrop aspect-ratio=1/1", (20, 50, 200, 100)),
    ("videoflip video-direction=horiz", (340, 50, 200, 100)),
    ("videoflip video-direction=90r", (330, 100, 100, 200)),
    ("compositor", BOX),
    ("compositor sink_0::xpos=40 sink_0::ypos=20", (140, 70, 200, 100)),
    ("videorate ! video/x-raw,framerate=20/1", BOX),
    ("videobalance saturation=0.5", BOX),
    ("deinterlace mode=interlaced", BOX),
    ("timeoverlay", BOX),
    ("jpegenc ! jpegdec", BOX),
    ("x264enc ! avdec_h264", BOX),
    ("gdppay ! gdpdepay", BOX),
    ("queue", BOX),
]


def line():
    x, y, w, h = BOX
    bounds = {"x_min": x / WIDTH, "y_min": y / HEIGHT, "x_max": (x + w) / WIDTH,
              "y_max": (y + h) / HEIGHT}
    return json.dumps({"objects": [{"x": x, "y": y, "w": w, "h": h, "roi_type": "person",
                                    "detection": {"bounding_box": bounds, "confidence": 0.5}}]})


def run(folder, elements, meta):
    """Returns the box that is left, None if it was lost, or an error message."""
    out = os.path.join(folder, "out.jsonl")
    text = ("gst-launch-1.0 -q videotestsrc num-buffers=3 "
            f"! video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate=10/1 "
            f"! boxreplay location={folder}/in.jsonl match=index meta={meta} "
            f"! {elements} ! boxrecord location={out} ! fakesink")
    done = subprocess.run(text, shell=True, text=True, capture_output=True, timeout=60)
    if "no element" in done.stderr:
        print("SKIP: " + done.stderr.strip())
        sys.exit(77)
    if done.returncode != 0 or "ERROR" in done.stderr:
        return done.stderr.strip().split("\n")[0]
    with open(out, encoding="utf-8") as file:
        first = [frame["objects"] for frame in map(json.loads, file)][0]
    return first[0] if first else None


def verdict(box, right):
    if box is None:
        return "lost"
    if isinstance(box, str):
        return box
    found = tuple(box[name] for name in "xywh")
    where = ("right" if found == right else "not moved" if found == BOX
             else "off by 1" if max(abs(a - b) for a, b in zip(found, right)) <= 1
             else "x y w h = %d %d %d %d" % found)
    return where if "confidence" in box.get("detection", {}) else where + ", no confidence"


def version():
    """Returns the version of GStreamer, such as 1.22."""
    text = subprocess.run(["gst-inspect-1.0", "--version"], text=True, capture_output=True).stdout
    return re.search(r"version (\d+\.\d+)", text)[1]


def measure(columns):
    """Returns for each case a list of verdicts, one for each value of meta."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "in.jsonl"), "w", encoding="utf-8") as file:
            file.write((line() + "\n") * 3)
        return {elements: [verdict(run(folder, elements, meta), right) for meta in columns]
                for elements, right in CASES}


def documented(path, titles):
    """Returns the same from the table of a document, of the columns with these titles."""
    with open(path, encoding="utf-8") as file:
        table = [[cell.strip() for cell in row.strip().strip("|").split("|")]
                 for row in file if row.startswith("|")]
    head = next(row for row in table if row[0] == "element")
    if not set(titles) <= set(head):
        print("SKIP: %s has no column %s" % (path, titles))
        sys.exit(77)
    return {row[0].strip("`"): [row[head.index(title)] for title in titles]
            for row in table if row[0].startswith("`") and len(row) == len(head)}


def main():
    names = kinds()
    titles = ["%s, %s" % (name, version()) for name in names.values()]
    found = measure(names)
    print("| element |", " | ".join(titles), "|")
    for elements, verdicts in found.items():
        print("| `%s` |" % elements, " | ".join(verdicts), "|")
    if sys.argv[1:2] == ["--check"]:
        told = documented(sys.argv[2], titles)
        wrong = [elements for elements in found if told.get(elements) != found[elements]]
        if wrong or set(told) != set(found):
            sys.exit("the document says something else about " + ", ".join(wrong))


if __name__ == "__main__":
    main()
