#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads meson's record of a test run (one JSON object a line).

results.py RECORD prints "pass|fail|skip NAME" for each test;
results.py --failed-logs RECORD prints the output of those that failed."""
import json
import sys

WORDS = {"OK": "pass", "EXPECTEDFAIL": "pass", "SKIP": "skip"}


def main():
    logs = sys.argv[1] == "--failed-logs"
    with open(sys.argv[-1], encoding="utf-8") as record:
        tests = [json.loads(line) for line in record if line.strip()]
    for test in tests:
        word = WORDS.get(test["result"], "fail")
        if not logs:
            print(word, test["name"], "" if word == "pass" else "(%s)" % test["result"])
        elif word == "fail":
            print("---- %s: %s" % (test["name"], test["result"]))
            for stream in ("stdout", "stderr"):
                text = test.get(stream) or ""
                print("\n".join(text.splitlines()[-60:]))


main()
