#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-seeds BUILD: the commands of docs/seeds.md work and print what the document says.

Each block of commands runs in a folder with links to the checkout. Blocks that need a plugin
are skipped if NMS_TEST_LIBTPU or NMS_TEST_XLA_PLUGIN does not name it.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLUGINS = {"LIBTPU": "NMS_TEST_LIBTPU", "PLUGIN": "NMS_TEST_XLA_PLUGIN"}


def blocks():
    with open(os.path.join(ROOT, "docs/seeds.md"), encoding="utf-8") as file:
        return re.findall(r"^```sh\n(.*?)^```", file.read(), re.S | re.M)


def missing(block, environment):
    """Returns the name of a variable that the block needs and that is not set, or None."""
    used = re.findall(r"\$(%s)\b" % "|".join(PLUGINS), block)
    return next((PLUGINS[name] for name in used if name not in environment), None)


def run(block, environment, folder):
    """Returns what is wrong, or an empty string."""
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=folder, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace")
    absent = [text for text in re.findall(r"# prints (.+)$", block, re.M)
              if text not in done.stdout]
    if done.returncode or absent:
        return "status %d, does not print %s\n%s\n%s" % (done.returncode, absent, done.stdout,
                                                        done.stderr[-2000:])
    return ""


def main():
    build, count, failed = os.path.abspath(sys.argv[1]), 0, 0
    environment = dict(os.environ, BUILD=build, PYTHON=sys.executable, JAX_PLATFORMS="cpu",
                       NMS_XLA_PROBE=os.path.join(build, "tools/nms-xla-probe"))
    for name, variable in PLUGINS.items():
        if os.environ.get(variable):
            environment[name] = os.environ[variable]
    with tempfile.TemporaryDirectory() as folder:
        for name in os.listdir(ROOT):
            if not name.startswith(".") and name != "build":
                os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
        for block in blocks():
            count += 1
            first = block.splitlines()[0].replace("#", "")
            absent = missing(block, environment)
            wrong = "" if absent else run(block, environment, folder)
            failed += bool(wrong)
            print("%s %d - %s%s" % ("not ok" if wrong else "ok", count, first,
                                    " # SKIP %s is not set" % absent if absent else ""))
            for line in wrong.splitlines():
                print("# " + line)
            sys.stdout.flush()
    print("1..%d" % count)
    sys.exit(failed > 0 or count < 10)


if __name__ == "__main__":
    main()
