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
    "timestamp": 5, "session": 1, "reverse": True, "decoding-order": True,
    "outside-segment": True, "dropped": 2, "stream": 1, "stream-id": "a",
    "resolution": {"width": 640, "height": 480}, "objects": [{
        "x": 1, "y": 2, "w": 3, "h": 4, "roi_type": "a", "region_id": 1, "parent_id": 2, "id": 3,
        "rotation": 0.5, "detection": {
            "bounding_box": {"x_min": 0.1, "y_min": 0.2, "x_max": 0.3, "y_max": 0.4},
            "confidence": 0.5, "label_id": 1, "label": "a"},
        "nms": {"state": "suppressed", "suppressed-by": 0}}]}

BEYOND = {  # numbers just outside of what a member can be
    "timestamp": [-1, 2**63], "session": [-1, 2**63, 0.5],
    "dropped": [-1, 2**63, 0.5], "stream": [-1, 2**32, 0.5],
    "width": [0, 2**31], "height": [0, 2**31],
    "x": [-2**31 - 1, 2**31], "y": [-2**31 - 1, 2**31], "w": [-1, 2**32], "h": [-1, 2**32],
    "region_id": [-2**31 - 1, 2**31, 0.5], "parent_id": [-2**31 - 1, 2**31, 0.5],
    "id": [-2**31 - 1, 2**31, 0.5], "label_id": [-2**31 - 1, 2**31, 0.5],
    "suppressed-by": [-1, 2**31, 0.5], "state": ["Kept", ""]}


def closed(schema):
    """The schema, but with no other members than it names."""
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
    """All members that a schema names."""
    if isinstance(schema, list):
        return set().union(*map(named, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", ())).union(*map(named, schema.values()))


def places(value, path=()):
    """The paths of all members and elements within a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inner:
        yield path + (key,)
        if isinstance(part, (dict, list)):
            yield from places(part, path + (key,))


def changed(path, *replacement):
    """FULL with another value at `path`, or without it."""
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
    """Frames that are wrong in one place."""
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
    required = [("objects",), ("resolution", "width"), ("resolution", "height")]
    required += [box + (key,) for key in "xywh"] + [box + ("nms", "state")]
    required += [corners + (key,) for key in FULL["objects"][0]["detection"]["bounding_box"]]
    yield from (changed(path) for path in required)
    for thing in ({}, {"roi_type": "a"}, {"detection": {"confidence": 0.5}}, {"x": 1, "y": 2}):
        yield changed(box, thing)
    yield {}
    yield []


def right_frames():
    """Frames that DL Streamer or other programs may write."""
    yield FULL
    yield {"objects": []}
    yield changed(("timestamp",))
    yield changed(("resolution",))
    yield changed(("objects", 0, "detection"))
    yield changed(("objects", 0, "x"), 1.5)
    yield changed(("objects", 0, "tensors"), [{"format": "", "data": [1, 2]}])
    yield {"objects": [{"detection": FULL["objects"][0]["detection"]}], "tags": {"a": None}}


def skipped_by_boxreplay(recordings, folder, frames):
    path = os.path.join(folder, "frames.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(frame) + "\n" for frame in frames)
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
