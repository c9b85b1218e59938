#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The programs of nmscore.export, run by jaxlib and by IREE, keep what nmscore.run keeps."""
import os
import subprocess
import sys
import tempfile
import unittest

os.environ["JAX_PLATFORMS"] = "cpu"

import iree.compiler  # noqa: E402 (the variable above is read by the import)
import iree.runtime  # noqa: E402
import numpy as np  # noqa: E402
from ml_dtypes import bfloat16  # noqa: E402

import nmscore  # noqa: E402
from kernelcall import Jaxlib  # noqa: E402
from nmscore import export  # noqa: E402

BOXES = 200
# options of each program, and its columns besides boxes and scores
CASES = [({}, []), ({"max_detections": 15}, []), ({"iou_threshold": 0.0}, ["parents"]),
         ({"iou_threshold": 0.25, "inclusive": True}, ["classes", "parents"]),
         ({"score_threshold": 0.5, "score_strict": True}, ["classes"]),
         ({"score_threshold": 0.5, "max_detections": 30}, ["classes"]),
         ({"class_agnostic": True, "max_per_class": 4}, ["classes"]),
         ({"max_candidates": 60, "score_threshold": 0.4, "max_detections": 30}, ["classes"]),
         ({"max_per_class": 3, "iou_threshold": 1.0}, ["classes"]),
         ({"max_candidates": 20}, [])]  # IREE's sort is not stable, and many scores are equal


def command(*words):
    """Returns what `python -m nmscore.export` prints."""
    return subprocess.run([sys.executable, "-m", "nmscore.export", *map(str, words)], check=True,
                          stdout=subprocess.PIPE).stdout.decode()


def words_of(options):
    for name, value in options.items():
        yield "--" + name.replace("_", "-")
        if value is not True:
            yield value


def random_frame(rng, boxes=BOXES):
    """Half of the boxes on a grid, where IoUs and scores tie, the others with all bits random."""
    corners, extents = rng.integers(0, 24, (boxes, 2)), rng.integers(0, 16, (boxes, 2))
    rows = np.concatenate((corners, corners + extents), axis=1).astype(np.float32)
    rows += rng.random(rows.shape, np.float32) * (rng.random((boxes, 1)) < 0.5)
    scores = rng.integers(0, 12, boxes).astype(np.float32) / 8
    rows[rng.random(rows.shape) < 0.002] = np.nan
    scores[rng.random(boxes) < 0.01] = np.nan
    return rows, scores, {"classes": rng.integers(-1, 3, boxes).astype(np.int32),
                          "parents": rng.integers(-1, boxes, boxes).astype(np.int32)}


class Iree:
    """Compiles a text with IREE for its CPU driver."""

    def __init__(self, text):
        binary = iree.compiler.compile_str(text, input_type="stablehlo",
                                           target_backends=["llvm-cpu"],
                                           extra_args=["--iree-llvmcpu-target-cpu=host"])
        config = iree.runtime.Config("local-sync")
        self.main = iree.runtime.load_vm_module(
            iree.runtime.VmModule.copy_buffer(config.vm_instance, binary), config).main

    def __call__(self, *arrays):
        return [np.asarray(a.to_host()) for a in self.main(*arrays)]


class Programs(unittest.TestCase):
    def check_frames(self, system, platform, frames, cases, kind=np.float32):
        for number, (options, names) in enumerate(cases):
            narrow = ["--bfloat16"] * (kind == bfloat16)
            text = command(platform, BOXES, *words_of(options), *["--" + n for n in names], *narrow)
            run, rng = system(text), np.random.default_rng(number)
            for _ in range(frames):
                rows, scores, given = random_frame(rng)
                rows, scores = rows.astype(kind), scores.astype(kind)
                picks, count = run(rows, scores, *[given[name] for name in names])
                kept = nmscore.run(rows, scores, given["classes"] if "classes" in names else None,
                                   parents=given["parents"] if "parents" in names else None,
                                   **options).kept
                self.assertEqual(int(count), len(kept), options)
                self.assertEqual(picks[:len(kept)].tolist(), kept.tolist(), options)
                self.assertTrue((picks[len(kept):] == -1).all())

    def test_jaxlib(self):
        self.check_frames(Jaxlib, "cpu", 100, CASES)
        self.check_frames(Jaxlib, "gpu", 100, CASES[3:])
        self.check_frames(Jaxlib, "cpu", 10, CASES[4:6], bfloat16)
        self.check_frames(Jaxlib, "gpu", 10, CASES[4:6], bfloat16)

    def test_images(self):
        for platform in ("cpu", "gpu"):
            run = Jaxlib(command(platform, BOXES, "--images", 7, "--classes",
                                 "--max-detections", 60))
            frames = [random_frame(np.random.default_rng(seed)) for seed in range(7)]
            picks, count = run(*[np.concatenate(c) for c in zip(*[
                (rows, scores, given["classes"]) for rows, scores, given in frames])])
            for i, (rows, scores, given) in enumerate(frames):
                kept = nmscore.run(rows, scores, given["classes"], max_detections=60).kept
                self.assertEqual(picks[i, :count[i]].tolist(), kept.tolist())
                self.assertTrue((picks[i, count[i]:] == -1).all())

    def test_iree(self):
        self.check_frames(Iree, "cpu", 20, [*CASES[4:7], CASES[-1]])
        self.check_frames(Iree, "gpu", 20, [*CASES[3:5], CASES[-1]])

    def test_head(self):
        options = {"iou_threshold": 0.45, "score_threshold": 0.3, "max_detections": 50}
        rng = np.random.default_rng(99)
        for system, kind in ((Jaxlib, np.float32), (Jaxlib, bfloat16), (Iree, np.float32)):
            run = system(command("cpu", 500, "--head-classes", 7, *words_of(options),
                                 *["--bfloat16"] * (kind == bfloat16)))
            for _ in range(20):
                head = rng.random((11, 500), np.float32)
                head[:4] *= np.array([[100], [100], [30], [30]], np.float32)
                head[5, rng.random(500) < 0.1] = np.nan
                head = head.astype(kind)
                picks, count, boxes, scores, classes = run(head)
                head = head.astype(np.float32)
                best = np.where(np.isnan(head[4:]), -1, head[4:])
                must = nmscore.rows_from_cxcywh(np.ascontiguousarray(head[:4].T))
                kept = nmscore.run(must, best.max(0), best.argmax(0), **options).kept
                self.assertEqual(picks[:int(count)].tolist(), kept.tolist())
                self.assertTrue(np.array_equal(boxes, must))
                self.assertTrue(np.array_equal(scores, best.max(0)))
                self.assertTrue(np.array_equal(classes, best.argmax(0)))

    def test_inputs_and_results(self):
        for platform in export.PLATFORMS:
            made = export.program(platform, 64, classes=True, max_detections=9)
            self.assertEqual([a.name for a in made.inputs], ["boxes", "scores", "classes"])
            self.assertEqual(made.inputs[0], export.Array("boxes", "float32", (64, 4)))
            narrow = export.program(platform, 64, classes=True, bfloat16=True)
            self.assertEqual([a.type for a in narrow.inputs], ["bfloat16", "bfloat16", "int32"])
            self.assertEqual(made.outputs, [export.Array("picks", "int32", (9,)),
                                            export.Array("count", "int32", ())])
            lines = command(platform, 64, "--classes", "--max-detections", 9, "--describe")
            self.assertEqual([line.split()[:3] for line in lines.splitlines()],
                             [[kind, a.name, a.type] for kind, arrays in
                              (("input", made.inputs), ("result", made.outputs)) for a in arrays])

    def test_errors(self):
        for words, message in ((["cpu", 0], "boxes is 0"),
                               (["cpu", 9, "--iou-threshold", 2], "iou_threshold is 2"),
                               (["tpu", 1 << 24], "do not fit"),
                               (["cpu", 9, "--plugin", "/none", "--topology", "x"], "/none"),
                               (["tpu", 1024, "--plugin", "/none", "--topology", "v3:2x2"],
                                "topology is v3:2x2"),
                               (["tpu", 1024, "--plugin", "/none", "--topology", "v4:2x2x1"],
                                "/none"),
                               (["tpu", 40, "--max-detections", 4, "--plugin", "/none",
                                 "--topology", "v3:2x2"], "topology is v3:2x2"),
                               (["cpu", 9, "-o", "/none/file"], "/none/file")):
            done = subprocess.run([sys.executable, "-m", "nmscore.export", *map(str, words)],
                                  stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn(message, done.stderr)
        with self.assertRaisesRegex(ValueError, "^platform"):
            export.program("abacus", 9)

    @unittest.skipUnless(os.environ.get("NMS_TEST_LIBTPU"), "NMS_TEST_LIBTPU names no plugin")
    def test_tpu_executable(self):
        large = [1024, "--max-detections", 128]
        with tempfile.TemporaryDirectory() as folder:
            for topology, *words in (("v5e:2x2", *large, "--classes"),
                                     ("v5e:2x2", *large, "--head-classes", 80),
                                     ("v6e:2x2", *large, "--classes"),
                                     ("v6e:2x2", *large, "--head-classes", 80)):
                file = os.path.join(folder, topology.replace(":", ""))
                command("tpu", *words, "--plugin", os.environ["NMS_TEST_LIBTPU"], "--topology",
                        topology, "-o", file)
                self.assertGreater(os.path.getsize(file), 10000)


if __name__ == "__main__":
    unittest.main()
