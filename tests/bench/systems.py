# SPDX-License-Identifier: LGPL-2.1-or-later
"""Processes that measure: one per system, spoken to by lines (see worker.py)."""
import json
import os
import pathlib
import select
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent

# The systems' thread pools: one thread each, as the process has one core anyway.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
              "NUMBA_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1",
              "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "TF_CPP_MIN_LOG_LEVEL": "3"}

LOAD_LIMIT = 180.0  # seconds: imports, and conversion of a million boxes to lists


class TooSlow(Exception):
    pass


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


class System:
    """A system, which is a class of peers.py, and its process while it is needed."""

    def __init__(self, name, peer, log):
        self.name, self.log, self.process = name, log, None
        self.command = [sys.executable, str(HERE / "worker.py"), name]
        self.ours, self.adapts, self.offset, self.exact = (
            peer.ours, peer.adapts, peer.offset, peer.exact)

    def ask(self, *words, limit=LOAD_LIMIT):
        """Returns the answer to a line. Raises TooSlow (and ends the process), Failed, Skipped."""
        if not self.process:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, bufsize=0,
                                            stdout=subprocess.PIPE, stderr=self.log,
                                            env=os.environ | ONE_THREAD)
        try:
            self.process.stdin.write(("\t".join(map(str, words)) + "\n").encode())
        except BrokenPipeError:
            pass  # told by the missing answer
        answer = self._line(time.monotonic() + limit)
        if answer.startswith("error"):
            raise Failed(answer[6:])
        if answer.startswith("skip"):
            raise Skipped(answer[5:])
        return answer

    def _line(self, end):
        line, out = b"", self.process.stdout
        while not line.endswith(b"\n"):
            left = end - time.monotonic()
            if left <= 0 or not select.select([out], [], [], left)[0]:
                self.stop()
                raise TooSlow()
            part = out.read(1 << 16)
            if not part:
                code = self.process.wait()
                self.stop()
                raise Failed(f"its process ended with {code}")
            line += part
        return line.decode().strip()

    def load(self, workload, folder):
        self.ask("load", folder, workload.iou, workload.cap)

    def run(self, count, clock, limit=LOAD_LIMIT):
        """Times of `count` calls in microseconds; clock is wall or cpu."""
        return [int(t) / 1e3 for t in self.ask("run", count, clock, limit=limit).split()]

    def about(self):
        return json.loads(self.ask("about"))

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


def available(log):
    """Returns gst-nms and every installed peer, in this order, and the missing ones."""
    import peers
    found, missing = [], {}
    for name, peer in peers.SYSTEMS.items():
        try:
            peer().versions()
            found.append(System(name, peer, log))
        except Exception as e:
            missing[name] = f"{type(e).__name__}: {e}"
    return found, missing
