#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""elementspeed [--nms-filter PROGRAM] [NAME...]: measures the time that elements take for a frame.

The time of an element is the processor time of gst-launch-1.0 with a pipeline that has it COPIES
times, minus that of the same pipeline without it, the least of RUNS runs each, because other
programs only add to it. Processor time includes all threads. Without a NAME all elements are
measured, and nms-filter if its program is named.
"""
import argparse
import json
import os
import random
import re
import resource
import subprocess
import tempfile

FRAMES, RUNS, COPIES, BRANCHES = 1000, 5, 8, 8
CAPS = "video/x-raw,format=I420,width=1280,height=720,framerate=25/1"
PICTURE = 1280 * 720 * 3 // 2  # bytes
SINK = " ! fakesink async=false"


def frame_line(rng, number, count):
    """Returns a line as boxrecord writes it. Of the boxes, 40 % are objects of 3 classes in a grid,
    and the others repeat one, slightly moved, with a lower confidence."""
    objects, boxes = max(1, count * 2 // 5), []
    for i in range(count):
        place, label = i % objects * (400 // objects), f"class{i % objects % 3}"
        confidence = rng.uniform(.7, 1) if i < objects else rng.uniform(.3, .6)
        boxes.append({"x": place % 25 * 51 + rng.randint(0, 3), "w": 40, "h": 36,
                      "y": place // 25 * 45 + rng.randint(0, 3), "roi_type": label,
                      "detection": {"confidence": round(confidence, 4), "label": label}})
    rng.shuffle(boxes)
    return json.dumps({"timestamp": number * 40_000_000, "objects": boxes,
                       "resolution": {"width": 1280, "height": 720}}, separators=(",", ":")) + "\n"


def recording(folder, count):
    """Returns the path of a recording with `count` boxes in each frame."""
    path, rng = f"{folder}/{count}.jsonl", random.Random(count)
    if not os.path.exists(path):
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(frame_line(rng, number, count) for number in range(FRAMES))
    return path


def least_seconds(*command):
    """Returns the processor time of the command in seconds, the least of some runs."""
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    times = []
    for _ in range(RUNS):
        start = spent()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(spent() - start)
    return min(times)


def rows(folder, gstreamer):
    """Yields the name and the boxes of a row, the number of copies, and the pipelines with and
    without them."""
    def source(size=1):
        return (f"fakesrc format=time num-buffers={FRAMES} filltype=zero sizetype=fixed "
                f"sizemax={size} datarate={25 * size} ! {CAPS}")

    def replay(count, size=1, meta="roi"):
        return f"{source(size)} ! boxreplay meta={meta} location={recording(folder, count)}"

    for meta in ("roi", "analytics") if gstreamer >= (1, 24) else ("roi",):
        shared = f"{replay(100, meta=meta)} ! tee name=t"
        yield (f"nmsfilter, {meta}", 100, COPIES, shared + f" t. ! nmsfilter{SINK}" * COPIES,
               shared + f" t.{SINK}" * COPIES)
    for count in 10, 50:
        drawn = replay(count, PICTURE)
        yield ("boxoverlay", count, COPIES, drawn + " ! boxoverlay show-score=true" * COPIES + SINK,
               drawn + SINK)
    yield ("boxrecord", 100, 1, f"{replay(100)} ! boxrecord location={folder}/out.jsonl{SINK}",
           replay(100) + SINK)
    yield "boxreplay", 100, 1, replay(100) + SINK, source() + SINK
    for count in 10, 38, 300:
        main = f"{source()} ! boxmerge name=m{SINK}"
        yield (f"boxmerge, {BRANCHES} branches", BRANCHES * count, 1,
               main + f" {replay(count)} ! m." * BRANCHES,
               source() + SINK + f" {replay(count)}{SINK}" * BRANCHES)


def main():
    p = argparse.ArgumentParser(prog="elementspeed.py")
    p.add_argument("names", nargs="*", metavar="NAME", help="the first letters of rows")
    p.add_argument("--nms-filter", metavar="PROGRAM")
    options = p.parse_args()
    version = subprocess.run(["gst-launch-1.0", "--version"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    gstreamer = tuple(map(int, re.search(r"GStreamer (\d+)\.(\d+)", version).groups()))
    print(f"{version}\n| element | boxes | us a frame |\n|---|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, count, copies, pipeline, without in rows(folder, gstreamer):
            if not options.names or name.startswith(tuple(options.names)):
                spent = (least_seconds("gst-launch-1.0", "-q", *pipeline.split())
                         - least_seconds("gst-launch-1.0", "-q", *without.split()))
                print(f"| {name} | {count} | {spent / FRAMES / copies * 1e6:.1f} |", flush=True)
        if options.nms_filter:
            with open(recording(folder, 100), encoding="utf-8") as file:
                lines = file.read()
            with open(f"{folder}/long.jsonl", "w", encoding="utf-8") as file:
                file.write(lines * 20)
            spent = least_seconds(options.nms_filter, "--quiet", "--iou-threshold=0.5", file.name)
            print(f"| nms-filter | 100 | {spent / FRAMES / 20 * 1e6:.1f} |")


if __name__ == "__main__":
    main()
