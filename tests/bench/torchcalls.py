#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""torchcalls: times nms and batched_nms of torchvision and of nmscore.torch on the CPU, and prints
the table of docs/frameworks.md. Needs torch and torchvision, and nmscore in PYTHONPATH.

Boxes lie around N / 10 objects of 80 classes. Both get the same tensors, on one thread, and take
turns; a time is the median processor time of the calls of a second or two, at least 5 of each.
"""
import statistics
import time

import torch
import torchvision

import nmscore.torch

SIZES, IOU, CLASSES = (10, 100, 1000, 5000, 20000), 0.5, 80


def boxes_around_objects(count):
    """Returns corners, scores and classes of `count` boxes."""
    objects = max(1, count // 10)
    near = torch.randint(0, objects, (count,))
    center = (torch.rand(objects, 2) * 2000)[near] + torch.randn(count, 2) * 4
    half = (torch.rand(objects, 2) * 50 + 10)[near] * (1 + torch.rand(count, 2) / 10)
    return (torch.cat((center - half, center + half), 1), torch.rand(count),
            torch.randint(0, CLASSES, (objects,))[near])


def median_times(calls, limit=2.0):
    """Returns the median time of each function in us. They take turns."""
    times = [[] for _ in calls]
    end = time.process_time() + limit
    while time.process_time() < end or len(times[0]) < 5:
        for call, mine in zip(calls, times):
            start = time.process_time_ns()
            call()
            mine.append((time.process_time_ns() - start) / 1000)
    return [statistics.median(mine) for mine in times]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    print(f"torch {torch.__version__}, torchvision {torchvision.__version__}, us a call\n")
    print("| boxes | torchvision nms | nmscore | torchvision batched_nms | nmscore |")
    print("|---:|---:|---:|---:|---:|")
    for count in SIZES:
        boxes, scores, classes = boxes_around_objects(count)
        row = []
        for name, arguments in (("nms", (boxes, scores)),
                                ("batched_nms", (boxes, scores, classes))):
            functions = [getattr(module, name) for module in (torchvision.ops, nmscore.torch)]
            row += median_times([lambda f=f: f(*arguments, IOU) for f in functions])
        print(f"| {count:,} |" + "|".join(f" {value:,.0f} " for value in row) + "|")


if __name__ == "__main__":
    main()
