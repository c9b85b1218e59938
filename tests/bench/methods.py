#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""methods.py [--agree]: compares the methods of nmscore with those of other libraries, which are
the rows of rivals () in peers.py, as README.md describes. --agree: no timing.

A difference must go away if our threshold moves by some units of binary32 (`rounding`: they compute
in double, or round otherwise), or the exit status is 1.
"""
import collections
import os
import statistics
import sys
import types
import warnings

import nmscore
import numpy as np

import report
from peers import rivals
from workloads import detector_boxes

warnings.filterwarnings("ignore")
CLOSE = 2e-6  # some units of binary32
ROUNDS = 20
THRESHOLDS = {"weighted": (0.4, 0.55, 0.7), "soft-linear": (0.3, 0.5), "soft-gaussian": (0.3, 0.5)}


def case_of(rival, count, seed, threshold, weights=(1,)):
    """Returns detector-like boxes. With several weights each box has one of as many sources, and
    one of two classes."""
    rows, scores, _ = detector_boxes(count, seed=seed)
    rows -= rows.min()
    rows = np.minimum(rows * (np.float32(rival.side) / rows.max()), np.float32(rival.side))
    if rival.name == "OpenCV":  # wants whole numbers
        rows = np.round(rows)
        rows[:, 2:] = np.maximum(rows[:, 2:], rows[:, :2] + 1)
    rng = np.random.default_rng(seed)
    sources, classes = (rng.integers(0, k, count).astype(np.int32)
                        for k in (len(weights), min(2, len(weights))))
    return types.SimpleNamespace(
        rows=rows, scores=scores, threshold=threshold, sources=sources, classes=classes,
        weights=weights, angles=rng.uniform(-1.5, 1.5, count).astype(np.float32))


def ours(rival, case, threshold):
    """Returns a call of nmscore."""
    options = dict(rival.options, iou_threshold=threshold)
    if len(case.weights) > 1:
        options.update(class_ids=case.classes, sources=case.sources, source_weights=case.weights)
    if "rotated" in rival.name:
        options.update(angles=case.angles)
    return lambda: nmscore.run(case.rows, case.scores, method=rival.method, metric=rival.metric,
                               outcome=True, suppressed_by=True, **options)


def are_equal(a, b):
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(are_equal, a, b))
    if isinstance(a, np.ndarray) and a.ndim == 1:
        return a.shape == b.shape and np.allclose(a, b, rtol=1e-5, atol=1e-7)
    if isinstance(a, np.ndarray):  # rows in any order
        return a.shape == b.shape and all(
            np.any(np.all(np.abs(b - row) <= CLOSE, axis=1)) for row in a)
    return a == b


def cause_of(rival, seed):
    """Returns why the results for random boxes differ, or "equal"."""
    thresholds = THRESHOLDS.get(rival.method, (0.3, 0.5, 0.7))
    case = case_of(rival, 300, seed, thresholds[seed % len(thresholds)],
                   (1.875, 1.28125, 0.59375) if rival.method == "weighted" else (1,))
    theirs = rival.theirs(rival.make(case)())
    for k in (0, -2, -1, 1, 2):
        threshold = float(np.float32(case.threshold) * np.float32(1 + k * CLOSE / 2))
        if are_equal(theirs, rival.ours(ours(rival, case, threshold)())):
            return "rounding" if k else "equal"
    return "unexplained"


def agree():
    """Returns the number of differences without a cause."""
    print(f"Agreement, {ROUNDS} sets of 300 boxes:")
    failed = 0
    for rival in rivals():
        if rival.theirs:
            causes = collections.Counter(cause_of(rival, seed) for seed in range(ROUNDS))
            failed += causes["unexplained"]
            print(f"  {rival.method + ' ' + rival.metric + ': ' + rival.name:58}",
                  ", ".join(f"{n} {cause}" for cause, n in sorted(causes.items())), flush=True)
    return failed


def time_of(call):
    """Returns the median processor time in ms of at least 5 calls, without the first one."""
    call()
    return 1e3 * statistics.median(report.times_of(call, 0.3, 5))


def speed():
    """Yields a row for each rival whose call is timed."""
    for rival in rivals():
        if rival.timed:
            case = case_of(rival, 1000, 0, 0.5)
            other, own = time_of(rival.make(case)), time_of(ours(rival, case, 0.5))
            yield (f"{rival.method}, {rival.metric}", rival.name, f"{other:.3g} ms",
                   f"{own:.3f} ms", f"{other / own:.0f}")


def main():
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    failed = agree()
    if "--agree" not in sys.argv:
        print("\nProcessor time of a call, 1,000 detector-like boxes, threshold 0.5, medians:\n")
        report.print_table(["method, metric", "other", "its time", "nmscore", "x"], speed(), 2)
    if failed:
        sys.exit(f"{failed} differences have no known cause")


if __name__ == "__main__":
    main()
