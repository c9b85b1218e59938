#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# build.sh BUILD PYTHON HEADER...: makes the documentation site in BUILD/site/html from the build
# folder BUILD, which has the plugin and the Python package, and from the public headers. A warning
# is an error. With NMS_SITE_BUILDER=linkcheck it checks the links to other sites instead.
set -euo pipefail

NMS_ROOT=$(cd "$(dirname "$0")/../.." && pwd)
build=$1 python=$2 site=$1/site source=$1/site/source
shift 2
export NMS_ROOT NMS_DOXYGEN=$site/doxygen/xml
export GST_PLUGIN_PATH_1_0=$build/gst GST_PLUGIN_SYSTEM_PATH_1_0= GST_REGISTRY=$site/registry.bin
export PYTHONPATH=$build/python

# The pages stay where they are in the repository, so their links to each other hold.
rm -rf "$source" "$site/${NMS_SITE_BUILDER:-html}"
mkdir -p "$source/reference/c" "$site/doxygen"
# (but not the folder that contains BUILD, because Sphinx follows links, and it may be large)
for entry in "$NMS_ROOT"/[!.]*; do
  [[ $build/ == "$entry"/* ]] || [ -d "$entry/meson-info" ] || ln -s "$entry" "$source/"
done
cp "$NMS_ROOT/docs/site/python.rst" "$source/reference/"
"$python" "$NMS_ROOT/docs/site/elementpages.py" "$NMS_ROOT/gst" "$source/reference/elements"
for header; do
  name=${header##*/}
  printf '%s\n%s\n\n.. doxygenfile:: %s\n' "$name" "${name//?/=}" "$name" \
    >"$source/reference/c/${name%.h}.rst"
done

{
  cat "$NMS_ROOT/docs/site/Doxyfile"
  printf 'INPUT_FILTER = "%s %s"\n' "$python" "$NMS_ROOT/docs/site/headerfilter.py"
  printf 'OUTPUT_DIRECTORY = "%s"\nINPUT =' "$site/doxygen"
  printf ' "%s"' "$@"
} >"$site/Doxyfile"
doxygen "$site/Doxyfile"

"$python" -m sphinx -q -E -W --keep-going -j auto -b "${NMS_SITE_BUILDER:-html}" \
  -d "$site/doctrees" -c "$NMS_ROOT/docs/site" "$source" "$site/${NMS_SITE_BUILDER:-html}"
[ -n "${NMS_SITE_BUILDER-}" ] || cp "$site/html/README.html" "$site/html/index.html"
