# SPDX-License-Identifier: LGPL-2.1-or-later
"""The table of versions.sh: versions.py BUILD_FOLDER PLACE..."""
import json
import pathlib
import platform
import statistics
import sys


def rounds(folder):
    """Returns the medians of all rounds by row and group, in order."""
    rows = {}
    for file in sorted(folder.glob("elements.*.json")):
        whole = ""
        for row in json.loads(file.read_text())["rows"]:
            what = row["what"]
            whole = whole if what.startswith(" ") else what
            rows.setdefault((whole, what), []).append(row["median_us"])
    return rows


def cell(medians):
    if not medians:
        return ""
    return f"{statistics.median(medians):.1f} ({min(medians):.1f} .. {max(medians):.1f})"


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def main():
    build, places = pathlib.Path(sys.argv[1]), sys.argv[2:]
    found, heads, names = {}, [], []
    for place in places:
        gstreamer, compiler = (build / f"{place}-bench" / "versions").read_text().split("\n")[:2]
        heads.append(f"{gstreamer.split()[-1]}, gcc {compiler}")
        found[place] = rounds(build / f"{place}-bench")
        names += [name for name in found[place] if name not in names]
    print(processor(), end="\n\n")
    print("| us a buffer | " + " | ".join(heads) + " |")
    print("|---|" + "---:|" * len(places))
    for name in names:
        cells = [cell(found[place].get(name)) for place in places]
        print(f"| {name[1].replace('  ', '&nbsp;&nbsp;')} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
