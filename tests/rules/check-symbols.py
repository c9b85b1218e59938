#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check-symbols NM HEADER LIBNMSCORE LIBGSTNMS: what the libraries show.

libnmscore exports the functions that nmscore.h declares, no more and no less,
and needs little of the C library and of the math library. The plugin exports
the two entry points of a plugin, and has nmscore inside.
"""
import re
import subprocess
import sys

from projectfiles import finish

NEEDED = {
    # memory and text
    "aligned_alloc", "calloc", "free", "malloc", "posix_memalign", "realloc",
    "memcmp", "memcpy", "memmove", "memset", "strcmp", "strlen", "snprintf", "vsnprintf",
    # the instruction set: NMS_CPU, read once
    "getenv", "pthread_once",
    # the floating-point mode, where there is no register to write
    "fegetenv", "fesetenv", "feholdexcept",
    # one value a run
    "nextafter", "nextafterf",
}
# what compilers, C run-times and sanitizers add by themselves
ADDED = re.compile(r"__\w+_chk$|__stack_chk_fail$|__cxa_finalize$|__gmon_start__$|_ITM_\w+$"
                   r"|__(asan|ubsan|tsan|msan|lsan|sanitizer|gcov|llvm|tls)_\w+$"
                   r"|__(isoc\w+|errno_location)$")


def symbols(nm, library, which):
    """name -> type of the dynamic symbols, without their versions"""
    out = subprocess.run([nm, "-D", which, library], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    found = {}
    for line in out.splitlines():
        fields = line.split()
        if len(fields) >= 2:
            found[fields[-1].split("@")[0]] = fields[-2]
    return found


def declared(header):
    with open(header, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    return set(re.findall(r"\bNMS_API\b[^;(]*?\b(\w+)\s*\(", text)), \
        set(re.findall(r"\b(nms_\w+)\s*\([^;{}]*\)\s*;", text))


def main():
    nm, header, core, plugin = sys.argv[1:5]
    problems = []

    marked, prototypes = declared(header)
    for name in sorted(prototypes - marked):
        problems.append("nmscore.h: %s is declared without NMS_API" % name)
    for name in sorted(marked):
        if not name.startswith("nms_"):
            problems.append("nmscore.h: %s does not start with nms_" % name)

    exported = {n for n, kind in symbols(nm, core, "--defined-only").items() if kind != "A"}
    for name in sorted(exported - marked):
        problems.append("libnmscore exports %s, which nmscore.h does not declare" % name)
    for name in sorted(marked - exported):
        problems.append("libnmscore does not export %s, which nmscore.h declares" % name)

    needed = symbols(nm, core, "--undefined-only")
    for name in sorted(needed):
        if name not in NEEDED and not ADDED.match(name):
            problems.append("libnmscore needs %s" % name)

    entries = symbols(nm, plugin, "--defined-only")
    points = {"gst_plugin_nms_get_desc", "gst_plugin_nms_register"}
    for name in sorted(set(entries) - points):
        problems.append("the plugin exports %s" % name)
    for name in sorted(points - set(entries)):
        problems.append("the plugin lacks %s" % name)
    for name in sorted(symbols(nm, plugin, "--undefined-only")):
        if name.startswith("nms_"):
            problems.append("the plugin takes %s from outside" % name)

    finish(problems, len(marked) and len(exported) + len(needed) + len(entries))


if __name__ == "__main__":
    main()
