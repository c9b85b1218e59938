# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-coco.py NMS_FILTER: pycocotools reads what nms-filter writes, and coco_ap.py prints tables
of it."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from pycocotools.coco import COCO

BENCH = pathlib.Path(__file__).resolve().parent.parent / "bench"
sys.path.insert(0, str(BENCH))
import coco_ap  # noqa: E402 (found by the line above)

PROGRAM = sys.argv.pop(1)


class AveragePrecision(unittest.TestCase):
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
