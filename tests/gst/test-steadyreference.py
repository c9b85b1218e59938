#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-steadyreference PROGRAM: compares boxsteady with its definition in Python, to the bit.

PROGRAM is steadyframes. Random tracks with noise, gaps, crossings and double detections, of which
some have the ids of a tracker, and hostile frames: invalid numbers, times that go back, repeated
ids, boxes at one place, too many boxes.
"""
import math
import random
import subprocess
import sys

import steadyreference
from steadyreference import Box, Steady, f32

SCORES = [None, math.nan, math.inf, -math.inf, 0.0, -1.0, 1e30]
EDGES = [math.nan, math.inf, -5e8, 1.05e9, 0.0, 1e-30, 512.0, 2.0 ** -40]


def tracks(rng, frames):
    """Random objects that walk through 1024 x 1024 pixels, some of them on each other."""
    given = rng.random() < 0.25
    objects = [[rng.uniform(0, 900), rng.uniform(0, 900), rng.gauss(0, 9), rng.gauss(0, 9),
                rng.uniform(5, 200), rng.uniform(5, 200), rng.choice(["a", "a", "b"])]
               for _ in range(rng.randint(0, 9))]
    time = 10 ** 6
    for _ in range(frames):
        boxes = []
        for track, (x, y, _, _, w, h, label) in enumerate(objects):
            for _ in range(rng.choice([0, 1, 1, 1, 1, 2])):
                jitter = [rng.gauss(0, 2) for _ in range(4)]
                corners = [x + jitter[0], y + jitter[1], x + w + jitter[2], y + h + jitter[3]]
                boxes.append(Box(corners, label, rng.choice([rng.random(), rng.random(), None]),
                                 track if given and rng.random() < 0.9 else None))
        for thing in objects:
            thing[0] += thing[2]
            thing[1] += thing[3]
        rng.shuffle(boxes)
        time += rng.choice([100] * 40 + [0, 1000, 1001, -1, -50])
        yield time, boxes


def hostile(rng, frames):
    for number in range(frames):
        boxes = []
        for _ in range(rng.choice([0, 3, 30])):
            corners = ([rng.choice(EDGES) for _ in range(4)] if rng.random() < 0.3 else
                       [100, 100, 200 + rng.randrange(3), 200 + rng.randrange(3)])
            boxes.append(Box(corners, "a", rng.choice(SCORES),
                             rng.choice([None, 0, 0, 1, 2 ** 31 - 1]) if number > 20 else None))
        if number == 10:
            boxes = [Box([0, 0, 10, 10], "a", 0.5)] * rng.choice([200, 4097])
        yield 10 ** 6 + 100 * number, boxes


def text(value):
    return "-" if value is None else value.hex() if isinstance(value, float) else str(value)


def sent(box):
    """The box that boxsteady reads: normalized coordinates that are invalid do not count."""
    x1, y1, x2, y2 = box.corners
    if all(map(math.isfinite, box.corners)):
        return box
    whole = [math.floor(v + 0.5) if math.isfinite(v) else 0 for v in (x1, y1, x2 - x1, y2 - y1)]
    return Box([whole[0], whole[1], whole[0] + whole[2] % 2 ** 32, whole[1] + whole[3] % 2 ** 32],
               box.label, box.score, box.track)


def score_of(box, link, settings):
    own = box.score is None or settings["score"] == "box" or not link or not link.scores
    return box.score if own else link.score


def lines_of(boxes, outcome, settings):
    """The lines of a frame: [label, corners, score, track, lost]."""
    results, held = Steady.leave(*outcome)
    for box, link in zip(boxes, results):
        if link != "unconfirmed":
            moved = link and (settings["smoothing"] or link.missed)
            yield [box.label, link.corners() if moved else box.corners,
                   score_of(box, link, settings), link.track() if link else box.track, 0]
    for link in held:
        yield [link.label, link.corners(), score_of(link.last, link, settings), link.track(), 1]


def expected(frames, settings, lookahead):
    """The lines of each frame, which waits for `lookahead` later ones."""
    steady = Steady(1024, 1024, **settings)
    last, waiting = None, []
    for time, boxes in frames:
        if last is not None and not 0 <= time - last <= 1000:
            steady.restart()
        last = time
        waiting.append((boxes, steady.frame([sent(box) for box in boxes])))
        if len(waiting) > lookahead:
            yield list(lines_of(*waiting.pop(0), settings))
    for boxes, outcome in waiting:
        yield list(lines_of(boxes, outcome, settings))


def found(program, launch, frames):
    lines = []
    for time, boxes in frames:
        lines.append(f"frame {time}")
        for box in boxes:
            words = [text(float(c)) for c in box.corners] + [text(box.score), text(box.track)]
            lines.append(" ".join([box.label, *words]))
    out = subprocess.run([program, launch], input="\n".join(lines) + "\n", capture_output=True,
                         text=True, check=True).stdout
    result = []
    for line in out.splitlines():
        words = line.split()
        if words[0] == "frame":
            result.append([])
            continue
        numbers = [float.fromhex(w) for w in words[1:5]]
        result[-1].append([words[0], numbers, None if words[5] == "-" else float.fromhex(words[5]),
                           None if words[6] == "-" else int(words[6]), int(words[7])])
    return result


def same(a, b):
    """Equal numbers and texts; an invalid number equals an invalid one."""
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b)
    return a == b


def main(program):
    rng = random.Random(35)
    boxes = held = 0
    for trial in range(60):
        settings = {"iou_threshold": f32(rng.choice([0.0, 0.3, 0.3, 0.7])),
                    "confirm": rng.randint(1, 4), "window": rng.choice([1, 3, 5, 32]),
                    "hold": rng.choice([0, 1, 5, 40]),
                    "smoothing": f32(rng.choice([0, .5, .7, .95])),
                    "score": rng.choice(["box", "mean", "best"])}
        lookahead = (trial % 3 == 1) * rng.choice([1, 3, 7, 60])
        source = hostile if trial % 4 == 3 else tracks
        frames = list(source(rng, 60))
        if trial == 7:
            frames.insert(30, (1002950, [Box([5, 5, 9, 9], "a", 0.5)] * 100000))
        launch = "boxsteady " + " ".join(f"{k.replace('_', '-')}={v}" for k, v in settings.items())
        launch += f" lookahead={lookahead}"
        got = found(program, launch, frames)
        wanted = list(expected(frames, settings, lookahead))
        assert len(got) == len(wanted), (trial, len(got), len(wanted))
        for number, (a, b) in enumerate(zip(wanted, got)):
            assert same(a, b), f"trial {trial}, frame {number}, {launch}:\n{a}\n{b}"
            boxes += len(a)
            held += sum(line[4] for line in a)
    assert boxes > 10000 and held > 500, (boxes, held)
    print(f"{boxes} boxes, of which {held} are held")


if __name__ == "__main__":
    main(sys.argv[1])
