# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compiled programs: the kernels' cycles on a TPU, as libtpu's compiler estimates
them, and what engine xla's programs cost a real stream of changing box counts."""
import os
import pathlib
import subprocess
import sys

import cycles

ROOT = pathlib.Path(__file__).resolve().parents[2]


def has_jax():
    return subprocess.run([sys.executable, "-c", "import jax"], stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def tpu(build):
    """Returns the cycles, or None if the kernels' programs were not built. Downloads libtpu."""
    programs = [build / "tests/tpu/tpuprint", build / "tests/tpu/xlatext"]
    if not all(p.exists() for p in programs):
        return None
    libtpu = subprocess.run([ROOT / "tools/fetch-xla.sh", build.parent / "xla", "tpu"],
                            check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return cycles.measure(*map(str, programs), libtpu, sys.executable if has_jax() else None)


def recording(build, folder):
    """Returns the detector's raw boxes of the sample video as MOT text; creates it once."""
    lines, text = folder / "stream.jsonl", folder / "stream.mot.txt"
    if not text.exists():
        subprocess.run([ROOT / "pipelines/record.sh", "--output", lines], check=True,
                       stdout=subprocess.DEVNULL)
        env = os.environ | {"GST_PLUGIN_PATH_1_0": str(build / "gst"),
                            "GST_REGISTRY": str(folder / "stream.registry")}
        count = sum(1 for _ in open(lines, encoding="utf-8"))
        subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", f"num-buffers={count}", "!",
                        "video/x-raw,width=768,height=576,framerate=10/1", "!", "boxreplay",
                        "match=index", f"location={lines}", "!", "boxrecord", "format=mot",
                        f"location={text}", "!", "fakesink"], check=True, env=env)
    return text


def stream(build, folder):
    """Returns the output of bench-xla: at full speed with --strict, and at 25 frames a
    second; or None without a plugin."""
    if not os.environ.get("NMS_XLA_PLUGIN"):
        return None
    text = recording(build, folder)
    said = []
    for way in ["--strict"], ["--fps", "25"]:
        with open(text, encoding="utf-8") as file:
            done = subprocess.run([build / "tests/bench/bench-xla", *way], stdin=file, check=True,
                                  stdout=subprocess.PIPE, text=True)
        said += [" ".join(["bench-xla", *way])] + done.stdout.splitlines() + [""]
    return said
