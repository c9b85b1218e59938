#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""nmscore.jax on the CPU returns what nmscore.run returns."""
import os
import unittest

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402 (the variables above are read by the import)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import AxisType, NamedSharding, PartitionSpec  # noqa: E402

import nmscore.jax  # noqa: E402
from jaxframes import OPTIONS, check, random_columns, random_frames  # noqa: E402

BOXES, MOST = 40, 12


class Cpu(unittest.TestCase):
    def check(self, kept, rows, scores, class_ids=None, **options):
        check(self, kept, rows, scores, MOST, {} if class_ids is None else {"class_ids": class_ids},
              **options)

    def test_ten_thousand_frames(self):
        """Each round has other options and columns; together 10,000 frames."""
        for seed in range(20):
            options = {"iou_threshold": 0.5, **OPTIONS[seed % len(OPTIONS)]}
            rows, scores, classes = random_frames(seed)
            columns = random_columns(seed, classes)
            iou = options["iou_threshold"]
            rest = {name: value for name, value in options.items() if name != "iou_threshold"}

            def one(r, s, *others):
                return nmscore.jax.nms(r, s, iou, MOST, **dict(zip(columns, others)), **rest)

            kept = jax.jit(jax.vmap(one))(rows, scores, *columns.values())
            check(self, kept, rows, scores, MOST, columns, **options)

    def test_output_longer_than_the_boxes(self):
        kept = nmscore.jax.nms([[0, 0, 10, 10], [1, 1, 11, 11], [50, 50, 60, 60]],
                               [0.8, 0.9, 0.7], 0.5, 5)
        self.assertEqual(kept.kept.tolist(), [1, 2, -1, -1, -1])
        self.assertEqual((int(kept.kept_count), kept.kept.dtype), (2, jnp.int32))

    def test_no_boxes(self):
        kept = nmscore.jax.nms(jnp.zeros((0, 4)), jnp.zeros((0,)), 0.5, 3)
        self.assertEqual((kept.kept.tolist(), int(kept.kept_count)), ([-1, -1, -1], 0))

    def test_narrow_floats(self):
        rows, scores, _ = random_frames(40, 20)
        for kind in (jnp.bfloat16, jnp.float16):
            r, s = jnp.asarray(rows + 0.3, kind), jnp.asarray(scores * 0.7, kind)
            kept = jax.vmap(lambda r, s: nmscore.jax.nms(r, s, 0.4, MOST))(r, s)
            self.check(kept, np.asarray(r, np.float32), np.asarray(s, np.float32),
                       iou_threshold=0.4)

    def test_vmap_is_one_call(self):
        rows, scores, _ = random_frames(50, 64)

        def run(r, s):
            return nmscore.jax.nms(r, s, 0.5, MOST)

        program = jax.jit(jax.vmap(run)).lower(rows, scores).as_text()
        self.assertEqual(program.count("stablehlo.custom_call @nmscore_nms"), 1)
        self.assertNotIn("stablehlo.while", program)
        self.check(jax.vmap(run)(rows, scores), rows, scores)
        # boxes shared by all images, scores along another axis, and a vmap inside a vmap
        shared = jax.vmap(run, in_axes=(None, 1))(rows[0], scores.T)
        self.check(shared, rows[:1].repeat(64, 0), scores)
        pairs = jax.vmap(jax.vmap(run))(rows.reshape(8, 8, BOXES, 4), scores.reshape(8, 8, BOXES))
        self.assertEqual(pairs.kept.shape, (8, 8, MOST))
        self.check([a.reshape(64, *a.shape[2:]) for a in pairs], rows, scores)

    def test_sharded(self):
        rows, scores, classes = random_frames(60, 8)
        axis = PartitionSpec("image")
        kinds = {"auto": jax.make_mesh((2,), ("image",), axis_types=(AxisType.Auto,)),
                 "explicit": jax.make_mesh((2,), ("image",))}

        def run(r, s, c):
            return jax.vmap(lambda r, s: nmscore.jax.nms(r, s, 0.5, MOST, class_ids=c))(r, s)

        same = classes[:1].repeat(8, 0)
        for check in (True, False):
            mapped = jax.shard_map(run, mesh=kinds["auto"], check_vma=check,
                                   in_specs=(axis, axis, PartitionSpec()), out_specs=axis)
            self.check(jax.jit(mapped)(rows, scores, classes[0]), rows, scores, same)
        for mesh in kinds.values():
            put = [jax.device_put(a, NamedSharding(mesh, axis)) for a in (rows, scores)]
            self.check(jax.jit(run)(*put, classes[0]), rows, scores, same)

    def test_boxes_divided_by_an_explicit_mesh(self):
        rows, scores, _ = random_frames(65, 4)
        mesh = jax.make_mesh((2,), ("half",), axis_types=(AxisType.Explicit,))

        def put(array, *axes):
            return jax.device_put(array, NamedSharding(mesh, PartitionSpec(*axes)))

        def run(r, s):
            return nmscore.jax.nms(r, s, 0.5, MOST)

        for divided in ((put(rows, None, "half"), put(scores, None, "half")),
                        (put(rows, None, None, "half"), put(scores))):
            self.check(jax.jit(jax.vmap(run))(*divided), rows, scores)
            for function in run, jax.jit(run):
                kept = function(*(a[0] for a in divided))
                self.check([a[None] for a in kept], rows[:1], scores[:1])

    def test_disable_jit(self):
        rows, scores, _ = random_frames(67, 3)
        with jax.disable_jit():
            kept = jax.vmap(lambda r, s: nmscore.jax.nms(r, s, 0.5, MOST))(rows, scores)
            one = nmscore.jax.nms(rows[0], scores[0], 0.5, MOST)
        self.check(kept, rows, scores)
        self.assertEqual(one.kept.tolist(), kept.kept[0].tolist())

    def test_derivative_is_zero(self):
        """The indices are constants under grad and jvp, as those of argmax."""
        rows, scores, _ = random_frames(70, 1)
        boxes, scores = np.nan_to_num(rows[0]), np.nan_to_num(scores[0])

        def loss(boxes, scores):
            kept = nmscore.jax.nms(boxes, scores, 0.5, 4).kept
            return boxes[kept].sum() + 2 * scores[kept].sum()

        kept = nmscore.jax.nms(boxes, scores, 0.5, 4)
        for function in jax.grad(loss, (0, 1)), jax.jit(jax.grad(loss, (0, 1))):
            for gradient, each in zip(function(boxes, scores), (1, 2)):
                wanted = np.zeros(gradient.shape)
                wanted[np.asarray(kept.kept)] = each
                np.testing.assert_array_equal(gradient, wanted)
        values, tangents = jax.jvp(lambda b: nmscore.jax.nms(b, scores, 0.5, 4), (boxes,), (boxes,))
        self.assertEqual(values.kept.tolist(), kept.kept.tolist())
        self.assertEqual((tangents.kept.dtype, tangents.kept.shape), (jax.dtypes.float0, (4,)))

    def test_errors_name_the_parameter(self):
        rows, scores, classes = (a[0] for a in random_frames(80, 1))
        good = {"boxes": rows, "scores": scores, "iou_threshold": 0.5, "max_output": 3}
        for error, name, value in (
                (ValueError, "boxes", rows[:, :3]), (TypeError, "boxes", rows + 1j),
                (ValueError, "scores", scores[1:]), (TypeError, "scores", None),
                (ValueError, "iou_threshold", 1.5), (TypeError, "iou_threshold", "half"),
                (ValueError, "max_output", 0), (TypeError, "max_output", 2.5),
                (ValueError, "class_ids", classes[1:]), (TypeError, "class_ids", scores),
                (ValueError, "score_threshold", float("nan")),
                (ValueError, "max_per_class", -1),
                (ValueError, r"class_options\[3\]", {3: {"threshold": 1}}),
                (ValueError, r"class_options\[3\]: iou", {3: {"iou_threshold": 2}})):
            parameter = name.split("\\")[0]
            with self.assertRaisesRegex(error, "^" + name):
                nmscore.jax.nms(**{**good, parameter: value})
        with self.assertRaisesRegex(TypeError, "^iou_threshold .*traced"):
            jax.jit(lambda t: nmscore.jax.nms(rows, scores, t, 3))(0.5)

    def test_implementation(self):
        self.assertIn("native core", nmscore.jax.implementation("cpu"))
        self.assertEqual(nmscore.jax.implementation(), nmscore.jax.implementation("cpu"))
        with self.assertRaisesRegex(ValueError, "^platform"):
            nmscore.jax.implementation("abacus")


if __name__ == "__main__":
    unittest.main()
