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
import pathlib
import random
import re
import resource
import subprocess
import tempfile

import report

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


def recording(folder, count, repetitions=1):
    """Returns the path of a recording with `count` boxes in each frame."""
    path, rng = pathlib.Path(folder, f"{count}-{repetitions}.jsonl"), random.Random(count)
    if not path.exists():
        lines = [frame_line(rng, number, count) for number in range(FRAMES)]
        path.write_text("".join(lines) * repetitions, encoding="utf-8")
    return path


def least_seconds(command):
    """Returns the processor time of the command in seconds, the least of some runs."""
    times = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def pipelines(folder, gstreamer):
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


def rows(folder, gstreamer, options):
    """Yields the rows of the table whose names begin with one of those in the options."""
    for name, count, copies, pipeline, without in pipelines(folder, gstreamer):
        if name.startswith(tuple(options.names)):
            whole, rest = (least_seconds(["gst-launch-1.0", "-q", *text.split()])
                           for text in (pipeline, without))
            yield name, count, f"{(whole - rest) / FRAMES / copies * 1e6:.1f}"
    if options.nms_filter:
        spent = least_seconds([options.nms_filter, "--quiet", "--iou-threshold=0.5",
                               recording(folder, 100, 20)])
        yield "nms-filter", 100, f"{spent / FRAMES / 20 * 1e6:.1f}"


def main():
    p = argparse.ArgumentParser(prog="elementspeed.py")
    p.add_argument("names", nargs="*", default=[""], metavar="NAME", help="first letters of rows")
    p.add_argument("--nms-filter", metavar="PROGRAM")
    options = p.parse_args()
    version = subprocess.check_output(["gst-launch-1.0", "--version"], text=True)
    gstreamer = tuple(map(int, re.search(r"GStreamer (\d+)\.(\d+)", version).groups()))
    print(version)
    with tempfile.TemporaryDirectory() as folder:
        report.print_table(["element", "boxes", "us a frame"], rows(folder, gstreamer, options))


if __name__ == "__main__":
    main()
