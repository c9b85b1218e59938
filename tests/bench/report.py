# SPDX-License-Identifier: LGPL-2.1-or-later
"""Processor times and Markdown tables for the programs of this folder, and the report and the plot
of run.py."""
import time

OURS = "gst-nms"
PYTHON = "gst-nms (Python)"

# The panels of the plot: workloads that differ in the number of boxes only.
PANELS = {"detector-like boxes": ("c", "b2", "d1", "e", "100k", "1M"),
          "sparse boxes": ("1k-sparse", "10k-sparse", "100k-sparse", "1M-sparse")}


def times_of(call, seconds, count=1):
    """Returns the processor times of calls in seconds: at least `count`, and no further one after
    `seconds`."""
    times, end = [], time.thread_time() + seconds
    while len(times) < count or time.thread_time() < end:
        start = time.thread_time()
        call()
        if spent := time.thread_time() - start:  # the clock may stand still for a moment
            times.append(spent)
    return times


def time_text(us):
    if us is None:
        return "-"
    scale, unit = (1, "us") if us < 1e3 else (1e3, "ms") if us < 1e6 else (1e6, "s")
    v = us / scale
    return f"{v:.{0 if v >= 100 else 1 if v >= 10 else 2}f} {unit}"


def ratio_text(r):
    return "-" if r is None else f"{r:.{0 if r >= 20 else 1}f}"


def table(head, rows, left=1):
    """Yields the lines of a Markdown table, each as soon as `rows` yields its cells; aligns the
    first `left` columns left, the others right."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "|".join(["---"] * left + ["---:"] * (len(head) - left)) + "|"
    for row in rows:
        yield "| " + " | ".join(map(str, row)) + " |"


def print_table(head, rows, left=1):
    for line in table(head, rows, left):
        print(line, flush=True)


def figure(row, name, key):
    """Returns a figure of a system, or None if it was not measured."""
    return row["systems"].get(name, {}).get(key)


def peers(rows):
    return [name for name in rows[0]["systems"] if not name.startswith(OURS)]


def best_peer(row):
    """Returns the fastest other exact system that was run, or None."""
    times = {name: figure(row, name, "us") for name in peers([row]) if figure(row, name, "exact")}
    return min(times, key=times.get, default=None)


def main_row(row):
    best = best_peer(row)
    return [row["name"], row["text"], f"{row['n']:,}", f"{row['iou']:g}", row["cap"] or "all",
            f"{row['kept']:,}", time_text(figure(row, OURS, "us")),
            time_text(figure(row, PYTHON, "us")), best or "-", time_text(figure(row, best, "us")),
            ratio_text(figure(row, best, "x")), time_text(figure(row, "torchvision", "us")),
            ratio_text(figure(row, "torchvision", "x")), row["engine"]]


def markdown(setting, rows):
    """Returns the report. `rows` are the results of run.py, one for each workload."""
    names, others = list(rows[0]["systems"]), peers(rows)
    spreads = sorted(figure(row, OURS, "spread") for row in rows)
    notes = [f"- Not run: {row['name']}, {name}: {s['note']}" for row in rows
             for name, s in row["systems"].items() if "note" in s]
    return "\n".join([
        "# How fast", "", setting, "",
        "Half of our workloads have quartiles less than "
        f"{100 * spreads[len(spreads) // 2]:.0f} % of the median apart.", "",
        *table(["", "boxes", "N", "IoU", "K", "kept", "gst-nms", "from Python", "best other",
                "its time", "x", "torchvision", "x", "engine"], map(main_row, rows), 2), "",
        "Medians of single calls. gst-nms is timed in C, `from Python` is the package nmscore. `x` "
        "is the median of the quotients of neighbouring turns.", "",
        "## All systems", "",
        *table(["", *names], ([row["name"], *(time_text(figure(row, name, "us")) for name in names)]
                              for row in rows)), "",
        *notes, "",
        "## Do they keep the same boxes?", "",
        *table(["", "kept", *others],
               ([row["name"], f"{row['kept']:,}",
                 *(figure(row, name, "agreement") or "-" for name in others)] for row in rows)), "",
        "`+p -q`: p boxes that only the other system keeps, and q that only gst-nms keeps, which "
        "is right if overlaps are rounded, or if boxes without area suppress each other.", ""])


def draw(rows, path):
    """Draws times on log-log axes: one panel for each kind of boxes, one line for each system."""
    panels = {title: [row for name in names for row in rows if row["name"] == name]
              for title, names in PANELS.items()}
    panels = {title: part for title, part in panels.items() if len(part) > 1}
    if not panels:
        return
    from matplotlib.figure import Figure
    plot = Figure(figsize=(5.6 * len(panels), 5.2))
    axes = plot.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axis, (title, part) in zip(axes, panels.items()):
        for name in [OURS] + peers(rows):
            axis.plot([row["n"] for row in part], [figure(row, name, "us") for row in part],
                      marker="o", markersize=4, label=name, zorder=3,
                      linewidth=2.6 if name == OURS else 1.3)
        axis.set(xscale="log", yscale="log", xlabel="boxes", title=title)
        axis.grid(color="#d9d9d9", linewidth=.6)
        axis.spines[["top", "right"]].set_visible(False)
        axis.xaxis.set_major_formatter("{x:,.0f}")
        axis.yaxis.set_major_formatter(
            lambda t, _: time_text(t).replace(".00", "").replace(".0", ""))
        axis.minorticks_off()
    axes[0].set(ylabel="time of a call")
    plot.legend(*axes[0].get_legend_handles_labels(), loc="upper center", ncols=5, frameon=False,
                bbox_to_anchor=(.5, .02))
    plot.savefig(path, dpi=150, bbox_inches="tight")
