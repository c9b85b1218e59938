# SPDX-License-Identifier: LGPL-2.1-or-later
"""
tpucases: test cases for kernels, and their results by nmscore.run.
"""
import copy

import nmscore
import numpy as np

F = np.float32
ABSENT = np.int32(-2 ** 31)


class Case:
    """Boxes, scores, classes and options of one run."""

    def __init__(self, name, corners, score, picks, threshold=0.5, inclusive=False, classes=None,
                 agnostic=False, most=None, class_options=None, absent=None, parents=None):
        self.name = name
        self.corners = np.ascontiguousarray(corners, F)      # 4 x N
        self.score = np.ascontiguousarray(score, F)
        self.picks, self.threshold, self.inclusive = picks, F(threshold), inclusive
        self.classes = None if classes is None else np.ascontiguousarray(classes, np.int32)
        self.agnostic = agnostic
        self.most = picks if most is None else most
        self.class_options = class_options or {}             # class: (threshold, most or 0)
        self.parents = None if parents is None else np.ascontiguousarray(parents, np.int32)
        self.absent = np.zeros(self.score.shape, bool) if absent is None else absent

    @property
    def boxes(self):
        return self.score.size

    @property
    def class_caps(self):
        return any(most for _, most in self.class_options.values())

    def spec(self):
        """Returns the arguments of tpuprint."""
        return [f'boxes={self.boxes}', f'picks={self.picks}',
                f'classes={int(self.classes is not None)}',
                f'class_agnostic={int(self.agnostic)}',
                f'box_limits={int(bool(self.class_options))}',
                f'class_caps={int(self.class_caps)}',
                f'parents={int(self.parents is not None)}']

    def images(self, count):
        """Returns this case and others with the same options."""
        return [self] + [self.other(seed) for seed in range(1, count)]

    def other(self, seed):
        """Returns a case with the same options and other boxes: these in another order, in part
        absent if `seed` is 2."""
        g = np.random.default_rng(seed)
        case = copy.copy(self)
        order = g.permutation(self.boxes)
        case.corners = np.ascontiguousarray(self.corners[:, order])
        case.score = g.permutation(self.score)
        case.absent = self.absent | (g.uniform(0, 1, self.boxes) < 0.5 * (seed == 2))
        return case

    def result(self):
        """Returns the picks by nmscore, whose engines tests/core compares with the reference."""
        kept = nmscore.run(
            self.corners.T, self.score, self.classes, exclude=self.absent, parents=self.parents,
            iou_threshold=self.threshold, inclusive=self.inclusive, class_agnostic=self.agnostic,
            max_detections=self.most, engine='sorted',
            class_options={c: {'iou_threshold': threshold, 'max_detections': most}
                           for c, (threshold, most) in self.class_options.items()}).kept
        return np.pad(kept, (0, self.picks - kept.size), constant_values=-1)

    def per_box(self, field):
        """Returns a field of the class options for each box."""
        default = (self.threshold, 0)  # 0: no limit
        return [self.class_options.get(int(c), default)[field] for c in self.classes]

    def arguments(self, limit):
        """Returns the arguments of the module; limit (threshold, inclusive) returns three
        floats."""
        arguments = list(self.corners) + [order_key(self.score, self.absent)]
        parameters = np.zeros((8, 128), F)
        parameters[:3] = limit(self.threshold, self.inclusive)[:, None]
        parameters[3] = self.most
        arguments.append(parameters)
        if self.classes is not None and (self.class_caps or not self.agnostic):
            arguments.append(self.classes)
        if self.class_options:
            known = {t: limit(t, self.inclusive) for t in set(self.per_box(0))}
            arguments += list(np.ascontiguousarray(
                np.stack([known[t] for t in self.per_box(0)], 1), F))
        if self.class_caps:
            arguments.append(np.array(self.per_box(1), np.int32))
        if self.parents is not None:
            arguments.append(self.parents)
        return arguments


def order_key(score, absent):
    """Returns integers that order like the scores; -0 equals 0."""
    bits = (score + F(0)).view(np.int32)
    key = np.where(bits < 0, bits ^ 0x7fffffff, bits).astype(np.int32)
    return np.where(absent, ABSENT, key).astype(np.int32)


def boxes_of(g, n, extent=0.2, area=1.0):
    """Makes boxes of random positions and sizes in a square."""
    centre = g.uniform(0, area, (2, n))
    half = g.uniform(0, extent, (2, n)) / 2
    low, high = (centre - half).astype(F), (centre + half).astype(F)
    return np.stack([low[0], low[1], high[0], high[1]])


def grid_boxes(g, n, side=8, most=5):
    """Makes boxes of small integers: many overlaps equal a threshold such as 1/2."""
    low = g.integers(0, side, (2, n))
    high = low + g.integers(1, most, (2, n))
    return np.stack([low[0], low[1], high[0], high[1]]).astype(F)


def borderline_boxes(g, n, threshold, inclusive):
    """Makes pairs whose overlap is close to the least number that rounds to more than
    the threshold: of many pairs the nearest, about 2^-30 away."""
    half, tries = (n + 1) // 2, 300
    x1, y1 = g.uniform(1, 2, (2, tries, half)).astype(F) + F(4) * np.arange(half, dtype=F)
    width, height = g.uniform(0.5, 1, (2, tries, half)).astype(F)
    x2, y2 = x1 + width, y1 + height
    # b inside a, of the same height: inter / union = width_b / width_a
    cut = (x1 + (x2 - x1).astype(np.float64) * float(threshold)).astype(F)
    cut = (cut.view(np.int32) + g.integers(-2, 3, cut.shape).astype(np.int32)).view(F)
    inter, area = (cut - x1) * (y2 - y1), (x2 - x1) * (y2 - y1)
    other = np.nextafter(F(threshold), F(-1 if inclusive else 2)).astype(np.float64)
    middle = (float(F(threshold)) + other) / 2
    away = np.abs(inter.astype(np.float64) / ((area + inter) - inter) - middle)
    best = np.argmin(away, 0)[None]
    a, b = (np.stack([np.take_along_axis(c, best, 0)[0] for c in box])
            for box in ([x1, y1, x2, y2], [x1, y1, cut, y2]))
    return np.concatenate([a, b], 1)[:, :n]


def cases():
    """Makes the cases: every kind of input, each with a name."""
    g = np.random.default_rng(20)
    n = 600
    some = boxes_of(g, n, 0.5)
    score = g.uniform(0, 1, n)
    few = g.integers(-3, 4, n) * 1000003
    grid, levels = grid_boxes(g, n), g.integers(0, 40, n)

    yield Case('random', boxes_of(g, 1024), g.uniform(0, 1, 1024), 128)
    yield Case('dense', boxes_of(g, 1024, 1.0), g.normal(0, 1, 1024), 128, 0.1)
    yield Case('ties', some, g.integers(0, 4, n), 128, 0.3)
    yield Case('all tied', some, np.zeros(n), 128, 0.3)
    yield Case('grid', grid, levels, 300, 0.5)
    yield Case('grid, inclusive', grid, levels, 300, 0.5, True)
    yield Case('grid, a third', grid, levels, 300, 1 / 3, True)
    yield Case('exhausted', boxes_of(g, 200, 1.0), g.uniform(0, 1, 200), 200, 0.1)
    yield Case('few picks', some, score, 3, 0.4)
    yield Case('run-time cap', some, score, 128, 0.4, most=17)
    yield Case('one box', some[:, :1], score[:1], 1)
    yield Case('two boxes', some[:, :2], score[:2], 2)
    for k in (127, 128, 129, 257):
        yield Case(f'{k} boxes', some[:, :k], score[:k], k, 0.2)
    yield Case('all kept', boxes_of(g, 300, 0.001), g.uniform(0, 1, 300), 300, 0.5)
    yield Case('absent', some, score, 128, 0.4, absent=g.uniform(0, 1, n) < 0.7)
    yield Case('none there', some[:, :9], score[:9], 9, absent=np.ones(9, bool))
    yield Case('scores', some[:, :12], [np.inf, -np.inf, 0.0, -0.0, 1e-40, 2e-40, -1e-40, 3e38,
                                        -3e38, 1e-45, np.inf, -np.inf], 12, 0.9)
    yield Case('classes', some, score, 128, 0.4, classes=few)
    yield Case('extreme classes', some, score, 128, 0.4,
               classes=np.where(g.uniform(0, 1, n) < 0.5, -2 ** 31, 2 ** 31 - 1))
    yield Case('agnostic', some, score, 128, 0.4, classes=few, agnostic=True)
    yield Case('class limits', some, score, 128, 0.4, classes=few,
               class_options={-1000003: (0.2, 0), 2000006: (0.9, 0), 0: (0.0, 0)})
    yield Case('class caps', some, score, 128, 0.4, classes=few,
               class_options={-1000003: (0.2, 3), 2000006: (0.9, 5), 0: (0.4, 1)})
    yield Case('caps, agnostic', some, score, 128, 0.6, classes=few, agnostic=True,
               class_options={-1000003: (0.6, 3), 2000006: (0.3, 5)})
    yield Case('1100 boxes', boxes_of(g, 1100, 0.3), g.integers(0, 40, 1100), 150, 0.4,
               absent=g.uniform(0, 1, 1100) < 0.9)
    yield Case('5000 boxes', boxes_of(g, 5000, 0.1), g.integers(0, 999, 5000), 40, 0.4)

    yield Case('5000 boxes, tied', boxes_of(g, 5000, 0.01), np.zeros(5000), 12, 0.4)

    same = np.repeat(boxes_of(g, 30), 4, 1)
    yield Case('identical, threshold 1', same, g.integers(0, 3, 120), 120, 1.0)
    yield Case('identical, from 1', same, g.integers(0, 3, 120), 120, 1.0, True)
    flat = boxes_of(g, 200, 1.0)
    flat[2, ::3] = flat[0, ::3]
    flat[3, 1::3] = flat[1, 1::3]
    yield Case('without area', flat, g.uniform(0, 1, 200), 200, 0.0)
    yield Case('without area, from 0', flat, g.uniform(0, 1, 200), 200, 0.0, True)
    # extents around 2^-50, the least extent that counts
    low = F(2.0 ** -50) * g.integers(0, 4, (2, 200)).astype(F)
    high = low + F(2.0 ** -50) * g.choice([0, 0.5, 1, 1.5, 2, 3], (2, 200)).astype(F)
    thin = np.stack([low[0], low[1], high[0], high[1]])
    for threshold in (0.0, 0.3):
        yield Case(f'smallest extents, {threshold:g}', thin, g.uniform(0, 1, 200), 200, threshold)
    far = np.clip(boxes_of(g, 200, 1.0) * F(2e18) - F(1e18), F(-1e18), F(1e18))
    yield Case('far', far, g.uniform(0, 1, 200), 200, 0.2)
    yield Case('a quotient of 2^-150', np.array([[-2.0 ** 59, 0], [-2.0 ** 59, 0], [2.0 ** 59,
               2.0 ** -15], [2.0 ** 59, 2.0 ** -15]]), [2, 1], 2, 0.0)
    # quotients that round to 0: a tiny box in the corner of the greatest boxes
    crumbs = np.stack([F(2.0 ** -48) * g.integers(-1, 1, 40), F(2.0 ** -49) * np.ones(40),
                       g.choice([2.0 ** -47, 1e18], 40), g.choice([2.0 ** -46, 1e18], 40)])
    for inclusive in (False, True):
        yield Case(f'quotients near 0, {inclusive}', crumbs, g.uniform(0, 1, 40), 40, 0.0,
                   inclusive)
    for scale in (1.0, 2.0 ** -48, 2.0 ** 50):
        for threshold in (0.5, 0.3, 0.7, 0.1, 1 - 2.0 ** -24, 0.001, 0.45, 0.999):
            inclusive = bool(g.integers(2))
            boxes = borderline_boxes(g, 240, threshold, inclusive) * F(scale)
            yield Case(f'borderline {threshold:g} {scale:g}', boxes, g.permutation(240), 240,
                       threshold, inclusive)

    g = np.random.default_rng(21)
    two = np.where(g.uniform(0, 1, 1024) < 0.1, -2 ** 31, 0)
    yield Case('a cap beyond a block', boxes_of(g, 1024, 0.02), g.uniform(0, 1, 1024), 400, 0.4,
               classes=two, class_options={0: (0.4, 200), -2 ** 31: (0.0, 9)})
    yield Case('1100 boxes with caps', boxes_of(g, 1100, 0.3), g.integers(0, 40, 1100), 150, 0.4,
               classes=g.integers(-1, 3, 1100), class_options={0: (0.1, 20), 1: (0.8, 0)})
    # classes of which the last candidate of a word is at the cap
    yield Case('caps at the ends of words', boxes_of(g, 300, 0.001), np.arange(300, 0, -1), 300,
               classes=np.arange(300) // 32, class_options={c: (0.5, 31 + c % 3) for c in range(9)})

    g = np.random.default_rng(22)
    for n in (300, 1100):
        score, classes = g.integers(0, 40, n), g.integers(-1, 3, n)
        boxes = boxes_of(g, n, 0.3)
        centre = boxes[:2] + boxes[2:]
        distance = ((centre[:, :, None] - centre[:, None]) ** 2).sum(0) + 9 * np.eye(n)
        near = np.argmin(distance, 0)  # the box whose centre is nearest
        yield Case(f'{n} boxes with parents', boxes, score, 100, 0.1, parents=near)
        yield Case(f'{n} boxes with parents and caps', boxes, score, 100, 0.1, classes=classes,
                   class_options={0: (0.2, 20), 1: (0.8, 0)}, absent=g.uniform(0, 1, n) < 0.3,
                   parents=np.where(classes < 0, [-2 ** 31, 2 ** 31 - 1][n > 300], near))
