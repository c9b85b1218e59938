# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures all systems on all workloads; run.sh prepares what this needs, and README.md says how it
measures. The first call of a turn is not counted (it meets cold caches), unless calls are so slow
that there is only one. Reading the clock of the CPU time takes 0.3 us, too much for short calls.
"""
import argparse
import datetime
import fnmatch
import json
import multiprocessing
import os
import pathlib
import platform
import statistics
import subprocess
import sys

import numpy as np

import peers
import report
import workloads

HERE = pathlib.Path(__file__).resolve().parent
CALL_LIMIT = 120.0  # seconds: a slower call is "not run"
LOAD_LIMIT = 180.0  # seconds: imports, and conversion of a million boxes to lists
TURN_CALLS = 5000  # maximum number of calls in a turn
SLOW = 20.0  # seconds a system may take for a workload when its calls are slow
LONG = 1e-4  # seconds: a call from here on is timed on the processor's clock
WARM = 0.2  # seconds: a call below this is warmed up in every turn
UNEXPLAINED = "unexplained"
ROUNDING = 2e-6  # relative error of an overlap, some units of binary32
# why a system keeps other boxes, and whether boxes without area suppress each other
CAUSES = {"rounding": False, "zero area": True}

# The systems' thread pools: one thread each, as the process has one core anyway.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
              "NUMBA_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1",
              "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "TF_CPP_MIN_LOG_LEVEL": "3"}


def arguments():
    p = argparse.ArgumentParser(prog="run.sh", add_help=False)  # run.sh --help lists them
    p.add_argument("--output", default="output-bench")
    p.add_argument("--only", default="*")
    p.add_argument("--systems", default="*")
    p.add_argument("--quick", action="store_true")
    a = p.parse_args()
    a.rounds, a.seconds = (5, 0.3) if a.quick else (9, 3.0)
    return a


def say(*words):
    print(*words, file=sys.stderr, flush=True)


# --------------------------------------------------------------------- systems

class Unmeasured(Exception):
    """A call failed, takes too long, or the system has no such feature."""


def serve(name, pipe):
    """The process of a system, which separates threads, heaps and crashes."""
    peer = peers.SYSTEMS[name]()
    while True:
        method, *values = pipe.recv()
        try:
            pipe.send((True, getattr(peer, method)(*values)))
        except Exception as e:  # any failure of a peer is an answer, not an end
            pipe.send((False, f"{e}" if isinstance(e, NotImplementedError) else repr(e)[:200]))


class System:
    """A system, which is a class of peers.py, and its process while it is needed."""

    def __init__(self, name):
        self.name, self.peer, self.process = name, peers.SYSTEMS[name], None

    def ask(self, *words, limit=LOAD_LIMIT):
        """Returns what the method of its class returns. Raises Unmeasured."""
        if not self.process:
            context = multiprocessing.get_context("spawn")
            self.pipe, theirs = context.Pipe()
            self.process = context.Process(target=serve, args=(self.name, theirs), daemon=True)
            self.process.start()
            theirs.close()
        self.pipe.send(words)
        if not self.pipe.poll(limit):
            self.stop()
            raise Unmeasured(f"a call takes over {limit:.0f} s")
        try:
            done, answer = self.pipe.recv()
        except EOFError:
            self.process.join()
            done, answer = False, f"its process ended with {self.process.exitcode}"
            self.stop()
        if not done:
            raise Unmeasured(answer)
        return answer

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.join()
            self.process = None


def available(patterns):
    """Returns gst-nms and the wanted systems that are installed, and the missing ones."""
    found, missing = [], {}
    for name, peer in peers.SYSTEMS.items():
        if name != "gst-nms" and not any(fnmatch.fnmatchcase(name, p) for p in patterns):
            continue
        try:
            peer().versions()
            found.append(System(name))
        except Exception as e:
            missing[name] = f"{type(e).__name__}: {e}"
            say(f"left out: {name}: {missing[name]}")
    return found, missing


# ----------------------------------------------------------------- measurement

class Turns:
    """One workload: the times of each system."""

    def __init__(self, workload, options):
        self.w, self.options = workload, options
        self.rounds, self.notes, self.kept, self.estimate = {}, {}, {}, {}

    def start(self, system):
        """Loads, calls once or more, reads the kept boxes. Returns False to leave it out."""
        try:
            if self.w.count > system.peer.most:
                raise Unmeasured("too many boxes")
            system.ask("load", self.w.name)
            times = system.ask("run", 1, "cpu", limit=CALL_LIMIT)
            if times[0] < 2e6:  # the first call may compile or allocate
                times = system.ask("run", 2, "cpu", limit=CALL_LIMIT)
            self.kept[system.name] = system.ask("kept")
        except Unmeasured as e:
            self.notes[system.name] = str(e)
            return False
        seconds = min(times) / 1e6
        self.estimate[system.name] = seconds
        # (the first call counts if it is so slow that no other is made)
        self.rounds[system.name] = [times] if seconds > SLOW / 2 else []
        return True

    def turn(self, system):
        seconds = self.estimate[system.name]
        done = self.rounds[system.name]
        if done and (len(done) + 1) * seconds > max(SLOW, self.options.seconds):
            return
        share = self.options.seconds / self.options.rounds
        calls = max(1, min(TURN_CALLS, int(share / max(seconds, 1e-7))))
        warm = seconds < WARM
        done.append(system.ask("run", calls + warm, "cpu" if seconds >= LONG else "wall")[warm:])

    def results(self, system, base):
        """Figures of one system; `base` is the one that ratios refer to."""
        if system.name not in self.rounds:
            return {"note": self.notes[system.name]}
        rounds = self.rounds[system.name]
        every = [t for r in rounds for t in r]
        medians = [statistics.median(r) for r in rounds]
        result = {"median_us": statistics.median(every), "rounds_us": medians, "calls": len(every)}
        if len(every) > 1:
            result["q1_us"], _, result["q3_us"] = statistics.quantiles(every, method="inclusive")
        if base.name in self.rounds:
            ours = [statistics.median(r) for r in self.rounds[base.name]]
            result["ratio"] = statistics.median(t / o for t, o in zip(medians, ours))
        if base.name in self.kept:
            result["agreement"] = self.agreement(system, self.kept[base.name])
        return result

    def agreement(self, system, base):
        """Compares the kept boxes with ours. Engines of gst-nms must agree, order included."""
        kept = self.kept[system.name]
        ours, theirs = np.setdiff1d(base, kept), np.setdiff1d(kept, base)
        result = {"only_ours": len(ours), "only_theirs": len(theirs), "cause": None}
        if not system.peer.exact:
            result["cause"] = report.APPROXIMATE
        elif (system.peer.ours and kept.tolist() != base.tolist()
              or len(np.unique(kept)) < len(kept)):
            result["cause"] = UNEXPLAINED
        elif len(ours) + len(theirs):
            result["cause"] = next((cause for cause, flat in CAUSES.items() if all(
                is_right(self.w, box, kept, flat) for box in (*ours, *theirs))), UNEXPLAINED)
        return result


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


def measure(name, systems, options):
    say(name)
    workload = workloads.make(name)
    turns = Turns(workload, options)
    running = [s for s in systems if turns.start(s)]
    for r in range(options.rounds):
        shift = r % max(1, len(running))
        for system in running[shift:] + running[:shift]:
            turns.turn(system)
    base = systems[0]
    about = base.ask("about") if base.name in turns.kept else {}
    return {"name": name, "text": workload.text, "family": workload.family, "n": workload.count,
            "iou": workload.iou, "cap": workload.cap,
            "kept": len(turns.kept.get(base.name, ())), "engine": about.get("engine"),
            "cpu": about.get("cpu"), "systems": {s.name: turns.results(s, base) for s in systems}}


def surroundings(core):
    """Returns the date, the commit, the machine and the build. `core` is what gst-nms says."""
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
    name = next((line.split(": ")[1] for line in cpuinfo.splitlines()
                 if line.startswith("model name")), platform.machine())
    git = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"],
                         capture_output=True, text=True, check=False)
    return (f"{datetime.date.today()}, commit {git.stdout.strip()}. {name}, {os.cpu_count()} cores,"
            f" one used; {platform.platform()}; Python {platform.python_version()}. "
            f"{core['compiler']}.")


def main():
    options = arguments()
    names = [n for n in workloads.names(options.only.split(","))
             if not (options.quick and workloads.make(n).count > 8400)]
    if not names:
        say("no workload is called", options.only)
        return 2
    output = pathlib.Path(options.output)
    output.mkdir(parents=True, exist_ok=True)
    os.environ.update(ONE_THREAD)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    systems, missing = available(options.systems.split(","))
    results = {"missing": missing, "load_before": os.getloadavg()}
    results["rows"] = [measure(n, systems, options) for n in names]
    about = [s.ask("about") for s in systems]
    for system in systems:
        system.stop()
    results["versions"] = {n: v for a in about for n, v in a["versions"].items()}
    results["setting"] = surroundings(about[0])
    results["load_after"] = os.getloadavg()
    (output / "results.json").write_text(json.dumps(results, indent=1) + "\n")

    text = report.markdown(results)
    (output / "report.md").write_text(text)
    report.draw(results, output / "time.png")
    print(text)
    unexplained = [f"{row['name']}: {name}" for row in results["rows"]
                   for name, s in row["systems"].items()
                   if s.get("agreement", {}).get("cause") == UNEXPLAINED]
    for what in unexplained:
        say(f"kept sets differ without a known reason: {what}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
