#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""imageset: times NMS of a whole set of images from Python, as in the evaluation of a detector.

    python3 imageset.py [--images 5000] [--boxes 300] [--rounds 5] [--json]

The set has the size of COCO's validation set. nmscore.run_batch decides it in one call, from
numpy arrays and from torch tensors, on one thread and on two; torchvision.ops.batched_nms and
nmscore.batched_nms are called once for each image. Each round runs all variants in turn; times
are medians, and a ratio is the median of the quotients of all rounds. One thread is measured in
CPU time, two in wall-clock time. Each variant gets arrays of its own type, which are made before
the measurement; the kept boxes of all images are compared.
"""
import argparse
import json
import os
import statistics
import sys
import time

import numpy as np
import workloads

IOU, CLASSES = 0.5, 80
BATCH, TWO, TENSORS = "run_batch", "run_batch, 2 threads", "run_batch, torch tensors"
LOOP, RIVAL = "batched_nms, a loop of images", "torchvision.ops.batched_nms, a loop of images"


def make_images(images, boxes):
    """Returns rows, scores and classes of each image."""
    made = [workloads.detector_boxes(boxes, seed, CLASSES) for seed in range(images)]
    return [tuple(map(np.ascontiguousarray, image)) for image in made]


def ways_of(images):
    """Returns a function for each variant, which returns the kept indices of each image."""
    import nmscore
    columns = [np.concatenate(column) for column in zip(*images)]
    offsets = np.cumsum([0] + [len(scores) for _, scores, _ in images])

    def batch(rows, scores, classes, threads=1):
        return nmscore.run_batch(rows, offsets, scores, classes, iou_threshold=IOU,
                                 threads=threads).images()

    ways = {BATCH: lambda: batch(*columns), TWO: lambda: batch(*columns, threads=2),
            LOOP: lambda: [nmscore.batched_nms(*image, IOU) for image in images]}
    try:
        import torch
        from torchvision.ops import batched_nms
    except ImportError:
        return ways
    torch.set_num_threads(1)
    tensors = [tuple(map(torch.from_numpy, image)) for image in images]
    whole = [torch.from_numpy(column) for column in columns]
    ways[TENSORS] = lambda: batch(*whole)
    ways[RIVAL] = lambda: [batched_nms(*image, IOU) for image in tensors]
    return ways


def measure(ways, rounds):
    """Returns the times of each variant in seconds, one for each round."""
    processors = sorted(os.sched_getaffinity(0))[-2:]
    times = {name: [] for name in ways}
    for _ in range(rounds):
        for name, call in ways.items():
            os.sched_setaffinity(0, processors if name == TWO else processors[-1:])
            clock = time.perf_counter if name == TWO else time.process_time
            begin = clock()
            call()
            times[name].append(clock() - begin)
    return times


def differing(ways):
    """Returns the number of images whose kept boxes differ from those of run_batch."""
    wanted = ways[BATCH]()
    return {name: sum(not np.array_equal(a, b) for a, b in zip(wanted, call()))
            for name, call in ways.items() if name != BATCH}


def results_of(images, boxes, rounds):
    ways = ways_of(make_images(images, boxes))
    differ = differing(ways)  # also calls each variant once before the measurement
    times = measure(ways, rounds)
    rows = {name: {"us_an_image": statistics.median(t) * 1e6 / images,
                   "ratio": statistics.median(a / b for a, b in zip(t, times[BATCH])),
                   "images_that_differ": differ.get(name, 0)} for name, t in times.items()}
    return {"images": images, "boxes": boxes, "classes": CLASSES, "iou": IOU, "ways": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--boxes", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    results = results_of(options.images, options.boxes, options.rounds)
    if options.json:
        json.dump(results, sys.stdout)
        return
    for name, row in results["ways"].items():
        print(f"{name:46} {row['us_an_image']:8.2f} us an image {row['ratio']:7.2f} x"
              f"{row['images_that_differ']:6} images differ")


if __name__ == "__main__":
    main()
