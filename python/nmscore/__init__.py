# SPDX-License-Identifier: LGPL-2.1-or-later
"""Exact non-maximum suppression (NMS) of boxes in numpy arrays.

    import nmscore
    keep = nmscore.nms(boxes, scores, 0.5)                 # indices, best first
    keep = nmscore.batched_nms(boxes, scores, labels, 0.5)  # classes apart

The functions have the names, arguments and result order of torchvision.ops.

Arrays   boxes: (N, 4), rows of x1 y1 x2 y2 in any unit; scores: (N,); idxs:
         (N,), whole numbers, any value. An empty list is 0 boxes. float32 arrays
         are read where they are, views with strides included; float64 and
         integers are rounded once to float32, in which everything is computed.
         All that numpy.asarray accepts is read, CPU tensors too, except masked
         arrays: pass array[~mask] or array.data.
Result   a new int64 array: the indices of the kept boxes, by descending score,
         equal scores by index.
Rule     a kept box suppresses later ones whose IoU with it exceeds
         iou_threshold (0..1). Boxes with a NaN or infinite coordinate or a NaN
         score are never kept. nmscore.h, the C library's manual, says more.
Errors   TypeError for None, for arrays that do not hold numbers, for masked
         arrays and for options that are not numbers; ValueError for shapes that
         do not fit and options out of range. The message begins with the
         parameter's name. An array is never changed.
Threads  any; large calls release the interpreter's lock.
"""
from nmscore._nmscore import __version__, run as _run

__all__ = ["nms", "batched_nms", "__version__"]

_ALL = float("-inf")


def nms(boxes, scores, iou_threshold, *, score_threshold=_ALL, max_detections=0):
    """Returns the indices of the boxes that NMS keeps, best first (an int64 array).

    boxes            (N, 4), rows of x1 y1 x2 y2 in any unit; [] for no boxes
    scores           (N,), higher is better
    iou_threshold    0..1: a box whose IoU with a kept box of higher score exceeds
                     it is suppressed

    Beyond torchvision's arguments:

    score_threshold  boxes with a lower score take no part: they are neither kept
                     nor suppress others
    max_detections   the largest number of boxes kept, 0 for no limit

    The overlap is compared exactly: one that equals the threshold, such as 1/10 at
    0.1, does not suppress. torchvision rounds the overlap to float32 and not the
    threshold, so that it suppresses such boxes too at 0.1, 1/3, 0.6 and others.

    Raises TypeError or ValueError, with the name of the parameter.
    """
    return _run(boxes, scores, iou_threshold, score_threshold, max_detections)


def batched_nms(boxes, scores, idxs, iou_threshold, *, score_threshold=_ALL, max_detections=0):
    """Runs nms on boxes of several classes or images at once, and returns what nms does.

    idxs             (N,) whole numbers, such as class labels or image numbers:
                     boxes suppress only boxes with the same value

    The other parameters are those of nms; max_detections limits all classes together.
    The overlap is compared exactly; torchvision rounds it.
    """
    return _run(boxes, scores, iou_threshold, score_threshold, max_detections, idxs)
