#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""bench-elements --json prints what run.py reads, whatever the names of its rows contain."""
import json
import subprocess
import sys


def main():
    output = subprocess.run([sys.argv[1], "--json", "--quick"], check=True,
                            stdout=subprocess.PIPE).stdout
    rows = json.loads(output)["rows"]
    names = [row["what"] for row in rows]
    assert len(names) > 20, names
    assert any('"' in name for name in names), names
    for row in rows:
        assert 0 <= row["q1_us"] <= row["median_us"] <= row["q3_us"], row
        assert row["calls"] > 0, row


if __name__ == "__main__":
    main()
