#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-install CHECKOUT: README's `pip install .` in a fresh virtual environment.

Checks the description in the package's metadata, the installed files, and a call. Installs from a
copy, because the build writes a folder into the checkout.
Skipped where pip cannot download the build's requirements.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import venv

CHECKOUT = sys.argv.pop(1)
EXAMPLE = """
import nmscore
print(nmscore.__version__)
print(nmscore.__file__)
print(nmscore.nms([[0, 0, 10, 10], [1, 1, 11, 11], [50, 50, 60, 60]], [0.8, 0.9, 0.7], 0.5))
"""
DESCRIPTION = """
import importlib.metadata
print(importlib.metadata.metadata("nmscore").get_payload())
"""


def run(*command):
    """Runs the command without the variables that the test suite sets; its status and output.

    With -O0, because it compiles faster and nothing here depends on the optimisation.
    """
    env = {name: value for name, value in os.environ.items()
           if name not in ("PYTHONPATH", "DESTDIR", "LD_PRELOAD")}
    env["CFLAGS"] = "-O0"
    done = subprocess.run(command, env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def read(*path):
    with open(os.path.join(CHECKOUT, *path), encoding="utf-8") as file:
        return file.read()


VERSION = re.search(r"version: '([^']+)'", read("meson.build")).group(1)


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="nmscore-install-")
        cls.addClassCleanup(cls.folder.cleanup)
        place = cls.folder.name
        cls.python = os.path.join(place, "venv", "bin", "python")
        try:  # (numpy is taken from the system, because it is the largest download)
            venv.create(os.path.join(place, "venv"), system_site_packages=True, with_pip=True)
        except subprocess.CalledProcessError as error:
            raise unittest.SkipTest(f"venv makes no environment with pip: {error}")
        status, output = run(cls.python, "-m", "pip", "download", "--quiet", "--no-deps",
                             "--retries=0", "--timeout=20", "-d", os.path.join(place, "wheels"),
                             "meson-python")
        if status:
            raise unittest.SkipTest("pip cannot download meson-python: "
                                    + output.strip().rpartition("\n")[2])
        copy = os.path.join(place, "checkout")
        shutil.copytree(CHECKOUT, copy, ignore=shutil.ignore_patterns("build*", "output*", ".git"))
        status, output = run(cls.python, "-m", "pip", "install", copy)
        if status:
            raise AssertionError("pip install failed:\n" + output)

    def output_of(self, *command):
        status, output = run(self.python, *command)
        self.assertEqual(status, 0, output)
        return output

    def test_description_is_the_readme(self):
        self.assertEqual(self.output_of("-c", DESCRIPTION).strip(),
                         read("python/README.md").strip())

    def test_only_the_package_is_installed(self):
        shown = self.output_of("-m", "pip", "show", "--files", "nmscore").splitlines()
        self.assertIn("Requires: numpy", shown)
        files = [line.strip() for line in shown[shown.index("Files:") + 1:]]
        of_package = {re.sub(r"\.(abi3|\w+-[\w-]+)\.so$", ".so", name) for name in files
                      if name.startswith("nmscore/") and not name.endswith(".pyc")}
        wanted = {"nmscore/_nmsaccel.so", "nmscore/_nmscore.so"} | {
            "nmscore/" + name for name in os.listdir(os.path.join(CHECKOUT, "python", "nmscore"))
            if name.endswith((".py", ".pyi", ".typed"))}
        self.assertEqual(of_package, wanted)

    def test_example(self):
        version, path, result = self.output_of("-c", EXAMPLE).splitlines()
        self.assertEqual(version, VERSION)
        self.assertTrue(path.startswith(self.folder.name), path)
        self.assertEqual(result, "[1 2]")


if __name__ == "__main__":
    program = unittest.main(exit=False)
    for _, reason in program.result.skipped:
        print(reason)
        sys.exit(77)
    sys.exit(not program.result.wasSuccessful())
