# SPDX-License-Identifier: LGPL-2.1-or-later
"""The systems that are compared, each called in its fastest form.

A system's `prepare` does what README.md lists as prepared before the timing. The timed call returns
when the indices of the kept boxes are in the system's own form.

To add a system: a class here and a package in requirements.txt. The systems with other methods than
plain NMS are the rows of rivals ().
"""
import ctypes
import dataclasses
import importlib.metadata
import os
import time
from ctypes import c_size_t, c_void_p
from functools import partial

import numpy as np

import workloads

MANY = 10_000_000


def typed(function, result, *arguments):
    """Returns a function of a C library, which from now on has these types."""
    function.restype, function.argtypes = result, arguments
    return function


def with_sizes(rows):
    """Returns rows x y w h."""
    return np.concatenate([rows[:, :2], rows[:, 2:] - rows[:, :2]], 1)


class Peer:
    """A system. Its function `prepare` returns the timed call, a function without arguments."""
    packages = ()  # distributions whose versions are reported
    exact = True  # keeps the boxes that NMS keeps
    ours = False
    most = 100_000  # boxes of a call, because the time grows with the square of their number

    def versions(self):
        return {p: importlib.metadata.version(p) for p in self.packages}

    def load(self, name):
        """Makes a workload, and its calls, one for each frame."""
        w = workloads.make(name)
        self.calls = [self.prepare(*frame, w.iou, w.cap) for frame in w.frames]
        self.next, self.cap = 0, w.cap

    def run(self, count, clock):
        """Returns the times of calls in microseconds, of one frame after the other."""
        clock = time.process_time_ns if clock == "cpu" else time.perf_counter_ns
        times = []
        for _ in range(count):
            call = self.calls[self.next]
            self.next = (self.next + 1) % len(self.calls)
            start = clock()
            call()
            times.append((clock() - start) / 1e3)
        return times

    def kept(self):
        return self.indices(self.calls[0]())[:self.cap or None].copy()

    def indices(self, result):
        """Returns the kept indices of the call as an int32 array."""
        return np.asarray(result, np.int32).reshape(-1)


class Torchvision(Peer):
    packages = ("torchvision", "torch")

    def prepare(self, rows, scores, classes, iou, cap):
        import torch
        import torchvision.ops as ops
        torch.set_num_threads(1)
        torch.inference_mode().__enter__()
        boxes, ranks = torch.from_numpy(rows), torch.from_numpy(scores)
        if classes is None:
            return lambda: ops.nms(boxes, ranks, iou)
        ids = torch.from_numpy(classes.astype(np.int64))
        return lambda: ops.batched_nms(boxes, ranks, ids, iou)


class OnnxRuntime(Peer):
    """The operator NonMaxSuppression in a model of its own, inputs bound once. With
    classes: one row of scores a class, as the operator wants it."""
    packages = ("onnxruntime",)

    def prepare(self, rows, scores, classes, iou, cap):
        import onnxruntime as ort
        inputs = {"boxes": rows[None], "scores": scores[None, None],
                  "most": np.array([cap or len(scores)]), "iou": np.array([iou], np.float32)}
        if classes is not None:
            table = np.full((1, classes.max() + 1, len(scores)), -1, np.float32)
            table[0, classes, np.arange(len(scores))] = scores
            inputs |= {"scores": table, "above": np.array([-1], np.float32)}
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = ort.InferenceSession(self.model(inputs), options,
                                       providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        values = [ort.OrtValue.ortvalue_from_numpy(v) for v in inputs.values()]
        for name, value in zip(inputs, values):
            binding.bind_ortvalue_input(name, value)
        binding.bind_output("kept")

        def call(alive=values):  # as long as the call is
            session.run_with_iobinding(binding)
            return binding.get_outputs()[0].numpy()
        return call

    @staticmethod
    def model(inputs):
        import onnx.parser
        kinds = {np.dtype(np.float32): "float", np.dtype(np.int64): "int64"}
        given = ", ".join(f"{kinds[v.dtype]}[{', '.join(f'{n}{i}' for i in range(v.ndim))}] {n}"
                          for n, v in inputs.items())
        return onnx.parser.parse_model(
            f'<ir_version: 8, opset_import: ["" : 11]> nms ({given}) => (int64[k, 3] kept) '
            f'{{ kept = NonMaxSuppression ({", ".join(inputs)}) }}').SerializeToString()

    def indices(self, result):
        return result[:, 2].astype(np.int32)


class OpenCV(Peer):
    """Lists: its binding converts them faster than arrays. Its top_k cuts the input,
    not the output, so it is not used."""
    packages = ("opencv-python",)

    def prepare(self, rows, scores, classes, iou, cap):
        import cv2
        cv2.setNumThreads(1)
        boxes = list(map(tuple, with_sizes(rows.astype(np.float64)).tolist()))
        ranks = scores.tolist()
        if classes is None:
            return lambda: cv2.dnn.NMSBoxes(boxes, ranks, 0.0, iou)
        ids = classes.tolist()
        return lambda: cv2.dnn.NMSBoxesBatched(boxes, ranks, ids, 0.0, iou)


class Powerboxes(Peer):
    packages = ("powerboxes",)
    function = "nms"

    def prepare(self, rows, scores, classes, iou, cap):
        import powerboxes
        nms = getattr(powerboxes, self.function)
        boxes, ranks = rows, scores.astype(np.float64)
        if classes is not None:  # offsets, so that boxes of two classes do not overlap
            boxes = rows + (classes * (float(rows.max()) - float(rows.min()) + 1))[:, None]
        return lambda: nms(boxes, ranks, iou, 0.0)


class PowerboxesTree(Powerboxes):
    function, most = "rtree_nms", MANY


class Lsnms(Peer):
    packages, most = ("lsnms",), MANY

    def prepare(self, rows, scores, classes, iou, cap):
        import lsnms
        ids = None if classes is None else classes.astype(np.int64)
        return lambda: lsnms.nms(rows, scores, iou_threshold=iou, class_ids=ids)


class BoeNms(Peer):
    """BOE-NMS, from a checkout of NMS-Bench that run.sh compiles (nmsbench.cc). A box is compared
    with those whose centres lie in it, which is exact for thresholds from 0.5 on."""
    method, most = b"b", MANY

    def __init__(self):
        path = os.environ.get("NMS_BENCH_LIBRARY")
        if not path:
            raise ImportError("NMS_BENCH_CHECKOUT names no checkout of NMS-Bench")
        library = ctypes.CDLL(path)
        self.load_boxes = typed(library.nmsbench_load, c_void_p, c_void_p, c_void_p, c_size_t)
        self.decide = typed(library.nmsbench_run, c_size_t, c_void_p, ctypes.c_char,
                            ctypes.c_double, c_void_p)

    def prepare(self, rows, scores, classes, iou, cap):
        if cap or classes is not None or iou < 0.5:
            raise NotImplementedError("no caps, classes or thresholds below 0.5")
        kept = np.empty(len(scores), np.uint32)
        boxes = self.load_boxes(rows.ctypes.data, scores.ctypes.data, len(scores))
        arguments = boxes, self.method, iou, kept.ctypes.data
        return lambda: kept[:self.decide(*arguments)]


class QsiNms(BoeNms):
    method, exact = b"q", False


class EqsiNms(BoeNms):
    method, exact = b"e", False


# ---------------------------------------------------------------------- ours

class Ours(Peer):
    """The Python package nmscore, as run.sh built it."""
    ours, most = True, MANY

    def versions(self):
        import nmscore
        return {"gst-nms": nmscore.__version__}

    def prepare(self, rows, scores, classes, iou, cap):
        import nmscore
        if classes is None:
            return lambda: nmscore.nms(rows, scores, iou, max_detections=cap)
        return lambda: nmscore.batched_nms(rows, scores, classes, iou, max_detections=cap)


class Xla(Ours):
    most = 65_536

    def prepare(self, rows, scores, classes, iou, cap):
        import nmscore
        return lambda: nmscore.run(rows, scores, classes, iou_threshold=iou, max_detections=cap,
                                   engine="xla", xla_strict=True).kept


class Core(Ours):
    """nms_run, timed in C by benchcore.c, whose path is in NMS_BENCH_CORE."""

    def __init__(self):
        library = ctypes.CDLL(os.environ["NMS_BENCH_CORE"])
        self.call = typed(library.benchcore_run, ctypes.c_int64, c_void_p, c_size_t, c_size_t,
                          ctypes.c_float, ctypes.c_uint64, c_size_t, c_size_t, ctypes.c_int,
                          c_void_p, c_void_p)
        self.compiler = ctypes.c_char_p.in_dll(library, "benchcore_compiler").value.decode()

    def load(self, name):
        self.workload, self.next = workloads.make(name), 0
        self.pointers = np.array([[0 if a is None else a.ctypes.data for a in frame]
                                  for frame in self.workload.frames], np.uintp)

    def run(self, count, clock):
        return self.timed(self.next, count, clock)[0]

    def kept(self):
        return self.timed(0, 1, "cpu")[1]

    def timed(self, first, count, clock):
        """Returns the times of calls in microseconds, and the boxes that the last one kept."""
        w, frames = self.workload, len(self.pointers)
        times, kept = np.empty(count, np.uint64), np.empty(w.count, np.int32)
        clock = time.CLOCK_PROCESS_CPUTIME_ID if clock == "cpu" else time.CLOCK_MONOTONIC
        number = self.call(self.pointers.ctypes.data, frames, w.count, w.iou, w.cap, first, count,
                           clock, times.ctypes.data, kept.ctypes.data)
        if number < 0:
            raise ValueError("nms_run fails")
        self.next = (first + count) % frames
        return (times / 1e3).tolist(), kept[:number]

    def engine(self):
        """Returns the engine and the instruction set for the first frame."""
        import nmscore
        w = self.workload
        return nmscore.run(*w.frames[0], iou_threshold=w.iou,
                           max_detections=w.cap).engine.replace("/", ", ")


SYSTEMS = {
    "gst-nms": Core,
    "gst-nms (Python)": Ours,
    "gst-nms (xla)": Xla,
    "torchvision": Torchvision,
    "onnxruntime": OnnxRuntime,
    "OpenCV": OpenCV,
    "powerboxes": Powerboxes,
    "powerboxes rtree": PowerboxesTree,
    "lsnms": Lsnms,
    "BOE-NMS": BoeNms,
    "QSI-NMS": QsiNms,
    "eQSI-NMS": EqsiNms,
}


# ------------------------------------------------------------------- methods

@dataclasses.dataclass
class Rival:
    """Another library's call for a method. `make` returns it, as a function without arguments, for
    a case: rows, scores, threshold, angles, and for fusion classes, sources and weights. `theirs`
    and `ours` bring the results into one form; without them the results are not compared."""
    method: str
    metric: str
    name: str
    make: object
    theirs: object = None
    ours: object = None
    options: dict = dataclasses.field(default_factory=dict)  # of nmscore.run
    side: int = 640  # the corners that are compared lie in 0..side
    timed: bool = True


def kept_of(result):
    return set(result.kept.tolist())


def clusters_of(result):
    """Returns {head: members}."""
    return {int(k): {int(i) for i in np.flatnonzero(result.suppressed_by == k)}
            for k in result.kept}


def boxes_of(result):
    return {tuple(box) for box in result.boxes.tolist()}


def sahi(function, metric, case):
    """SAHI chooses its fastest backend on a CPU, numba, which ensemble-boxes depends on."""
    from sahi.postprocess import combine
    table = np.column_stack([case.rows, case.scores, np.zeros(len(case.rows))]).astype(np.float32)
    return lambda: getattr(combine, function)(table, metric.upper(), case.threshold)


def supervision(function, metric, case):
    import supervision as library
    table = np.column_stack([case.rows, case.scores]).astype(np.float32)
    kind = library.OverlapMetric[metric.upper()]
    return lambda: getattr(library, function)(table, case.threshold, kind)


def supervision_boxes(metric, case):
    import supervision as library
    detections = library.Detections(case.rows.copy(), confidence=case.scores.copy())
    return lambda: detections.with_nmm(case.threshold, class_agnostic=True,
                                       overlap_metric=library.OverlapMetric[metric.upper()]).xyxy


def ensemble(function, options, case):
    """Gives ensemble_boxes lists with one element for each source."""
    import ensemble_boxes
    chosen = [np.flatnonzero(case.sources == s) for s in range(len(case.weights))]
    lists = [[column[i] for i in chosen] for column in (
        case.rows.astype(np.float64), case.scores.astype(np.float64), case.classes)]
    weights = case.weights if len(chosen) > 1 else None
    return lambda: getattr(ensemble_boxes, function)(
        *lists, weights=weights, iou_thr=case.threshold, **options)


def opencv_soft(number, case):
    import cv2
    boxes, ranks = with_sizes(case.rows.astype(int)).tolist(), case.scores.tolist()
    return lambda: cv2.dnn.softNMSBoxes(boxes, ranks, 0.001, case.threshold, 0, 0.5, number)


def opencv_rotated(case):
    import cv2
    boxes = [(((x1 + x2) / 2, (y1 + y2) / 2), (x2 - x1, y2 - y1), angle)
             for (x1, y1, x2, y2), angle in zip(case.rows.tolist(),
                                                np.degrees(case.angles).tolist())]
    ranks = case.scores.tolist()
    return lambda: cv2.dnn.NMSBoxesRotated(boxes, ranks, 0.0, case.threshold)


def rivals():
    """Yields a row for each method, metric and library."""
    for kind in "avg", "max", "box-and-model-avg", "absent-model-aware-avg":
        options = {"conf_type": kind.replace("-", "_")}
        yield Rival("weighted", "iou", "ensemble-boxes" + (kind != "avg") * f" {kind}",
                    partial(ensemble, "weighted_boxes_fusion", options),
                    lambda r: np.column_stack([r[1], r[0]]),
                    lambda r: np.column_stack([r.scores, r.boxes]), {"fused_score": kind}, side=1,
                    timed=kind == "avg")
    for number, method in (1, "soft-linear"), (2, "soft-gaussian"):
        options = {"method": number, "sigma": 0.5, "thresh": 0.001}
        yield Rival(method, "iou", "ensemble-boxes", partial(ensemble, "soft_nms", options),
                    lambda r: {tuple(b) for b in r[0].tolist()}, boxes_of, side=1)
        yield Rival(method, "iou", "OpenCV", partial(opencv_soft, number),
                    lambda r: (set(np.ravel(r[1]).tolist()), np.sort(np.ravel(r[0]))),
                    lambda r: (kept_of(r), np.sort(r.scores)), timed=number == 2)
    yield Rival("hard", "iou", "OpenCV, rotated boxes", opencv_rotated)
    inclusive = {"inclusive": True}
    for metric in "iou", "ios":
        yield Rival("hard", metric, "SAHI nms", partial(sahi, "nms", metric), set, kept_of,
                    inclusive)
        yield Rival("hard", metric, "supervision",
                    partial(supervision, "box_non_max_suppression", metric),
                    lambda r: set(np.flatnonzero(r).tolist()), kept_of)
        yield Rival("greedy-merge", metric, "supervision",
                    partial(supervision, "box_non_max_merge", metric))
        yield Rival("greedy-merge", metric, "supervision, boxes",
                    partial(supervision_boxes, metric), lambda r: {tuple(b) for b in r.tolist()},
                    boxes_of, inclusive, timed=False)
        for method, function in ("greedy-merge", "greedy_nmm"), ("merge", "nmm"):
            yield Rival(method, metric, f"SAHI {function}", partial(sahi, function, metric),
                        lambda r: {k: set(v) for k, v in r.items()}, clusters_of, inclusive)
