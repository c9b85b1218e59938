#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""fuzz-python [--seconds N] [--seed N]: calls the Python package with random arguments.

Each call has arrays of a random case in random forms: types, byte orders, strides, lists, lenders.
It must return what slow.py computes. Half of the calls then have one argument replaced by a wrong
or hostile one (hostilevalues.py), and must return a well-formed result or raise TypeError or
ValueError with a message that begins with the parameter's name, or MemoryError.

Without --seconds, 2,000 calls with a fixed seed. If a call fails, the last lines name its number
and arguments, and --seed repeats it. A crash is repeated with --verbose.
"""
import argparse
import collections
import faulthandler
import inspect
import time
import warnings

import numpy as np

import nmscore
from arrayforms import any_form
from hostilevalues import hostile_array, hostile_name, hostile_scalar
from slow import slow_run

CALLS = 2000
ARRAYS = {"boxes", "scores", "class_ids", "idxs", "exclude", "parents", "offsets", "a", "b", "rows",
          "angles", "sources", "source_weights", "class_options", "boxes_list", "scores_list",
          "labels_list", "weights"}
NAMES = {"method", "metric", "fused_score", "engine", "kernel", "conf_type"}


def random_columns(random, count):
    """Returns boxes, scores, class ids and exclusions that float16 and int8 hold exactly."""
    corner = random.integers(0, 160, (count, 2)) / 4
    boxes = np.concatenate([corner, corner + random.integers(0, 100, (count, 2)) / 4], 1)
    scores = random.integers(0, 256, count) / 256
    scores[random.random(count) < 0.2] = 0.5
    ids = random.integers(-2, 3, count)
    exclude = random.random(count) < 0.1
    boxes, scores = boxes.astype(np.float32), scores.astype(np.float32)
    if count > 1 and random.random() < 0.5:  # the left half of the first one, whose IoU is 0.5
        boxes[1] = boxes[0]
        boxes[1, 2] = (boxes[0, 0] + boxes[0, 2]) / 2
    if count and random.random() < 0.3:
        boxes[random.integers(count), random.integers(4)] = random.choice([np.nan, np.inf, -np.inf])
    if count and random.random() < 0.2:
        scores[random.integers(count)] = np.nan
    return boxes, scores, ids, exclude


def expected_run(boxes, scores, ids, exclude, options, parents=None):
    """Returns kept, outcome and suppressed_by as slow_run does, with invalid boxes."""
    invalid = ~np.isfinite(boxes).all(1) | np.isnan(scores)
    boxes, scores = boxes.copy(), scores.copy()
    boxes[invalid], scores[invalid] = 0, 0
    kept, outcome, by = slow_run(boxes, scores, ids, exclude=exclude | invalid, parents=parents,
                                 **options)
    outcome[invalid] = nmscore.Outcome.INVALID
    return kept, outcome, by


def random_options(random):
    options = {}
    for name, values in (("iou_threshold", [0, 0.25, 0.5, 1]), ("score_threshold", [0.25, 0.5]),
                         ("max_detections", [0, 1, 5]), ("max_per_class", [1, 3]),
                         ("max_candidates", [1, 9]), ("inclusive", [True, False]),
                         ("score_strict", [True]), ("class_agnostic", [True]),
                         ("min_size_ratio", [0.5, 1]),
                         ("class_options", [{1: {"iou_threshold": 0.125}, -1: {}},
                                            {0: {"max_detections": 2, "score_threshold": 0.75}},
                                            {0: {"group": np.int64(7)}, 1: {"group": 7}},
                                            {1: {"group": -2, "max_detections": 2}}])):
        if random.random() < 0.3:
            options[name] = values[random.integers(len(values))]
    return options


# A function, its arguments by name, and what to check about its result.
Call = collections.namedtuple("Call", "function arguments check")


def same(actual, wanted):
    np.testing.assert_array_equal(actual, wanted)
    assert actual.dtype == np.int64, actual.dtype


def check_outcome(result, outcome):
    """Checks the outcomes of run or run_batch, and the number of boxes with each."""
    np.testing.assert_array_equal(result.outcome, outcome)
    assert result.outcome.dtype == np.uint8
    for which in list(nmscore.Outcome)[1:]:
        assert getattr(result, which.name.lower() + "_count") == (outcome == which).sum(), which


def call_run(random, form, columns):
    boxes, scores, ids, exclude = columns
    options = random_options(random)
    parents = random.integers(-1, 3, len(boxes)) if random.random() < 0.3 else None
    kept, outcome, by = expected_run(*columns, options, parents)
    if parents is not None:  # (each number that is not that of a box means: no parent)
        absent = int(random.choice([-1, 2**40]))
        options["parents"] = form(np.where(parents < 0, absent, parents))

    def check(result):
        check_outcome(result, outcome)
        same(result.kept, kept)
        same(result.suppressed_by, by)
    engine = str(random.choice(["auto", "sequential", "sorted", "spatial"]))
    return Call(nmscore.run, {"boxes": form(boxes), "scores": form(scores), "class_ids": form(ids),
                              "exclude": form(exclude.astype(np.uint8)), "outcome": True,
                              "suppressed_by": True, "engine": engine, **options}, check)


def call_batch(random, form, columns):
    boxes, scores, ids, exclude = columns
    ends = np.sort(random.integers(0, len(boxes) + 1, random.integers(0, 4)))
    offsets = np.concatenate([[0], ends, [len(boxes)]]).astype(np.int64)
    options = random_options(random)
    parts = [expected_run(*(c[first:end] for c in columns), options)
             for first, end in zip(offsets, offsets[1:])]

    def check(result):
        check_outcome(result, np.concatenate([part[1] for part in parts]))
        assert len(result.images()) == len(parts)
        for image, part in zip(result.images(), parts):
            same(image, part[0])
    return Call(nmscore.run_batch, {
        "boxes": form(boxes), "offsets": form(offsets), "scores": form(scores),
        "class_ids": form(ids), "exclude": form(exclude.astype(np.uint8)), "outcome": True,
        "threads": int(random.integers(1, 4)), **options}, check)


def call_nms(random, form, columns):
    boxes, scores, ids, _ = columns
    batched = random.random() < 0.5
    ids = ids if batched else np.zeros_like(ids)
    options = {"iou_threshold": 0.25, **random_options(random)}
    options = {name: options[name] for name in ("iou_threshold", "score_threshold",
                                                "max_detections") if name in options}
    kept = expected_run(boxes, scores, ids, np.zeros(len(boxes), bool), options)[0]
    arguments = {"boxes": form(boxes), "scores": form(scores), **options}
    if batched:  # (ids beyond int32 are ranked)
        arguments["idxs"] = form(ids + int(random.choice([0, 2**40, -2**62])))
    return Call(nmscore.batched_nms if batched else nmscore.nms, arguments,
                lambda result: same(result, kept))


def call_neighbors(_, form, columns):
    boxes, scores, ids, exclude = columns

    def check(result):
        assert result.shape == scores.shape and result.dtype == np.int64
        assert not result[exclude].any()
    return Call(nmscore.count_neighbors, {
        "boxes": form(boxes), "scores": form(scores), "class_ids": form(ids),
        "exclude": form(exclude.astype(np.uint8))}, check)


def call_forms(random, form, columns):
    rows = columns[0]
    if random.random() < 0.5:
        return Call(nmscore.rows_from_cxcywh, {"rows": form(rows)},
                    lambda result: check_rows(result, rows[:, :2] - rows[:, 2:] / 2))
    return Call(nmscore.rows_from_xywh, {"rows": form(rows)},
                lambda result: check_rows(result, rows[:, :2]))


def check_rows(result, corner):
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result[:, :2], corner)


def call_iou(random, form, columns):
    pair = np.concatenate([columns[0], np.zeros((2, 4), np.float32)])[:2]

    def check(result):
        assert isinstance(result, float) and 0 <= result <= 1
    return Call(nmscore.iou, {"a": form(pair[0]), "b": form(pair[1])}, check)


def check_rescored(result):
    kept, scores = result
    assert kept.dtype == np.int64 and scores.dtype == np.float32 and kept.shape == scores.shape
    assert len(set(kept.tolist())) == len(kept)


def call_rescoring(random, form, columns):
    boxes, scores, ids, _ = columns
    arguments = {"boxes": form(boxes), "scores": form(scores), "idxs": form(ids), "sigma": 0.5,
                 "score_threshold": 0.125, "max_detections": 9}
    if random.random() < 0.5:
        return Call(nmscore.soft_nms, {**arguments, "method": "linear", "iou_threshold": 0.25},
                    check_rescored)
    return Call(nmscore.matrix_nms, {**arguments, "kernel": "linear"}, check_rescored)


def call_fusion(random, form, columns):
    models = range(random.integers(0, 3))
    boxes, scores, ids, _ = columns
    good = np.isfinite(boxes).all(1) & (scores > 0)

    def check(result):
        assert len(result[0]) == len(result[1]) == len(result[2]) <= len(models) * good.sum()
    return Call(nmscore.weighted_boxes_fusion, {
        "boxes_list": [form(boxes[good]) for _ in models],
        "scores_list": [form(scores[good]) for _ in models],
        "labels_list": [form(ids[good]) for _ in models], "weights": [1.5 for _ in models],
        "iou_thr": 0.25, "skip_box_thr": 0.25, "conf_type": "max"}, check)


MAKERS = [call_run, call_run, call_batch, call_nms, call_neighbors, call_forms, call_iou,
          call_rescoring, call_fusion]


def hostile(random, name, value):
    """Returns a wrong or hostile value for a parameter."""
    if name in ARRAYS:
        return hostile_array(random, value)
    return hostile_name(random) if name in NAMES else hostile_scalar(random)


def call_wrongly(random, call):
    """Replaces one argument. Returns why the call did not end as it has to, or None."""
    name = str(random.choice(sorted(call.arguments)))
    call.arguments[name] = hostile(random, name, call.arguments[name])
    try:
        call.function(**call.arguments)
    except (TypeError, ValueError) as error:
        # another parameter may not fit a valid one of another length
        if not str(error).startswith(tuple(inspect.signature(call.function).parameters)):
            return f"the message for {name} is: {error}"
    except MemoryError:
        pass
    return None


def one_call(seed, number, verbose):
    """Makes one call and returns the number of its boxes. Raises AssertionError."""
    random = np.random.default_rng([seed, number])
    columns = random_columns(random, int(random.choice([0, 1, 2, 7, 30, 30])))
    maker = MAKERS[random.integers(len(MAKERS))]
    call = maker(random, lambda array: any_form(random, array), columns)
    wrong = random.random() < 0.5
    if verbose:
        print(number, call.function.__name__, "wrong" if wrong else "", flush=True)
    if wrong:
        problem = call_wrongly(random, call)
        assert problem is None, problem
    else:
        call.check(call.function(**call.arguments))
    return len(columns[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="print each call before it is made")
    options = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("ignore")  # numpy warns about conversions of hostile values
    end = time.monotonic() + options.seconds
    boxes = number = 0
    while time.monotonic() < end if options.seconds else number < CALLS:
        try:
            boxes += one_call(options.seed, number, options.verbose)
        except BaseException:
            print(f"call {number} of seed {options.seed} failed", flush=True)
            raise
        number += 1
    print(f"{number} calls, {boxes} boxes")


if __name__ == "__main__":
    main()
