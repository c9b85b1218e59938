# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs one system in a process of its own, with commands from standard input.

Separate processes separate the threads, heaps and crashes of the systems, and run.py
can end one that takes too long. The commands:

    load FOLDER IOU CAP   prepares all frames of a workload; answers ok, or: skip REASON
    run COUNT CLOCK       answers COUNT times in nanoseconds, one a call, of one frame after the
                          other; CLOCK is wall, or cpu: the process's time on the processor,
                          all threads
    kept FILE             calls once, and writes the first frame's kept indices as int32;
                          answers ok COUNT
    memory                calls once; answers the bytes by which that raised the peak of
                          resident memory (meant for a first call in a new process)
    about                 answers one JSON object: versions, and what was used

An answer is one line; "error TEXT" where something failed.
"""
import json
import os
import sys
import time

import workloads
from peers import SYSTEMS


def status(field):
    """A size in /proc/self/status, in bytes."""
    with open("/proc/self/status", encoding="ascii") as f:
        for line in f:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    return 0


class Worker:
    def __init__(self, system):
        self.peer = SYSTEMS[system]()
        self.calls, self.next = [], 0

    def load(self, folder, iou, cap):
        self.calls, self.next = [], 0
        self.peer.begin(float(iou), int(cap))
        try:
            for frame in workloads.frame_folders(folder):
                rows, scores, classes = workloads.load(frame)
                self.calls.append(self.peer.prepare(rows, scores, classes, float(iou), int(cap)))
        except NotImplementedError as e:
            return f"skip {e}"
        return "ok"

    def run(self, count, clock):
        if hasattr(self.peer, "run"):  # times its calls itself
            number = time.CLOCK_PROCESS_CPUTIME_ID if clock == "cpu" else time.CLOCK_MONOTONIC
            return " ".join(map(str, self.peer.run(int(count), number)))
        clock = time.process_time_ns if clock == "cpu" else time.perf_counter_ns
        times = []
        for _ in range(int(count)):
            call = self.calls[self.next]
            self.next = (self.next + 1) % len(self.calls)
            start = clock()
            call()
            times.append(clock() - start)
        return " ".join(map(str, times))

    def kept(self, path):
        indices = self.peer.indices(self.calls[0]())
        indices.astype("<i4").tofile(path)
        return f"ok {len(indices)}"

    def memory(self):
        with open("/proc/self/clear_refs", "w", encoding="ascii") as f:
            f.write("5")
        before = status("VmRSS")
        self.calls[0]()
        return str(max(0, status("VmHWM") - before))

    def about(self):
        return json.dumps({"versions": self.peer.versions()} | self.peer.about())


def main():
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints must not look like an answer
    worker = Worker(sys.argv[1])
    for line in sys.stdin:
        words = line.rstrip("\n").split("\t")
        try:
            print(getattr(worker, words[0])(*words[1:]), file=answers)
        except Exception as e:  # any failure of a peer is an answer, not an end
            print("error", type(e).__name__, " ".join(str(e).split())[:200], file=answers)


if __name__ == "__main__":
    main()
