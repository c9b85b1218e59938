#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Wrong arguments of every function of nmscore: the error, and its message, which names the
parameter."""
import unittest

import numpy as np

import nmscore
from nmscore import batched_nms, matrix_nms, nms, run, run_batch, soft_nms, weighted_boxes_fusion


class Pairs:
    """A mapping whose items are not pairs."""

    def __init__(self, items):
        self._items = items

    def items(self):
        return self._items


BOXES, SCORES, IDS = np.zeros((3, 4), np.float32), np.zeros(3, np.float32), np.arange(3)
NAN, HUGE = float("nan"), 10**400
MASKED = np.ma.masked_array
GOOD = {run: {"boxes": BOXES, "scores": SCORES}, run_batch: {"boxes": BOXES, "offsets": (0, 3)},
        nms: {"boxes": BOXES, "scores": SCORES, "iou_threshold": 0.5},
        batched_nms: {"boxes": BOXES, "scores": SCORES, "idxs": IDS, "iou_threshold": 0.5},
        soft_nms: {"boxes": BOXES, "scores": SCORES}, matrix_nms: {"boxes": BOXES,
                                                                   "scores": SCORES},
        weighted_boxes_fusion: {"boxes_list": [BOXES, BOXES[:1]],
                                "scores_list": [SCORES, SCORES[:1]],
                                "labels_list": [[1, 2, 3], [1]]},
        nmscore.iou: {"a": BOXES[0], "b": BOXES[0]},
        nmscore.rows_from_xywh: {}, nmscore.rows_from_cxcywh: {}}


def shapes():
    """Yields a text, a function and the values of its parameters. `text` matches the message."""
    def is_(shape):
        return "not " + str(shape).replace("(", r"\(").replace(")", r"\)")
    for wrong in (BOXES[:, :3], BOXES[0], 7, BOXES[None], np.zeros((0, 5)), [[]]):
        yield r"boxes must have shape \(N, 4\), " + is_(np.shape(wrong)), nms, {"boxes": wrong}
    column = r" must have shape \(3,\) for 3 boxes, "
    for wrong in (SCORES[:2], SCORES[:, None], np.float32(1), []):
        yield "scores" + column + is_(np.shape(wrong)), nms, {"scores": wrong}
    for wrong in ([1, 2, 3, 4], 7, [], IDS[None]):
        yield "idxs" + column + is_(np.shape(wrong)), batched_nms, {"idxs": wrong}
    for name in ("scores", "class_ids", "exclude", "parents", "angles"):
        yield name + column + is_((2,)), run, {name: [1, 2]}
    for none in ([], np.zeros((0, 4))):
        for given in ({}, {"scores": []}):
            name = "idxs" if given else "scores"
            yield (name + r" must have shape \(0,\) for 0 boxes, " + is_((3,)), batched_nms,
                   {"boxes": none, **given})
    yield "scores" + column + is_((1,)), run_batch, {"scores": [1]}
    for wrong in ([1, 2, 3], [[1, 2, 3, 4]]):
        yield r"a must have shape \(4,\), " + is_(np.shape(wrong)), nmscore.iou, {"a": wrong}
    for function in (nmscore.rows_from_cxcywh, nmscore.rows_from_xywh):
        yield r"rows must have shape \(N, 4\), " + is_((4,)), function, {"rows": [0, 0, 1, 1]}


def types():
    for kind in (bool, complex, "U", "M8[s]"):
        yield "boxes must hold numbers, not .+", nms, {"boxes": BOXES.astype(kind)}
    for wrong in ("boxes", object()):
        yield "boxes must hold numbers, not .+", nms, {"boxes": wrong}
    yield ("boxes (must hold numbers, not|cannot be read as an array:) .*", nms,
           {"boxes": [[1, 2], [3]]})
    yield "scores must hold numbers, not bool", nms, {"scores": SCORES > 1}
    yield "b must hold numbers, not bool", nmscore.iou, {"b": np.zeros(4, bool)}
    for wrong in ([0.5, 1, 2], ["a", "b", "c"], [True, False, True]):
        yield "idxs must hold .*numbers, not .+", batched_nms, {"idxs": wrong}
    for function, names in ((run, ("scores", "class_ids", "exclude", "parents", "angles")),
                            (batched_nms, ("boxes", "scores", "idxs"))):
        for name in names:
            good = BOXES if name == "boxes" else IDS
            for mask in (np.ma.nomask, good > 1):
                yield (name + " must not be a masked array: .+", function,
                       {name: np.ma.array(good, mask=mask)})
            yield name + " must hold .*numbers, not <U1", function, {name: good.astype("U1")}
    yield ("boxes must not be a masked array: .+", nms,
           {"boxes": np.ma.array(BOXES.astype(np.float64), mask=True)})
    for name in ("class_ids", "parents"):
        yield name + " must hold whole numbers, not float64", run, {name: [1.0, 2.0, 3.0]}
    yield ("exclude must hold booleans or whole numbers, not float32", run, {"exclude": SCORES})
    yield "angles must hold numbers, not bool", run, {"angles": SCORES > 1}
    for name in ("boxes", "scores", "idxs"):
        yield name + " must be an array, not None", batched_nms, {name: None}
    yield ("idxs must be an array, not None", batched_nms,
           {"boxes": [], "scores": [], "idxs": None})
    for wrong, kind in ((None, "None"), ("0.5", "str"), ([0.5], "list"), (1j, "complex"),
                        (SCORES, "ndarray")):
        yield "iou_threshold must be a number, not " + kind, nms, {"iou_threshold": wrong}
        yield "iou_threshold must be a number, not " + kind, batched_nms, {"iou_threshold": wrong}
        yield "score_threshold must be a number, not " + kind, nms, {"score_threshold": wrong}
    for wrong, kind in ((None, "None"), ("5", "str"), (1.5, "float"), ([5], "list")):
        yield "max_detections must be a whole number, not " + kind, nms, {"max_detections": wrong}
    for name in ("max_detections", "max_per_class", "max_candidates"):
        yield name + " must be a whole number, not str", run, {name: "7"}
    for name in ("inclusive", "score_strict", "class_agnostic", "xla_strict", "outcome",
                 "suppressed_by"):
        yield name + " must be True or False, not ndarray", run, {name: IDS}
    yield "engine must be a string, not int", run, {"engine": 1}
    yield "xla_plugin must be a path or None, not int", run, {"xla_plugin": 7}
    yield "offsets must be an array, not None", run_batch, {"offsets": None}
    yield "offsets must hold whole numbers, not float64", run_batch, {"offsets": [0.0, 3.0]}
    yield "threads must be a whole number, not float", run_batch, {"threads": 1.5}


def values():
    for wrong in (-0.1, 1.1, NAN, float("inf")):
        yield "iou_threshold is .*, must be 0..1", nms, {"iou_threshold": wrong}
    for function in (run, run_batch):
        yield "iou_threshold is 2, must be 0..1", function, {"iou_threshold": 2}
    yield "min_size_ratio is 2, must be 0..1", run, {"min_size_ratio": 2}
    yield "iou_threshold is beyond the range of a float", nms, {"iou_threshold": HUGE}
    yield "score_threshold is beyond the range of a float", nms, {"score_threshold": -HUGE}
    yield "score_threshold is NaN.*", nms, {"score_threshold": NAN}
    for name in ("max_detections", "max_per_class", "max_candidates"):
        for wrong in (-1, 2**64):
            yield name + r" must be 0 or more, below 2\*\*64", run, {name: wrong}
    yield r"max_detections must be 0 or more, below 2\*\*64", nms, {"max_detections": -1}
    yield "engine is 'fast', which this build does not have", run, {"engine": "fast"}
    for wrong, text in (
            ([], r"have shape \(images \+ 1,\), not \(0,\)"),
            ([[0, 3]], r"have shape \(images \+ 1,\), not \(1, 2\)"),
            ([0, -1, 3], "not be negative"), ([1, 3], "begin with 0, not 1"),
            ([0, 2, 1, 3], r"ascend, but offsets\[1\] is 2 and offsets\[2\] is 1"),
            ([0, 2], "end with the number of boxes, 3, not 2"),
            ([0], "end with the number of boxes, 3, not 0")):
        yield "offsets must " + text, run_batch, {"offsets": wrong}
    for wrong in (0, 1025, 2**63):
        yield f"threads is {wrong}, must be 1..1024", run_batch, {"threads": wrong}
    yield ("class_ids must be in the range of int32 where class_options are given", run,
           {"class_ids": IDS + 2**40, "class_options": {1: {}}})


CLASS_OPTIONS = (
    ([], TypeError, " must be a dict, not list"),
    ({"a": {}}, TypeError, " must have class ids as keys, not 'a'"),
    ({2**31: {}}, ValueError, ": class id 2147483648 is beyond the range of int32"),
    ({7: 0.5}, TypeError, r"\[7\] must be a dict, not float"),
    ({7: {"iou": 0.5}}, ValueError, r"\[7\] has the unknown option 'iou'"),
    ({7: {"iou_threshold": 1.5}}, ValueError, r"\[7\]: iou_threshold is 1.5, must be 0..1"),
    ({7: {"iou_threshold": None}}, TypeError, r"\[7\]: iou_threshold must be a number, not None"),
    ({7: {"score_threshold": NAN}}, ValueError, r"\[7\]: score_threshold is nan, must be a number"),
    ({7: {"max_detections": -1}}, ValueError,
     r"\[7\]: max_detections must be 0 or more, below 2\*\*64"),
    ({7: {"group": 0.5}}, TypeError, r"\[7\]: group must be a whole number, not float"),
    ({7: {"group": 2**31}}, ValueError,
     r"\[7\]: group is 2147483648, must be in the range of int32"))

METHODS = (
    (ValueError, ".*method is 'soft'", run, {"method": "soft"}),
    (TypeError, "metric must be a string, not int", run, {"metric": 1}),
    (ValueError, ".*fused_score is 'mean'", run, {"fused_score": "mean"}),
    (TypeError, "sigma must be a number", run, {"sigma": "a"}),
    (ValueError, "sigma is -1", run, {"sigma": -1.0, "method": "soft-gaussian"}),
    (ValueError, ".*min_score", run, {"min_score": -1.0, "method": "soft-gaussian"}),
    (ValueError, ".*giou", run, {"method": "merge", "metric": "giou"}),
    (TypeError, "source_weights must be a sequence", run, {"source_weights": 1.0}),
    (TypeError, "source_weights must be a number", run, {"source_weights": ["a"]}),
    (ValueError, "source_weights is empty", run, {"source_weights": []}),
    (ValueError, ".*source_weights", run, {"source_weights": [0.0], "method": "weighted"}),
    (TypeError, ".*sources", run, {"sources": [0.5, 0.5, 0.5]}),
    (ValueError, ".*sources", run, {"sources": [0, 1]}),
    # errors name the parameters of the function that was called, and the model within it
    (ValueError, "idxs must have shape", soft_nms, {"idxs": [1]}),
    (TypeError, "score_threshold must be a number", soft_nms, {"score_threshold": "a"}),
    (ValueError, "method is 'hard', must be 'gaussian'", soft_nms, {"method": "hard"}),
    (TypeError, "method must be a string, not NoneType", soft_nms, {"method": None}),
    (TypeError, "idxs must hold whole numbers", matrix_nms, {"idxs": [0.5, 1, 2]}),
    (ValueError, "kernel is 'x', must be 'gaussian'", matrix_nms, {"kernel": "x"}),
    (TypeError, "kernel must be a string", matrix_nms, {"kernel": np.zeros(2)}),
    (TypeError, "boxes_list must be a list, not None", weighted_boxes_fusion,
     {"boxes_list": None}),
    (TypeError, "labels_list must be a list, not None", weighted_boxes_fusion,
     {"labels_list": None}),
    (ValueError, "labels_list has 1 elements, boxes_list has 2", weighted_boxes_fusion,
     {"labels_list": [[1]]}),
    (TypeError, r"boxes_list\[1\] must be an array, not None", weighted_boxes_fusion,
     {"boxes_list": [BOXES, None]}),
    (TypeError, r"scores_list\[0\] must hold numbers", weighted_boxes_fusion,
     {"scores_list": [["a", "b", "c"], [1]]}),
    (TypeError, r"boxes_list\[0\] must not be a masked array", weighted_boxes_fusion,
     {"boxes_list": [MASKED(BOXES, mask=BOXES < 20), BOXES[:1]]}),
    (TypeError, "scores_list must not be a masked array", weighted_boxes_fusion,
     {"scores_list": MASKED([[.9], [.8]], mask=[[0], [1]])}),
    (ValueError, r"boxes_list\[0\] must have shape \(N, 4\), not \(4, 3\)", weighted_boxes_fusion,
     {"boxes_list": [BOXES.T, BOXES[:1]]}),
    (ValueError, r"scores_list\[1\] must have shape \(1,\) for 1 boxes, not \(2,\)",
     weighted_boxes_fusion, {"scores_list": [SCORES, [.1, .2]]}),
    (TypeError, "scores_list must be a list: .*no len", weighted_boxes_fusion, {"scores_list": 5}),
    (TypeError, "labels_list must be a list: ", weighted_boxes_fusion, {"labels_list": {7, 8}}),
    (TypeError, "weights must be a number, not str", weighted_boxes_fusion, {"weights": "ab"}),
    (ValueError, "weights", weighted_boxes_fusion, {"weights": [0, 1]}),
    (ValueError, "skip_box_thr is beyond", weighted_boxes_fusion, {"skip_box_thr": HUGE}),
    (TypeError, "skip_box_thr must be a number, not str", weighted_boxes_fusion,
     {"skip_box_thr": "1"}),
    (ValueError, "conf_type", weighted_boxes_fusion, {"conf_type": "mean"}),
    (TypeError, "conf_type must be a string, not list", weighted_boxes_fusion,
     {"conf_type": ["avg"]}),
    (TypeError, "iou_thr must be a number, not None", weighted_boxes_fusion, {"iou_thr": None}),
    (ValueError, "iou_thr is 2, must be 0..1", weighted_boxes_fusion, {"iou_thr": 2}))


class Refusals(unittest.TestCase):
    def refused(self, error, text, function, wrong):
        with self.subTest(text), self.assertRaisesRegex(error, f"^(?:{text})"):
            function(**{**GOOD[function], **wrong})

    def test_arguments(self):
        for rows, error in ((shapes, ValueError), (types, TypeError), (values, ValueError)):
            for text, function, wrong in rows():
                self.refused(error, text + "$", function, wrong)
        with self.assertRaisesRegex(TypeError, "missing 1 required .*'iou_threshold'"):
            nms(BOXES, SCORES)

    def test_class_options(self):
        for wrong, error, text in CLASS_OPTIONS:
            self.refused(error, f"class_options{text}$", run, {"class_options": wrong})
        for wrong, kind in ((Pairs([[7, {}]]), "list"), ({7: Pairs([1])}, "int")):
            self.refused(TypeError, f"an item of class_options must be a pair, not {kind}$", run,
                         {"class_options": wrong})

    def test_methods(self):
        weighted_boxes_fusion(**GOOD[weighted_boxes_fusion])
        for row in METHODS:
            self.refused(*row)


if __name__ == "__main__":
    unittest.main()
