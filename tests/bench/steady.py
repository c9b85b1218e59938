#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""steady: measures boxsteady on a recording of vtest.avi.

usage: steady.py RECORDING [PICTURE.png]

RECORDING has the boxes of a detector after nmsfilter, as boxrecord writes them. The elements are
those that gst-launch-1.0 finds. ioutracker (GStreamer 1.28), the SORT of the package trackers and
behind it the DetectionsSmoother of supervision are measured if they are installed. PICTURE shows
one edge of one person, and needs matplotlib.

A person who was marked by hand is found if a box has an IoU of at least 0.5 with it; other boxes of
these frames are false. The tracks are not known, so boxes with an IoU above 0.3 are chained, over
up to 10 frames without one, and jitter and gaps are those of chains of 10 boxes and more. The
jitter is the root of the mean square of the second differences of the edges, by sqrt (6): the
deviation of errors that do not depend on each other.
"""
import collections
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

import report

MARKED = os.path.join(os.path.dirname(__file__), "../../pipelines/people/people.csv")


def iou(a, b):
    w, h = (max(0, min(a[k + 2], b[k + 2]) - max(a[k], b[k])) for k in (0, 1))
    area = [(c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)]
    return w * h / (sum(area) - w * h)


def box_of(detection, width, height):
    """Returns the corners in pixels, and the score."""
    box = detection["bounding_box"]
    return (box["x_min"] * width, box["y_min"] * height, box["x_max"] * width,
            box["y_max"] * height, detection.get("confidence", 0))


def recorded(path):
    """Returns the boxes of each frame."""
    return [[box_of(o["detection"], **frame["resolution"]) for o in frame["objects"]]
            for frame in map(json.loads, open(path, encoding="utf-8"))]


def through(recording, element, meta="roi"):
    """Returns the boxes of each frame behind an element."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["gst-launch-1.0", "-q", *(
            f"fakesrc format=time num-buffers={len(recorded(recording))} sizetype=fixed sizemax=1 "
            "datarate=10 ! video/x-raw,format=GRAY8,width=768,height=576,framerate=10/1 "
            f"! boxreplay match=index meta={meta} location={recording} ! {element} "
            f"! boxrecord location={folder}/out ! fakesink").split()], check=True)
        return recorded(folder + "/out")


def with_sort(frames, smooth):
    import numpy
    import supervision
    import trackers
    tracker, smoother = trackers.SORTTracker(frame_rate=10), supervision.DetectionsSmoother()
    result = []
    for frame in frames:
        boxes = numpy.array(frame, numpy.float32).reshape(-1, 5)
        found = tracker.update(supervision.Detections(
            boxes[:, :4], confidence=boxes[:, 4], class_id=numpy.zeros(len(boxes), int)))
        found = found[found.tracker_id >= 0]
        found = smoother.update_with_detections(found) if smooth else found
        result.append(found.xyxy.tolist())
    return result


def systems(recording):
    """Yields the name of each system and the boxes of each frame that it makes."""
    yield "nmsfilter", recorded(recording)
    for element in "boxsteady", "boxsteady lookahead=1", "boxsteady lookahead=5":
        yield element, through(recording, element)
    if subprocess.run(["gst-inspect-1.0", "--exists", "ioutracker"], check=False).returncode == 0:
        yield "ioutracker", through(recording, "ioutracker", "analytics")
    try:
        import trackers  # noqa: F401
    except ImportError:
        return
    yield "SORT", with_sort(recorded(recording), False)
    yield "SORT, DetectionsSmoother", with_sort(recorded(recording), True)


def matched(there, boxes, least):
    """Returns (object, position of a box) of the pairs above an IoU: the best first, each once."""
    pairs = sorted(((iou(a, box), i, j) for i, a in there.items()
                    for j, box in enumerate(boxes)), reverse=True)
    of_object, taken = {}, set()
    for overlap, i, j in pairs:
        if overlap >= least and i not in of_object and j not in taken:
            of_object[i] = j
            taken.add(j)
    return of_object.items()


def chains(frames):
    live, done = [], []
    for number, boxes in enumerate(frames):
        links = matched({i: chain[max(chain)] for i, chain in enumerate(live)}, boxes, .3)
        for i, j in links:
            live[i][number] = boxes[j]
        done += [c for c in live if number - max(c) > 10]
        live = [c for c in live if number - max(c) <= 10]
        used = {j for _, j in links}
        live += [{number: b} for j, b in enumerate(boxes) if j not in used]
    return [c for c in done + live if len(c) >= 10]


def jitter(chained):
    squares = [(c[f][k] - 2 * c[f + 1][k] + c[f + 2][k]) ** 2 / 6 for c in chained
               for f in c if f + 1 in c and f + 2 in c for k in range(4)]
    return math.sqrt(sum(squares) / max(1, len(squares)))


def measure(frames):
    marked = collections.defaultdict(dict)
    for i, row in enumerate(csv.DictReader(open(MARKED, encoding="utf-8"))):
        x, y, w, h = (int(row[k]) for k in ("left", "top", "width", "height"))
        marked[int(row["frame"])][i] = x, y, x + w, y + h
    found = sum(len(matched(people, frames[f], .5)) for f, people in marked.items())
    chained = chains(frames)
    gaps = sum(b - a > 1 for c in chained for a, b in zip(sorted(c), sorted(c)[1:]))
    length = sum(max(c) - min(c) + 1 for c in chained)
    false = sum(len(frames[f]) for f in marked) - found
    return f"{jitter(chained):.2f}", f"{1000 * gaps / length:.1f}", found, false


def draw(path, before, after):
    """Draws the first 120 frames of the person that nmsfilter misses most often in them."""
    from matplotlib.figure import Figure
    best = []
    for chain in chains(after):
        frames = sorted(chain)[:120]
        near = [max(before[f], key=lambda b: iou(b, chain[f]), default=None) for f in frames]
        raw = [b[1] if b and iou(b, chain[f]) > .3 else math.nan for b, f in zip(near, frames)]
        missed = sum(map(math.isnan, raw))
        if len(frames) == 120 and missed < 60:
            best = max(best, [missed, frames, raw, [chain[f][1] for f in frames]])
    plot = Figure(figsize=(8, 3), dpi=80, layout="tight")
    axis = plot.subplots()
    axis.plot(best[1], best[2], "o-", ms=3, lw=.8, label="nmsfilter")
    axis.plot(best[1], best[3], lw=2, label="boxsteady")
    axis.set(xlabel="frame", ylabel="upper edge, pixels")
    axis.legend()
    plot.savefig(path)


def main(recording, picture=None):
    report.print_table(["vtest.avi", "jitter, pixels", "gaps in 1,000 frames of an object",
                        "people found", "false boxes"],
                       ((name, *measure(frames)) for name, frames in systems(recording)))
    if picture:
        draw(picture, recorded(recording), through(recording, "boxsteady"))


if __name__ == "__main__":
    main(*sys.argv[1:])
