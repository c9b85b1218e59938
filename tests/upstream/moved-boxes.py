#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""moved-boxes.py DOCUMENT

Runs each row of the table of the document whose second column is boxtransform: a white rectangle
on a black picture, with a box around it, passes the elements of the first column; the box goes
around them through the pads `boxes`, and boxtransform moves it. Fails unless it is around the
rectangle then, which is found by its pixels. Finds the plugin by GST_PLUGIN_PATH.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from metakinds import kinds

WIDTH, HEIGHT = 640, 480
X, Y, W, H = 100, 50, 200, 100
SOURCE = (f"videotestsrc pattern=white num-buffers=3 "
          f"! video/x-raw,format=I420,width={W},height={H},framerate=10/1 "
          f"! videobox left=-{X} top=-{Y} right={X + W - WIDTH} bottom={Y + H - HEIGHT}")


def rows(path):
    """Returns (elements, launch text of boxtransform) for each row of the table."""
    with open(path, encoding="utf-8") as file:
        found = re.findall(r"^\| `([^`]+)` \| (?:`(boxtransform [^`]+)`|not needed) \|$",
                           file.read(), re.M)
    return [(elements, transform or "identity") for elements, transform in found]


def launch(text):
    """Runs gst-launch-1.0. Returns its error messages."""
    done = subprocess.run("gst-launch-1.0 -q " + text, shell=True, text=True,
                          capture_output=True, timeout=60)
    if "no element" in done.stderr:
        print("SKIP: " + done.stderr.strip())
        sys.exit(77)
    return done.stderr if done.returncode != 0 or "ERROR" in done.stderr else ""


def white(pixels, width, height):
    """Returns the rectangle around the white pixels of a GRAY8 frame."""
    stride = (width + 3) // 4 * 4
    lines = [pixels[y * stride:y * stride + width] for y in range(height)]
    found = [(x, y) for y, line in enumerate(lines) for x in range(width) if line[x] > 125]
    left, right = min(x for x, _ in found), max(x for x, _ in found)
    top, bottom = min(y for _, y in found), max(y for _, y in found)
    return left, top, right + 1 - left, bottom + 1 - top


def fault(folder, elements, transform, meta):
    """Runs one row. Returns what is wrong, or None."""
    errors = launch(
        f"{SOURCE} ! boxreplay location={folder}/in.jsonl match=index meta={meta} "
        f"! boxrecord name=before before.src ! queue ! {elements} ! after.sink "
        f"before.boxes ! queue ! after.boxes boxreplay name=after existing=replace meta={meta} "
        f"! {transform} ! boxrecord location={folder}/out.jsonl ! videoconvert "
        f"! video/x-raw,format=GRAY8 ! filesink location={folder}/out.gray")
    if errors:
        return errors
    with open(os.path.join(folder, "out.jsonl"), encoding="utf-8") as file:
        frame = [json.loads(line) for line in file][1]
    with open(os.path.join(folder, "out.gray"), "rb") as file:
        data = file.read()
    size = frame["resolution"]
    right = white(data[-len(data) // 3:], size["width"], size["height"])
    if len(frame["objects"]) != 1:
        return "%d boxes" % len(frame["objects"])
    box = frame["objects"][0]
    if box.get("detection", {}).get("confidence") != 0.5 or box.get("roi_type") != "person":
        return "not the label and the confidence: %s" % box
    found = tuple(box[name] for name in "xywh")
    # ODs hold integers, which boxreplay and boxtransform round once each
    most = 1 if meta == "analytics" else 0
    close = max(abs(a - b) for a, b in zip(found, right)) <= most
    return None if close else "%s, but white is %s" % (found, right)


def main():
    table = rows(sys.argv[1])
    assert len(table) >= 14, table
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "in.jsonl"), "w", encoding="utf-8") as file:
            file.write((json.dumps({"objects": [{"x": X, "y": Y, "w": W, "h": H,
                                                 "roi_type": "person",
                                                 "detection": {"confidence": 0.5}}]}) + "\n") * 3)
        for elements, transform in table:
            for meta, title in kinds().items():
                told = fault(folder, elements, transform, meta)
                faults += told is not None
                print("%s, %s, %s: %s" % (title, elements, transform, told or "right"))
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
