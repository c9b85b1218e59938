# SPDX-License-Identifier: LGPL-2.1-or-later
"""onnxdetect: detectors in ONNX files, run by onnxruntime.

Takes YOLOv5 to 11 and YOLO26 as Ultralytics exports them, with and without NMS in the model, DETR
and its descendants, and SSD with boxes, scores and classes. Reports all boxes above the threshold
and suppresses none: that is nmsfilter's work. README.md of the folder above says how to install
onnxruntime.
"""
import ast
import json

import gi
gi.require_version("Gst", "1.0")
from gi.repository import GObject, Gst  # noqa: E402
import onnxheads  # noqa: E402
from regiondetector import DetectorError, RegionDetector  # noqa: E402

INSTALL = ("/usr/bin/python3 -m pip install --target ~/onnx onnxruntime 'numpy<2' "
           "&& export PYTHONPATH=~/onnx")
PADDING = 114       # the grey with which Ultralytics fills the rest of the input


def imported():
    try:
        import cv2
    except ImportError as error:
        raise DetectorError(f"onnxdetect needs OpenCV for Python ({error}). On Debian: "
                            "apt-get install python3-opencv") from error
    try:
        import onnxruntime
    except ImportError as error:
        raise DetectorError(f"onnxdetect needs onnxruntime ({error}): {INSTALL}") from error
    return cv2, onnxruntime


def read_labels(path):
    """{number: label} of a file: a JSON list or object, or a label on each line, from 0."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise DetectorError(f"cannot read the labels '{path}': {error}") from error
    try:
        labels = json.loads(text) if text.lstrip()[:1] in ("[", "{") else text.splitlines()
        pairs = labels.items() if isinstance(labels, dict) else enumerate(labels)
        return {int(number): str(label).strip() for number, label in pairs}
    except ValueError as error:
        raise DetectorError(f"'{path}' is no file of labels: {error}") from error


class OnnxDetect(RegionDetector):
    __gstmetadata__ = (
        "ONNX detector", "Filter/Analyzer/Video",
        "Attaches a region with a confidence for each box of a YOLO or SSD model", "gst-nms")

    model = GObject.Property(
        type=str, nick="Model", blurb="The ONNX file")
    labels = GObject.Property(
        type=str, nick="Labels",
        blurb="File with the names of the classes: one on each line, from class 0, or a JSON list "
              "or object {\"1\": \"person\"}. Default: the names in the model's metadata, "
              "otherwise the numbers")
    head = GObject.Property(
        type=str, default="auto", nick="Head",
        blurb="What the outputs are: yolov5 (also v7), yolov8 (also v9 and 11), end2end (YOLOv10, "
              "YOLO26 and YOLO with nms=True), ssd, detr, detr-sigmoid (RT-DETR, D-FINE, RF-DETR), "
              "or auto: by their number and shapes")
    score_threshold = GObject.Property(
        type=float, minimum=0, maximum=1, default=0.25, nick="Score threshold",
        blurb="Reports boxes with at least this confidence")
    letterbox = GObject.Property(
        type=bool, default=True, nick="Letterbox",
        blurb="Keeps the aspect ratio and fills the rest of the input with grey; false stretches "
              "the picture")
    input_size = GObject.Property(
        type=int, minimum=0, maximum=8192, default=0, nick="Input size",
        blurb="Width and height in pixels for a model whose input has no fixed size; 0: imgsz of "
              "the model's metadata, otherwise 640")
    mean = GObject.Property(
        type=str, default="0", nick="Mean",
        blurb="Inputs are (pixel - mean) / divisor; models with integer inputs get the pixels. One "
              "number, or three for red, green and blue: 123.675,116.28,103.53")
    divisor = GObject.Property(
        type=str, default="255", nick="Divisor",
        blurb="One number above 0, or three: 58.395,57.12,57.375 (see mean)")

    def load(self):
        self.cv2, onnxruntime = imported()
        if not self.model:
            raise DetectorError("onnxdetect needs the property model=FILE.onnx")
        if self.head not in onnxheads.HEADS:
            raise DetectorError(f"head={self.head} is none of {', '.join(onnxheads.HEADS)}")
        try:
            open(self.model, "rb").close()
            self.session = onnxruntime.InferenceSession(
                self.model, providers=onnxruntime.get_available_providers())
        except Exception as error:  # onnxruntime's exceptions have no common class
            raise DetectorError(f"cannot load the model '{self.model}': {error}") from error
        self.subtracted, self.divided = self.channels("mean"), self.channels("divisor")
        if (self.divided <= 0).any():
            raise DetectorError(f"divisor={self.divisor} is not above 0")
        self.names = read_labels(self.labels) if self.labels else self.metadata("names", dict, {})
        self.inspect_input()
        self.chosen = None if self.head == "auto" else self.head

    def channels(self, name):
        """Returns the numbers of a property for red, green and blue."""
        import numpy
        text = getattr(self, name)
        try:
            numbers = numpy.float32([float(part) for part in text.split(",")])
        except ValueError:
            numbers = numpy.float32([])
        if len(numbers) not in (1, 3) or not numpy.isfinite(numbers).all():
            raise DetectorError(f"{name}={text} is neither a number nor three")
        return numbers

    def metadata(self, name, kind, default):
        """A value that Ultralytics writes into the file, as Python's text of it."""
        try:
            text = self.session.get_modelmeta().custom_metadata_map[name]
            return kind(ast.literal_eval(text))
        except (KeyError, ValueError, SyntaxError, TypeError):
            return default

    def inspect_input(self):
        inputs = self.session.get_inputs()
        shape = inputs[0].shape
        channels = [shape[i] if len(shape) == 4 else None for i in (1, 3)]
        if len(inputs) != 1 or 3 not in channels:
            raise DetectorError(
                f"'{self.model}' has the inputs {[(i.name, i.shape) for i in inputs]}, not one "
                "input (1, 3, height, width) or (1, height, width, 3)")
        self.input, self.planar = inputs[0], channels[0] == 3
        height, width = shape[2:] if self.planar else shape[1:3]
        free = self.metadata("imgsz", list, [640, 640])
        free = [self.input_size] * 2 if self.input_size else free[::-1]
        self.size = tuple(v if isinstance(v, int) and v > 0 else other
                          for v, other in zip((width, height), free))
        kinds = {"tensor(float)": "float32", "tensor(float16)": "float16",
                 "tensor(uint8)": "uint8"}
        if self.input.type not in kinds:
            raise DetectorError(f"'{self.model}' has an input of {self.input.type}, not float, "
                                "float16 or uint8")
        self.kind = kinds[self.input.type]

    def detect(self, picture):
        fed, scale, offset = self.fit(picture)
        try:
            results = self.session.run(None, {self.input.name: fed})
        except Exception as error:  # onnxruntime's exceptions have no common class
            raise DetectorError(f"cannot run the model '{self.model}': {error}") from error
        outputs = {o.name: array for o, array in zip(self.session.get_outputs(), results)}
        try:
            self.chosen = self.chosen or onnxheads.choose(outputs, len(self.names))
            corners, scores, classes = onnxheads.decode(self.chosen, outputs, self.size)
            reported = self.reported(corners, scores)
        except onnxheads.HeadError as error:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in outputs.items())
            raise DetectorError(f"'{self.model}' with head={self.head}: {error}; its outputs are "
                                f"{shapes}") from error
        corners = (corners - (offset + offset)) / (scale + scale)
        for i in reported:
            number = int(classes[i])
            yield (self.names.get(number, str(number)), number, scores[i],
                   *map(float, corners[i]))

    def reported(self, corners, scores):
        """The indices of the boxes with at least score-threshold."""
        import numpy
        reported = (~(scores < self.score_threshold)).nonzero()[0]
        if not numpy.isfinite(corners[reported]).all() or not numpy.isfinite(scores).all():
            raise onnxheads.HeadError("a box has a number that is not finite")
        return reported

    def fit(self, picture):
        """Returns the input, and the factors and then the offsets that were applied to x and y."""
        import numpy
        width, height = self.size
        scale = width / picture.shape[1], height / picture.shape[0]
        if self.letterbox:
            scale = (min(scale),) * 2
        inner = tuple(max(round(n * s), 1) for n, s in zip(picture.shape[1::-1], scale))
        offset = (width - inner[0]) // 2, (height - inner[1]) // 2
        canvas = numpy.full((height, width, 3), PADDING, numpy.uint8)
        canvas[offset[1]:offset[1] + inner[1], offset[0]:offset[0] + inner[0]] = \
            self.cv2.resize(picture, inner)
        if self.kind != "uint8":
            canvas = ((canvas - self.subtracted) / self.divided).astype(self.kind)
        if self.planar:
            canvas = canvas.transpose(2, 0, 1)
        return numpy.ascontiguousarray(canvas[None]), scale, offset


GObject.type_register(OnnxDetect)
__gstelementfactory__ = ("onnxdetect", Gst.Rank.NONE, OnnxDetect)
