#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""onnxmodels: writes ONNX files whose detections are known, for test-onnxdetect.sh.

Every model has an input of 320 x 240 and the same two boxes, in pixels of the input, with a
score of 0.9 for class 1 and of 0.6 for class 0; a third box has a score of 0.1. In mean.onnx
the scores are the mean of the first channel of the input instead. yolo26n.onnx finds the first box
twice, the second time as class 0. yolov8-half.onnx has an input and an output of float16.
detr-masks.onnx has further outputs, detr-unnamed.onnx outputs whose names say nothing,
efficient.onnx rows that do not count, empty.onnx none, and not-finite.onnx a box that is none.
batch.onnx wants four pictures.
"""
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

CORNERS = numpy.float32([[32, 48, 64, 120], [100, 60, 200, 180], [5, 5, 10, 10]])
SCORES = numpy.float32([[0, 0.9], [0.6, 0], [0, 0.1]])
SIZE = numpy.float32([320, 240, 320, 240])


def save(name, outputs, shape=(1, 3, 240, 320), kind=TensorProto.FLOAT, scored=None,
         result=TensorProto.FLOAT, free=None):
    """outputs: name -> array. scored: the output to which the mean of channel 0 is added. result:
    the type of the outputs. free: their declared shape."""
    nodes = [helper.make_node("Cast", ["images"], ["floats"], to=TensorProto.FLOAT),
             helper.make_node("Slice", ["floats", "from", "to", "axis"], ["red"]),
             helper.make_node("ReduceMean", ["red"], ["mean"], keepdims=0),
             helper.make_node("Mul", ["mean", "zero"], ["nothing"])]
    constants = {"zero": numpy.float32(0), "from": numpy.int64([0]), "to": numpy.int64([1]),
                 "axis": numpy.int64([1])}
    for output, array in outputs.items():
        constants["answer_" + output] = numpy.float32(array)
        nodes.append(helper.make_node(
            "Add", ["answer_" + output, "mean" if output == scored else "nothing"],
            ["sum_" + output]))
        nodes.append(helper.make_node("Cast", ["sum_" + output], [output], to=result))
    graph = helper.make_graph(
        nodes, "answers", [helper.make_tensor_value_info("images", kind, shape)],
        [helper.make_tensor_value_info(output, result, free or numpy.shape(array))
         for output, array in outputs.items()],
        [numpy_helper.from_array(numpy.asarray(array), constant)
         for constant, array in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    if name.startswith("yolov8"):
        entry = model.metadata_props.add()
        entry.key, entry.value = "names", "{0: 'person', 1: 'car'}"
    onnx.checker.check_model(model)
    onnx.save(model, name + ".onnx")


def main():
    centers = numpy.hstack(((CORNERS[:, :2] + CORNERS[:, 2:]) / 2, CORNERS[:, 2:] - CORNERS[:, :2]))
    one = numpy.ones((3, 1), numpy.float32)
    many = numpy.zeros((20, 7), numpy.float32)
    many[:3] = numpy.hstack((centers, one / 2, SCORES * 2))
    save("yolov5", {"output0": many[None]})
    many = numpy.zeros((6, 20), numpy.float32)
    many[:, :3] = numpy.hstack((centers, SCORES)).T
    save("yolov8", {"output0": many[None]})
    save("yolov8-half", {"output0": many[None]}, kind=TensorProto.FLOAT16,
         result=TensorProto.FLOAT16)
    save("free", {"output0": many[None]}, shape=("batch", 3, "height", "width"))
    best, classes = SCORES.max(axis=1), SCORES.argmax(axis=1)
    save("ssd", {"boxes": CORNERS, "labels": classes, "scores": best})
    save("mean", {"boxes": CORNERS, "labels": classes, "scores": best * 0}, scored="scores")
    save("tensorflow", {"detection_boxes": (CORNERS / SIZE)[None][:, :, [1, 0, 3, 2]],
                        "detection_classes": classes[None], "detection_scores": best[None],
                        "num_detections": [3]}, shape=(1, 240, 320, 3), kind=TensorProto.UINT8)
    save("background", {"boxes": (CORNERS / SIZE)[None],
                        "scores": numpy.hstack((one / 10, SCORES))[None]})
    many = numpy.zeros((300, 6), numpy.float32)
    many[:3] = numpy.hstack((CORNERS, best[:, None], classes[:, None]))
    save("end2end", {"output0": many[None]})
    save("empty", {"output0": many[None, :0]}, free=("batch", "boxes", 6))
    save("batch", {"output0": many[None]}, shape=(4, 3, 240, 320))
    save("efficient", {"num_dets": [[2]], "det_boxes": CORNERS[None], "det_scores": best[None],
                       "det_classes": classes[None]})
    many[0, 2] = numpy.inf
    save("not-finite", {"output0": many[None]})
    many[0, 2] = CORNERS[0, 2]
    many[3] = numpy.hstack((CORNERS[0] + 1, 0.5, 1 - classes[0]))
    save("yolo26n", {"output0": many[None]})
    # DETR's softmax has a last class "no object", the others sigmoids of their own.
    boxes = (centers / SIZE)[None]
    rest = 1 - SCORES.sum(axis=1, keepdims=True)
    with numpy.errstate(divide="ignore"):
        logits = numpy.log(numpy.hstack((SCORES, rest)))
        sigmoids = numpy.log(SCORES / (1 - SCORES))
    save("detr", {"logits": logits.clip(-50)[None] + 3, "pred_boxes": boxes})
    save("rf-detr", {"dets": boxes, "labels": sigmoids.clip(-50)[None]})
    save("detr-masks", {"masks": numpy.zeros((1, 3, 20, 20)), "labels": sigmoids.clip(-50)[None],
                        "last_hidden_state": numpy.zeros((1, 3, 16)), "dets": boxes})
    save("detr-unnamed", {"output0": sigmoids.clip(-50)[None], "output1": boxes})
    save("classifier", {"output0": [[0.5, 0.5]]})
    save("grey", {"output0": many[None]}, shape=(1, 1, 240, 320))


main()
