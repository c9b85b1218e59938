#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""models: tiny neural networks whose detections are known.

Each ignores its picture (it returns a constant plus 0 times the mean of the picture)
and returns given boxes in the layout of a family of detectors, so that inference and
decoders of GStreamer run as with a real network. Needs the Python
package onnx.
"""
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH, HEIGHT = 320, 240  # size of the input picture
LABELS = ("person", "car", "dog")


def _constant(name, array):
    return numpy_helper.from_array(numpy.asarray(array), name)


def _save(path, nodes, constants, outputs, metadata=()):
    """outputs: name -> shape, all of float."""
    nothing = [helper.make_node("ReduceMean", ["images"], ["mean"], keepdims=0),
               helper.make_node("Mul", ["mean", "zero"], ["nothing"])]
    graph = helper.make_graph(
        nothing + nodes, "constant",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, HEIGHT, WIDTH])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
         for name, shape in outputs.items()],
        [_constant("zero", numpy.float32(0))] + constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    for key, value in metadata:
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    onnx.checker.check_model(model)
    onnx.save(model, path)


def yolo(path, boxes):
    """Writes a model with the output of YOLOv8: for each box a column of cx cy w h and class
    scores. boxes: (x, y, w, h, class, score). Adds the description for GStreamer 1.28."""
    tensor = numpy.zeros((1, 4 + len(LABELS), len(boxes)), numpy.float32)
    for i, (x, y, w, h, label, score) in enumerate(boxes):
        tensor[0, :4, i] = x + w / 2, y + h / 2, w, h
        tensor[0, 4 + label, i] = score
    _save(path, [helper.make_node("Add", ["answer", "nothing"], ["output0"])],
          [_constant("answer", tensor)], {"output0": tensor.shape})
    with open(path + ".modelinfo", "w", encoding="ascii") as info:
        info.write("""[modelinfo]
version=1.0
group-id=yolo-v8-out

[images]
id=yolo-v8-in
type=float32
dims=1,3,%d,%d
dir=input
ranges=0.0,1.0;0.0,1.0;0.0,1.0

[output0]
id=yolo-v8-out
type=float32
dims=%s
dir=output
dims-order=col-major
""" % (HEIGHT, WIDTH, ",".join(map(str, tensor.shape))))


def ssd(path, boxes):
    """Writes a model with the output of SSD MobileNet: four tensors, corners as fractions,
    y first, with the names that GStreamer 1.26 expects."""
    corners = [[y / HEIGHT, x / WIDTH, (y + h) / HEIGHT, (x + w) / WIDTH]
               for x, y, w, h, _, _ in boxes]
    tensors = {"boxes": [corners], "scores": [[box[5] for box in boxes]],
               "detection_classes": [[box[4] for box in boxes]], "num_detections": [len(boxes)]}
    names = {"boxes": "Boxes", "scores": "Scores", "detection_classes": "Classes",
             "num_detections": "NumDetections"}
    arrays = {name: numpy.array(values, numpy.float32) for name, values in tensors.items()}
    _save(path,
          [helper.make_node("Add", ["answer_" + name, "nothing"], [name]) for name in arrays],
          [_constant("answer_" + name, array) for name, array in arrays.items()],
          {name: array.shape for name, array in arrays.items()},
          [(name, "Gst.Model.ObjectDetector." + names[name]) for name in arrays])
