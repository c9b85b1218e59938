#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check-layers ROOT [NM ARCHIVE]: no two files of gst/ or nmscore/ include each other, no two of
nmscore/ call each other, and the layers.

A node is a source with its header (X.c and X.h beside it); an edge is an #include. The graph
must have no cycle. Of the edges between folders only these are allowed:

gst/       a feature folder includes gst/ itself and meta/, never another feature folder, but
           command/ includes nmsfilter/ and records/;
           <simdjson> only in records/, <cairo> and <pango> only in overlay/
nmscore/   a folder includes those that FOLDERS lists for it; a folder of engines/ never includes
           another one; nothing includes accel/
accel/     includes the public headers of nmscore and its fpmode.h

Calls are read from the objects in ARCHIVE, a build of nmscore, by NM. A node is an object; those of
a template for different instruction sets are one node. An edge is a symbol that one object needs
and another one defines. The graph must have no cycle, apart from the edges of DISPATCH: functions
that a table lists and that call the function which reads the table.
"""
import os
import re
import subprocess
import sys

from projectfiles import finish, project_files, read

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
PUBLIC = ("nmscore.h", "nmsmethods.h", "nmslazy.h", "nmsgraph.h", "nmsstablehlo.h",
          "nmsxla.h")
FEATURES = ("nmsfilter", "records", "overlay", "transform", "merge")
LIBRARIES = {"simdjson": "gst/records", "cairo": "gst/overlay", "pango": "gst/overlay"}
ENGINES = "nmscore/engines/"
FOLDERS = {"call": ("frame", "geometry", "engines", "methods", "simd"),
         "frame": ("call", "geometry", "simd"),
         "geometry": ("frame", "simd"),
         "engines": ("frame", "geometry", "simd"),
         "methods": ("engines", "frame", "geometry", "simd"),
         "simd": ("geometry",)}
ACCEL = "accel/"
DISPATCH = {("engines_by_class", "engines_engine")}


def node_of(name):
    return os.path.splitext(name)[0]


def target_of(name, path, sources):
    """The source that an include of `path` in file `name` reads, or None for a system header."""
    beside = os.path.normpath(os.path.join(os.path.dirname(name), path))
    top = name.split("/")[0]
    for candidate in (beside, top + "/" + path, "nmscore/" + path, path):
        if candidate in sources:
            return candidate
    for source in sources:  # the public headers are found by name
        if os.path.basename(source) == path and path in PUBLIC:
            return source
    return None


def edges_of(texts):
    """(from, to, kind) of each include; `to` is a source of ours, or a path in <> or "" """
    edges = []
    for name, text in texts.items():
        for kind, path in INCLUDE.findall(text):
            edges.append((name, target_of(name, path, texts) or path, kind))
    return edges


def graph_of(edges, names):
    """Node -> the set of nodes that it includes."""
    graph = {node_of(name): set() for name in names}
    for source, target, _ in edges:
        if target in names and node_of(source) != node_of(target):
            graph[node_of(source)].add(node_of(target))
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


def cycles_of(graph):
    """Sets of nodes that reach each other, by Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = set(stack[stack.index(node):])
            del stack[stack.index(node):]
            if len(group) > 1:
                found.append(group)

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def feature_of(name):
    parts = name.split("/")
    return parts[1] if parts[0] == "gst" and len(parts) > 2 else None


def folder_of(name):
    parts = name.split("/")
    return parts[1] if parts[0] == "nmscore" and len(parts) > 2 else None


def layer_problems(edges, names):
    for source, target, kind in edges:
        said = "%s includes %s: " % (source, target)
        folder = os.path.dirname(source)
        if target not in names:
            library = target.split("/")[0].split(".")[0]
            library = next((lib for lib in LIBRARIES if library.startswith(lib)), None)
            if kind == "<" and library and folder != LIBRARIES[library]:
                yield said + "only %s may" % LIBRARIES[library]
            continue
        ours, theirs = feature_of(source), feature_of(target)
        if (theirs in FEATURES and ours != theirs and source != "gst/plugin.c"
                and (ours, theirs) not in (("command", "nmsfilter"), ("command", "records"))):
            yield said + "a feature folder is included by nothing outside of it"
        if ours == "meta" and theirs not in (None, "meta"):
            yield said + "meta/ includes no other folder"
        here, other = folder_of(source), folder_of(target)
        if here and other and here != other and other not in FOLDERS[here]:
            yield said + "%s/ does not include %s/" % (here, other)
        if target.startswith(ENGINES) and source.startswith(ENGINES):
            engine = target[len(ENGINES):].split("/")
            if len(engine) > 1 and not source.startswith(ENGINES + engine[0] + "/"):
                yield said + "an engine's folder is included by no other one"
        if target.startswith(ACCEL) and not source.startswith(ACCEL):
            yield said + "nmscore and gst do not know accel/"
        if (source.startswith(ACCEL) and target.startswith("nmscore/")
                and os.path.basename(target) not in PUBLIC + ("fpmode.h",)):
            yield said + "accel/ includes what nmscore offers to everybody"


def problems_of(texts):
    edges = edges_of(texts)
    for cycle in cycles_of(graph_of(edges, texts)):
        yield "these include each other: " + ", ".join(sorted(cycle))
    yield from layer_problems(edges, texts)


def call_problems(lines):
    graph = calls_of(lines)
    if sum(map(len, graph.values())) == 0:
        yield "no object of the archive calls another one"
    for cycle in cycles_of(graph):
        yield "these call each other: " + ", ".join(sorted(cycle))


def check_itself():
    """Checks this script on made-up trees, each with one problem, and one without."""
    good = {"nmscore/a.c": '#include "a.h"\n#include "b.h"\n', "nmscore/a.h": "",
            "nmscore/b.h": '#include <stdio.h>\n', "gst/meta/box.h": "",
            "gst/records/read.c": '#include "meta/box.h"\n#include <simdjson.h>\n',
            "accel/xla/xla.h": "", "accel/xla/xla.c": '#include "xla.h"\n'}
    bad = [
        ("include each other", "nmscore/b.c", '#include "a.h"\n'),
        ("include each other", "nmscore/b.h", '#include "c.h"\n', "nmscore/c.h",
         '#include "a.h"\n'),
        ("only gst/records", "gst/meta/box.c", "#include <simdjson.h>\n"),
        ("only gst/overlay", "gst/records/draw.c", "#include <pango/pangocairo.h>\n"),
        ("a feature folder", "gst/overlay/draw.c", '#include "records/read.h"\n',
         "gst/records/read.h", ""),
        ("a feature folder", "gst/meta/odd.c", '#include "records/read.h"\n',
         "gst/records/read.h", ""),
        ("an engine's folder", "nmscore/engines/one/one.c", '#include "engines/two/two.h"\n',
         "nmscore/engines/two/two.h", ""),
        ("engines/ does not include call/", "nmscore/engines/one/one.c", '#include "call/call.h"\n',
         "nmscore/call/call.h", ""),
        ("do not know accel/", "nmscore/run.c", '#include "accel/xla/xla.h"\n'),
        ("offers to everybody", "accel/xla/xla.c", '#include "b.h"\n'),
    ]
    found = list(problems_of(good))
    assert not found, found
    for wanted, *files in bad:
        texts = dict(good, **dict(zip(files[::2], files[1::2])))
        found = list(problems_of(texts))
        assert any(wanted in problem for problem in found), (wanted, files, found)
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
    names = [name for name in project_files(root)
             if name.startswith(("gst/", "nmscore/", "accel/"))
             and name.endswith((".c", ".cc", ".h"))]
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
