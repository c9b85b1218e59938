# SPDX-License-Identifier: LGPL-2.1-or-later
"""hogdetect: OpenCV's people detector, histograms of oriented gradients and a linear SVM.

It needs no model file, reports every window with its confidence, and suppresses none:
that is nmsfilter's work. Debian's packages: gstreamer1.0-python3-plugin-loader,
python3-gst-1.0, python3-opencv.
"""
import math

import gi
gi.require_version("Gst", "1.0")
from gi.repository import GObject, Gst  # noqa: E402
from regiondetector import DetectorError, RegionDetector  # noqa: E402

# OpenCV's people stand in the middle of the window of 64 x 128 pixels: these parts of its
# width and height on each side are background (measured: with them the boxes have the
# greatest IoU with people marked by hand).
SIDE, END = 0.22, 0.10


class HogDetect(RegionDetector):
    __gstmetadata__ = (
        "HOG people detector", "Filter/Analyzer/Video",
        "Attaches a region with a confidence for each window that looks like a person",
        "gst-nms")

    scale = GObject.Property(
        type=float, minimum=0.1, maximum=10, default=1, nick="Scale",
        blurb="Enlarges the picture by this factor for the detector, which finds people that "
              "are at least about 100 pixels tall; the time grows with its square")
    pyramid_step = GObject.Property(
        type=float, minimum=1.01, maximum=4, default=1.05, nick="Pyramid step",
        blurb="Ratio of the sizes of people that are searched one after the other; 1.1 takes "
              "half the time of 1.05")
    score_threshold = GObject.Property(
        type=float, minimum=0, maximum=1, default=0.5, nick="Score threshold",
        blurb="Reports windows with at least this confidence, 1 / (1 + exp (-d)) with d the "
              "distance from the SVM's boundary, where it is 0.5")

    def load(self):
        try:
            import cv2
        except ImportError as error:
            raise DetectorError(f"hogdetect needs OpenCV for Python ({error}). On Debian: "
                                "apt-get install python3-opencv") from error
        self.cv2 = cv2
        self.hog = cv2.HOGDescriptor()
        self.hog.setSVMDetector(cv2.HOGDescriptor_getDefaultPeopleDetector())

    def least_distance(self):
        score = min(max(self.score_threshold, 1e-9), 1 - 1e-9)
        return math.log(score / (1 - score))

    def detect(self, picture):
        scale = self.scale
        if scale != 1:
            picture = self.cv2.resize(picture, None, fx=scale, fy=scale)
        if picture.shape[0] < 128 or picture.shape[1] < 64:
            return
        windows, distances = self.hog.detectMultiScale(
            picture, hitThreshold=self.least_distance(), winStride=(8, 8), padding=(16, 16),
            scale=self.pyramid_step, groupThreshold=0)
        for (x, y, w, h), distance in zip(windows, distances):
            yield ("person", 0, 1 / (1 + math.exp(-float(distance))),
                   (x + SIDE * w) / scale, (y + END * h) / scale,
                   (x + w - SIDE * w) / scale, (y + h - END * h) / scale)


GObject.type_register(HogDetect)
__gstelementfactory__ = ("hogdetect", Gst.Rank.NONE, HogDetect)
