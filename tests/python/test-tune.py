#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""nmscore.tune: its figures against a slow reference of COCO's evaluation, its files and errors."""
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    print("numpy is not installed")
    sys.exit(77)

from nmscore._precision import Boxes, evaluate


def slow_iou(a, b, crowd):
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    area = a[2] * a[3]
    return width * height / (area if crowd else area + b[2] * b[3] - width * height)


def slow_hits(found, truth, limit):
    """Returns (score, hit, on crowd) of the best 100 boxes of one image and class."""
    rows = []
    used = set()
    for score, box in sorted(found, key=lambda pair: -pair[0])[:100]:
        best = None
        for number, (mark, crowd) in enumerate(truth):
            iou = slow_iou(box, mark, crowd)
            if iou >= limit and (crowd or number not in used):
                if best is None or (not crowd, iou, number) > best:
                    best = (not crowd, iou, number)
        if best and best[0]:
            used.add(best[2])
        rows.append((score, best is not None, best is not None and not best[0]))
    return rows


def slow_average(rows, objects):
    """Returns AP and the greatest F1 of one class at one limit."""
    points, f1 = [], 0.0
    right = wrong = 0
    rows = sorted(rows, key=lambda row: -row[0])
    for number, (score, hit, on_crowd) in enumerate(rows):
        right += hit and not on_crowd
        wrong += not hit
        points.append((right / objects, right / (right + wrong + np.spacing(1))))
        if number + 1 == len(rows) or rows[number + 1][0] < score:
            f1 = max(f1, 2 * right / (objects + right + wrong))
    levels = np.linspace(0, 1, 101)
    return sum(max((p for recall, p in points if recall >= level), default=0)
               for level in levels) / 101, f1


def slow_evaluate(found, truth, classes, images):
    ap, ap50, f1 = [], [], []
    for k in range(classes):
        objects = int((~truth.crowd & (truth.class_id == k)).sum())
        averages = []
        for limit in np.linspace(0.5, 0.95, 10):
            rows = []
            for image in range(images):
                its = np.flatnonzero((found.image == image) & (found.class_id == k))
                marks = np.flatnonzero((truth.image == image) & (truth.class_id == k))
                rows += slow_hits([(found.score[i], found.rows[i]) for i in its],
                                  [(truth.rows[i], truth.crowd[i]) for i in marks], limit)
            averages.append(slow_average(rows, objects) if objects else (math.nan, math.nan))
        ap.append(np.mean([a for a, _ in averages]))
        ap50.append(averages[0][0])
        f1.append(averages[0][1])
    return ap, ap50, f1


def random_boxes(random, images, classes, marked, count, crowds):
    """Returns marked boxes, and found boxes near them; every third call has equal scores."""
    corner, size = random.integers(0, 60, (marked, 2)), random.integers(5, 40, (marked, 2))
    rows = np.concatenate((corner, size), axis=1).astype(float)
    truth = Boxes(random.integers(0, images, marked), random.integers(0, classes, marked), rows,
                  np.ones(marked), random.random(marked) < crowds)
    source = random.integers(0, marked, count)
    near = rows[source] + np.round(random.normal(0, 1.5, (count, 4))) * (random.random() < 0.8)
    near[:, 2:] = np.maximum(near[:, 2:], 1)
    score = random.random(count)
    found = Boxes(truth.image[source], np.where(random.random(count) < 0.9, truth.class_id[source],
                                                random.integers(0, classes, count)),
                  near, np.round(score, 1) if count % 3 == 0 else score, np.zeros(count, bool))
    return found.take(np.argsort(found.image, kind="stable")), truth


class Figures(unittest.TestCase):
    def test_reference(self):
        for seed in range(25):
            random = np.random.default_rng(seed)
            images, classes = int(random.integers(1, 5)), int(random.integers(1, 4))
            found, truth = random_boxes(random, images, classes, int(random.integers(1, 40)),
                                        int(random.integers(0, 250)), 0.2 * (seed % 2))
            got = evaluate(found, truth, classes)
            for name, column in zip(("ap", "ap50", "f1"),
                                    slow_evaluate(found, truth, classes, images)):
                np.testing.assert_allclose(getattr(got, name), column, 1e-12, 1e-12,
                                           err_msg=f"seed {seed}, {name}")

    def test_more_than_a_hundred_boxes(self):
        found, truth = random_boxes(np.random.default_rng(1), 1, 1, 30, 400, 0.0)
        got = evaluate(found, truth, 1)
        np.testing.assert_allclose(got.ap, slow_evaluate(found, truth, 1, 1)[0], 1e-12)


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
