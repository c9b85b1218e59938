#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ghosts: times frames of ghost boxes, which attacks on detectors make so that NMS takes long
(SECURITY.md). Run it with Debian's Python, which has torchvision and OpenCV, after
`. pipelines/env.sh`, and with nmscore in PYTHONPATH.

The attacks raise the number of boxes above the confidence threshold and make them small, so that
none suppresses another: 640 x 640 pixels, sides of 4 to 8 pixels, one class. The time of nmsfilter
is that of its statistics, the mean of 5 frames, which includes the reading of the regions of
interest and the removal of suppressed ones. The others' times are medians of 5 calls."""
import statistics
import time

import cv2
import gi
import numpy as np
import torch
import torchvision

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

SIZE, IOU, FRAMES = 640, 0.5, 5


def ghosts(count):
    """Returns rows x y w h of whole pixels, as regions have them, and scores."""
    rng = np.random.default_rng(1)
    return (np.concatenate((rng.integers(0, SIZE - 8, (count, 2)), rng.integers(4, 9, (count, 2))),
                           axis=1), rng.uniform(0.3, 1, count).astype(np.float32))


def make_buffer(rows, scores):
    buffer = Gst.Buffer.new()
    for (x, y, w, h), score in zip(rows.tolist(), scores.tolist()):
        region = GstVideo.buffer_add_video_region_of_interest_meta(buffer, "person", x, y, w, h)
        region.add_param(Gst.Structure.new_from_string(f"detection, confidence=(double){score}"))
    return buffer


def time_element(rows, scores, properties):
    """Returns the mean time of a frame in nmsfilter, in ms, and the number of kept boxes."""
    pipeline = Gst.parse_launch(
        f"appsrc name=in caps=video/x-raw,format=GRAY8,width={SIZE},height={SIZE} format=time "
        f"! nmsfilter name=nms iou-threshold={IOU} {properties} ! fakesink sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    for _ in range(FRAMES):
        pipeline.get_by_name("in").emit("push-buffer", make_buffer(rows, scores))
    pipeline.get_by_name("in").emit("end-of-stream")
    pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE,
                                          Gst.MessageType.EOS | Gst.MessageType.ERROR)
    stats = pipeline.get_by_name("nms").get_property("stats")
    pipeline.set_state(Gst.State.NULL)
    return stats.get_uint64("time")[1] / 1e6 / FRAMES, stats.get_uint64("boxes-out")[1] // FRAMES


def time_call(call):
    times = []
    for _ in range(FRAMES):
        start = time.perf_counter()
        kept = call()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times), len(kept)


def main():
    Gst.init(None)
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    print("| ms a frame (boxes kept) | 10,000 ghosts | 30,000 ghosts |\n|---|--:|--:|")
    cells = {}
    for count in (10000, 30000):
        rows, scores = ghosts(count)
        corners = np.concatenate((rows[:, :2], rows[:, :2] + rows[:, 2:]), axis=1)
        tensors = torch.from_numpy(corners.astype(np.float32)), torch.from_numpy(scores)
        listed = rows.tolist(), scores.tolist()
        for name, result in (
                ("nmsfilter", time_element(rows, scores, "")),
                ("nmsfilter max-candidates=1000",
                 time_element(rows, scores, "max-candidates=1000")),
                ("torchvision.ops.nms",
                 time_call(lambda t=tensors: torchvision.ops.nms(*t, IOU))),
                ("cv2.dnn.NMSBoxes",
                 time_call(lambda a=listed: cv2.dnn.NMSBoxes(*a, 0.0, IOU)))):
            cells.setdefault(name, []).append("%.1f (%d)" % result)
    for name, row in cells.items():
        print(f"| {name} | " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
