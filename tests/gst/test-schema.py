#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-schema SCHEMA RECORDINGS DATA: the schema of recordings and the elements agree.

RECORDINGS is the program that makes boxrecord write all kinds of boxes. Every line
of that and of the recordings in the folder DATA is valid, and has no member that
the schema lacks; every member and state of the schema occurs. Lines that are wrong
in one place are refused by the schema, and by boxreplay too.
"""
import copy
import glob
import json
import os
import subprocess
import sys
import tempfile

PYTHON = "/usr/bin/python3"  # Debian's, where another one comes first in PATH

try:
    import jsonschema
    VALIDATOR = jsonschema.Draft202012Validator
except (ImportError, AttributeError) as error:
    if os.path.exists(PYTHON) and os.environ.get("NMS_SCHEMA_PYTHON") is None:
        os.environ["NMS_SCHEMA_PYTHON"] = PYTHON
        os.execv(PYTHON, [PYTHON] + sys.argv)
    print("SKIP: the schema of recordings is not checked, because python3-jsonschema 4 or newer "
          "is missing: %s" % error)
    sys.exit(77)

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


def skipped_by_boxreplay(recordings, folder, frames):
    path = os.path.join(folder, "frames.txt")
    with open(path, "w", encoding="utf-8") as file:
        for frame in frames:
            if isinstance(frame, dict) and frame.get("outside-segment") is True:
                # its boxes are not needed, so boxreplay does not check them
                frame = {name: value for name, value in frame.items() if name != "outside-segment"}
            file.write(json.dumps(frame) + "\n")
    return int(subprocess.run([recordings, "--skipped", path], check=True, text=True,
                              stdout=subprocess.PIPE).stdout)


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
    schema_path, recordings, data = sys.argv[1:]
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    VALIDATOR.check_schema(schema)
    validator = VALIDATOR(schema)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([recordings, folder], check=True)
        check_recordings(schema, glob.glob(os.path.join(folder, "*.jsonl"))
                         + glob.glob(os.path.join(data, "*.jsonl")))
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
            skipped = skipped_by_boxreplay(recordings, folder, frames)
            assert skipped == expected, "boxreplay refuses %d of %d lines" % (skipped, len(frames))
    print("%d right and %d wrong lines: the schema and boxreplay agree" % (len(right), len(wrong)))


if __name__ == "__main__":
    main()
