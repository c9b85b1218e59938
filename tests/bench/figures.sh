#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# figures: measures every figure of README.md and docs/, in one command.
usage ()
{
  cat <<END
usage: tests/bench/figures.sh [--list] [NAME...]

Measures the figures of README.md and docs/ on this commit, those named or all, which takes about
an hour on an idle machine and downloads gigabytes once (as root, because elements makes
Debian 13 with debootstrap). Each NAME prints into output-bench/figures/NAME.txt, whose first line
names the commit and the load. Ends with an error if one fails, after the others.

$FIGURES
END
}

# name, the pages that have its figures
FIGURES='rivals README.md docs/speed.md
methods docs/speed.md
gpu README.md docs/speed.md
elements docs/nms-filter.md docs/speed.md
hostile docs/methods.md docs/speed.md
cycles DESIGN.md docs/speed.md
ultralytics docs/frameworks.md
people README.md docs/boxmerge.md
tile-scales docs/tiledetect.md
steady docs/boxsteady.md'

case ${1-} in
  --list) printf '%s\n' "$FIGURES"; exit ;;
  -h | --help) usage; exit ;;
esac

. "$(dirname "$0")/../../pipelines/common.sh"

PATH=/usr/bin:/bin:$PATH # Python: the one that the packages belong to
bench=$NMS_ROOT/tests/bench
output=$NMS_ROOT/output-bench/figures
build=$NMS_BUILD_DIR/release

rivals () { "$bench/run.sh"; }
methods () { "$bench/run.sh" --methods; }

gpu ()
{
  if [ -e /dev/nvidia0 ]; then python3 "$bench/gpu.py"; else echo "no NVIDIA GPU is here"; fi
}

# (here, and those of nmsfilter also in Debian 13, whose GStreamer has GstAnalytics)
elements ()
{
  GST_PLUGIN_PATH=$build/gst python3 "$bench/elementspeed.py" \
    --nms-filter "$build/gst/command/nms-filter" &&
    "$NMS_ROOT/tests/env/debian.sh" trixie bash -c '. "$1/pipelines/common.sh" &&
      nms_build trixie-release --buildtype=release -Dtests=enabled >&2 &&
      GST_PLUGIN_PATH=$2/gst python3 "$1/tests/bench/elementspeed.py" nmsfilter' \
      - "$NMS_ROOT" "$NMS_BUILD_DIR/trixie-release"
}

hostile ()
{
  python3 "$bench/hostile.py" --outputs --kind random &&
    python3 "$bench/hostile.py" --boxes 1000,10000,100000 &&
    python3 "$bench/hostile.py" --regret 1000
}

cycles ()
{
  local libtpu
  libtpu=$("$NMS_ROOT/tools/fetch-xla.sh" "$NMS_BUILD_DIR/xla" tpu) || return
  python3 "$bench/cycles.py" "$build/tests/tpu/tpuprint" "$build/tests/tpu/xlatext" "$libtpu"
}

# (by the Python that has Debian's torch)
ultralytics ()
{
  local environment=$NMS_BUILD_DIR/frameworks
  "$NMS_ROOT/tests/frameworks/frameworks.sh" --install "$environment" >&2 &&
    NMS_TEST_FRAMEWORKS=$environment python3 "$NMS_ROOT/tests/frameworks/test-ultralytics.py" --times
}

tile-scales () { NMS_PLUGIN_DIR=$build/gst "$NMS_ROOT/pipelines/people/scales.sh"; }
people () { NMS_PLUGIN_DIR=$build/gst "$NMS_ROOT/pipelines/small-people.sh"; }

# (measures SORT too if the package trackers is there)
steady ()
(
  NMS_PLUGIN_DIR=$build/gst
  . "$NMS_ROOT/pipelines/env.sh" &&
    gst-launch-1.0 -q filesrc "$(nms_set location "$(nms_sample_video)")" ! decodebin \
      ! videoconvert ! video/x-raw,format=RGB ! hogdetect scale=1.4 \
      ! nmsfilter iou-threshold=0.3 score-threshold=0.7 \
      ! boxrecord "$(nms_set location "$output/steady.jsonl")" ! fakesink >&2 &&
    python3 "$bench/steady.py" "$output/steady.jsonl"
)

load () { cut -d' ' -f1 /proc/loadavg; }

# measure NAME: writes the figures of NAME, and returns whether they could be measured.
measure ()
{
  local name=$1 rc=0
  say "measuring $name"
  {
    printf 'commit %s, %s, load %s\n\n' "$(git -C "$NMS_ROOT" describe --always --dirty)" \
      "$(date -u +%F)" "$(load)"
    "$name" || rc=$?
    printf '\nload %s afterwards\n' "$(load)"
  } >"$output/$name.txt" 2>"$output/$name.log" </dev/null
  [ $rc = 0 ] || say "  failed: $(tail -n 1 "$output/$name.log") ($output/$name.log)"
  return $rc
}

names=("$@") failed=0
[ ${#names[@]} -gt 0 ] || mapfile -t names < <(cut -d' ' -f1 <<<"$FIGURES")
for name in "${names[@]}"; do
  grep -q "^$name " <<<"$FIGURES" || die "no figures are named $name (--list)"
done
mkdir -p "$output"
nms_build release --buildtype=release -Dtests=enabled -Drecords=enabled -Doverlay=enabled \
  -Dpython=enabled
export PYTHONPATH=$build/python:$NMS_ROOT/tests/python
for name in "${names[@]}"; do
  measure "$name" || failed=$((failed + 1))
done
say "${#names[@]} measured, $failed failed: $output"
[ $failed = 0 ]
