# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-coco.py NMS_FILTER: nmscore.tune gives pycocotools' figures; pycocotools reads what
nms-filter writes, and coco_ap.py prints tables of it."""
import contextlib
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from nmscore._precision import Boxes, evaluate

BENCH = pathlib.Path(__file__).resolve().parent.parent / "bench"
sys.path.insert(0, str(BENCH))
import coco_ap  # noqa: E402 (found by the line above)

PROGRAM = sys.argv.pop(1)


def evaluate_by_pycocotools(found, truth, images, classes):
    """Returns AP and AP50 of each class, NaN for a class without objects."""
    coco = COCO()
    coco.dataset = {
        "images": [{"id": i} for i in range(images)],
        "categories": [{"id": k} for k in range(classes)],
        "annotations": [{"id": i + 1, "image_id": int(truth.image[i]), "bbox": list(row),
                         "category_id": int(truth.class_id[i]), "area": row[2] * row[3],
                         "iscrowd": int(truth.crowd[i])} for i, row in enumerate(truth.rows)]}
    with contextlib.redirect_stdout(io.StringIO()):
        coco.createIndex()
        evaluation = COCOeval(coco, coco.loadRes([
            {"image_id": int(found.image[i]), "category_id": int(found.class_id[i]),
             "bbox": list(row), "score": found.score[i]} for i, row in enumerate(found.rows)]),
            "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
    precision = evaluation.eval["precision"][:, :, :, 0, 2]      # all sizes, 100 boxes
    precision[precision < 0] = numpy.nan
    return precision.mean(axis=(0, 1)), precision[0].mean(axis=0)


class AveragePrecision(unittest.TestCase):
    def test_tune(self):
        """Random boxes with crowds, equal scores, equal boxes and more than 100 of a class."""
        for seed in range(60):
            random = numpy.random.default_rng(seed)
            images, classes, marked, count = random.integers((1, 1, 2, 1), (12, 5, 120, 900))
            rows = numpy.concatenate((random.integers(0, 60, (marked, 2)),
                                      random.integers(5, 40, (marked, 2))), axis=1).astype(float)
            truth = Boxes(random.integers(0, images, marked), random.integers(0, classes, marked),
                          rows, numpy.ones(marked), random.random(marked) < 0.2 * (seed % 2))
            truth.crowd[0] = False
            source = random.integers(0, marked, count)
            near = rows[source] + (seed % 5 > 0) * random.normal(0, 1.5, (count, 4))
            near[:, 2:] = numpy.maximum(near[:, 2:], 1)
            score = numpy.round(random.random(count), 1 if seed % 4 == 0 else 9)
            found = Boxes(truth.image[source], truth.class_id[source], near, score,
                          numpy.zeros(count, bool))
            found = found.take(numpy.argsort(found.image, kind="stable"))
            got = evaluate(found, truth, int(classes))
            ap, ap50 = evaluate_by_pycocotools(found, truth, int(images), int(classes))
            numpy.testing.assert_allclose(got.ap, ap, 1e-9, err_msg=f"seed {seed}")
            numpy.testing.assert_allclose(got.ap50, ap50, 1e-9, err_msg=f"seed {seed}")

    def test_duplicates_are_removed(self):
        """Each object twice: AP is below 100 %, and exactly that without the second boxes."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            boxes = [[40 * i, 30, 20 + i, 30] for i in range(20)]
            truth = [{"id": i + 1, "image_id": 7, "category_id": 1, "bbox": box, "iscrowd": 0,
                      "area": box[2] * box[3]} for i, box in enumerate(boxes)]
            found = [{"image_id": 7, "category_id": 1, "bbox": box, "score": 0.9 - i / 100 - second}
                     for i, box in enumerate(boxes) for second in (0, 0.005)]
            (folder / "truth.json").write_text(json.dumps(
                {"images": [{"id": 7}], "categories": [{"id": 1, "name": "a"}],
                 "annotations": truth}))
            (folder / "detections.json").write_text(json.dumps(found))
            coco = COCO(str(folder / "truth.json"))
            self.assertLess(coco_ap.evaluate(coco, folder / "detections.json")[0], 80)
            kept = coco_ap.sweep(PROGRAM, folder, "iou-threshold=0.4..0.6", [])
            self.assertEqual(list(kept), ["0.4", "0.5", "0.6"])
            for path in kept.values():
                self.assertEqual(coco_ap.evaluate(coco, path), (100, 100))

    def test_tables(self):
        text = subprocess.run([sys.executable, BENCH / "coco_ap.py", PROGRAM, "--images=15"],
                              check=True, capture_output=True, text=True).stdout
        before = float(re.search(r"without NMS: ([\d.]+)", text)[1])
        for name, _, _ in coco_ap.RUNS:
            row = re.search(r"^\| %s \|(.*)\|$" % re.escape(name), text, re.M)[1].split("|")
            self.assertEqual(len(row), 5, name)
            self.assertGreater(max(float(cell.split()[0]) for cell in row), before, name)


if __name__ == "__main__":
    unittest.main()
