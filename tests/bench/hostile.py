#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""hostile: times each method and metric on boxes that are chosen to be slow.

The kinds of boxes in KINDS use weaknesses that were found by reading or by timing. docs/speed.md
describes the table. A call that takes --most times as long as natural boxes, and half a second, is
ended. Times are the least of some calls, because other programs only add to the processor time.
"""
import argparse
import functools
import math
import multiprocessing
import signal
import statistics

import nmscore
import numpy as np
import report

METHODS = ("neighbors", "hard", "soft-linear", "soft-gaussian", "matrix-linear", "matrix-gaussian",
           "weighted", "merge", "greedy-merge", "average")  # neighbors: count_neighbors
METRICS = {"neighbors": ["iou"], "hard": ["iou", "ios", "diou", "giou", "probiou"]}
NAMES = [f"{method}, {metric}" for method in METHODS
         for metric in METRICS.get(method, ["iou", "ios", "probiou"])]
LIMIT = {"hard, iou": 4}  # for the others 10
ENOUGH = 0.03  # seconds after which no call begins


# ----------------------------------------------------------------------- boxes

def put(x, y, w, h):
    """Returns rows of boxes, one for each element of the arguments, which are broadcast."""
    return np.stack(np.broadcast_arrays(*map(np.atleast_1d, (x, y, x + w, y + h))), 1)


class Draw:
    """Random boxes. Those of the kinds depend on their number only."""

    def __init__(self, n, rng=None):
        self.n, self.i, self.rng = n, np.arange(n), rng or np.random.default_rng(n)
        self.field = 60 * math.sqrt(n / 5 + 1)  # sides of the square that natural boxes lie in

    def unit(self, low=0, high=1):
        return self.rng.uniform(low, high, self.n)

    def spread(self, low, high):
        """Returns numbers that are even on a logarithmic scale."""
        return low * np.exp(self.unit(0, math.log(high / low)))

    def natural(self):
        """Returns about five boxes for each object, as from a detector, and sets their angles."""
        objects = self.n // 5 + 1
        of = self.rng.integers(objects, size=self.n)
        x, y = self.rng.uniform(0, self.field, (2, objects))[:, of]
        w, h = self.rng.uniform(20, 60, (2, objects))[:, of]
        self.angles = self.rng.uniform(0, 3, objects)[of] + self.unit(0, .1)
        error = self.rng.uniform(0, 4, (4, self.n))
        return put(x + error[0], y + error[1], w + error[2], h + error[3])

    def mixed(self, chosen, others):
        """Returns natural boxes, and others where `chosen` is true."""
        return np.where(chosen[:, None], others, self.natural())

    def in_order(self, pitch):
        """Returns boxes of 8 x 8 in a square, row by row."""
        side = math.isqrt(self.n) + 1
        return put(self.i % side * pitch, self.i // side * pitch, 8, 8)

    def grid(self, pitch):
        return self.rng.permutation(self.in_order(pitch))

    def large(self):
        return put(self.unit(0, 640), self.unit(0, 640), self.unit(0, 300), self.unit(0, 300))

    def bars(self, width):
        """Returns wide and tall bars, which all cross."""
        wide, at = self.i % 2 == 1, self.unit(0, self.n)
        return np.where(wide[:, None], put(0, at, self.n, width), put(at, 0, width, self.n))

    def diagonal(self, side):
        at = self.unit(0, .4 * self.n)
        return put(at, at, side, side)

    def nest(self):
        w = 1e6 * np.exp(self.unit(-30, 0))
        return put(-w / 2, -w / 2, w, w)

    def around(self, side, w, h):
        """Returns boxes whose centres are at random places within 0..side."""
        return put(self.unit(0, side) - w / 2, self.unit(0, side) - h / 2, w, h)

    def all_sizes(self):
        w = self.spread(1e-3, 1e6)
        return self.around(1e6, w, w * self.spread(.3, 3))

    def uneven_objects(self):
        """Returns boxes of objects that have few or very many of them."""
        number = np.floor(np.minimum(self.n, (1 - self.unit()) ** -1.5))
        return put(number * 7919.3 % self.field + self.unit(0, 4),
                   number * 104729.7 % self.field + self.unit(0, 4),
                   self.unit(30, 34), self.unit(30, 34))

    def crowd_at_samples(self):
        """Returns other boxes where an estimate that takes fixed places would sample."""
        boxes = self.in_order(8)
        for first in (np.arange(1, 32, 2) * self.n // 32).tolist():
            boxes[first:first + 40] = put(-500, -500, 4, 4)
        return boxes

    def images(self):
        """Returns the natural boxes of images of 1,000 boxes."""
        return np.concatenate([Draw(min(1000, self.n - first), self.rng).natural()
                               for first in range(0, self.n, 1000)])

    def ids(self, most):
        return self.rng.integers(most, size=self.n)


# name: the boxes, and other columns and options of nmscore.run, or functions that make them
KINDS = {
    "natural": (Draw.natural, {}),
    # a few boxes among natural ones; scores that differ in their last two bits
    "far_box": (lambda d: d.mixed(d.i == d.n // 2, put(1e17, 1e17, 10, 10)), {}),
    "farther_half": (lambda d: d.mixed(
        d.i % 2 == 1, put(1e12 + d.unit(0, 1e7), 1e12 + d.unit(0, 1e7), 1e5, 1e5)), {}),
    "covering": (lambda d: d.mixed(
        d.i % 64 == 0, put(-d.unit(), -d.unit(), d.field + d.unit(), d.field + d.unit())), {}),
    "large_of_16": (lambda d: d.mixed(
        d.i % 16 == 0, d.field * put(d.unit(), d.unit(), d.unit(.2, 1.2), d.unit(.2, 1.2))), {}),
    "equal_scores": (Draw.natural, {"scores": lambda d: np.full(d.n, .5)}),
    "close_scores": (Draw.natural, {"scores": lambda d: 1 - d.ids(4) * 2. ** -24}),
    "natural_at_0": (Draw.natural, {"iou_threshold": 0}),
    # grids: the neighbors of `overlapping` overlap by less than the threshold
    "separate": (lambda d: d.grid(9), {}),
    "overlapping": (lambda d: d.grid(5), {}),
    "separate_ascending": (lambda d: d.grid(9), {"scores": lambda d: d.i}),
    "crowd_at_samples": (Draw.crowd_at_samples, {}),
    # heaps: every pair of boxes of one_object overlaps by more than the threshold
    "identical": (lambda d: put(d.i * 0 + 5, 5, 50, 50), {}),
    "one_object": (lambda d: put(*(d.unit(100, 105) for _ in range(4))), {}),
    "one_object_high": (lambda d: put(d.unit(), d.unit(), 500 + d.unit(), 500 + d.unit()),
                        {"iou_threshold": .9999}),
    "random": (lambda d: d.around(1024, d.unit(1, 1024), d.unit(1, 1024)), {}),
    "large": (Draw.large, {}),
    "large_at_0": (Draw.large, {"iou_threshold": 0}),
    "large_high": (Draw.large, {"iou_threshold": .95}),
    "large_squares": (lambda d: put(d.unit(0, 100), d.unit(0, 100), 500, 500), {}),
    "large_squares_high": (lambda d: put(d.unit(0, 100), d.unit(0, 100), 500, 500),
                           {"iou_threshold": .97}),
    # lines: stripes, crossing bars of one width or of many, boxes on a diagonal; each box of a
    # chain overlaps the next ones
    "stripes": (lambda d: put(d.unit(), d.unit(0, .6 * d.n), 1e5, 1), {}),
    "bars": (lambda d: d.bars(.9), {}),
    "bars_low": (lambda d: d.bars(.9), {"iou_threshold": 1e-7}),
    "broad_bars": (lambda d: d.bars(d.unit(0, 40)), {}),
    "diagonal": (lambda d: d.diagonal(1), {}),
    "long_diagonal": (lambda d: d.diagonal(.3 * d.n), {}),
    "chain": (lambda d: put(d.unit(0, .34 * d.n), 0, 1, 1), {}),
    # many sizes: around one centre, down to a width of 2^-43 of the largest; of all sizes; of all
    # widths and heights around one place
    "nest": (Draw.nest, {}),
    "nest_high": (Draw.nest, {"iou_threshold": .99}),
    "nest_highest": (Draw.nest, {"iou_threshold": .9999}),
    "all_sizes": (Draw.all_sizes, {}),
    "all_sizes_low": (Draw.all_sizes, {"iou_threshold": .001}),
    "all_shapes": (lambda d: d.around(1, d.spread(1e-3, 1e6), d.spread(1e-3, 1e6)), {}),
    "uneven_objects": (Draw.uneven_objects, {}),
    # caps: cap_never_filled has three objects, as detectors report them
    "cap_never_filled": (lambda d: put(
        d.i % 3 * 500 + d.unit(0, 10), d.unit(0, 10), d.unit(100, 110), d.unit(100, 110)),
        {"max_detections": 20}),
    "cap_at_the_end": (lambda d: d.grid(9), {"max_detections": lambda d: d.n - 1}),
    "cap_late": (Draw.natural, {"max_detections": lambda d: d.n * 10 // 47 + 1}),
    # classes: covering_of_classes has a box that covers all in each class
    "classes": (Draw.natural, {"class_ids": lambda d: d.ids(80)}),
    "cap_of_classes": (Draw.natural, {"class_ids": lambda d: d.ids(3), "max_per_class": 20}),
    "a_class_each": (Draw.natural, {"class_ids": lambda d: d.ids(2 ** 31)}),
    "uneven_classes": (Draw.natural, {"class_ids": lambda d: np.minimum(1e9, 1 / (1 - d.unit()))}),
    "covering_of_classes": (lambda d: d.mixed(d.i < 80, put(0, 0, d.field, d.field)),
                            {"class_ids": lambda d: np.where(d.i < 80, d.i, d.ids(80))}),
    "images_as_classes": (Draw.images, {"class_ids": lambda d: d.i // 1000}),
    # rotated: the bars of rotated_thin are parallel, at 45 degrees, so that only their upright
    # bounding boxes overlap; those of rotated_crossing all cross in one point
    "rotated": (Draw.natural, {"angles": lambda d: d.angles}),
    "rotated_separate": (lambda d: d.grid(9), {"angles": lambda d: np.full(d.n, .3)}),
    "rotated_thin": (lambda d: put(d.i * 2, 0, d.n * 10, 1),
                     {"angles": lambda d: np.full(d.n, math.pi / 4)}),
    "rotated_crossing": (lambda d: put(-5e5, -1e6 / d.n / 8 + d.i * 0, 1e6, 1e6 / d.n / 4),
                         {"angles": lambda d: d.unit(0, math.pi)}),
    "one_rotated": (Draw.natural, {"angles": lambda d: np.where(d.i == d.n // 2, .1, 0)}),
}


def frame_of(kind, d, **others):
    """Returns the arguments of nmscore.run for a kind of boxes, with their types."""
    boxes, columns = KINDS[kind]
    frame = {"boxes": boxes(d), "scores": d.unit()} | columns | others
    for name, value in frame.items():
        value = value(d) if callable(value) else value
        frame[name] = np.ascontiguousarray(
            value, np.int32 if name == "class_ids" else np.float32) if np.ndim(value) else value
    return frame


def natural_like(frame):
    """Returns natural boxes with the columns and the threshold of a frame, but without caps."""
    d = Draw(len(frame["scores"]))
    like = {"angles": lambda d: d.angles, "class_ids": lambda d: d.ids(80),
            "iou_threshold": frame.get("iou_threshold")}
    return frame_of("natural", d, **{name: like[name] for name in like if name in frame})


def drawn_frame(rng):
    """Returns a frame of a random kind with a random threshold, classes and caps."""
    def spread(low, high):
        return int(math.exp(rng.uniform(math.log(low), math.log(high))))

    d, others = Draw(spread(300, 20_000), rng), {"iou_threshold": rng.uniform(0, .98)}
    if (classes := rng.choice([1, 3, 80])) > 1:
        others["class_ids"] = d.ids(classes)
    for name, most in ("max_detections", d.n), ("max_per_class", 100):
        if rng.random() < 1 / 3:
            others[name] = spread(1, most)
    return frame_of(rng.choice(["natural", "random", "separate", "overlapping", "large",
                                "uneven_objects", "all_sizes"]), d, **others)


# ----------------------------------------------------------------------- times

def call_of(frame, name, candidates=0, **options):
    """Returns the call of a method with its metric, as "hard, iou"."""
    method, metric = name.split(", ")
    if method == "neighbors":
        frame = {key: frame[key] for key in frame if key not in ("max_detections", "max_per_class")}
        return functools.partial(nmscore.count_neighbors, **frame, max_candidates=candidates)
    return functools.partial(nmscore.run, **frame, max_candidates=candidates, method=method,
                             metric=metric, **options)


def kind_times(kind, count, name, options):
    """Returns the times of natural boxes and of a kind, 0 if that call was ended: by a signal,
    which only a process of its own survives."""
    def child():
        frame = frame_of(kind, Draw(count))
        natural, hostile = (call_of(f, name, options.candidates, suppressed_by=options.outputs)
                            for f in (natural_like(frame), frame))
        times[0] = min(report.times_of(natural, ENOUGH))
        signal.setitimer(signal.ITIMER_PROF, max(.5, options.most * times[0]))
        times[1] = min(report.times_of(hostile, ENOUGH))

    context = multiprocessing.get_context("fork")
    times = context.Array("d", 2, lock=False)
    process = context.Process(target=child)
    process.start()
    process.join()
    if process.exitcode not in (0, -signal.SIGPROF):
        raise SystemExit(f"{name}, {kind}: the process ended with {process.exitcode}")
    return times


def cells(count, name, options):
    """Returns the cells of a method and a number of boxes."""
    ratios = []
    for kind in KINDS:
        # (random only if it is named, because no weakness makes it slow, but the overlaps)
        if options.kind == kind or options.kind in kind != "random" or kind == "natural":
            natural, hostile = kind_times(kind, count, name, options)
            ratios.append((hostile / natural or max(options.most, .5 / natural), not hostile, kind))
            if kind == "natural":
                usual = hostile
    above = sum(ratio > LIMIT.get(name, 10) for ratio, _, _ in ratios)
    ratio, ended, kind = max(ratios)
    return f"{usual * 1e3:.3f}", above, f"{'>' * ended}{ratio:.1f} `{kind}`"


def print_regret(frames):
    """Prints the quotients of the times of auto and of the best engine."""
    rng, quotients = np.random.default_rng(1), []
    for _ in range(frames):
        frame = drawn_frame(rng)
        times = [min(report.times_of(call_of(frame, "hard, iou", engine=engine), .004))
                 for engine in ("sequential", "sorted", "spatial", "auto")]
        quotients.append(times[-1] / min(times[:-1]))
    quotients.sort()
    print(f"{frames} frames: auto takes {statistics.geometric_mean(quotients):.2f} times as long "
          f"as the best engine (geometric mean), 99 of 100 at most "
          f"{quotients[frames * 99 // 100]:.2f}, all at most {quotients[-1]:.2f}")


def main():
    p = argparse.ArgumentParser(prog="hostile.py")
    p.add_argument("--boxes", default="1000,10000", metavar="N,...")
    p.add_argument("--method", default="", help='methods whose names contain this: "hard, iou"')
    p.add_argument("--kind", default="", help="kinds whose names contain this")
    p.add_argument("--candidates", type=int, default=0, help="the option max_candidates")
    p.add_argument("--most", type=float, default=100, help="the ratio at which a call is ended")
    p.add_argument("--outputs", action="store_true", help="ask for suppressed_by, too")
    p.add_argument("--regret", type=int, default=0, metavar="FRAMES",
                   help="compares engine auto with the best engine, on random frames")
    options = p.parse_args()
    if options.regret:
        return print_regret(options.regret)
    counts = list(map(int, options.boxes.split(",")))
    head = ["method, metric"] + [f"{count:,}: {text}" for count in counts
                                 for text in ("ms", "above", "worst")]
    report.print_table(head, ((name, *(cell for count in counts
                                       for cell in cells(count, name, options)))
                              for name in NAMES if options.method in name))


if __name__ == "__main__":
    main()
