# SPDX-License-Identifier: LGPL-2.1-or-later
"""regiondetector: what the detectors of this folder share.

A detector is a subclass with load (), which prepares it, and detect (), which returns the
boxes of a picture. This class maps the frames, attaches a region of interest with a
structure `detection` for each box, and turns exceptions into messages on the bus. It expects
some hundred boxes a frame: about 20 us each, which is little beside a detector in Python.
"""
import gi
gi.require_version("GstBase", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GLib, GObject, Gst, GstBase, GstVideo  # noqa: E402

CAPS = Gst.Caps.from_string("video/x-raw,format=RGB")


class DetectorError(Exception):
    """An error that the user can correct. The message says how."""


class RegionDetector(GstBase.BaseTransform):
    """Calls load () once, then detect () for frames, as `interval` says."""

    __gsttemplates__ = tuple(
        Gst.PadTemplate.new(name, direction, Gst.PadPresence.ALWAYS, CAPS)
        for name, direction in (("sink", Gst.PadDirection.SINK), ("src", Gst.PadDirection.SRC)))

    interval = GObject.Property(
        type=int, minimum=1, maximum=1000000, default=1, nick="Interval",
        blurb="Detects in every N-th frame, beginning with the first one; the frames between get "
              "no boxes. Pictures with the same PTS, such as tiles, are of one frame")

    def load(self):
        """Prepares the detector. Raises DetectorError."""
        raise NotImplementedError

    def detect(self, picture):
        """Returns (label, label_id, confidence, left, top, right, bottom) for each box.

        picture: array of uint8, (height, width, 3), RGB, valid during the call. Edges are in
        pixels of the picture, and may lie outside of it. label_id None: no field label_id."""
        raise NotImplementedError

    def do_start(self):
        self.frames, self.pts = 0, Gst.CLOCK_TIME_NONE
        try:
            self.load()
        except DetectorError as error:
            self.fail(error)
            return False
        return True

    def do_set_caps(self, incaps, outcaps):
        self.info = GstVideo.VideoInfo.new_from_caps(incaps)
        return True

    def do_transform_ip(self, buffer):
        if buffer.pts != self.pts or buffer.pts == Gst.CLOCK_TIME_NONE:
            self.frames += 1
        self.pts = buffer.pts
        if (self.frames - 1) % self.interval:
            return Gst.FlowReturn.OK
        try:
            for box in self.detect_in(buffer):
                self.attach(buffer, *box)
        except DetectorError as error:
            self.fail(error)
            return Gst.FlowReturn.ERROR
        except Exception as error:  # pylint: disable=broad-except
            self.fail(DetectorError(f"{type(error).__name__}: {error}"))
            return Gst.FlowReturn.ERROR
        return Gst.FlowReturn.OK

    def detect_in(self, buffer):
        """Calls detect () with the pixels of the buffer."""
        import numpy
        meta = GstVideo.buffer_get_video_meta(buffer)
        offset, stride = (meta.offset[0], meta.stride[0]) if meta else (0, self.info.stride[0])
        with buffer.map(Gst.MapFlags.READ) as mapped:
            picture = numpy.ndarray((self.info.height, self.info.width, 3), numpy.uint8,
                                    mapped.data, offset, (stride, 3, 1))
            boxes = list(self.detect(picture))
            del picture
        return boxes

    def attach(self, buffer, label, label_id, confidence, left, top, right, bottom):
        """Adds a region: whole pixels, clipped to the frame, and the exact normalised edges."""
        width, height = self.info.width, self.info.height
        x, y = (min(max(round(v), 0), most) for v, most in ((left, width), (top, height)))
        w = min(max(round(right), x), width) - x
        h = min(max(round(bottom), y), height) - y
        region = GstVideo.buffer_add_video_region_of_interest_meta(buffer, label, x, y, w, h)
        fields = Gst.Structure.new_empty("detection")
        for name, value in (("confidence", confidence), ("x_min", left / width),
                            ("x_max", right / width), ("y_min", top / height),
                            ("y_max", bottom / height)):
            fields.set_value(name, float(value))
        if label_id is not None:
            fields.set_value("label_id", int(label_id))
        region.add_param(fields)

    def fail(self, error):
        """Posts an error message on the bus."""
        self.post_message(Gst.Message.new_error(
            self, GLib.Error.new_literal(Gst.LibraryError.quark(), str(error),
                                         Gst.LibraryError.SETTINGS), ""))
