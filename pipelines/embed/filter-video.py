#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""filter-video: filter-video.c once more, in Python.

usage: filter-video.py VIDEO BOXES.jsonl [SINK]

boxreplay, with the boxes of a recording, is where a detector would be. While it
plays, + and - change the threshold and q ends. The survivors of each frame come
through boxrecord's signal frame-boxes, as a list of dicts. Needs python3-gst-1.0,
which teaches Python GStreamer's structures and lists.
"""
import os
import signal
import sys
import termios
import warnings

import gi
# (older versions of PyGObject lack the names that newer versions ask for)
warnings.simplefilter("ignore", gi.PyGIDeprecationWarning)
gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402


class App:
    def __init__(self, video, boxes, sink="autovideosink"):
        self.loop, self.failed, self.ending = GLib.MainLoop(), False, False
        self.frames = self.survivors = 0
        # the filter before any converter, which would drop the confidences
        self.pipeline = Gst.parse_launch(
            "filesrc name=video ! decodebin ! queue ! boxreplay name=boxes"
            " ! nmsfilter name=filter iou-threshold=0.3"
            " ! boxrecord name=survivors emit-signals=true"
            f" ! boxoverlay ! videoconvert ! {sink} name=sink")
        self.element("video").set_property("location", video)
        self.element("boxes").set_property("location", boxes)
        if self.element("sink").find_property("sync"):
            self.element("sink").set_property("sync", True)
        self.filter = self.element("filter")
        self.element("survivors").connect("frame-boxes", self.on_frame)
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::error", self.on_error)
        bus.connect("message::warning", lambda _, m: self.say(m, m.parse_warning()[0]))
        bus.connect("message::eos", lambda *_: self.loop.quit())

    def element(self, name):
        return self.pipeline.get_by_name(name)

    def on_frame(self, record, buffer, structure):
        """Counts the survivors. It runs in the streaming thread, so it must be quick."""
        boxes = [dict(box) for box in structure.get_value("boxes")]
        for box in boxes:
            Gst.debug("{label} at {x},{y}, {w} x {h}".format(**{"label": "-", **box}))
        self.frames += 1
        self.survivors += len(boxes)

    def on_key(self, fd, condition):
        key = os.read(fd, 1)
        if not key:
            return GLib.SOURCE_REMOVE   # no more keys: play on
        if key in b"+-":
            threshold = self.filter.get_property("iou-threshold")
            threshold = min(1, max(0, threshold + (0.05 if key == b"+" else -0.05)))
            self.filter.set_property("iou-threshold", threshold)
            print(f"iou-threshold is {threshold:.2f}", flush=True)
        elif key == b"q":
            self.end()
        return GLib.SOURCE_CONTINUE

    def report(self):
        stats = self.filter.get_property("stats")
        print(f"{self.frames} frames, boxes: {stats.get_uint64('boxes-in')[1]} in,"
              f" {stats.get_uint64('boxes-out')[1]} out, {self.survivors} seen", flush=True)
        return GLib.SOURCE_CONTINUE

    def say(self, message, error):
        print(f"filter-video.py: {message.src.get_name()}: {error.message}", file=sys.stderr)

    def on_error(self, bus, message):
        self.say(message, message.parse_error()[0])
        self.failed = True
        self.loop.quit()

    def end(self):
        """Ends the stream. Buffers in the pipeline still arrive, and files are completed."""
        if self.ending:   # the user asked a second time
            self.loop.quit()
        self.ending = True
        self.pipeline.send_event(Gst.Event.new_eos())
        return GLib.SOURCE_CONTINUE

    def run(self):
        terminal = termios.tcgetattr(0) if sys.stdin.isatty() else None
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGINT, self.end)
        GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, 0, GLib.IOCondition.IN | GLib.IOCondition.HUP,
                              self.on_key)
        GLib.timeout_add_seconds(1, self.report)
        if terminal:   # keys at once, without Enter
            keys = termios.tcgetattr(0)
            keys[3] &= ~(termios.ICANON | termios.ECHO)
            termios.tcsetattr(0, termios.TCSANOW, keys)
        self.pipeline.set_state(Gst.State.PLAYING)
        self.loop.run()
        self.report()
        if terminal:
            termios.tcsetattr(0, termios.TCSANOW, terminal)
        self.pipeline.set_state(Gst.State.NULL)
        return 1 if self.failed else 0


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    Gst.init(None)
    try:
        app = App(*sys.argv[1:])
    except GLib.Error as error:   # an element that is not installed
        sys.exit(f"filter-video.py: {error.message}")
    sys.exit(app.run())


if __name__ == "__main__":
    main()
