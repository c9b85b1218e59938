#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check-includes ROOT: who may include what.

nmscore/    the C library, and its own headers
accel/      the C library, its own headers and the public ones of nmscore
gst/        its own headers, and of nmscore only the public ones (nmscore.h,
            nmslazy.h, nmsgraph.h, nmsxla.h), but boxfilter the inline functions of
            fpmode.h too; no element's header but by that element itself
tests/      of nmscore only the public headers; no element's header (elements are
            reached by registered name); tests/reference/ref*.[ch] and rotatedref.[ch]
            nothing else of the project
pipelines/  as applications: public headers of nmscore, elements by name
python/     of nmscore only nmscore.h, nmsstablehlo.h and nmsxla.h
"""
import os
import re
import sys

from projectfiles import finish, project_files, read

LIBC = """assert complex ctype dlfcn errno fcntl fenv float inttypes iso646 limits link locale
math poll pthread setjmp signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib
stdnoreturn string tgmath threads time uchar wchar wctype sys/stat sys/types sys/utsname sys/wait
unistd""".split()
# intrinsics are the compiler's own
INTRINSICS = ["xmmintrin", "emmintrin", "immintrin", "arm_neon"]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)

# files that may include internal headers of another folder, and these headers
BEHIND = {"gst/nmsfilter/boxfilter.c": {"nmscore/fpmode.h"},
          "tests/core/test-threshold.c": {"nmscore/geometry/overlap.h"},
          "tests/accel/test-lazy-cache.c": {"accel/lazy/lazynodes.h"},
          "tests/accel/test-tpu.c": {"accel/tpu/tpu.h"},
          "tests/tpu/tpuprint.c": {"accel/tpu/tpu.h"},
          "tests/accel/fakepjrt.c": {"accel/xla/pjrt.h"},
          "tests/accel/frames.c": {"accel/lazy/process.h", "accel/xla/xladevice.h"},
          "tests/accel/test-xla.c": {"accel/xla/xladevice.h"},
          "tests/accel/test-xla-faults.c": {"accel/xla/xladevice.h"},
          "tests/accel/wrappedpjrt.c": {"accel/lazy/lazynodes.h", "accel/tpu/tpu.h",
                                        "accel/xla/pjrt.h"}}

GENERATED = ("config.h", "elementlist.h")

# the reference, which must not use the code that it checks
REFERENCE = ("tests/reference/ref", "tests/reference/rotatedref.")

# public headers are installed in one folder, so they are included by name alone
PUBLIC = {"nmscore/nmscore.h", "nmscore/nmsmethods.h", "accel/lazy/nmslazy.h",
          "accel/lazy/nmsgraph.h",
          "accel/stablehlo/nmsstablehlo.h",
          "accel/xla/nmsxla.h"}


CORE = ("nmscore", "accel")


def top(name):
    return name.split("/")[0]


def problems_of(name, text, files):
    own = {f for f in files if f.endswith(".h")}
    internal = {f for f in own if top(f) in CORE} - PUBLIC
    elements = {f for f in own if top(f) == "gst" and os.path.basename(f).startswith("gst")}
    stem = os.path.splitext(os.path.basename(name))[0]

    for kind, path in INCLUDE.findall(text):
        # the project's files that this name can mean: beside the file, below the root or a folder
        beside = os.path.normpath(os.path.join(os.path.dirname(name), path))
        ours = {f for f in own if f == beside or f == path or f.endswith("/" + path)}
        if beside in own:
            ours = {beside}
        said = "%s includes %s, " % (name, path)

        if top(name) in CORE:
            if kind == '"' and ours and ours <= PUBLIC:
                continue
            if kind == '"' and not {beside, path, "nmscore/" + path} & own:
                yield said + "which is neither beside it nor a path from nmscore/ or the root"
            elif kind == "<" and path not in [h + ".h" for h in LIBC + INTRINSICS]:
                yield said + "which is not of the C library"
            continue
        if ours & internal and not ours & BEHIND.get(name, set()):
            if not ours - internal:
                yield said + "an internal header of nmscore"
        if ours and ours <= elements and (top(name) != "gst" or not path.endswith(stem + ".h")):
            yield said + "the header of an element"
        if name.startswith(REFERENCE) and not all(
                f in PUBLIC or f.startswith(REFERENCE) for f in ours):
            yield said + "but must be independent"
        if top(name) == "pipelines" and (ours - PUBLIC or kind == '"'):
            yield said + "but may use what is installed only"
        if top(name) == "gst" and kind == '"' and path not in GENERATED and not any(
                top(f) == "gst" or f in PUBLIC | BEHIND.get(name, set()) for f in ours):
            yield said + "which is neither of gst/ nor nmscore.h"


def main():
    root = sys.argv[1]
    files = project_files(root)
    problems, checked = [], 0
    for name in files:
        if name.endswith((".c", ".h", ".cc", ".cpp")):
            checked += 1
            problems += problems_of(name, read(root, name), files)
    finish(problems, checked)


if __name__ == "__main__":
    main()
