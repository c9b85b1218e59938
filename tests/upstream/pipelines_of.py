# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines_of: what the tests with GStreamer's own elements share: pipelines,
recordings, the pipelines of docs/nmsfilter.md, and a separate implementation of greedy
non-maximum suppression.
"""
import atexit
import collections
import configparser
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/nmsfilter.md")
SOURCE = "videotestsrc num-buffers=3 pattern=white ! video/x-raw,format=RGB,width=320,height=240"


def enter_new_folder():
    """Changes to a folder that is removed when the program ends."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    os.chdir(folder)


def need(*elements):
    """Skips the test, with a message, if an element is missing."""
    for name in elements:
        if subprocess.run(["gst-inspect-1.0", name], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode:
            print("SKIP: there is no element " + name)
            sys.exit(77)


def launch(*parts):
    """Runs elements joined by '!' to their end."""
    command = ["gst-launch-1.0", "-q"] + " ! ".join(parts).split()
    preload = os.environ.get("NMS_PRELOAD")
    env = dict(os.environ, LD_PRELOAD=preload) if preload else None
    done = subprocess.run(command, env=env, text=True, capture_output=True, timeout=100,
                          check=False)
    if done.returncode or "ERROR" in done.stderr:
        sys.exit("%s\nended with %d:\n%s" % (" ".join(command), done.returncode, done.stderr))


class Documented:
    """A section of docs/nmsfilter.md: a .modelinfo file, of which the first line names the
    file, and a pipeline."""

    def __init__(self, heading):
        with open(DOCUMENT, encoding="utf-8") as file:
            section = re.search(r"^### %s.*?(?=^###? |\Z)" % heading, file.read(), re.S | re.M)[0]
        (self.text,) = re.findall(r"^```ini\n(.*?)^```$", section, re.S | re.M)
        (self.pipeline,) = re.findall(r"^```\n(gst-launch.*?)^```$", section, re.S | re.M)
        self.model = re.search(r"model-file=(\S+)", self.pipeline)[1]
        self.size = [int(re.search(side + r"=(\d+)", self.pipeline)[1])
                     for side in ("width", "height")]

    def info(self):
        parser = configparser.ConfigParser()
        parser.read_string(self.text)
        return parser

    def run(self, *numbers):
        """Runs the pipeline on a white picture, without a window. numbers: the numbers of boxes
        of each label, ascending, in front of nmsfilter and behind it."""
        with open(re.match(r"# (\S+)\n", self.text)[1], "w", encoding="ascii") as file:
            file.write(self.text)
        launch("videotestsrc num-buffers=1 pattern=white", "pngenc", "filesink location=white.png")
        pipeline = self.pipeline.replace("\\\n", "")
        for text, instead in ((r"^gst-launch-1.0", ""), (r"\$VIDEO", "white.png"),
                              (r"autovideosink$", "fakesink"),
                              (r"nmsfilter [^!]*!", r"boxrecord location=raw.jsonl ! \g<0> "
                               "boxrecord location=kept.jsonl !")):
            pipeline, count = re.subn(text, instead, pipeline)
            must_equal("%s in a documented pipeline" % text, count, 1)
        launch(pipeline)
        for name, must in zip(("raw.jsonl", "kept.jsonl"), numbers):
            (boxes,) = frames(name)
            labels = collections.Counter(box["roi_type"] for box in boxes)
            must_equal(name, sorted(labels.values()), must)


def write_info(model, info):
    with open(model + ".modelinfo", "w", encoding="ascii") as file:
        info.write(file)


def frames(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line)["objects"] for line in lines]


def pixels(box):
    """Returns x y w h of the metadata from the fractions of the frame of 320 x 240, because
    the file clips the integers."""
    b = box["detection"]["bounding_box"]
    x, y = round(b["x_min"] * 320), round(b["y_min"] * 240)
    return x, y, round(b["x_max"] * 320) - x, round(b["y_max"] * 240) - y


def detections(path):
    """Returns (x, y, w, h, label, score) of each box of each frame."""
    return [[pixels(box) + (box["roi_type"], box["detection"]["confidence"]) for box in frame]
            for frame in frames(path)]


def binary32(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def overlap(a, b):
    w = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    h = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    inter = max(w, 0) * max(h, 0)
    return binary32(inter / (a[2] * a[3] + b[2] * b[3] - inter)) if inter else 0.0


def greedy(boxes, threshold, agnostic=True, seen=lambda box: box):
    """Returns the kept boxes; overlaps are those of seen (box)."""
    kept = []
    for box in sorted(boxes, key=lambda box: -box[5]):
        if all(overlap(seen(box), seen(other)) <= binary32(threshold)
               or not (agnostic or box[4] == other[4]) for other in kept):
            kept.append(box)
    return kept


def must_equal(what, is_, must):
    if is_ != must:
        sys.exit("%s:\nis   %s\nmust %s\nonly the first: %s\nonly the second: %s" % (
            what, is_, must, [b for b in is_ if b not in must],
            [b for b in must if b not in is_]))
