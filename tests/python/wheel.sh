#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# wheel: what would be uploaded to PyPI.
usage ()
{
  cat <<END
usage: tests/python/wheel.sh

Builds the sdist of the Python package from a copy of the checkout, and the wheel from the sdist.
Checks both with twine, auditwheel (which gives the wheel its manylinux tag) and abi3audit. Installs
them in an environment of each Python 3.9 to 3.13 that PATH or PYENV_ROOT has, runs three test
programs there, and names the versions that are missing. Python 3.9 and 3.10 build the sdist, because
the wheel is for 3.11 and later. Exits with 77 if the programs cannot be downloaded from PyPI.
NMS_BUILD_DIR/wheel keeps the results (NMS_BUILD_DIR: default build/ in the checkout).
END
}

. "$(dirname "$0")/../../pipelines/common.sh"
. "$NMS_ROOT/tests/env/system.sh"

[ $# = 0 ] || { usage; exit; }
requirements="$NMS_ROOT/tests/python/requirements-wheel.txt"
nms_build_dir
folder=$(cd "$NMS_BUILD_DIR" && pwd)/wheel
tools=$folder/tools/bin
mkdir -p "$folder"

pip () { "$1" -m pip --disable-pip-version-check "${@:2}" --quiet --retries 2; }

install_tools ()
{
  cmp -s "$requirements" "$folder/installed.txt" && return
  python3 -m venv "$folder/tools" && pip "$tools/python" install -r "$requirements" ||
    { say "the programs cannot be downloaded from PyPI"; exit 77; }
  cp "$requirements" "$folder/installed.txt"
}

# The sdist holds what git has committed, so the copy is a repository of its own.
build_both ()
{
  local copy
  nms_temporary copy "$folder/checkout.XXXXXX"
  system_copy_checkout "$copy"
  git -C "$copy" init -q
  git -C "$copy" add -A
  git -C "$copy" -c user.name=test -c user.email=test@localhost commit -q -m sdist
  rm -rf "$folder/dist" "$folder/repaired"
  PATH="$tools:$PATH" "$tools/python" -m build --outdir "$folder/dist" "$copy" \
    >"$folder/build.log" 2>&1 || { tail -n 40 "$folder/build.log"; die "the build failed"; }
}

check_both ()
{
  "$tools/twine" check --strict "$folder"/dist/* || die "twine found a fault"
  PATH="$tools:$PATH" "$tools/auditwheel" repair -w "$folder/repaired" "$folder"/dist/*.whl \
    >"$folder/auditwheel.log" 2>&1 || { cat "$folder/auditwheel.log"; die "auditwheel failed"; }
  sdist=$(echo "$folder"/dist/*.tar.gz) wheel=$(echo "$folder"/repaired/*.whl)
  [[ $wheel == */nmscore-*-cp311-abi3-manylinux_2_*.whl ]] || die "unexpected tag: ${wheel##*/}"
  "$tools/abi3audit" --strict "$wheel" || die "symbols beyond the limited API of Python 3.11"
  say "${wheel##*/}, ${sdist##*/}"
}

# Prints the interpreter of Python $1.
find_python ()
{
  local python
  for python in "$(command -v "python$1")" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python
  do
    [ -x "$python" ] && "$python" -c 'import venv, ensurepip' 2>/dev/null || continue
    printf '%s\n' "$python"
    return
  done
  return 1
}

# Checks the package that is installed in the environment $1.
check_installed ()
{
  local place=$1 test
  cd "$place" # (not the checkout, whose folder python/ has no compiled module)
  "$place/bin/python" -c 'import importlib.metadata as m, os, nmscore
assert m.version("nmscore") == nmscore.__version__
assert os.path.exists(os.path.join(os.path.dirname(nmscore.__file__), "py.typed"))
assert nmscore.nms([[0, 0, 10, 10], [1, 1, 11, 11], [50, 50, 60, 60]], [0.8, 0.9, 0.7],
                   0.5).tolist() == [1, 2]' || return 1
  for test in test-package test-frames fuzz-python; do
    PYTHONPATH="$NMS_ROOT/tests/python" "$place/bin/python" "$NMS_ROOT/tests/python/$test.py" \
      >"$place/log" 2>&1 || { tail -n 20 "$place/log"; return 1; }
  done
}

# Checks that mypy finds the types of the package that is installed in the environment $1.
check_typed ()
{
  printf '%s\n' 'import nmscore' 'nmscore.nms([[0, 0, 1, 1]], [0.5], 0.5).tolist()' >"$1/user.py"
  "$tools/mypy" --strict --cache-dir "$folder/mypy" --python-executable "$1/bin/python" "$1/user.py"
}

check_python ()
{
  local python place from=$wheel
  python=$(find_python "$1") || { say "SKIP Python $1: not found"; return; }
  case $1 in 3.9 | 3.10) from=$sdist ;; esac
  nms_temporary place "$folder/python-$1.XXXXXX"
  "$python" -m venv "$place"
  pip "$place/bin/python" install "$from" ||
    die "${from##*/} cannot be installed in Python $1"
  (check_installed "$place") || die "the package fails in Python $1"
  [ "$from" = "$sdist" ] || check_typed "$place" || die "mypy found faults in Python $1"
  say "Python $1: ${from##*/}"
}

install_tools
build_both
check_both
for version in 3.9 3.10 3.11 3.12 3.13; do
  check_python "$version"
done
