#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check-core ROOT: the lazy core stays small enough to be read.

Counts lines that are neither blank nor comment alone of nmscore/accel/lazy but for the
programs written against it: of the sources, and with the headers.
"""
import re
import sys

from projectfiles import finish, project_files, read

PROGRAMS = ("decode", "nmsgraph", "overlapgraph")
MOST_IN_SOURCES = 1200
MOST_IN_ALL = 1400

COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)


def lines_of_code(text):
    def cut(match):
        found = match.group(0)
        return found if found.startswith('"') else "\n" * found.count("\n")
    return sum(1 for line in COMMENT_OR_STRING.sub(cut, text).split("\n") if line.strip())


def main():
    root = sys.argv[1]
    assert lines_of_code('/* a\nb */\nint x; // y\n\n  char *s = "/*";\n// z\n#define E\n') == 3
    names = [name for name in project_files(root) if name.startswith("nmscore/accel/lazy/")
             and not name.split("/")[-1].startswith(PROGRAMS)]
    counts = {name: lines_of_code(read(root, name)) for name in names}
    sources = sum(n for name, n in counts.items() if name.endswith(".c"))
    everything = sum(counts.values())
    print("%d lines of code in sources, %d with headers" % (sources, everything))
    problems = []
    if sources > MOST_IN_SOURCES:
        problems.append("at most %d lines in sources" % MOST_IN_SOURCES)
    if everything > MOST_IN_ALL:
        problems.append("at most %d lines with headers" % MOST_IN_ALL)
    finish(problems, len(names))


if __name__ == "__main__":
    main()
