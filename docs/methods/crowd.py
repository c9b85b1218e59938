#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""crowd.py VIDEO FOLDER: makes the frame and the recording of the guide docs/methods.md.

Writes FOLDER/crowd.jpg, a part of frame 760 of VIDEO (vtest.avi of Debian's package opencv-doc)
in 1.5 times its size, grey because coloured boxes are then easy to see, and FOLDER/crowd.jsonl,
all windows in which OpenCV's HOG people detector finds a person. The detector returns the distance
d of a window from its decision plane, 0 or more; the recorded confidence is 1 - exp (-d). Needs
Debian's package python3-opencv.
"""
import json
import math
import pathlib
import sys

import cv2

FRAME = 760
LEFT, TOP, WIDTH, HEIGHT = 200, 110, 320, 250
SCALE = 1.5
# OpenCV's sample peopledetect.cpp shrinks the windows so, because they have a margin
MARGIN_X, MARGIN_Y, KEEP = 0.1, 0.07, 0.8


def read_crop(path):
    video = cv2.VideoCapture(path)
    for _ in range(FRAME):
        video.grab()
    found, frame = video.read()
    if not found:
        sys.exit(f"crowd.py: {path} has no frame {FRAME}")
    crop = frame[TOP:TOP + HEIGHT, LEFT:LEFT + WIDTH]
    return cv2.resize(crop, None, fx=SCALE, fy=SCALE, interpolation=cv2.INTER_CUBIC)


def detect(picture):
    """Returns the windows as (confidence, x, y, width, height), the best first."""
    detector = cv2.HOGDescriptor()
    detector.setSVMDetector(cv2.HOGDescriptor_getDefaultPeopleDetector())
    windows, distances = detector.detectMultiScale(
        picture, hitThreshold=0, winStride=(8, 8), padding=(16, 16), scale=1.1, groupThreshold=0)
    return sorted(((1 - math.exp(-float(d)), x + MARGIN_X * w, y + MARGIN_Y * h, KEEP * w, KEEP * h)
                   for (x, y, w, h), d in zip(windows, distances)), reverse=True)


def record(boxes, width, height):
    """Returns the boxes as a line of a recording (docs/recording.md)."""
    objects = []
    for number, (confidence, x, y, w, h) in enumerate(boxes, 1):
        bounds = {"x_min": x / width, "y_min": y / height,
                  "x_max": (x + w) / width, "y_max": (y + h) / height}
        objects.append({
            "x": max(round(x), 0), "y": max(round(y), 0), "w": round(w), "h": round(h),
            "roi_type": "person", "region_id": number, "detection": {
                "bounding_box": {side: round(value, 5) for side, value in bounds.items()},
                "confidence": round(confidence, 4), "label": "person"}})
    return json.dumps({"timestamp": 0, "resolution": {"width": width, "height": height},
                       "objects": objects}, separators=(",", ":"))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2])
    picture = read_crop(sys.argv[1])
    height, width = picture.shape[:2]
    cv2.imwrite(str(folder / "crowd.jpg"), cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY),
                [cv2.IMWRITE_JPEG_QUALITY, 80])
    boxes = detect(picture)
    (folder / "crowd.jsonl").write_text(record(boxes, width, height) + "\n", encoding="utf-8")
    print(f"{len(boxes)} boxes in crowd.jsonl")


if __name__ == "__main__":
    main()
