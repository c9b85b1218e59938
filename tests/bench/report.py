# SPDX-License-Identifier: LGPL-2.1-or-later
"""results.json as Markdown:  python3 report.py results.json > report.md
--short: the one table of the README, and the setting it was made in."""
import json
import math
import sys

import agree
import cycles

OURS = "gst-nms"
PYTHON = "gst-nms (Python)"
APPROXIMATE = {"QSI-NMS", "eQSI-NMS"}


def time_text(us):
    if us is None:
        return "-"
    for limit, scale, unit in ((1e3, 1, "us"), (1e6, 1e3, "ms"), (math.inf, 1e6, "s")):
        if us < limit:
            v = us / scale
            return f"{v:.{0 if v >= 100 else 1 if v >= 10 else 2}f} {unit}"
    return "-"


def ratio_text(r):
    return "-" if r is None else f"{r:.{0 if r >= 20 else 1}f}"


def count_text(n):
    return f"{n:,}"


def table(head, rows, left=1):
    """Returns a Markdown table; aligns the first `left` columns left, the others right."""
    lines = ["| " + " | ".join(head) + " |",
             "|" + "|".join(["---"] * left + ["---:"] * (len(head) - left)) + "|"]
    return lines + ["| " + " | ".join(map(str, r)) + " |" for r in rows] + [""]


def systems(results):
    names = []
    for row in results["rows"]:
        names += [n for n in row["systems"] if n not in names]
    return names


def peers(results):
    return [n for n in systems(results) if not n.startswith(OURS)]


def median(row, name):
    return row["systems"].get(name, {}).get("median_us")


def ratio(row, name):
    return row["systems"].get(name, {}).get("ratio")


def best_peer(row):
    """Returns the fastest other exact system that was run, or None."""
    times = {n: s["median_us"] for n, s in row["systems"].items()
             if not n.startswith(OURS) and n not in APPROXIMATE and "median_us" in s}
    return min(times, key=times.get) if times else None


def floor(results, row, name):
    kind = "classes" if row["classes"] else "plain"
    return median(results["floors"][kind], name)


def without_floors(results, row, name):
    """Returns the ratio after the time for one box is subtracted from both sides, or None
    if a time is close to that of one box."""
    theirs, ours = median(row, name), median(row, OURS)
    f_theirs, f_ours = floor(results, row, name), floor(results, row, OURS)
    if None in (theirs, ours, f_theirs, f_ours) or ours < 2 * f_ours or theirs < 1.1 * f_theirs:
        return None
    return (theirs - f_theirs) / (ours - f_ours)


# ---------------------------------------------------------------------- parts

def setting(results):
    m, b = results["machine"], results["build"]
    versions = ", ".join(f"{n} {v}" for n, v in results["versions"].items())
    spread = [(row["systems"][OURS]["q3_us"] - row["systems"][OURS]["q1_us"]) / median(row, OURS)
              for row in results["rows"] if median(row, OURS)]
    noise = f"{100 * sorted(spread)[len(spread) // 2]:.0f} %" if spread else ""
    loads = [f"{results[k][0]:.1f}" for k in ("load_before", "load_after")]
    left_out = "".join(f" Not installed: {n}." for n in results.get("missing", {}))
    quartiles = (f"half of our workloads have quartiles less than {noise} of the median apart"
                 if spread else "no workloads")
    return [f"{results['date']}, commit {b['commit']}. {m['processor']}, {m['cores']} cores, "
            f"one used; {m['memory_gib']} GiB; {m['system']}; Python {m['python']}. "
            f"{b['compiler']}, {b['buildtype']} (-O{b['optimization']}). {versions}.{left_out}",
            "",
            f"Load average {loads[0]} before and {loads[1]} after; {quartiles}.", ""]


def main_table(results):
    rows = []
    for row in results["rows"]:
        best = best_peer(row)
        rows.append([
            row["name"], row["text"], count_text(row["n"]), f"{row['iou']:g}",
            row["cap"] or "all", count_text(row.get("kept", 0)), time_text(median(row, OURS)),
            time_text(median(row, PYTHON)), best or "-", time_text(median(row, best)),
            ratio_text(ratio(row, best)), ratio_text(without_floors(results, row, best)),
            time_text(median(row, "torchvision")), ratio_text(ratio(row, "torchvision")),
            f"{row.get('engine', '-')}, {row.get('cpu', '-')}"])
    head = ["", "boxes", "N", "IoU", "K", "kept", "gst-nms", "from Python", "best other",
            "its time", "x", "x, floors off", "torchvision", "x", "engine"]
    return ["## Against the best", ""] + table(head, rows, 2) + [
        "Medians of single calls. gst-nms is timed in C on the same rows (N x 4 float32) that the "
        "others get, with all checks and the outcome of every box; `from Python` is the "
        "package nmscore. `x` is how many times longer the other system's call takes, as the "
        "median of the quotients of neighbouring turns; `floors off` takes the time of a call "
        "with one box off both sides first (- where a side is hardly above that).", ""]


def all_systems(results):
    names = systems(results)
    rows, notes = [], []
    for row in results["rows"]:
        cells = [row["name"]]
        for n in names:
            s = row["systems"].get(n, {})
            cells.append(time_text(s["median_us"]) if "median_us" in s else "not run")
            if "note" in s:
                notes.append(f"- {row['name']}, {n}: {s['note']}")
        rows.append(cells)
    for kind, label in (("plain", "one box"), ("classes", "one box, classes")):
        row = results["floors"][kind]
        rows.append([f"*{label}*"] + [time_text(median(row, n)) for n in names])
    note = ["Not run:", ""] + notes + [""] if notes else []
    return ["## All systems", ""] + table([""] + names, rows) + note


def agreement(results):
    names = peers(results)
    rows = []
    for row in results["rows"]:
        cells = [agree.describe(row["systems"][n]["agreement"])
                 if "agreement" in row["systems"].get(n, {}) else "-" for n in names]
        rows.append([row["name"], count_text(row.get("kept", 0))] + cells)
    return ["## Do they keep the same boxes?", ""] + table(["", "kept"] + names, rows, 1) + [
        "`+p -q`: boxes that only the other system keeps, and only ours, with the causes counted. "
        "rounding: an overlap within a few units of binary32 of the threshold, computed "
        "otherwise (in double, by a product, fused). zero area: boxes without area, which "
        "OpenCV lets suppress each other wherever they are. tie: equal scores. offset: corners "
        "rounded by moving classes apart. follows: the consequence of another difference. "
        "approximate: QSI-NMS and eQSI-NMS keep other boxes by design. All "
        "variants of gst-nms keep the same boxes in the same order.", ""]


def growth(results):
    """Returns how time grows with N: the exponent between two sizes of a family, and the
    time for a box at 100,000 and a million."""
    names = [OURS] + peers(results)
    rows = []
    for family in dict.fromkeys(row["family"] for row in results["rows"]):
        members = sorted((r for r in results["rows"] if r["family"] == family),
                         key=lambda r: r["n"])
        for small, large in zip(members, members[1:]):
            cells = []
            for n in names:
                t1, t2 = median(small, n), median(large, n)
                power = t1 and t2 and math.log(t2 / t1) / math.log(large["n"] / small["n"])
                cells.append(f"{power:.2f}" if power else "-")
            rows.append([family, f"{count_text(small['n'])} to {count_text(large['n'])}"] + cells)
    if not rows:
        return []
    lines = ["## How time grows", "", "The power of N by which time grows: 1 is linear, 2 "
             "quadratic. A ratio is algorithmic as far as it comes from a lower power; where "
             "the powers are alike it comes from the instructions.", ""]
    return lines + table(["boxes", "N"] + names, rows, 2) + per_box(results)


def per_box(results):
    lines = []
    by_name = {row["name"]: row for row in results["rows"]}
    for small, large in (("100k", "1M"), ("100k-sparse", "1M-sparse")):
        if small in by_name and large in by_name:
            a, b = (median(by_name[n], OURS) * 1e3 / by_name[n]["n"] for n in (small, large))
            lines.append(f"- gst-nms, {small} to {large} at the same density: {a:.1f} to {b:.1f} "
                         f"ns a box, {b / a:.2f} times")
    return lines + [""] if lines else []


def extras(results):
    """Returns the quartiles, the times of suppressed_by and engine xla, and the scratch memory."""
    others = [n for n in systems(results) if n.startswith(OURS) and n not in (OURS, PYTHON)]
    rows = []
    for row in results["rows"]:
        s = row["systems"][OURS]
        cells = [row["name"]] + [time_text(s.get(k)) for k in ("median_us", "q1_us", "q3_us")]
        cells += [time_text(median(row, n)) for n in others]
        cells.append(f"{row['scratch'] / row['n']:.0f}" if "scratch" in row else "-")
        rows.append(cells)
    head = ["", "gst-nms", "quartile", "quartile"] + others
    return ["## gst-nms by itself", ""] + table(head + ["scratch, bytes a box"], rows) + [
        "`suppressed_by`: every box's suppressor is asked for too. Scratch is what the context "
        "holds after the call, and keeps.", ""]


def compiled(results):
    lines = []
    if results.get("tpu"):
        lines += ["## Kernels on a TPU", ""] + cycles.markdown(results["tpu"])
    if results.get("xla_stream"):
        lines += ["## Engine xla on a stream", "", "The raw boxes that OpenCV's people detector "
                  "finds in the sample video, frame after frame: waiting for programs, then "
                  "25 frames a second.", "", "```"] + results["xla_stream"][:-1] + ["```", ""]
    return lines


def memory(results):
    m = results.get("memory")
    if not m:
        return []
    rows = [[n, f"{b:.0f}"] for n, b in m["bytes_per_box"].items()]
    return ["## Memory", "", f"Bytes a box by which the first call raises a new process's peak "
            f"of resident memory, {m['row']}, {count_text(m['n'])} boxes. The boxes themselves, "
            "20 bytes each, are not in it; what a system compiles or loads at its first call "
            "is. Without those whose call takes over 5 s.",
            ""] + table(["", "bytes a box"], rows)


def elements(results):
    e = results.get("elements")
    if not e:
        return []
    rows = [[r["what"].replace("  ", "&nbsp;&nbsp;")] +
            [f"{r[k]:.2f}" for k in ("median_us", "q1_us", "q3_us")] for r in e["rows"]]
    return ["## Elements", "", f"Microseconds a buffer, GStreamer {e['gstreamer']}.", ""] + table(
        ["", "median", "quartile", "quartile"], rows) + streams(results)


def streams(results):
    s = results.get("streams")
    if not s:
        return []
    return ["## Streams", "",
            f"{s['streams']} nmsfilters in one process, a thread each, {s['boxes']} boxes a frame, "
            f"on {s['processors']} processors.", ""] + table(["", ""], [
                ["all as fast as they go, frames a second", f"{s['frames_per_second']:.0f}"],
                [f"at {s['paced_fps']} frames a second each: median, us a frame",
                 f"{s['median_us']:.1f}"],
                ["99th percentile, of the middle stream", f"{s['p99_us']:.1f}"],
                ["99th percentile, of the worst stream", f"{s['worst_p99_us']:.1f}"]])


def markdown(results):
    parts = [["# Benchmark", ""], setting(results)]
    if results["rows"]:
        parts += [main_table(results), all_systems(results), agreement(results), growth(results),
                  extras(results), memory(results)]
    parts += [compiled(results), elements(results)]
    return "\n".join(line for part in parts for line in part).rstrip() + "\n"


def short(results):
    rows = []
    for row in results["rows"]:
        best = best_peer(row)
        rows.append([row["text"], count_text(row["n"]), f"{row['iou']:g}", row["cap"] or "all",
                     time_text(median(row, OURS)), time_text(median(row, PYTHON)),
                     f"{best or '-'} {time_text(median(row, best))}",
                     f"**{ratio_text(ratio(row, best))}**",
                     time_text(median(row, "torchvision")), ratio_text(ratio(row, "torchvision"))])
    head = ["boxes", "N", "IoU", "kept at most", "gst-nms", "from Python", "best of the others",
            "x", "torchvision", "x"]
    return "\n".join(table(head, rows) + setting(results)[:1]) + "\n"


def main():
    write = {"--short": short}.get(sys.argv[1])
    with open(sys.argv[-1], encoding="utf-8") as f:
        print((write or markdown)(json.load(f)), end="")


if __name__ == "__main__":
    main()
