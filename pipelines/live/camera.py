#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""camera: a detector and nmsfilter on a live camera; live-camera.sh starts it.

Two pipelines. The camera's, uridecodebin ! videoflip ! appsink, comes and goes with the
camera. The other one stays, and with it the file that it writes: an appsrc that
keeps only the newest frame, since a live picture must not wait for a slow
detector, then detector, nmsfilter, boxoverlay, a window and/or a file. A camera may
come back with pictures of another size, rate or colour range. A file keeps those of the
first picture: videoconvert and videoscale make every picture like it. A camera that comes
back counts its time from 0 again, so each frame gets its time since the first one.
"""
import os
import signal
import sys


def interrupted(*_):
    """Ends the program at Ctrl-C while modules are loaded, before run () handles signals."""
    print("live-camera: interrupted", file=sys.stderr, flush=True)
    os._exit(130)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, interrupted)

import argparse  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402

import gi  # noqa: E402
# (older versions of PyGObject lack the names that newer versions ask for)
warnings.simplefilter("ignore", gi.PyGIDeprecationWarning)
gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import GLib, Gst, GstApp  # noqa: E402, F401

SECOND = 1000
# what a frame takes from the camera's buffer, beside its duration
CONTENT = Gst.BufferCopyFlags.MEMORY | Gst.BufferCopyFlags.FLAGS | Gst.BufferCopyFlags.META
PICTURE = "video/x-raw, format=RGB, colorimetry=sRGB"   # what the detector is given


def quoted(text):
    """Returns the text, quoted as a value in a pipeline's description."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def common_arguments(description):
    """Returns a parser of the arguments that all programs with a Program take."""
    parser = argparse.ArgumentParser(prog=os.path.basename(sys.argv[0]), description=description)
    parser.add_argument("uri", help="rtsp://..., v4l2:///dev/video0, or any other URI")
    parser.add_argument("--detector", required=True, help="elements that attach boxes to RGB")
    parser.add_argument("--filter", default="nmsfilter", help="nmsfilter and its properties")
    parser.add_argument("--seconds", type=float, default=0,
                        help="end so long after the first frame; 0: never")
    parser.add_argument("--patience", type=float, default=10,
                        help="seconds without a frame after which a camera counts as gone")
    parser.add_argument("--reconnect", action="store_true", help="wait for a camera that is gone")
    return parser


def arguments():
    parser = common_arguments(__doc__.split("\n")[0])
    parser.add_argument("--window", action="store_true", help="show it")
    parser.add_argument("--file", help="write it, a name that ends in .mp4 or .mkv")
    return parser.parse_args()


def filtered(options):
    """Returns the first part of the pipeline that does not change, up to the tee `filtered`."""
    return ("appsrc name=frames format=time is-live=true"
            " max-buffers=1 max-bytes=0 max-time=0 leaky-type=downstream"
            f" ! videoconvert ! videoscale ! capsfilter name=size caps={quoted(PICTURE)}"
            f" ! {options.detector} ! boxselect name=select"
            f" ! {options.filter} name=filter interval=1000000000"
            " ! boxoverlay show-label=false ! tee name=filtered")


def description(options):
    """Returns the pipeline that does not change, in the syntax of gst-launch-1.0."""
    text = filtered(options)
    if options.window:
        text += (" filtered. ! queue leaky=downstream max-size-buffers=1 ! videoconvert"
                 " ! autovideosink sync=false")
    if options.file:
        mux = {".mp4": "mp4mux", ".mkv": "matroskamux"}[options.file[-4:].lower()]
        text += (" filtered. ! queue ! videoconvert ! x264enc tune=zerolatency"
                 f" speed-preset=veryfast key-int-max=60 ! {mux}"
                 f" ! filesink location={quoted(options.file)}")
    if not options.window and not options.file:
        text += " filtered. ! fakesink"
    return text


class Camera:
    """The camera's pipeline, which comes and goes: calls on_frame (sample) in its own thread, and
    on_gone (why) once in the main loop."""

    def __init__(self, uri, on_frame, on_gone):
        self.on_frame, self.on_gone = on_frame, on_gone
        self.pipeline = Gst.Pipeline()
        # (a camera that was mounted or held sideways says so in tags)
        upright = Gst.parse_bin_from_description(
            "videoconvert ! videoflip video-direction=auto", True)
        self.input = upright.get_static_pad("sink")
        source = Gst.ElementFactory.make("uridecodebin")
        self.sink = Gst.ElementFactory.make("appsink")
        source.set_property("uri", uri)
        source.connect("source-setup", self.on_source)
        source.connect("pad-added", self.on_pad)
        self.sink.set_property("caps", Gst.Caps.from_string("video/x-raw"))
        self.sink.set_property("emit-signals", True)
        self.sink.connect("new-sample", self.on_sample)
        self.pipeline.add(source)
        self.pipeline.add(upright)
        self.pipeline.add(self.sink)
        upright.link(self.sink)
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::error", self.on_error)
        bus.connect("message::eos", lambda *_: self.gone("its stream has ended"))
        self.pipeline.set_state(Gst.State.PLAYING)

    @staticmethod
    def on_source(decoder, source):
        if source.find_property("latency"):   # rtspsrc has it: 2 s by default
            source.set_property("latency", 200)

    def on_pad(self, decoder, pad):
        caps = pad.get_current_caps() or pad.query_caps(None)
        if caps.to_string().startswith("video/") and not self.input.is_linked():
            pad.link(self.input)

    def on_sample(self, sink):
        self.on_frame(sink.emit("pull-sample"))
        return Gst.FlowReturn.OK

    def on_error(self, bus, message):
        error, detail = message.parse_error()
        self.gone(" ".join([error.message] + (detail or "").splitlines()[1:2]))

    def gone(self, why):
        if self.pipeline:
            self.close()
            self.on_gone(why)

    def close(self):
        self.pipeline.get_bus().remove_signal_watch()
        self.pipeline.set_state(Gst.State.NULL)
        self.pipeline = None


class Program:
    def __init__(self, options, elements=None):
        self.options = options
        self.loop = GLib.MainLoop()
        self.camera = None
        self.failure = None      # why the program ends with an error
        self.ending = False
        self.arrived = self.taken = self.seen = 0   # frames into and out of the appsrc
        self.waited = 0.0        # seconds since the last frame
        self.stats = self.before = {"frames": 0, "boxes-in": 0, "boxes-out": 0, "time": 0}
        self.pipeline = Gst.parse_launch(elements or description(options))
        self.frames = self.pipeline.get_by_name("frames")
        self.frames.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, self.on_taken)
        self.caps = self.rate = None   # the last frame's caps, the first one's rate
        self.start = 0           # time.monotonic_ns () at the first frame
        self.pts = -1            # the last frame's PTS, in ns since the first frame
        self.offset = None       # from the camera's PTS to ours; None: no frame since connect ()
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::error", self.on_error)
        bus.connect("message::warning", self.on_warning)
        bus.connect("message::element", self.on_element)
        bus.connect("message::eos", lambda *_: self.loop.quit())

    # ---- called in streaming threads

    def on_frame(self, sample):
        now = time.monotonic_ns()
        if not self.arrived:
            self.start = now
            if self.options.seconds:
                GLib.timeout_add(int(self.options.seconds * SECOND), self.on_time)
        self.arrived += 1
        caps = sample.get_caps()
        if not self.caps or not caps.is_equal(self.caps):
            self.caps = caps
            self.set_caps(caps)
        frame = sample.get_buffer()
        buffer = frame.copy_region(CONTENT, 0, frame.get_size())
        buffer.pts = self.pts = max(self.pts + 1, self.since_start(frame.pts, now - self.start))
        buffer.duration = frame.duration
        self.frames.emit("push-buffer", buffer)

    def since_start(self, pts, arrival):
        """Returns the time of a frame, in ns since the first frame: its arrival if it is the
        first one after connect (), else what the camera's PTS says relative to that one."""
        if pts == Gst.CLOCK_TIME_NONE:
            return arrival
        if self.offset is None:
            self.offset = arrival - pts
        return pts + self.offset

    def set_caps(self, caps):
        """Takes size and rate of the first frame for all frames, and one colorimetry,
        because a muxer refuses to change them. (The rate says little: each frame has its own
        timestamp.)"""
        fields = caps.to_string().split(", ")
        rate = [field for field in fields if field.startswith("framerate=")]
        if self.rate is None:
            self.rate = rate
            size = [field for field in fields
                    if field.startswith(("width=", "height=", "pixel-aspect-ratio="))]
            self.pipeline.get_by_name("size").set_property(
                "caps", Gst.Caps.from_string(", ".join([PICTURE] + size)))
        fields = [field for field in fields if field not in rate] + self.rate
        self.frames.set_property("caps", Gst.Caps.from_string(", ".join(fields)))

    def on_taken(self, pad, info):
        self.taken += 1
        return Gst.PadProbeReturn.OK

    # ---- called in the main loop

    def connect(self):
        if not self.ending:
            self.waited = 0.0
            self.offset = None
            self.camera = Camera(self.options.uri, self.on_frame, self.on_gone)
        return GLib.SOURCE_REMOVE

    def on_gone(self, why):
        self.camera = None
        if self.options.reconnect:
            say(f"The camera is gone ({why}); waiting for it.")
            GLib.timeout_add(2 * SECOND, self.connect)
        else:
            self.end(f"the camera is gone: {why}" if self.arrived
                     else f"cannot open {self.options.uri}: {why}")

    def on_error(self, bus, message):
        if not self.failure:
            self.failure = f"{message.src.get_name()}: {message.parse_error()[0].message}"
        self.loop.quit()

    def on_warning(self, bus, message):
        say(f"{message.src.get_name()}: {message.parse_warning()[0].message}")

    def on_element(self, bus, message):
        structure = message.get_structure()
        if structure and structure.get_name() == "nmsfilter":
            self.stats = {name: structure.get_uint64(name)[1] for name in self.before}

    def dropped(self):
        """Returns the number of frames left out because the detector was busy."""
        return max(0, self.arrived - self.taken - self.frames.get_property("current-level-buffers"))

    def report(self):
        frames, self.seen, self.waited = self.taken - self.seen, self.taken, self.waited + 1
        if frames:
            self.waited = 0.0
        elif self.camera and self.waited >= self.options.patience:
            self.camera.gone(f"no frame for {self.options.patience:g} s")
        if self.camera:
            count, time = (self.stats[k] - self.before[k] for k in ("frames", "time"))
            self.on_report(frames, time / count / 1000 if count else 0)
            self.before = self.stats
        return GLib.SOURCE_CONTINUE

    def on_report(self, frames, microseconds):
        """Prints the frames of the last second and nmsfilter's time for one of them."""
        say(f"{frames} frames/s, {self.dropped()} dropped, boxes {self.stats['boxes-in']} in,"
            f" {self.stats['boxes-out']} out, nmsfilter {microseconds:.0f} us a frame")

    def on_time(self):
        self.end()
        return GLib.SOURCE_REMOVE

    def end(self, failure=None):
        """Ends the file properly: all frames that have arrived are still written."""
        if self.ending:   # the user asked a second time
            self.loop.quit()
            return GLib.SOURCE_CONTINUE
        self.ending, self.failure = True, failure
        if self.camera:
            self.camera.close()
            self.camera = None
        self.frames.emit("end-of-stream")
        GLib.timeout_add(10 * SECOND, self.give_up)
        return GLib.SOURCE_CONTINUE

    def give_up(self):
        self.failure = self.failure or "the pipeline did not end within 10 s"
        self.loop.quit()

    def run(self):
        for number in signal.SIGINT, signal.SIGTERM:
            GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, self.end)
        GLib.timeout_add(SECOND, self.report)
        self.pipeline.set_state(Gst.State.PLAYING)
        self.connect()
        self.loop.run()
        if self.camera:
            self.camera.close()
        self.pipeline.set_state(Gst.State.NULL)
        return self.failure


def say(text):
    print(text, flush=True)


def main():
    options = arguments()
    Gst.init(None)
    try:
        program = Program(options)
    except GLib.Error as error:
        sys.exit(f"live-camera: {error.message}")
    failure = program.run()
    if program.taken:
        say(f"{program.taken} frames" + (f" in {options.file}" if options.file else ""))
    if failure:
        sys.exit(f"live-camera: {failure}")


if __name__ == "__main__":
    main()
