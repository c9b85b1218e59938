#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-nms-filter PROGRAM PRELOAD: the program nms-filter writes what boxreplay, nmsfilter and
boxrecord write, with any number of threads, and after an interruption."""
import csv
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
                        ["method=soft-linear", "min-score=0.2"], ["method=weighted"],
                        ["min-width=30", "roi=0,0,900,500", "drop-classes=car"],
                        ["keep-classes=person"],
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


def random_boxes(images=2500):
    """Returns boxes (image, x, y, w, h, category, score) around a few objects of each image."""
    rng, boxes = random.Random(7), []
    for image in range(3, 3 * images, 3):
        centers = [(rng.randrange(600), rng.randrange(400)) for _ in range(3)]
        for _ in range(rng.randint(1, 15)):
            x, y = rng.choice(centers)
            boxes.append((image, x + rng.randrange(9), y + rng.randrange(9), 40 + rng.randrange(9),
                          60.25, rng.randint(1, 2), rng.randrange(1000) / 1000))
    return boxes


def coco_text(boxes):
    return json.dumps([{"image_id": image, "segmentation": {"counts": '}]"\\,['},
                        "bbox": [x, y, w, h], "category_id": category, "score": score}
                       for image, x, y, w, h, category, score in boxes], indent=1)


def csv_text(boxes):
    return "score,x,y,other,width,height,label_id,frame\r\n" + "".join(
        "%r,%d,%d,,%d,%r,%d,%d\r\n" % (score, x, y, w, h, category, image)
        for image, x, y, w, h, category, score in boxes)


def json_lines(boxes):
    """Returns a line for each image up to the last, with the same boxes."""
    objects = [[] for _ in range(boxes[-1][0] + 1)]
    for image, x, y, w, h, category, score in boxes:
        objects[image].append({"x": x, "y": y, "w": w, "h": h,
                               "detection": {"label_id": category, "confidence": score}})
    return "".join(json.dumps({"objects": frame}) + "\n" for frame in objects)


def read_coco(text):
    return [(e["image_id"], *e["bbox"], e["category_id"], e["score"]) for e in json.loads(text)]


def read_csv(text):
    rows = list(csv.DictReader(text.splitlines()))
    return [(int(r["frame"]), *(float(r[n]) for n in ("x", "y", "width", "height")),
             int(r["label_id"]), float(r["score"])) for r in rows]


class ColumnFormats(Case):
    """COCO results and CSV."""

    def setUp(self):
        super().setUp()
        self.boxes = random_boxes()
        self.coco = self.write("in.json", coco_text(self.boxes))
        self.csv = self.write("in.csv", csv_text(self.boxes))

    def test_same_boxes_as_json_lines(self):
        lines = self.write("boxes.jsonl", json_lines(self.boxes))
        self.assertGreater(os.path.getsize(self.coco), 2 << 20)
        for options in ([], ["--iou-threshold=0.3", "--class-agnostic"]):
            wanted = read_coco(self.filtered(lines, "--to=coco", *options))
            self.assertTrue(set(wanted) < set(self.boxes))
            for source in (self.coco, self.csv):
                for threads in ("--threads=1", "--threads=2"):
                    coco = self.filtered(source, "--to=coco", threads, *options)
                    self.assertEqual(read_coco(coco), wanted)
                    rows = self.filtered(source, "--to=csv", threads, *options)
                    self.assertEqual(read_csv(rows), wanted)

    def test_output_is_input(self):
        for source in (self.coco, self.csv):
            once = self.filtered(source)
            self.assertEqual(self.filtered("-", input=once), once)

    def test_array_on_one_line(self):
        one = json.dumps(json.loads(self.read("in.json")), separators=(",", ":"))
        self.assertEqual(self.filtered("-", input=one), self.filtered(self.coco))

    def test_empty(self):
        for text in ("[]", " [\n]\n"):
            self.assertEqual(json.loads(self.filtered("-", input=text)), [])
        self.assertEqual(json.loads(self.filtered("-", "--to=coco", input="")), [])
        header = "frame,x,y,width,height,score,label_id,label,id\n"
        for text in (header, header.rstrip("\n")):
            self.assertEqual(self.filtered("-", input=text), header)
        none = self.filtered(self.coco, "--score-threshold=1")
        self.assertEqual(json.loads(none), [])

    def test_missing_values(self):
        boxes = '[{"image_id":1,"bbox":[0,0,4,5]},{"image_id":1,"bbox":[9,0,4,5],"score":1e-7}]'
        self.assertEqual(json.loads(self.filtered("-", input=boxes)), json.loads(boxes))
        self.assertEqual(self.filtered("-", "--to=csv", input=boxes).splitlines()[1:],
                         ["1,0,0,4,5,,,,", "1,9,0,4,5,1e-07,,,"])
        row = "frame,x,y,width,height,score,label_id,label,id\n4,-2.5,0,4,5,0.5,,a person,7\n"
        self.assertEqual(self.filtered("-", input=row), row)

    def test_resume(self):
        """Continues in the middle, at a checkpoint as a killed run leaves it."""
        half = next(i for i in range(9999, 0, -1) if self.boxes[i][0] != self.boxes[i - 1][0])
        image, before = self.boxes[half][0], self.boxes[half - 1][0]
        for source, rest, lines, begin, torn in (
                (self.coco, coco_text(self.boxes[half:])[1:], half, ',\n{"image_id":%d,' % image,
                 "torn"),
                (self.csv, csv_text(self.boxes[half:]).split("\n", 1)[1], half + 1,
                 "\n%d," % image, "")):
            out, wanted = self.path("out"), self.filtered(source)
            output = wanted.index(begin) + (begin[0] == "\n")
            bad = os.path.getsize(source) - 9
            with open(source, "r+b") as file:       # an error at the end leaves a checkpoint
                file.seek(bad)
                end = file.read()
                file.seek(bad)
                file.write(b"?" * 9)
            self.assertEqual(self.run_filter("-q", source, out).returncode, 1)
            with open(source, "r+b") as file:
                file.seek(bad)
                file.write(end)
            self.write("out", wanted[:output] + torn)
            place = {"input-offset": os.path.getsize(source) - len(rest), "input-line": lines,
                     "input-frame": before + 1, "output": output}
            checkpoint = [line.split("=", 1) for line in self.read("out.resume").splitlines()]
            self.write("out.resume", "\n".join(
                "=".join([name, *(str(place.get(name, v)) for v in value)])
                for name, *value in checkpoint) + "\n")
            self.filtered("--resume", "-q", source, out)
            with open(out, newline="", encoding="utf-8") as file:
                self.assertEqual(file.read(), wanted)
            os.remove(out)


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
        self.refused(1, "neither JSON Lines, MOT", "-", input="]\n")
        self.refused(1, "No such file", self.path("none"))
        self.refused(1, "No such file", self.input, self.path("none/out"))
        self.assertEqual(self.filtered("-", input=""), "")

    def test_output_is_the_input(self):
        before = self.read("in.jsonl")
        os.mkdir(self.path("folder"))
        os.symlink(self.input, self.path("symbolic"))
        os.link(self.input, self.path("hard"))
        text = "nms-filter reads this file, so its output cannot replace it"
        for name in ("in.jsonl", "symbolic", "hard", "folder/../in.jsonl"):
            self.refused(1, text, self.input, self.path(name))
            self.refused(1, text, self.path(name), os.path.relpath(self.input))
            self.refused(1, text, "--resume", self.input, self.path(name))
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

    def test_coco(self):
        entry = '{"image_id":%s,"bbox":[1,2,3,4]}'
        many = [entry % i for i in range(1, 60000)]
        for entries, text in (
                ([entry % 5, entry % 4], "-: entry 2: image_id 4 comes after image_id 5; \"jq"),
                (many + [entry % 1], "-: entry 60000: image_id 1 comes after image_id 59999"),
                ([entry % 5, '{"bbox":[1,2,3,4]}'], "-: entry 2: image_id is not an integer"),
                ([entry % -1], "-: entry 1: image_id is not an integer from 0"),
                ([entry % '"a"'], "-: entry 1: image_id is not an integer"),
                (['{"image_id":1,"bbox":[1,2,3]}'], "-: entry 1: bbox is not an array of 4"),
                (['{"image_id":1,"bbox":[1,2,"3",4]}'], "-: entry 1: bbox[2] is not a finite"),
                (['{"image_id":1,"bbox":[1,2,3,-4]}'], "-: entry 1: bbox[3] is negative"),
                (['{"image_id":1,"bbox":[1,2,3,4],"category_id":1.5}'], "category_id is not an"),
                (['{"image_id":1,"bbox":[1,2,3,4],"score":"1"}'], "score is not a finite number"),
                (['{"image_id":1 "bbox":[1,2,3,4]}'], "-: entry 1: the entry is not valid JSON")):
            self.refused(1, text, "-", input="[" + ",\n".join(entries) + "]")
        for text, reason in (("[1]", 'behind 0 entries: "1", but an object or "]" is expected'),
                             ("[{},,]", 'behind 1 entries: ",", but an object is expected'),
                             ("[{},]", 'behind 1 entries: "]", but an object is expected'),
                             ("[{}{}]", 'behind 1 entries: "{", but a comma'),
                             ("[]]", 'behind 0 entries: "]", but nothing'),
                             ("[", "does not end"), ("[{\"a\":\"]\"", "does not end")):
            self.refused(1, "-: " + reason if "behind" in reason else reason, "-", input=text)
        self.refused(1, ":1: the box with label \"", self.input, "--to=coco")

    def test_csv(self):
        head = "frame,x,y,width,height,label\n"
        for lines, text in (
                ("5,1,2,3,4,\n4,1,2,3,4,\n", "-:3: frame 4 comes after frame 5; sort the lines"),
                ("5,1,2,3,4\n", "-:2: 5 columns, but the first line has 6"),
                ("1.5,1,2,3,4,\n", "-:2: frame is not an integer"),
                ("1,1,,3,4,\n", "-:2: y is missing"),
                ("1,1,0x2,3,4,\n", "-:2: y is not a finite number"),
                ("1,1,2,-3,4,\n", "-:2: width is negative"),
                ('1,1,2,3,4,"a,b"\n', "-:2: a quotation mark, but")):
            self.refused(1, text, "-", input=head + lines)
        self.refused(1, "names no column y", "-", input="frame,x,width,height\n")
        self.refused(1, "without quotation marks", "-", input='"frame","x"\n')
        self.refused(1, "two columns are named x", "-", input="frame,x,x,y,width,height\n")
        line = '{"objects":[{"x":1,"y":2,"w":3,"h":4,"roi_type":"a,b"}]}'
        self.refused(1, ':1: the label "a,b" has a comma', "-", "--to=csv", input=line)

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
