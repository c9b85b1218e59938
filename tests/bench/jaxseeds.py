#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""jaxseeds: times the versions of NMS of Chaim Rand's "Implementing Sequential Algorithms on TPU"
and nmscore.jax on the CPU, and prints a table. Needs JAX, and nmscore in PYTHONPATH. With --pallas
it prints nms_pallas for cycles.py, as the StableHLO that JAX makes of it for a TPU v5e.

The versions were written anew from their description: in numpy; in JAX with an N x N mask and a
loop; in Pallas, which the CPU interprets. All get the article's boxes: N = 1024, K = 128, IoU
threshold 0.1 (workload a of workloads.py).

All run on one core and are measured in processor time, because other programs interrupt calls.
"""
import functools
import os
import statistics
import sys
import time

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import jax  # noqa: E402 (the line above limits its threads)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.experimental import pallas as pl  # noqa: E402
from jax.experimental.pallas import tpu as pltpu  # noqa: E402

BOXES, MOST, THRESHOLD = 1024, 128, 0.1


def nms_cpu(boxes, scores):
    """numpy: takes the best box, then keeps those whose IoU with it is below the threshold."""
    left, top, right, bottom = boxes.astype(np.float32).T
    area = (right - left) * (bottom - top)
    order, kept = scores.argsort()[::-1], []
    while order.size and len(kept) < MOST:
        best, rest = order[0], order[1:]
        kept.append(best)
        width = np.minimum(right[best], right[rest]) - np.maximum(left[best], left[rest])
        height = np.minimum(bottom[best], bottom[rest]) - np.maximum(top[best], top[rest])
        inter = width.clip(0) * height.clip(0)
        order = rest[inter / np.maximum(area[best] + area[rest] - inter, 1e-5) < THRESHOLD]
    return np.array(kept)


def masks_of(boxes):
    """Returns which boxes overlap: all pairs, and all pairs of different boxes."""
    left, top, right, bottom = boxes.T
    area = (right - left) * (bottom - top)
    width = jnp.minimum(right[None], right[:, None]) - jnp.maximum(left[None], left[:, None])
    height = jnp.minimum(bottom[None], bottom[:, None]) - jnp.maximum(top[None], top[:, None])
    inter = jnp.clip(width, 0) * jnp.clip(height, 0)
    union = jnp.clip(area[None] + area[:, None] - inter, 1e-5)
    overlap = inter / union > THRESHOLD
    return overlap, overlap * (1 - jnp.eye(BOXES, dtype=overlap.dtype))


@jax.jit
def nms_jax(boxes, scores):
    """The masks of all pairs, then a loop over the best score that is left."""
    overlap, others = masks_of(boxes)
    scores = scores - scores.min() + 1e-5

    def step(state):
        count, left, result = state
        best = left.argmax()
        return (count + 1, jnp.where(overlap[best], 0, left),
                jnp.where(others[best], 0, result))

    return jax.lax.while_loop(lambda s: (s[0] < MOST) & (s[1] > 0).any(), step,
                              (0, scores, scores))[2]


def pallas_step(keys, overlap, others, result, scores, remaining):
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

    @pl.when(number == MOST - 1)
    def _():
        result[...] = scores[...]


def pallas(boxes, scores, interpret=False):
    """A key is the rank times N, and the index below it."""
    order = jnp.argsort(scores, descending=True)
    key = BOXES * jnp.flip(jnp.arange(BOXES)) + order
    keys = jnp.empty_like(key).at[order].set(key)
    whole = functools.partial(pl.BlockSpec, block_shape=(BOXES,), index_map=lambda i: (0,))
    square = pl.BlockSpec(block_shape=(BOXES, BOXES), index_map=lambda i: (0, 0))
    return pl.pallas_call(
        pallas_step,
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=0, grid=(MOST,), in_specs=[whole(), square, square],
            out_specs=whole(),
            scratch_shapes=[pltpu.VMEM((BOXES,), keys.dtype), pltpu.VMEM((BOXES,), keys.dtype)]),
        out_shape=jax.ShapeDtypeStruct((BOXES,), keys.dtype),
        compiler_params=pltpu.CompilerParams(dimension_semantics=('arbitrary',)),
        interpret=interpret)(keys, *masks_of(boxes))


def print_pallas():
    jax.config.update('jax_platforms', 'cpu')
    shape = jax.ShapeDtypeStruct
    # (for a v5e, which need not be there)
    device = jax.sharding.AbstractDevice('TPU v5 lite', num_cores=1, platform='tpu')
    mesh = jax.sharding.AbstractMesh((), (), abstract_device=device)
    with jax.sharding.use_abstract_mesh(mesh):
        traced = jax.jit(pallas).trace(shape((BOXES, 4), jnp.float32), shape((BOXES,), jnp.float32))
        print(traced.lower(lowering_platforms=('tpu',)).as_text())


def median(call, *arrays):
    """Returns the median time of a call in microseconds, over about one second."""
    jax.block_until_ready(call(*arrays))
    times, end = [], time.perf_counter() + 1
    while len(times) < 5 or time.perf_counter() < end:
        start = time.process_time()
        jax.block_until_ready(call(*arrays))
        times.append(time.process_time() - start)
    return statistics.median(times) * 1e6


def main():
    if '--pallas' in sys.argv:
        print_pallas()
        return
    import nmscore.jax
    from workloads import make

    @jax.jit
    def ours(boxes, scores):
        return nmscore.jax.nms(boxes, scores, THRESHOLD, MOST)

    article = make('a')
    rows, scores = article.rows.astype(jnp.bfloat16), article.scores
    device = jnp.asarray(rows), jnp.asarray(scores)
    single = median(ours, *device)
    print('| version | us | of nmscore.jax |\n|---|---:|---:|')
    for name, call, arrays in (
            ('nms_cpu, numpy', nms_cpu, (rows, scores)),
            ('nms_jax, masks and a while loop', nms_jax, device),
            ('nms_pallas, interpreted', jax.jit(functools.partial(pallas, interpret=True)),
             device)):
        spent = median(call, *arrays)
        print(f'| {name} | {spent:,.0f} | {spent / single:,.0f} |')
    print(f'| nmscore.jax.nms | {single:,.0f} | 1 |')
    many = median(jax.jit(jax.vmap(ours)), *(jnp.stack([a] * 64) for a in device)) / 64
    print(f'| nmscore.jax.nms in vmap, an image of 64 | {many:,.1f} | {many / single:.2f} |')


if __name__ == '__main__':
    main()
