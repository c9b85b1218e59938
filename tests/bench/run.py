# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures all systems on all workloads; run.sh prepares what this needs.

In a round, each system in turn makes some calls, all of them on one core, so that
other load on the machine affects all of them; the order of turns moves on every round. A
ratio is the median, over the rounds, of the quotient of the two systems' medians in
that round. The first call of a turn is not counted (it meets cold caches), unless
calls are so slow that there is only one.

A call of more than 0.1 ms is measured in CPU time, because other programs interrupt
long calls but not short ones. Reading that clock takes 0.3 us, so shorter calls are
measured in wall-clock time.
"""
import argparse
import datetime
import fnmatch
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CALL_LIMIT = 60.0  # seconds: a slower call is "not run"
TURN_CALLS = 5000  # most calls of one turn
SLOW = 20.0  # seconds a system may take for a workload when its calls are slow
MEMORY_BOXES = 100_000  # memory is measured on the largest workload up to here
LONG = 1e-4  # seconds: a call from here on is timed on the processor's clock
WARM = 0.2  # seconds: a call below this is warmed up in every turn


def arguments(argv=None):
    p = argparse.ArgumentParser(
        prog="run.sh", description="gst-nms against other implementations of NMS.",
        epilog="Results go into DIR: report.md, results.json, plots (.png and .svg). "
        "Environment: NMS_BENCH_DIR (venv, build, data; default build-bench/), PYTHON, "
        "NMS_BENCH_PIP (arguments for pip install), NMS_ISA (forces our instruction set).")
    p.add_argument("--output", metavar="DIR", default="output-bench", help="default output-bench/")
    p.add_argument("--only", metavar="ROWS", default="*",
                   help="workloads, comma-separated, wildcards allowed: a,b2,1M*; "
                   "`elements` and `compiled` too")
    p.add_argument("--systems", metavar="NAMES", default="*", help="likewise for systems")
    p.add_argument("--quick", action="store_true", help="no large workloads, few calls")
    p.add_argument("--repeat", type=int, metavar="N", help="rounds (9; quick: 5)")
    p.add_argument("--seconds", type=float, metavar="S",
                   help="time for the calls of one system on one workload (3; quick: 0.3)")
    p.add_argument("--no-memory", action="store_true", help="leave memory out")
    p.add_argument("--cpu", type=int, metavar="N", help="the core to run on (the last one)")
    p.add_argument("--list", action="store_true", help="list the workloads")
    p.add_argument("--build", metavar="DIR", help=argparse.SUPPRESS)
    a = p.parse_args(argv)
    a.repeat = a.repeat or (5 if a.quick else 9)
    a.seconds = a.seconds or (0.3 if a.quick else 3.0)
    return a


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, p.strip()) for p in patterns.split(","))


# ---------------------------------------------------------------- environment

def machine(cpu):
    info = {}
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "flags", "Features") and value:
            info.setdefault(key.strip(), value.strip())
    flags = set((info.get("flags") or info.get("Features") or "").split())
    known = ["sse2", "sse4_2", "avx2", "avx512f", "avx512vl", "asimd", "sve"]
    memory = pathlib.Path("/proc/meminfo").read_text().split()[1]
    return {"processor": info.get("model name", platform.processor()),
            "architecture": platform.machine(), "cores": os.cpu_count(), "pinned_to": cpu,
            "instruction_sets": [f for f in known if f in flags],
            "memory_gib": round(int(memory) / 2**20, 1), "system": platform.platform(),
            "python": platform.python_version()}


def build_facts(build, compiler):
    """Returns the compiler, the options of the build, and the commit."""
    options = json.loads((build / "meson-info/intro-buildoptions.json").read_text())
    wanted = ("buildtype", "optimization", "debug", "b_ndebug", "b_lto", "b_sanitize", "c_args")
    facts = {o["name"]: o["value"] for o in options if o["name"] in wanted}
    git = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"],
                         capture_output=True, text=True, check=False)
    return {"compiler": compiler, "commit": git.stdout.strip()} | facts


# ----------------------------------------------------------------- measurement

def quartiles(values):
    values = sorted(values)
    if len(values) < 2:
        return values[0], values[0], values[0]
    q1, q2, q3 = statistics.quantiles(values, n=4, method="inclusive")
    return q1, q2, q3


class History:
    """Earlier times, to predict which calls would take too long."""

    def __init__(self):
        self.points = {}  # system -> [(count, family, cap, seconds)]

    def add(self, system, w, seconds):
        self.points.setdefault(system, []).append((w.count, w.family, w.cap, seconds))

    def foresee(self, system, w):
        """Seconds that a call will take at least, or 0. From two smaller workloads
        of the family: their power law; from any other without a cap: linear growth."""
        smaller = sorted(p for p in self.points.get(system, []) if p[0] < w.count and not p[2])
        family = [p for p in smaller if p[1] == w.family]
        if len(family) >= 2:
            (n1, _, _, t1), (n2, _, _, t2) = family[-2:]
            power = min(2.0, max(1.0, math.log(t2 / t1) / math.log(n2 / n1)))
            return t2 * (w.count / n2) ** power
        return max((t * w.count / n for n, _, _, t in smaller if n >= 10_000), default=0.0)


class Turns:
    """One workload: the times of each system."""

    def __init__(self, workload, folder, options, history):
        self.w, self.folder, self.options, self.history = workload, folder, options, history
        self.rounds, self.notes, self.kept, self.estimate = {}, {}, {}, {}

    def start(self, system):
        """Loads, calls once or twice, reads the kept boxes. Returns False to leave it out."""
        from systems import Failed, Skipped, TooSlow
        foreseen = 0 if system.adapts else self.history.foresee(system.name, self.w)
        if foreseen > CALL_LIMIT:
            self.notes[system.name] = f"a call would take about {foreseen:.0f} s"
            return False
        try:
            system.load(self.w, self.folder)
            times = system.run(1, "cpu", limit=CALL_LIMIT)
            if times[0] < 2e6:  # the first call may compile or allocate
                times = system.run(2, "cpu", limit=CALL_LIMIT)
            path = self.folder / "kept.i32"
            system.ask("kept", path)
        except TooSlow:
            self.notes[system.name] = f"a call takes over {CALL_LIMIT:.0f} s"
            self.history.add(system.name, self.w, CALL_LIMIT)
            return False
        except (Failed, Skipped) as e:
            self.notes[system.name] = str(e)
            return False
        import numpy as np
        self.kept[system.name] = np.fromfile(path, "<i4")
        seconds = min(times) / 1e6
        self.estimate[system.name] = seconds
        self.history.add(system.name, self.w, seconds)
        # a call so slow that another is not wanted counts itself
        self.rounds[system.name] = [times] if seconds > SLOW / 2 else []
        return True

    def turn(self, system):
        seconds = self.estimate[system.name]
        done = self.rounds[system.name]
        if done and (len(done) + 1) * seconds > max(SLOW, self.options.seconds):
            return
        share = self.options.seconds / self.options.repeat
        calls = max(1, min(TURN_CALLS, int(share / max(seconds, 1e-7))))
        warm = seconds < WARM
        done.append(system.run(calls + warm, self.clock(system.name))[warm:])

    def clock(self, name):
        return "cpu" if self.estimate[name] >= LONG else "wall"

    def results(self, system, base):
        """Figures of one system; `base` is the one that ratios refer to."""
        name = system.name
        if name not in self.rounds:
            return {"note": self.notes[name]}
        rounds = self.rounds[name]
        q1, median, q3 = quartiles([t for r in rounds for t in r])
        medians = [statistics.median(r) for r in rounds]
        result = {"median_us": median, "q1_us": q1, "q3_us": q3, "rounds_us": medians,
                  "calls": sum(map(len, rounds)), "clock": self.clock(name),
                  "kept": len(self.kept[name])}
        if base.name in self.rounds:
            ours = [statistics.median(r) for r in self.rounds[base.name]]
            r1, ratio, r3 = quartiles([t / o for t, o in zip(medians, ours)])
            result |= {"ratio": ratio, "ratio_q1": r1, "ratio_q3": r3}
        return result


def measure(workload, systems, options, history, data):
    folder = workload.save(data / workload.name)
    turns = Turns(workload, folder, options, history)
    running = [s for s in systems if turns.start(s)]
    for r in range(options.repeat):
        shift = r % max(1, len(running))
        for system in running[shift:] + running[:shift]:
            turns.turn(system)
    base = systems[0]
    row = {"name": workload.name, "text": workload.text, "family": workload.family,
           "n": workload.count, "iou": workload.iou, "cap": workload.cap,
           "classes": 0 if workload.classes is None else len(set(workload.classes.tolist())),
           "sha256": workload.digest(),
           "systems": {s.name: turns.results(s, base) for s in systems}}
    if base.name in turns.kept:
        about = base.about()
        row |= {"kept": len(turns.kept[base.name]), "engine": about["engine"],
                "cpu": about["cpu"], "scratch": about["scratch"]}
        compare_kept(row, workload, turns, systems)
    return row


def compare_kept(row, workload, turns, systems):
    """Adds `agreement` for each system. Engines of gst-nms must agree, order included."""
    import agree
    base = turns.kept[systems[0].name]
    for s in systems:
        if s.name not in turns.kept:
            continue
        kept = turns.kept[s.name]
        report = agree.compare(workload, base, kept, s.offset)
        if s.ours and not (len(kept) == len(base) and (kept == base).all()):
            report["causes"] = {"unexplained": 1}
        if not s.exact:
            report["causes"] = {"approximate": report["only_ours"] + report["only_theirs"]}
        row["systems"][s.name]["agreement"] = report


def memory(systems, row, workload, folder):
    """Returns by how many bytes a box one call raises the peak of a new process."""
    from systems import Failed, Skipped, TooSlow
    found = {}
    for s in systems:
        if row["systems"][s.name].get("median_us", 1e9) > 5e6:
            continue
        s.stop()
        try:
            s.load(workload, folder)
            found[s.name] = int(s.ask("memory", limit=CALL_LIMIT)) / workload.count
        except (Failed, Skipped, TooSlow):
            pass
        s.stop()
    return found


# ------------------------------------------------------------------------ main

def chosen_workloads(options):
    """Returns functions that make workloads, so that only one is in memory at a time."""
    import workloads
    names = workloads.names(options.quick, [p.strip() for p in options.only.split(",")])
    return [lambda n=n: workloads.make(n) for n in names]


def main():
    options = arguments()
    import workloads
    if options.list:
        for name, row in workloads.TABLE.items():
            print(f"{name:12} {row[0]}, IoU {row[2]}" + (f", best {row[3]}" if row[3] else ""))
        print("elements     what the elements cost a buffer")
        print("compiled     cycles on a TPU, by its compiler; engine xla on a stream")
        return 0
    build = pathlib.Path(options.build).resolve()
    output = pathlib.Path(options.output).resolve()
    data = build.parent / "data"
    makers = chosen_workloads(options)
    extras = "elements", "compiled"
    if not makers and not any(matches(n, options.only) for n in extras):
        say("no workload is called", options.only)
        return 2
    output.mkdir(parents=True, exist_ok=True)
    processors = sorted(os.sched_getaffinity(0))
    cpu = processors[-1] if options.cpu is None else options.cpu
    os.sched_setaffinity(0, {cpu})

    from systems import available
    with open(output / "log.txt", "wb") as log:
        os.environ["NMS_BENCH_CORE"] = str(build / "tests/bench/benchcore.so")
        systems, missing = available(log)
        systems = [s for s in systems if s.name == "gst-nms" or matches(s.name, options.systems)]
        for name, why in missing.items():
            say(f"left out: {name}: {why}")
        try:
            results = measure_all(makers, systems, options, data, cpu)
        finally:
            for s in systems:
                s.stop()
    results["missing"] = missing
    results["build"] = build_facts(build, results.pop("compiler"))
    save(results, output)  # so that a fault of a program below loses no measurement
    results["elements"] = elements_program(build, "bench-elements", options)
    results["streams"] = elements_program(build, "bench-streams", options, processors[:2])
    results |= compiled_programs(build, data, options)
    return finish(results, output)


def measure_all(makers, systems, options, data, cpu):
    import workloads
    history = History()
    results = {"format": 1, "date": datetime.datetime.now(datetime.timezone.utc)
               .isoformat(timespec="seconds"), "machine": machine(cpu),
               "load_before": os.getloadavg(), "options": {"quick": options.quick, "rounds":
               options.repeat, "seconds": options.seconds, "call_limit": CALL_LIMIT}}
    say("floors: one box")
    results["floors"] = {
        kind: measure(workloads.floor(kind == "classes"), systems, options, History(), data)
        for kind in ("plain", "classes")}
    results["rows"], largest = [], None
    for maker in makers:
        workload = maker()
        say(f"{workload.name}: {workload.count} boxes")
        row = measure(workload, systems, options, history, data)
        results["rows"].append(row)
        if largest is None or largest[1].count < workload.count <= MEMORY_BOXES:
            largest = row, workload
    if largest and not options.no_memory:
        row, workload = largest
        say(f"memory: {workload.name}")
        results["memory"] = {"row": row["name"], "n": workload.count, "bytes_per_box":
                             memory(systems, row, workload, data / workload.name)}
    results["versions"] = {}
    for s in systems:
        results["versions"] |= s.about()["versions"]
    results["compiler"] = systems[0].about()["compiler"]
    results["load_after"] = os.getloadavg()
    return results


def elements_program(build, name, options, processors=None):
    """Returns the output of a program that times the elements, if it was built."""
    program = build / "tests/bench" / name
    if not matches("elements", options.only) or not program.exists():
        return None
    say(name)
    command = [program, "--json"] + (["--quick"] if options.quick else [])
    env = os.environ | {"GST_PLUGIN_PATH_1_0": str(build / "gst"),
                        "GST_REGISTRY": str(build / "tests/bench/registry.bin")}
    done = subprocess.run(command, stdout=subprocess.PIPE, env=env, check=False,
                          preexec_fn=lambda: processors and os.sched_setaffinity(0, processors))
    if done.returncode != 0:
        say(f"{name} ended with {done.returncode}")
        return None
    return json.loads(done.stdout)


def compiled_programs(build, data, options):
    if options.quick or not matches("compiled", options.only):
        return {}
    import compiled
    found = {}
    for name, part in ("tpu", lambda: compiled.tpu(build)), (
            "xla_stream", lambda: compiled.stream(build, data)):
        say(f"compiled programs: {name}")
        try:
            found[name] = part()
        except (OSError, subprocess.CalledProcessError, SystemExit) as e:
            say(f"left out: {name}: {e}")
    return found


def save(results, output):
    (output / "results.json").write_text(json.dumps(results, indent=1) + "\n")


def finish(results, output):
    import plots
    import report
    save(results, output)
    text = report.markdown(results)
    (output / "report.md").write_text(text)
    for path in plots.draw(results, output):
        say(path)
    print(text)
    unexplained = [f"{row['name']}: {name}" for row in results["rows"]
                   for name, s in row["systems"].items()
                   if "unexplained" in s.get("agreement", {}).get("causes", {})]
    for what in unexplained:
        say(f"kept sets differ without a known reason: {what}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
