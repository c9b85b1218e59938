# SPDX-License-Identifier: LGPL-2.1-or-later
"""
mosaiccases: boxes to try a kernel with, and what the reference makes of them.
"""
import ctypes

import numpy as np

F = np.float32
ABSENT = np.int32(-2 ** 31)
UNLIMITED = np.int32(2 ** 31 - 1)


class Case:
    """Boxes, scores, classes and options of one run."""

    def __init__(self, name, corners, score, picks, threshold=0.5, inclusive=False, classes=None,
                 agnostic=False, most=None, class_options=None, absent=None):
        self.name = name
        self.corners = np.ascontiguousarray(corners, F)      # 4 x N
        self.score = np.ascontiguousarray(score, F)
        self.picks, self.threshold, self.inclusive = picks, F(threshold), inclusive
        self.classes = None if classes is None else np.ascontiguousarray(classes, np.int32)
        self.agnostic = agnostic
        self.most = picks if most is None else most
        self.class_options = class_options or {}             # class: (threshold, most or 0)
        self.absent = np.zeros(self.score.shape, bool) if absent is None else absent

    @property
    def boxes(self):
        return self.score.size

    @property
    def class_caps(self):
        return any(most for _, most in self.class_options.values())

    def spec(self):
        """The words for mosaicprint."""
        return [f'boxes={self.boxes}', f'picks={self.picks}',
                f'classes={int(self.classes is not None)}',
                f'class_agnostic={int(self.agnostic)}',
                f'box_limits={int(bool(self.class_options))}',
                f'class_caps={int(self.class_caps)}']

    def per_box(self, field):
        """A field of the class options, spread over the boxes."""
        default = (self.threshold, 0)
        return [self.class_options.get(int(c), default)[field] for c in self.classes]

    def arguments(self, limit):
        """What the module takes; limit (threshold, inclusive) gives four floats."""
        arguments = list(self.corners) + [order_key(self.score, self.absent)]
        parameters = np.zeros((8, 128), F)
        parameters[:4] = limit(self.threshold, self.inclusive)[:, None]
        parameters[4] = self.most
        arguments.append(parameters)
        if self.classes is not None:
            arguments.append(self.classes)
        if self.class_options:
            known = {t: limit(t, self.inclusive) for t in set(self.per_box(0))}
            arguments.append(np.ascontiguousarray(
                np.stack([known[t] for t in self.per_box(0)], 1), F))
        if self.class_caps:
            arguments.append(np.array([m or UNLIMITED for m in self.per_box(1)], np.int32))
        return arguments


def order_key(score, absent):
    """Integers in the order of the scores; -0 is 0."""
    bits = (score + F(0)).view(np.int32)
    key = np.where(bits < 0, bits ^ 0x7fffffff, bits).astype(np.int32)
    return np.where(absent, ABSENT, key).astype(np.int32)


class Reference:
    """tests/support/reference.c."""

    def __init__(self, library):
        self.function = ctypes.CDLL(library).refrun

    def __call__(self, case):
        there = np.flatnonzero(~case.absent)
        columns = [np.ascontiguousarray(c[there]) for c in case.corners]
        score = np.ascontiguousarray(case.score[there])
        classes = None if case.classes is None else np.ascontiguousarray(case.classes[there])
        options = sorted(case.class_options.items())
        ids = np.array([c for c, _ in options], np.int32)
        thresholds = np.array([t for _, (t, _) in options], F)
        most = np.array([m for _, (_, m) in options], np.uint64)
        kept = np.zeros(there.size + 1, np.int32)

        def pointer(a):
            return None if a is None else a.ctypes.data_as(ctypes.c_void_p)
        corners = (ctypes.c_void_p * 4)(*[c.ctypes.data for c in columns])
        count = self.function(
            ctypes.c_size_t(there.size), corners, pointer(score), pointer(classes),
            ctypes.c_float(case.threshold), int(case.inclusive), int(case.agnostic),
            ctypes.c_uint64(case.most), ctypes.c_size_t(ids.size), pointer(ids),
            pointer(thresholds), pointer(most), pointer(kept))
        picks = np.full(case.picks, -1, np.int32)
        picks[:count] = there[kept[:count]]
        return picks


def boxes_of(g, n, extent=0.2, area=1.0):
    """Boxes of random places and sizes in a square."""
    centre = g.uniform(0, area, (2, n))
    half = g.uniform(0, extent, (2, n)) / 2
    low, high = (centre - half).astype(F), (centre + half).astype(F)
    return np.stack([low[0], low[1], high[0], high[1]])


def grid_boxes(g, n, side=8, most=5):
    """Boxes of small integers: many meet a threshold such as 1/2 exactly."""
    low = g.integers(0, side, (2, n))
    high = low + g.integers(1, most, (2, n))
    return np.stack([low[0], low[1], high[0], high[1]]).astype(F)


def borderline_boxes(g, n, threshold):
    """Pairs whose overlap lies within some units in the last place of the
    threshold: b is a with one side moved, to where inter / union is about t."""
    half = (n + 1) // 2
    x1, y1 = g.uniform(1, 2, (2, half)).astype(F) + F(4) * np.arange(half, dtype=F)
    width, height = g.uniform(0.5, 1, (2, half)).astype(F)
    x2, y2 = x1 + width, y1 + height
    # b inside a, of the same height: inter / union = width_b / width_a
    cut = (x1 + (x2 - x1).astype(np.float64) * float(threshold)).astype(F)
    cut = (cut.view(np.int32) + g.integers(-2, 3, half).astype(np.int32)).view(F)
    a, b = np.stack([x1, y1, x2, y2]), np.stack([x1, y1, cut, y2])
    return np.concatenate([a, b], 1)[:, :n]
