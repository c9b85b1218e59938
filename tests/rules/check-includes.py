#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check-includes ROOT [NM ARCHIVE]: who may include what, no two files of gst/, nmscore/ or accel/
include each other, and no two of nmscore/ call each other.

A file may include those of its own folder and what the rows of MAY_INCLUDE that match it list. Only
an element includes its own header, because others reach elements by registered name.

The graph of includes must have no cycle: a node is a source with its header (X.c and X.h beside
it). Calls are read from the objects in ARCHIVE, a build of nmscore, by NM. A node is an object, and
those of a template for different instruction sets are one node. An edge is a symbol that one object
needs and another one defines. This graph must have no cycle either, apart from the edges of
DISPATCH: functions that a table lists and that call the function which reads the table.
"""
import graphlib
import os
import pathlib
import re
import subprocess
import sys

from projectfiles import finish, project_files, read

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)

CORE, ACCEL = "nmscore/nms*.h", "accel/*/nms*.h"  # the public headers
# patterns of files, and of what these may include besides their own folder
MAY_INCLUDE = (
    ("nmscore/*/*", CORE + " nmscore/fpmode.h"),
    ("nmscore/call/*", "nmscore/engines/* nmscore/frame/* nmscore/geometry/* nmscore/methods/*"
                       " nmscore/simd/*"),
    ("nmscore/frame/*", "nmscore/call/* nmscore/geometry/* nmscore/simd/*"),
    ("nmscore/geometry/*", "nmscore/frame/* nmscore/simd/*"),
    ("nmscore/methods/*", "nmscore/engines/* nmscore/frame/* nmscore/geometry/* nmscore/simd/*"),
    ("nmscore/simd/*", "nmscore/geometry/*"),
    ("nmscore/engines/*", "nmscore/frame/* nmscore/geometry/* nmscore/simd/*"),
    ("nmscore/engines/*/*", CORE + " nmscore/fpmode.h nmscore/engines/* nmscore/frame/*"
                            " nmscore/geometry/* nmscore/simd/*"),
    ("accel/*/*", CORE + " nmscore/fpmode.h accel/*/*"),
    ("gst/*/*", CORE + " gst/* gst/meta/*"),
    ("gst/command/*", "gst/nmsfilter/* gst/records/*"),
    ("gst/nmsfilter/boxfilter.c", "nmscore/fpmode.h"),
    # as applications: what is installed
    ("pipelines/*/*", CORE + " " + ACCEL),
    ("python/nmscore/*", CORE + " " + ACCEL),
    ("tools/*", CORE + " " + ACCEL),
    # the reference must not use the code that it checks; the other folders of tests
    ("tests/reference/*", CORE),
    ("tests/[!r]*/*", CORE + " " + ACCEL + " tests/*/* gst/*/*"),
    # tests of what no caller reaches
    ("tests/core/test-threshold.c", "nmscore/geometry/overlap.h"),
    ("tests/accel/test-lazy-cache.c", "accel/lazy/lazynodes.h"),
    ("tests/accel/test-tpu.c", "accel/tpu/tpu.h"),
    ("tests/tpu/tpuprint.c", "accel/tpu/tpu.h"),
    ("tests/accel/fakepjrt.c", "accel/xla/pjrt.h"),
    ("tests/accel/frames.c", "accel/lazy/process.h accel/xla/xladevice.h"),
    ("tests/accel/test-xla*.c", "accel/xla/xladevice.h"),
    ("tests/accel/wrappedpjrt.c", "accel/lazy/lazynodes.h accel/tpu/tpu.h accel/xla/pjrt.h"))

LIBC = """assert complex ctype dlfcn errno fcntl fenv float inttypes iso646 limits link locale
math poll pthread setjmp signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib
stdnoreturn string tgmath threads time uchar wchar wctype sys/mman sys/stat sys/types sys/utsname
sys/wait unistd""".split()
LIBC += ["xmmintrin", "emmintrin", "immintrin", "arm_neon"]  # the compiler's own
LIBRARIES = {"simdjson": "gst/records", "cairo": "gst/overlay", "pango": "gst/overlay"}
GENERATED = ("config.h", "elementlist.h")
DISPATCH = {("engines_by_class", "engines_engine")}


def matches(name, patterns):
    """Whether one of the patterns, which are separated by spaces, is that of the whole name."""
    return any(pathlib.PurePath("/" + name).match("/" + pattern) for pattern in patterns.split())


def edges_of(texts):
    """(source, kind, path, target) of each include; `target` is a file of `texts`, or None. The
    rule check-sources says that a name means one file. Public headers are included in <> too."""
    files = {os.path.basename(name): name for name in texts}
    for name, text in texts.items():
        for kind, path in INCLUDE.findall(text):
            base = os.path.basename(path)
            yield name, kind, path, files.get(base) if kind == '"' or base[:3] == "nms" else None


def may_include(source, target):
    if re.match(r"gst/.*/gst\w+\.h$", target) and node_of(source) != node_of(target):
        return False
    return os.path.dirname(source) == os.path.dirname(target) or any(
        matches(source, files) and matches(target, allowed) for files, allowed in MAY_INCLUDE)


def include_problems(edges):
    for source, kind, path, target in edges:
        top, library = source.split("/")[0], re.match("|".join(LIBRARIES), path)
        if target:
            allowed = may_include(source, target)
        elif kind == '"':
            allowed = path in GENERATED or top == "tests"
        elif top in ("nmscore", "accel"):
            allowed = path[:-2] in LIBC
        else:
            allowed = not library or os.path.dirname(source) == LIBRARIES[library[0]]
        if not allowed or kind == '"' and top == "pipelines":
            yield "%s may not include %s" % (source, path)


def node_of(name):
    return os.path.splitext(name)[0]


def includes_of(edges):
    """Node -> the set of nodes that it includes."""
    graph = {}
    for source, _, _, target in edges:
        if target and source.startswith(("gst/", "nmscore/", "accel/")):
            graph.setdefault(node_of(target), set())
            graph.setdefault(node_of(source), set()).update({node_of(target)} - {node_of(source)})
    return graph


def calls_of(lines):
    """Node -> the set of nodes that it calls, from the lines of nm -P -A."""
    defines, needs = {}, {}
    for line in lines:
        found = re.match(r".*\[(?:.*/)?(?:\.\._)*(\w+)\.c\.o\]: (\S+) (\w)", line)
        if not found:
            continue
        node, symbol, kind = found.groups()
        needs.setdefault(node, set())
        if kind == "U":
            needs[node].add(symbol)
        elif kind.isupper():
            defines[symbol] = node
    return {node: {defines[symbol] for symbol in symbols if symbol in defines
                   and defines[symbol] != node and (node, defines[symbol]) not in DISPATCH}
            for node, symbols in needs.items()}


def cycle_problems(graph, what):
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        yield "these %s each other: %s" % (what, ", ".join(error.args[1]))


def call_problems(lines):
    graph = calls_of(lines)
    if sum(map(len, graph.values())) == 0:
        yield "no object of the archive calls another one"
    yield from cycle_problems(graph, "call")


def problems_of(texts):
    edges = list(edges_of(texts))
    yield from include_problems(edges)
    yield from cycle_problems(includes_of(edges), "include")


def check_itself():
    """Checks this script on made-up trees, each with one problem, and one without."""
    good = {"nmscore/call/a.c": '#include "call/a.h"\n#include "frame/b.h"\n',
            "nmscore/call/a.h": '#include <nmscore.h>\n', "nmscore/nmscore.h": "",
            "nmscore/frame/b.h": '#include <stdio.h>\n', "gst/meta/box.h": "",
            "gst/merge/gstone.h": "", "gst/merge/gstone.c": '#include "gstone.h"\n',
            "nmscore/engines/two/two.h": "", "gst/records/reader.h": "",
            "gst/records/reader.c": '#include "meta/box.h"\n#include <simdjson.h>\n',
            "accel/xla/x.h": "", "accel/xla/x.c": '#include "xla/x.h"\n#include "nmscore.h"\n',
            "tests/gst/test-x.c": '#include "meta/box.h"\n',
            "tests/reference/refx.c": '#include "nmscore.h"\n'}
    bad = [("include each other", "nmscore/frame/b.h", "call/a.h"),
           ("may not", "nmscore/call/a.h", "glib.h"),
           ("may not", "gst/meta/box.c", "<simdjson.h>"),
           ("may not", "gst/records/draw.c", "<pango/pangocairo.h>"),
           ("may not", "gst/overlay/draw.c", "records/reader.h"),
           ("may not", "gst/meta/odd.c", "records/reader.h"),
           ("may not", "gst/merge/gsttwo.c", "gstone.h"),
           ("may not", "nmscore/engines/one/one.c", "engines/two/two.h"),
           ("may not", "nmscore/engines/one/one.c", "call/a.h"),
           ("may not", "nmscore/call/run.c", "xla/x.h"),
           ("may not", "accel/xla/x.c", "frame/b.h"),
           ("may not", "gst/records/reader.c", "frame/b.h"),
           ("may not", "tests/core/test-a.c", "frame/b.h"),
           ("may not", "tests/reference/refx.c", "meta/box.h"),
           ("may not", "pipelines/embed/boxes.c", '"nmscore.h"')]
    found = list(problems_of(good))
    assert not found, found
    for wanted, name, path in bad:
        path = path if path[0] in '<"' else '"%s"' % path
        found = list(problems_of(dict(good, **{name: "#include %s\n" % path})))
        assert any(wanted in problem for problem in found), (wanted, name, path, found)
    calls = ["x.a[p/run.c.o]: nms__a U", "x.a[a.c.o]: nms__a T 0 5", "x.a[a.c.o]: b U",
             "x.a[q/.._b.c.o]: b T 0 5", "x.a[r/.._b.c.o]: b T 0 5",
             "x.a[engines_engine.c.o]: by U", "x.a[engines_engine.c.o]: run T 0 1",
             "x.a[engines_by_class.c.o]: by T 0 1", "x.a[engines_by_class.c.o]: run U"]
    assert not list(call_problems(calls)), list(call_problems(calls))
    assert list(call_problems(calls + ["x.a[p/run.c.o]: run_b T 0 1", "x.a[r/.._b.c.o]: run_b U"]))
    assert list(call_problems([]))


def main():
    check_itself()
    root = sys.argv[1]
    names = [name for name in project_files(root) if name.endswith((".c", ".h", ".cc", ".cpp"))]
    problems = list(problems_of({name: read(root, name) for name in names}))
    if len(sys.argv) > 2:
        nm, archive = sys.argv[2:]
        lines = subprocess.run([nm, "-P", "-A", archive], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.splitlines()
        if not any("__gnu_lto_slim" in line for line in lines):  # such objects have no symbols yet
            problems += call_problems(lines)
    finish(problems, len(names))


if __name__ == "__main__":
    main()
