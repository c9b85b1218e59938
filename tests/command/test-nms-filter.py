#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-nms-filter PROGRAM PRELOAD: the program nms-filter writes what boxreplay, nmsfilter and
boxrecord write, with any number of threads, and after an interruption."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, PRELOAD = sys.argv.pop(1), sys.argv.pop(1)   # (of a sanitizer, for gst-launch-1.0)


def random_line(rng, number):
    """Returns a frame with boxes around a few objects, some of them parts of others."""
    objects, centers = [], [(rng.uniform(0, 1800), rng.uniform(0, 900)) for _ in range(5)]
    for i in range(rng.randrange(40)):
        x, y = (int(c + rng.gauss(0, 8)) for c in rng.choice(centers))
        box = {"x": max(x, 0), "y": max(y, 0), "w": rng.randint(20, 60), "h": rng.randint(20, 60),
               "region_id": i + 1, "detection": {"label": rng.choice(("car", "person"))}}
        if rng.random() < 0.9:
            box["detection"]["confidence"] = rng.random()
        if i and rng.random() < 0.1:
            box["parent_id"] = rng.randint(1, i)
        objects.append(box)
    return json.dumps({"timestamp": number * 40000000, "objects": objects,
                       "resolution": {"width": 1920, "height": 1080}})


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="nms-filter-")
        self.addCleanup(shutil.rmtree, self.folder)
        rng = random.Random(4)
        self.lines = [random_line(rng, i) for i in range(60)]
        self.input = self.write("in.jsonl", "\n".join(self.lines) + "\n")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run_filter(self, *arguments, **options):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, **options)

    def filtered(self, *arguments, **options):
        """Returns what the program writes to standard output."""
        done = self.run_filter(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class Results(Case):
    def test_same_as_the_pipeline(self):
        for options in ([], ["iou-threshold=0.3", "max-detections=7"],
                        ["action=tag", "class-agnostic=true"],
                        ["method=soft-linear", "min-score=0.2"], ["method=weighted"],
                        ["min-width=30", "roi=0,0,900,500", "drop-labels=car"],
                        ["class-options=o,person=[o,max=2]", "missing-score=area"]):
            pipeline = ["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=60", "!",
                        "video/x-raw,width=1920,height=1080,framerate=25/1", "!", "boxreplay",
                        "location=" + self.input, "!", "nmsfilter", *options, "!", "boxrecord",
                        "location=" + self.path("out.jsonl"), "!", "fakesink"]
            environment = dict(os.environ, LD_PRELOAD=PRELOAD,
                               ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
            subprocess.run(pipeline, check=True, stdout=subprocess.DEVNULL, env=environment)
            self.assertEqual(self.filtered(self.input, *("--" + o for o in options)),
                             self.read("out.jsonl"), options)

    def test_threads_blocks_and_standard_input(self):
        large = "\n".join(self.lines * 20) + "\n"
        self.assertGreater(len(large), 3 << 20)
        file = self.write("large.jsonl", large)
        wanted = self.filtered(self.input, "--threads=1") * 20
        for threads in (1, 2, 7):
            self.assertEqual(self.filtered(file, "--threads=%d" % threads), wanted)
        self.assertEqual(self.filtered("-", input=large), wanted)
        self.assertEqual(self.filtered("-", "--from=jsonl", input=large.rstrip("\n")), wanted)
        done = self.run_filter(file, self.path("out.jsonl"))
        self.assertIn("1200 frames, boxes: ", done.stderr)
        self.assertEqual(self.read("out.jsonl"), wanted)
        self.assertEqual(self.run_filter(file, self.path("out.jsonl"), "-q").stderr, "")
        self.assertFalse(os.path.exists(self.path("out.jsonl.resume")))

    def test_mot(self):
        text = "".join("%d,-1,%d,20,30,40,0.%d,-1,-1,-1\n" % (frame, 10 + frame % 3 + 50 * i, 9 - i)
                       for frame in range(1, 40000) if frame % 10 for i in (0, 1))
        text = "1,-1,12,21,30,40,0.5\n" + text.split("\n", 1)[1]
        file = self.write("det.txt", text)
        self.assertGreater(len(text), 2 << 20)
        kept = self.filtered(file, "--score-threshold=0.85").splitlines()
        self.assertEqual(len(kept), 36000 - 1)
        self.assertEqual(kept[0], "2,-1,12,20,30,40,0.9,-1,-1,-1")
        self.assertEqual(kept[-1], "39999,-1,10,20,30,40,0.9,-1,-1,-1")
        frames = [json.loads(line) for line in self.filtered(file, "--to=jsonl").splitlines()]
        self.assertEqual(len(frames), 36000)
        self.assertEqual([len(frame["objects"]) for frame in frames[:3]], [2, 2, 2])
        self.assertEqual({i: f["dropped"] for i, f in enumerate(frames) if "dropped" in f},
                         {i: 1 for i in range(9, 36000, 9)})

    def test_lines_to_mot(self):
        lines = self.filtered(self.input, "--to=mot", "--max-detections=1").splitlines()
        self.assertEqual([line.split(",")[0] for line in lines],
                         [str(i + 1) for i, line in enumerate(self.lines) if '"x"' in line])


class Resumption(Case):
    def test_killed_at_any_time(self):
        file = self.write("large.jsonl", "\n".join(self.lines * 200) + "\n")
        wanted = self.filtered(file)
        out, killed, status = self.path("out.jsonl"), 0, None
        while status is None:
            process = subprocess.Popen([PROGRAM, "--resume", "-q", "-j", "1", file, out])
            try:
                status = process.wait(0.1 + 0.5 * killed)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                killed += 1
                if os.path.exists(out + ".resume"):
                    with open(out, "a", encoding="utf-8") as torn:
                        torn.write('{"objects":')
                elif os.path.exists(out) and os.path.getsize(out):
                    status = 0   # killed after it had removed the file, its last step
        self.assertEqual(status, 0)
        self.assertGreater(killed, 0)
        self.assertEqual(self.read("out.jsonl"), wanted)
        again = self.run_filter("--resume", file, out)
        self.assertEqual(again.returncode, 1)
        self.assertIn("out.jsonl.resume: No such file", again.stderr)

    def test_other_options_are_refused(self):
        file = self.write("bad.jsonl", "\n".join(self.lines) + "\n{\n")
        out = self.path("out.jsonl")
        self.assertEqual(self.run_filter(file, out).returncode, 1)
        for other in (["--iou-threshold=0.2"], ["--to=mot"]):
            done = self.run_filter("--resume", file, out, *other)
            self.assertEqual(done.returncode, 1)
            self.assertIn("another input or other options", done.stderr)
        done = self.run_filter("--resume", file, "-")
        self.assertIn("only a run from a file to a file can be resumed", done.stderr)


class Errors(Case):
    def refused(self, status, text, *arguments, **options):
        done = self.run_filter(*arguments, **options)
        self.assertEqual(done.returncode, status)
        self.assertIn("nms-filter: ", done.stderr)
        self.assertIn(text, done.stderr)
        return done.stdout

    def test_input(self):
        file = self.write("bad.jsonl", self.lines[0] + '\n\n{"objects":[{"x":"1"}]}\n')
        self.refused(1, file + ":3: objects[0].x ", file)
        self.refused(1, ":1: frame is not an integer", "-", input="0,1,2,3,4,5\n")
        self.refused(1, ":3: frame 1 comes after frame 2", "-", input="1,1,2,3,4,5\n2,1,2,3,4,5\n"
                     "1,1,2,3,4,5\n")
        self.refused(1, "neither JSON Lines nor", "-", input="[]\n")
        self.refused(1, "No such file", self.path("none"))
        self.refused(1, "No such file", self.input, self.path("none/out"))
        self.assertEqual(self.filtered("-", input=""), "")

    def test_options(self):
        self.refused(2, '--iou-threshold cannot be "1.5"', self.input, "--iou-threshold=1.5")
        self.refused(2, '--method cannot be "best"', self.input, "--method=best")
        self.refused(2, "--metric cannot be", self.input, "--method=soft-linear", "--metric=giou")
        self.refused(2, "Unknown option --no-such", self.input, "--no-such")
        self.refused(2, 'the format "xml"', self.input, "--to=xml")
        self.refused(2, "INPUT [OUTPUT] are expected")
        self.assertIn("--iou-threshold=VALUE", self.filtered("--help-all"))


if __name__ == "__main__":
    unittest.main()
