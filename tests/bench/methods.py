#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""methods.py [--agree]: compares the methods of nmscore with other implementations.

First all results are compared, on the literal cases of
the other projects' tests and on random boxes; then each call is timed, on one core, with the same
arrays, ours and theirs in turn. --agree: no timing.

Each difference must have a cause, or the exit status is 1:

  rounding     moving our threshold by some units of binary32 gives their result: they compute in
               double, or round otherwise
  rechecked    SAHI compares each member with the box merged so far, and drops it if they do not
               match; here the box of a cluster covers all its members, as in supervision
  contained    OpenCV counts the overlap of a rotated box with one that lies within it as 1

Where the definitions differ on purpose, the comparison is of what they have in common:

  order        of equal scores SAHI takes the least corners, supervision any; here the lower index
               is first. The random scores differ from each other, also when weighted.
  equality     SAHI and supervision merge at overlap == threshold: `inclusive`
  box ranges   ensemble-boxes clips corners to 0..1 and leaves boxes without area out
  scores       of a merged box: SAHI the greatest, as here; supervision the mean by area
  new scores   ensemble-boxes's soft_nms returns the old scores
  dtype        ensemble-boxes fuses in a mix of double and float32: equal within 2e-6
"""
import argparse
import importlib.metadata
import os
import statistics
import sys
import time

try:
    import cv2  # noqa: F401
    import ensemble_boxes  # noqa: F401
    import nmscore
    import numpy as np
    import sahi  # noqa: F401
    import supervision  # noqa: F401
except ImportError as error:
    print(f"methods.py is skipped, because a library is missing: {error}\n"
          "tests/bench/methods.sh installs them and runs this program")
    sys.exit(77)

import methodrivals as rivals
from workloads import detector_boxes

CLOSE = 2e-6  # some units of binary32
ROUNDS = 20


class Call:
    """A call of nmscore.run with all outputs, which run () repeats."""

    def __init__(self, rows, scores, method, metric="iou", threshold=0.5, **options):
        self.rows = np.ascontiguousarray(rows, np.float32)
        self.scores = np.ascontiguousarray(scores, np.float32)
        self.options = options | {"method": method, "metric": metric, "iou_threshold": threshold,
                                  "outcome": True, "suppressed_by": True}

    def run(self):
        return nmscore.run(self.rows, self.scores, **self.options)

    def kept(self):
        return self.run().kept

    def groups(self):
        """Returns {head: members in rank order, without the head}, by the head's order."""
        result = self.run()
        members = {int(k): [] for k in result.kept}
        for i in np.lexsort((np.arange(len(self.rows)), -self.scores)):
            if result.suppressed_by[i] >= 0:
                members[int(result.suppressed_by[i])].append(int(i))
        return members


class Report:
    def __init__(self):
        self.lines, self.failed = {}, 0

    def add(self, name, cause=""):
        """Counts a comparison; `cause`: of the difference, "" if there is none."""
        counts = self.lines.setdefault(name, {})
        counts[cause or "equal"] = counts.get(cause or "equal", 0) + 1
        self.failed += cause == "unexplained"

    def print(self):
        for name, counts in self.lines.items():
            text = ", ".join(f"{n} {cause}" for cause, n in sorted(counts.items()))
            print(f"  {name:58} {text}")


def near_thresholds(threshold):
    t = np.float32(threshold)
    return [float(t), *(float(t * np.float32(1 + k * CLOSE / 2)) for k in (-2, -1, 1, 2))]


def compare(report, name, ours, theirs, threshold):
    """`ours (threshold)` and `theirs` are results that support ==. Returns whether they agree."""
    for i, t in enumerate(near_thresholds(threshold)):
        if ours(t) == theirs:
            report.add(name, "rounding" if i else "")
            return i == 0
    report.add(name, "unexplained")
    return False


def random_boxes(seed, n=300, side=1.0):
    """Detector-like boxes with different scores, in 0..side."""
    rows, _, _ = detector_boxes(n, seed)
    rows -= rows.min()
    rows *= np.float32(side) / rows.max()
    rng = np.random.default_rng(seed)
    scores = (rng.permutation(n) + 1).astype(np.float32) / np.float32(n + 1)
    return np.minimum(rows, np.float32(side)), scores, rng


def as_sets(groups):
    return {head: frozenset(members) for head, members in groups.items()}


# ---------------------------------------------------------------- agreement

def agree_merges(report, seed):
    rows, scores, rng = random_boxes(seed, side=640)
    for metric in ("iou", "ios"):
        threshold = float(rng.choice([0.3, 0.5, 0.7]))

        def ours(method, t):
            return Call(rows, scores, method, metric, t, inclusive=True)
        for method, function in (("greedy-merge", "greedy_nmm"), ("merge", "nmm")):
            name = f"{method} {metric}: sahi {function}"
            theirs = rivals.sahi(rows, scores, threshold, function, metric)[1]()
            if compare(report, name + ", clusters",
                       lambda t: as_sets(ours(method, t).groups()), as_sets(theirs), threshold):
                agree_sahi_boxes(report, name + ", boxes", ours(method, threshold), theirs,
                                 rivals.sahi_boxes(rows, scores, threshold, function, metric),
                                 threshold, metric)
        theirs = rivals.supervision_merge(rows, scores, threshold, metric)[1]()
        if compare(report, f"greedy-merge {metric}: supervision, clusters",
                   lambda t: as_sets(ours("greedy-merge", t).groups()), as_sets(theirs), threshold):
            boxes = rivals.supervision_boxes(rows, scores, threshold, metric)
            ours_boxes = ours("greedy-merge", threshold).run().boxes
            report.add(f"greedy-merge {metric}: supervision, boxes",
                       "" if sorted(map(tuple, boxes)) == sorted(map(tuple, ours_boxes))
                       else "unexplained")
        for name, rival in (("sahi nms", rivals.sahi(rows, scores, threshold, "nms", metric)),):
            compare(report, f"hard {metric}: {name}",
                    lambda t: set(ours("hard", t).kept()), set(rival[1]()), threshold)
        theirs = rivals.supervision_nms(rows, scores, threshold, metric)[1]()
        compare(report, f"hard {metric}: supervision box_non_max_suppression",
                lambda t: set(Call(rows, scores, "hard", metric, t).kept()),
                set(theirs), threshold)


def rechecked_box(rows, head, members, threshold, metric):
    """Returns the box that SAHI makes of a cluster, and whether it dropped a member."""
    box, dropped = rows[head].astype(np.float64), False
    for i in members:
        member = rows[i].astype(np.float64)
        if rivals.overlaps(box[None], member[None], metric)[0, 0] >= threshold:
            box = np.concatenate([np.minimum(box[:2], member[:2]), np.maximum(box[2:], member[2:])])
        else:
            dropped = True
    return box, dropped


def agree_sahi_boxes(report, name, call, groups, theirs, threshold, metric):
    result = call.run()
    by_head = dict(zip(result.kept.tolist(), result.boxes))
    left = {tuple(b) for b in theirs}
    for head, members in groups.items():
        checked, dropped = rechecked_box(call.rows, head, members, threshold, metric)
        if tuple(checked) not in left:
            report.add(name, "unexplained")
        elif tuple(by_head[head].astype(np.float64)) in left:
            report.add(name)
        else:
            report.add(name, "rechecked" if dropped else "unexplained")


def agree_weighted(report, seed):
    rows, scores, rng = random_boxes(seed)
    sources = rng.integers(0, 3, len(rows)).astype(np.int32)
    labels = rng.integers(0, 2, len(rows)).astype(np.int32)
    weights = np.float32([1.875, 1.28125, 0.59375])
    while len(np.unique(scores * weights[sources])) < len(rows):  # other weights if scores tie
        weights *= np.float32(1) + rng.random(3, np.float32) / np.float32(64)
    threshold = float(rng.choice([0.4, 0.55, 0.7]))
    for kind in ("avg", "max", "box-and-model-avg", "absent-model-aware-avg"):
        boxes, fused = rivals.weighted_boxes_fusion(rows, scores, threshold, labels, sources,
                                                    weights, kind)[1]()

        def same(t):
            ours = Call(rows, scores, "weighted", "iou", t, class_ids=labels, sources=sources,
                        source_weights=weights, fused_score=kind).run()
            return len(fused) == len(ours.scores) and same_rows(
                np.column_stack([fused, boxes]), np.column_stack([ours.scores, ours.boxes]))
        compare(report, f"weighted {kind}: ensemble_boxes", same, True, threshold)


def same_rows(a, b):
    """Returns whether two tables have the same rows, whatever their order, within CLOSE."""
    return all(np.any(np.all(np.abs(a - row) <= CLOSE, axis=1)) for row in b)


def agree_average(report, seed):
    rows, scores, rng = random_boxes(seed)
    threshold = float(rng.choice([0.3, 0.5]))
    groups, means = rivals.mediapipe_average(rows, scores, threshold)[1]()
    call = Call(rows, scores, "average", "iou", threshold)
    name = "average: MediaPipe's formula"
    if compare(report, name + ", clusters",
               lambda t: as_sets(Call(rows, scores, "average", "iou", t).groups()),
               as_sets(groups), threshold):
        kept, kept_scores, boxes = (getattr(call.run(), f) for f in ("kept", "scores", "boxes"))
        same = np.array_equal(kept_scores, scores[kept]) and all(
            np.allclose(means[k], b, rtol=0, atol=CLOSE) for k, b in zip(kept.tolist(), boxes))
        report.add(name + ", boxes and scores", "" if same else "unexplained")


def agree_soft(report, seed):
    rows, scores, rng = random_boxes(seed)
    threshold = float(rng.choice([0.3, 0.5]))
    for method, gaussian in (("soft-linear", False), ("soft-gaussian", True)):
        theirs = rivals.soft_nms(rows, scores, threshold, gaussian)[1]()
        compare(report, f"{method}: ensemble_boxes soft_nms, kept boxes", lambda t: {
            tuple(r) for r in Call(rows, scores, method, "iou", t).run().boxes.astype(
                np.float64)}, {tuple(r) for r in theirs}, threshold)
    whole = np.round(rows * 512).astype(np.float32)
    whole[:, 2:] = np.maximum(whole[:, 2:], whole[:, :2] + 1)
    for method, gaussian in (("soft-linear", False), ("soft-gaussian", True)):
        kept, new = rivals.opencv_soft(whole, scores, threshold, gaussian)[1]()

        def same(t):
            ours = Call(whole, scores, method, "iou", t).run()
            return (set(ours.kept) == set(kept)
                    and np.allclose(np.sort(ours.scores), np.sort(new), rtol=1e-5, atol=1e-7))
        compare(report, f"{method}: OpenCV softNMSBoxes", same, True, threshold)


def agree_matrix(report, seed):
    rows, scores, _ = random_boxes(seed)
    for method, gaussian in (("matrix-linear", False), ("matrix-gaussian", True)):
        new = rivals.matrix(rows.astype(np.float64), scores, gaussian)[1]()
        result = Call(rows, scores, method).run()
        kept, our_scores = result.kept, result.scores
        least = 0.001
        same = (np.allclose(our_scores, new[kept], rtol=1e-4, atol=1e-6)
                and set(np.flatnonzero(new >= least * 1.001)) <= set(kept)
                <= set(np.flatnonzero(new >= least * 0.999)))
        report.add(f"{method}: SOLOv2's formula", "" if same else "unexplained")


def rotated_boxes(seed, n):
    rows, scores, rng = random_boxes(seed, n, 300 * (n / 200) ** .5)
    return rows, scores, rng.uniform(-1.5, 1.5, n).astype(np.float32)


def agree_rotated(report, seed):
    rows, scores, angles = rotated_boxes(seed, 200)
    wanted, nearest = rivals.clipping(rows, angles, scores, 0.5)
    if nearest < 1e-4:
        return report.add("hard rotated: exact clipping", "left out, an overlap near the threshold")
    kept = Call(rows, scores, "hard", angles=angles).kept()
    report.add("hard rotated: exact clipping", "" if set(kept) == set(wanted) else "unexplained")
    theirs = set(rivals.opencv_rotated(rows, angles, scores, 0.5)[1]())
    contained = set(rivals.clipping(rows, angles, scores, 0.5, True)[0])
    report.add("hard rotated: OpenCV, compared with exact clipping",
               "" if theirs == set(wanted) else
               "contained" if theirs == contained else "unexplained")
    return None


def ties(report):
    """Counts which of two equal boxes with equal scores is kept, in sets of 500 pairs, and what of
    a heap of equal scores."""
    rng = np.random.default_rng(1)
    for _ in range(ROUNDS):
        pair = rng.permutation(1000) % 500
        rows = np.float32([0, 0, 10, 10]) + np.float32(30) * pair[:, None]
        scores = np.float32(0.25) * (1 + pair % 4)
        calls = {"nmscore": Call(rows, scores, "hard").kept(),
                 "supervision": rivals.supervision_nms(rows, scores, 0.5, "iou")[1]()}
        for name, kept in calls.items():
            for i in kept:
                first = int(np.flatnonzero(pair == pair[i])[0]) == i
                report.add(f"ties: {name} keeps of two equal boxes the",
                           "first" if first else "last")
        rows = np.float32([0, 0, 20, 20]) + rng.permutation(20)[:, None].astype(np.float32) / 4
        ones = np.ones(20, np.float32)
        kept = rivals.sahi(rows, ones, 0.1, "nms", "iou")[1]()
        report.add("ties: SAHI keeps of a heap the box with the", "least corners"
                   if list(kept) == [int(np.argmin(rows[:, 0]))] else "other corners")


def agree():
    report = Report()
    for seed in range(ROUNDS):
        for check in (agree_merges, agree_weighted, agree_average, agree_soft, agree_matrix):
            check(report, seed)
    for seed in range(52):  # about 40 of which have no overlap near the threshold
        agree_rotated(report, seed)
    ties(report)
    print(f"Agreement, {ROUNDS} sets of 300 boxes:")
    report.print()
    return report.failed


# -------------------------------------------------------------------- speed

def time_of(call, seconds=0.3):
    """Returns the processor times of at least 5 calls that take about `seconds` together."""
    times, end = [], time.thread_time() + seconds
    while len(times) < 5 or time.thread_time() < end:
        begin = time.thread_time()
        call()
        times.append(time.thread_time() - begin)
    return times


def speed_rows(rows, scores):
    unit = rows / np.abs(rows).max()
    unit = np.clip(unit - unit.min(), 0, 1)

    def ours(method, metric="iou", boxes=rows):
        return Call(boxes, scores, method, metric, 0.5)
    yield "weighted", "ensemble_boxes", ours("weighted", boxes=unit), \
        rivals.weighted_boxes_fusion(unit, scores, 0.5)[0]
    yield "soft-linear", "ensemble_boxes", ours("soft-linear", boxes=unit), \
        rivals.soft_nms(unit, scores, 0.5, False)[0]
    yield "soft-gaussian", "ensemble_boxes", ours("soft-gaussian", boxes=unit), \
        rivals.soft_nms(unit, scores, 0.5, True)[0]
    yield "soft-gaussian", "OpenCV", ours("soft-gaussian"), \
        rivals.opencv_soft(rows, scores, 0.5, True)[0]
    yield "matrix-gaussian", "numpy", ours("matrix-gaussian"), rivals.matrix(rows, scores, True)[0]
    yield "matrix-linear", "numpy", ours("matrix-linear"), rivals.matrix(rows, scores, False)[0]
    yield "average", "numpy (MediaPipe)", ours("average"), \
        rivals.mediapipe_average(rows, scores, 0.5)[0]
    turned, ranks, angles = rotated_boxes(0, 1000)
    yield "hard, rotated", "OpenCV", \
        Call(turned, ranks, "hard", angles=angles), \
        rivals.opencv_rotated(turned, angles, ranks, 0.5)[0]
    for metric in ("iou", "ios"):
        for method, function in (("hard", "nms"), ("greedy-merge", "greedy_nmm"),
                                 ("merge", "nmm")):
            yield f"{method} {metric}", f"sahi {function}", ours(method, metric), \
                rivals.sahi(rows, scores, 0.5, function, metric)[0]
        yield f"hard {metric}", "supervision", ours("hard", metric), \
            rivals.supervision_nms(rows, scores, 0.5, metric)[0]
        yield f"greedy-merge {metric}", "supervision", ours("greedy-merge", metric), \
            rivals.supervision_merge(rows, scores, 0.5, metric)[0]


def speed():
    rows, scores, _ = detector_boxes(1000)
    print("\nProcessor time of a call, 1,000 detector-like boxes, threshold 0.5, medians in ms:")
    print(f"  {'method':20} {'other':22} {'theirs':>9} {'ours':>8} {'ratio':>7}")
    for method, name, call, theirs in speed_rows(rows, scores):
        theirs(), call.run()
        before = time_of(call.run)
        other = statistics.median(time_of(theirs))
        own = statistics.median(before + time_of(call.run))
        print(f"  {method:20} {name:22} {other * 1e3:9.3f} {own * 1e3:8.4f} {other / own:6.0f}x")
    rows, scores, _ = detector_boxes(10_000)
    print("\nProcessor time of a call, 10,000 detector-like boxes, medians in ms:")
    for method, metric in (("weighted", "iou"), ("merge", "iou"), ("merge", "ios"),
                           ("greedy-merge", "iou"), ("greedy-merge", "ios"), ("average", "iou"),
                           ("soft-linear", "iou"), ("soft-gaussian", "iou"),
                           ("matrix-linear", "iou"), ("matrix-gaussian", "iou"),
                           ("hard", "ios"), ("hard", "diou"), ("hard", "giou")):
        call = Call(rows, scores, method, metric, 0.5)
        call.run()
        print(f"  {method:16} {metric:5} {statistics.median(time_of(call.run)) * 1e3:8.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agree", action="store_true", help="compare only")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(", ".join(f"{p} {importlib.metadata.version(p)}"
                    for p in ("ensemble-boxes", "sahi", "supervision", "numpy")))
    failed = agree()
    if not arguments.agree:
        speed()
    if failed:
        print(f"{failed} differences have no known cause", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
