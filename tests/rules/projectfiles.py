# SPDX-License-Identifier: LGPL-2.1-or-later
"""projectfiles: the files of the project, for the checks beside this one.

In a git checkout the files that git tracks and untracked ones that it does not ignore;
in an exported tree all files outside of build folders. Paths are relative to the root, with '/'.
"""
import os
import subprocess
import sys


def _by_git(root):
    def git(*arguments):
        return subprocess.run(("git", "-C", root) + arguments, check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    try:
        top = git("rev-parse", "--show-toplevel").rstrip("\n")
        if os.path.realpath(top) != os.path.realpath(root):
            return None  # an exported tree inside of another repository
        names = git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    except (OSError, subprocess.CalledProcessError):
        return None
    return [name for name in names.split("\0") if name]


def _is_build_folder(path):
    return os.path.isdir(os.path.join(path, "meson-info"))


def _by_walking(root):
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders
                      if f not in (".git", "__pycache__")
                      and not f.startswith(("build", "output"))
                      and not _is_build_folder(os.path.join(folder, f))]
        for name in names:
            found.append(os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/"))
    return found


def project_files(root):
    names = _by_git(root)
    if names is None:
        names = _by_walking(root)
    names = sorted(n for n in names if os.path.isfile(os.path.join(root, n)))
    if "nmscore/nmscore.h" not in names:
        sys.exit("no project files found below " + root)
    return names


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def finish(problems, checked):
    """Prints the problems and ends the program; fails too if no file was checked."""
    if not checked:
        problems = ["nothing was checked"]
    for problem in problems:
        print(problem)
    print("%d checked, %d problems" % (checked, len(problems)))
    sys.exit(1 if problems else 0)
