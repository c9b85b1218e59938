#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# run: compares gst-nms with other implementations of NMS, in one command: see README.md.
usage ()
{
  cat <<END
usage: tests/bench/run.sh [OPTIONS]
       tests/bench/run.sh --methods [--agree]
       tests/bench/run.sh --install
       tests/bench/run.sh --installed [--agree]

The first form times NMS of boxes and writes report.md, results.json and time.png into
output-bench/:

  --only ROWS   workloads, comma-separated, wildcards allowed: a,b2,1M*
  --quick       no more than 8,400 boxes, few calls

--methods compares the methods with those of other libraries, and --agree their results only.
--install only installs the libraries; it exits with 77 if they cannot be downloaded. --installed
is --methods with the nmscore in PYTHONPATH and the environment of an earlier run or else python3;
it exits with 77 if a library is missing.

Environment: NMS_ISA (forces our instruction set), NMS_XLA_PLUGIN, NMS_BENCH_CHECKOUT (a checkout
of NMS-Bench), and the variables of pip, such as PIP_INDEX_URL.
END
}

. "$(dirname "$0")/../../pipelines/common.sh"
here=$NMS_ROOT/tests/bench place=$NMS_BUILD_DIR/bench program=run.py
venv=$place/venv
# One thread for each thread pool, because a process has one core only.
export {OMP,OPENBLAS,MKL,NUMBA,RAYON}_NUM_THREADS=1
export XLA_FLAGS=--xla_cpu_multi_thread_eigen=false TF_CPP_MIN_LOG_LEVEL=3

case ${1-} in
  -h | --help) usage; exit ;;
  --methods) program=methods.py; shift ;;
  --installed)
    python=$venv/bin/python
    [ -x "$python" ] || python=python3
    "$python" -c 'import cv2, ensemble_boxes, nmscore._nmscore, sahi, supervision' 2>/dev/null ||
      { say "a library is missing: tests/bench/run.sh --install installs all"; exit 77; }
    exec "$python" "$here/methods.py" "${@:2}"
    ;;
esac

mkdir -p "$place"

# The environment: once, and again when the list of packages changed.
if ! cmp -s "$here/requirements.txt" "$venv/installed.txt"; then
  say "installing the systems to compare with (log: $place/pip.log)" >&2
  python3 -m venv "$venv"
  "$venv/bin/python" -m pip install -r "$here/requirements.txt" >>"$place/pip.log" 2>&1 ||
    { tail -n 5 "$place/pip.log" >&2; exit 77; }
  cp "$here/requirements.txt" "$venv/installed.txt"
fi
[ "${1-}" != --install ] || exit 0

# XLA's plugin for the CPU, for engine xla.
if [ -z "${NMS_XLA_PLUGIN:-}" ]; then
  NMS_XLA_PLUGIN=$("$NMS_ROOT/tools/fetch-xla.sh" "$NMS_BUILD_DIR/xla" 2>>"$place/pip.log") ||
    say "engine xla is left out: its plugin cannot be had (log: $place/pip.log)" >&2
  export NMS_XLA_PLUGIN
fi

# The methods of a checkout of NMS-Bench, with the flags of its Makefile.
if [ -n "${NMS_BENCH_CHECKOUT:-}" ]; then
  export NMS_BENCH_LIBRARY=$place/nmsbench.so
  # shellcheck disable=SC2086 # a program and its arguments, such as ccache g++
  ${CXX:-c++} -std=c++17 -ffast-math -funroll-loops -O3 -fPIC -shared -o "$NMS_BENCH_LIBRARY" \
    -I "$NMS_BENCH_CHECKOUT/src" "$here/nmsbench.cc"
fi

NMS_TARGET="tests/bench/benchcore.so python-package" \
  nms_build bench/release --buildtype=release -Dtests=enabled -Dpython=enabled >&2
export NMS_BENCH_CORE=$place/release/tests/bench/benchcore.so PYTHONPATH=$place/release/python
exec "$venv/bin/python" "$here/$program" "$@"
