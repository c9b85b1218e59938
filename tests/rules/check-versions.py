#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check-versions ROOT VERSION SOVERSION: files that repeat the versions of meson agree with it.

VERSION is the project's, in nmscore.h, NEWS.md and debian/changelog; the Python package takes it
from meson. SOVERSION is the library's, in its version script and the names of Debian's packages.
"""
import os
import re
import sys

from projectfiles import finish, read


def text_of(root, name):
    """Returns the text of a file, or "" if there is none."""
    return read(root, name) if os.path.exists(os.path.join(root, name)) else ""


def numbers(version):
    return [int(part) for part in version.split(".")]


def versions(root):
    """Yields name of a file -> the version that it states, or None."""
    header = read(root, "nmscore/nmscore.h")
    parts = [re.search(r"^#define NMS_VERSION_%s (\d+)$" % part, header, re.M)
             for part in ("MAJOR", "MINOR", "MICRO")]
    yield "nmscore/nmscore.h", ".".join(p.group(1) for p in parts) if all(parts) else None
    for name, pattern in (("NEWS.md", r"# (\S+)"),
                          ("debian/changelog", r"gst-nms \((\S+)\)")):
        found = re.match(pattern, read(root, name))
        yield name, found and found.group(1)


def python_problems(root):
    text = read(root, "pyproject.toml")
    dynamic = re.search(r'^dynamic *=.*"version"', text, re.M)
    if not dynamic or re.search(r"^version *=", text, re.M):
        yield "pyproject.toml: the version is not dynamic, which takes it from meson.build"


def soname_problems(root, soversion):
    soname, package = "libnmscore.so." + soversion, "libnmscore" + soversion
    for name, text in (("nmscore/nmscore.map", "NMSCORE_%s {" % soversion),
                       ("debian/control", "Package: %s\n" % package),
                       ("debian/%s.symbols" % package, "%s %s #MINVER#\n" % (soname, package))):
        if text not in text_of(root, name):
            yield "%s: not of soversion %s: no %r" % (name, soversion, text)


def symbol_problems(root, version, soversion):
    name = "debian/libnmscore%s.symbols" % soversion
    text = text_of(root, name)
    for symbol, since in re.findall(r"^ (\S+)@NMSCORE_\d+ (\S+)$", text, re.M):
        if numbers(since) > numbers(version):
            yield "%s: %s is of version %s, the project of %s" % (name, symbol, since, version)


def main():
    root, version, soversion = sys.argv[1:]
    stated = list(versions(root))
    problems = ["%s: version %s, meson.build has %s" % (name, found, version)
                for name, found in stated if found != version]
    problems += python_problems(root)
    problems += soname_problems(root, soversion)
    problems += symbol_problems(root, version, soversion)
    finish(problems, len(stated))


if __name__ == "__main__":
    main()
