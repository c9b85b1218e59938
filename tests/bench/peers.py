# SPDX-License-Identifier: LGPL-2.1-or-later
"""The systems that are compared, each called in its fastest form.

Whatever a caller can do once (conversion to a tensor or a list, session options,
loops over classes turned into an offset) is done in prepare () and not timed; the
timed call returns when the indices of the kept boxes are in the system's own form.
One thread each. Where a system knows no classes, the boxes of each class are moved
apart by an offset beforehand, free of charge.

To add a system: a class here and a package in requirements.txt. The systems with other methods than
plain NMS are the rows of rivals ().
"""
import ctypes
import dataclasses
import importlib.metadata
import os
import time
from functools import partial

import numpy as np

import workloads

MANY = 10_000_000


def with_sizes(rows):
    """Returns rows x y w h."""
    return np.concatenate([rows[:, :2], rows[:, 2:] - rows[:, :2]], 1)


def with_offset(rows, classes):
    """Returns corners moved apart by class, so that boxes of two classes do not overlap."""
    if classes is None:
        return rows
    rank = np.unique(classes, return_inverse=True)[1]
    return rows.astype(float) + (rank * (float(rows.max()) - float(rows.min()) + 1))[:, None]


class Peer:
    packages = ()  # distributions whose versions are reported
    exact = True  # keeps the boxes that NMS keeps
    ours = False
    most = 100_000  # boxes of a call, because the time grows with the square of their number

    def versions(self):
        return {p: importlib.metadata.version(p) for p in self.packages}

    def load(self, name):
        """Makes a workload, and its calls, one for each frame."""
        w = workloads.make(name)
        self.calls, self.next = [], 0
        for frame in w.frames:
            self.calls.append(self.prepare(*frame, w.iou, w.cap))

    def prepare(self, rows, scores, classes, iou, cap):
        """Returns the timed call, a function without arguments."""
        raise NotImplementedError

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
        return self.indices(self.calls[0]()).copy()

    def about(self):
        """Returns what was used at the last call."""
        return {"versions": self.versions()}

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
        end = cap or None
        if classes is None:
            return lambda: ops.nms(boxes, ranks, iou)[:end]
        ids = torch.from_numpy(classes.astype(np.int64))
        return lambda: ops.batched_nms(boxes, ranks, ids, iou)[:end]

    def indices(self, result):
        return result.numpy().astype(np.int32)


class OnnxRuntime(Peer):
    """The operator NonMaxSuppression in a model of its own, inputs bound once. With
    classes: one row of scores a class, as the operator wants it."""
    packages = ("onnxruntime",)

    def prepare(self, rows, scores, classes, iou, cap):
        import onnxruntime as ort
        inputs = {"boxes": rows[None], "scores": scores[None, None],
                  "most": np.array([cap or len(scores)]), "iou": np.array([iou], np.float32)}
        if classes is not None:
            ids, rank = np.unique(classes, return_inverse=True)
            low = np.nextafter(scores.min(), np.float32(-np.inf))
            table = np.full((1, len(ids), len(scores)), low, np.float32)
            table[0, rank, np.arange(len(scores))] = scores
            inputs |= {"scores": table, "above": np.array([low], np.float32)}
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
        wide = rows.astype(np.float64)
        wide[:, 2:] -= wide[:, :2]
        boxes, ranks = list(map(tuple, wide.tolist())), scores.tolist()
        end = cap or None
        if classes is None:
            return lambda: cv2.dnn.NMSBoxes(boxes, ranks, 0.0, iou)[:end]
        ids = classes.tolist()
        return lambda: cv2.dnn.NMSBoxesBatched(boxes, ranks, ids, 0.0, iou)[:end]


class Powerboxes(Peer):
    packages = ("powerboxes",)
    function = "nms"

    def prepare(self, rows, scores, classes, iou, cap):
        import powerboxes
        nms = getattr(powerboxes, self.function)
        boxes = with_offset(rows, classes)
        ranks, end = scores.astype(np.float64), cap or None
        low = min(0.0, float(ranks.min()))
        return lambda: nms(boxes, ranks, iou, low)[:end]


class PowerboxesTree(Powerboxes):
    function, most = "rtree_nms", MANY


class Lsnms(Peer):
    packages, most = ("lsnms",), MANY

    def prepare(self, rows, scores, classes, iou, cap):
        import lsnms
        end = cap or None
        ids = None if classes is None else classes.astype(np.int64)
        return lambda: lsnms.nms(rows, scores, iou_threshold=iou, class_ids=ids)[:end]


class BoeNms(Peer):
    """BOE-NMS, from a checkout of NMS-Bench that run.sh compiles (nmsbench.cc). A box is compared
    with those whose centres lie in it, which is exact for thresholds from 0.5 on."""
    method, most = b"b", MANY

    def __init__(self):
        path = os.environ.get("NMS_BENCH_LIBRARY")
        if not path:
            raise ImportError("NMS_BENCH_CHECKOUT names no checkout of NMS-Bench")
        self.library = ctypes.CDLL(path)
        self.library.nmsbench_load.restype = ctypes.c_void_p
        self.library.nmsbench_run.restype = ctypes.c_size_t

    def prepare(self, rows, scores, classes, iou, cap):
        if cap or classes is not None or iou < 0.5:
            raise NotImplementedError("no caps, classes or thresholds below 0.5")
        load, run = self.library.nmsbench_load, self.library.nmsbench_run
        boxes = ctypes.c_void_p(load(rows.ctypes.data_as(ctypes.c_void_p),
                                     scores.ctypes.data_as(ctypes.c_void_p),
                                     ctypes.c_size_t(len(scores))))
        kept = np.empty(len(scores), np.uint32)
        arguments = (boxes, ctypes.c_char(self.method), ctypes.c_double(iou),
                     kept.ctypes.data_as(ctypes.c_void_p))
        return lambda: kept[:run(*arguments)]

    def indices(self, result):
        return result.astype(np.int32)


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
        library.benchcore_new.restype = ctypes.c_void_p
        library.benchcore_kept.restype = ctypes.c_size_t
        library.benchcore_about.restype = ctypes.c_char_p
        self.library, self.frames = library, []
        self.bench = ctypes.c_void_p(library.benchcore_new())

    def load(self, name):
        self.frames = []
        super().load(name)

    def prepare(self, rows, scores, classes, iou, cap):
        if not self.frames:
            self.library.benchcore_clear(self.bench, ctypes.c_float(iou), ctypes.c_uint64(cap))
        self.frames.append((rows, scores, classes))  # alive as long as the library has them
        pointers = [None if a is None else a.ctypes.data_as(ctypes.c_void_p)
                    for a in (rows, scores, classes)]
        self.library.benchcore_add(self.bench, *pointers, ctypes.c_size_t(len(scores)))
        return self.first

    def run(self, count, clock):
        times = np.empty(count, np.uint64)
        clock = time.CLOCK_PROCESS_CPUTIME_ID if clock == "cpu" else time.CLOCK_MONOTONIC
        if self.library.benchcore_run(self.bench, ctypes.c_size_t(count), clock,
                                      times.ctypes.data_as(ctypes.c_void_p)):
            raise ValueError(self.text(b"x"))
        return (times / 1e3).tolist()

    def first(self):
        kept = ctypes.POINTER(ctypes.c_int32)()
        count = self.library.benchcore_kept(self.bench, ctypes.byref(kept))
        return np.ctypeslib.as_array(kept, (count,)) if count else np.zeros(0, np.int32)

    def text(self, what):
        return self.library.benchcore_about(self.bench, ctypes.c_char(what)).decode()

    def about(self):
        return super().about() | {"engine": self.text(b"e"), "cpu": self.text(b"i"),
                                  "compiler": self.text(b"c")}


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


def source_lists(case):
    """Returns the lists of ensemble_boxes, one element for each source."""
    chosen = [np.flatnonzero(case.sources == s) for s in range(len(case.weights))]
    return ([case.rows[i].astype(np.float64) for i in chosen],
            [case.scores[i].astype(np.float64) for i in chosen], [case.classes[i] for i in chosen])


def fusion(kind, case):
    import ensemble_boxes
    lists = source_lists(case)
    return lambda: ensemble_boxes.weighted_boxes_fusion(
        *lists, weights=case.weights, iou_thr=case.threshold, conf_type=kind.replace("-", "_"))


def soft_nms(number, case):
    import ensemble_boxes
    lists = source_lists(case)
    return lambda: ensemble_boxes.soft_nms(*lists, method=number, iou_thr=case.threshold,
                                           sigma=0.5, thresh=0.001)


def opencv_soft(number, case):
    import cv2
    boxes, ranks = with_sizes(case.rows.astype(int)).tolist(), case.scores.tolist()
    return lambda: cv2.dnn.softNMSBoxes(boxes, ranks, 0.001, case.threshold, 0, 0.5, number)


def opencv_rotated(case):
    import cv2
    boxes = [((float(x1 + x2) / 2, float(y1 + y2) / 2), (float(x2 - x1), float(y2 - y1)),
              float(np.degrees(a)))
             for (x1, y1, x2, y2), a in zip(case.rows.astype(np.float64), case.angles)]
    ranks = case.scores.tolist()
    return lambda: cv2.dnn.NMSBoxesRotated(boxes, ranks, 0.0, case.threshold)


def rivals():
    """Yields a row for each method, metric and library."""
    for kind in "avg", "max", "box-and-model-avg", "absent-model-aware-avg":
        yield Rival("weighted", "iou", "ensemble-boxes" + (kind != "avg") * f" {kind}",
                    partial(fusion, kind), lambda r: np.column_stack([r[1], r[0]]),
                    lambda r: np.column_stack([r.scores, r.boxes]), {"fused_score": kind}, side=1,
                    timed=kind == "avg")
    for number, method in (1, "soft-linear"), (2, "soft-gaussian"):
        yield Rival(method, "iou", "ensemble-boxes", partial(soft_nms, number),
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
