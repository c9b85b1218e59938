#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""jaxseeds: times the versions of NMS of Chaim Rand's "Implementing Sequential Algorithms on TPU"
and nmscore.jax on the CPU, and prints a table. Needs JAX, and nmscore in PYTHONPATH.

The versions were written anew from their description: in numpy; in JAX with an N x N mask and a
loop; in Pallas (seedpallas.py), which the CPU interprets. All get the article's boxes: N = 1024,
K = 128, IoU threshold 0.1, random sizes 1..1023 clipped to an image of 1024 x 1024, bfloat16.

All run on one core and are measured in processor time, because other programs interrupt calls.
"""
import os
import statistics
import time

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import jax  # noqa: E402 (the line above limits its threads)
import jax.numpy as jnp  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402

import nmscore.jax  # noqa: E402
import seedpallas  # noqa: E402

BOXES, MOST, THRESHOLD = seedpallas.BOXES, seedpallas.STEPS, seedpallas.THRESHOLD


def article_boxes():
    rng = np.random.default_rng(0)
    corner = rng.integers(0, 1023, (BOXES, 2))
    opposite = np.clip(corner + rng.integers(1, 1024, (BOXES, 2)), 0, 1023)
    rows = np.concatenate((corner, opposite), 1).astype(ml_dtypes.bfloat16)
    return rows, rng.random(BOXES).astype(np.float32)


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


@jax.jit
def nms_jax(boxes, scores):
    """The masks of all pairs, then a loop over the best score that is left."""
    overlap, others = seedpallas.masks_of(boxes)
    scores = scores - scores.min() + 1e-5

    def step(state):
        count, left, result = state
        best = left.argmax()
        return (count + 1, jnp.where(overlap[best], 0, left),
                jnp.where(others[best], 0, result))

    return jax.lax.while_loop(lambda s: (s[0] < MOST) & (s[1] > 0).any(), step,
                              (0, scores, scores))[2]


@jax.jit
def nms_pallas(boxes, scores):
    return seedpallas.nms(boxes, scores, interpret=True)


@jax.jit
def ours(boxes, scores):
    return nmscore.jax.nms(boxes, scores, THRESHOLD, MOST)


@jax.jit
def ours_of_many(boxes, scores):
    return jax.vmap(lambda b, s: nmscore.jax.nms(b, s, THRESHOLD, MOST))(boxes, scores)


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
    rows, scores = article_boxes()
    device = jnp.asarray(rows), jnp.asarray(scores)
    single = median(ours, *device)
    print('| version | us | of nmscore.jax |\n|---|---:|---:|')
    for name, call, arrays in (
            ('nms_cpu, numpy', nms_cpu, (rows, scores)),
            ('nms_jax, masks and a while loop', nms_jax, device),
            ('nms_pallas, interpreted', nms_pallas, device)):
        spent = median(call, *arrays)
        print(f'| {name} | {spent:,.0f} | {spent / single:,.0f} |')
    print(f'| nmscore.jax.nms | {single:,.0f} | 1 |')
    many = median(ours_of_many, *(jnp.stack([a] * 64) for a in device)) / 64
    print(f'| nmscore.jax.nms in vmap, an image of 64 | {many:,.1f} | {many / single:.2f} |')


if __name__ == '__main__':
    main()
