#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check-sources ROOT: rules for every source file.

An SPDX line within the first three; no stem twice in the repository, but for a
source and its header side by side; plain text (no tab but in the makefile
debian/rules, no carriage return, no blank at the end of a line), at most 100
columns in C and Python but for launch lines.
"""
import os
import sys
from collections import defaultdict

from projectfiles import finish, project_files, read

# (in two parts, because `reuse lint` would read them as the licence of this file)
SPDX = "SPDX-License-Identifier" + ": LGPL-2.1-or-later"
SOURCES = (".c", ".h", ".cc", ".cpp", ".py", ".sh", ".map", ".supp")
COLUMNS = 100

# what every folder may have; "run": a file of nmscore and two commands; "env":
# to be sourced by users, and the environments of the tests
COMMON = {"meson", "README", "__init__", "run", "env"}
# data, not source: named after what they hold
DATA = ("tests/data/", "tests/fuzz/corpus-")


def is_source(root, name):
    base = os.path.basename(name)
    if name.startswith(DATA):
        return False
    if base in ("meson.build", "meson_options.txt", "meson.options") or name.endswith(SOURCES):
        return True
    return "." not in base and read(root, name).startswith("#!")


def text_problems(root, name):
    lines = read(root, name).split("\n")
    if not any(SPDX in line for line in lines[:3]):
        yield "%s: no line '%s' among the first three" % (name, SPDX)
    if lines[-1]:
        yield "%s: no newline at the end" % name
    for number, line in enumerate(lines, 1):
        at = "%s:%d: " % (name, number)
        if "\t" in line and name != "debian/rules":
            yield at + "a tab"
        if line.endswith((" ", "\r")):
            yield at + "a blank or carriage return at the end"
        if (len(line) > COLUMNS and name.endswith((".c", ".h", ".py"))
                and "gst-launch-1.0" not in line):
            yield at + "%d columns, at most %d" % (len(line), COLUMNS)


def stem_problems(names):
    places = defaultdict(set)
    for name in names:
        folder, base = os.path.split(name)
        stem = base.split(".")[0]
        if stem not in COMMON:
            places[stem].add(folder or ".")
    for stem, folders in sorted(places.items()):
        if len(folders) > 1:
            yield "%s: the name of files in %s" % (stem, ", ".join(sorted(folders)))


def main():
    root = sys.argv[1]
    sources = [name for name in project_files(root) if is_source(root, name)]
    problems = []
    for name in sources:
        problems += text_problems(root, name)
    problems += stem_problems(sources)
    finish(problems, len(sources))


if __name__ == "__main__":
    main()
