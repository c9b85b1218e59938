# SPDX-License-Identifier: LGPL-2.1-or-later
"""The results of run.py as Markdown, and the plot of times against the number of boxes."""
OURS = "gst-nms"
PYTHON = "gst-nms (Python)"
APPROXIMATE = "approximate"  # why a system keeps other boxes

FAMILIES = {"detector": "detector-like boxes", "sparse": "sparse boxes"}


def time_text(us):
    if us is None:
        return "-"
    scale, unit = (1, "us") if us < 1e3 else (1e3, "ms") if us < 1e6 else (1e6, "s")
    v = us / scale
    return f"{v:.{0 if v >= 100 else 1 if v >= 10 else 2}f} {unit}"


def ratio_text(r):
    return "-" if r is None else f"{r:.{0 if r >= 20 else 1}f}"


def table_lines(head, rows, left=1):
    """Yields the lines of a Markdown table, each as soon as `rows` yields its cells; aligns the
    first `left` columns left, the others right."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "|".join(["---"] * left + ["---:"] * (len(head) - left)) + "|"
    for row in rows:
        yield "| " + " | ".join(map(str, row)) + " |"


def print_table(head, rows, left=1):
    for line in table_lines(head, rows, left):
        print(line, flush=True)


def table(head, rows, left=1):
    return [*table_lines(head, rows, left), ""]


def systems(results):
    return list(results["rows"][0]["systems"])


def peers(results):
    return [n for n in systems(results) if not n.startswith(OURS)]


def median(row, name):
    return row["systems"].get(name, {}).get("median_us")


def ratio(row, name):
    return row["systems"].get(name, {}).get("ratio")


def best_peer(row):
    """Returns the fastest other exact system that was run, or None."""
    times = {n: s["median_us"] for n, s in row["systems"].items()
             if not n.startswith(OURS) and "median_us" in s
             and s["agreement"]["cause"] != APPROXIMATE}
    return min(times, key=times.get) if times else None


# ---------------------------------------------------------------------- parts

def setting(results):
    versions = ", ".join(f"{n} {v}" for n, v in results["versions"].items())
    ours = [row["systems"][OURS] for row in results["rows"]]
    spread = sorted((o["q3_us"] - o["q1_us"]) / o["median_us"] for o in ours if "q1_us" in o)
    loads = [f"{results[k][0]:.1f}" for k in ("load_before", "load_after")]
    left_out = "".join(f" Not installed: {n}." for n in results["missing"])
    return [f"{results['setting']} {versions}.{left_out}", "",
            f"Load average {loads[0]} before and {loads[1]} after; half of our workloads have "
            f"quartiles less than {100 * spread[len(spread) // 2]:.0f} % of the median apart.", ""]


def main_table(results):
    rows = []
    for row in results["rows"]:
        best = best_peer(row)
        rows.append([
            row["name"], row["text"], f"{row['n']:,}", f"{row['iou']:g}",
            row["cap"] or "all", f"{row['kept']:,}", time_text(median(row, OURS)),
            time_text(median(row, PYTHON)), best or "-", time_text(median(row, best)),
            ratio_text(ratio(row, best)), time_text(median(row, "torchvision")),
            ratio_text(ratio(row, "torchvision")), f"{row['engine']}, {row['cpu']}"])
    head = ["", "boxes", "N", "IoU", "K", "kept", "gst-nms", "from Python", "best other",
            "its time", "x", "torchvision", "x", "engine"]
    return table(head, rows, 2) + [
        "Medians of single calls. gst-nms is timed in C, `from Python` is the package nmscore. `x` "
        "is the median of the quotients of neighbouring turns.", ""]


def all_systems(results):
    names = systems(results)
    rows = [[row["name"]] + [time_text(median(row, n)) if median(row, n) else "not run"
                             for n in names] for row in results["rows"]]
    notes = [f"- {row['name']}, {n}: {s['note']}" for row in results["rows"]
             for n, s in row["systems"].items() if "note" in s]
    return ["## All systems", ""] + table([""] + names, rows) + (
        ["Not run:", ""] + notes + [""] if notes else [])


def agreement_text(agreement):
    if not agreement:
        return "-"
    return "same" if not agreement["cause"] else "+{only_theirs} -{only_ours}: {cause}".format(
        **agreement)


def agreement(results):
    names = peers(results)
    rows = [[row["name"], f"{row['kept']:,}"] +
            [agreement_text(row["systems"][n].get("agreement")) for n in names]
            for row in results["rows"]]
    return ["## Do they keep the same boxes?", ""] + table(["", "kept"] + names, rows) + [
        "`+p -q`: p boxes that only the other system keeps, and q that only gst-nms keeps, which "
        "is right if overlaps are rounded, or if boxes without area suppress each other.", ""]


def markdown(results):
    parts = [["# How fast", ""]] + [part(results) for part in (
        setting, main_table, all_systems, agreement)]
    return "\n".join(line for part in parts for line in part).rstrip() + "\n"


# ----------------------------------------------------------------------- plot

def draw(results, path):
    """Draws times on log-log axes: one panel for each family, one line for each system."""
    panels = {f: sorted((r for r in results["rows"] if r["family"] == f), key=lambda r: r["n"])
              for f in FAMILIES}
    panels = {f: rows for f, rows in panels.items() if len(rows) > 1}
    if not panels:
        return
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, len(panels), figsize=(5.6 * len(panels), 5.2), sharey=True,
                                squeeze=False)
    for axis, (family, rows) in zip(axes[0], panels.items()):
        for number, name in enumerate([OURS] + peers(results)):
            points = [(r["n"], median(r, name)) for r in rows if median(r, name)]
            if points:
                axis.plot(*zip(*points), marker="o", markersize=4, label=name, zorder=3,
                          color=f"C{number}", linewidth=2.6 if name == OURS else 1.3)
        axis.set(xscale="log", yscale="log", xlabel="boxes", title=FAMILIES[family])
        axis.grid(color="#d9d9d9", linewidth=.6)
        axis.spines[["top", "right"]].set_visible(False)
        axis.xaxis.set_major_formatter(lambda n, _: f"{n:,.0f}")
        axis.yaxis.set_major_formatter(
            lambda t, _: time_text(t).replace(".00", "").replace(".0", ""))
        axis.minorticks_off()
    axes[0][0].set(ylabel="time of a call")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", bbox_to_anchor=(.5, .02),
                  ncols=min(5, len(labels)), frameon=False)
    figure.savefig(path, dpi=150, bbox_inches="tight")
