# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-coco: nmscore.tune gives pycocotools' figures."""
import contextlib
import io
import unittest

import numpy
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from nmscore._precision import Boxes, evaluate


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


if __name__ == "__main__":
    unittest.main()
