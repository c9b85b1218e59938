#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""models: tiny neural networks whose detections are known, made from .modelinfo files.

Each multiplies given boxes, in the layout of a family of detectors, by the brightness of its
picture: they are exact if the picture is white and its values come in the range that the file
states. So inference and decoders of GStreamer run as with a real network. Needs the Python
package onnx.
"""
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

LABELS = ("person", "car", "dog")
TYPES = {"float32": TensorProto.FLOAT, "uint8": TensorProto.UINT8}
SSD = "ssd-mobilenet-v1-variant-1-out-"
# What GStreamer 1.26, which reads no .modelinfo file, looks for in the model itself.
KEYS = {SSD + "boxes": "Boxes", SSD + "scores": "Scores", SSD + "classes": "Classes",
        "generic-variant-1-out-count": "NumDetections"}


def _tensor(name, section):
    dims = [size if size >= 0 else "%s %d" % (name, i)
            for i, size in enumerate(map(int, section["dims"].split(",")))]
    return helper.make_tensor_value_info(name, TYPES[section["type"]], dims)


def _save(path, info, answers):
    """Writes the model that `info` (a ConfigParser) describes. answers: id -> array. Sizes
    depend on the picture, because ssdtensordec accepts no size that is known before."""
    names = {section["id"]: name for name, section in info.items() if "id" in section}
    (image,) = (name for name, section in info.items() if section.get("dir") == "input")
    constants = {"white": numpy.float32(info[image]["ranges"].split(";")[0].split(",")[1]),
                 "all": numpy.float32([1e6]), "0": numpy.int64([0]), "1": numpy.int64([1])}
    nodes = [helper.make_node("Cast", [image], ["floats"], to=TensorProto.FLOAT),
             helper.make_node("ReduceMean", ["floats"], ["mean"], keepdims=0),
             helper.make_node("Div", ["mean", "white"], ["fraction"]),
             helper.make_node("Round", ["fraction"], ["brightness"]),
             helper.make_node("Mul", ["all", "brightness"], ["count"]),
             helper.make_node("Cast", ["count"], ["end"], to=TensorProto.INT64)]
    for key, answer in answers.items():
        constants["answer " + key] = answer = numpy.float32(answer)
        nodes += [helper.make_node("Mul", ["answer " + key, "brightness"], [key]),
                  helper.make_node("Slice", [key, "0", "end", str(min(answer.ndim - 1, 1))],
                                   [names[key]])]
    graph = helper.make_graph(
        nodes, "constant", [_tensor(image, info[image])],
        [_tensor(names[key], info[names[key]]) for key in answers],
        [numpy_helper.from_array(numpy.asarray(array), name)
         for name, array in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    for key in KEYS.keys() & answers.keys():
        entry = model.metadata_props.add()
        entry.key, entry.value = names[key], "Gst.Model.ObjectDetector." + KEYS[key]
    onnx.checker.check_model(model)
    onnx.save(model, path)


def yolo(path, info, boxes):
    """Writes a model with the output of YOLOv8: for each box a column of cx cy w h and class
    scores. boxes: (x, y, w, h, class, score)."""
    (output,) = (section for section in info.values() if section.get("dir") == "output")
    tensor = numpy.zeros([int(size) for size in output["dims"].split(",")], numpy.float32)
    for i, (x, y, w, h, label, score) in enumerate(boxes):
        tensor[0, :4, i] = x + w / 2, y + h / 2, w, h
        tensor[0, 4 + label, i] = score
    _save(path, info, {output["id"]: tensor})


def ssd(path, info, boxes, width, height):
    """Writes a model with the output of SSD MobileNet: four tensors, corners as fractions of
    this size, y first."""
    corners = [[y / height, x / width, (y + h) / height, (x + w) / width]
               for x, y, w, h, _, _ in boxes]
    _save(path, info, {SSD + "boxes": [corners], SSD + "scores": [[box[5] for box in boxes]],
                       SSD + "classes": [[box[4] for box in boxes]],
                       "generic-variant-1-out-count": [len(boxes)]})
