#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# coverage [SECONDS]: runs each fuzzer for SECONDS (60) with sanitizers, adds to its corpus what
# reaches new code, and prints how many boxes it checked and which part of the lines of the files
# that it is for its corpus executes. 0: only prints the lines. Programs of LLVM: NMS_LLVM (-14 on
# Debian 12) is appended to the names llvm-cov and llvm-profdata.
. "$(dirname "$0")/../../pipelines/common.sh"

LLVM=${NMS_LLVM--14}
SECONDS_EACH=${1:-60}
MOST_BYTES=200000 # of a corpus
FOUND=$NMS_BUILD_DIR/coverage-found
FUZZ=$NMS_ROOT/tests/fuzz
HASHED='.*/[0-9a-f]{40}' # inputs of libFuzzer; others were chosen by a person and are kept

# The files that a fuzzer is for.
files_of ()
{
  cd "$NMS_ROOT" || return
  case $1 in
    core) find nmscore -name '*.c' ! -path 'nmscore/simd/*' ;;
    meta) ls gst/meta/*.c gst/nmsfilter/*.c gst/transform/*.c ;;
    jsonl) ls gst/records/jsonl*.cc gst/records/recordedframe.c ;;
    mot) ls gst/records/mottext.c gst/records/linereader.c ;;
    python) find python/nmscore -name '*.c' ! -name 'pylazy*' ! -name 'xla*' ! -name pystablehlo.c ;;
  esac
}

# Reads the summary of llvm-cov export, and prints how many lines of the named files are covered.
count_lines='
import json, os, sys
wanted = {os.path.abspath(name) for name in sys.argv[1:]}
lines = [f["summary"]["lines"] for f in json.load(sys.stdin)["data"][0]["files"]
         if os.path.realpath(f["filename"]) in wanted]
count, covered = (sum(line[key] for line in lines) for key in ("count", "covered"))
print(f"{covered:,} of {count:,} lines ({100 * covered / count:.0f} %)")'

# Prints the line of a fuzzer: name, boxes, covered lines, inputs.
report ()
{
  local name=$1 boxes=$2 profile=$3 object=$4 inputs=$5 total
  "llvm-profdata$LLVM" merge -o "$profile.merged" "$profile"
  # shellcheck disable=SC2046
  total=$("llvm-cov$LLVM" export -summary-only "$object" -instr-profile="$profile.merged" |
    (cd "$NMS_ROOT" && python3 -c "$count_lines" $(files_of "$name")))
  printf '%-7s %10s boxes  %-30s %s\n' "$name" "$boxes" "$total" "$inputs"
}

# Runs a fuzzer and prints the number of its boxes. Its corpus becomes the smallest set with the
# same coverage, at most MOST_BYTES of it, the smallest files first.
run_fuzzer ()
{
  local name=$1 program=$NMS_BUILD_DIR/fuzz/tests/fuzz/fuzz-$1 merged log size=0 file
  local corpus=$FOUND/corpus-$1
  log=$FOUND/$name.log merged=$FOUND/merged-$name
  rm -rf "$merged"
  mkdir -p "$FOUND/$name" "$merged"
  "$program" -max_total_time="$SECONDS_EACH" -max_len=4096 -timeout=60 -rss_limit_mb=4096 \
    -artifact_prefix="$FOUND/$name-" "$FOUND/$name" "$corpus" 2>"$log" ||
    die "fuzz-$name found a fault: $log"
  find "$corpus" -type f -regextype egrep ! -regex "$HASHED" -exec cp -t "$merged" {} +
  "$program" -set_cover_merge=1 -max_len=4096 "$merged" "$corpus" "$FOUND/$name" 2>/dev/null
  find "$corpus" -type f -regextype egrep -regex "$HASHED" -delete
  while read -r file; do
    size=$((size + $(stat -c %s "$merged/$file")))
    [ $size -le $MOST_BYTES ] || break
    cp "$merged/$file" "$corpus/"
  done < <(ls -Sr "$merged" | grep -xE '[0-9a-f]{40}')
  "$FUZZ/corpus.sh" pack "$corpus" "$FUZZ/corpus-$name.tar.gz"
  awk '/ boxes$/ { print $1 }' "$log"
}

measure ()
{
  local name=$1 boxes=0 dir=$NMS_BUILD_DIR/coverage corpus=$FOUND/corpus-$1
  "$FUZZ/corpus.sh" unpack "$FUZZ/corpus-$name.tar.gz" "$corpus"
  [ "$SECONDS_EACH" = 0 ] || boxes=$(run_fuzzer "$name")
  LLVM_PROFILE_FILE=$FOUND/$name.profile "$dir/tests/fuzz/fuzz-$name" "$corpus" >/dev/null 2>&1
  report "$name" "$boxes" "$FOUND/$name.profile" "$dir/tests/fuzz/fuzz-$name" \
    "$(find "$corpus" -type f | wc -l) inputs"
}

measure_python ()
{
  local dir=$NMS_BUILD_DIR/coverage printed
  printed=$(LLVM_PROFILE_FILE=$FOUND/python.profile PYTHONPATH=$dir/python python3 \
    "$NMS_ROOT/tests/python/fuzz-python.py" --seconds "$SECONDS_EACH")
  report python "$(sed 's/.*, \([0-9]*\) boxes/\1/' <<<"$printed")" "$FOUND/python.profile" \
    "$(ls "$dir"/python/nmscore/_nmscore.*.so)" "${printed%%,*}"
}

mkdir -p "$FOUND"
export LLVM_PROFILE_FILE=$FOUND/other.profile  # of programs that the builds run
export CC=clang CXX=clang++
# (the options of stage fuzz of tests/run.sh, so that neither builds the other's folder again)
sanitized="-fno-sanitize-recover=all -g1"
NMS_TARGET=fuzz-programs nms_build fuzz --buildtype=debugoptimized -Db_sanitize=address,undefined \
  -Db_lundef=false -Dc_args="$sanitized" -Dcpp_args="$sanitized" \
  -Dfuzzers=true -Dtests=enabled -Drecords=enabled -Doverlay=disabled
counters='-fprofile-instr-generate -fcoverage-mapping'
for target in fuzz-programs python-package; do
  NMS_TARGET=$target nms_build coverage --buildtype=debugoptimized -Dc_args="$counters" \
    -Dcpp_args="$counters" -Dc_link_args=-fprofile-instr-generate \
    -Dcpp_link_args=-fprofile-instr-generate -Dtests=enabled -Drecords=enabled \
    -Doverlay=disabled -Dpython=enabled
done
for name in core meta jsonl mot; do measure "$name"; done
measure_python
