# SPDX-License-Identifier: LGPL-2.1-or-later
"""Exact non-maximum suppression (NMS) of boxes in arrays of numpy, torch and others.

    import nmscore
    keep = nmscore.nms(boxes, scores, 0.5)                 # indices, best first
    keep = nmscore.batched_nms(boxes, scores, labels, 0.5)  # each class by itself

    result = nmscore.run(boxes, scores, labels, class_agnostic=True, max_detections=300,
                         outcome=True)                      # all options and outputs

nms and batched_nms have the names, arguments and result order of torchvision.ops;
soft_nms, matrix_nms and weighted_boxes_fusion change scores or boxes; run has all methods
and options of the C library, run_batch does the same for many images in one call,
and count_neighbors counts the boxes that overlap each box.

Arrays   N boxes are an array (N, 4) of rows x1 y1 x2 y2, in any unit; each other
         array of a call has N numbers. An empty list is 0 boxes. Arrays, also views
         with strides, are read without a copy by the buffer protocol (numpy,
         array.array, memoryview) or by DLPack (tensors of torch and JAX in the memory
         of the CPU), if they hold float32, or int32 or int64 for whole numbers (int64
         only if all fit in int32), or uint8 or bool for `exclude`. Everything is
         computed in float32: float64 and integers are rounded to it once, to nearest,
         and become infinite beyond its range; float16 and bfloat16 are exact. A tensor
         that requires a gradient is read as if it were detached. Other objects that
         numpy.asarray accepts are converted, but masked arrays are an error: pass
         array[~mask] or array.data.
Results  are new numpy arrays: indices and counts are int64, so that they index arrays
         of numpy and torch. torch.from_numpy and torch.from_dlpack make tensors of
         them that share their memory.
Types    nmscore.Result, nmscore.BatchResult, nmscore.Outcome and nmscore.ClassOptions;
         all functions have type hints.
Rule     the boxes are decided by descending score, equal scores by index. A kept box
         suppresses later ones of its class whose IoU with it exceeds iou_threshold
         (0..1). Boxes with a NaN or infinite coordinate or a NaN score are never kept.
         nmscore.h, the C library's manual, says more.
Errors   TypeError for None, for arrays that do not hold numbers, for masked arrays and
         for options that are not numbers; ValueError for shapes that do not fit,
         options out of range and tensors in the memory of another device; RuntimeError
         where xla_strict is set and engine xla cannot run; MemoryError. The message of
         a TypeError or ValueError begins with the parameter's name. An array is never changed.
Threads  any number may call; a call with many boxes releases the interpreter's lock,
         and its arrays must not be written until it returns.
"""
from nmscore._batches import run_batch
from nmscore._boxes import iou, rows_from_cxcywh, rows_from_xywh
from nmscore._ensemble import weighted_boxes_fusion
from nmscore._frames import count_neighbors, run
from nmscore._nmscore import __version__
from nmscore._rescoring import matrix_nms, soft_nms
from nmscore._torchvision import batched_nms, nms
from nmscore._types import BatchResult as BatchResult
from nmscore._types import ClassOptions as ClassOptions
from nmscore._types import Outcome as Outcome
from nmscore._types import Result as Result

# Limits help () to the functions, because it would list all inherited methods of the types.
__all__ = ["nms", "batched_nms", "soft_nms", "matrix_nms", "weighted_boxes_fusion", "run",
           "run_batch", "count_neighbors", "iou", "rows_from_cxcywh", "rows_from_xywh",
           "__version__"]
