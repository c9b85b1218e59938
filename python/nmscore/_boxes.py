# SPDX-License-Identifier: LGPL-2.1-or-later
"""The overlap of two boxes, and other forms of boxes."""
from __future__ import annotations

from nmscore import _nmscore
from nmscore._types import Array, Rows


def iou(a: Array, b: Array) -> float:
    """Returns the IoU of two boxes, each 4 numbers x1 y1 x2 y2, rounded to float32.

    It is 0 if the boxes do not intersect, or if one has no area or is invalid. For tests
    and tools: nms and run compare overlaps without a division.
    """
    return _nmscore.iou(a, b)


def rows_from_cxcywh(rows: Array) -> Rows:
    """Returns boxes as rows x1 y1 x2 y2, a new float32 array (N, 4).

    rows             (N, 4) numbers, rows of centre x, centre y, width, height
    """
    return _nmscore.rows_from_cxcywh(rows)


def rows_from_xywh(rows: Array) -> Rows:
    """Returns boxes as rows x1 y1 x2 y2, a new float32 array (N, 4).

    rows             (N, 4) numbers, rows of x, y of the corner with the smallest
                     coordinates, width, height
    """
    return _nmscore.rows_from_xywh(rows)
