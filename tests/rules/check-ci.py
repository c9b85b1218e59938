#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check-ci ROOT: the CI definitions run the stages of tests/run.sh.

Each definition names every stage of the two lists of tests/run.sh, and no name without a
function stage_NAME there. A stage that runs by name alone may be missing. Every .yml file of the
project is well-formed.
"""
import re
import sys

from projectfiles import finish, project_files, read

try:
    import yaml
except ImportError:
    print("python3-yaml is not installed")
    sys.exit(77)

RUN = "tests/run.sh"
# definition -> where it lists the stages
LISTS = {
    ".github/workflows/stages.yml":
        lambda ci: ci["jobs"]["stage"]["strategy"]["matrix"]["stage"],
    ".gitlab-ci.yml": lambda ci: ci["stage"]["parallel"]["matrix"][0]["STAGE"],
}


def stages_of(run):
    """The stages that --all runs, and all stages."""
    listed = re.findall(r'^(?:SLOW_)?STAGES="([^"]*)"', run, re.M)
    return set(" ".join(listed).split()), set(re.findall(r"^stage_(\w+)", run, re.M))


def problems_of(name, named, run):
    required, defined = stages_of(run)
    for stage in sorted(required - set(named)):
        yield "%s: stage %s of %s is missing" % (name, stage, RUN)
    for stage in named:
        if stage not in defined:
            yield "%s: %s has no stage %s" % (name, RUN, stage)
        if named.count(stage) > 1:
            yield "%s: stage %s is there twice" % (name, stage)


def check_itself():
    run = 'STAGES="one two"\nSLOW_STAGES="three"\n' + "".join(
        "stage_%s () { :; }\n" % name for name in ("one", "two", "three", "alone"))
    good = ["one", "two", "three", "alone"]
    assert not list(problems_of("ci", good, run))
    for bad in (["one", "two", "alone"], good + ["four"], good + ["one"]):
        assert list(problems_of("ci", bad, run)), bad


def main():
    check_itself()
    root = sys.argv[1]
    run = read(root, RUN)
    problems, definitions = [], {}
    for name in project_files(root):
        if name.endswith(".yml"):
            try:
                definitions[name] = yaml.safe_load(read(root, name))
            except yaml.YAMLError as error:
                problems.append("%s: %s" % (name, error))
    for name, stages in LISTS.items():
        if name in definitions:
            problems += problems_of(name, stages(definitions[name]), run)
        else:
            problems.append("%s is missing or cannot be read" % name)
    finish(problems, len(definitions))


if __name__ == "__main__":
    main()
