#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""commandspeed NMS_FILTER FRAMES: times nms-filter on JSON Lines, from a file and from a pipe.

A frame has 100 boxes of 3 classes around 20 objects. Processor time is user and system time of the
process. Memory is VmHWM of /proc/PID/status, because the largest resident set that wait4 returns
begins with that of Python, which starts the program.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy

BOXES, CLASSES, VARIED = 100, 3, 500


def frame_line(rng):
    """Returns a line as boxrecord writes it, but for the timestamp at its begin."""
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
    return json.dumps({"resolution": {"width": 1280, "height": 720}, "objects": objects},
                      separators=(",", ":"))[1:] + "\n"


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


def main(program, frames):
    rng = numpy.random.default_rng(1)
    lines = [frame_line(rng) for _ in range(min(VARIED, frames))]
    with tempfile.NamedTemporaryFile("w") as raw:
        for index in range(frames):
            raw.write(f'{{"timestamp":{index * 40000000},{lines[index % len(lines)]}')
        raw.flush()
        print(f"{frames:,} frames, {os.path.getsize(raw.name) / 1e9:.2f} GB\n\n"
              "| from | processor time | frames/s per processor | memory |\n|---|---:|---:|---:|")
        for source, name in ("file", raw.name), ("pipe", "-"):
            with subprocess.Popen(["cat", raw.name], stdout=subprocess.PIPE) as cat:
                seconds, memory = usage_of(subprocess.Popen(
                    [program, "--quiet", "--iou-threshold=0.5", name], stdin=cat.stdout,
                    stdout=subprocess.DEVNULL))
            print(f"| {source} | {seconds:.1f} s | {frames / seconds:,.0f} | {memory:.0f} MB |")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
