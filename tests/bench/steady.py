#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""steady: measures boxsteady on generated tracks, and on a recording of vtest.avi.

usage: steady.py STEADYFRAMES [RECORDING [PICTURE.png]]

STEADYFRAMES is build/dev/tests/gst/steadyframes, run with GST_PLUGIN_PATH=build/dev/gst. RECORDING
has the boxes of a detector after nmsfilter, as boxrecord writes them. ioutracker (GStreamer 1.28),
the SORT of the package trackers and behind it the DetectionsSmoother of supervision are measured if
they are installed. PICTURE shows one edge of one person, and needs matplotlib.

A box belongs to an object if their IoU is at least 0.5; other boxes are false, and an object
without a box is lost. The jitter is the root of the mean square of the second differences of the
edges' errors, by sqrt (6): the deviation of errors that do not depend on each other. The tracks of
the recording are not known. There, boxes with an IoU above 0.3 are chained, over up to 10 frames
without one, and jitter and gaps are those of chains of 10 boxes and more.
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
    w, h = (max(0, min(a[k + 2], b[k + 2]) - max(a[k], b[k])) for k in (0, 1))
    area = [(c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)]
    return w * h / (sum(area) - w * h)


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
    for frame in map(json.loads, open(path, encoding="utf-8")):
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


def with_sort(frames, smooth):
    import numpy
    import supervision
    import trackers
    tracker, smoother = trackers.SORTTracker(frame_rate=10), supervision.DetectionsSmoother()
    result = []
    for boxes in frames:
        found = tracker.update(supervision.Detections(
            xyxy=numpy.array([b for b, _, _ in boxes], numpy.float32).reshape(-1, 4),
            confidence=numpy.array([s for _, s, _ in boxes], numpy.float32),
            class_id=numpy.zeros(len(boxes), int)))
        found = found[found.tracker_id >= 0]
        found = smoother.update_with_detections(found) if smooth else found
        ids = [] if found.tracker_id is None else found.tracker_id
        result.append([(list(map(float, box)), 0, int(i)) for box, i in zip(found.xyxy, ids)])
    return result


def systems(program):
    yield "none", lambda frames: frames
    for launch in ("boxsteady", "boxsteady lookahead=1", "boxsteady lookahead=5"):
        yield launch, lambda frames, launch=launch: through_element(program, launch, frames)
    if subprocess.run(["gst-inspect-1.0", "--exists", "ioutracker"], check=False).returncode == 0:
        yield "ioutracker", lambda frames: through_element(program, "ioutracker", frames, "ods")
    try:
        import trackers  # noqa: F401
    except ImportError:
        return
    yield "SORT", lambda frames: with_sort(frames, False)
    yield "SORT, DetectionsSmoother", lambda frames: with_sort(frames, True)


def matched(there, boxes, least):
    """Returns (object, position of a box) of the pairs above an IoU: the best first, each once."""
    pairs = sorted(((iou(a, box[0]), i, j) for i, a in there.items()
                    for j, box in enumerate(boxes)), reverse=True)
    of_object, taken = {}, set()
    for overlap, i, j in pairs:
        if overlap >= least and i not in of_object and j not in taken:
            of_object[i] = j
            taken.add(j)
    return of_object.items()


def squares(errors):
    return [(errors[f][k] - 2 * errors[f + 1][k] + errors[f + 2][k]) ** 2 / 6
            for f in errors if f + 1 in errors and f + 2 in errors for k in range(4)]


def root(values):
    return math.sqrt(sum(values) / max(1, len(values)))


def changes(values):
    return sum(a != b for a, b in zip(values, values[1:]))


def measure(objects, frames):
    boxes_of = [{} for _ in objects]
    for number, boxes in enumerate(frames):
        there = {i: track[number] for i, track in enumerate(objects) if number in track}
        for i, j in matched(there, boxes, .5):
            boxes_of[i][number] = boxes[j]
    errors, flicker, switches, delay = [], 0, 0, 0
    for track, found in zip(objects, boxes_of):
        first = min(found, default=max(track) + 1)
        delay += first - min(track)
        flicker += changes([f in found for f in track if f >= first])
        switches += changes([found[f][2] for f in sorted(found) if found[f][2] is not None])
        errors += squares({f: [a - b for a, b in zip(found[f][0], track[f])] for f in found})
    hits, n, boxes = sum(map(len, boxes_of)), len(objects), sum(map(len, frames))
    return [root(errors), flicker / n, switches / n, 100 * (boxes - hits) / boxes,
            100 - 100 * hits / sum(map(len, objects)), delay / n]


def chains(frames):
    live, done = [], []
    for number, boxes in enumerate(frames):
        links = matched({i: chain[max(chain)] for i, chain in enumerate(live)}, boxes, .3)
        for i, j in links:
            live[i][number] = boxes[j][0]
        done += [c for c in live if number - max(c) > 10]
        live = [c for c in live if number - max(c) <= 10]
        used = {j for _, j in links}
        live += [{number: b[0]} for j, b in enumerate(boxes) if j not in used]
    return [c for c in done + live if len(c) >= 10]


def measure_recording(frames):
    marked = collections.defaultdict(dict)
    for i, row in enumerate(csv.DictReader(open(MARKED, encoding="utf-8"))):
        x, y, w, h = (int(row[k]) for k in ("left", "top", "width", "height"))
        marked[int(row["frame"])][i] = x, y, x + w, y + h
    found = sum(len(matched(people, frames[f], .5)) for f, people in marked.items())
    chained = chains(frames)
    gaps = sum(b - a > 1 for c in chained for a, b in zip(sorted(c), sorted(c)[1:]))
    return [root([s for c in chained for s in squares(c)]),
            1000 * gaps / sum(max(c) - min(c) + 1 for c in chained), found,
            sum(map(len, marked.values())) - found, sum(len(frames[f]) for f in marked) - found]


def draw(path, before, after):
    """Draws the first 120 frames of the person that nmsfilter misses most often in them."""
    import matplotlib.pyplot as plot
    best = []
    for chain in chains(after):
        frames = sorted(chain)[:120]
        near = [max(before[f], key=lambda b: iou(b[0], chain[f]), default=None) for f in frames]
        raw = [b[0][1] if b and iou(b[0], chain[f]) > .3 else math.nan
               for b, f in zip(near, frames)]
        missed = sum(map(math.isnan, raw))
        if len(frames) == 120 and missed < 60:
            best = max(best, [missed, frames, raw, [chain[f][1] for f in frames]])
    plot.figure(figsize=(8, 3), dpi=80)
    plot.plot(best[1], best[2], "o-", ms=3, lw=.8, label="nmsfilter")
    plot.plot(best[1], best[3], lw=2, label="boxsteady")
    plot.xlabel("frame")
    plot.ylabel("upper edge, pixels")
    plot.legend()
    plot.tight_layout()
    plot.savefig(path)


def row(*cells):
    print("| " + " | ".join(c if isinstance(c, str) else f"{c:.2f}" for c in cells) + " |")


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
