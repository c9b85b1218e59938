#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""methods.py [--agree]: compares the methods of nmscore with those of other libraries.

First all results are compared, on random boxes; then each call is timed, on one core, with the same
arrays, ours and theirs in turn. --agree: no timing. Exits with 77 if a library is missing.

Each difference must have a cause, or the exit status is 1:

  rounding     moving our threshold by some units of binary32 gives their result: they compute in
               double, or round otherwise
  rechecked    SAHI compares each member with the box merged so far, and drops it if they do not
               match; here the box of a cluster covers all its members, as in supervision

Where the definitions differ on purpose, the comparison is of what they have in common:

  order        of equal scores SAHI takes the least corners, supervision any; here the lower index
               is first. The random scores differ from each other, also when weighted.
  equality     SAHI and supervision merge at overlap == threshold: `inclusive`
  box ranges   ensemble-boxes clips corners to 0..1 and leaves boxes without area out
  scores       of a merged box: SAHI the greatest, as here; supervision the mean by area
  new scores   ensemble-boxes's soft_nms returns the old scores
  dtype        ensemble-boxes fuses in a mix of double and float32: equal within 2e-6
"""
import os
import statistics
import sys
import time
import warnings

try:
    import cv2
    import ensemble_boxes
    import nmscore
    import numpy as np
    import supervision
    from sahi.postprocess import combine
    from sahi.prediction import ObjectPrediction
except ImportError as error:
    print(f"methods.py is skipped, because a library is missing: {error}\n"
          "tests/bench/run.sh --methods installs them and runs this program")
    sys.exit(77)

from workloads import detector_boxes

warnings.filterwarnings("ignore")
CLOSE = 2e-6  # some units of binary32
ROUNDS = 20


# ------------------------------------------------------------------- the calls
# A function for each library: returns the call that is timed, and a function that calls it and
# brings the result into the form that is compared. Clusters are {head: members}.

def ours(method, metric="iou"):
    def make(rows, scores, threshold, **options):
        def call():
            return nmscore.run(rows, scores, method=method, metric=metric,
                               iou_threshold=threshold, outcome=True, suppressed_by=True,
                               **options)

        def clusters():
            result = call()
            return {int(k): {int(i) for i in np.flatnonzero(result.suppressed_by == k)}
                    for k in result.kept}
        return call, clusters
    return make


def by_sahi(function, metric="iou"):
    """SAHI chooses its fastest backend on a CPU, numba, which ensemble-boxes depends on."""
    def make(rows, scores, threshold):
        table = np.column_stack([rows, scores, np.zeros(len(rows))]).astype(np.float32)

        def call():
            return getattr(combine, function)(table, metric.upper(), threshold)
        return call, lambda: call() if "nmm" in function else set(call())
    return make


def by_supervision(function, metric="iou"):
    def make(rows, scores, threshold):
        table = np.column_stack([rows, scores]).astype(np.float32)
        kind = supervision.OverlapMetric[metric.upper()]

        def call():
            return getattr(supervision, function)(table, threshold, kind)
        return call, lambda: ({g[0]: g[1:] for g in call()} if "merge" in function
                              else set(np.flatnonzero(call())))
    return make


def source_lists(rows, scores, labels, sources, count):
    """Returns the lists of ensemble_boxes, one element for each source."""
    chosen = [np.flatnonzero(sources == s) for s in range(count)]
    return ([rows[i].astype(np.float64) for i in chosen],
            [scores[i].astype(np.float64) for i in chosen], [labels[i] for i in chosen])


def by_fusion(rows, scores, threshold, labels, sources, weights, kind):
    """Corners must lie in 0..1. Gives rows of score and box."""
    lists = source_lists(rows, scores, labels, sources, 1 if weights is None else len(weights))

    def call():
        return ensemble_boxes.weighted_boxes_fusion(
            *lists, weights=weights, iou_thr=threshold, conf_type=kind.replace("-", "_"))

    def fused():
        boxes, fused_scores, _ = call()
        return np.column_stack([fused_scores, boxes])
    return call, fused


def by_soft_nms(gaussian):
    """Gives the set of kept boxes."""
    def make(rows, scores, threshold):
        nothing = np.zeros(len(rows), int)
        lists = source_lists(rows, scores, nothing, nothing, 1)

        def call():
            return ensemble_boxes.soft_nms(*lists, method=2 if gaussian else 1, iou_thr=threshold,
                                           sigma=0.5, thresh=0.001)
        return call, lambda: {tuple(r) for r in call()[0]}
    return make


def by_opencv_soft(gaussian):
    """Corners must be whole numbers. Gives kept indices and new scores."""
    def make(rows, scores, threshold):
        wide = rows.astype(int)
        wide[:, 2:] -= wide[:, :2]
        boxes, ranks = wide.tolist(), scores.tolist()

        def call():
            return cv2.dnn.softNMSBoxes(boxes, ranks, 0.001, threshold, 0, 0.5,
                                        2 if gaussian else 1)

        def kept():
            new, indices = call()
            return set(np.ravel(indices).tolist()), np.sort(np.ravel(new))
        return call, kept
    return make


def by_opencv_rotated(rows, scores, threshold, angles):
    boxes = [((float(x1 + x2) / 2, float(y1 + y2) / 2), (float(x2 - x1), float(y2 - y1)),
              float(np.degrees(a))) for (x1, y1, x2, y2), a in zip(rows.astype(np.float64), angles)]
    ranks = scores.tolist()
    return (lambda: cv2.dnn.NMSBoxesRotated(boxes, ranks, 0.0, threshold)), None


# ------------------------------------------------------------------- agreement

class Report:
    def __init__(self):
        self.lines = {}

    def add(self, name, cause):
        counts = self.lines.setdefault(name, {})
        counts[cause] = counts.get(cause, 0) + 1

    def compare(self, name, result, theirs, threshold):
        """Compares `result (threshold)` with `theirs`. Returns whether they are equal."""
        t = np.float32(threshold)
        for k in (0, -2, -1, 1, 2):
            if result(float(t * np.float32(1 + k * CLOSE / 2))) == theirs:
                self.add(name, "rounding" if k else "equal")
                return k == 0
        self.add(name, "unexplained")
        return False


def random_boxes(seed, n=300, side=1.0):
    """Returns detector-like boxes with different scores, in 0..side."""
    rows, _, _ = detector_boxes(n, seed)
    rows -= rows.min()
    rows *= np.float32(side) / rows.max()
    rng = np.random.default_rng(seed)
    scores = (rng.permutation(n) + 1).astype(np.float32) / np.float32(n + 1)
    return np.minimum(rows, np.float32(side)), scores, rng


def agree_nms_and_merges(report, seed):
    rows, scores, rng = random_boxes(seed, side=640)
    for metric in ("iou", "ios"):
        threshold = float(rng.choice([0.3, 0.5, 0.7]))
        for method, library, function in (
                ("hard", by_sahi, "nms"), ("greedy-merge", by_sahi, "greedy_nmm"),
                ("merge", by_sahi, "nmm"), ("hard", by_supervision, "box_non_max_suppression"),
                ("greedy-merge", by_supervision, "box_non_max_merge")):
            name = f"{method} {metric}: {library.__name__[3:]} {function}"
            inclusive = function != "box_non_max_suppression"
            theirs = library(function, metric)(rows, scores, threshold)[1]()

            def result(t):
                call, clusters = ours(method, metric)(rows, scores, t, inclusive=inclusive)
                return set(call().kept.tolist()) if method == "hard" else clusters()
            if method == "hard":
                report.compare(name, result, theirs, threshold)
            elif report.compare(name, result, {k: set(v) for k, v in theirs.items()}, threshold):
                merged = ours(method, metric)(rows, scores, threshold, inclusive=True)[0]()
                boxes = boxes_of(library, function, rows, scores, threshold, metric)
                for head, box in zip(merged.kept.tolist(), merged.boxes.astype(np.float64)):
                    checked, dropped = rechecked_box(rows, head, theirs[head], threshold, metric)
                    report.add(name + ", boxes", "equal" if tuple(box) in boxes else
                               "rechecked" if dropped and checked in boxes else "unexplained")


def boxes_of(library, function, rows, scores, threshold, metric):
    """Returns the boxes that the library's objects make of clusters, as a set of rows."""
    if library is by_supervision:
        detections = supervision.Detections(xyxy=rows.copy(), confidence=scores.copy(),
                                            class_id=np.zeros(len(rows), int))
        boxes = detections.with_nmm(threshold=threshold, class_agnostic=True,
                                    overlap_metric=supervision.OverlapMetric[metric.upper()]).xyxy
    else:
        kind = combine.NMMPostprocess if function == "nmm" else combine.GreedyNMMPostprocess
        boxes = [p.bbox.to_xyxy() for p in kind(
            match_threshold=threshold, match_metric=metric.upper())(
                [ObjectPrediction(bbox=r.tolist(), score=float(s), category_id=0,
                                  category_name="0") for r, s in zip(rows, scores)])]
    return {tuple(map(float, b)) for b in boxes}


def rechecked_box(rows, head, members, threshold, metric):
    """Returns the box that SAHI makes of a cluster, and whether it dropped a member."""
    box, dropped = rows[head].astype(np.float64), False
    for member in rows[list(members)].astype(np.float64):
        low, high = np.maximum(box[:2], member[:2]), np.minimum(box[2:], member[2:])
        shared = np.prod(np.maximum(high - low, 0))
        areas = [np.prod(b[2:] - b[:2]) for b in (box, member)]
        if shared / (min(areas) if metric == "ios" else sum(areas) - shared) >= threshold:
            box = np.concatenate([np.minimum(box[:2], member[:2]), np.maximum(box[2:], member[2:])])
        else:
            dropped = True
    return tuple(box), dropped


def agree_weighted(report, seed):
    rows, scores, rng = random_boxes(seed)
    sources = rng.integers(0, 3, len(rows)).astype(np.int32)
    labels = rng.integers(0, 2, len(rows)).astype(np.int32)
    weights = np.float32([1.875, 1.28125, 0.59375])
    while len(np.unique(scores * weights[sources])) < len(rows):  # other weights if scores tie
        weights *= np.float32(1) + rng.random(3, np.float32) / np.float32(64)
    threshold = float(rng.choice([0.4, 0.55, 0.7]))
    for kind in ("avg", "max", "box-and-model-avg", "absent-model-aware-avg"):
        theirs = by_fusion(rows, scores, threshold, labels, sources, weights, kind)[1]()

        def same(t):
            result = ours("weighted")(rows, scores, t, class_ids=labels, sources=sources,
                                      source_weights=weights, fused_score=kind)[0]()
            table = np.column_stack([result.scores, result.boxes])
            return len(theirs) == len(table) and all(
                np.any(np.all(np.abs(table - row) <= CLOSE, axis=1)) for row in theirs)
        report.compare(f"weighted {kind}: ensemble_boxes", same, True, threshold)


def agree_soft(report, seed):
    rows, scores, rng = random_boxes(seed)
    threshold = float(rng.choice([0.3, 0.5]))
    whole = np.round(rows * 512).astype(np.float32)
    whole[:, 2:] = np.maximum(whole[:, 2:], whole[:, :2] + 1)
    for method, gaussian in (("soft-linear", False), ("soft-gaussian", True)):
        theirs = by_soft_nms(gaussian)(rows, scores, threshold)[1]()
        report.compare(f"{method}: ensemble_boxes soft_nms, kept boxes", lambda t: {
            tuple(r) for r in ours(method)(rows, scores, t)[0]().boxes.astype(np.float64)},
            theirs, threshold)
        kept, new = by_opencv_soft(gaussian)(whole, scores, threshold)[1]()

        def same(t):
            result = ours(method)(whole, scores, t)[0]()
            return set(result.kept.tolist()) == kept and np.allclose(
                np.sort(result.scores), new, rtol=1e-5, atol=1e-7)
        report.compare(f"{method}: OpenCV softNMSBoxes", same, True, threshold)


def agree():
    """Returns the number of differences without a cause."""
    report = Report()
    for seed in range(ROUNDS):
        for check in (agree_nms_and_merges, agree_weighted, agree_soft):
            check(report, seed)
    print(f"Agreement, {ROUNDS} sets of 300 boxes:")
    for name, counts in report.lines.items():
        print(f"  {name:58}", ", ".join(f"{n} {cause}" for cause, n in sorted(counts.items())))
    return sum(counts.get("unexplained", 0) for counts in report.lines.values())


# ----------------------------------------------------------------------- speed

def time_of(call, seconds=0.3):
    """Returns the processor times of at least 5 calls that take about `seconds` together."""
    times, end = [], time.thread_time() + seconds
    while len(times) < 5 or time.thread_time() < end:
        begin = time.thread_time()
        call()
        times.append(time.thread_time() - begin)
    return times


def speed():
    rows, scores, _ = detector_boxes(1000)
    unit = np.clip(rows / np.abs(rows).max() - rows.min() / np.abs(rows).max(), 0, 1)
    unit = unit.astype(np.float32)
    angles = np.random.default_rng(0).uniform(-1.5, 1.5, 1000).astype(np.float32)
    nothing = np.zeros(1000, np.int32)
    cases = [("weighted", "iou", "ensemble-boxes", unit,
              by_fusion(unit, scores, 0.5, nothing, nothing, None, "avg"), {}),
             ("soft-linear", "iou", "ensemble-boxes", unit,
              by_soft_nms(False)(unit, scores, 0.5), {}),
             ("soft-gaussian", "iou", "ensemble-boxes", unit,
              by_soft_nms(True)(unit, scores, 0.5), {}),
             ("soft-gaussian", "iou", "OpenCV", rows, by_opencv_soft(True)(rows, scores, 0.5), {}),
             ("hard", "iou", "OpenCV, rotated boxes", rows,
              by_opencv_rotated(rows, scores, 0.5, angles), {"angles": angles})]
    for metric in ("iou", "ios"):
        cases += [(method, metric, f"{library.__name__[3:]} {function}", rows,
                   library(function, metric)(rows, scores, 0.5), {})
                  for method, library, function in (
                      ("hard", by_sahi, "nms"), ("hard", by_supervision, "box_non_max_suppression"),
                      ("greedy-merge", by_sahi, "greedy_nmm"),
                      ("greedy-merge", by_supervision, "box_non_max_merge"),
                      ("merge", by_sahi, "nmm"))]
    print("\nProcessor time of a call, 1,000 detector-like boxes, threshold 0.5, medians:\n")
    print("| method, metric | other | its time | nmscore | x |\n|---|---|---:|---:|---:|")
    for method, metric, name, boxes, (theirs, _), options in cases:
        call = ours(method, metric)(boxes, scores, 0.5, **options)[0]
        theirs(), call()
        before = time_of(call)
        other = statistics.median(time_of(theirs))
        own = statistics.median(before + time_of(call))
        print(f"| {method}, {metric} | {name} | {other * 1e3:.3g} ms | {own * 1e3:.3f} ms | "
              f"{other / own:.0f} |", flush=True)


def main():
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    failed = agree()
    if "--agree" not in sys.argv:
        speed()
    if failed:
        print(f"{failed} differences have no known cause", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
