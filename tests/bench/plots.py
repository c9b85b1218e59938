# SPDX-License-Identifier: LGPL-2.1-or-later
"""The plot of results.json:  python3 plots.py results.json FOLDER"""
import json
import pathlib
import sys

import report

OURS_COLOUR, INK, GRID = "#0b6e4f", "#222222", "#d9d9d9"
COLOURS = {"torchvision": "#d1495b", "onnxruntime": "#3066be", "OpenCV": "#edae49",
           "powerboxes": "#8d6a9f", "powerboxes rtree": "#5f0f40", "lsnms": "#00798c",
           "BOE-NMS": "#444444"}
FAMILIES = {"detector": "detector-like boxes", "sparse": "sparse boxes"}


def draw(results, folder):
    """Draws the results and returns the paths of the pictures."""
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams.update({
        "font.size": 10, "axes.edgecolor": INK, "axes.spines.top": False,
        "axes.spines.right": False})
    import matplotlib.pyplot as plt
    figure = time_against_n(results, plt)
    if figure is None:
        return []
    path = pathlib.Path(folder) / "time.png"
    figure.savefig(path, dpi=150, bbox_inches="tight")
    plt.close(figure)
    return [path]


def caption(results):
    m, b = results["machine"], results["build"]
    versions = results["versions"]
    wanted = ("torchvision", "onnxruntime", "opencv-python-headless", "powerboxes", "lsnms")
    named = ", ".join(f"{n} {versions[n]}" for n in wanted if n in versions)
    return f"{m['processor']}, one core; {b['compiler']}; {named}"


def time_against_n(results, plt):
    """Draws times on log-log axes: one panel for each family, one line for each system."""
    panels = {}
    for family in FAMILIES:
        rows = sorted((r for r in results["rows"] if r["family"] == family), key=lambda r: r["n"])
        if len(rows) > 1:
            panels[family] = rows
    if not panels:
        return None
    figure, axes = plt.subplots(1, len(panels), figsize=(5.6 * len(panels), 5.2), sharey=True,
                                squeeze=False)
    axes[0][0].set_yscale("log")
    for axis, (family, rows) in zip(axes[0], panels.items()):
        for name in [report.OURS] + report.peers(results):
            points = [(r["n"], report.median(r, name)) for r in rows if report.median(r, name)]
            if points:
                line(axis, name, *zip(*points))
        axis.set(xscale="log", yscale="log", xlabel="boxes", title=FAMILIES[family])
        axis.grid(color=GRID, linewidth=.6)
        axis.set_axisbelow(True)
    axes[0][0].set(ylabel="time of a call")
    times = [t for t in axes[0][0].get_yticks() if 0.1 <= t <= 1e9]
    axes[0][0].set_yticks(times, [plain(report.time_text(t)) for t in times])
    for axis in axes[0]:
        counts = [n for n in axis.get_xticks() if 10 <= n <= 1e8]
        low, high = axis.get_xlim()
        axis.set_xticks(counts, [f"{n:,.0f}" for n in counts])
        axis.set_xlim(low, high)
        axis.minorticks_off()
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", bbox_to_anchor=(.5, .02),
                  ncols=min(5, len(labels)), frameon=False)
    figure.text(.5, -.1, caption(results), ha="center", fontsize=8, color=INK)
    return figure


def plain(text):
    return text.replace(".00", "").replace(".0", "")


def line(axis, name, x, y):
    ours = name == report.OURS
    axis.plot(x, y, marker="o", markersize=5 if ours else 3.5, linewidth=2.6 if ours else 1.3,
              color=OURS_COLOUR if ours else COLOURS.get(name, "#666666"), label=name,
              zorder=5 if ours else 3)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as f:
        for written in draw(json.load(f), sys.argv[2]):
            print(written)
