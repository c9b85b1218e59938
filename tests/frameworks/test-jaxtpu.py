#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""libtpu ($NMS_TEST_LIBTPU) compiles the JAX programs of nmscore.jax for v5e, v5p and v6e, without
a TPU. A program of its own, because libtpu may abort the process."""
import os
import sys
import unittest

if "NMS_TEST_LIBTPU" not in os.environ:
    print("NMS_TEST_LIBTPU names no library")
    sys.exit(77)
os.environ.update(TPU_LIBRARY_PATH=os.environ["NMS_TEST_LIBTPU"], TPU_SKIP_MDS_QUERY="1",
                  TPU_LOG_DIR="disabled", ALLOW_MULTIPLE_LIBTPU_LOAD="1", JAX_PLATFORMS="cpu")

import jax  # noqa: E402 (the variables above are read by the import)
import jax.numpy as jnp  # noqa: E402
from jax.experimental import topologies  # noqa: E402
from jax.sharding import SingleDeviceSharding  # noqa: E402

import nmscore.jax  # noqa: E402


def compiled(device, call, *shapes):
    """Returns the text of the compiled program; `shapes` are pairs of a shape and a type."""
    place = SingleDeviceSharding(device)
    program = jax.jit(call, in_shardings=place, out_shardings=place)
    arrays = [jax.ShapeDtypeStruct(*shape) for shape in shapes]
    return program.trace(*arrays).lower(lowering_platforms=("tpu",)).compile().as_text()


def plain(rows, scores):
    return tuple(nmscore.jax.nms(rows * 2, scores, 0.1, 128))


def by_class(rows, scores, classes):
    return tuple(nmscore.jax.nms(rows, scores, 0.5, 300, class_ids=classes, max_per_class=100))


def by_parents(rows, scores, parents):
    return tuple(nmscore.jax.nms(rows, scores, 0.5, 300, parents=parents, max_candidates=200))


class Compiled(unittest.TestCase):
    def test_generations(self):
        for name, kind in (("v5e:2x2", "TPU v5 lite"), ("v5p:2x2x1", "TPU v5"),
                           ("v6e:2x2", "TPU v6 lite")):
            device = topologies.get_topology_desc(platform="tpu", topology_name=name).devices[0]
            self.assertEqual(device.device_kind, kind)
            for text in (
                    compiled(device, plain, ((1024, 4), jnp.bfloat16), ((1024,), jnp.float32)),
                    compiled(device, jax.vmap(plain), ((64, 1024, 4), jnp.bfloat16),
                             ((64, 1024), jnp.float32)),
                    compiled(device, by_class, ((8400, 4), jnp.float32), ((8400,), jnp.float16),
                             ((8400,), jnp.int32)),
                    compiled(device, by_parents, ((500, 4), jnp.float32), ((500,), jnp.float32),
                             ((500,), jnp.int32))):
                self.assertEqual(text.count('custom_call_target="tpu_custom_call"'), 1)


if __name__ == "__main__":
    unittest.main()
