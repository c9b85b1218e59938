# SPDX-License-Identifier: LGPL-2.1-or-later
"""geometry.py table|moves DOCUMENT: the two tables of docs/geometry.md.

table measures what elements of GStreamer do to the boxes on the buffers that they pass: boxreplay
attaches one box with a confidence, the element works on the picture, boxrecord writes what is
left. Prints a row for each element: what became of a region of interest and, where the plugin has
GstAnalytics, of an OD. Fails if a row differs from the column of this version of GStreamer.

moves runs each row whose second column is boxtransform: a white rectangle on a black picture, with
a box around it, passes the elements of the first column; the box goes around them through the pads
`boxes`, and boxtransform moves it. Fails unless it is around the rectangle then, which is found by
its pixels.
"""
import json
import re
import subprocess
import sys

import pipelines_of as p

WIDTH, HEIGHT = 640, 480
BOX = X, Y, W, H = 100, 50, 200, 100

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


def output_of(*command):
    return subprocess.run(command, text=True, capture_output=True).stdout


def kinds():
    """Returns the values of boxreplay's property meta to test, with the titles of columns."""
    names = {"roi": "region"}
    if re.search(r"\banalytics +-", output_of("gst-inspect-1.0", "boxreplay")):
        names["analytics"] = "OD"
    return names


def errors_of(text):
    """Runs gst-launch-1.0. Returns its error messages."""
    done = subprocess.run("gst-launch-1.0 -q " + text, shell=True, text=True, capture_output=True,
                          timeout=60)
    if "no element" in done.stderr:
        print("SKIP: " + done.stderr.strip())
        sys.exit(77)
    return done.stderr.strip() if done.returncode or "ERROR" in done.stderr else ""


def verdict(elements, right, meta):
    """Returns what became of the box."""
    errors = errors_of(
        "videotestsrc num-buffers=3 "
        f"! video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate=10/1 "
        f"! boxreplay location=in.jsonl match=index meta={meta} ! {elements} "
        "! boxrecord location=out.jsonl ! fakesink")
    if errors:
        return errors.split("\n")[0]
    boxes = p.frames("out.jsonl")[0]
    if not boxes:
        return "lost"
    found = tuple(boxes[0][name] for name in "xywh")
    where = ("right" if found == right else "not moved" if found == BOX
             else "off by 1" if max(abs(a - b) for a, b in zip(found, right)) <= 1
             else "x y w h = %d %d %d %d" % found)
    return where if "confidence" in boxes[0].get("detection", {}) else where + ", no confidence"


def check_table(text):
    table = [[cell.strip() for cell in row.strip("|").split("|")]
             for row in text.split("\n") if row.startswith("|")]
    head = next(row for row in table if row[0] == "element")
    version = re.search(r"version (\d+\.\d+)", output_of("gst-inspect-1.0", "--version"))[1]
    titles = ["%s, %s" % (name, version) for name in kinds().values()]
    if not set(titles) <= set(head):
        print("SKIP: the document has no column %s" % titles)
        sys.exit(77)
    told = {row[0].strip("`"): [row[head.index(title)] for title in titles]
            for row in table if row[0].startswith("`") and len(row) == len(head)}
    found = {elements: [verdict(elements, right, meta) for meta in kinds()]
             for elements, right in CASES}
    print("| element |", " | ".join(titles), "|")
    for elements, verdicts in found.items():
        print("| `%s` |" % elements, " | ".join(verdicts), "|")
    wrong = [elements for elements in found if told.get(elements) != found[elements]]
    if wrong or set(told) != set(found):
        sys.exit("the document says something else about " + ", ".join(wrong))


def white(pixels, width, height):
    """Returns the rectangle around the white pixels of a GRAY8 frame."""
    stride = (width + 3) // 4 * 4
    xs, ys = zip(*((x, y) for y in range(height) for x in range(width)
                   if pixels[y * stride + x] > 125))
    return min(xs), min(ys), max(xs) + 1 - min(xs), max(ys) + 1 - min(ys)


def fault(elements, transform, meta):
    """Runs one row. Returns what is wrong, or None."""
    errors = errors_of(
        f"videotestsrc pattern=white num-buffers=3 "
        f"! video/x-raw,format=I420,width={W},height={H},framerate=10/1 "
        f"! videobox left=-{X} top=-{Y} right={X + W - WIDTH} bottom={Y + H - HEIGHT} "
        f"! boxreplay location=in.jsonl match=index meta={meta} "
        f"! boxrecord name=before before.src ! queue ! {elements} ! after.sink "
        f"before.boxes ! queue ! after.boxes boxreplay name=after existing=replace meta={meta} "
        f"! {transform} ! boxrecord location=out.jsonl ! videoconvert "
        f"! video/x-raw,format=GRAY8 ! filesink location=out.gray")
    if errors:
        return errors
    with open("out.jsonl", encoding="utf-8") as file:
        frame = [json.loads(line) for line in file][1]
    with open("out.gray", "rb") as file:
        data = file.read()
    right = white(data[-len(data) // 3:], *frame["resolution"].values())
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


def check_moves(text):
    table = re.findall(r"^\| `([^`]+)` \| (?:`(boxtransform [^`]+)`|not needed) \|$", text, re.M)
    assert len(table) >= 14, table
    faults = 0
    for elements, transform in table:
        for meta, title in kinds().items():
            told = fault(elements, transform or "identity", meta)
            faults += told is not None
            print("%s, %s, %s: %s" % (title, elements, transform, told or "right"))
    sys.exit(faults > 0)


def main(mode, document):
    with open(document, encoding="utf-8") as file:
        text = file.read()
    p.enter_new_folder()
    bounds = {"x_min": X / WIDTH, "y_min": Y / HEIGHT, "x_max": (X + W) / WIDTH,
              "y_max": (Y + H) / HEIGHT}
    box = {"x": X, "y": Y, "w": W, "h": H, "roi_type": "person",
           "detection": {"bounding_box": bounds, "confidence": 0.5}}
    with open("in.jsonl", "w", encoding="utf-8") as file:
        file.write((json.dumps({"objects": [box]}) + "\n") * 3)
    (check_table if mode == "table" else check_moves)(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
