#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""exactness: how often nmscore and torchvision keep other boxes than exact arithmetic.

For each threshold and box size 60 random inputs of 100 boxes with whole-number
corners, where many overlaps equal the threshold. Python's fractions decide each
overlap without rounding. Prints the number of inputs with a difference as a table.

    build-bench/venv/bin/python tests/bench/exactness.py
"""
import pathlib
import sys
from fractions import Fraction

import numpy as np
import torch
import torchvision

import nmscore
import report

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


head, rows = ["threshold"], []
for text in THRESHOLDS:
    random = np.random.default_rng(1)
    rows.append([text, *(n for side in SIDES for n in differences(Fraction(text), side, random))])
head += [f"{name}, sides up to {side}" for side in SIDES for name in ("nmscore", "torchvision")]
print("\n".join(report.table(head, rows, 0)))
print(f"nmscore {nmscore.__version__}, torchvision {torchvision.__version__}")
