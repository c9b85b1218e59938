# SPDX-License-Identifier: LGPL-2.1-or-later
"""Exact non-maximum suppression (NMS) of boxes in numpy arrays.

    import nmscore
    keep = nmscore.nms(boxes, scores, 0.5)                 # indices, best first
    keep = nmscore.batched_nms(boxes, scores, labels, 0.5)  # classes apart

The functions have the names, arguments and result order of torchvision.ops.

Arrays   boxes: (N, 4), rows of x1 y1 x2 y2; scores: (N,); idxs: (N,), whole
         numbers, any value. float32 arrays are read where they are, views with
         strides included; float64 and integers are rounded once to float32,
         which is what all is computed in. Anything that numpy.asarray accepts
         will do, CPU tensors too.
Result   a new int64 array: the indices of the kept boxes, by descending score,
         equal scores by index.
Rule     a kept box suppresses later ones whose IoU with it exceeds
         iou_threshold (0..1). Boxes with a NaN or infinite coordinate or a NaN
         score are never kept. nmscore.h, the C library's manual, says more.
Errors   TypeError for arrays of no number type, ValueError for shapes that do
         not fit and options out of range. An array is never changed.
Threads  any; large calls release the interpreter's lock.
"""
from nmscore._nmscore import __version__, run as _run

__all__ = ["nms", "batched_nms", "__version__"]

_ALL = float("-inf")


def nms(boxes, scores, iou_threshold, *, score_threshold=_ALL, max_detections=0):
    """Indices of the boxes that NMS keeps, best first (an int64 array).

    boxes: (N, 4) x1 y1 x2 y2. scores: (N,). iou_threshold: 0..1, overlap above
    which the lower box goes. Beyond torchvision's arguments: score_threshold,
    boxes with a lower score do not take part; max_detections, most boxes kept,
    0 for no limit.
    """
    return _run(boxes, scores, None, iou_threshold, score_threshold, max_detections)


def batched_nms(boxes, scores, idxs, iou_threshold, *, score_threshold=_ALL, max_detections=0):
    """As nms, but boxes suppress only those with the same value in idxs: (N,)
    whole numbers, such as class labels or image numbers."""
    return _run(boxes, scores, idxs, iou_threshold, score_threshold, max_detections)
