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
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLUGINS = {"LIBTPU": "NMS_TEST_LIBTPU", "PLUGIN": "NMS_TEST_XLA_PLUGIN"}


def blocks():
    with open(os.path.join(ROOT, "docs/seeds.md"), encoding="utf-8") as file:
        return re.findall(r"^```sh\n(.*?)^```", file.read(), re.S | re.M)


def missing(block, environment):
    """Returns the name of a variable that the block needs and that is not set, or None."""
    used = re.findall(r"\$(%s)\b" % "|".join(PLUGINS), block)
    return next((PLUGINS[name] for name in used if name not in environment), None)


class Commands(unittest.TestCase):
    def run_block(self, block, environment, folder):
        """Runs a block of commands. Fails unless each ends well and prints what the block says."""
        absent = missing(block, environment)
        if absent:
            self.skipTest("%s is not set" % absent)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=folder,
                              env=environment, capture_output=True, text=True, errors="replace")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr[-2000:])
        for text in re.findall(r"# prints (.+)$", block, re.M):
            self.assertIn(text, done.stdout)

    def test_document(self):
        environment = dict(os.environ, BUILD=BUILD, PYTHON=sys.executable, JAX_PLATFORMS="cpu",
                           NMS_XLA_PROBE=os.path.join(BUILD, "tools/nms-xla-probe"))
        for name, variable in PLUGINS.items():
            if os.environ.get(variable):
                environment[name] = os.environ[variable]
        self.assertGreaterEqual(len(blocks()), 10)
        with tempfile.TemporaryDirectory() as folder:
            for name in os.listdir(ROOT):
                if not name.startswith(".") and name != "build":
                    os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
            for block in blocks():
                with self.subTest(block.splitlines()[0]):
                    self.run_block(block, environment, folder)


if __name__ == "__main__":
    unittest.main(verbosity=2)
