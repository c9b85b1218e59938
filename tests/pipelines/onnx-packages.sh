#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# onnx-packages: installs what test-onnxdetect.sh needs from PyPI into a folder.
set -euo pipefail
folder=${1:?usage: tests/pipelines/onnx-packages.sh FOLDER}

# onnxruntime runs models and onnx makes them. nudenet contains a model, a YOLOv8. numpy is below 2
# because Debian's python3-opencv is compiled for numpy 1.
packages="onnxruntime==1.32.0 onnx==1.23.2 numpy<2" alone=nudenet==3.4.2
[ "$(cat "$folder/installed.txt" 2>/dev/null)" != "$packages $alone" ] || exit 0
rm -rf "$folder"
pip () { /usr/bin/python3 -m pip --disable-pip-version-check --quiet --retries 2 "$@"; }
# shellcheck disable=SC2086
if ! { pip install --target "$folder" $packages &&
  pip install --target "$folder" --no-deps "$alone"; }; then
  printf 'cannot install the packages from PyPI\n'
  exit 77
fi
printf '%s\n' "$packages $alone" >"$folder/installed.txt"
