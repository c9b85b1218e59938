# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts the instructions of three fixed workloads and compares them with a record.

Times on a busy machine cannot show a change of 5 %; a count of instructions can. The
counts depend on the compiler, its version, the architecture and the instruction set
that nmscore uses, so a line of the record names them all:

    gcc-12.2.0 x86_64 avx2 frame sequential 12345

A count more than 5 % above its line fails. If the change is intended, run --update and
give the reason in the commit. Without a line for this compiler the counts are printed.
valgrind knows no AVX-512: on x86-64 the level is AVX2 unless NMS_ISA says otherwise.

Each workload is counted three times, and the least count is taken: engine auto looks at boxes
at random positions, and in 2 % of the runs it takes another engine.

Exits with 77 (skipped) without valgrind, and for builds with other code than plain
release builds, which the record is of.
"""
import argparse
import os
import platform
import re
import shutil
import subprocess
import sys

TOLERANCE = 1.05
RUNS = 3
SKIPPED = 77


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--program", required=True, help="bench-instructions")
    p.add_argument("--compiler", required=True, help="name-version, as in the record")
    p.add_argument("--build", default="release", help="the kind of build; others are skipped")
    p.add_argument("--record", required=True, help="instructions.txt")
    p.add_argument("--update", action="store_true", help="write what was counted")
    return p.parse_args()


def read_record(path):
    """{(compiler, architecture, level, workload): (engine, count)} and the comments."""
    record, comments = {}, []
    with open(path, encoding="ascii") as f:
        for line in f:
            if line.startswith("#"):
                comments.append(line)
            elif line.strip():
                *key, engine, count = line.split()
                record[tuple(key)] = engine, int(count)
    return record, comments


def write_record(path, record, comments):
    with open(path, "w", encoding="ascii") as f:
        f.writelines(comments)
        for key, (engine, count) in sorted(record.items()):
            print(*key, engine, count, file=f)


def count(program, workload):
    """Returns the instructions of `counted` and its callees, the engine, and the level."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
               "--collect-atstart=no", "--toggle-collect=counted", program, workload]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not collected or int(collected[1]) == 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    _, engine, level = done.stdout.split(maxsplit=2)
    level, _, refused = level.strip().partition(" ")  # "scalar (NMS_ISA=neon: why not)"
    if refused:
        print(refused)
    return int(collected[1]), engine, level


def main():
    a = arguments()
    if a.build != "release":
        print(f"skipped: a {a.build} build, the record is of plain release builds")
        return SKIPPED
    if not shutil.which("valgrind"):
        print("skipped: there is no valgrind")
        return SKIPPED
    if platform.machine() == "x86_64":
        os.environ.setdefault("NMS_ISA", "avx2")
    record, comments = read_record(a.record)
    names = subprocess.run([a.program], capture_output=True, text=True, check=True).stdout.split()
    grown = 0
    for name in names:
        number, engine, level = min(count(a.program, name) for _ in range(RUNS))
        key = a.compiler, platform.machine(), level, name
        was_engine, was = record.get(key, (None, None))
        if was is None:
            verdict = "not in the record: printed only"
        else:
            verdict = f"{100 * (number / was - 1):+.2f} % against {was}"
            if engine != was_engine:
                verdict += f" by engine {was_engine}"
            if number > was * TOLERANCE and not a.update:
                verdict += ": FAILED"
                grown += 1
        print(*key, engine, number, f"({verdict})", flush=True)
        record[key] = engine, number
    if a.update:
        write_record(a.record, record, comments)
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
