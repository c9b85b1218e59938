#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""gpu: times torchvision's CUDA kernel, nmscore with copies from and to the GPU, and nmscore.jax.

Needs an NVIDIA GPU, torch and torchvision with CUDA, and the package nmscore; nmscore.jax is
measured if JAX has CUDA. Times are medians of calls that take turns, in wall-clock time, until the
kept boxes are in the memory of the GPU; `host` takes and returns boxes in host memory.
"""
import os
import statistics
import time

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # torch needs memory, too

import torch  # noqa: E402 (JAX reads the variable above)
import torchvision  # noqa: E402

import nmscore.torch  # noqa: E402
import report  # noqa: E402
import workloads  # noqa: E402

ROWS = ("c", "b2", "d1", "g", "e", "100k", "100k-sparse")
SECONDS, MOST_CALLS, JAX_KEPT = 6, 200, 300


def jax_program(iou, device_frames):
    """Returns a function of the number of a frame, whose boxes are in the memory of the GPU."""
    try:
        import jax
        import nmscore.jax
    except ImportError:
        return None
    if jax.default_backend() != "gpu":
        return None
    frames = [tuple(map(jax.dlpack.from_dlpack, frame)) for frame in device_frames]
    program = jax.jit(lambda boxes, scores: nmscore.jax.nms(boxes, scores, iou, JAX_KEPT))
    return lambda number: jax.block_until_ready(program(*frames[number])).kept


def measure(calls, count):
    """Returns the median time of each call in us, which gets the number of a frame."""
    times = {name: [] for name in calls}
    for call in calls.values():
        call(0)
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end and len(times["host"]) < MOST_CALLS:
        for name, call in calls.items():
            number = len(times[name]) % count
            torch.cuda.synchronize()
            begin = time.perf_counter()
            call(number)
            torch.cuda.synchronize()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(values) * 1e6 for name, values in times.items()}


def row(name):
    work = workloads.make(name)
    host = [tuple(torch.from_numpy(a) for a in frame if a is not None) for frame in work.frames]
    device = [tuple(a.cuda() for a in frame) for frame in host]
    classes = len(host[0]) == 3
    ours = nmscore.torch.batched_nms if classes else nmscore.torch.nms
    theirs = torchvision.ops.batched_nms if classes else torchvision.ops.nms
    calls = {"host": lambda i: ours(*host[i], work.iou),
             "copied": lambda i: ours(*(a.cpu() for a in device[i]), work.iou).cuda(),
             "CUDA kernel": lambda i: theirs(*device[i], work.iou)}
    if not classes and (program := jax_program(work.iou, device)):
        calls["jax"] = program
        kept = [k for k in program(0).tolist() if k >= 0]
        assert kept == calls["host"](0)[:JAX_KEPT].tolist(), name
    differ = sum(not torch.equal(calls["host"](i), calls["CUDA kernel"](i).cpu())
                 for i in range(len(host)))
    times = measure(calls, len(host))
    return [work.text, f"{work.count:,}",
            *(report.time_text(times[kind]) for kind in ("host", "copied", "CUDA kernel")),
            report.ratio_text(times["CUDA kernel"] / times["copied"]),
            report.time_text(times.get("jax")), f"{differ} of {len(host)}"]


def main():
    torch.set_num_threads(1)
    print(f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}, "
          f"torchvision {torchvision.__version__}\n")
    report.print_table(["boxes", "N", "host", "copied", "CUDA kernel", "x",
                        f"jax, best {JAX_KEPT}", "frames that differ"], map(row, ROWS))


if __name__ == "__main__":
    main()
