#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# run: gst-nms against other implementations of NMS, in one command. Makes a
# Python environment with them (a download of gigabytes, once), builds the
# project, measures everything, and writes tables and plots: see README.md.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
place=${NMS_BENCH_DIR:-$root/build-bench}
venv=$place/venv build=$place/build python=${PYTHON:-python3}

for argument; do
  case $argument in -h | --help) exec "$python" "$here/run.py" --help ;; esac
done

mkdir -p "$place"
say () { printf '%s\n' "$*" >&2; }

# The environment: once, and again when the list of packages changed. A package
# that cannot be had on this machine is left out; the report names it.
if ! cmp -s "$here/requirements.txt" "$venv/installed.txt"; then
  say "installing the systems to compare with (log: $place/pip.log)"
  "$python" -m venv "$venv"
  # shellcheck disable=SC2086 # arguments, several
  pip () { "$venv/bin/python" -m pip install ${NMS_BENCH_PIP:-} "$@" >>"$place/pip.log" 2>&1; }
  if ! pip -r "$here/requirements.txt"; then
    while read -r package; do
      pip "$package" || say "cannot install $package"
    done < <(grep -v '^#' "$here/requirements.txt")
  fi
  "$venv/bin/python" -c 'import matplotlib, numpy' 2>/dev/null || {
    tail -n 5 "$place/pip.log" >&2
    exit 1
  }
  cp "$here/requirements.txt" "$venv/installed.txt"
fi

# XLA's plugin for the CPU, for engine xla.
if [ -z "${NMS_XLA_PLUGIN:-}" ]; then
  NMS_XLA_PLUGIN=$("$root/tools/fetch-xla.sh" "$place/xla" 2>>"$place/pip.log") ||
    say "engine xla is left out: its plugin cannot be had (log: $place/pip.log)"
  export NMS_XLA_PLUGIN
fi

# BOE-NMS, QSI-NMS and eQSI-NMS, of a checkout of NMS-Bench, with the flags of its Makefile.
if [ -n "${NMS_BENCH_CHECKOUT:-}" ]; then
  export NMS_BENCH_LIBRARY=$place/nmsbench.so
  NMS_BENCH_COMMIT=$(git -C "$NMS_BENCH_CHECKOUT" rev-parse --short HEAD 2>/dev/null || echo unknown)
  export NMS_BENCH_COMMIT
  "${CXX:-c++}" -std=c++17 -ffast-math -funroll-loops -O3 -fPIC -shared -o "$NMS_BENCH_LIBRARY" \
    -I "$NMS_BENCH_CHECKOUT/src" "$here/nmsbench.cc"
else
  say "BOE-NMS, QSI-NMS and eQSI-NMS are left out: NMS_BENCH_CHECKOUT names no checkout of NMS-Bench"
fi

say "building (log: $place/build.log)"
{
  [ -f "$build/build.ninja" ] || meson setup --buildtype=release "$build" "$root"
  ninja -C "$build" bench
} >"$place/build.log" 2>&1 || {
  tail -n 20 "$place/build.log" >&2
  exit 1
}

# Installs the package nmscore as users do; every time, because it takes only seconds.
"$venv/bin/python" -m pip install --force-reinstall --no-deps ${NMS_BENCH_PIP:-} "$root" \
  >>"$place/pip.log" 2>&1 || say "cannot install the package nmscore (log: $place/pip.log)"

exec "$venv/bin/python" "$here/run.py" --build "$build" "$@"
