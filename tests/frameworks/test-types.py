#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-types CHECKOUT: the type hints of the package, checked by mypy --strict, and the stubs of
its compiled module, compared with the module."""
import os
import subprocess
import sys
import tempfile
import unittest

CHECKOUT = sys.argv.pop(1)
USER = """
from typing import List
from typing_extensions import assert_type
import numpy, nmscore
boxes = numpy.zeros((2, 4), numpy.float32)
assert_type(nmscore.nms(boxes, [0.5, 0.4], 0.5), "numpy.typing.NDArray[numpy.int64]")
images: List[numpy.typing.NDArray[numpy.int64]] = nmscore.run_batch(boxes, [0, 2]).images()
"""


class Types(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cache = tempfile.TemporaryDirectory(prefix="nmscore-types-")
        cls.addClassCleanup(cls.cache.cleanup)

    def run_module(self, *arguments):
        """Runs a module of mypy on the package's sources; "rc", the status and the output."""
        env = dict(os.environ, MYPYPATH=os.path.join(CHECKOUT, "python"),
                   MYPY_CACHE_DIR=self.cache.name)
        done = subprocess.run([sys.executable, "-m", *arguments], cwd=CHECKOUT, env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return f"rc {done.returncode}\n{done.stdout}"

    def check_user(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(text)
            file.flush()
            return self.run_module("mypy", "--strict", file.name)

    def test_package(self):
        output = self.run_module("mypy", "--strict", "python/nmscore")
        self.assertRegex(output, r"\Arc 0\nSuccess: no issues found in \d\d source files\n\Z")

    def test_stubs_of_the_compiled_module(self):
        output = self.run_module("mypy.stubtest", "nmscore._nmscore")
        self.assertRegex(output, r"\Arc 0\nSuccess")

    def test_user(self):
        self.assertRegex(self.check_user(USER), r"\Arc 0\nSuccess")
        self.assertRegex(self.check_user(USER + 'nmscore.nms(boxes, [0.5, 0.4], "0.5")\n'),
                         r'\Arc 1\n.*: error: Argument 3 to "nms" has incompatible type "str"')


if __name__ == "__main__":
    unittest.main()
