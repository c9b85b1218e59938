# SPDX-License-Identifier: LGPL-2.1-or-later
"""onnxheads: boxes from the outputs of ONNX detectors, as arrays.

Each function returns (corners, scores, classes): corners is (N, 4), left top right bottom in
pixels of the model's input; classes are numbers as the model counts them. All work on whole
arrays, because a frame has up to 25,200 candidates.
"""
import numpy

HEADS = ("auto", "yolov5", "yolov8", "end2end", "ssd", "detr", "detr-sigmoid")


class HeadError(Exception):
    """An error: the outputs do not have the form of the head."""


def choose(outputs, labels):
    """Names the head of the outputs, {name: array}; labels: number of labels, or 0."""
    if is_detr(outputs):
        count = queries(outputs)[1].shape[1]
        if labels in (count, count - 1):
            return "detr-sigmoid" if labels == count else "detr"
        raise HeadError(f"{labels} labels do not tell what its {count} logits are: set "
                        "head=detr-sigmoid, or head=detr if the last one means no object")
    if len(outputs) > 1:
        return "ssd"
    (array,) = outputs.values()
    if array.ndim == 3:
        rows, columns = array.shape[1:]
        if columns == 6 and (array[0, :, 5] == array[0, :, 5].round()).all():
            return "end2end"
        if labels and rows == labels + 4 or not labels and rows < columns:
            return "yolov8"
        if labels and columns == labels + 5 or not labels and columns < rows:
            return "yolov5"
    raise HeadError("no known head has these outputs")


def from_centers(boxes, scores):
    best = scores.argmax(axis=1)
    half = boxes[:, 2:4] / 2
    return (numpy.hstack((boxes[:, :2] - half, boxes[:, :2] + half)),
            scores[numpy.arange(len(best)), best], best)


def single(outputs):
    if len(outputs) != 1:
        raise HeadError("a YOLO head has one output")
    (array,) = outputs.values()
    if array.ndim != 3 or array.shape[0] != 1:
        raise HeadError("a YOLO head has an output of three dimensions, the first one 1")
    return array[0].astype(numpy.float32, copy=False)


def yolov5(outputs, size):
    """(1, N, 5 + classes): center, size, objectness, classes. YOLOv5 and v7."""
    array = single(outputs)
    if array.shape[1] < 6:
        raise HeadError("head yolov5 needs at least 6 columns")
    return from_centers(array, array[:, 4:5] * array[:, 5:])


def yolov8(outputs, size):
    """(1, 4 + classes, N): center, size, classes. YOLOv8, v9 and 11."""
    array = single(outputs).T
    if array.shape[1] < 5:
        raise HeadError("head yolov8 needs at least 5 rows")
    return from_centers(array, array[:, 4:])


def end2end(outputs, size):
    """(1, N, 6): left top right bottom, score, class. YOLOv10, YOLO26 and Ultralytics' nms=True,
    which fill the output with rows of score 0."""
    array = single(outputs)
    if array.shape[1] != 6:
        raise HeadError("head end2end needs 6 columns")
    array = array[~(array[:, 4] <= 0)]
    if not numpy.isfinite(array).all():
        raise HeadError("a box has a number that is not finite")
    return array[:, :4], array[:, 4], array[:, 5].astype(int)


def has_word(name, *words):
    return any(word in name.lower() for word in words)


def queries(outputs):
    """The boxes (N, 4) and logits (N, classes) of a DETR: found by their names, otherwise by their
    shapes. Masks and hidden states may be outputs, too."""
    arrays = {name: array[0] for name, array in outputs.items()
              if array.ndim == 3 and array.shape[0] == 1}
    boxes = {name for name, array in arrays.items() if array.shape[1] == 4}
    boxes = {name for name in boxes if has_word(name, "box", "det")} or boxes
    logits = {name for name, array in arrays.items()
              if name not in boxes and len(boxes) == 1 and len(array) == len(arrays[min(boxes)])}
    logits = {name for name in logits if has_word(name, "logit", "label", "class")} or logits
    if len(boxes) != 1 or len(logits) != 1:
        raise HeadError("a DETR has an output (1, queries, 4) with 'box' or 'det' in its name, and "
                        "an output (1, queries, classes) with 'logit', 'label' or 'class'")
    return tuple(arrays[min(names)].astype(numpy.float32) for names in (boxes, logits))


def is_detr(outputs):
    """Returns whether the names say so. (The shapes could be those of an SSD.)"""
    try:
        queries(outputs)
    except HeadError:
        return False
    return (named(outputs, "box", "det") is not None
            and named(outputs, "score", "conf") is None)


def detr(outputs, size):
    """Boxes and logits of DETR and Deformable DETR: the softmax of all classes, the last of which
    means no object. Boxes are center and size, normalised."""
    boxes, logits = queries(outputs)
    scores = numpy.exp(logits - logits.max(axis=1, keepdims=True))
    scores /= scores.sum(axis=1, keepdims=True)
    return from_centers(boxes * numpy.float32(size + size), scores[:, :-1])


def detr_sigmoid(outputs, size):
    """Does the same with the sigmoid of each class: RT-DETR, D-FINE, RF-DETR."""
    boxes, logits = queries(outputs)
    return from_centers(boxes * numpy.float32(size + size),
                        1 / (1 + numpy.exp(-logits.clip(-80, 80))))


def named(outputs, *words):
    """The first output whose name contains one of the words, without the dimension of batches."""
    for name, array in outputs.items():
        if has_word(name, *words):
            return array[0] if array.ndim > 1 and array.shape[0] == 1 else array
    return None


def ssd(outputs, size):
    """Outputs named boxes, scores, and classes or labels; or scores of all classes, with class
    0 the background. Corners are left top right bottom, or top left bottom right if an output
    has a name of TensorFlow's, `detection_...`. They are normalised if none is above 2. An output
    with one number, num_detections or num_dets, says how many of the boxes count."""
    boxes, scores = named(outputs, "box"), named(outputs, "score", "conf")
    classes = named(outputs, "class", "label")
    if boxes is None or scores is None or boxes.shape[-1] != 4:
        raise HeadError("head ssd needs outputs with 'box' (last dimension 4) and 'score' in "
                        "their names")
    boxes = boxes.reshape(-1, 4).astype(numpy.float32)
    if scores.ndim == 2:
        classes = scores[:, 1:].argmax(axis=1) + 1
        scores = scores[numpy.arange(len(classes)), classes]
    if len(scores) != len(boxes) or classes is None or len(classes) != len(boxes):
        raise HeadError("head ssd needs as many scores and classes as boxes")
    count = named(outputs, "num")
    if count is not None and count.size == 1:
        boxes, scores, classes = (a[:int(count.item())] for a in (boxes, scores, classes))
    if any("detection_" in name for name in outputs):
        boxes = boxes[:, [1, 0, 3, 2]]
    if boxes.size and boxes.max() <= 2:
        boxes = boxes * numpy.float32(size + size)
    return boxes, scores, classes.astype(int)


def decode(head, outputs, size):
    """Boxes of the outputs {name: array} of a model whose input has the size (width, height)."""
    return {"yolov5": yolov5, "yolov8": yolov8, "end2end": end2end, "ssd": ssd, "detr": detr,
            "detr-sigmoid": detr_sigmoid}[head](outputs, size)
