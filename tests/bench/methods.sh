#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# methods: compares the methods of nmscore with other libraries (methods.py), in a Python
# environment with them (a download of some hundred megabytes, once).
set -euo pipefail

usage='usage: tests/bench/methods.sh [--agree]
       tests/bench/methods.sh --install
       tests/bench/methods.sh --installed [--agree]

Installs the libraries and the package nmscore, and runs methods.py. --agree: compares the results
only.
--install only installs them; it exits with 77 if they cannot be downloaded.
--installed installs nothing: it uses the nmscore in PYTHONPATH, and the environment of an earlier
run or else python3; if a library is missing, it says so and exits with 77.'
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
place=${NMS_BENCH_DIR:-$root/build-bench}
venv=$place/venv-methods python=${PYTHON:-python3}
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

case ${1-} in
  -h | --help) printf '%s\n' "$usage"; exit ;;
  --installed)
    [ -x "$venv/bin/python" ] && python=$venv/bin/python
    shift
    exec "$python" "$here/methods.py" "$@" ;;
esac

mkdir -p "$place"
say () { printf '%s\n' "$*" >&2; }
if [ "${1-}" = --install ]; then unavailable=77; else unavailable=1; fi
if ! cmp -s "$here/requirements-methods.txt" "$venv/installed.txt"; then
  say "installing the libraries to compare with (log: $place/pip.log)"
  "$python" -m venv "$venv"
  # shellcheck disable=SC2086 # arguments, several
  "$venv/bin/python" -m pip install ${NMS_BENCH_PIP:-} -r "$here/requirements-methods.txt" \
    >>"$place/pip.log" 2>&1 || { tail -n 5 "$place/pip.log" >&2; exit "$unavailable"; }
  cp "$here/requirements-methods.txt" "$venv/installed.txt"
fi
[ "${1-}" != --install ] || exit 0
say "building (log: $place/pip.log)"
"$venv/bin/python" -m pip install --force-reinstall --no-deps "$root" >>"$place/pip.log" 2>&1 ||
  { tail -n 20 "$place/pip.log" >&2; exit 1; }
exec "$venv/bin/python" "$here/methods.py" "$@"
