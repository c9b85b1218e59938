#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-schema SCHEMA DATA METAS PRELOAD: the schema of recordings and the elements agree.

boxrecord records random boxes of all kinds, which boxreplay attaches as each of METAS, also behind
elements that tag them. A recording that is replayed as regions of interest and recorded again is
the same. Every line of these recordings and of those in the folder DATA is valid, and has no member
that the schema lacks; every member and state of the schema occurs. Lines that are wrong in one
place are refused by the schema, and by boxreplay too. PRELOAD is for gst-launch-1.0.
"""
import copy
import glob
import json
import math
import os
import random
import re
import shlex
import struct
import subprocess
import sys
import tempfile
from itertools import zip_longest

try:
    import jsonschema
    VALIDATOR = jsonschema.Draft202012Validator
except (ImportError, AttributeError) as error:
    print("SKIP: the schema of recordings is not checked, because python3-jsonschema 4 or newer "
          "is missing: %s" % error)
    sys.exit(77)

SCHEMA, DATA, METAS, PRELOAD = sys.argv[1:]

FULL = {
    "timestamp": 5, "outside-segment": True, "dropped": 2, "stream": 1, "stream-id": "a",
    "resolution": {"width": 640, "height": 480}, "objects": [{
        "x": 1, "y": 2, "w": 3, "h": 4, "roi_type": "a", "region_id": 1, "parent_id": 2, "id": 3,
        "rotation": 0.5, "detection": {
            "bounding_box": {"x_min": 0.1, "y_min": 0.2, "x_max": 0.3, "y_max": 0.4},
            "confidence": 0.5, "label_id": 1, "label": "a"},
        "nms": {"state": "suppressed", "suppressed-by": 0}}]}

BEYOND = {  # numbers just outside of what a member can be
    "timestamp": [-1, 2**63],
    "dropped": [-1, 2**63, 0.5], "stream": [-1, 2**32, 0.5],
    "width": [0, 2**31], "height": [0, 2**31],
    "x": [-2**31 - 1, 2**32], "y": [-2**31 - 1, 2**32], "w": [-1, 2**32], "h": [-1, 2**32],
    "region_id": [-2**31 - 1, 2**31, 0.5], "parent_id": [-2**31 - 1, 2**31, 0.5],
    "id": [-2**31 - 1, 2**31, 0.5], "label_id": [-2**31 - 1, 2**31, 0.5],
    "suppressed-by": [-1, 2**31, 0.5], "state": ["Kept", ""]}


# What gvametaconvert of DL Streamer 2026.2 writes, with every property on.
TENSOR = {
    "precision": "FP32", "layout": "NC", "dims": [1, 2], "name": "keypoints", "model_name": "m",
    "layer_name": "l", "semantic_tag": "m/l", "tensor_name": "t", "dims_order": "row-major",
    "format": "keypoints", "type": "keypoints", "label": "a", "confidence": [0.5, 0.25],
    "label_id": 1, "data": [0.5, 1], "point_connections": [0, 1], "point_names": ["a", ""]}
CLASSIFICATION = {"label": "happy", "model": {"name": "m"}, "confidence": 0.5, "label_id": 3}
FRAME = {"resolution": {"width": 320, "height": 240}, "timestamp": 33333333}
DL_STREAMER = {
    **FRAME, "source": "rtsp://camera", "tags": {"a": [None, {"objects": [1]}]},
    "system_timestamp": "2026-11-23T22:00:00.123:+0000",
    "rtp": {"sender_ntp_unix_timestamp_ns": 1795000000000000000}, "tensors": [TENSOR],
    "objects": [{
        "x": 32, "y": 24, "w": 128, "h": 96, "region_id": 0, "id": 4, "roi_type": "face",
        "detection": {"bounding_box": {"x_min": 0.1, "x_max": 0.5, "y_min": 0.1, "y_max": 0.5},
                      "confidence": 0.9, "label_id": 1, "label": "face"},
        "extra_params": {"dimension": [1.5, 2], "rotation": 0.5}, "emotion": CLASSIFICATION,
        "classification/m": CLASSIFICATION, "tensors": [TENSOR, {"name": "mask", "data": [0, 255]}],
        "zone_violations": ["door"], "associated_3d_object_id": 2**64 - 1,
        "tripwire_crossings": [{"tripwire_id": "line", "direction": -1}],
        "dwell_times": [{"zone_id": "door", "dwell_time_sec": 1.5,
                         "first_seen_timestamp_sec": 0.5}]},
                {"x": 4294967286, "y": 0, "w": 20, "h": 9, "region_id": 7, "parent_id": 0,
                 "detection": {"bounding_box": {"x_min": -10.0, "x_max": 10.0, "y_min": 0.0,
                                                "y_max": 9.0}, "confidence": 0.5}},
                {"x": 0, "y": 0, "w": 320, "h": 240, "tensors": [], "scene": CLASSIFICATION}]}


def sized(width, height, rate):
    return "video/x-raw,format=GRAY8,width=%d,height=%d,framerate=%s" % (width, height, rate)


FRAMES = 60
ALL_CAPS = [sized(768, 576, "10/1"), "application/x-frames", sized(1921, 1081, "0/1"),
            sized(1921, 7, "30000/1001")]
LABELS = ["", "person", "traffic light", "\"\\/\b\f\n\r\t\x01\x1f\x7f", "\xe9\u20ac\U0001f600",
          "{[,:]}"]
NUMBERS = [0, 1, -3 / 64, 1e5 / 3, 1e22, -1e-300, 1e300, 5e-324]

# Boxes to which these elements give all states but cut-by-edge.
STATES = {"objects": [
    {"x": x, "y": y, "w": w, "h": w, "region_id": 1, "roi_type": label,
     "detection": {"confidence": confidence} if confidence else {}}
    for x, y, w, label, confidence in (
        (0, 0, 100, "a", 0.9), (0, 0, 100, "a", 0.8), (200, 0, 100, "a", 0.7),
        (200, 0, 100, "a", 0.6), (0, 300, 9, "a", 0.1), (0, 300, 9, "a", None),
        (400, 300, 9, "b", None), (400, 300, 9, "other", 0.9))]}
TAGGERS = [
    "nmsfilter action=tag score-threshold=0.2 classes=a,b " + option for option in (
        "max-detections=1", "max-candidates=2", "missing-score=drop", "min-neighbors=1")]
TAGGERS += ["boxselect action=tag " + option for option in (
    "min-width=50", "max-width=50", "max-aspect-ratio=0.5", "roi=0,0,9,9", "drop-classes=a")]
TAGGERS += ["boxsteady action=tag iou-threshold=1"]


def random_number(rng):
    return rng.choice((rng.choice(NUMBERS), rng.uniform(-0.5, 1.5)))


def random_int(rng):
    return rng.choice((rng.randint(-1, 3), rng.randrange(-2**31, 2**31)))


def random_box(rng):
    """A box whose pixels agree half of the time with its edges, and that lacks some members."""
    x, y, w, h = (rng.uniform(*bounds) for bounds in ((-0.3, 1.2), (-0.3, 1.2), (0, 0.8), (0, 1)))
    off = rng.choice((0, rng.uniform(-0.02, 0.02)))
    edges = {"x_min": x + off, "y_min": y, "x_max": x + w + off, "y_max": y + h}
    detection = {"bounding_box": edges, "confidence": random_number(rng),
                 "label_id": random_int(rng)}
    box = {"x": round(768 * x), "y": round(576 * y), "w": round(768 * w), "h": round(576 * h),
           "roi_type": rng.choice(LABELS), "region_id": random_int(rng),
           "parent_id": random_int(rng), "id": random_int(rng), "rotation": random_number(rng),
           "detection": detection,
           "nms": {"state": rng.choice(("suppressed", "cut-by-edge")), "suppressed-by": 0}}
    for part in (box, detection):
        for name in [name for name in part if name not in "xywh" and rng.random() < 0.4]:
            del part[name]
    return box


def closed(schema):
    """Returns the schema, changed so that it allows no members that it does not name."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: closed(part) for key, part in schema.items()}
    if schema.get("type") == "object":
        schema["additionalProperties"] = False
    return schema


def members(value):
    """All names of members within a value."""
    if isinstance(value, dict):
        return set(value).union(*map(members, value.values()))
    return set().union(*map(members, value)) if isinstance(value, list) else set()


def named(schema):
    """All members that a schema names and that are not passed over."""
    if isinstance(schema, list):
        return set().union(*map(named, schema))
    if not isinstance(schema, dict):
        return set()
    read = {name for name, value in schema.get("properties", {}).items()
            if value != {"$ref": "#/$defs/passed-over"}}
    return read.union(*map(named, schema.values()))


def places(value, path=()):
    """The paths of all members and elements within a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inner:
        yield path + (key,)
        if isinstance(part, (dict, list)):
            yield from places(part, path + (key,))


def changed(path, *replacement):
    """Returns FULL with another value at `path`, or without that member."""
    frame = copy.deepcopy(FULL)
    at = frame
    for key in path[:-1]:
        at = at[key]
    if replacement:
        at[path[-1]] = replacement[0]
    else:
        del at[path[-1]]
    return frame


def wrong_frames():
    """Yields frames that are wrong in one place."""
    others = {dict: [], list: {}, str: 5, int: "5", float: "5", bool: "true"}
    for path in places(FULL):
        at = FULL
        for key in path:
            at = at[key]
        yield changed(path, None)
        yield changed(path, 1 if at is True else True)
        yield changed(path, others[type(at)])
        for number in BEYOND.get(path[-1], ()):
            yield changed(path, number)
    box, corners = ("objects", 0), ("objects", 0, "detection", "bounding_box")
    required = [("resolution", "width"), ("resolution", "height")]
    required += [box + (key,) for key in "xywh"] + [box + ("nms", "state")]
    required += [corners + (key,) for key in FULL["objects"][0]["detection"]["bounding_box"]]
    yield from (changed(path) for path in required)
    for thing in ({}, {"roi_type": "a"}, {"detection": {"confidence": 0.5}}, {"x": 1, "y": 2}):
        yield changed(box, thing)
    yield {}
    yield {"timestamp": 5, "tensors": []}
    yield []


def right_frames():
    """Frames that DL Streamer or other programs may write."""
    yield FULL
    yield {"objects": []}
    yield FRAME
    yield {**FRAME, "tensors": [TENSOR]}
    yield DL_STREAMER
    yield changed(("objects",))
    yield changed(("timestamp",))
    yield changed(("resolution",))
    yield changed(("objects", 0, "detection"))
    yield changed(("objects", 0, "x"), 1.5)
    yield changed(("objects", 0, "tensors"), [{"format": "", "data": [1, 2]}])
    yield {"objects": [{"detection": FULL["objects"][0]["detection"]}], "tags": {"a": None}}


def write_lines(path, frames):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(frame) + "\n" for frame in frames)
    return path


def read_lines(path):
    """The lines of a recording without their times, which are those of the frames."""
    with open(path, encoding="utf-8") as file:
        return [re.sub('"timestamp":[0-9]+,', "", line) for line in file]


def chain(frames, caps, replay, *elements):
    """A pipeline of a boxreplay with the properties `replay` and these elements."""
    return " ! ".join((
        "fakesrc num-buffers=%d sizetype=fixed sizemax=16 datarate=160 format=time" % frames,
        "capsfilter caps=" + caps, "boxreplay match=index " + replay, *elements, "fakesink"))


def location(path):
    return shlex.quote("location=" + path)


def play(chains):
    """Returns what gst-launch-1.0 prints."""
    environment = dict(os.environ, LD_PRELOAD=PRELOAD,
                       ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
    return subprocess.run(["gst-launch-1.0", "-m", *shlex.split(" ".join(chains))], check=True,
                          text=True, stdout=subprocess.PIPE, env=environment).stdout


def skipped_by_boxreplay(folder, frames):
    # outside of the segment boxes are not needed, so boxreplay does not check them
    path = write_lines(os.path.join(folder, "frames.txt"), [
        {name: value for name, value in frame.items()
         if name != "outside-segment" or value is not True}
        if isinstance(frame, dict) else frame for frame in frames])
    # three frames for each line, because a line may state two dropped frames
    printed = play([chain(3 * len(frames), ALL_CAPS[0], "on-error=skip " + location(path))])
    return int(re.findall(r"boxreplay, .*skipped=\(guint64\)(\d+)", printed)[-1])


def record(path, caps, meta, out, *elements):
    """A chain that replays the recording `path` and records it again as `out`."""
    return chain(FRAMES, caps, "meta=%s %s" % (meta, location(path)), *elements,
                 "boxrecord format=%s %s" % (out.rsplit(".", 1)[1], location(out)))


def kept_members(box):
    """The members of a box that a recording keeps as they are."""
    return {name: value for name, value in {**box, **box.get("detection", {})}.items()
            if name not in ("x", "y", "w", "h", "detection", "label") and value not in (0, "")}


def must_keep(frames, path):
    """Checks that a recording of these random frames has lost nothing."""
    with open(path, encoding="utf-8") as file:
        for number, (frame, line) in enumerate(zip_longest(frames, file), 1):
            for box, recorded in zip_longest(frame["objects"], json.loads(line)["objects"]):
                kept = kept_members(recorded)
                lost = {name: value for name, value in kept_members(box).items()
                        if value != kept.get(name, value if name == "bounding_box" else None)}
                assert not lost, "%s:%d: lost %s" % (path, number, lost)
                label = json.dumps(box.get("roi_type", ""), ensure_ascii=False)
                assert label == '""' or '"roi_type":%s,' % label in line, line


def make_recordings(folder):
    """Writes recordings *.jsonl, and checks that recordings survive."""
    rng, first, second = random.Random(1), [], []
    inputs = [(os.path.join(DATA, name), caps) for name, caps in (
        ("boxes.jsonl", ALL_CAPS[0]), ("boxes-nosize.jsonl", ALL_CAPS[1]),
        ("boxes.mot.txt", ALL_CAPS[0]))]
    pairs = list(zip((path for path, _ in inputs), (
        folder + name for name in ("/0-roi.jsonl", "/1-roi.jsonl", "/2-roi.mot"))))
    drawn = [[{"objects": [random_box(rng) for _ in range(rng.randrange(6))]}
              for _ in range(FRAMES)] for _ in ALL_CAPS]
    inputs += [(write_lines("%s/random-%d.txt" % (folder, number), frames), caps)
               for number, (frames, caps) in enumerate(zip(drawn, ALL_CAPS))]
    for number, (path, caps) in enumerate(inputs):
        out = "%s/%d-" % (folder, number)
        for meta in METAS.split():
            first.append(record(path, caps, meta, out + meta + ".jsonl"))
            first.append(record(path, caps, meta, out + meta + "-tagged.jsonl",
                                "nmsfilter action=tag"))
        first.append(record(path, caps, "roi", out + "roi.mot"))
        for name in ("roi.jsonl", "roi.mot"):
            second.append(record(out + name, caps, "roi", out + "again-" + name))
            pairs.append((out + name, out + "again-" + name))
    states = write_lines(os.path.join(folder, "states.txt"), [STATES] * 5)
    first += [record(states, ALL_CAPS[0], "roi", "%s/states-%d.jsonl" % (folder, i), tagger)
              for i, tagger in enumerate(TAGGERS)]
    play(first)
    play(second)
    for number, frames in enumerate(drawn, len(inputs) - len(drawn)):
        must_keep(frames, "%s/%d-roi.jsonl" % (folder, number))
    for once, again in pairs:
        before, after = read_lines(once), read_lines(again)
        for number, lines in enumerate(zip_longest(before, after[:len(before)]), 1):
            assert lines[0] == lines[1], "%s:%d: %s became %s" % (once, number, *lines)


def check_numbers(folder):
    """Numbers are read exactly, and written with the least of 15 to 17 digits that keep them."""
    rng, path = random.Random(3), os.path.join(folder, "numbers.txt")
    # 15 digits times a power of ten are rounded once; numbers of any bits have 17
    texts = ["%de%d" % (rng.randrange(1, 10**15), rng.randrange(-25, 25)) for _ in range(20000)]
    texts += [repr(number) for number, in struct.iter_unpack("d", rng.randbytes(8 * 20000))
              if math.isfinite(number)]
    texts += ["-0.0", "5e-324", "1e-4", "9.9999999999999991e-5", "999999999999999.9", "1e15"]
    boxes = ['{"x":1,"y":1,"w":1,"h":1,"detection":{"confidence":%s}}' % text for text in texts]
    with open(path, "w", encoding="utf-8") as file:
        for at in range(0, len(boxes), 1000):
            file.write('{"objects":[%s]}\n' % ",".join(boxes[at:at + 1000]))
    play([record(path, ALL_CAPS[0], "roi", path + ".jsonl")])
    with open(path + ".jsonl", encoding="utf-8") as file:
        written = [box["detection"]["confidence"] for line in file
                   for box in json.loads(line, parse_float=str, parse_int=str)["objects"]]
    for text, number in zip_longest(texts, written):
        value = float(text) + 0.0  # no -0
        rounded = ("%.*g" % (digits, value) for digits in (15, 16, 17))
        assert number == next(n for n in rounded if float(n) == value), (text, number)


def check_recordings(schema, paths):
    strict = VALIDATOR(closed(schema))
    seen, states, lines = set(), set(), 0
    for path in sorted(paths):
        with open(path, encoding="utf-8") as file:
            frames = [json.loads(line) for line in file]
        assert frames, path
        for number, frame in enumerate(frames, 1):
            for error in strict.iter_errors(frame):
                sys.exit("%s:%d: %s: %s" % (path, number, error.json_path, error.message))
            seen |= members(frame)
            states |= {box["nms"]["state"] for box in frame["objects"] if "nms" in box}
        lines += len(frames)
    assert seen == named(schema), "not recorded: %s" % (named(schema) - seen)
    all_states = set(schema["$defs"]["nms"]["properties"]["state"]["enum"])
    assert states == all_states, "no box was %s" % (all_states - states)
    print("%d recordings, %d lines are valid" % (len(paths), lines))


def main():
    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)
    VALIDATOR.check_schema(schema)
    validator = VALIDATOR(schema)
    with tempfile.TemporaryDirectory() as folder:
        make_recordings(folder)
        check_recordings(schema, glob.glob(os.path.join(folder, "*.jsonl"))
                         + glob.glob(os.path.join(DATA, "*.jsonl")))
        check_numbers(folder)
        right, wrong = list(right_frames()), list(wrong_frames())
        classified = {"emotion", "scene", "classification/m"}  # named by the model
        for frame, part in ([(DL_STREAMER, schema)]
                            + [(box, schema["$defs"]["box"]) for box in DL_STREAMER["objects"]]):
            unlisted = set(frame) - set(part["properties"])
            assert unlisted <= classified, "the schema does not list %s" % (unlisted - classified)
        for frame in right:
            validator.validate(frame)
        for frame in wrong:
            assert not validator.is_valid(frame), "valid: %s" % json.dumps(frame)
        for frames, expected in ((right, 0), (wrong, len(wrong))):
            skipped = skipped_by_boxreplay(folder, frames)
            assert skipped == expected, "boxreplay refuses %d of %d lines" % (skipped, len(frames))
    print("%d right and %d wrong lines: the schema and boxreplay agree" % (len(right), len(wrong)))


if __name__ == "__main__":
    main()
