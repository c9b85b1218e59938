#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""nmscore.tune: its figures by COCO's evaluation, its files and errors."""
import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import numpy as np

from nmscore._precision import Boxes, evaluate


def drawn_boxes(images, classes, marked, count, crowds):
    """Returns marked boxes, and found boxes near them, of which many have equal scores. Draws by
    random(), which gives the same numbers in every version of Python."""
    draw = random.Random(marked).random

    def whole(least, most, *shape):
        values = [least + int(draw() * (most + 1 - least)) for _ in range(int(np.prod(shape)))]
        return np.array(values).reshape(shape)
    rows = np.concatenate((whole(0, 60, marked, 2), whole(5, 40, marked, 2)), axis=1).astype(float)
    truth = Boxes(whole(0, images - 1, marked), whole(0, classes - 1, marked), rows,
                  np.ones(marked), whole(1, 100, marked) <= 100 * crowds)
    source = whole(0, marked - 1, count)
    near = rows[source] + whole(-3, 3, count, 4)
    near[:, 2:] = np.maximum(near[:, 2:], 1)
    found = Boxes(truth.image[source], np.where(whole(1, 10, count) > 1, truth.class_id[source],
                                                whole(0, classes - 1, count)),
                  near, whole(0, 99, count) / 100, np.zeros(count, bool))
    return found.take(np.argsort(found.image, kind="stable")), truth


# images, classes, marked boxes, found boxes, part of crowds; AP, AP50 and the greatest F1: means
# over the classes, from an evaluation that matched one box after another
FIGURES = (
    (1, 1, 30, 400, 0.0, 0.278097404, 0.650501149, 0.612903226),
    (2, 2, 30, 237, 0.2, 0.278553566, 0.620434336, 0.643750000),
    (3, 3, 35, 127, 0.0, 0.281428032, 0.653070640, 0.630421866),
    (3, 1, 10, 246, 0.2, 0.188425697, 0.593059063, 0.588235294),
    (1, 2, 32, 124, 0.2, 0.224839008, 0.501169886, 0.565062389),
    (4, 3, 5, 40, 0.0, 0.444037510, 0.849717115, 0.875000000))


class Figures(unittest.TestCase):
    def test_figures(self):
        """The test framework-coco compares AP and AP50 of other boxes with pycocotools."""
        for images, classes, marked, count, crowds, *wanted in FIGURES:
            got = evaluate(*drawn_boxes(images, classes, marked, count, crowds), classes)
            np.testing.assert_allclose([np.nanmean(column) for column in got[:3]], wanted, 0, 1e-9)


def write_coco(folder):
    """Writes 20 objects and two boxes of each; the name of class 3 is "car"."""
    boxes = [[40 * i, 30, 20 + i, 30] for i in range(20)]
    truth = {"images": [{"id": 7}, {"id": 8}], "categories": [{"id": 3, "name": "car"}],
             "annotations": [{"id": i + 1, "image_id": 7, "category_id": 3, "bbox": box,
                              "iscrowd": 0, "area": box[2] * box[3]}
                             for i, box in enumerate(boxes)]}
    found = [{"image_id": 7, "category_id": 3, "bbox": box, "score": 0.9 - i / 100 - second}
             for i, box in enumerate(boxes) for second in (0, 0.005)]
    (folder / "truth.json").write_text(json.dumps(truth))
    (folder / "boxes.json").write_text(json.dumps(found))


def write_lines(folder):
    """The same as two recordings, whose boxes are fractions of the frame."""
    truth, found = [], []
    for i in range(20):
        box = {"x_min": 0.1, "y_min": 0.2, "x_max": 0.3 + 0.01 * i, "y_max": 0.4}
        frame = {"timestamp": i * 40000000, "resolution": {"width": 1000, "height": 1000}}
        truth.append({**frame, "objects": [{"roi_type": "car",
                                            "detection": {"bounding_box": box}}]})
        found.append({**frame, "objects": [
            {"roi_type": "car", "detection": {"bounding_box": box, "confidence": 0.9 - i / 100 - d}}
            for d in (0, 0.005)]})
    for name, lines in (("truth.jsonl", truth), ("boxes.jsonl", found)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))


def tune(folder, *words):
    return subprocess.run([sys.executable, "-m", "nmscore.tune", *words], cwd=folder,
                          capture_output=True, text=True, check=False)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        write_coco(self.folder)
        write_lines(self.folder)

    def test_duplicates_are_removed(self):
        for boxes, truth in (("boxes.json", "truth.json"), ("boxes.jsonl", "truth.jsonl")):
            done = tune(self.folder, boxes, truth, "--method=hard", "--iou-threshold=0.4..0.6",
                        "--table=all.csv")
            self.assertEqual((done.stderr, done.returncode), ("", 0))
            rows = [line.split() for line in done.stdout.splitlines()
                    if line.startswith(("hard", "without"))]
            self.assertEqual([row[2] for row in rows[1:]], ["0.4", "0.5", "0.6"])
            self.assertLess(float(rows[0][-3]), 80)
            for row in rows[1:]:
                self.assertEqual(row[-4:], ["20", "100.00", "100.00", "100.00"])
            with open(self.folder / "all.csv", encoding="utf-8", newline="") as file:
                table = list(csv.DictReader(file))
            self.assertEqual([row["method"] for row in table], ["none"] + 3 * ["hard"])
            self.assertEqual({row["class"] for row in table}, {"car"})
            self.assertIn("! nmsfilter iou-threshold=0.4 score-threshold=0.71 !", done.stdout)

    def test_pipelines(self):
        for words, element in (
                (["--method=soft-gaussian", "--sigma=0.3"],
                 "nmsfilter method=soft-gaussian method-options=o,sigma=0.3,min-score=0."),
                (["--method=hard", "--metric=ios", "--iou-threshold=0.5", "--class-agnostic"],
                 "nmsfilter metric=ios iou-threshold=0.5 class-agnostic=true score-threshold=0.71"),
                (["--method=average", "--iou-threshold=0.5"],
                 "nmsfilter method=average iou-threshold=0.5 ! nmsfilter iou-threshold=1 ")):
            done = tune(self.folder, "boxes.jsonl", "truth.jsonl", *words)
            self.assertIn("boxreplay location=boxes.jsonl ! " + element, done.stdout, done.stderr)

    def test_boxes_without_truth_are_counted(self):
        with open(self.folder / "boxes.jsonl", "a", encoding="utf-8") as file:
            file.write('{"timestamp": 5, "objects": [{"x": 1, "y": 1, "w": 9, "h": 9}]}\n')
        self.assertIn("\n1 more found boxes are left out",
                      tune(self.folder, "boxes.jsonl", "truth.jsonl").stdout)

    def test_errors(self):
        (self.folder / "broken.jsonl").write_text('{"objects": []}\n{"objects": [{"x": 1}]}\n')
        (self.folder / "broken.json").write_text('[{"image_id": 7, "category_id": 3, "score": 1}]')
        (self.folder / "other.json").write_text(
            '[{"image_id": 1, "category_id": 3, "score": 1, "bbox": [1, 2, 3, 4]}]')
        for words, status, message in (
                (["none.json", "truth.json"], 1, "none.json: No such file"),
                (["broken.jsonl", "truth.jsonl"], 1, "broken.jsonl:2: 'y' is missing"),
                (["broken.json", "truth.json"], 1, "broken.json: box 0: 'bbox' is missing"),
                (["other.json", "truth.json"], 1, "other.json: no box has an image and a class of"),
                (["boxes.json", "truth.jsonl"], 1, "both have to be of one kind"),
                (["boxes.json", "truth.json", "--method=cold"], 2, "cold"),
                (["boxes.json", "truth.json", "--iou-threshold=0.5..0.4"], 2, "FIRST..LAST..STEP"),
                (["boxes.json", "truth.json", "--iou-threshold=1.5"], 2, "iou_threshold")):
            done = tune(self.folder, *words)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(message, done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_plot(self):
        try:
            import matplotlib  # noqa: F401 (the command imports it again)
        except ImportError:
            done = tune(self.folder, "boxes.json", "truth.json", "--plot=ap.png")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("--plot needs matplotlib", done.stderr)
            return
        done = tune(self.folder, "boxes.json", "truth.json", "--plot=ap.png")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "ap.png").read_bytes()[:4], b"\x89PNG")


if __name__ == "__main__":
    unittest.main()
