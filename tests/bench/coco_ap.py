#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Average precision (AP) of each method and threshold by COCO's evaluation:

    coco_ap.py NMS_FILTER [--images 300] [--seed 1] [--plot FILE.png]

Makes ground truth with crowds, and the boxes of a detector that reports each object several times;
filters them with sweeps of nms-filter, and prints tables. Needs pycocotools and, for the plot,
matplotlib, from PyPI."""
import argparse
import contextlib
import io
import itertools
import json
import pathlib
import subprocess
import tempfile

import numpy
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

WIDTH, HEIGHT, CLASSES = 1280, 720, (1, 2)
IOU, SIGMA = "iou-threshold=0.3..0.7..0.1", "sigma=0.1,0.3,0.5,0.7,0.9"
SOFT = "o,min-score=0.01"
# name, sweep, options
RUNS = [("hard", IOU, []), ("hard, ios", IOU, ["--metric=ios"]),
        ("hard, diou", IOU, ["--metric=diou"]),
        ("average", IOU, ["--method=average"]), ("weighted", IOU, ["--method=weighted"]),
        ("soft-linear", IOU, ["--method=soft-linear", "--method-options=" + SOFT]),
        ("soft-gaussian", SIGMA, ["--method=soft-gaussian"]),
        ("matrix-gaussian", SIGMA, ["--method=matrix-gaussian"])]


def objects_of_image(rng):
    """Returns rows x, y, w, h, class: single objects, and crowds that cover each other."""
    rows = []
    for _ in range(rng.integers(2, 6)):
        height = rng.lognormal(4.4, 0.5)
        x, y = rng.uniform(0, WIDTH - height), rng.uniform(0, HEIGHT - height)
        kind = rng.choice(CLASSES)
        aspect = 0.45 if kind == 1 else 1.6
        for _ in range(rng.integers(3, 8) if rng.random() < 0.4 else 1):
            h = height * rng.uniform(0.85, 1.15)
            rows.append((x, y, h * aspect, h, kind))
            x += h * aspect * rng.uniform(0.35, 0.9)        # neighbors overlap
            y += h * rng.normal(0, 0.06)
    return numpy.array(rows)


def detect(rng, objects):
    """Returns rows x, y, w, h, class, score: several boxes of each object, most of them with
    better scores where they fit better, and boxes of nothing."""
    rows = []
    for x, y, w, h, kind in objects:
        quality = rng.beta(6, 2)
        for _ in range(rng.poisson(7) if rng.random() > 0.05 else 0):       # some are not seen
            error = abs(rng.normal(0, 0.09))
            dx, dy, dw, dh = rng.normal(0, 1, 4) * error
            score = quality * numpy.exp(-3 * error) * rng.uniform(0.85, 1)
            rows.append((x + dx * w, y + dy * h, w * numpy.exp(dw), h * numpy.exp(dh), kind, score))
    for _ in range(rng.poisson(8)):
        h = rng.lognormal(4.4, 0.6)
        rows.append((rng.uniform(0, WIDTH), rng.uniform(0, HEIGHT), h * rng.uniform(0.4, 1.7), h,
                     rng.choice(CLASSES), rng.beta(1.2, 6)))
    return numpy.array(rows)


def make_data(images, seed, folder):
    """Writes truth.json and detections.json."""
    rng, truth, found = numpy.random.default_rng(seed), [], []
    for image in range(1, images + 1):
        objects = objects_of_image(rng)
        for x, y, w, h, kind in objects:
            truth.append({"id": len(truth) + 1, "image_id": image, "category_id": int(kind),
                          "bbox": [x, y, w, h], "area": w * h, "iscrowd": 0})
        for x, y, w, h, kind, score in detect(rng, objects):
            found.append({"image_id": image, "category_id": int(kind), "bbox": [x, y, w, h],
                          "score": score})
    categories = [{"id": kind, "name": str(kind)} for kind in CLASSES]
    sizes = [{"id": i, "width": WIDTH, "height": HEIGHT} for i in range(1, images + 1)]
    (folder / "truth.json").write_text(json.dumps(
        {"images": sizes, "categories": categories, "annotations": truth}))
    (folder / "detections.json").write_text(json.dumps(found))
    return len(truth), len(found)


def evaluate(truth, results):
    """Returns AP (mean of IoU 0.5 to 0.95) and AP at IoU 0.5, in percent."""
    with contextlib.redirect_stdout(io.StringIO()):
        evaluation = COCOeval(truth, truth.loadRes(str(results)), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return 100 * evaluation.stats[0], 100 * evaluation.stats[1]


def write_lines(results, path):
    """Writes COCO results as JSON Lines: frames of 1 x 1, so that fractions are pixels."""
    results = sorted(results, key=lambda entry: entry["image_id"])
    with open(path, "w", encoding="utf-8") as file:
        for image, entries in itertools.groupby(results, lambda entry: entry["image_id"]):
            objects = [{"detection": {
                "label_id": e["category_id"], "confidence": e["score"],
                "bounding_box": {"x_min": x, "y_min": y, "x_max": x + w, "y_max": y + h}}}
                       for e in entries for x, y, w, h in [e["bbox"]]]
            file.write(json.dumps({"timestamp": image, "resolution": {"width": 1, "height": 1},
                                   "objects": objects}) + "\n")


def read_lines(path):
    """Returns JSON Lines as COCO results."""
    results = []
    for line in map(json.loads, path.read_text().splitlines()):
        for detection in (o["detection"] for o in line["objects"]):
            b = detection["bounding_box"]
            results.append({"image_id": line["timestamp"], "category_id": detection["label_id"],
                            "score": detection["confidence"],
                            "bbox": [b["x_min"], b["y_min"], b["x_max"] - b["x_min"],
                                     b["y_max"] - b["y_min"]]})
    return results


def sweep(program, folder, setting, options):
    """Runs nms-filter and returns the files of COCO results by value of the setting."""
    for old in folder.glob("kept-*"):
        old.unlink()
    write_lines(json.loads((folder / "detections.json").read_text()), folder / "found.jsonl")
    if setting == SIGMA:
        for value in setting.split("=")[1].split(","):
            subprocess.run([program, "--quiet", f"--method-options={SOFT},sigma={value}", *options,
                            folder / "found.jsonl", folder / f"kept-{value}.jsonl"], check=True)
    else:
        subprocess.run([program, "--quiet", f"--sweep={setting}", *options,
                        folder / "found.jsonl", folder / "kept.jsonl"], check=True)
    for path in folder.glob("kept-*.jsonl"):
        path.with_suffix(".json").write_text(json.dumps(read_lines(path)))
    return {path.stem.split("-")[1]: path for path in sorted(folder.glob("kept-*.json"))}


def table(rows):
    """Returns a table in Markdown of rows with the same values."""
    values = list(rows[0][2])
    lines = [f"| AP (AP50), {rows[0][1].split('=')[0]} | " + " | ".join(values) + " |",
             "|---" * (len(values) + 1) + "|"]
    for name, _, results in rows:
        lines.append(f"| {name} | " + " | ".join("%.1f (%.1f)" % results[v] for v in values) + " |")
    return "\n".join(lines)


def plot(rows, before, path):
    """Draws AP against the threshold, one line for each method."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    for axis, setting in zip(axes, (IOU, SIGMA)):
        for name, its, results in rows:
            if its == setting:
                axis.plot([float(v) for v in results], [ap for ap, _ in results.values()], "o-",
                          label=name)
        axis.axhline(before, color="#888888", linestyle=":", label="no NMS")
        axis.set_xlabel(setting.split("=")[0])
        axis.legend(fontsize=8)
    axes[0].set_ylabel("AP")
    figure.savefig(path, dpi=100, bbox_inches="tight")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program", help="nms-filter")
    parser.add_argument("--images", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", help="a PNG file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        objects, boxes = make_data(arguments.images, arguments.seed, folder)
        with contextlib.redirect_stdout(io.StringIO()):
            truth = COCO(str(folder / "truth.json"))
        before = evaluate(truth, folder / "detections.json")
        print("%d images, %d objects, %d boxes; without NMS: %.1f (%.1f)" % (
            arguments.images, objects, boxes, *before))
        rows = [(method, setting,
                 {value: evaluate(truth, path) for value, path in
                  sweep(arguments.program, folder, setting, options).items()})
                for method, setting, options in RUNS]
    for setting in (IOU, SIGMA):
        print("\n" + table([row for row in rows if row[1] == setting]))
    if arguments.plot:
        plot(rows, before[0], arguments.plot)


if __name__ == "__main__":
    main()
