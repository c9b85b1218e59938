# SPDX-License-Identifier: LGPL-2.1-or-later
"""The workloads: arrays made from fixed seeds.

A workload is N boxes as float32 rows x1 y1 x2 y2, N float32 scores, for some an int32 class per
box, and the two options that every system has: the IoU threshold and max_detections (0: no limit).
With up to 32,768 boxes it has several frames, made from other seeds, which the calls take in turn.

Four kinds of layout:
  random    integer corners all over a 1024 x 1024 image, sides up to the image's:
            the workload of "Implementing Sequential Algorithms on TPU", its
            rounding of the corners to bfloat16 included
  detector  what a detector emits: about 12 boxes an object, jittered in place and
            size; the objects' density does not depend on N
  sparse    boxes of 20..100 pixels scattered over a large area, few of them overlap;
            the area grows with N (the density of 100,000 in 10,000 x 10,000)
  packed    the same boxes, but always in 10,000 x 10,000: denser as N grows
"""
import dataclasses
import fnmatch

import numpy as np

MOST_FRAMES, FRAME_BOXES = 64, 65_536  # frames of a workload, and boxes of all of them
OBJECT_BOXES = 12  # boxes a detector emits for one object
SPARSE_SIDE, SPARSE_COUNT = 10_000, 100_000


@dataclasses.dataclass
class Workload:
    name: str
    text: str  # for people: what it is
    iou: float
    cap: int
    frames: list  # (rows, scores, classes or None)

    @property
    def count(self):
        return len(self.frames[0][1])


def to_bfloat16(a):
    """Rounds float32 values to the nearest bfloat16, ties to even."""
    bits = a.astype(np.float32).view(np.uint32)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return bits.view(np.float32)


def random_boxes(n, image=1024, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.integers(1, image, (n, 2))
    corner = rng.integers(0, image - 1, (n, 2))
    far = np.clip(corner + size, 0, image - 1)
    return to_bfloat16(np.concatenate([corner, far], 1)), rng.random(n, dtype=np.float32), None


def detector_boxes(n, classes=0, seed=0):
    """With classes, all boxes of an object have its class."""
    rng = np.random.default_rng(seed)
    objects = max(1, n // OBJECT_BOXES)
    centre = rng.random((objects, 2)) * np.sqrt(objects) * 64
    extent = rng.uniform(16, 64, (objects, 2))
    of = rng.integers(0, objects, n)
    c = centre[of] + rng.normal(0, 0.12, (n, 2)) * extent[of]
    half = extent[of] * np.exp(rng.normal(0, 0.15, (n, 2))) / 2
    rows = np.concatenate([c - half, c + half], 1).astype(np.float32)
    scores = rng.random(n, dtype=np.float32)
    return rows, scores, (of % classes).astype(np.int32) if classes else None


def sparse_boxes(n, packed=False, seed=0):
    side = SPARSE_SIDE if packed else SPARSE_SIDE * np.sqrt(n / SPARSE_COUNT)
    rng = np.random.default_rng(seed)
    extent = rng.uniform(20, 100, (n, 2))
    corner = rng.random((n, 2)) * (side - extent)
    rows = np.concatenate([corner, corner + extent], 1).astype(np.float32)
    return rows, rng.random(n, dtype=np.float32), None


# name: text, IoU threshold, max_detections, maker and its arguments but for the seed
TABLE = {
    "a": ("random, as in Chaim Rand's TPU article", .1, 128, random_boxes, 1024),
    "b": ("random", .5, 0, random_boxes, 1024),
    "b2": ("detector-like", .5, 0, detector_boxes, 1024),
    "c": ("detector-like, a usual frame", .5, 0, detector_boxes, 100),
    "d1": ("detector-like", .5, 0, detector_boxes, 8400),
    "d2": ("random, best 300", .45, 300, random_boxes, 8400),
    "e": ("detector-like", .5, 0, detector_boxes, 25_200),
    "g": ("detector-like, 80 classes", .5, 0, detector_boxes, 8400, 80),
    "1k-sparse": ("sparse", .5, 0, sparse_boxes, 1000),
    "10k-sparse": ("sparse", .5, 0, sparse_boxes, 10_000),
    "100k": ("detector-like", .5, 0, detector_boxes, 100_000),
    "100k-sparse": ("sparse", .5, 0, sparse_boxes, 100_000),
    "1M": ("detector-like", .5, 0, detector_boxes, 1_000_000),
    "1M-packed": ("sparse boxes, ten times as dense", .5, 0, sparse_boxes, 1_000_000, True),
    "1M-sparse": ("sparse", .5, 0, sparse_boxes, 1_000_000),
    # the overhead of a call
    "one box": ("one box", .5, 0, detector_boxes, 1),
    "one box, classes": ("one box", .5, 0, detector_boxes, 1, 1),
}


def names(patterns):
    """Returns the workloads whose name matches one of the patterns."""
    return [n for n in TABLE if any(fnmatch.fnmatchcase(n, p) for p in patterns)]


def make(name):
    text, iou, cap, maker, *arguments = TABLE[name]
    frames = max(1, min(MOST_FRAMES, FRAME_BOXES // arguments[0]))
    return Workload(name, text, iou, cap,
                    [maker(*arguments, seed=seed) for seed in range(frames)])
