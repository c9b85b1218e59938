#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# versions: what nmsfilter costs a buffer with each version of GStreamer, here and
# in the newer Debians of tests/env/debian.sh, in one table.
usage ()
{
  cat <<END
usage: tests/bench/versions.sh [--rounds N] [--quick] [here] [trixie] [sid]

Builds the plugin (release) and bench-elements here and in the folders of
tests/env/debian.sh, which are made where they are missing (root, debootstrap), and runs
the parts filter and analytics N times (5) in each, one place after the other in
each round. Prints a table in Markdown: the median of the rounds' medians in us a
buffer, and in brackets the least and the greatest of them. Without a name of a
place: all three. On a quiet machine; NMS_BENCH_CPU (the last one) is the
processor to run on.
END
}

. "$(dirname "$0")/../../pipelines/common.sh"

rounds=5 quick='' places=''
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --rounds) rounds=${2:?}; shift ;;
    --quick) quick=--quick ;;
    here | trixie | sid) places="$places $1" ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
places=${places:- here trixie sid}
cpu=${NMS_BENCH_CPU:-$(($(nproc) - 1))}

nms_build_dir
NMS_BUILD_DIR=$(cd "$NMS_BUILD_DIR" && pwd)
export NMS_BUILD_DIR

# Runs the command in that system, in the checkout.
at ()
{
  local place=$1
  shift
  if [ "$place" = here ]; then "$@"; else "$NMS_ROOT/tests/env/debian.sh" "$place" "$@"; fi
}

for place in $places; do
  # shellcheck disable=SC2016
  at "$place" bash -c 'cd "$1" && . pipelines/common.sh && nms_build "$2-bench" --buildtype=release &&
    { gst-launch-1.0 --gst-version; cc -dumpfullversion; } >"$NMS_BUILD_DIR/$2-bench/versions"' \
    bash "$NMS_ROOT" "$place" >&2
  rm -f "$NMS_BUILD_DIR/$place-bench"/elements.*.json
done
for round in $(seq "$rounds"); do
  for place in $places; do
    dir=$NMS_BUILD_DIR/$place-bench
    say "round $round: $place" >&2
    at "$place" env GST_PLUGIN_PATH="$dir/gst" GST_REGISTRY="$dir/elements.registry" \
      taskset -c "$cpu" "$dir/tests/bench/bench-elements" --json $quick filter analytics \
      >"$dir/elements.$round.json"
  done
done
# shellcheck disable=SC2086
exec python3 "$NMS_ROOT/tests/bench/versions.py" "$NMS_BUILD_DIR" $places
