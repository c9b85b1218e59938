#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-manpages FOLDER [PROGRAM...]: the manual pages in FOLDER.

Each page is formatted without a warning, and names every option that `PROGRAM --help` prints.
PROGRAM is PAGE=PATH for a page PAGE.1; a path that ends with .py is run by this Python.
"""
import os
import re
import shutil
import subprocess
import sys

folder, programs = sys.argv[1], sys.argv[2:]
if not shutil.which("man"):
    print("man is not installed")
    sys.exit(77)


def output_of(*command):
    env = dict(os.environ, LC_ALL="C.UTF-8", MANWIDTH="100")
    return subprocess.run(command, env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=True).stdout


def warnings_of(path):
    command = ("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", path)
    return subprocess.run(command, env=dict(os.environ, LC_ALL="C.UTF-8"), text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True).stderr


def options_in(text):
    return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", text))


problems = 0
for page in sorted(os.listdir(folder)):
    if page.endswith(".1"):
        for line in warnings_of(os.path.join(folder, page)).splitlines():
            print(f"{page}: {line}")
            problems += 1
for program in programs:
    name, _, path = program.partition("=")
    said = output_of(*([sys.executable] if path.endswith(".py") else []), path, "--help")
    shown = output_of("man", "-E", "ascii", "-P", "cat", "--nh", "--nj", "-l",
                      os.path.join(folder, name + ".1"))
    for option in sorted(options_in(said) - options_in(re.sub(".\b", "", shown))):
        print(f"{name}.1 does not have {option}")
        problems += 1
print(f"{problems} problems")
sys.exit(problems > 0)
