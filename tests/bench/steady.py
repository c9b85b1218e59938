#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""steady: measures boxsteady on generated tracks, and on a recording of vtest.avi.

usage: steady.py STEADYFRAMES [RECORDING [PICTURE.png]]

STEADYFRAMES is build/dev/tests/gst/steadyframes, run with GST_PLUGIN_PATH=build/dev/gst. RECORDING
has the boxes of a detector after nmsfilter, as boxrecord writes them. Other systems are measured if
they are installed: ioutracker (GStreamer 1.28), the SORT of the package trackers, and behind it
the DetectionsSmoother of supervision. PICTURE shows one edge of one person, and needs matplotlib.

Of each object that was generated, and of each person that was marked by hand:
  lost     frames in which no box has an IoU of at least 0.5 with it
  false    boxes of which that holds for no object
and of objects only:
  jitter   root of the mean square of the second difference of each edge's error, by sqrt (6): the
           deviation, in pixels, of errors that do not depend on each other
  flicker  times that its box comes or goes after it was first seen
  switches times that the id changes
  delay    frames until its first box
In the recording the tracks are not known. There, boxes with an IoU above 0.3 are chained, over up
to 10 frames without one, and jitter and gaps are those of chains of 10 boxes and more.
"""
import collections
import csv
import json
import math
import os
import random
import subprocess
import sys

SIZE, FRAMES, PEOPLE, WORLDS = 1024, 300, 8, 8
MARKED = os.path.join(os.path.dirname(__file__), "../../pipelines/people/people.csv")


def iou(a, b):
    w = min(a[2], b[2]) - max(a[0], b[0])
    h = min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0.0
    return w * h / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h)


def generate(rng):
    """Returns objects, each a dict of corners by frame, and the detections of each frame. Objects
    walk, turn, stand, grow and cross. Of their boxes 14 % are missing, one by one and in gaps, the
    edges have an error of 3 % of the side, 3 % are doubled, and 3 in 10 frames have a false one."""
    objects, frames = [], [[] for _ in range(FRAMES)]
    for _ in range(PEOPLE):
        w = rng.uniform(30, 80)
        x, y = rng.uniform(w, SIZE - w), rng.uniform(2 * w, SIZE - 2 * w)
        grows = rng.uniform(-.002, .002)
        vx, vy = (rng.gauss(0, 4), rng.gauss(0, 1.5)) if rng.random() < .7 else (0, 0)
        gone, track = 0, {}
        for frame in range(rng.randint(0, 60), rng.randint(200, FRAMES)):
            track[frame] = x - w / 2, y - w, x + w / 2, y + w
            gone = gone - 1 if gone > 0 else rng.randint(1, 4) if rng.random() < .02 else 0
            seen = gone == 0 and rng.random() > .1
            for k in range(1 + (rng.random() < .03) if seen else 0):
                error = [rng.gauss(0, (.03 + .06 * k) * s) for s in (w, 2 * w, w, 2 * w)]
                box = [a + b for a, b in zip(track[frame], error)]
                frames[frame].append((box, rng.gauss(.5 if k else .8, .1), None))
            if rng.random() < .01:
                vx, vy = rng.gauss(0, 4), rng.gauss(0, 1.5)
            x, y, w = x + vx, y + vy, w * (1 + grows)
            vx = -vx if not w < x < SIZE - w else vx
            vy = -vy if not w < y < SIZE - w else vy
        objects.append(track)
    for boxes in frames:
        if rng.random() < .3:
            w = rng.uniform(30, 80)
            x, y = rng.uniform(0, SIZE - w), rng.uniform(0, SIZE - 2 * w)
            boxes.append(((x, y, x + w, y + 2 * w), rng.uniform(.3, .7), None))
    return objects, frames


def recorded(path):
    for line in open(path, encoding="utf-8"):
        frame = json.loads(line)
        size = frame["resolution"]["width"], frame["resolution"]["height"]
        yield [([o["detection"]["bounding_box"][name] * size[i % 2]
                 for i, name in enumerate(("x_min", "y_min", "x_max", "y_max"))],
                o["detection"]["confidence"], None) for o in frame["objects"]]


def through_element(program, launch, frames, *kind):
    lines = []
    for number, boxes in enumerate(frames):
        lines.append(f"frame {100 * number}")
        lines += [f"person {' '.join(map(str, box))} {score} -" for box, score, _ in boxes]
    out = subprocess.run([program, launch, *kind], input="\n".join(lines) + "\n", check=True,
                         text=True, stdout=subprocess.PIPE).stdout
    result = []
    for words in map(str.split, out.splitlines()):
        if words[0] == "frame":
            result.append([])
        else:
            result[-1].append(([float.fromhex(w) for w in words[1:5]], float.fromhex(words[5]),
                               None if words[6] == "-" else int(words[6])))
    return result


def with_sort(frames, smoother=None):
    import numpy
    import supervision
    import trackers
    tracker = trackers.SORTTracker(frame_rate=10)
    for boxes in frames:
        found = tracker.update(supervision.Detections(
            xyxy=numpy.array([b for b, _, _ in boxes], numpy.float32).reshape(-1, 4),
            confidence=numpy.array([s for _, s, _ in boxes], numpy.float32),
            class_id=numpy.zeros(len(boxes), int)))
        found = found[found.tracker_id >= 0]
        if smoother:
            found = smoother.update_with_detections(found)
        ids = [] if found.tracker_id is None else found.tracker_id
        yield [(list(map(float, box)), 0, int(i)) for box, i in zip(found.xyxy, ids)]


def systems(program):
    yield "none", lambda frames: frames
    yield "boxsteady", lambda frames: through_element(program, "boxsteady", frames)
    if subprocess.run(["gst-inspect-1.0", "--exists", "ioutracker"], check=False).returncode == 0:
        yield "ioutracker", lambda frames: through_element(program, "ioutracker", frames, "ods")
    try:
        import supervision
        import trackers
    except ImportError:
        return
    yield "SORT", lambda frames: list(with_sort(frames))
    yield "SORT, DetectionsSmoother", lambda frames: list(
        with_sort(frames, supervision.DetectionsSmoother()))


def matched(there, boxes):
    """Pairs of an object and a box, best first, each once."""
    pairs = sorted(((iou(a, box[0]), i, j) for i, a in there.items()
                    for j, box in enumerate(boxes)), reverse=True)
    of_object, taken = {}, set()
    for overlap, i, j in pairs:
        if overlap >= .5 and i not in of_object and j not in taken:
            of_object[i] = boxes[j]
            taken.add(j)
    return of_object


def jitter(errors):
    """The mean squares of a dict of four numbers by frame."""
    return [(errors[f][k] - 2 * errors[f + 1][k] + errors[f + 2][k]) ** 2 / 6
            for f in errors if f + 1 in errors and f + 2 in errors for k in range(4)]


def root(squares):
    return math.sqrt(sum(squares) / max(1, len(squares)))


def measure(objects, frames):
    boxes_of = [{} for _ in objects]
    boxes = 0
    for number, found in enumerate(frames):
        boxes += len(found)
        there = {i: track[number] for i, track in enumerate(objects) if number in track}
        for i, box in matched(there, found).items():
            boxes_of[i][number] = box
    squares, flicker, switches, delay = [], 0, 0, 0
    for track, found in zip(objects, boxes_of):
        first = min(found, default=max(track) + 1)
        delay += first - min(track)
        seen = [f in found for f in track if f >= first]
        flicker += sum(a != b for a, b in zip(seen, seen[1:]))
        ids = [found[f][2] for f in sorted(found) if found[f][2] is not None]
        switches += sum(a != b for a, b in zip(ids, ids[1:]))
        squares += jitter({f: [a - b for a, b in zip(found[f][0], track[f])] for f in found})
    hits, n = sum(map(len, boxes_of)), len(objects)
    return [root(squares), flicker / n, switches / n, 100 * (boxes - hits) / boxes,
            100 - 100 * hits / sum(map(len, objects)), delay / n]


def chains(frames, longest_gap=10):
    open_chains, done = [], []
    for number, boxes in enumerate(frames):
        last = {i: chain[max(chain)] for i, chain in enumerate(open_chains)}
        pairs = sorted(((iou(a, b[0]), i, j) for i, a in last.items() for j, b in enumerate(boxes)),
                       reverse=True)
        links, boxes_used = set(), set()
        for overlap, i, j in pairs:
            if overlap > .3 and i not in links and j not in boxes_used:
                links.add(i)
                boxes_used.add(j)
                open_chains[i][number] = boxes[j][0]
        done += [c for c in open_chains if number - max(c) > longest_gap]
        open_chains = [c for c in open_chains if number - max(c) <= longest_gap]
        open_chains += [{number: b[0]} for j, b in enumerate(boxes) if j not in boxes_used]
    return [c for c in done + open_chains if len(c) >= 10]


def measure_recording(frames):
    marked = collections.defaultdict(dict)
    for i, row in enumerate(csv.DictReader(open(MARKED, encoding="utf-8"))):
        x, y, w, h = (int(row[k]) for k in ("left", "top", "width", "height"))
        marked[int(row["frame"])][i] = x, y, x + w, y + h
    found = sum(len(matched(people, frames[f])) for f, people in marked.items())
    boxes = sum(len(frames[f]) for f in marked)
    squares = [s for chain in chains(frames) for s in jitter(chain)]
    length = sum(max(c) - min(c) + 1 for c in chains(frames))
    gaps = sum(b - a > 1 for c in chains(frames) for a, b in zip(sorted(c), sorted(c)[1:]))
    return [root(squares), 1000 * gaps / length, found, sum(map(len, marked.values())) - found,
            boxes - found]


def draw(path, before, after):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    best = None
    for chain in chains(after):
        frames = sorted(chain)[:120]
        raw = {}
        for f in frames:
            box = max(before[f], key=lambda b: iou(b[0], chain[f]), default=None)
            raw[f] = box[0][1] if box and iou(box[0], chain[f]) > .3 else math.nan
        gaps = sum(map(math.isnan, raw.values()))
        if len(frames) == 120 and gaps < 60 and (best is None or gaps > best[0]):
            best = gaps, frames, raw, chain
    _, frames, raw, chain = best
    pyplot.figure(figsize=(8, 3), dpi=80)
    pyplot.plot(frames, [raw[f] for f in frames], "o-", ms=3, lw=.8, label="nmsfilter")
    pyplot.plot(frames, [chain[f][1] for f in frames], lw=2, label="boxsteady")
    pyplot.xlabel("frame")
    pyplot.ylabel("upper edge, pixels")
    pyplot.legend()
    pyplot.tight_layout()
    pyplot.savefig(path)


def row(*cells):
    print("| " + " | ".join(c if isinstance(c, str) else f"{c:.2f}".rstrip("0").rstrip(".")
                            for c in cells) + " |", flush=True)


def main(program, recording=None, picture=None):
    rng = random.Random(35)
    worlds = [generate(rng) for _ in range(WORLDS)]
    row("generated", "jitter px", "flicker", "switches", "false %", "lost %", "delay")
    for name, run in systems(program):
        results = [measure(objects, run(frames)) for objects, frames in worlds]
        row(name, *(sum(column) / len(worlds) for column in zip(*results)))
    if recording:
        frames = list(recorded(recording))
        row("vtest.avi", "jitter px", "gaps in 1,000", "people found", "lost", "false")
        for name, run in systems(program):
            row(name, *measure_recording(run(frames)))
    if picture:
        draw(picture, frames, through_element(program, "boxsteady", frames))


if __name__ == "__main__":
    main(*sys.argv[1:])
