#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What NMS does to the boxes of a detector that is said to need none (docs/detectors.md):

    PYTHONPATH=build/dev/python /usr/bin/python3 tests/bench/end2end.py

Generates frames with single objects and crowds, and a detector that finds each object once and a
part of them a second time, nearly where the first box is, in half of these cases as another class.
Prints, for the boxes as they are and for thresholds, how many second boxes and how many objects are
left. An object is lost if none of its boxes is left."""
import numpy as np

import nmscore

FRAMES, CLASSES, WIDTH, HEIGHT = 2000, 3, 1280, 720
THRESHOLDS = (0.6, 0.7, 0.8)


def objects_of_frame(rng):
    """Returns rows x y w h: single objects, and neighbors that cover a part of each other."""
    rows = []
    for _ in range(rng.integers(4, 9)):
        height = rng.lognormal(4.4, 0.5)
        width = 0.45 * height
        x, y = rng.uniform(0, WIDTH), rng.uniform(0, HEIGHT)
        for _ in range(rng.integers(2, 6) if rng.random() < 0.4 else 1):
            h = height * rng.uniform(0.9, 1.1)
            rows.append((x, y, 0.45 * h, h))
            x += width * rng.uniform(0.15, 0.9)
    return np.array(rows)


def detect(rng, part):
    """Returns the corners, scores, classes and objects of the boxes of all frames, and offsets."""
    frames, first = [], 0
    for _ in range(FRAMES):
        rows = objects_of_frame(rng)
        number = np.arange(len(rows)) + first
        first += len(rows)
        twice = np.flatnonzero(rng.random(len(rows)) < part)
        classes = rng.integers(0, CLASSES, len(rows))
        change = rng.integers(1, CLASSES, len(twice)) * (rng.random(len(twice)) < 0.5)
        other = (classes[twice] + change) % CLASSES
        error = rng.normal(0, 0.03, (len(twice), 4)) * np.tile(rows[twice, 2:], 2)
        score = rng.beta(5, 2, len(rows))
        frames.append((np.concatenate((rows, rows[twice] + error)),
                       np.concatenate((score, score[twice] * rng.uniform(0.5, 1, len(twice)))),
                       np.concatenate((classes, other)), np.concatenate((number, number[twice]))))
    rows, score, classes, number = (np.concatenate(column) for column in zip(*frames))
    rows[:, 2:] += rows[:, :2]
    return rows, score, classes, number, np.cumsum([0] + [len(frame[1]) for frame in frames])


def print_row(name, kept, number):
    left = len(np.unique(number[kept]))
    print(f"| {name} | {(len(kept) - left) / FRAMES:.2f} | "
          f"{100 * (1 - left / (number.max() + 1)):.2f} % |")


def main():
    for part in (0.05, 0.1, 0.2):
        rows, score, classes, number, offsets = detect(np.random.default_rng(1), part)
        print(f"\n{FRAMES} frames, {number.max() + 1} objects, {100 * part:.0f} % found twice\n\n"
              "| | second boxes a frame | objects lost |\n|---|--:|--:|")
        print_row("as they are", np.arange(len(score)), number)
        for agnostic in (False, True):
            for threshold in THRESHOLDS:
                result = nmscore.run_batch(rows, offsets, score, classes, iou_threshold=threshold,
                                           class_agnostic=agnostic)
                kept = result.kept + np.repeat(offsets[:-1], np.diff(result.kept_offsets))
                print_row(f"{threshold}{', class-agnostic' if agnostic else ''}", kept, number)


if __name__ == "__main__":
    main()
