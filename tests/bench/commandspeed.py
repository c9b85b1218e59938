#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""commandspeed: times nms-filter and a Python loop on the same JSON Lines, and prints the table of
docs/nms-filter.md:

    commandspeed.py NMS_FILTER [--frames 100000] [--loop-frames 5000]

A frame has 100 boxes of 3 classes. nms-filter reads them from a pipe, which is written by this
program, and from a file. The loop reads with Python's json and calls torchvision's batched_nms.
Processor time is user and system time of the process. Memory is VmHWM of /proc/PID/status, because
the largest resident set that wait4 returns begins with that of Python, which starts the program.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

import numpy

BOXES, CLASSES, VARIED = 100, 3, 500


def frame_line(rng):
    """Returns a line as boxrecord writes it, of time 0, with boxes around 20 objects."""
    of = rng.integers(0, 20, BOXES)
    extent = rng.uniform(30, 200, (20, 2))[of]
    center = rng.uniform((50, 50), (1230, 670), (20, 2))[of]
    center = center + rng.normal(0, 0.1, (BOXES, 2)) * extent
    size = extent * numpy.exp(rng.normal(0, 0.12, (BOXES, 2)))
    corner = center - size / 2
    kinds = rng.integers(0, CLASSES, 20)[of]
    objects = [{"x": int(x), "y": int(y), "w": int(w), "h": int(h), "roi_type": f"class{kind}",
                "detection": {"confidence": round(float(score), 4), "label": f"class{kind}"}}
               for (x, y), (w, h), kind, score in zip(
                   corner.clip(0), size, kinds, rng.random(BOXES))]
    resolution = {"width": 1280, "height": 720}
    return json.dumps({"timestamp": 0, "resolution": resolution,
                       "objects": objects}, separators=(",", ":")) + "\n"


def write_frames(output, lines, frames):
    """Writes lines of `frames` frames, which repeat `lines`, and returns their bytes."""
    size = 0
    for index in range(frames):
        _, rest = lines[index % len(lines)].split(",", 1)
        size += output.write(f'{{"timestamp":{index * 40000000},{rest}')
    return size


def start_filter(program, source, **options):
    return subprocess.Popen([program, "--quiet", "--iou-threshold=0.5", source], text=True,
                            stdout=subprocess.DEVNULL, **options)


def usage_of(process):
    """Waits for the process and returns its processor time in s and its memory in MB."""
    found, peak = 0, 0
    while not found:
        largest = re.search(r"VmHWM:\s*(\d+) kB",
                            pathlib.Path(f"/proc/{process.pid}/status").read_text())
        peak = int(largest.group(1)) if largest else peak  # the line is missing after the end
        time.sleep(0.01)
        found, status, usage = os.wait4(process.pid, os.WNOHANG)
    if status:
        raise SystemExit("nms-filter failed")
    return usage.ru_utime + usage.ru_stime, peak / 1024


def run_loop(path, frames):
    """Returns the processor time in s of json and torchvision."""
    import torch
    import torchvision
    torch.set_num_threads(1)
    kinds, start = {}, time.process_time()
    with open(path) as lines, open(os.devnull, "w") as output:
        for _, line in zip(range(frames), lines):
            frame = json.loads(line)
            found = frame["objects"]
            boxes = torch.tensor([[o["x"], o["y"], o["x"] + o["w"], o["y"] + o["h"]]
                                  for o in found], dtype=torch.float32)
            scores = torch.tensor([o["detection"]["confidence"] for o in found])
            labels = torch.tensor([kinds.setdefault(o["roi_type"], len(kinds)) for o in found])
            kept = torchvision.ops.batched_nms(boxes, scores, labels, 0.5)
            frame["objects"] = [found[i] for i in sorted(kept.tolist())]
            output.write(json.dumps(frame) + "\n")
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("program")
    parser.add_argument("--frames", type=int, default=100000)
    parser.add_argument("--loop-frames", type=int, default=5000)
    wanted = parser.parse_args()
    rng = numpy.random.default_rng(1)
    lines = [frame_line(rng) for _ in range(min(VARIED, wanted.frames))]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "raw.jsonl")
        with open(path, "w") as output:
            size = write_frames(output, lines, wanted.frames)
        from_file = usage_of(start_filter(wanted.program, str(path)))
        piped = start_filter(wanted.program, "-", stdin=subprocess.PIPE)
        write_frames(piped.stdin, lines, wanted.frames)
        piped.stdin.close()
        from_pipe = usage_of(piped)
        loop_frames = min(wanted.loop_frames, wanted.frames)
        loop = run_loop(path, loop_frames) * wanted.frames / loop_frames
    print(f"{wanted.frames:,} frames of {BOXES} boxes of {CLASSES} classes, {size / 1e9:.2f} GB\n")
    print("| program | processor time | frames/s and processor | memory |\n|---|---:|---:|---|")
    runs = (("nms-filter, file", from_file), ("nms-filter, pipe", from_pipe))
    for name, (seconds, memory) in runs:
        print(f"| {name} | {seconds:.1f} s | {wanted.frames / seconds:,.0f} | {memory:.0f} MB |")
    print(f"| json of Python, torchvision batched_nms | {loop:.1f} s, from {loop_frames:,} frames |"
          f" {wanted.frames / loop:,.0f} | |")


if __name__ == "__main__":
    main()
