# SPDX-License-Identifier: LGPL-2.1-or-later
"""overlay: boxreplay ! nmsfilter ! objectdetectionoverlay draws the same pixels as for a recording
of the kept boxes alone. On a frame of which all boxes are removed it draws nothing, not the
previous boxes.
"""
import json
import sys

import pipelines_of as p

WIDTH, HEIGHT = 320, 240
FRAME = WIDTH * HEIGHT * 4


def record(path, boxes_of):
    with open(path, "w", encoding="ascii") as out:
        for boxes in boxes_of:
            out.write(json.dumps({"resolution": {"width": WIDTH, "height": HEIGHT}, "objects": [
                {"x": x, "y": y, "w": w, "h": h, "roi_type": "dog",
                 "detection": {"confidence": score}} for x, y, w, h, score in boxes]}) + "\n")


def draw(recording, *elements):
    p.launch("videotestsrc num-buffers=3 pattern=black",
             "video/x-raw,format=BGRA,width=320,height=240,framerate=10/1",
             "boxreplay location=" + recording, *elements, "objectdetectionoverlay",
             "video/x-raw,format=BGRA", "filesink location=picture")
    with open("picture", "rb") as picture:
        data = picture.read()
    p.must_equal("bytes of pictures", len(data), 3 * FRAME)
    return [data[i * FRAME:(i + 1) * FRAME] for i in range(3)]


def main():
    p.need("objectdetectionoverlay", "boxreplay")
    p.enter_new_folder()
    a, b, c = (40, 60, 80, 60, 0.9), (44, 63, 80, 60, 0.8), (200, 120, 60, 80, 0.7)
    weak = (150, 20, 40, 40, 0.2)
    record("all.jsonl", [(a, b, c), (weak,), (weak, c)])
    record("survivors.jsonl", [(a, c), (), (c,)])
    for meta in ("both", "analytics"):
        unfiltered = draw("all.jsonl meta=" + meta)
        filtered = draw("all.jsonl meta=" + meta, "nmsfilter score-threshold=0.5")
        expected = draw("survivors.jsonl meta=" + meta)
        for frame in range(3):
            if filtered[frame] != expected[frame]:
                sys.exit("meta=%s: frame %d is not that of the survivors" % (meta, frame))
            if filtered[frame] == unfiltered[frame]:
                sys.exit("meta=%s: frame %d shows what was dropped" % (meta, frame))
        # (x, y) of the pixels of two frames that are not black
        shown, none = ({(i % WIDTH, i // WIDTH) for i in range(WIDTH * HEIGHT)
                        if any(frame[4 * i:4 * i + 3])} for frame in filtered[:2])
        if none:
            sys.exit("meta=%s: something is drawn where no box is left" % meta)
        # each survivor's left side is drawn, and its interior is not
        for x, y, w, h, _ in (a, c):
            for row in range(y + 4, y + h - 4):
                if not any((x + dx, row) in shown for dx in (-1, 0, 1)):
                    sys.exit("meta=%s: no line at %d, %d" % (meta, x, row))
            if (x + w // 2, y + h - 10) in shown:
                sys.exit("meta=%s: the box is filled" % meta)
    print("drawn exactly")


if __name__ == "__main__":
    main()
