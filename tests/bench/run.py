# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures all systems on all workloads; run.sh prepares what this needs, and README.md says how it
measures. The first call of a turn is not counted (it meets cold caches), unless calls are so slow
that there is only one. Reading the clock of the CPU time takes 0.3 us, too much for short calls.
"""
import argparse
import functools
import json
import multiprocessing
import os
import pathlib
import platform
import signal
import sys
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import numpy as np

import peers
import report
import workloads

LIMIT = 180  # seconds for a request, such as loading a million boxes; above, it is "not run"
TURN_CALLS = 5000  # maximum number of calls in a turn
SLOW = 20.0  # seconds a system may take for a workload when its calls are slow
LONG = 1e-4  # seconds: a call from here on is timed on the processor's clock
WARM = 0.2  # seconds: a call below this is warmed up in every turn
UNEXPLAINED = "unexplained"
ROUNDING = 2e-6  # relative error of an overlap, some units of binary32
# why a system keeps other boxes, and whether boxes without area suppress each other
CAUSES = {"rounding": False, "zero area": True}


def say(*words):
    print(*words, file=sys.stderr, flush=True)


@functools.cache
def peer_of(name):
    return peers.SYSTEMS[name]()


def answer(name, method, *values):
    """Returns what a method of a peer returns. Ends the process if that takes too long."""
    signal.alarm(LIMIT)
    try:
        return getattr(peer_of(name), method)(*values)
    except Exception as e:  # of any type, which the other process may not have
        raise RuntimeError(repr(e)[:200]) from None
    finally:
        signal.alarm(0)


class System:
    """A system and what was measured of it on one workload. It has a process of its own, which
    separates threads, heaps and crashes."""

    def __init__(self, name):
        self.name, self.peer, self.process = name, peer_of(name), None

    def ask(self, *words):
        """Returns what the method of its peer returns. Raises RuntimeError."""
        self.process = self.process or ProcessPoolExecutor(
            1, multiprocessing.get_context("spawn"))
        try:
            return self.process.submit(answer, self.name, *words).result()
        except BrokenProcessPool:
            self.process = None
            raise RuntimeError(f"its process crashed or took over {LIMIT} s") from None

    def start(self, workload):
        """Loads a workload, calls once or more, and reads the kept boxes. Returns False if the
        system cannot be measured, and sets `note`."""
        try:
            if workload.count > self.peer.most:
                raise RuntimeError("too many boxes")
            self.ask("load", workload.name)
            times = self.ask("run", 1, "cpu")
            if times[0] < 2e6:  # the first call may compile or allocate
                times = self.ask("run", 2, "cpu")
            self.kept = self.ask("kept")
        except RuntimeError as e:
            self.note = str(e)
            return False
        self.note, self.seconds = None, min(times) / 1e6
        # (the first call counts if it is so slow that no other is made)
        self.rounds = [times] if self.seconds > SLOW / 2 else []
        return True

    def turn(self, options):
        """Times some calls."""
        if self.rounds and (len(self.rounds) + 1) * self.seconds > max(SLOW, options.seconds):
            return
        share = options.seconds / options.rounds
        calls = max(1, min(TURN_CALLS, int(share / max(self.seconds, 1e-7))))
        warm = self.seconds < WARM
        clock = "cpu" if self.seconds >= LONG else "wall"
        self.rounds.append(self.ask("run", calls + warm, clock)[warm:])

    def figures(self, workload, base):
        """Returns the figures. `base` is the system that ratios refer to."""
        if self.note:
            return {"note": self.note}
        low, middle, high = np.quantile(np.concatenate(self.rounds), (.25, .5, .75)).tolist()
        ratios = [np.median(a) / np.median(b) for a, b in zip(self.rounds, base.rounds)]
        return {"us": middle, "spread": (high - low) / middle, "exact": self.peer.exact,
                "x": float(np.median(ratios)), "agreement": self.agreement(workload, base.kept)}

    def agreement(self, workload, base):
        """Compares the kept boxes with ours. Engines of gst-nms must agree, order included."""
        ours, theirs = np.setdiff1d(base, self.kept), np.setdiff1d(self.kept, base)
        differ = [*ours, *theirs]
        if not self.peer.exact:
            cause = "approximate"
        elif (self.peer.ours and self.kept.tolist() != base.tolist()
              or len(np.unique(self.kept)) < len(self.kept)):
            cause = UNEXPLAINED
        elif differ:
            cause = next((name for name, flat in CAUSES.items() if all(
                is_right(workload, box, self.kept, flat) for box in differ)), UNEXPLAINED)
        else:
            return "same"
        return f"+{len(theirs)} -{len(ours)}: {cause}"


def is_right(workload, box, kept, flat):
    """Returns whether NMS may keep or drop a box as a system does, if overlaps are rounded: no kept
    box overlaps a kept one, and a better kept one overlaps a dropped one. If `flat` is set, boxes
    without area suppress each other wherever they are."""
    rows, scores, classes = workload.frames[0]
    others = kept[kept != box]
    if classes is not None:
        others = others[classes[others] == classes[box]]
    a, b = rows[box].astype(float), rows[others].astype(float)
    sides = np.maximum(np.minimum(a[2:], b[:, 2:]) - np.maximum(a[:2], b[:, :2]), 0)
    shared, area, areas = sides.prod(1), (a[2:] - a[:2]).prod(), (b[:, 2:] - b[:, :2]).prod(1)
    union = area + areas - shared
    if box in kept:
        return not np.any(shared > workload.iou * (1 + ROUNDING) * union)
    better = scores[others] >= scores[box]
    suppressors = (shared > workload.iou * (1 - ROUNDING) * union) | (flat & (area + areas == 0))
    return np.any(better & suppressors) or len(kept) == workload.cap and np.all(better)


def available():
    """Returns the systems that are installed, and the versions of their packages."""
    found, versions = [], {}
    for name in peers.SYSTEMS:
        try:
            versions |= peer_of(name).versions()
            found.append(System(name))
        except Exception as e:
            say(f"left out: {name}: {e!r}")
    return found, versions


def measure(name, systems, options):
    """Returns the figures of all systems for a workload."""
    say(name)
    workload, base = workloads.make(name), systems[0]
    running = [s for s in systems if s.start(workload)]
    if base.note:
        sys.exit(f"{base.name}: {base.note}")
    for r in range(options.rounds):
        shift = r % len(running)
        for system in running[shift:] + running[:shift]:
            system.turn(options)
    return {"name": name, "text": workload.text, "n": workload.count, "iou": workload.iou,
            "cap": workload.cap, "kept": len(base.kept), "engine": base.ask("engine"),
            "systems": {s.name: s.figures(workload, base) for s in systems}}


def setting(versions):
    """Returns the machine, the build and the versions of packages."""
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
    name = next((line.split(": ")[1] for line in cpuinfo.splitlines()
                 if line.startswith("model name")), platform.machine())
    return (f"{name}, {os.cpu_count()} cores, one used; {platform.platform()}; "
            f"Python {platform.python_version()}. {peer_of('gst-nms').compiler}. "
            f"{', '.join(f'{package} {version}' for package, version in versions.items())}.")


def main():
    p = argparse.ArgumentParser(prog="run.sh", add_help=False)  # run.sh --help lists them
    p.add_argument("--only", default="*")
    p.add_argument("--quick", action="store_true")
    options = p.parse_args()
    options.rounds, options.seconds = (5, 0.3) if options.quick else (9, 3.0)
    names = [n for n in workloads.names(options.only.split(","))
             if not (options.quick and workloads.make(n).count > 8400)]
    if not names:
        sys.exit(f"no workload is called {options.only}")
    output = pathlib.Path("output-bench")
    output.mkdir(exist_ok=True)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    systems, versions = available()
    rows = [measure(n, systems, options) for n in names]
    (output / "results.json").write_text(json.dumps(rows, indent=1) + "\n")
    text = report.markdown(setting(versions), rows)
    (output / "report.md").write_text(text)
    report.draw(rows, output / "time.png")
    print(text)
    unexplained = [f"{row['name']}: {name}" for row in rows for name, s in row["systems"].items()
                   if UNEXPLAINED in s.get("agreement", "")]
    if unexplained:
        sys.exit(f"kept sets differ without a known reason: {', '.join(unexplained)}")


if __name__ == "__main__":
    main()
