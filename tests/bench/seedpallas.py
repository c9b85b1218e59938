# SPDX-License-Identifier: LGPL-2.1-or-later
"""seedpallas: prints Chaim Rand's nms_pallas ("Implementing
Sequential Algorithms on TPU") as the StableHLO that JAX makes of it for a TPU,
for N=1024 boxes, K=128 steps and threshold 0.1; written anew from its
description."""
import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

BOXES, STEPS, THRESHOLD = 1024, 128, 0.1


def masks_of(boxes):
    """Which boxes overlap: all pairs, and all pairs of different boxes."""
    left, top, right, bottom = boxes.T
    area = (right - left) * (bottom - top)
    width = jnp.minimum(right[None], right[:, None]) - jnp.maximum(left[None], left[:, None])
    height = jnp.minimum(bottom[None], bottom[:, None]) - jnp.maximum(top[None], top[:, None])
    inter = jnp.clip(width, 0) * jnp.clip(height, 0)
    union = jnp.clip(area[None] + area[:, None] - inter, 1e-5)
    overlap = inter / union > THRESHOLD
    return overlap, overlap * (1 - jnp.eye(BOXES, dtype=overlap.dtype))


def packed_of(scores):
    """The rank times N, and the index below it."""
    order = jnp.argsort(scores, descending=True)
    key = BOXES * jnp.flip(jnp.arange(BOXES)) + order
    return jnp.empty_like(key).at[order].set(key)


def step(keys, overlap, others, result, scores, remaining):
    number = pl.program_id(0)

    @pl.when(number == 0)
    def _():
        scores[...] = keys[...]
        remaining[...] = keys[...]

    left = remaining[...]
    best = jnp.max(left.astype(float)).astype(int) % BOXES
    valid = (left > 0).any()
    remaining[...] = jnp.where(overlap[best, ...] * valid, 0, left)
    scores[...] = jnp.where(others[best, ...] * valid, 0, scores[...])

    @pl.when(number == STEPS - 1)
    def _():
        result[...] = scores[...]


def kernel(keys, overlap, others, interpret):
    whole = functools.partial(pl.BlockSpec, block_shape=(BOXES,), index_map=lambda i: (0,))
    square = pl.BlockSpec(block_shape=(BOXES, BOXES), index_map=lambda i: (0, 0))
    return pl.pallas_call(
        step,
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=0, grid=(STEPS,), in_specs=[whole(), square, square],
            out_specs=whole(),
            scratch_shapes=[pltpu.VMEM((BOXES,), keys.dtype), pltpu.VMEM((BOXES,), keys.dtype)]),
        out_shape=jax.ShapeDtypeStruct((BOXES,), keys.dtype),
        compiler_params=pltpu.CompilerParams(dimension_semantics=('arbitrary',)),
        interpret=interpret)(
            keys, overlap, others)


def nms(boxes, scores, interpret=False):
    overlap, others = masks_of(boxes)
    return kernel(packed_of(scores), overlap, others, interpret)


def main():
    jax.config.update('jax_platforms', 'cpu')
    shape = jax.ShapeDtypeStruct
    # a v5e that is not there
    device = jax.sharding.AbstractDevice('TPU v5 lite', num_cores=1, platform='tpu')
    mesh = jax.sharding.AbstractMesh((), (), abstract_device=device)
    with jax.sharding.use_abstract_mesh(mesh):
        traced = jax.jit(nms).trace(shape((BOXES, 4), jnp.float32), shape((BOXES,), jnp.float32))
        print(traced.lower(lowering_platforms=('tpu',)).as_text())


if __name__ == '__main__':
    main()
