#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""countpeople: compares the boxes of recordings with the people that people.csv lists.

usage: countpeople.py frames SECONDS-OR-0 RATE
       countpeople.py pick FRAMES SIZE <RGB >RGB
       countpeople.py enlarge FRAMES WIDTH HEIGHT LIST <RGB >RGB
       countpeople.py compare LIST FRAMES FOLDER RECORDING RECORDING...

frames   prints the numbers of the listed frames, of the first SECONDS at RATE frames a second.
pick     copies these frames of a stream of frames with SIZE bytes each.
enlarge  makes a frame of the surroundings of each person of at least 100 pixels in these frames,
         enlarged 3 times, and lists the people in it, numbered from 0, in the file LIST.
compare  prints one line for each recording, whose lines are these frames of the LIST:
         people, found, small people, found small people, boxes on nobody, duplicates;
         then the frame in which the second recording is better than the first by most people, with
         the people and those found by these two. It writes that frame to FOLDER/0.jsonl and
         FOLDER/1.jsonl: boxes as `found` or `wrong`, and the people without a box as `not found`.
"""
import csv
import json
import os
import sys
from collections import defaultdict

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "people.csv")
SMALL = 75          # pixels: people below this height are small
LARGE = 100         # pixels: people of this height are enlarged
FOUND = 0.5         # IoU of a person and a box, as in COCO's AP50 and VOC
FIELDS = ("frame", "left", "top", "width", "height")


def people(path=LIST):
    frames = defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            frames[int(row["frame"])].append(tuple(int(row[k]) for k in FIELDS[1:]))
    return frames


def common(a, b):
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    return max(width, 0) * max(height, 0)


def iou(a, b):
    return common(a, b) / (a[2] * a[3] + b[2] * b[3] - common(a, b))


def is_duplicate(box, found):
    """Returns whether most of a wrong box lies on a found person: a second box, or a part."""
    return any(common(box, person) > box[2] * box[3] / 2 for _, person in found)


def match(boxes, listed):
    """Returns (found, wrong, missed). Boxes with high scores choose first; each person is found
    at most once."""
    found, wrong, missed = [], [], list(listed)
    for _, box in sorted(boxes, reverse=True):
        person = max(missed, key=lambda p: iou(p, box), default=None)
        if person and iou(person, box) >= FOUND:
            missed.remove(person)
            found.append((box, person))
        else:
            wrong.append(box)
    return found, wrong, missed


def read(path):
    for line in open(path, encoding="utf-8"):
        yield [(box["detection"]["confidence"], tuple(box[k] for k in "xywh"))
               for box in json.loads(line)["objects"]]


def write(path, found, wrong, missed):
    objects = [{"x": x, "y": y, "w": w, "h": h, "roi_type": label}
               for label, boxes in (("found", [box for box, _ in found]), ("wrong", wrong),
                                    ("not found", missed))
               for x, y, w, h in boxes]
    with open(path, "w", encoding="utf-8") as file:
        print(json.dumps({"objects": objects}), file=file)


def pick(frames, size):
    number, wanted = 0, set(frames)
    while wanted and (pixels := sys.stdin.buffer.read(size)):
        if number in wanted:
            sys.stdout.buffer.write(pixels)
        number += 1
    while sys.stdin.buffer.read(1 << 20):
        pass    # so that the writer can end


def enlarge(frames, width, height, path):
    """Crops of a third of the width and the height, with the person in the middle."""
    listed, number = people(), 0
    w, h = width // 3, height // 3
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(FIELDS)
        for frame in frames:
            pixels = sys.stdin.buffer.read(width * height * 3)
            for person in listed[frame]:
                if person[3] < LARGE:
                    continue
                x = min(max(person[0] + person[2] // 2 - w // 2, 0), width - w)
                y = min(max(person[1] + person[3] // 2 - h // 2, 0), height - h)
                for row in range(y, y + h):
                    line = pixels[(row * width + x) * 3:(row * width + x + w) * 3]
                    sys.stdout.buffer.write(3 * b"".join(
                        3 * line[i:i + 3] for i in range(0, len(line), 3)))
                for other in listed[frame]:     # those of whom at least half can be seen
                    left, top = max(other[0] - x, 0), max(other[1] - y, 0)
                    right = min(other[0] + other[2] - x, w)
                    bottom = min(other[1] + other[3] - y, h)
                    if max(right - left, 0) * max(bottom - top, 0) >= other[2] * other[3] / 2:
                        table.writerow([number] + [3 * v for v in
                                                   (left, top, right - left, bottom - top)])
                number += 1


def compare(path, frames, folder, recordings):
    listed = people(path)
    results = [[match(boxes, listed[frame]) for frame, boxes in zip(frames, read(recording))]
               for recording in recordings]
    for result in results:
        if len(result) != len(frames):
            sys.exit("countpeople.py: a recording does not have %d frames" % len(frames))
        print(sum(len(listed[frame]) for frame in frames),
              sum(len(found) for found, _, _ in result),
              sum(p[3] < SMALL for frame in frames for p in listed[frame]),
              sum(p[3] < SMALL for found, _, _ in result for _, p in found),
              sum(not is_duplicate(box, found) for found, wrong, _ in result for box in wrong),
              sum(is_duplicate(box, found) for found, wrong, _ in result for box in wrong))
    # The frame in which the second recording gains most: people found minus wrong and missed.
    gains = [len(b[0]) - len(a[0]) - len(b[1]) - len(b[2]) for a, b in zip(*results[:2])]
    best = gains.index(max(gains))
    print(best, len(listed[frames[best]]), *(len(result[best][0]) for result in results[:2]))
    for number, result in enumerate(results[:2]):
        write(os.path.join(folder, "%d.jsonl" % number), *result[best])


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "frames":
        seconds, rate = map(float, rest)
        print(*(n for n in sorted(people()) if not seconds or n < seconds * rate))
    elif command == "pick":
        pick([int(n) for n in rest[0].split()], int(rest[1]))
    elif command == "enlarge":
        enlarge([int(n) for n in rest[0].split()], int(rest[1]), int(rest[2]), rest[3])
    else:
        compare(rest[0], [int(n) for n in rest[1].split()], rest[2], rest[3:])
