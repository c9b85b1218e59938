# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the boxes that two systems keep and finds the cause of each difference.

Differences cascade: a box kept by only one system suppresses others there. So the
boxes kept by one side only are walked in score order, and each needs a cause of CAUSES.
A box without any is `unexplained`, and run.py then ends with an error.
"""
import numpy as np

CAUSES = """\
- rounding: the overlap is within a few units of binary32 of the threshold, and the other system \
computes it in another way (in double, by a product, fused).
- zero area: OpenCV lets boxes without area suppress each other wherever they are.
- tie: the scores are equal.
- offset: corners were rounded when the classes were moved apart.
- follows: another box that differs caused it.
- approximate: QSI-NMS and eQSI-NMS keep other boxes by design.
"""
ROUNDING = 2e-6  # relative, a few units of binary32: areas and quotient round
OFFSET_ROUNDING = 5e-2


def overlaps(rows, i, others):
    """Returns the IoU of box i with others, in double, and whether both have no area."""
    a, b = rows[i].astype(np.float64), rows[others].astype(np.float64)
    shared = np.minimum(a[2:], b[:, 2:]) - np.maximum(a[:2], b[:, :2])
    inter = np.prod(np.maximum(shared, 0), axis=1)
    area, areas = np.prod(a[2:] - a[:2]), np.prod(b[:, 2:] - b[:, :2], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        iou = np.where(inter > 0, inter / (area + areas - inter), 0)
    return iou, (area <= 0) & (areas <= 0)


def compare(workload, ours, theirs, offset=False):
    """Classifies the differences between `theirs` (kept indices of a peer) and `ours`."""
    same_set = len(ours) == len(theirs) and np.array_equal(np.sort(ours), np.sort(theirs))
    report = {"kept": len(theirs), "same": bool(same_set), "only_ours": 0, "only_theirs": 0,
              "causes": {}}
    if same_set:
        return report
    only_ours, only_theirs = np.setdiff1d(ours, theirs), np.setdiff1d(theirs, ours)
    report |= {"only_ours": len(only_ours), "only_theirs": len(only_theirs)}
    causes = _Causes(workload, ours, theirs, offset)
    scores = workload.frames[0][1]
    differing = np.concatenate([only_ours, only_theirs])
    for box in differing[np.lexsort((differing, -scores[differing]))]:
        cause = causes.of(int(box))
        report["causes"][cause] = report["causes"].get(cause, 0) + 1
    if not len(differing):  # the same boxes, but one of them is listed twice
        report["causes"]["unexplained"] = 1
    return report


class _Causes:
    def __init__(self, workload, ours, theirs, offset):
        self.rows, self.scores, self.classes = workload.frames[0]
        self.iou, self.cap, self.offset = workload.iou, workload.cap, offset
        self.kept = {True: np.asarray(ours), False: np.asarray(theirs)}
        self.members = {side: set(map(int, kept)) for side, kept in self.kept.items()}
        self.ties = np.unique(self.scores).size < workload.count
        self.seen = False  # a difference of a better rank exists

    def of(self, box):
        cause = self._of(box)
        if cause != "unexplained":
            self.seen = True
        return cause

    def _of(self, box):
        scores, by_ours = self.scores, box in self.members[True]
        other = self.kept[not by_ours]
        rivals = other[(scores[other] >= scores[box]) & (other != box)]
        if self.classes is not None:
            rivals = rivals[self.classes[rivals] == self.classes[box]]
        iou, flat = overlaps(self.rows, box, rivals)
        suppressors = rivals[iou > self.iou * (1 - ROUNDING)]
        if self.seen and any(int(r) not in self.members[by_ours] for r in suppressors):
            return "follows"
        if np.any(np.abs(iou - self.iou) <= ROUNDING * self.iou):
            return "rounding"
        if np.any(flat):
            return "zero area"
        if self.ties and np.count_nonzero(scores == scores[box]) > 1:
            return "tie"
        if self.offset and self.classes is not None and np.any(
                np.abs(iou - self.iou) <= OFFSET_ROUNDING):
            return "offset"
        if self.seen and len(other) == self.cap and scores[box] <= scores[other].min():
            return "follows"
        return "unexplained"


def describe(report):
    """Returns a short text for a table."""
    if not report:
        return "-"
    if report["same"]:
        return "same"
    causes = ", ".join(f"{n} {cause}" for cause, n in sorted(report["causes"].items()))
    return f"+{report['only_theirs']} -{report['only_ours']}: {causes}"
