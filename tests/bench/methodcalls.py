# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls the methods of libnmscore from Python by ctypes, without conversions in a timed call."""
import ctypes as c
import pathlib

import numpy as np

METHODS = ("hard", "soft-linear", "soft-gaussian", "matrix-linear", "matrix-gaussian",
           "weighted", "merge", "greedy-merge", "average")
METRICS = ("iou", "ios", "diou", "giou")
FUSED_SCORES = ("avg", "max", "box-and-model-avg", "absent-model-aware-avg")
OUTPUTS = 15  # outcome, suppressed_by, score, box


class Column(c.Structure):
    _fields_ = [("data", c.c_void_p), ("stride", c.c_ssize_t)]


class Boxes(c.Structure):
    _fields_ = [("size", c.c_size_t), ("count", c.c_size_t)] + [
        (name, Column) for name in ("x1", "y1", "x2", "y2", "score", "class_id", "exclude",
                                    "parent", "angle", "source")]


class Options(c.Structure):
    _fields_ = [
        ("size", c.c_size_t), ("iou_threshold", c.c_float), ("score_threshold", c.c_float),
        ("inclusive", c.c_uint32), ("score_strict", c.c_uint32), ("class_agnostic", c.c_uint32),
        ("method", c.c_uint32), ("metric", c.c_uint32), ("fused_score", c.c_uint32),
        ("sigma", c.c_float), ("min_score", c.c_float), ("max_detections", c.c_uint64),
        ("max_per_class", c.c_uint64), ("max_candidates", c.c_uint64),
        ("class_options", c.c_void_p), ("class_option_count", c.c_size_t),
        ("source_weights", c.c_void_p), ("source_count", c.c_size_t), ("engine", c.c_uint32),
        ("outputs", c.c_uint32)]


class Result(c.Structure):
    _fields_ = [
        ("size", c.c_size_t), ("kept_count", c.c_size_t), ("kept", c.POINTER(c.c_int32)),
        ("kept_score", c.POINTER(c.c_float)), ("kept_box", c.POINTER(c.c_float)),
        ("outcome", c.POINTER(c.c_uint8)), ("suppressed_by", c.POINTER(c.c_int32)),
        ("suppressed_count", c.c_size_t), ("over_cap_count", c.c_size_t),
        ("not_candidate_count", c.c_size_t), ("filtered_count", c.c_size_t),
        ("invalid_count", c.c_size_t)]


def _array(pointer, shape):
    if not shape[0]:
        return np.zeros(shape, np.float32)
    return np.ctypeslib.as_array(pointer, shape).copy()


class Library:
    def __init__(self, path):
        """`path`: libnmscore.so, or a build folder."""
        path = pathlib.Path(path)
        if path.is_dir():
            path = path / "nmscore" / "libnmscore.so"
        self.lib = c.CDLL(str(path))
        self.lib.nms_context_new.restype = c.c_void_p
        self.lib.nms_context_error.restype = c.c_char_p
        self.context = c.c_void_p(self.lib.nms_context_new())

    def call(self, rows, scores, method, metric="iou", threshold=0.5, classes=None, sources=None,
             weights=None, fused_score="avg", outputs=OUTPUTS, angles=None, **fields):
        """Returns a Call, which run () repeats. `fields`: other members of nms_options."""
        return Call(self, rows, scores, method, metric, threshold, classes, sources, weights,
                    fused_score, outputs, angles, fields)


class Call:
    def __init__(self, library, rows, scores, method, metric, threshold, classes, sources,
                 weights, fused_score, outputs, angles, fields):
        self.library = library
        self.rows = np.ascontiguousarray(rows, np.float32)
        self.columns = {"score": np.ascontiguousarray(scores, np.float32)}
        for name, values in (("class_id", classes), ("source", sources)):
            if values is not None:
                self.columns[name] = np.ascontiguousarray(values, np.int32)
        if angles is not None:
            self.columns["angle"] = np.ascontiguousarray(angles, np.float32)
        self.boxes = Boxes(size=c.sizeof(Boxes), count=len(self.rows))
        for i, name in enumerate(("x1", "y1", "x2", "y2")):
            setattr(self.boxes, name, Column(self.rows.ctypes.data + 4 * i, 16))
        for name, values in self.columns.items():
            setattr(self.boxes, name, Column(values.ctypes.data, 4))
        self.options = Options()
        library.lib.nms_options_init(c.byref(self.options), c.sizeof(Options))
        self.options.iou_threshold = threshold
        self.options.method = METHODS.index(method)
        self.options.metric = METRICS.index(metric)
        self.options.fused_score = FUSED_SCORES.index(fused_score)
        self.options.outputs = outputs
        if weights is not None:
            self.weights = np.ascontiguousarray(weights, np.float32)
            self.options.source_weights = self.weights.ctypes.data
            self.options.source_count = len(self.weights)
        for name, value in fields.items():
            setattr(self.options, name, value)
        self.result = Result(size=c.sizeof(Result))
        self.arguments = (library.context, c.byref(self.boxes), c.byref(self.options),
                          c.byref(self.result))

    def run(self):
        if self.library.lib.nms_run(*self.arguments):
            raise ValueError(self.library.lib.nms_context_error(self.library.context).decode())

    def answer(self):
        """Runs. Returns the arrays kept, kept_score, kept_box, outcome and suppressed_by."""
        self.run()
        r, n = self.result, self.boxes.count
        return (_array(r.kept, (r.kept_count,)).astype(int),
                _array(r.kept_score, (r.kept_count,)), _array(r.kept_box, (r.kept_count, 4)),
                _array(r.outcome, (n,)), _array(r.suppressed_by, (n,)).astype(int))

    def groups(self):
        """Runs. Returns {head: members in rank order, without the head}, by the head's order."""
        kept, _, _, _, by = self.answer()
        members = {int(k): [] for k in kept}
        order = np.lexsort((np.arange(len(by)), -self.columns["score"]))
        for i in order:
            if by[i] >= 0:
                members[int(by[i])].append(int(i))
        return members
