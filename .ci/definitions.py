#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""definitions: writes the definitions of hosted CI from the lists of stages in tests/run.sh.

usage: .ci/definitions.py [--check]

Each stage is a job of its own on Debian 12. A change runs the stages of tests/run.sh --pr, the main
branch those of --all, and a run that somebody starts by hand those of --release. With --check:
writes nothing, and fails if a definition differs from what would be written.
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = """# SPDX-License-Identifier: LGPL-2.1-or-later
# Written by .ci/definitions.py from the lists of tests/run.sh: change these, and run it again.
"""

GITHUB = HEAD + """# The container is privileged because some stages mount file systems.
name: stages

on:
  push:
    branches: [main]
  pull_request:
  workflow_dispatch:

permissions:
  contents: read

concurrency:
  group: ${{ github.event_name }}-${{ github.ref }}
  cancel-in-progress: true

jobs:
"""
GITHUB_WHEN = {"pr": "github.event_name == 'pull_request'", "all": "github.event_name == 'push'",
               "release": "github.event_name == 'workflow_dispatch'"}
GITHUB_JOB = """
  %(level)s:
    name: ${{ matrix.stage }}
    if: %(when)s
    runs-on: ubuntu-latest
    timeout-minutes: 60
    container:
      image: debian:12
      options: --privileged
    strategy:
      fail-fast: false
      matrix:
        stage: [%(stages)s]
    steps:
      # (without git the checkout is an archive, and rules cannot tell its files from built ones)
      - name: install git
        run: |
          apt-get update -q
          apt-get install -q -y --no-install-recommends ca-certificates git
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - name: trust the checkout, which belongs to another user
        run: git config --global --add safe.directory "$GITHUB_WORKSPACE"
      - name: run the stage
        run: tests/run.sh "${{ matrix.stage }}"
"""

GITLAB = HEAD + """# Stages that mount file systems (fresh, trixie, sid, packages...) need a runner
# whose containers are privileged.
.stage:
  image: debian:12
  timeout: 60 minutes
  interruptible: true
  variables:
    GIT_DEPTH: 0
  before_script:
    - apt-get update -q
    - apt-get install -q -y --no-install-recommends ca-certificates git
    - git config --global --add safe.directory "$CI_PROJECT_DIR"
  script:
    - tests/run.sh "$STAGE"
"""
GITLAB_WHEN = {"pr": '$CI_PIPELINE_SOURCE == "merge_request_event"',
               "all": '$CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH',
               "release": '$CI_PIPELINE_SOURCE == "web"'}
GITLAB_JOB = """
%(level)s:
  extends: .stage
  rules:
    - if: %(when)s
  parallel:
    matrix:
      - STAGE: [%(stages)s]
"""
COLUMNS = 100  # width of a line
INDENT = 16  # columns before the list of stages, in both definitions
TOO_LONG = {"mutants"}  # takes hours


def stages():
    """Returns the stages of each level, in the order of tests/run.sh."""
    listed = subprocess.run((ROOT / "tests/run.sh", "--list"), check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    levels = {}
    for line in listed.splitlines():
        level, stage = line.split()
        if stage not in TOO_LONG:
            levels.setdefault(level, []).append(stage)
    return levels


def wrap(names):
    lines = [""]
    for name in names:
        if INDENT + len(lines[-1]) + len(name) + 1 > COLUMNS:
            lines.append("")
        lines[-1] += name + ", "
    return ("\n" + INDENT * " ").join(line.rstrip() for line in lines).rstrip(",")


def written(head, job, when):
    return head + "".join(job % {"level": level, "when": when[level], "stages": wrap(names)}
                          for level, names in stages().items())


def main():
    definitions = {".github/workflows/stages.yml": written(GITHUB, GITHUB_JOB, GITHUB_WHEN),
                   ".gitlab-ci.yml": written(GITLAB, GITLAB_JOB, GITLAB_WHEN)}
    outdated = 0
    for name, text in definitions.items():
        path = ROOT / name
        if sys.argv[1:] != ["--check"]:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            print(name, "differs from the lists of tests/run.sh: run .ci/definitions.py")
            outdated += 1
    return 1 if outdated else 0


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    sys.exit(main())
