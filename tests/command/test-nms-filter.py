#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-nms-filter PROGRAM PRELOAD PAGE: the program nms-filter writes what boxreplay, nmsfilter and
boxrecord write, with any number of threads."""
import contextlib
import csv
import gzip
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, PRELOAD, PAGE = (sys.argv.pop(1) for _ in range(3))   # (PRELOAD: for gst-launch-1.0)


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
    if len(objects) > 3 and number % 4 == 0:   # a ring
        for i in range(3):
            objects[i]["parent_id"] = 1 + (i + 1) % 3
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
        with open(self.path(name), "w", encoding="utf-8", newline="") as file:
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
                        ["method=soft-linear", "method-options=o,min-score=0.2"],
                        ["method=weighted"],
                        ["select", "min-width=30", "roi=0,0,900,500", "drop-classes=car"],
                        ["select", "keep-classes=person",
                         "class-limits=o,person=[o,max-height=90]"],
                        ["class-options=o,person=[o,max=2]", "missing-score=area"],
                        ["class-groups=person>car"]):
            element = ["nmsfilter", *options]
            if options[:1] == ["select"]:
                options = options[1:]
                element = ["boxselect", *options, "!", "nmsfilter"]
            pipeline = ["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=60", "!",
                        "video/x-raw,width=1920,height=1080,framerate=25/1", "!", "boxreplay",
                        "location=" + self.input, "!", *element, "!", "boxrecord",
                        "location=" + self.path("out.jsonl"), "!", "fakesink"]
            environment = dict(os.environ, LD_PRELOAD=PRELOAD,
                               ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
            subprocess.run(pipeline, check=True, stdout=subprocess.DEVNULL, env=environment)
            self.assertEqual(self.filtered(self.input, *("--" + o for o in options)),
                             self.read("out.jsonl"), options)

    def test_normalized_coordinates(self):
        edges = ((0.1, 0.1, 0.3, 0.3), (0.11, 0.1, 0.3, 0.3), (0.1, 0.31, 0.3, 0.51),
                 (0.31, 0.1, 0.51, 0.3))   # two nearly equal boxes, one below and one beside them
        objects = [{"detection": {"confidence": 1 - i / 8, "label": "car", "bounding_box":
                                  dict(zip(("x_min", "y_min", "x_max", "y_max"), corners))}}
                   for i, corners in enumerate(edges)]
        line = json.dumps({"objects": objects, "resolution": {"width": 1920, "height": 1080}})
        kept = json.loads(self.filtered("-", input=line + "\n"))["objects"]
        self.assertEqual([box["detection"]["confidence"] for box in kept], [1, 0.75, 0.625])

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
        self.assertEqual(sorted(os.listdir(self.folder)), ["in.jsonl", "large.jsonl", "out.jsonl"])

    def test_lines_without_objects(self):
        line = '{"timestamp":40000000,"resolution":{"width":320,"height":240}'
        self.assertEqual(self.filtered("-", input=line + '}\n' + line + ',"tensors":[{}]}\n'),
                         (line + ',"objects":[]}\n') * 2)

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


class Page(Case):
    """The Python of docs/nms-filter.md, on boxes (image, x, y, w, h, category, score) around a few
    objects of each image."""

    def setUp(self):
        super().setUp()
        rng, self.boxes = random.Random(7), []
        for image in range(3, 900, 3):
            centers = [(rng.randrange(600), rng.randrange(400)) for _ in range(3)]
            for _ in range(rng.randint(1, 15)):
                x, y = rng.choice(centers)
                self.boxes.append((image, x + rng.randrange(9), y + rng.randrange(9),
                                   40 + rng.randrange(9), 60.25, rng.randint(1, 2),
                                   rng.randrange(1000) / 1000))
        with open(PAGE, encoding="utf-8") as page:
            self.programs = dict(re.findall(
                r"`(\w+\.py)`[^`]*:\n\n```python\n(.*?)```", page.read(), re.S))

    def convert(self, name, text):
        done = subprocess.run([sys.executable, "-c", self.programs[name]], input=text, text=True,
                              capture_output=True, check=True)
        return done.stdout

    def left(self, results, *options):
        """Filters COCO results, and returns those that are left, in the form of self.boxes."""
        lines = self.filtered("-", *options, input=self.convert("results2lines.py", results))
        return self.places(self.convert("lines2results.py", lines))

    @staticmethod
    def places(results):
        return sorted((e["image_id"], *e["bbox"], e["category_id"], e["score"])
                      for e in json.loads(results))

    def test_coco(self):
        text = json.dumps([{"image_id": image, "segmentation": {"counts": '}]"\\,['},
                            "bbox": [x, y, w, h], "category_id": category, "score": score}
                           for image, x, y, w, h, category, score in self.boxes])
        self.assertEqual(self.left(text, "--iou-threshold=1"), sorted(self.boxes))
        some, few = self.left(text), self.left(text, "--iou-threshold=0.3", "--class-agnostic")
        for kept in (some, few):
            self.assertLess(set(kept), set(self.boxes))
        self.assertLess(len(few), len(some))

    def test_csv(self):
        out = io.StringIO()
        csv.writer(out).writerows(
            [["score", "x", "y", "other", "width", "height", "label_id", "frame"]]
            + [[score, x, y, "a,b", w, h, category, image]
               for image, x, y, w, h, category, score in self.boxes])
        self.assertEqual(self.places(self.convert("csv2results.py", out.getvalue())),
                         sorted(self.boxes))


class Sweeps(Case):
    def test_a_file_for_each_value(self):
        done = self.run_filter(self.input, self.path("kept.jsonl"), "--class-agnostic=true",
                               "--sweep=iou-threshold=0.3..0.7..0.2")
        self.assertEqual(done.returncode, 0, done.stderr)
        files = sorted(name for name in os.listdir(self.folder) if name != "in.jsonl")
        self.assertEqual(files, ["kept-0.3.jsonl", "kept-0.5.jsonl", "kept-0.7.jsonl"])
        for value in ("0.3", "0.5", "0.7"):
            wanted = self.filtered(self.input, "--iou-threshold=" + value, "--class-agnostic=true")
            self.assertEqual(self.read("kept-%s.jsonl" % value), wanted)
        self.assertNotEqual(self.read("kept-0.3.jsonl"), self.read("kept-0.7.jsonl"))
        self.filtered("-q", self.input, self.path("max"), "--sweep=max-detections=1..3..1")
        self.assertEqual(self.read("max-3"), self.filtered(self.input, "--max-detections=3"))

    def test_refused(self):
        for sweep, text in (("iou-threshold=0.9..1.2", '--iou-threshold cannot be "1.1"'),
                            ("iou-threshold=0.5", "--sweep cannot be"),
                            ("iou-threshold=0.7..0.3", "--sweep cannot be"),
                            ("iou-threshold=0..1..1e-9", "at most 1000 values"),
                            ("no-such=1..2", "no option --no-such")):
            done = self.run_filter(self.input, self.path("out"), "--sweep=" + sweep)
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)
        done = self.run_filter(self.input, "--sweep=iou-threshold=0.3..0.7")
        self.assertIn("--sweep needs an input and an output that are files", done.stderr)
        self.assertEqual(os.listdir(self.folder), ["in.jsonl"])


class Errors(Case):
    def refused(self, status, text, *arguments, **options):
        done = self.run_filter(*arguments, **options)
        self.assertEqual(done.returncode, status)
        self.assertIn("nms-filter: ", done.stderr)
        self.assertIn(text, done.stderr)
        return done.stdout

    def test_refused(self):
        for status, text, *arguments in (
                (1, "cannot write to /dev/full: No space", self.input, "/dev/full"),
                (1, "No such file", self.path("none")),
                (1, "No such file", self.input, self.path("none/out")),
                (2, '--min-neighbors cannot be "3.7"', self.input, "--min-neighbors=3.7"),
                (2, '--iou-threshold cannot be "1.5"', self.input, "--iou-threshold=1.5"),
                (2, '--method cannot be "best"', self.input, "--method=best"),
                (2, "--metric cannot be", self.input, "--method=soft-linear", "--metric=giou"),
                (2, "Unknown option --no-such", self.input, "--no-such"),
                (2, 'the format "xml"', self.input, "--to=xml"),
                (2, 'the format "coco"', self.input, "--to=coco"),
                (2, 'the format "csv"', self.input, "--to=csv"),
                (2, "Unknown option --resume", self.input, "--resume"),
                (2, "INPUT [OUTPUT] are expected")):
            self.refused(status, text, *arguments)
        self.assertIn("--iou-threshold=VALUE", self.filtered("--help-all"))

    def test_input(self):
        for text, given in (
                ("-:3: objects[0].x ", self.lines[0] + '\n\n{"objects":[{"x":"1"}]}\n'),
                (":1: frame is not an integer", "0,1,2,3,4,5\n"),
                (":3: frame 1 comes after frame 2", "1,1,2,3,4,5\n2,1,2,3,4,5\n1,1,2,3,4,5\n"),
                ("-: the text is neither JSON Lines", "]\n"),
                ("separated by semicolons", "1;2;3;4;5;6;0.5\n"),
                ("a COCO annotation file", '{"images":[],"annotations":[]}\n'),
                ("a JSON array, such as COCO results", '[{"image_id":1}]\n')):
            self.refused(1, text, "-", input=given)
        file = self.path("packed.jsonl.gz")
        with open(file, "wb") as packed:
            packed.write(gzip.compress(b"{}"))
        self.refused(1, "packed.jsonl.gz: the text is compressed by gzip; zcat FILE", file)
        self.assertEqual(self.filtered("-", input=""), "")

    def test_byte_order_mark(self):
        text = "".join(line + "\n" for line in self.lines)
        self.assertEqual(self.filtered("-", input="\ufeff" + text), self.filtered("-", input=text))

    def test_version(self):
        done = self.run_filter("--version")
        self.assertRegex(done.stdout, r"^nms-filter \d+\.\d+\.\d+\n$")
        self.assertEqual(done.returncode, 0)

    def test_output_is_the_input(self):
        before = self.read("in.jsonl")
        os.mkdir(self.path("folder"))
        os.symlink(self.input, self.path("symbolic"))
        os.link(self.input, self.path("hard"))
        text = "nms-filter reads this file, so its output cannot replace it"
        for name in ("in.jsonl", "symbolic", "hard", "folder/../in.jsonl"):
            self.refused(1, text, self.input, self.path(name))
            self.refused(1, text, self.path(name), os.path.relpath(self.input))
        os.link(self.input, self.path("in-0.3.jsonl"))
        self.refused(1, text, self.path("in-0.3.jsonl"), self.input,
                     "--sweep=iou-threshold=0.3..0.5")
        with open(self.input, encoding="utf-8") as file:
            self.refused(1, text, "-", self.input, stdin=file)
        with open(self.input, "a", encoding="utf-8") as file:
            done = subprocess.run([PROGRAM, self.input], stdout=file, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.read("in.jsonl"), before)
        self.filtered("/dev/null", "/dev/null")

    def test_errors_leave_the_frames_before(self):
        """Several threads filter many blocks; the pool is stopped in the middle."""
        file = self.write("bad.jsonl", "\n".join(self.lines * 30) + "\n{\n" + self.lines[0] + "\n"
                          + "\n".join(self.lines * 60) + "\n")
        wanted = self.filtered(self.input) * 30
        for threads in ("--threads=1", "--threads=3"):
            self.assertEqual(self.refused(1, file + ":1801: ", file, threads), wanted)

    def test_memory_is_bounded(self):
        """The writer of a pipe waits if nobody reads the output."""
        with subprocess.Popen([PROGRAM, "-q", "--threads=2", "-"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            text, written = ("\n".join(self.lines) + "\n").encode(), 0
            os.set_blocking(process.stdin.fileno(), False)
            idle = 0
            while idle < 20 and written < 64 << 20:     # nobody reads the output
                try:
                    written += os.write(process.stdin.fileno(), text)
                    idle = 0
                except BlockingIOError:
                    idle += 1
                    time.sleep(0.05)
            process.kill()
        self.assertLess(written, 32 << 20)

    def test_progress_on_a_terminal(self):
        try:
            main, terminal = os.openpty()
        except OSError as error:
            self.skipTest(f"no terminal can be opened: {error}")
        file = self.write("large.jsonl", "\n".join(self.lines * 200) + "\n")
        subprocess.run([PROGRAM, file, self.path("out")], stderr=terminal, check=True)
        os.close(terminal)
        parts = []
        with contextlib.suppress(OSError):  # EIO: all has been read
            while not parts or parts[-1]:
                parts.append(os.read(main, 1 << 16))
        os.close(main)
        self.assertRegex(b"".join(parts).decode(),
                         r"12000 frames, boxes: \d+ in, \d+ kept; [\d.,]+ s, \d+ frames/s")


if __name__ == "__main__":
    unittest.main()
