#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check-release ROOT: tools/release.sh refuses a release from which a step is missing.

Makes a scratch repository of the project's own files that release.sh reads, with a made-up
version for which all steps are done. Then undoes one step after another.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from projectfiles import finish

FILES = ("meson.build", "NEWS.md", "debian/changelog", "nmscore/nmscore.h", "tools/release.sh",
         "tests/bench/figures.sh", "tests/run.sh", "pipelines/common.sh", "pyproject.toml")
VERSION = "70.2.0"
NEWS = "# %s (2031-02-03)\n\n- Made up.\n\n" % VERSION
ENTRY = """gst-nms (%s) unstable; urgency=medium

  * Made up.

 -- Nobody <nobody@example.org>  Mon, 03 Feb 2031 04:05:06 +0000

""" % VERSION


class Scratch:
    def __init__(self, folder):
        self.folder = folder

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def replace(self, name, old, new):
        text = self.read(name)
        assert old in text, (name, old)
        self.write(name, text.replace(old, new, 1))

    def git(self, *arguments):
        return subprocess.run(("git", "-c", "user.name=x", "-c", "user.email=x@example.org")
                              + arguments, cwd=self.folder, check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.strip()

    def commit(self):
        """Commits all, and marks the commit as pushed and tested."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "scratch")
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        head = self.git("rev-parse", "HEAD")
        for line in self.run("tests/run.sh", "--list")[1].splitlines():
            self.write("build/passed/" + line.split()[1], head + "\n9 passed, 0 failed\n")

    def measure(self, name):
        """Writes the file that figures.sh would write."""
        self.write("output-bench/figures/%s.txt" % name, "commit %s, 2031-02-02, load 0.1\n"
                   % self.git("describe", "--always", "--dirty"))

    def run(self, *command):
        environment = dict(os.environ, GIT_AUTHOR_NAME="x", GIT_AUTHOR_EMAIL="x@example.org",
                           GIT_COMMITTER_NAME="x", GIT_COMMITTER_EMAIL="x@example.org")
        environment.pop("NMS_BUILD_DIR", None)
        done = subprocess.run(command, cwd=self.folder, text=True, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def release(self, *arguments):
        return self.run("tools/release.sh", *arguments)


def make_scratch(root, folder):
    """Returns a repository in which no step is missing."""
    scratch = Scratch(folder)
    for name in FILES:
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        shutil.copy(os.path.join(root, name), os.path.join(folder, name))
    scratch.git("init", "-q", "-b", "main")
    scratch.write(".gitignore", "build*/\noutput*\n")
    meson = re.sub(r"^  version: '.*',$", "  version: '%s'," % VERSION,
                   scratch.read("meson.build"), flags=re.M)
    scratch.write("meson.build", meson)
    scratch.write("NEWS.md", NEWS + scratch.read("NEWS.md"))
    scratch.write("debian/changelog", ENTRY + scratch.read("debian/changelog"))
    scratch.replace("pyproject.toml", "//ADDRESS/", "//git.example.org/")
    scratch.commit()
    for line in scratch.run("tests/bench/figures.sh", "--list")[1].splitlines():
        scratch.measure(line.split()[0])
    scratch.git("tag", "v70.1.9")
    scratch.commit()
    return scratch


# name, what undoes the step, whether it is committed, a part of the message
STEPS = [
    ("the version is tagged",
     lambda s: s.git("tag", "v" + VERSION), True, "not above the last tag"),
    ("the version is older than the tag",
     lambda s: s.git("tag", "v70.10.0"), True, "not above the last tag"),
    ("NEWS.md has no section",
     lambda s: s.replace("NEWS.md", NEWS, ""), True, "NEWS.md begins"),
    ("NEWS.md has no date",
     lambda s: s.replace("NEWS.md", "2031-02-03", "not released yet"), True, "NEWS.md begins"),
    ("debian/changelog has no entry",
     lambda s: s.replace("debian/changelog", ENTRY, ""), True, "debian/changelog begins"),
    ("debian/changelog has another day",
     lambda s: s.replace("debian/changelog", "03 Feb", "04 Feb"), True, "changelog has the date"),
    ("debian/changelog is not final",
     lambda s: s.replace("debian/changelog", "unstable", "UNRELEASED"), True, "UNRELEASED"),
    ("the address is missing",
     lambda s: s.replace("pyproject.toml", "//git.example.org/", "//ADDRESS/"), True,
     "pyproject.toml has ADDRESS"),
    ("the sources changed after the figures",
     lambda s: s.write("nmscore/nmscore.h", s.read("nmscore/nmscore.h") + "\n"), True,
     "no figures of these sources in output-bench: tests/bench/figures.sh rivals"),
    ("one figure was not measured",
     lambda s: os.remove(s.folder + "/output-bench/figures/methods.txt"), False,
     "figures.sh methods\n"),
    ("one figure was measured with changes",
     lambda s: s.write("output-bench/figures/methods.txt", "commit v70.1.9-dirty, 2031-02-02\n"),
     False, "figures.sh methods\n"),
    ("a change is not committed",
     lambda s: s.write("NEWS.md", NEWS), False, "not committed"),
    ("a new file is not committed",
     lambda s: s.write("new.c", ""), False, "not committed"),
    ("another branch",
     lambda s: s.git("switch", "-q", "-c", "other"), False, "main is not"),
    ("main is not pushed",
     lambda s: s.git("update-ref", "refs/remotes/origin/main", "HEAD~1"), False,
     "origin/main is another"),
    ("the tests have not passed",
     lambda s: shutil.rmtree(s.folder + "/build/passed"), False, "tests/run.sh release locale"),
    ("a stage has not passed",
     lambda s: os.remove(s.folder + "/build/passed/arm"), False, ": tests/run.sh arm\n"),
    ("a stage of a release has not passed",
     lambda s: os.remove(s.folder + "/build/passed/wheel"), False, ": tests/run.sh wheel\n"),
    ("the tests have passed before",
     lambda s: s.git("commit", "-q", "--allow-empty", "-m", "x"), False, "--all: not passed on"),
]


def problems_of(root, work):
    complete = make_scratch(root, os.path.join(work, "complete")).folder
    for number, (name, undo, committed, message) in enumerate(STEPS):
        scratch = Scratch(os.path.join(work, str(number)))
        shutil.copytree(complete, scratch.folder)
        undo(scratch)
        if committed:
            scratch.commit()
        before = scratch.git("tag")
        rc, output = scratch.release("--tag")
        if rc != 1 or message not in output or scratch.git("tag") != before:
            yield "%s: status %d, %s" % (name, rc, output)
    scratch = Scratch(complete)
    rc, output = scratch.release()
    if rc or scratch.git("tag") != "v70.1.9":
        yield "a complete release is refused, or tagged without --tag: " + output
    archives = []
    for _ in range(2):
        rc, output = scratch.release("--tag")
        if rc or "v" + VERSION not in scratch.git("tag"):
            yield "a complete release is not tagged: " + output
            return
        with open("%s/build/gst-nms-%s.tar.gz" % (complete, VERSION), "rb") as file:
            archives.append(file.read())
        scratch.git("tag", "-d", "v" + VERSION)
    if archives[0] != archives[1]:
        yield "the archive differs from run to run"


def main():
    if not shutil.which("git"):
        print("git is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as work:
        finish(list(problems_of(sys.argv[1], work)), len(STEPS))


if __name__ == "__main__":
    main()
