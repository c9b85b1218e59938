#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""nmscore.jax for GPUs and TPUs returns what nmscore.run returns.

The programs are lowered for these devices and run on the CPU: that for GPUs as it is, that for
TPUs with its kernel executed by the evaluator of tests/tpu.
"""
import os
import unittest

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402 (the variable above is read by the import)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import nmscore.export  # noqa: E402
import nmscore.jax  # noqa: E402
from jaxframes import OPTIONS, check, random_columns, random_frames  # noqa: E402
from kernelcall import BODY, Runner  # noqa: E402

MOST = 12


def program_for(platform, columns, options, *arrays, over=False):
    """Returns the exported program; `over` maps it over images."""
    options = {"iou_threshold": 0.5, **options}
    iou = options.pop("iou_threshold")

    def one(rows, scores, *others):
        given = dict(zip(columns, others))
        return tuple(nmscore.jax.nms(rows, scores, iou, MOST, **given, **options))

    return jax.export.export(
        jax.jit(jax.vmap(one) if over else one), platforms=[platform],
        disabled_checks=[jax.export.DisabledSafetyCheck.platform()])(*arrays)


class Gpu(unittest.TestCase):
    def test_loop(self):
        for seed, options in enumerate(OPTIONS):
            rows, scores, classes = random_frames(seed, 40)
            columns = random_columns(seed, classes)
            arrays = (rows, scores, *columns.values())
            platform = ("cuda", "rocm")[seed % 2]
            program = program_for(platform, columns, options, *arrays, over=True)
            text = str(program.mlir_module())
            self.assertIn("@nmscore_loop", text)
            self.assertEqual(text.count("stablehlo.while"), 1)  # of all images together
            check(self, program.call(*arrays), rows, scores, MOST, columns,
                  **{"iou_threshold": 0.5, **options})

    def test_implementation(self):
        for platform, text in (("cuda", "loop"), ("gpu", "loop"), ("rocm", "loop"),
                               ("tpu", "Mosaic kernel")):
            self.assertIn(text, nmscore.jax.implementation(platform))


class Tpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = Runner()

    def test_kernel(self):
        before = self.runner.calls
        for seed, options in enumerate(OPTIONS):
            rows, scores, classes = random_frames(seed, 2, 150)
            columns = random_columns(seed, classes)
            arrays = [a[0] for a in (rows, scores, *columns.values())]
            program = program_for("tpu", columns, options, *arrays)
            self.assertIn("@nmscore_tpu_kernel", str(program.mlir_module()))
            kept = [a[None] for a in self.runner.run(program, *arrays)]
            check(self, kept, rows[:1], scores[:1], MOST, columns,
                  **{"iou_threshold": 0.5, **options})
        self.assertEqual(self.runner.calls - before, len(OPTIONS))

    def test_images(self):
        """One call of the kernel decides all images."""
        for seed, (size, options) in enumerate(((150, {}), (150, OPTIONS[11]), (1100, OPTIONS[5]),
                                              (150, {"max_candidates": 30}))):
            rows, scores, classes = random_frames(20 + seed, 3, size)
            columns = random_columns(seed, classes)
            arrays = (rows, scores, *columns.values())
            program = program_for("tpu", columns, options, *arrays, over=True)
            before = self.runner.calls
            kept = self.runner.run(program, *arrays)
            self.assertEqual(self.runner.calls, before + 1)
            check(self, kept, rows, scores, MOST, columns, **{"iou_threshold": 0.5, **options})

    def test_kernel_is_that_of_export(self):
        rows, scores, _ = random_frames(30, 1, 150)
        program = program_for("tpu", [], {}, jnp.asarray(rows[0], jnp.bfloat16), scores[0])
        text = nmscore.export.program("tpu", 150, max_detections=MOST).text
        self.assertEqual(BODY.findall(str(program.mlir_module())), BODY.findall(text))

    def test_more_output_than_boxes(self):
        rows, scores = np.float32([[0, 0, 9, 9], [1, 1, 9, 9]]), np.float32([0.5, 0.7])
        program = program_for("tpu", [], {}, rows, scores)
        index, count = self.runner.run(program, rows, scores)
        self.assertEqual((index.tolist(), int(count)), ([1] + [-1] * (MOST - 1), 1))


if __name__ == "__main__":
    unittest.main()
