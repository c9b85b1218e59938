#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""mutants: changes gst/ and nmscore/ in one place at a time and lists the changes that the tests
do not notice.

usage: tests/mutants/mutants.py [--count N] [--seed N] [--only REGEX] [--folder FOLDER] [--list]

Copies the checkout to FOLDER (build/mutants), builds it there with -O2, and makes N mutants (300):
an operator, a comparison, a constant, a logical value or a return is changed, or a statement
removed. The lines are drawn by a fixed seed from those that this build compiles, which the
preprocessor's output tells; comments, strings, directives, assertions and log messages are left
alone, and so are statements that release memory, because stages leaks and asan watch these. A
mutant with the same object files as the original is equivalent. The others run the suites core and
gst up to the first failure; the tests that noticed mutants of the same file or folder run first.
A test that fails is run again, because a test that fails at random proves nothing; a test that
takes too long has noticed the mutant.

FOLDER/results.txt has one line for each mutant. A run that was ended goes on from there; remove
the file for a new run. tests/mutants/unnoticed.txt has the reasons of those not noticed: one that
begins with "A gap" names a missing test, each other says why the mutant has no effect. Fails if
less than 92 % of the mutants that have an effect are noticed.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOAL = 0.92
JOBS = 2
OPTIONS = ("--buildtype=release", "-Doptimization=2", "-Dpython=disabled", "-Dtests=enabled",
           "-Drecords=enabled", "-Doverlay=enabled")

OPERATORS = {"<": ("<=", ">"), ">": (">=", "<"), "<=": ("<", ">"), ">=": (">", "<"),
             "==": ("!=",), "!=": ("==",), "&&": ("||",), "||": ("&&",), "+": ("-",),
             "-": ("+",), "*": ("+",), "/": ("*",), "+=": ("-=",), "-=": ("+=",),
             "<<": (">>",), ">>": ("<<",), "&": ("|",), "|": ("&",), "|=": ("&=",),
             "&=": ("|=",), "%": ("+",)}
OPERATOR = re.compile(r"(?<=\s)(<<|>>|[<>=!+\-|&]=|&&|\|\||[<>+\-*/&|%])(?=\s)")
WORD = re.compile(r"\b(TRUE|FALSE|true|false)\b")
WORDS = {"TRUE": "FALSE", "FALSE": "TRUE", "true": "false", "false": "true"}
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
RETURN = re.compile(r"(?<=\breturn )(?!0;|TRUE;|FALSE;|true;|false;|NULL;)[^;]+(?=;)")
ARRAY = re.compile(r"^\s+(?:static |const )*\w+ \w+\[[^=]*;$")  # a longer array changes nothing
NEGATION = re.compile(r"!(?=[\w(])")
STATEMENT = re.compile(r"^\s+(?:[\w>.\[\]*-]+(?: [\w+*/|&^-]*= .*| \(.*\)|\+\+|--)|continue|break)"
                       r";$")
HIDDEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'"
                    r"|^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M)
UNWATCHED = re.compile(r"assert|GST_(TRACE|LOG|DEBUG|INFO)\w*|__builtin_(expect|prefetch)"
                       r"|(\bfree|_free|_unref|_clear|g_clear_\w+) \(")
POINTER = re.compile(r"^(?!.*(=|\breturn|\bif|\bwhile)).*\s[*&]$")

Mutant = collections.namedtuple("Mutant", "file line old new")
TEXT = "%s:%d: %s  ->  %s"


def copy_checkout(tree):
    """Writes the files that changed, so that ninja builds what they need only."""
    for source in ROOT.rglob("*"):
        name = source.relative_to(ROOT)
        if name.parts[0] in (".git", "build") or "__pycache__" in name.parts or source.is_dir():
            continue
        copy = tree / name
        data = source.read_bytes()
        if not copy.exists() or copy.read_bytes() != data:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)
            copy.chmod(source.stat().st_mode)


def compiled_lines(build):
    """Returns {file: numbers of the lines that the preprocessor keeps}."""
    lines = collections.defaultdict(set)
    tree = build.parent / "tree"
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = (build / entry["file"]).resolve().relative_to(tree)
        if source.parts[0] in ("gst", "nmscore"):
            isa = re.search(r"-DNMS__ISA=\w+", entry["command"])
            commands[source, isa and isa.group()] = entry["command"]

    def preprocess(command):
        words = shlex.split(command)
        words = words[1 if "ccache" in words[0] else 0:]
        for option in ("-MQ", "-MF", "-o"):
            at = words.index(option)
            del words[at:at + 2]
        words = [w for w in words if w not in ("-MD", "-c")] + ["-E"]
        return subprocess.run(words, cwd=build, check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for output in pool.map(preprocess, commands.values()):
            file, number = None, 0
            for text in output.split("\n"):
                marker = re.match(r'# (\d+) "([^"]*)"', text)
                if marker:
                    path = os.path.normpath(build / marker.group(2))
                    file = os.path.relpath(path, tree)
                    number = int(marker.group(1))
                    continue
                if file.startswith(("gst/", "nmscore/")) and text.strip():
                    lines[file].add(number)
                number += 1
    return lines


def line_mutants(code, before):
    """Returns (from, to, text) for each change of the line; before: the code line before it."""
    found = []
    for match in OPERATOR.finditer(code):
        if not POINTER.match(code[:match.end()]):
            found += [match.span() + (new,) for new in OPERATORS[match.group()]]
    found += [m.span() + (WORDS[m.group()],) for m in WORD.finditer(code)]
    if not ARRAY.match(code):
        found += [m.span() + (str(int(m.group()) + 1),) for m in NUMBER.finditer(code)]
    found += [m.span() + ("0",) for m in RETURN.finditer(code)]
    found += [m.span() + ("",) for m in NEGATION.finditer(code)]
    if STATEMENT.match(code) and before.endswith((";", "{", "}", ":", "else")):
        found.append((len(code) - len(code.lstrip()), len(code) - 1, ""))
    return found


def make_mutants(tree, lines, only, seed):
    """Returns mutants in a random order, one at most for each line. A hash of the line decides
    which, so that they stay the same while other lines change."""
    mutants = []
    for file in sorted(f for f in lines if only.search(f)):
        text = (tree / file).read_text()
        hidden = HIDDEN.sub(lambda m: re.sub(r"[^\n]", "_", m.group()), text).split("\n")
        before, unwatched = "", False
        for number, code in enumerate(hidden, 1):
            unwatched = unwatched and not before.endswith((";", "{", "}"))
            unwatched = unwatched or bool(UNWATCHED.search(code))
            choices = line_mutants(code, before) if number in lines[file] and not unwatched else []
            if choices:
                line = text.split("\n")[number - 1]
                key = hashlib.sha256(("%d %s %s" % (seed, file, line)).encode()).digest()
                start, end, new = choices[key[-1] % len(choices)]
                mutants.append((key, Mutant(file, number, line.strip(),
                                            (line[:start] + new + line[end:]).strip())))
            before = code.rstrip("_ ") or before
    return [mutant for _, mutant in sorted(mutants)]


class Suites:
    """The tests of the suites core and gst in the copy's build folder."""

    def __init__(self, build):
        self.build = build
        targets = self.introspect("--targets")
        files = {t["id"]: t["filename"] for t in targets}
        self.products = [os.path.relpath(f, build) for t in targets for f in t["filename"]
                         if t["name"] in ("gstnms", "nmscore", "nms-filter")]
        self.tests = {t["name"]: t for t in self.introspect("--tests")
                      if {"gst-nms:core", "gst-nms:gst"} & set(t["suite"])}
        for test in self.tests.values():
            test["files"] = [os.path.relpath(f, build) for d in test["depends"] for f in files[d]]
        self.noticed_by = collections.Counter()

    def introspect(self, what):
        return json.loads(subprocess.run(["meson", "introspect", what, self.build], check=True,
                                         stdout=subprocess.PIPE).stdout)

    def ninja(self, targets):
        return subprocess.run(["ninja", "-j%d" % JOBS, "-C", self.build] + targets,
                              stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT).returncode == 0

    def run(self, name, limit):
        """Returns the exit status, or None after limit seconds."""
        test = self.tests[name]
        environment = {**os.environ, **test["env"]}
        process = subprocess.Popen(test["cmd"], cwd=self.build, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()

    def measure(self, core, log):
        """Runs each test once without a mutant and writes its exit status and its time to `log`,
        which a run that goes on reads."""
        if not core:
            self.tests = {n: t for n, t in self.tests.items() if "gst-nms:gst" in t["suite"]}
        self.ninja(sorted({f for t in self.tests.values() for f in t["files"]}))

        def measure_one(name):
            test, start = self.tests[name], time.monotonic()
            test["status"] = self.run(name, test["timeout"])
            test["seconds"] = time.monotonic() - start
            if test["status"] not in (0, 77) and name != "test-must-fail":
                sys.exit("the test %s fails without a mutant" % name)
        known = json.loads(log.read_text()) if log.exists() else {}
        for name in known.keys() & self.tests.keys():
            self.tests[name].update(known[name])
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            list(pool.map(measure_one, self.tests.keys() - known.keys()))
        log.write_text(json.dumps({name: {"status": test["status"], "seconds": test["seconds"]}
                                   for name, test in self.tests.items()}))
        self.objects = self.hash_objects({})

    def hash_objects(self, known):
        """Returns {object file: (time, hash)}; known: those of the original."""
        found = {}
        for part in ("gst", "nmscore"):
            for path in (self.build / part).rglob("*.o"):
                when = path.stat().st_mtime_ns
                if path in known and known[path][0] == when:
                    found[path] = known[path]
                else:
                    found[path] = (when, hashlib.sha256(path.read_bytes()).digest())
        return found

    def order(self, file):
        """Returns the tests that could notice a mutant of the file, the likeliest first."""
        folder = os.path.dirname(file)
        stem = pathlib.Path(file).stem.replace("gst", "", 1)

        def key(name):
            alike = len(os.path.commonprefix([name.replace("test-", "", 1), stem]))
            return (-self.noticed_by[file, name], -self.noticed_by[folder, name],
                    -alike, self.tests[name]["seconds"])
        suites = {"gst-nms:gst", "gst-nms:core" if file.startswith("nmscore/") else ""}
        return sorted((n for n, t in self.tests.items() if suites & set(t["suite"])), key=key)

    def notices(self, name):
        test = self.tests[name]
        limit = 15 + 8 * test["seconds"]
        status = self.run(name, limit)
        return status is None or status != test["status"] and \
            self.run(name, limit) != test["status"]

    def judge(self, file):
        """Returns what became of the mutant that the copy has in the file."""
        if not self.ninja(self.products):
            return "uncompiled"
        objects = self.hash_objects(self.objects)
        if all(objects[path][1] == self.objects[path][1] for path in objects):
            return "equivalent"
        names, size = self.order(file), 2
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            while names:
                some, names, size = names[:size], names[size:], 2 * size
                if not self.ninja(sorted({f for n in some for f in self.tests[n]["files"]})):
                    return "uncompiled"
                jobs = {pool.submit(self.notices, name): name for name in some}
                for job in concurrent.futures.as_completed(jobs):
                    if job.result():
                        for other in jobs:
                            other.cancel()
                        self.noticed_by[file, jobs[job]] += 1
                        self.noticed_by[os.path.dirname(file), jobs[job]] += 1
                        return "noticed by " + jobs[job]
        return "unnoticed"


def judge_mutant(suites, path, mutant):
    original = path.read_text()
    lines = original.split("\n")
    lines[mutant.line - 1] = lines[mutant.line - 1].replace(mutant.old, mutant.new)
    path.write_text("\n".join(lines))
    try:
        return suites.judge(mutant.file)
    finally:
        path.write_text(original)


def report(results):
    """Prints the figures and the mutants without a reason; returns whether the goal is met."""
    text = (ROOT / "tests/mutants/unnoticed.txt").read_text()
    reasons = dict(re.findall(r"^(\S+: .*  ->  .*)\n  (.*)", text, re.M))
    kinds = collections.Counter()
    for key, result in results.items():
        kind = result.split()[0]
        if kind == "unnoticed":
            reason = reasons.get(re.sub(r":\d+:", ":", key, count=1))
            if reason is None:
                print("without a reason: " + key)
            elif not reason.startswith("A gap"):
                kind = "without effect"
        kinds[kind] += 1
    judged = kinds["noticed"] + kinds["unnoticed"]
    print("%d mutants: %d with the same objects, %d without effect, %d of %d others noticed "
          "(%.1f %%)" % (judged + kinds["equivalent"] + kinds["without effect"],
                         kinds["equivalent"], kinds["without effect"], kinds["noticed"], judged,
                         100 * kinds["noticed"] / max(judged, 1)))
    return kinds["noticed"] >= GOAL * judged


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=re.compile, default=re.compile(""),
                        help="mutates only files whose path matches")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/mutants")
    parser.add_argument("--list", action="store_true", help="prints the mutants and runs nothing")
    arguments = parser.parse_args()
    os.nice(10)
    folder = arguments.folder.resolve()
    tree, build = folder / "tree", folder / "build"
    copy_checkout(tree)
    if not (build / "build.ninja").exists():
        subprocess.run(("meson", "setup", build, tree) + OPTIONS, check=True)
    # (the list of tests is that of the last configuration)
    subprocess.run(("ninja", "-C", build, "build.ninja"), stdout=subprocess.DEVNULL, check=True)
    suites = Suites(build)
    if not suites.ninja(suites.products):
        sys.exit("the original does not compile")
    mutants = make_mutants(tree, compiled_lines(build), arguments.only, arguments.seed)
    if arguments.list:
        for mutant in mutants:
            print(TEXT % mutant)
        return 0
    core = any(mutant.file.startswith("nmscore/") for mutant in mutants)
    suites.measure(core, folder / "times.json")
    log = folder / "results.txt"
    results = dict(line.rsplit("  =  ", 1) for line in log.read_text().splitlines()) \
        if log.exists() else {}
    for mutant in mutants:
        if sum(r != "uncompiled" for r in results.values()) >= arguments.count:
            break
        if TEXT % mutant not in results:
            result = results[TEXT % mutant] = judge_mutant(suites, tree / mutant.file, mutant)
            print(len(results), TEXT % mutant, "=", result, flush=True)
            with log.open("a") as file:
                file.write("%s  =  %s\n" % (TEXT % mutant, result))
    return 0 if report(results) else 1


if __name__ == "__main__":
    sys.exit(main())
