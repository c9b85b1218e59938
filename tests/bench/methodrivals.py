# SPDX-License-Identifier: LGPL-2.1-or-later
"""Other implementations of the methods: libraries, and formulas of projects whose code needs a
framework or a network (SOLOv2, MediaPipe), written with numpy from their sources.

Each function returns a call without arguments, which is what is timed, and a function that brings
its result into the form that methods.py compares."""
import warnings

import numpy as np

warnings.filterwarnings("ignore")


# ----------------------------------------------------------- ensemble-boxes

def ensemble_boxes_lists(rows, scores, labels, sources, count):
    """Returns the lists of ensemble_boxes, one element for each source, and their indices."""
    of = np.zeros(len(rows), int) if sources is None else sources
    chosen = [np.flatnonzero(of == s) for s in range(count)]
    labels = np.zeros(len(rows), int) if labels is None else labels
    return ([rows[i].astype(np.float64) for i in chosen],
            [scores[i].astype(np.float64) for i in chosen], [labels[i] for i in chosen])


def weighted_boxes_fusion(rows, scores, threshold, labels=None, sources=None, weights=None,
                          fused_score="avg"):
    """Corners must lie in 0..1. Gives boxes and scores, by descending score."""
    from ensemble_boxes import weighted_boxes_fusion as fusion
    count = 1 if weights is None else len(weights)
    lists = ensemble_boxes_lists(rows, scores, labels, sources, count)
    conf_type = fused_score.replace("-", "_")

    def call():
        return fusion(*lists, weights=weights, iou_thr=threshold, conf_type=conf_type)

    def fused():
        boxes, fused_scores, _ = call()
        return boxes, fused_scores
    return call, fused


def soft_nms(rows, scores, threshold, gaussian, sigma=0.5, least=0.001):
    """Gives the corners of the kept boxes in the order of their new scores."""
    from ensemble_boxes import soft_nms as soft
    lists = ensemble_boxes_lists(rows, scores, None, None, 1)

    def call():
        return soft(*lists, method=2 if gaussian else 1, iou_thr=threshold, sigma=sigma,
                    thresh=least)
    return call, lambda: call()[0]


# ------------------------------------------------------------------ rotated

def opencv_rotated(rows, angles, scores, threshold):
    """Gives kept indices."""
    import cv2
    wide = rows.astype(np.float64)
    boxes = [((float(x1 + x2) / 2, float(y1 + y2) / 2), (float(x2 - x1), float(y2 - y1)),
              float(np.degrees(angle))) for (x1, y1, x2, y2), angle in zip(wide, angles)]
    ranks = scores.tolist()

    def call():
        return cv2.dnn.NMSBoxesRotated(boxes, ranks, 0.0, threshold)
    return call, lambda: np.ravel(call()).tolist()


def polygon(row, angle):
    (x1, y1, x2, y2), cos, sin = row.astype(np.float64), np.cos(angle), np.sin(angle)
    w, h = (x2 - x1) / 2, (y2 - y1) / 2
    return [((x1 + x2) / 2 + cos * x - sin * y, (y1 + y2) / 2 + sin * x + cos * y)
            for x, y in ((-w, -h), (w, -h), (w, h), (-w, h))]


def clipped_area(polygon, window):
    """Returns the area of a convex polygon within another one (Sutherland and Hodgman)."""
    for (ax, ay), (bx, by) in zip(window, window[1:] + window[:1]):
        side = [(bx - ax) * (y - ay) - (by - ay) * (x - ax) for x, y in polygon]
        before, polygon = polygon, []
        for i, (x, y) in enumerate(before):
            if (side[i - 1] >= 0) != (side[i] >= 0):
                t = side[i - 1] / (side[i - 1] - side[i])
                polygon.append((before[i - 1][0] + t * (x - before[i - 1][0]),
                                before[i - 1][1] + t * (y - before[i - 1][1])))
            if side[i] >= 0:
                polygon.append((x, y))
    return sum(polygon[i - 1][0] * y - polygon[i - 1][1] * x
               for i, (x, y) in enumerate(polygon)) / 2


def clipping(rows, angles, scores, threshold, contained_is_one=False):
    """NMS of rotated boxes by clipping polygons in double. Gives kept indices, and the least
    distance of an overlap from the threshold. `contained_is_one`: as OpenCV, which counts the
    overlap of a box with one that lies within it as 1."""
    polygons = [polygon(*box) for box in zip(rows, angles)]
    areas = np.prod(rows[:, 2:].astype(np.float64) - rows[:, :2], axis=1)
    kept, nearest = [], 1.0
    for i in np.argsort(-scores, kind="stable"):
        for k in kept:
            shared = clipped_area(polygons[i], polygons[k])
            overlap = shared / (areas[i] + areas[k] - shared)
            if contained_is_one and shared >= min(areas[i], areas[k]) * (1 - 1e-6):
                overlap = 1.0
            nearest = min(nearest, abs(overlap - threshold))
            if overlap > threshold:
                break
        else:
            kept.append(int(i))
    return kept, nearest


# ------------------------------------------------------------------- OpenCV

def opencv_soft(rows, scores, threshold, gaussian, sigma=0.5, least=0.001):
    """Corners must be whole numbers. Gives kept indices and new scores."""
    import cv2
    wide = rows.astype(int)
    wide[:, 2:] -= wide[:, :2]
    boxes, ranks = wide.tolist(), scores.tolist()

    def call():
        return cv2.dnn.softNMSBoxes(boxes, ranks, least, threshold, 0, sigma, 2 if gaussian else 1)

    def kept():
        new, indices = call()
        return np.asarray(indices).reshape(-1), np.asarray(new).reshape(-1)
    return call, kept


# --------------------------------------------------------------------- SAHI

def sahi(rows, scores, threshold, method, metric):
    """Gives {head: members}; `method` is nms, greedy_nmm or nmm. Its fastest backend on a CPU,
    numba, is chosen by itself, because ensemble-boxes needs numba, too."""
    from sahi.postprocess import combine
    table = np.column_stack([rows, scores, np.zeros(len(rows))]).astype(np.float32)
    function = getattr(combine, method)

    def call():
        return function(table, metric.upper(), threshold)

    def groups():
        result = call()
        return result if isinstance(result, dict) else {i: None for i in result}
    return call, groups


def sahi_boxes(rows, scores, threshold, method, metric):
    """Returns the boxes that SAHI's postprocessing objects make, as rows."""
    from sahi.postprocess import combine
    from sahi.prediction import ObjectPrediction
    kinds = {"greedy_nmm": combine.GreedyNMMPostprocess, "nmm": combine.NMMPostprocess}
    predictions = [ObjectPrediction(bbox=r.tolist(), score=float(s), category_id=0,
                                    category_name="0") for r, s in zip(rows, scores)]
    merged = kinds[method](match_threshold=threshold, match_metric=metric.upper())(predictions)
    return np.array([p.bbox.to_xyxy() for p in merged], np.float64)


# -------------------------------------------------------------- supervision

def supervision_nms(rows, scores, threshold, metric):
    import supervision as sv
    table = np.column_stack([rows, scores]).astype(np.float32)
    kind = sv.OverlapMetric[metric.upper()]

    def call():
        return sv.box_non_max_suppression(table, threshold, kind)
    return call, lambda: {int(i): None for i in np.flatnonzero(call())}


def supervision_merge(rows, scores, threshold, metric):
    """Gives {head: members}."""
    import supervision as sv
    table = np.column_stack([rows, scores]).astype(np.float32)
    kind = sv.OverlapMetric[metric.upper()]

    def call():
        return sv.box_non_max_merge(table, threshold, kind)
    return call, lambda: {g[0]: g[1:] for g in call()}


def supervision_boxes(rows, scores, threshold, metric):
    """Returns the boxes of Detections.with_nmm, as rows."""
    import supervision as sv
    detections = sv.Detections(xyxy=rows.copy(), confidence=scores.copy(),
                               class_id=np.zeros(len(rows), int))
    merged = detections.with_nmm(threshold=threshold, class_agnostic=True,
                                 overlap_metric=sv.OverlapMetric[metric.upper()])
    return merged.xyxy


# ------------------------------------------------------- formulas with numpy

def overlaps(a, b, metric="iou"):
    """Returns the metric of every box of a and every box of b, in the precision of a."""
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, 2:], b[None, :, 2:])
    inter = np.prod(np.maximum(high - low, 0), axis=2)
    area_a, area_b = (np.prod(x[:, 2:] - x[:, :2], axis=1) for x in (a, b))
    union = area_a[:, None] + area_b[None] - inter
    if metric == "ios":
        return inter / np.minimum(area_a[:, None], area_b[None])
    return inter / union


def matrix(rows, scores, gaussian, sigma=2.0):
    """Matrix NMS as in SOLOv2's source. Gives the new score of each box."""
    order = np.argsort(-scores, kind="stable")
    boxes = rows[order]

    def call():
        iou = np.triu(overlaps(boxes, boxes), 1)
        compensate = iou.max(0)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            if gaussian:
                decay = np.exp(-sigma * iou ** 2) / np.exp(-sigma * compensate ** 2)
            else:
                decay = (1 - iou) / (1 - compensate)
        return np.nanmin(decay, axis=0)

    def new():
        result = np.empty(len(rows))
        result[order] = scores[order] * call()
        return result
    return call, new


def mediapipe_average(rows, scores, threshold):
    """MediaPipe's WEIGHTED: Gives {head: members}, and the mean boxes by head."""
    order = np.argsort(-scores, kind="stable")

    def call():
        left, groups, means = order, {}, {}
        while len(left):
            hit = overlaps(rows[left[:1]], rows[left])[0] > threshold
            hit[0] = True
            members = left[hit]
            weights = scores[members].astype(np.float64)
            groups[int(left[0])] = members[1:].tolist()
            means[int(left[0])] = (rows[members] * weights[:, None]).sum(0) / weights.sum()
            left = left[~hit]
        return groups, means
    return call, call
