#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# run: installs the packages of the wanted stages, then builds and runs the tests in stages. The last
# line is "N passed, N failed", and ", N skipped" if tests could not run here.
#
# A stage is a function stage_NAME, a row in packages_of and a name in the lists below. A stage
# builds an environment with `build NAME meson-options` (each is built once, however
# many stages use it), and counts results with `suites`, which runs meson's
# tests, and `check`, which runs one command. To add an environment or an
# instruction set: add a stage, and give `suites` the suites it is to repeat; then
# .ci/definitions.py writes the CI definitions.
usage ()
{
  cat <<END
usage: tests/run.sh [--pr | --all | --release | STAGE...]

Installs the Debian packages of the stages that it runs and no others, and runs the tests. At the
end a table has the duration of each stage. Without an argument: the stage user, less than five
minutes on two cores after quickstart.sh, and 70 MB of packages more.

  user      what a user relies on: the suites core, gst (the elements), rules, fuzz, python and
            upstream, and the documented pipelines, on the GStreamer that is installed; without
            the packages of the rules' programs, which take over 100 MB

--pr, before a pull request: user and these, ten minutes in all:

  asan      every suite but the rules, the pipelines, what plays in real time and what is Python
            alone, address and undefined-behaviour sanitizers
  minimal   only the elements without further libraries, from the three -dev packages; their
            suites; installed into a prefix and used from there

--all, what CI runs: asan, minimal and these, half an hour and 10 GB of disk (fresh, arm, i386 and
fuzz run beside the others, and their output comes at the end):

  release   every suite but tpu, optimised build; onnxdetect with what is downloaded from PyPI;
            the documentation site
  locale    every suite but the pipelines, with a decimal comma
  leaks     the elements' suite under GStreamer's leak tracer
  xla       engine xla on a real device, that of XLA's plugin for the CPU, which
            is downloaded from PyPI (without it: skipped); in part with
            sanitizers and under the leak tracer
  clang     built by clang; core and elements' suites
  install   installed below a folder; a second build in another folder, which has to
            give the same bytes; the library's interface compared by abidiff with
            the last release's; README's commands to install, in a checkout at
            ~/gst-nms
  levels    the core suite at each instruction set below the best, which the
            others use
  tsan      many streams and threads under ThreadSanitizer, and a plugin without
            locks, which it has to find fault with
  msan      the core and its engines under MemorySanitizer, on the corpus of its fuzzer
  arm       the core for AArch64 by a cross compiler, its suite under qemu without the tests of
            failing allocations and of the seeds' flaws
  i386      the core for 32-bit x86 by a cross compiler, its suite
  fuzz      each fuzzer for NMS_FUZZ_SECONDS (5), starting from its corpus
  fresh     README's commands on a Debian 12 with nothing on it (root only)
  trixie    the suites gst, fuzz, python and upstream and the quick scripts in Debian 13
            (GStreamer 1.26), which has GstAnalytics, and the leak tracer; NMS_TRIXIE_ASAN=yes
            adds the elements' under address sanitizer, which takes a build more (root only)

--release, what a release needs besides --all, some hours:

  sid       as trixie, in Debian unstable (1.28), with the suite core, the rules, what plays in
            real time and the slow scripts (root only)
  valgrind  the core suite under valgrind
  tpu       kernels for TPUs: checked by MLIR's verifier and compiled by libtpu (both are
            downloaded from PyPI; without them: skipped)
  methods   the methods compared with the libraries that have them, which are downloaded
            from PyPI (without it: skipped)
  frameworks  the Python package in JAX and other libraries, which are downloaded from PyPI
            (without it: skipped)
  jax       nmscore.jax in the oldest versions of JAX that it supports, 0.8 and 0.9, and refused by
            0.7; downloads 250 MB; four minutes
  wheel     the sdist and the wheel of the Python package: built, checked by twine, auditwheel
            and abi3audit, installed in each Python 3.9 to 3.13 that is here; two minutes
  armhf     as arm, for 32-bit ARM, in plain C
  s390x     as arm, for s390x, whose byte order is the other one (big endian)
  i386_elements  the elements' suite on 32-bit x86, in a Debian 12 of that architecture (root only)
  packages  the Debian packages: built, checked with lintian and autopkgtest,
            upgraded from an older version and purged in a Debian 12 with nothing
            on it (root only)
  packages_trixie  as packages, in Debian 13 (root only)
  packages_sid     as packages, in Debian unstable (root only)
  mutants   the suites notice 92 % of 300 changes of the code (tests/mutants/mutants.py); hours

And, by name alone:

  cuda      the programs of engine xla, compiled ahead of time for an NVIDIA
            H200, which need not be here; downloads 135 MB, needs CUDA's ptxas

A stage that passes on a commit without other changes writes the commit to build/passed/STAGE;
tools/release.sh asks for those of --all and --release. --list prints the stages of these two and
of --pr, a line each.

NMS_BUILD_DIR names the build folder (default: build/ in the checkout).
END
}

. "$(dirname "$0")/../pipelines/common.sh"

PR_STAGES="user asan minimal"
ALL_STAGES="release locale leaks asan xla minimal clang install levels trixie tsan msan arm i386
  fuzz fresh"
RELEASE_STAGES="sid valgrind tpu methods frameworks jax wheel armhf s390x i386_elements
  packages packages_trixie packages_sid mutants"
# With --all these stages run beside the others, whose builds they do not use, because no stage keeps
# two processors busy all the time.
BESIDE_STAGES="fresh arm i386 fuzz"

# Debian packages by purpose: a build with all elements and the Python package; the elements'
# suite; what plays videos; the rules; what downloads from PyPI; a build by clang.
BUILD="$NMS_PACKAGES_MINIMAL $NMS_PACKAGES_ELEMENTS ccache python3-dev python3-numpy"
ELEMENTS="gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good
  gstreamer1.0-libav fonts-dejavu-core python3-jsonschema"
VIDEO="$NMS_PACKAGES_PIPELINES python3-jsonschema"
ONNX="gstreamer1.0-python3-plugin-loader python3-opencv opencv-doc"
RULES="clang-format g++ man-db reuse"
PYPI="python3-pip python3-venv"
CLANG="clang libclang-rt-dev llvm"

# Prints the packages of stage $1.
packages_of ()
{
  local bare="$NMS_PACKAGES_MINIMAL ccache" cross
  cross="$bare debootstrap"
  case $1 in
    user) echo "$BUILD $VIDEO" ;;
    release) echo "$BUILD $VIDEO $ONNX $RULES $PYPI $NMS_PACKAGES_TEST_CAMERA git gstreamer1.0-plugins-bad python3-torchvision
      chromium chromium-driver curl python3-selenium
      kcat mosquitto mosquitto-clients python3-paho-mqtt
      doxygen furo python3-breathe python3-myst-parser python3-sphinx" ;;
    locale) echo "$BUILD $VIDEO python3-torchvision locales" ;;
    asan) echo "$BUILD $VIDEO python3-torchvision opencv-doc" ;;
    leaks | levels | tsan | mutants) echo "$BUILD $ELEMENTS" ;;
    xla) echo "$BUILD $ELEMENTS $PYPI" ;;
    minimal) echo "$bare $ELEMENTS $RULES" ;;
    clang) echo "$BUILD $ELEMENTS $CLANG" ;;
    install) echo "$BUILD $NMS_PACKAGES_PIPELINES abigail-tools git" ;;
    valgrind) echo "$BUILD valgrind" ;;
    msan) echo "$bare $CLANG" ;;
    fuzz) echo "$BUILD $CLANG" ;;
    arm) echo "$cross qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross" ;;
    i386) echo "$cross gcc-i686-linux-gnu libc6-dev-i386-cross" ;;
    armhf) echo "$cross qemu-user gcc-arm-linux-gnueabihf libc6-dev-armhf-cross" ;;
    s390x) echo "$cross qemu-user gcc-s390x-linux-gnu libc6-dev-s390x-cross" ;;
    fresh | trixie | sid | i386_elements) echo debootstrap ;;
    packages) echo "$NMS_PACKAGES_MINIMAL $NMS_PACKAGES_ELEMENTS $NMS_PACKAGES_ANALYTICS
      libcairo2-dev libpython3-dev debootstrap autopkgtest debhelper dh-python lintian" ;;
    packages_*) echo "debootstrap autopkgtest" ;;
    tpu | cuda) echo "$BUILD $PYPI" ;;
    methods) echo "$BUILD $PYPI python3-opencv" ;;
    frameworks | jax) echo "$BUILD $VIDEO $PYPI python3-torchvision" ;;
    wheel) echo "$BUILD $PYPI git" ;;
    *) die "packages_of has no row for the stage $1" ;;
  esac
}

# the command that runs others in a newer Debian; empty: they run here (see newer_debian)
inside=()
passed=0 failed=0 skipped=0 failures=() durations=() start=$SECONDS
maker= plugins= # the processes of make_folder and fetch_plugins

# result pass|fail|skip NAME: counts one result.
result ()
{
  case $1 in
    pass) passed=$((passed + 1)) ;;
    skip) skipped=$((skipped + 1)); say "  SKIP $2" ;;
    *) failed=$((failed + 1)); failures+=("$2"); say "  FAIL $2" ;;
  esac
}

# check NAME COMMAND...: runs one test and prints its output if it fails. Status 77 means that
# it cannot run here, unless the disk was full.
check ()
{
  local name="$stage: $1" log rc=0
  shift
  log="$NMS_BUILD_DIR/check-$stage.log"
  ("$@") >"$log" 2>&1 </dev/null || rc=$?
  [ "$rc" != 77 ] || ! grep -q "No space left on device" "$log" || rc=1
  case $rc in
    0) result pass "$name" ;;
    77) result skip "$name: $(tail -n 1 "$log")" ;;
    *) result fail "$name"; tail -n 60 "$log" ;;
  esac
  [ "$rc" = 0 ]
}

# build NAME OPTIONS...: builds an environment; a failure counts as a failed test.
build ()
{
  local in_folder=()
  # shellcheck disable=SC2016
  [ ${#inside[@]} = 0 ] ||
    in_folder=("${inside[@]}" bash -c '. "$1" && shift && "$@"' - "$NMS_ROOT/pipelines/common.sh")
  ${in_folder[@]+"${in_folder[@]}"} nms_build "$@" || { result fail "$stage: build $1"; return 1; }
}

# suites NAME [meson test arguments]: runs the tests of a built environment and
# adds meson's own record of them to the counts.
suites ()
{
  local name=$1 base="run-$stage" record line
  shift
  rm -f "$NMS_BUILD_DIR/$name/meson-logs/$base"*
  ${inside[@]+"${inside[@]}"} \
    meson test -C "$NMS_BUILD_DIR/$name" --no-rebuild --setup offline --logbase "$base" \
    --print-errorlogs \
    --timeout-multiplier "${NMS_TIMEOUT_MULTIPLIER:-4}" "$@" \
    >"$NMS_BUILD_DIR/$name-$stage.log" 2>&1 </dev/null || true
  # (meson adds the name of a wrapper to the name of the file)
  record=$(find "$NMS_BUILD_DIR/$name/meson-logs" -name "$base*.json")
  if [ ! -s "$record" ]; then
    tail -n 20 "$NMS_BUILD_DIR/$name-$stage.log"
    result fail "$stage: no test ran"
    return
  fi
  while read -r line; do
    result "${line%% *}" "$stage: ${line#* }"
  done < <(python3 "$NMS_ROOT/tests/env/results.py" "$record")
  python3 "$NMS_ROOT/tests/env/results.py" --failed-logs "$record"
}

# The random calls of a suite that has run in another stage on the same code, with all of them.
FEW_ROUNDS=40

# Prints the arguments that leave out the named suites.
no_suites () { local s; for s; do printf -- '--no-suite %s ' "$s"; done; }

RELEASE="--buildtype=release -Drecords=enabled -Doverlay=enabled -Dpython=enabled"
# shellcheck disable=SC2086
build_release ()
{
  [ ${#inside[@]} -gt 0 ] || nms_opencv
  build release $RELEASE -Dtests=enabled
}

stage_user ()
{
  build_release || return 0
  suites release --suite core --suite gst --suite rules --suite fuzz --suite python \
    --suite upstream --suite documented --no-suite pip --no-suite torchvision
}

# (only this stage has the packages of the documentation)
documentation_site ()
{
  meson configure "$NMS_BUILD_DIR/release" -Ddocs=enabled &&
    meson compile -C "$NMS_BUILD_DIR/release" docs-site
}

stage_release ()
{
  build_release || return 0
  check "the documentation site" documentation_site
  check "install what onnxdetect needs" "$NMS_ROOT/tests/pipelines/onnx-packages.sh" \
    "$NMS_BUILD_DIR/onnx" && export NMS_TEST_ONNX="$NMS_BUILD_DIR/onnx"
  build_ahead >/dev/null 2>&1 &
  local ahead=$!
  suites release $(no_suites tpu methods)
  wait "$ahead" || true
  unset NMS_TEST_ONNX
}

# A preloaded library sets the locale of each program, because the programs, unlike
# applications, do not set it themselves.
stage_locale ()
{
  local dir="$NMS_BUILD_DIR/locale"
  build_release || return 0
  mkdir -p "$dir"
  [ -d "$dir/de_DE.UTF-8" ] || check "make the locale" \
    localedef -i de_DE -f UTF-8 "$dir/de_DE.UTF-8" || return 0
  check "build the preloaded library" \
    cc -shared -fPIC -o "$dir/setlocale.so" "$NMS_ROOT/tests/env/setlocale.c" || return 0
  # shellcheck disable=SC2016
  check "the comma is there" env LOCPATH="$dir" LC_ALL=de_DE.UTF-8 LD_PRELOAD="$dir/setlocale.so" \
    awk 'BEGIN { exit sprintf ("%.1f", 0.5) != "0,5" }' || return 0
  # (numbers are what this is about: messages stay in English)
  NMS_TEST_ROUNDS=$FEW_ROUNDS suites release $(no_suites pipelines rules bench tpu pip many) \
    --wrapper "env LANGUAGE=C LOCPATH='$dir' LC_ALL=de_DE.UTF-8 LD_PRELOAD='$dir/setlocale.so'"
}

# The tracer writes a warning for each object that was not freed, and fatal-warnings turns the
# warning into a failure. A program that leaks on purpose checks this.
stage_leaks ()
{
  local canary="$NMS_BUILD_DIR/leak-canary"
  build_release || return 0
  export G_DEBUG=fatal-warnings GST_TRACERS=leaks
  # shellcheck disable=SC2046
  check "build the program that leaks" cc -o "$canary" "$NMS_ROOT/tests/env/leak-canary.c" \
    $(pkg-config --cflags --libs gstreamer-1.0) || return 0
  check "a clean program passes" "$canary"
  check "a leak is caught" bash -c '! "$@"' canary "$canary" leak
  suites release --suite gst
  unset G_DEBUG GST_TRACERS
}

# (with lines, but no variables for a debugger, which take a quarter of the compiler's time)
SANITIZED="-fno-sanitize-recover=all -g1"
# The options of a build with sanitizers, and the variables of its suites.
ASAN_BUILD=(--buildtype=debugoptimized "-Db_sanitize=address,undefined" -Db_lundef=false
  "-Dc_args=$SANITIZED" "-Dcpp_args=$SANITIZED")
ASAN_VARIABLES=("GST_PLUGIN_SCANNER_1_0=$NMS_ROOT/tests/env/scanner.sh"
  "LSAN_OPTIONS=suppressions='$NMS_ROOT/tests/env/lsan.supp':print_suppressions=0"
  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1)
ASAN_STRICT=ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1
# Exact stacks show who called GLib, which is built without frame pointers. With them what draws text
# takes ten times as long.
ASAN_EXACT=$ASAN_STRICT:fast_unwind_on_malloc=0:malloc_context_size=10

build_asan ()
{
  build asan "${ASAN_BUILD[@]}" -Dtests=enabled -Drecords=enabled -Doverlay=enabled \
    -Dpython=enabled
}

# Gives the suites that follow the variables of sanitizers and "$@"; `inside=()` ends this.
use_asan ()
{
  local preload
  preload=$(${inside[@]+"${inside[@]}"} cc -print-file-name=libasan.so)
  inside+=(env "${ASAN_VARIABLES[@]}" "NMS_SCANNER_PRELOAD=$preload" "$@")
}

stage_asan ()
{
  build_asan || return 0
  use_asan "$ASAN_STRICT" NMS_TEST_ROUNDS=400
  suites asan $(no_suites rules bench tpu live pipelines python-alone)
  inside=()
}

# fetch_plugin cpu|tpu|cuda: downloads a plugin of XLA, which `fetch_plugins` may have begun.
fetch_plugin ()
{
  wait "$plugins" || true
  check "fetch XLA's plugin: $1" "$NMS_ROOT/tools/fetch-xla.sh" "$NMS_BUILD_DIR/xla" "$1"
}

# test-xla, which takes longest, runs with sanitizers only.
stage_xla ()
{
  build_release && fetch_plugin cpu || return 0
  export NMS_TEST_XLA_PLUGIN="$NMS_BUILD_DIR/xla/xla_cpu_pjrt.so"
  suites release --suite xla --no-suite sanitized
  stage=xla-leaks
  G_DEBUG=fatal-warnings GST_TRACERS=leaks suites release --suite xla nmsfilter-xla-device
  stage=xla
  if build_asan; then
    stage=xla-asan
    use_asan NMS_TEST_ROUNDS=150
    suites asan --suite xla test-xla nmsfilter-xla-device xla-conformance
    inside=() stage=xla
  fi
  unset NMS_TEST_XLA_PLUGIN
}

# Runs only by name, because of the size of the download and because Debian has no package of
# CUDA's toolkit that fits.
stage_cuda ()
{
  build_release || return 0
  check "ptxas is there" ptxas --version && fetch_plugin cuda || return 0
  NMS_TEST_XLA_CUDA="$NMS_BUILD_DIR/xla/xla_cuda_plugin.so" suites release --suite cuda
}

# Runs only by name, because of its time.
stage_wheel ()
{
  local line
  check "sdist and wheel" "$NMS_ROOT/tests/python/wheel.sh" || return 0
  while read -r line; do
    result skip "wheel: $line"
  done < <(sed -n 's/^SKIP //p' "$NMS_BUILD_DIR/check-$stage.log")
}

stage_minimal ()
{
  local dir="$NMS_BUILD_DIR/minimal" prefix="$NMS_BUILD_DIR/prefix" lib
  build minimal --buildtype=release --prefix="$prefix" -Dtests=enabled \
    -Drecords=disabled -Doverlay=disabled -Dpython=disabled || return 0
  check "meson says what is left out" bash -c 'grep -E "boxreplay, boxrecord.*NO" "$1" &&
    grep -E "boxoverlay.*NO" "$1"' - "$dir/meson-logs/meson-log.txt"
  NMS_TEST_ROUNDS=$FEW_ROUNDS suites minimal --suite core --suite gst --suite rules --no-suite many
  rm -rf "$prefix"
  check "install into a prefix" meson install -C "$dir" --no-rebuild || return 0
  lib=$(dirname "$(find "$prefix" -name libgstnms.so | head -n 1)")
  check "the prefix's plugin has the elements without libraries" installed_elements "$lib" \
    boxmerge boxselect boxsteady boxtransform nmsfilter tiledetect
}

build_clang ()
{
  CC=clang CXX=clang++ build clang --buildtype=release -Dtests=enabled -Drecords=enabled \
    -Doverlay=enabled --werror
}

stage_clang ()
{
  build_clang || return 0
  NMS_TEST_ROUNDS=$FEW_ROUNDS suites clang \
    $(no_suites pipelines rules bench tpu pip upstream torchvision many)
}

# Checks that the plugin in folder $1 has exactly the elements $2 ..., in order.
installed_elements ()
{
  local dir=$1 found
  shift
  found=$(GST_PLUGIN_PATH_1_0=$dir GST_REGISTRY=$(mktemp -u) gst-inspect-1.0 nms |
    sed -nE 's/^  (box[a-z]+|nms[a-z]+|tile[a-z]+): .*/\1/p' | sort | tr '\n' ' ')
  printf 'found: %s\n' "$found"
  [ "$found" = "$* " ]
}

stage_install ()
{
  local dest
  build_release || return 0
  dest=$(mktemp -d)
  check "install below a folder" meson install -C "$NMS_BUILD_DIR/release" --no-rebuild \
    --destdir "$dest" || return 0
  # (hogdetect is not installed)
  # shellcheck disable=SC2086
  check "a second build has the same bytes" "$NMS_ROOT/tests/env/reproducible.sh" "$dest" $RELEASE \
    -Dtests=disabled -Dhogdetect=disabled
  # shellcheck disable=SC2016
  check "nms-xla-probe is installed" bash -c '"$(find "$1" -name nms-xla-probe)" /no/such |
    grep -q "^error cannot load the plugin"' - "$dest"
  rm -rf "$dest"
  check "the library's interface is compatible with the last release's" "$NMS_ROOT/tests/abi/abi.sh"
  check "incompatible interfaces are found" "$NMS_ROOT/tests/abi/abi.sh" --test
  check "README's commands in a checkout at ~/gst-nms" \
    timeout 900 "$NMS_ROOT/tests/env/readme-install.sh"
}

# Returns whether this processor runs the instruction set $1.
level_runs () { NMS_ISA=$1 "$NMS_BUILD_DIR/release/tests/core/test-levels" --print-level |
  grep -q "(obeyed)"; }

stage_levels ()
{
  local level
  build_release || return 0
  case $(uname -m) in
    x86_64) set -- scalar sse2 avx2 ;;
    *) set -- scalar ;;
  esac
  for level; do
    if ! level_runs "$level"; then
      result skip "levels: $level, which this processor lacks"
      continue
    fi
    stage="levels-$level"
    # (random calls and methods-large compare the instruction sets themselves, and hostile counts the
    # same on each)
    NMS_TEST_ROUNDS=$FEW_ROUNDS NMS_ISA=$level suites release --suite core $(no_suites many)
  done
  stage=levels
}

# Checks that the plugin without locks fails: its first data race ends the program. The report names
# the source file, or only the plugin if the sanitizer could not read its debug information.
unlocked_plugin_fails ()
{
  local dir=$1 rc=0
  shift
  GST_PLUGIN_PATH_1_0="$dir/unlocked" GST_PLUGIN_SYSTEM_PATH_1_0="$dir" \
    GST_REGISTRY="$dir/unlocked.registry" TSAN_OPTIONS="$TSAN_OPTIONS:halt_on_error=1" \
    "$@" "$dir/test-nmsfilter-concurrency" >"$dir/unlocked.log" 2>&1 || rc=$?
  grep "^SUMMARY" "$dir/unlocked.log"
  [ "$rc" = 66 ] &&
    grep -Eq "data race.*(gst/[a-z/]*\.[ch]:|unlocked/libgstnms\.so\+)" "$dir/unlocked.log"
}

# GLib and GStreamer are not built with the sanitizer, so tests/gst/glibsync.c reports their
# locks to it, and G_SLICE makes GLib take its memory from malloc.
build_tsan ()
{
  NMS_TARGET="gst/libgstnms.so tests/gst/unlocked/libgstnms.so
    tests/core/test-run-batch tests/gst/test-nmsfilter-concurrency tests/gst/test-boxrecord-pipes
    tests/gst/test-boxmerge-pads" build tsan --buildtype=debugoptimized \
    -Db_sanitize=thread -Db_lundef=false -Dc_args=-g1 -Dtests=enabled -Drecords=enabled \
    -Doverlay=disabled
}

stage_tsan ()
{
  build_tsan || return 0
  local dir="$NMS_BUILD_DIR/tsan/tests" fixed=
  # (the sanitizer cannot run with many bits of address randomization)
  "$dir/core/test-run-batch" --help >/dev/null 2>&1 || fixed="setarch -R"
  export GST_REGISTRY_FORK=no G_SLICE=always-malloc \
    TSAN_OPTIONS="suppressions='$NMS_ROOT/tests/env/tsan.supp':print_suppressions=0:exitcode=66"
  suites tsan test-run-batch nmsfilter-concurrency boxrecord-pipes boxmerge-pads \
    ${fixed:+--wrapper "$fixed"}
  check "a plugin without locks is found out" unlocked_plugin_fails "$dir/gst" $fixed
  unset GST_REGISTRY_FORK G_SLICE TSAN_OPTIONS
}

# Runs fewer rounds, because valgrind, like qemu, takes about 30 times as long, and leaves out
# the tests of many boxes, which take minutes and run under the address sanitizer.
stage_valgrind ()
{
  local wrapper="valgrind -q --trace-children=yes --error-exitcode=99"
  build_release || return 0
  NMS_TEST_ROUNDS=3 NMS_TIMEOUT_MULTIPLIER=30 suites release --suite core $(no_suites many) \
    --wrapper "$wrapper --leak-check=full --errors-for-leak-kinds=definite"
}

# Replays the corpus of fuzz-core under MemorySanitizer. The other programs use GLib, which is not
# built with MemorySanitizer, so that memory written by GLib would count as uninitialized.
stage_msan ()
{
  local corpus="$NMS_BUILD_DIR/corpus/msan"
  CC=clang CXX=clang++ NMS_TARGET=tests/fuzz/fuzz-core build msan --buildtype=debugoptimized \
    -Db_sanitize=memory -Db_lundef=false -Dc_args=-g1 -Dfuzzers=true -Dtests=enabled \
    -Drecords=disabled -Doverlay=disabled -Dpython=disabled || return 0
  "$NMS_ROOT/tests/fuzz/corpus.sh" unpack "$NMS_ROOT/tests/fuzz/corpus-core.tar.gz" "$corpus"
  check "fuzz-core" "$NMS_BUILD_DIR/msan/tests/fuzz/fuzz-core" -runs=0 "$corpus"
}

# foreign ARCHITECTURE ROUNDS [SUITE]: builds the core for another processor and runs its suite
# except for SUITE and for the tests of many boxes, which take minutes under qemu. The test hostile
# checks counts of pair tests, which are the same on every instruction set.
foreign ()
{
  local architecture=$1 rounds=$2 dir="$NMS_BUILD_DIR/$1"
  check "unpack Debian for $architecture" bash -c '"$1" "$2" "$3" >"$3.cross"' - \
    "$NMS_ROOT/tests/env/foreign.sh" "$architecture" "$dir-debian" || return 1
  build "$architecture" --buildtype=release --cross-file "$dir-debian.cross" -Dplugin=false \
    -Dtests=enabled || return 1
  printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$dir-debian/run" "$dir/tools/nms-xla-probe" \
    >"$dir/xla-probe.sh"
  chmod +x "$dir/xla-probe.sh"
  NMS_XLA_PROBE="$dir/xla-probe.sh" NMS_TEST_ROUNDS=$rounds NMS_TIMEOUT_MULTIPLIER=30 \
    suites "$architecture" $(no_suites many ${3-})
}

stage_arm ()
{
  foreign arm64 3 slow-emulated || return 0
  check "NEON is what runs" bash -c '"$@" | grep "^neon (obeyed)"' - \
    "$NMS_BUILD_DIR/arm64-debian/run" "$NMS_BUILD_DIR/arm64/tests/core/test-levels" --print-level
}

stage_i386 () { foreign i386 10 || return 0; }

stage_armhf () { foreign armhf 3 || return 0; }
stage_s390x () { foreign s390x 3 || return 0; }

fuzz_one ()
{
  local program=$1 name corpus
  name=$(basename "$program")
  corpus="$NMS_BUILD_DIR/corpus/$name"
  mkdir -p "$corpus"
  "$program" -max_total_time="${NMS_FUZZ_SECONDS:-5}" -timeout=20 -rss_limit_mb=4096 \
    -artifact_prefix="$NMS_BUILD_DIR/$name-" "$corpus" "$(dirname "$program")/corpus-${name#fuzz-}"
}

stage_fuzz ()
{
  local program some=
  CC=clang CXX=clang++ NMS_TARGET=fuzz-programs build fuzz "${ASAN_BUILD[@]}" -Dfuzzers=true \
    -Dtests=enabled -Drecords=enabled -Doverlay=disabled || return 0
  for program in "$NMS_BUILD_DIR"/fuzz/tests/fuzz/fuzz-*; do
    [ -f "$program" ] && [ -x "$program" ] || continue
    some=yes
    check "${program##*/}" fuzz_one "$program"
  done
  [ -n "$some" ] || result fail "$stage: no fuzzer was built"
}

stage_packages () { check "Debian packages" "$NMS_ROOT/tests/env/packages.sh"; }

# Run only by name, because a stage takes minutes, and what it checks changes with the releases.
debian_packages ()
{
  wait "$maker" || true
  check "Debian packages of $1" "$NMS_ROOT/tests/env/packages.sh" "$1"
}
stage_packages_trixie () { debian_packages trixie; }
stage_packages_sid () { debian_packages sid; }
stage_fresh () { check "README's commands on a bare Debian 12" "$NMS_ROOT/tests/env/fresh.sh"; }

# Only the program xlatext loads libtpu, in a process for each module.
stage_tpu ()
{
  local folder="$NMS_BUILD_DIR/xla" python="$NMS_BUILD_DIR/tpu-python"
  local here="$NMS_ROOT/tests/frameworks"
  build_release || return 0
  # shellcheck disable=SC2046
  check "install jax" "$here/frameworks.sh" --install "$python" \
    $(grep -E '^(jax|numpy)==' "$here/requirements.txt") || return 0
  fetch_plugin tpu || return 0
  NMS_TEST_FRAMEWORKS="$python" NMS_TEST_LIBTPU="$folder/libtpu.so" suites release --suite tpu
}

stage_methods ()
{
  build_release || return 0
  check "install the libraries to compare with" "$NMS_ROOT/tests/bench/run.sh" --install &&
    suites release methods-agree
}

stage_frameworks ()
{
  local folder="$NMS_BUILD_DIR/frameworks"
  build_release || return 0
  check "install the libraries" "$NMS_ROOT/tests/frameworks/frameworks.sh" --install "$folder" ||
    return 0
  ! fetch_plugin tpu || export NMS_TEST_LIBTPU="$NMS_BUILD_DIR/xla/libtpu.so"
  ! fetch_plugin cpu || export NMS_TEST_XLA_PLUGIN="$NMS_BUILD_DIR/xla/xla_cpu_pjrt.so"
  NMS_TEST_FRAMEWORKS="$folder" suites release --suite frameworks
  unset NMS_TEST_LIBTPU NMS_TEST_XLA_PLUGIN
}

# Runs only by name, because of the downloads. The stage frameworks runs the newest version.
stage_jax ()
{
  local version folder
  build_release || return 0
  for version in 0.7.2 0.8.0 0.9.0; do
    folder="$NMS_BUILD_DIR/jax-$version"
    check "install JAX $version" "$NMS_ROOT/tests/frameworks/frameworks.sh" --install "$folder" \
      "jax==$version" || continue
    if [ "$version" = 0.7.2 ]; then
      # shellcheck disable=SC2016
      check "JAX $version is refused" env PYTHONPATH="$NMS_BUILD_DIR/release/python" bash -c \
        '"$@" 2>&1 | grep "^ImportError: .*0.8 or newer"' - "$folder/bin/python" -c \
        "import nmscore.jax"
    else
      NMS_TEST_FRAMEWORKS="$folder" suites release --suite frameworks framework-jax \
        framework-jaxprograms framework-jaxhandler
    fi
  done
}

# Mutants of an earlier commit say nothing about this one.
stage_mutants ()
{
  local folder="$NMS_BUILD_DIR/mutants" commit
  commit=$(git -C "$NMS_ROOT" rev-parse HEAD)
  mkdir -p "$folder"
  [ "$(cat "$folder/commit" 2>/dev/null)" = "$commit" ] || rm -f "$folder/results.txt"
  printf '%s\n' "$commit" >"$folder/commit"
  check "the tests notice mutants" python3 "$NMS_ROOT/tests/mutants/mutants.py" --folder "$folder"
}

# Succeeds if stage $1 is to run.
is_wanted () { case " ${wanted[*]} " in *" $1 "*) return 0 ;; esac; return 1; }

# Makes the folder of Debian $1 while other stages run, because it takes minutes and mostly waits.
# What fails here is tried again by its stage.
make_folder ()
{
  ! is_wanted "$1" || nice "$NMS_ROOT/tests/env/debian.sh" "$1" true || true
}

# Downloads XLA's plugins while other stages run.
fetch_plugins ()
{
  ! is_wanted xla || "$NMS_ROOT/tools/fetch-xla.sh" "$NMS_BUILD_DIR/xla" cpu || true
  ! is_wanted tpu || "$NMS_ROOT/tools/fetch-xla.sh" "$NMS_BUILD_DIR/xla" tpu || true
}

# Builds what later stages test while the pipelines of stage release play in real time. The lowest
# priority leaves the processors to them. A build that fails here fails again in its stage.
build_ahead ()
{
  local name
  renice -n 19 $BASHPID
  for name in asan clang tsan; do
    ! is_wanted "$name" || "build_$name" || true
  done
}

# Runs only by name, because the folder takes minutes to make.
stage_i386_elements ()
{
  local name=bookworm-i386
  check "make the folder" "$NMS_ROOT/tests/env/debian.sh" "$name" true || return 0
  inside=("$NMS_ROOT/tests/env/debian.sh" "$name")
  if build "$name-release" --buildtype=release -Dtests=enabled -Drecords=enabled \
    -Doverlay=enabled -Dpython=disabled; then
    suites "$name-release" --suite gst
  fi
  inside=()
}

# Runs the suites in a folder of tests/env/debian.sh, in a release build, then the leak tracer.
# Leaves out instruction counts, which hold for one compiler, the installation by pip, and the tests
# of many boxes. In trixie also leaves out what takes minutes and is the same in Debian 12: the core,
# the rules, what plays in real time and the slow scripts. Tests of torch are skipped in sid, because
# its folder does not contain torch.
newer_debian ()
{
  local options="-Dtests=enabled -Drecords=enabled -Doverlay=enabled -Danalytics=enabled"
  options="$options -Dpython=enabled"
  local batches='' left_out="tpu bench pip extra-packages many"
  if [ "$1" = trixie ]; then
    left_out="$left_out core live scripts rules"
  else
    batches="nmsfilter-batches boxmerge-batches boxoverlay-batches boxrecord-batches"
  fi
  wait "$maker" || true
  check "make the folder" "$NMS_ROOT/tests/env/debian.sh" "$1" true || return 0
  inside=("$NMS_ROOT/tests/env/debian.sh" "$1")
  # shellcheck disable=SC2086
  if build "$1-release" --buildtype=release $options; then
    suites "$1-release" $(no_suites $left_out)
    inside+=(env G_DEBUG=fatal-warnings GST_TRACERS=leaks)
    stage="$1-leaks"
    # shellcheck disable=SC2086
    suites "$1-release" odmeta odregions boxreplay nmsfilter $batches
    stage=$1
  fi
  [ "$1${NMS_TRIXIE_ASAN-}" = trixieyes ] || { inside=(); return 0; }
  inside=("$NMS_ROOT/tests/env/debian.sh" "$1")
  # shellcheck disable=SC2086
  if build "$1-asan" "${ASAN_BUILD[@]}" $options; then
    stage="$1-asan"
    use_asan "$ASAN_EXACT"
    # shellcheck disable=SC2086
    suites "$1-asan" boxmeta boxmerge-regions odmeta odregions odremove nmsfilter \
      boxreplay boxrecord boxoverlay boxtransform boxtransform-ods boxmerge-ods rotatedboxes \
      $batches
    stage=$1
  fi
  inside=()
}

stage_trixie () { newer_debian trixie; }
stage_sid () { newer_debian sid; }

# --------------------------------------------------------------------------

# check_disk GB: sets `disk` to a warning if less is free where the build folder is.
check_disk ()
{
  local free
  free=$(df -Pk "$NMS_BUILD_DIR" | awk 'NR == 2 { print int ($4 * 1024 / 1e9) }')
  [ "$free" -ge "$1" ] || disk="Only $free GB of disk were free at the start; a first run needs $1 GB."
}

# Prints the commit that is checked out; nothing if a file differs from it.
clean_commit ()
{
  [ -n "$(git -C "$NMS_ROOT" status --porcelain 2>&1)" ] || git -C "$NMS_ROOT" rev-parse HEAD
}

# Says what a run without arguments leaves out.
say_left_out ()
{
  say "Not run: sanitizers and the build without libraries (tests/run.sh --pr runs these too); other"
  say "compilers, instruction sets, processors, Debian 13, engine xla and the slow pipelines"
  say "(tests/run.sh --all); other libraries, TPU kernels, Debian packages and mutants"
  say "(tests/run.sh --release)."
}

# Keeps the result of a stage that began with $1 passed, on commit $2. If all was skipped, nothing has
# passed.
keep_result ()
{
  local folder="$NMS_BUILD_DIR/passed"
  rm -f "$folder/$stage"
  [ "$failed" = "$before_failed" ] && [ "$passed" != "$1" ] && [ -n "$2" ] &&
    [ "$2" = "$(clean_commit)" ] || return 0
  mkdir -p "$folder"
  printf '%s\n%s passed, 0 failed, %s skipped\n' "$2" "$((passed - $1))" \
    "$((skipped - before_skipped))" >"$folder/$stage"
}

# Removes the Debian 13 that stage trixie has made, in the background, because it takes 3 GB and no
# later stage uses it.
remove_folder ()
{
  [ "$stage" != trixie ] || rm -rf --one-file-system "${NMS_BUILD_DIR:?}/trixie"
}

# Runs the stages "$@" of --all in a process of their own, whose output goes to a file.
start_beside () { "$NMS_ROOT/tests/run.sh" "$@" >"$NMS_BUILD_DIR/beside.log" 2>&1 & beside=$!; }

# Prints what the stages beside the others have printed, and counts their results.
wait_beside ()
{
  local log="$NMS_BUILD_DIR/beside.log" name
  wait "$beside" || true
  sed '$d; /^FAILED/d' "$log"
  if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    skipped=$((skipped + ${BASH_REMATCH[4]:-0}))
  else
    result fail "$BESIDE_STAGES: did not come to an end"
  fi
  while read -r name; do failures+=("$name"); done < <(sed -n 's/^FAILED  //p' "$log")
}

# Prints each stage of the lists behind the name of its list.
list_stages ()
{
  printf 'pr %s\n' $PR_STAGES
  printf 'all %s\n' $ALL_STAGES
  printf 'release %s\n' $RELEASE_STAGES
}

main ()
{
  local argument name line commit disk= gigabytes=0 packages=() tidy= beside=
  wanted=()
  for argument; do
    case $argument in
      -h | --help) usage; exit 0 ;;
      --list) list_stages; exit 0 ;;
      --pr) wanted+=($PR_STAGES) gigabytes=2 ;;
      --all) wanted+=($ALL_STAGES) gigabytes=10 tidy=yes ;;
      --release) wanted+=($RELEASE_STAGES) gigabytes=15 ;;
      -*) die "unknown option '$argument' (--help lists them)" ;;
      *)
        declare -F "stage_$argument" >/dev/null ||
          die "unknown stage '$argument' (--help lists them)"
        wanted+=("$argument")
        ;;
    esac
  done
  [ ${#wanted[@]} -gt 0 ] || wanted=(user) gigabytes=1

  nms_build_dir
  check_disk "$gigabytes"
  [ -z "$disk" ] || say "$disk"
  unset NMS_PLUGIN_DIR NMS_INSTALL DISPLAY WAYLAND_DISPLAY
  export LC_ALL=C.UTF-8
  export MESON_TESTTHREADS=$(($(nproc) + 1)) # live tests mostly wait
  PATH=/usr/bin:/bin:$PATH # Python: the one that the packages belong to
  for stage in "${wanted[@]}"; do
    packages+=($(packages_of "$stage"))
  done
  stage=install
  # shellcheck disable=SC2046
  if ! (nms_install $(printf '%s\n' "${packages[@]}" | sort -u)); then
    say "0 passed, 1 failed"
    exit 1
  fi
  durations+=("apt-get" "$((SECONDS - start))")
  commit=$(clean_commit)
  if [ -n "$tidy" ]; then
    for name in $BESIDE_STAGES; do
      wanted=($(printf '%s\n' "${wanted[@]}" | grep -vx "$name"))
    done
  fi

  is_wanted trixie && name=trixie || name=sid
  make_folder "$name" >/dev/null 2>&1 &
  maker=$!
  fetch_plugins >/dev/null 2>&1 &
  plugins=$!
  for stage in "${wanted[@]}"; do
    stage_start=$SECONDS before=$passed before_failed=$failed before_skipped=$skipped
    say "== $stage"
    # (a failure is counted where it happens, and the other stages still run)
    "stage_$stage" || true
    [ $((passed + failed + skipped)) -gt $((before + before_failed + before_skipped)) ] ||
      result fail "$stage: nothing ran"
    say "   $((passed - before)) passed, $((failed - before_failed)) failed," \
      "in $((SECONDS - stage_start)) s"
    durations+=("$stage" "$((SECONDS - stage_start))")
    keep_result "$before" "$commit"
    [ -z "$tidy" ] || remove_folder &
    # (from the second stage on, because the first one plays videos in real time)
    [ -z "$tidy" ] || [ -n "$beside" ] || start_beside $BESIDE_STAGES
  done
  [ -z "$beside" ] || wait_beside

  say ""
  printf '%-10s %5d s\n' "${durations[@]}" "all" "$((SECONDS - start))"
  say ""
  for name in ${failures[@]+"${failures[@]}"}; do
    say "FAILED  $name"
  done
  [ "$failed" = 0 ] || [ -z "$disk" ] || say "$disk"
  [ $# -gt 0 ] || say_left_out
  line="$passed passed, $failed failed"
  [ "$skipped" = 0 ] || line="$line, $skipped skipped"
  say "$line"
  [ "$failed" = 0 ]
}

# (on one line, so that bash has read the whole file before it runs; the file may change then)
main "$@"; exit
