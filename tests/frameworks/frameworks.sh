#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# frameworks: runs a test in a Python environment with the libraries of requirements.txt.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
usage='usage: tests/frameworks/frameworks.sh --install FOLDER [REQUIREMENT...]
       tests/frameworks/frameworks.sh TEST.py [ARGUMENT...]

--install makes the environment in FOLDER (a download of some hundred megabytes, once), with the
libraries of requirements.txt or with those named; it exits with 77 if they cannot be downloaded.
Without it, runs TEST.py in the environment that NMS_TEST_FRAMEWORKS names, or exits with 77 if that
is not set.'
requirements="$here/requirements.txt" alone="$here/requirements-alone.txt"

case ${1-} in
  '' | -h | --help) printf '%s\n' "$usage"; exit ;;
  --install) folder=${2:?$usage} ;;
  *)
    [ -n "${NMS_TEST_FRAMEWORKS-}" ] ||
      { printf 'NMS_TEST_FRAMEWORKS names no environment (frameworks.sh --install)\n'; exit 77; }
    # (tests run at the same time, and libtpu lets only one process open it otherwise)
    ALLOW_MULTIPLE_LIBTPU_LOAD=1 exec "$NMS_TEST_FRAMEWORKS/bin/python" "$@" ;;
esac

shift 2
wanted () { if [ $# -gt 0 ]; then printf '%s\n' "$@"; else cat "$requirements" "$alone"; fi; }
pip () { "$folder/bin/python" -m pip --disable-pip-version-check "$@" --quiet --retries 2; }
install ()
{
  if [ $# -gt 0 ]; then
    pip install "$@"
  else
    pip install -r "$requirements" && pip install --no-deps -r "$alone"
  fi
}

wanted "$@" | cmp -s - "$folder/installed.txt" && exit
mkdir -p "$folder"
python3 -m venv "$folder"
if ! install "$@"; then
  printf 'cannot install the libraries from PyPI\n'
  exit 77
fi
wanted "$@" >"$folder/installed.txt"
