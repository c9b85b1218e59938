#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check-figures ROOT: tests/bench/figures.sh measures what the documents cite.

Each name that it lists has a function and pages that exist, and each program of tests/bench that
README.md or a page of docs/ names is called by figures.sh.
"""
import os
import re
import sys

from projectfiles import finish, project_files, read

FIGURES = "tests/bench/figures.sh"


def problems_of(script, pages, exists):
    table = re.search(r"^FIGURES='([^']*)'", script, re.M).group(1)
    for name, *cited in map(str.split, table.splitlines()):
        if not re.search(r"^%s \(\)" % re.escape(name), script, re.M):
            yield "%s: no function %s" % (FIGURES, name)
        for page in cited:
            if not exists(page):
                yield "%s: %s has figures on %s, which is not there" % (FIGURES, name, page)
    for page, text in sorted(pages.items()):
        for program in re.findall(r"tests/bench/([\w-]+\.(?:py|sh))", text):
            if program not in script:
                yield "%s: %s is not measured by %s" % (page, program, FIGURES)


def check_itself():
    script = "FIGURES='one a.md\ntwo b.md'\none () { x.py; }\ntwo () { y.sh; }\n"
    pages = {"a.md": "see tests/bench/x.py", "b.md": "by `tests/bench/y.sh`"}
    assert not list(problems_of(script, pages, pages.__contains__))
    assert list(problems_of(script, dict(pages, c="tests/bench/z.py"), pages.__contains__))
    assert list(problems_of(script.replace("two ()", "three ()"), pages, pages.__contains__))
    assert list(problems_of(script, pages, {"a.md"}.__contains__))


def main():
    check_itself()
    root = sys.argv[1]
    pages = {name: read(root, name) for name in project_files(root)
             if name == "README.md" or re.fullmatch(r"docs/[\w.-]+\.md", name)}
    problems = problems_of(read(root, FIGURES), pages,
                           lambda page: os.path.exists(os.path.join(root, page)))
    finish(list(problems), len(pages))


if __name__ == "__main__":
    main()
