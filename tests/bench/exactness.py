#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""exactness: how often nmscore and others keep other boxes than exact arithmetic.

For each threshold and box size 60 random inputs of 100 boxes with whole-number
corners, where many overlaps equal the threshold. Python's fractions decide each
overlap without rounding. Prints the number of inputs with a difference as a table
in Markdown. Two lines follow: rotated boxes of nmscore and OpenCV compared with the
clipping of polygons in binary64 by shapely, and which of two equal boxes with equal
scores nmscore and supervision keep.

    build-bench/venv/bin/python tests/bench/exactness.py
"""
import pathlib
import sys
from fractions import Fraction

import cv2
import numpy as np
import shapely.affinity
import supervision
import torch
import torchvision

import nmscore
from workloads import detector_boxes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from slow import exact_nms, integer_case  # noqa: E402

THRESHOLDS = ("0.1", "0.2", "0.3", "1/3", "0.4", "0.45", "0.5", "0.6", "2/3", "0.7", "0.8", "0.9")
INPUTS, BOXES, SIDES = 60, 100, (16, 64)


def differences(threshold, side, random):
    """Counts the inputs for which nmscore and torchvision differ from exact arithmetic."""
    ours = theirs = 0
    for _ in range(INPUTS):
        boxes, scores = integer_case(random, BOXES, side)
        exact = exact_nms(boxes, scores, threshold)
        ours += nmscore.nms(boxes, scores, float(threshold)).tolist() != exact
        theirs += torchvision.ops.nms(torch.from_numpy(boxes), torch.from_numpy(scores),
                                      float(threshold)).tolist() != exact
    return ours, theirs


def clipped_nms(rows, angles, scores, threshold):
    """Returns the indices that NMS by polygons keeps, or None if an overlap is within 1e-4 of the
    threshold."""
    shapes = [shapely.affinity.rotate(shapely.box(*row), angle, use_radians=True)
              for row, angle in zip(rows.astype(float), angles)]
    kept = []
    for i in np.argsort(-scores, kind="stable"):
        overlaps = [shared / (shapes[i].area + shapes[k].area - shared) for k in kept
                    if (shared := shapes[i].intersection(shapes[k]).area) > 0]
        if any(abs(overlap - threshold) < 1e-4 for overlap in overlaps):
            return None
        if not any(overlap > threshold for overlap in overlaps):
            kept.append(int(i))
    return kept


def rotated(frames=60, count=200):
    """Returns the compared frames, and how many differ for nmscore and for OpenCV."""
    compared = ours = theirs = 0
    for seed in range(frames):
        rows = detector_boxes(count, seed)[0]
        rows *= np.float32(300) / rows.max()
        random = np.random.default_rng(seed)
        scores = (random.permutation(count) + 1).astype(np.float32) / np.float32(count + 1)
        angles = random.uniform(-1.5, 1.5, count).astype(np.float32)
        exact = clipped_nms(rows, angles, scores, 0.5)
        if exact is None:
            continue
        forms = [(((x1 + x2) / 2, (y1 + y2) / 2), (x2 - x1, y2 - y1), float(np.degrees(angle)))
                 for (x1, y1, x2, y2), angle in zip(rows.tolist(), angles)]
        kept = cv2.dnn.NMSBoxesRotated(forms, scores.tolist(), 0.0, 0.5)
        compared += 1
        ours += nmscore.run(rows, scores, angles=angles).kept.tolist() != exact
        theirs += np.ravel(kept).tolist() != exact
    return compared, ours, theirs


def first_of_pairs(random, pairs=10000):
    """Returns of how many pairs of equal boxes nmscore and supervision keep the first one."""
    ours = theirs = 0
    for _ in range(pairs // 500):
        pair = random.permutation(1000) % 500
        rows = np.float32([0, 0, 10, 10]) + np.float32(30) * pair[:, None]
        scores = np.float32(0.25) * (1 + pair % 4)
        firsts = np.unique(pair, return_index=True)[1]
        ours += np.isin(firsts, nmscore.nms(rows, scores, 0.5)).sum()
        theirs += supervision.box_non_max_suppression(np.c_[rows, scores], 0.5)[firsts].sum()
    return ours, theirs


def main():
    print("| threshold | " + " | ".join(f"{system}, sides up to {side}" for side in SIDES
                                        for system in ("nmscore", "torchvision")) + " |")
    print("|---:|" + "---:|" * 2 * len(SIDES))
    for text in THRESHOLDS:
        random = np.random.default_rng(1)
        counts = [n for side in SIDES for n in differences(Fraction(text), side, random)]
        print(f"| {text} | " + " | ".join(map(str, counts)) + " |")
    print(f"\nnmscore {nmscore.__version__}, torchvision {torchvision.__version__}, "
          f"{INPUTS} inputs of {BOXES} boxes for each number")
    print("rotated boxes: of %d frames other boxes than by polygons in %d (nmscore), %d (OpenCV)"
          % rotated())
    print("equal boxes: of 10,000 pairs the first is kept of %d (nmscore), %d (supervision)"
          % first_of_pairs(np.random.default_rng(1)))


if __name__ == "__main__":
    main()
