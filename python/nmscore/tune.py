# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds the method and the threshold that suit a detector, from its boxes and the ground truth.

    python3 -m nmscore.tune BOXES TRUTH

BOXES are the boxes of a detector before any suppression, TRUTH the boxes that people marked: COCO
results and a COCO annotation file, or two recordings (JSON Lines of boxrecord, nms-filter or DL
Streamer) whose frames are matched by timestamp. Prints a table with a row for each setting: AP (the
mean over IoU 0.5 to 0.95), AP50 and the best F1 at IoU 0.5, in percent, as means over the classes;
then the figures of each class, and a pipeline with the best setting."""
from __future__ import annotations

import argparse
import csv
import decimal
import itertools
import json
import math
import os
import sys
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from nmscore import run_batch
from nmscore._precision import Boxes, Precision, evaluate

# The threshold has no effect on these methods.
WITHOUT_THRESHOLD = ("soft-gaussian", "matrix-linear", "matrix-gaussian")
LOWERS_SCORES = ("soft-linear",) + WITHOUT_THRESHOLD


class Setting(NamedTuple):
    """The options of a row; None for options that have no effect."""
    method: Optional[str]
    metric: str = "iou"
    iou_threshold: Optional[str] = None
    sigma: Optional[str] = None
    class_agnostic: bool = False

    def options(self) -> Dict[str, Any]:
        """Returns the options of nmscore.run_batch."""
        options: Dict[str, Any] = {"method": self.method, "metric": self.metric,
                                   "class_agnostic": self.class_agnostic}
        if self.iou_threshold is not None:
            options["iou_threshold"] = float(self.iou_threshold)
        if self.sigma is not None:
            options["sigma"] = float(self.sigma)
        return options

    def element(self, score: float) -> str:
        """Returns the part of a pipeline that applies the setting and drops boxes below `score`."""
        # (rounded down, so that the box with this score passes)
        least = f"{math.floor(score * 1e4) / 1e4:g}" if math.isfinite(score) else None
        words = ["nmsfilter"]
        if self.method != "hard":
            words.append(f"method={self.method}")
        if self.metric != "iou":
            words.append(f"metric={self.metric}")
        if self.iou_threshold is not None:
            words.append(f"iou-threshold={self.iou_threshold}")
        if self.class_agnostic:
            words.append("class-agnostic=true")
        if self.method in LOWERS_SCORES:
            own = [f"sigma={self.sigma}"] if self.sigma is not None else []
            own += [f"min-score={least}"] if least is not None else []
            if own:
                words.append("method-options=" + ",".join(["o"] + own))
        elif least is not None and self.method == "hard":
            words.append(f"score-threshold={least}")
        elif least is not None:
            words.append(f"! nmsfilter iou-threshold=1 score-threshold={least}")
        return " ".join(words)


class Problem(Exception):
    """The files or options of the user cannot be evaluated."""


class Table(NamedTuple):
    """Boxes as they were read: images and classes by the keys of the file."""
    images: List[Any]
    classes: List[Any]
    rows: List[List[float]]
    scores: List[float]
    crowds: List[bool]
    frames: List[Any]            # all images, those without boxes too
    names: Dict[Any, str]        # names of classes, if the file has any


def _coco(path: str, entries: Any) -> Table:
    truth = isinstance(entries, dict)
    boxes = entries["annotations"] if truth else entries
    names = {entry["id"]: str(entry.get("name", entry["id"]))
             for entry in entries.get("categories", [])} if truth else {}
    table = Table([], [], [], [], [], [image["id"] for image in entries.get("images", [])]
                  if truth else [], names)
    for number, box in enumerate(boxes):
        try:
            table.images.append(box["image_id"])
            table.classes.append(box["category_id"])
            table.rows.append([float(value) for value in box["bbox"]])
            table.scores.append(1.0 if truth else float(box["score"]))
            table.crowds.append(bool(box.get("iscrowd", 0)) if truth else False)
        except (KeyError, TypeError, ValueError) as error:
            raise Problem(f"{path}: box {number}: {_reason(error)}") from None
        if len(table.rows[-1]) != 4:
            raise Problem(f"{path}: box {number}: bbox has {len(table.rows[-1])} numbers, not 4")
    return table


def _reason(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


def _recorded(box: Dict[str, Any], size: Dict[str, float]) -> Tuple[Any, List[float], float]:
    """Returns the label, x y w h and the score of a box of a recording."""
    detection = box.get("detection", {})
    label = box.get("roi_type") or detection.get("label") or str(detection.get("label_id", ""))
    if "bounding_box" in detection:
        edges = detection["bounding_box"]
        width, height = float(size.get("width", 1)), float(size.get("height", 1))
        x, y = float(edges["x_min"]) * width, float(edges["y_min"]) * height
        row = [x, y, float(edges["x_max"]) * width - x, float(edges["y_max"]) * height - y]
    else:
        row = [float(box[name]) for name in "xywh"]
    return label, row, float(detection.get("confidence", 1.0))


def _recording(path: str, lines: Iterable[str]) -> Table:
    table = Table([], [], [], [], [], [], {})
    for number, text in enumerate(lines):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
            if line.get("outside-segment"):
                continue
            image = line.get("timestamp", number)
            table.frames.append(image)
            for box in line.get("objects", []):
                label, row, score = _recorded(box, line.get("resolution", {}))
                table.images.append(image)
                table.classes.append(label)
                table.rows.append(row)
                table.scores.append(score)
                table.crowds.append(False)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise Problem(f"{path}:{number + 1}: {_reason(error)}") from None
    return table


def read(path: str) -> Tuple[str, Table]:
    """Returns "coco" or "lines" and the boxes of a file."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    try:
        entries = json.loads(text)
    except ValueError:
        entries = None
    if isinstance(entries, list) or isinstance(entries, dict) and "annotations" in entries:
        return "coco", _coco(path, entries)
    return "lines", _recording(path, text.splitlines())


def prepare(found: Table, truth: Table) -> Tuple[Boxes, Boxes, List[str], int, int]:
    """Returns both files' boxes, by image, the names of the classes, the number of images, and the
    number of found boxes whose image or class is not in the truth, which are left out."""
    def in_order(keys: Any) -> List[Any]:
        return sorted(keys, key=lambda key: (str(type(key)), key))

    images = {key: i for i, key in enumerate(in_order(set(truth.frames) | set(truth.images)))}
    keys = in_order(set(truth.classes) | set(truth.names))
    classes = {key: i for i, key in enumerate(keys)}
    parts = []
    for table in (found, truth):
        which = [i for i, image in enumerate(table.images)
                 if image in images and table.classes[i] in classes]
        boxes = Boxes(np.array([images[table.images[i]] for i in which], np.int64),
                      np.array([classes[table.classes[i]] for i in which], np.int64),
                      np.array([table.rows[i] for i in which], float).reshape(-1, 4),
                      np.array([table.scores[i] for i in which], float),
                      np.array([table.crowds[i] for i in which], bool))
        parts.append(boxes.take(np.argsort(boxes.image, kind="stable")))
    names = [truth.names.get(key, str(key)) for key in keys]
    return parts[0], parts[1], names, len(images), len(found.images) - len(parts[0].image)


def suppress(found: Boxes, images: int, setting: Setting, threads: int) -> Boxes:
    """Returns the boxes that a setting leaves, with their new scores and corners."""
    if setting.method is None:
        return found
    offsets = np.searchsorted(found.image, np.arange(images + 1))
    corners = np.concatenate((found.rows[:, :2], found.rows[:, :2] + found.rows[:, 2:]), axis=1)
    result = run_batch(corners, offsets, found.score, found.class_id, threads=threads,
                       **setting.options())
    kept = result.kept + np.repeat(offsets[:-1], np.diff(result.kept_offsets))
    boxes = found.take(kept)
    if result.scores is None or result.boxes is None:
        return boxes
    rows = result.boxes.astype(float)
    rows[:, 2:] -= rows[:, :2]
    return boxes._replace(rows=rows, score=result.scores.astype(float))


def values(text: str) -> List[str]:
    """Reads FIRST..LAST..STEP or A,B,C, in decimal."""
    try:
        if ".." not in text:
            return [str(decimal.Decimal(part)) for part in text.split(",")]
        first, last, step = (decimal.Decimal(part) for part in
                             (text if text.count("..") > 1 else text + "..0.1").split(".."))
        if step <= 0 or last < first or (last - first) / step > 1000:
            raise ValueError
        return [str(first + i * step) for i in range(int((last - first) / step) + 1)]
    except (decimal.DecimalException, ValueError):
        raise argparse.ArgumentTypeError(
            f"{text}: neither numbers with commas nor FIRST..LAST..STEP") from None


def settings(arguments: argparse.Namespace) -> List[Setting]:
    """Returns the rows of the table."""
    rows = [Setting(None)]
    for method, metric in itertools.product(arguments.method, arguments.metric):
        thresholds = [None] if method in WITHOUT_THRESHOLD else arguments.iou_threshold
        sigmas = arguments.sigma if method.endswith("-gaussian") else [None]
        rows += [Setting(method, metric, threshold, sigma, arguments.class_agnostic)
                 for threshold in thresholds for sigma in sigmas]
    return rows


def _mean(column: Any) -> float:
    return 100 * float(np.nanmean(column))


def plot(rows: Sequence[Tuple[Setting, Precision]], path: str) -> None:
    """Draws AP and AP50 against the threshold, a line for each method and metric."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    kinds = [(name, [row for row in rows if getattr(row[0], name) is not None])
             for name in ("iou_threshold", "sigma")]
    kinds = [kind for kind in kinds if kind[1]]
    figure, grid = pyplot.subplots(1, max(1, len(kinds)), figsize=(5 * max(1, len(kinds)), 4),
                                   sharey=True, squeeze=False)
    for axis, (name, its) in zip(grid[0], kinds):
        for (method, metric), line in itertools.groupby(its, lambda row: row[0][:2]):
            points = [(float(getattr(setting, name)), figures) for setting, figures in line]
            drawn, = axis.plot([x for x, _ in points], [_mean(f.ap) for _, f in points], "o-",
                               label=f"{method}, {metric}")
            axis.plot([x for x, _ in points], [_mean(f.ap50) for _, f in points], "--",
                      color=drawn.get_color())
        axis.axhline(_mean(rows[0][1].ap), color="grey", linestyle=":", label="without NMS")
        axis.set_xlabel(name.replace("_", "-"))
        axis.legend(fontsize=8)
    grid[0][0].set_ylabel("AP (solid) and AP50 (dashed), percent")
    figure.savefig(path, dpi=100, bbox_inches="tight")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m nmscore.tune", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("boxes", metavar="BOXES")
    parser.add_argument("truth", metavar="TRUTH")
    parser.add_argument("--method", action="append", metavar="NAME",
                        help="may be repeated; default: hard, soft-linear, weighted")
    parser.add_argument("--metric", action="append", metavar="NAME",
                        help="may be repeated; default: iou")
    parser.add_argument("--iou-threshold", type=values, default="0.3..0.8", metavar="VALUES",
                        help="FIRST..LAST..STEP or A,B,C; default: %(default)s")
    parser.add_argument("--sigma", type=values, default="0.1,0.3,0.5,0.7,0.9", metavar="VALUES",
                        help="of gaussian methods; default: %(default)s")
    parser.add_argument("--class-agnostic", action="store_true",
                        help="boxes suppress boxes of other classes, too")
    parser.add_argument("--best", choices=("ap", "ap50", "f1"), default="ap",
                        help="the figure that decides; default: %(default)s")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, metavar="N",
                        help="of NMS; default: %(default)s, one for each processor")
    parser.add_argument("--table", metavar="FILE.csv",
                        help="write the figures of each setting and class")
    parser.add_argument("--plot", metavar="FILE.png",
                        help="draw AP against the threshold; needs matplotlib")
    return parser


def _write_table(path: str, rows: Sequence[Tuple[Setting, Precision]], names: List[str]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["method", "metric", "iou-threshold", "sigma", "class", "ap", "ap50", "f1",
                         "f1-score"])
        for setting, figures in rows:
            for k, name in enumerate(names):
                if not math.isnan(figures.ap[k]):
                    writer.writerow([setting.method or "none", setting.metric,
                                     setting.iou_threshold, setting.sigma, name, figures.ap[k],
                                     figures.ap50[k], figures.f1[k], figures.f1_score[k]])


def _tune(arguments: argparse.Namespace) -> None:
    kind, found_table = read(arguments.boxes)
    truth_kind, truth_table = read(arguments.truth)
    if kind != truth_kind:
        described = {"coco": "COCO", "lines": "a recording"}
        raise Problem(f"{arguments.boxes} is {described[kind]} and {arguments.truth} is "
                      f"{described[truth_kind]}; both have to be of one kind")
    found, truth, names, images, left_out = prepare(found_table, truth_table)
    if not len(truth.image) - truth.crowd.sum():
        raise Problem(f"{arguments.truth}: no marked boxes")
    if not len(found.image):
        raise Problem(f"{arguments.boxes}: no box has an image and a class of {arguments.truth}")
    print(f"{images} images, {len(truth.image)} marked boxes of {len(set(truth.class_id))} classes,"
          f" {len(found.image)} found boxes")
    if left_out:
        print(f"{left_out} more found boxes are left out, because their image or class is not in "
              f"{arguments.truth}")
    print(f"\n{'method':<16}{'metric':<8}{'iou-threshold':>13}{'sigma':>7}{'boxes':>10}"
          f"{'AP':>8}{'AP50':>8}{'F1':>8}")
    rows = []
    for setting in settings(arguments):
        boxes = suppress(found, images, setting, arguments.threads)
        figures = evaluate(boxes, truth, len(names))
        rows.append((setting, figures))
        print(f"{setting.method or 'without NMS':<16}{setting.metric if setting.method else '':<8}"
              f"{setting.iou_threshold or '':>13}{setting.sigma or '':>7}{len(boxes.image):>10}"
              f"{_mean(figures.ap):>8.2f}{_mean(figures.ap50):>8.2f}{_mean(figures.f1):>8.2f}",
              flush=True)
    best, figures = max(rows[1:], key=lambda row: _mean(getattr(row[1], arguments.best)))
    width = max(5, *map(len, names)) + 2
    print(f"\nThe classes with the best setting:\n{'class':<{width}}{'AP':>8}{'AP50':>8}{'F1':>8}"
          f"{'score of the best F1':>22}")
    for k, name in enumerate(names):
        if not math.isnan(figures.ap[k]):
            print(f"{name:<{width}}{100 * figures.ap[k]:>8.2f}{100 * figures.ap50[k]:>8.2f}"
                  f"{100 * figures.f1[k]:>8.2f}{figures.f1_score[k]:>22.4f}")
    detector = f"boxreplay location={arguments.boxes}" if kind == "lines" else "DETECTOR"
    print(f"\nBest {arguments.best.upper()}, with the score threshold of the best F1 of all "
          f"classes together ({100 * figures.all_f1:.2f}):\n\n"
          f"gst-launch-1.0 filesrc location=VIDEO ! decodebin ! {detector} "
          f"! {best.element(figures.all_f1_score)} "
          "! videoconvert ! boxoverlay ! videoconvert ! autovideosink")
    if arguments.table:
        _write_table(arguments.table, rows, names)
    if arguments.plot:
        plot(rows, arguments.plot)


def main(words: Optional[Sequence[str]] = None) -> int:
    """Runs the command and returns its exit status."""
    parser = _parser()
    arguments = parser.parse_args(words)
    arguments.method = arguments.method or ["hard", "soft-linear", "weighted"]
    arguments.metric = arguments.metric or ["iou"]
    try:
        for setting in settings(arguments)[1:]:
            run_batch([[0, 0, 1, 1]], [0, 1], [1], **setting.options())
    except ValueError as error:
        parser.error(str(error))
    try:
        if arguments.plot:
            import matplotlib  # noqa: F401 (the plot is drawn last)
        _tune(arguments)
    except ImportError:
        print("nmscore.tune: --plot needs matplotlib", file=sys.stderr)
        return 2
    except (Problem, OSError) as error:
        print(f"nmscore.tune: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
