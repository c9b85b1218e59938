# SPDX-License-Identifier: LGPL-2.1-or-later
# common: functions shared by the scripts of pipelines/ and tests/run.sh: packages, the
# build of the plugin, the video and the detector. A script sources it:
#
#     . "$(dirname "$0")/common.sh"
#     nms_arguments "$@"     # --input --output --seconds --help; Ctrl-C
#     nms_prepare            # installs packages and builds the plugin
#     nms_open_video         # sets NMS_SOURCE: elements that produce RGB frames
#     nms_launch "${NMS_SOURCE[@]}" ! ...   # gst-launch-1.0 that finds the plugin
#
# Environment:
#   NMS_BUILD_DIR   the build folder (default: build/ in the checkout)
#   NMS_PLUGIN_DIR  a folder with a plugin that is built already; it is used as it is
#   NMS_INSTALL=no  do not install packages; exit with 77 if one is missing

set -euo pipefail

NMS_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
NMS_BUILD_DIR=${NMS_BUILD_DIR:-$NMS_ROOT/build}
NMS_SELF=$(basename "$0" .sh)

# Debian packages by purpose: nmscore and nmsfilter; the elements of records/ and
# overlay/; all scripts and GStreamer programs in Python; GstAnalytics, from GStreamer
# 1.24 on; the test camera of live-camera.sh. The packages of the tests are in tests/run.sh.
# On Debian 12 these packages take the most disk space, dependencies included:
# the first three -dev packages 280 MB (190 MB of it is Mesa with LLVM, a dependency of
# libgstreamer-plugins-base1.0-dev); gcc and g++ 280 MB; gstreamer1.0-libav 190 MB, needed for
# H.264 and the sample video; libpango1.0-dev 90 MB, for boxoverlay; OpenCV's three libraries
# 30 MB (nms_opencv). The test camera needs 120 MB more and is only installed when it is used.
NMS_PACKAGES_MINIMAL="gcc libc6-dev meson ninja-build pkg-config
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libglib2.0-dev"
NMS_PACKAGES_ELEMENTS="g++ libsimdjson-dev libpango1.0-dev"
NMS_PACKAGES_PIPELINES="gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good
  gstreamer1.0-plugins-ugly gstreamer1.0-libav gstreamer1.0-x fonts-dejavu-core
  python3-gi python3-gst-1.0 gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0"
NMS_PACKAGES_ANALYTICS="libgstreamer-plugins-bad1.0-dev"
NMS_PACKAGES_TEST_CAMERA="gir1.2-gst-rtsp-server-1.0"

# Prints a line, on a terminal in place of the line that shows progress.
say ()
{
  [ ! -t 1 ] || printf '\r\033[K'
  printf '%s\n' "$*"
}

die ()
{
  nms_end_children
  printf '%s: %s\n' "$NMS_SELF" "$*" >&2
  exit 1
}

# ------------------------------------------------------------------ Ctrl-C

# Runs a program that nms_interrupted can end. It runs in the background because
# bash runs a trap at once while it waits, but not while a program is in the
# foreground. timeout (with 0: no limit) passes the signal on, and kills the program
# 1 s later if it is still there.
nms_child ()
{
  local rc=0
  timeout --foreground -k 1 "${NMS_LIMIT:-0}" "$@" <&0 &
  wait $! || rc=$?
  return $rc
}

# Ends all programs that run in the background. Asks bash which these are, because a signal
# may come before a variable has the number of a process.
nms_end_children ()
{
  local children
  children=$(jobs -p)
  [ -n "$children" ] || return 0
  # shellcheck disable=SC2086
  kill -TERM $children 2>/dev/null || true
  wait || true
}

# Handles SIGINT, SIGTERM and SIGHUP: ends the running programs and removes the temporary
# folders.
nms_interrupted ()
{
  trap '' INT TERM HUP
  nms_end_children
  [ ! -t "$NMS_STDERR" ] || printf '\n' >&"$NMS_STDERR"
  printf '%s: interrupted\n' "$NMS_SELF" >&"$NMS_STDERR"
  exit 130
}

# The trap of these signals. bash 5.2 may run it while it expands $(...), and then reads it as a part
# of that, up to a `)`; at any other time the first line ends the script, before the second is read.
NMS_INTERRUPTED=$'nms_interrupted\n)'

# nms_temporary VARIABLE TEMPLATE: makes a folder, which is removed when the script ends,
# and writes its name to VARIABLE.
NMS_TEMPORARY=()
nms_temporary ()
{
  local folder
  folder=$(mktemp -d "$2")
  NMS_TEMPORARY+=("$folder")
  printf -v "$1" '%s' "$folder"
  trap 'rm -rf "${NMS_TEMPORARY[@]}"' EXIT
}

# ---------------------------------------------------------------- packages

# Prints the packages that are not installed.
nms_missing_packages ()
{
  local p
  for p; do
    [ "$(dpkg-query -W -f='${db:Status-Status}\n' "$p" 2>/dev/null | head -n 1)" = installed ] ||
      printf '%s ' "$p"
  done
}

# Keeps apt from leaving the packages that it downloads, and binary caches of their lists, 70 MB.
NMS_APT_OPTIONS=(-o APT::Keep-Downloaded-Packages=false -o Dir::Cache::pkgcache=
  -o Dir::Cache::srcpkgcache=)

# Runs apt-get with its output in a log. On a terminal it counts the steps.
nms_apt ()
{
  local as_root=() log="$NMS_BUILD_DIR/install.log" count=0 line
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C \
    apt-get -y -q "${NMS_APT_OPTIONS[@]}" -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@" \
    2>&1 </dev/null | tee -a "$log" |
    while IFS= read -r line; do
      case $line in
        "Unpacking "* | "Setting up "*)
          count=$((count + 1))
          [ ! -t 1 ] || printf '\r  %d steps: %.60s\033[K' "$count" "${line%% (*}"
          ;;
      esac
    done
  # with pipefail this returns the status of apt-get
}

# Installs the packages that are missing with apt-get, as root or through sudo.
nms_install ()
{
  local missing start=$SECONDS
  if ! command -v dpkg-query >/dev/null; then
    say "This is not a Debian system: taking it that the equivalents of these are installed:"
    say "  $*"
    return
  fi
  missing=$(nms_missing_packages "$@")
  [ -n "$missing" ] || return 0
  if [ "${NMS_INSTALL-}" = no ]; then
    say "$NMS_SELF: these packages are missing: $missing" >&2
    nms_end_children
    exit 77
  fi
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    die "these packages are missing, and neither root nor sudo is at hand. As root:
  apt-get install --no-install-recommends $missing"
  fi
  say "Installing: $missing"
  # (the log of earlier installations is kept)
  printf -- '-- %s: %s\n' "$(date)" "$missing" >>"$NMS_BUILD_DIR/install.log" ||
    die "cannot write in $NMS_BUILD_DIR"
  # shellcheck disable=SC2086
  if ! nms_apt install --no-install-recommends $missing; then
    # The package lists are missing or out of date.
    nms_apt update || true
    nms_apt install --no-install-recommends $missing || {
      tail -n 20 "$NMS_BUILD_DIR/install.log" >&2
      die "apt-get could not install the packages (the whole log: $NMS_BUILD_DIR/install.log)"
    }
  fi
  [ ! -t 1 ] || printf '\r\033[K'
  say "Installed in $((SECONDS - start)) s."
}

# nms_unpack FOLDER PATTERN PACKAGE...: downloads packages and extracts what matches the pattern, without
# installing them or what they depend on. Needs no root.
nms_unpack ()
{
  local folder=$1 pattern=$2 download rc=0
  shift 2
  download=$(mktemp -d "$NMS_BUILD_DIR/download.XXXXXX")
  (
    cd "$download" && apt-get -q "${NMS_APT_OPTIONS[@]}" download "$@" >log 2>&1 &&
      for package in *.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x -C "$folder" --wildcards "$pattern" || exit 1
      done
  ) || rc=$?
  [ "$rc" = 0 ] || [ ! -s "$download/log" ] || tail -n 5 "$download/log" >&2
  rm -rf "$download"
  return "$rc"
}

# Makes hogdetect's libraries of OpenCV known to pkg-config. The package with their pkg-config file,
# libopencv-dev, takes 600 MB with what it depends on, and python3-opencv 400 MB. So the
# library with the detector is installed, and the headers are taken out of their packages.
nms_opencv ()
{
  local folder known library libraries='' package
  ! pkg-config --exists opencv4 || return 0
  command -v apt-get >/dev/null || return 0
  folder=$NMS_BUILD_DIR/opencv-$(. /etc/os-release && printf '%s' "${VERSION_CODENAME-${ID-}}")
  if [ ! -f "$folder/opencv4.pc" ]; then
    package=$(apt-cache "${NMS_APT_OPTIONS[@]}" depends libopencv-objdetect-dev 2>/dev/null |
      grep -o -m 1 'libopencv-objdetect[0-9][0-9a-z]*' || true)
    [ -n "$package" ] || die "apt-get knows no package libopencv-objdetect-dev (hogdetect needs it)"
    nms_install "$package"
    rm -rf "$folder"
    mkdir -p "$folder"
    nms_unpack "$folder" './usr/include/*' libopencv-core-dev libopencv-imgproc-dev \
      libopencv-objdetect-dev || die "OpenCV's headers could not be downloaded"
    # (not in a pipe, whose writer would fail when grep ends at the first match)
    known=$(/sbin/ldconfig -p)
    for library in objdetect imgproc core; do
      libraries+=" -l:$(grep -o -m 1 "libopencv_$library\.so\.[0-9a-z]*" <<<"$known")" ||
        die "the package $package has brought no library libopencv_$library"
    done
    # (meson cannot read names with spaces, so the headers are named as the build folder sees them)
    printf '%s\n' "Name: opencv4" "Description: OpenCV's detector of people" "Version: 4" \
      "Cflags: -I../${folder##*/}/usr/include/opencv4" "Libs:$libraries" >"$folder/opencv4.pc"
  fi
  export PKG_CONFIG_PATH="$folder${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
}

# ------------------------------------------------------------------- build

nms_build_dir ()
{
  mkdir -p "$NMS_BUILD_DIR" 2>/dev/null && [ -w "$NMS_BUILD_DIR" ] ||
    die "cannot write in the build folder $NMS_BUILD_DIR (NMS_BUILD_DIR names another)"
  NMS_BUILD_DIR=$(cd "$NMS_BUILD_DIR" && pwd)
}

# nms_build NAME [meson setup arguments]: builds into $NMS_BUILD_DIR/NAME, all targets or
# those of NMS_TARGET. Builds anew if the source folder, the system or the arguments have changed,
# otherwise only the changes.
nms_build ()
{
  local name=$1 dir="$NMS_BUILD_DIR/$1" log="$NMS_BUILD_DIR/$1.log" stamp
  shift
  stamp="$NMS_ROOT | $(. /etc/os-release 2>/dev/null; printf '%s %s' "${ID-}" "${VERSION_ID-}") \
| $(uname -m) | CC=${CC-} CXX=${CXX-} CFLAGS=${CFLAGS-} CXXFLAGS=${CXXFLAGS-} LDFLAGS=${LDFLAGS-} | $*"
  if [ ! -f "$dir/build.ninja" ] || [ "$(cat "$dir/nms-stamp" 2>/dev/null)" != "$stamp" ]; then
    rm -rf "$dir"
    say "Configuring $name"
    nms_child meson setup "$dir" "$NMS_ROOT" "$@" >"$log" 2>&1 || {
      tail -n 30 "$log" >&2
      say "$NMS_SELF: meson failed (the whole log: $log)" >&2
      return 1
    }
    printf '%s\n' "$stamp" >"$dir/nms-stamp"
  fi
  # shellcheck disable=SC2086 # several targets
  case $(ninja -C "$dir" -n ${NMS_TARGET-} 2>&1) in
    *"no work to do"*) return 0 ;;
  esac
  say "Building $name"
  # ninja ends its compilers with SIGINT at Ctrl-C, which they would ignore otherwise, because
  # bash starts programs in the background with SIGINT ignored; files that they leave in TMPDIR
  # stay in the build folder
  # shellcheck disable=SC2086
  nms_child env --default-signal=INT TMPDIR="$(cd "$dir" && pwd)" \
    ninja -C "$dir" ${NMS_TARGET-} >"$log" 2>&1 || {
    grep -E -A 12 'FAILED|error:|ERROR' "$log" | head -n 60 >&2
    say "$NMS_SELF: the build failed (the whole log: $log)" >&2
    return 1
  }
}

# Builds the plugin in a process of its own, which a signal ends without a message.
nms_build_plugin ()
{
  exec {NMS_STDERR}>/dev/null
  trap "$NMS_INTERRUPTED" INT TERM HUP
  nms_build plugin --buildtype=release -Dtests=disabled -Drecords=enabled -Doverlay=enabled \
    -Dhogdetect=enabled
}

# Installs the packages, builds the plugin, and sets the variables by which GStreamer finds
# it. The build runs while the packages that it does not need are installed, because apt-get
# uses one processor.
nms_prepare ()
{
  local element builder=''
  nms_build_dir
  # shellcheck disable=SC2086
  nms_install $NMS_PACKAGES_MINIMAL $NMS_PACKAGES_ELEMENTS
  if [ -z "${NMS_PLUGIN_DIR-}" ]; then
    nms_opencv
    nms_build_plugin &
    builder=$!
    NMS_PLUGIN_DIR="$NMS_BUILD_DIR/plugin/gst"
  fi
  # shellcheck disable=SC2086
  nms_install $NMS_PACKAGES_PIPELINES
  [ -z "$builder" ] || wait "$builder" || exit 1
  . "$NMS_ROOT/pipelines/env.sh"
  # (GStreamer ignores GST_PLUGIN_PATH if this is set)
  [ -z "${GST_PLUGIN_PATH_1_0-}" ] ||
    export GST_PLUGIN_PATH_1_0="$NMS_PLUGIN_DIR:$NMS_DETECTORS:$GST_PLUGIN_PATH_1_0"
  export GST_REGISTRY="${GST_REGISTRY-$NMS_BUILD_DIR/registry-$(uname -m).bin}"
  for element in nmsfilter boxreplay boxrecord boxoverlay hogdetect textoverlay x264enc; do
    nms_element "$element"
  done
}

# Ends the script if GStreamer does not find the element.
nms_element ()
{
  nms_preloaded gst-inspect-1.0 "$1" >/dev/null 2>&1 ||
    die "GStreamer does not find the element $1 (the plugin's folder: $NMS_PLUGIN_DIR)"
}

# Prepares GStreamer programs in Python: sets NMS_PYTHON to an interpreter that has the
# module gi, Debian's if the first one in PATH lacks it.
nms_prepare_python ()
{
  for NMS_PYTHON in python3 /usr/bin/python3; do
    ! nms_child "$NMS_PYTHON" -c 'import gi; gi.require_version ("Gst", "1.0")' 2>/dev/null ||
      return 0
  done
  die "no python3 here has the module gi of GStreamer (package python3-gi)"
}

# Runs a GStreamer program with NMS_PRELOAD preloaded, because the run-time library of a
# sanitizer must be loaded before a plugin that was built with it.
nms_preloaded () { nms_child env ${NMS_PRELOAD:+"LD_PRELOAD=$NMS_PRELOAD"} "$@"; }

nms_launch () { nms_preloaded gst-launch-1.0 "$@"; }

# Prints a text property for gst-launch-1.0: nms_set location "a b.avi" prints
# location="a b.avi", with quotes and backslashes escaped.
nms_set ()
{
  local value=${2//\\/\\\\}
  printf '%s="%s"' "$1" "${value//\"/\\\"}"
}

# --------------------------------------------------------------- arguments

# Reads the common options into NMS_INPUT, NMS_OUTPUT and NMS_SECONDS, and the script's
# own options into the variables that NMS_OPTIONS names: "--iou:NMS_IOU ...". From here
# on Ctrl-C ends the script with status 130.
nms_arguments ()
{
  local option name
  exec {NMS_STDERR}>&2
  trap "$NMS_INTERRUPTED" INT TERM HUP
  while [ $# -gt 0 ]; do
    option=$1
    case $option in
      -h | --help) usage; exit 0 ;;
      --*=*) set -- "${option%%=*}" "${option#*=}" "${@:2}"; continue ;;
      --input) name=NMS_INPUT ;;
      --output) name=NMS_OUTPUT ;;
      --seconds) name=NMS_SECONDS ;;
      *)
        name=$(nms_own_option "$option")
        [ -n "$name" ] || die "unknown option '$option' (--help lists them)"
        ;;
    esac
    [ $# -ge 2 ] && [ -n "$2" ] || die "$option needs a value"
    printf -v "$name" '%s' "$2"
    shift 2
  done
  nms_is_number "${NMS_SECONDS:=0}" ||
    die "--seconds takes a number such as 5 or 2.5, not '$NMS_SECONDS'"
  for option in ${NMS_IOU-} ${NMS_THRESHOLDS-}; do
    nms_is_number "$option" && LC_ALL=C awk -v t="$option" 'BEGIN { exit !(t <= 1) }' ||
      die "--iou takes numbers from 0 to 1, not '$option'"
  done
  nms_is_number "${NMS_SCORE:=0.7}" && LC_ALL=C awk -v t="$NMS_SCORE" 'BEGIN { exit !(t <= 1) }' ||
    die "--score takes a number from 0 to 1, not '$NMS_SCORE'"
  [ -z "${NMS_INPUT-}" ] || nms_check_input
}

# Refuses an input that cannot be a video before anything is installed or built.
nms_check_input ()
{
  [ -e "$NMS_INPUT" ] || die "no such file: '$NMS_INPUT'"
  [ ! -d "$NMS_INPUT" ] || die "'$NMS_INPUT' is a folder, not a video"
  [ -f "$NMS_INPUT" ] || die "'$NMS_INPUT' is not a file (it is read more than once)"
  [ -r "$NMS_INPUT" ] || die "cannot read '$NMS_INPUT'"
  [ -s "$NMS_INPUT" ] || die "'$NMS_INPUT' is not a video: it is empty"
}

nms_is_number () { [[ $1 =~ ^([0-9]+([.][0-9]*)?|[.][0-9]+)$ ]]; }

nms_own_option ()
{
  local pair
  for pair in ${NMS_OPTIONS-}; do
    [ "${pair%%:*}" != "$1" ] || printf '%s' "${pair#*:}"
  done
}

# Checks the option --boxes of the scripts that read a recording.
nms_need_boxes ()
{
  [ -n "${NMS_BOXES-}" ] || die "--boxes FILE is needed (record.sh makes one; see --help)"
  [ -f "$NMS_BOXES" ] || [ -p "$NMS_BOXES" ] || die "no such recording: '$NMS_BOXES'"
  [ -r "$NMS_BOXES" ] || die "cannot read '$NMS_BOXES'"
}

# Makes the folder for the results and checks that files can be written there.
nms_output_dir ()
{
  if [ -e "$1" ] && [ ! -d "$1" ]; then
    die "the output '$1' exists and is no folder"
  fi
  mkdir -p "$1" 2>/dev/null || die "cannot make the output folder '$1'"
  ( : >"$1/.write-test" ) 2>/dev/null || die "cannot write in the output folder '$1'"
  rm -f "$1/.write-test"
}

# ------------------------------------------------------------------- video

# Prints the path of the sample video, vtest.avi (8 MB) of Debian's package opencv-doc (270 MB, mostly
# pages), which is downloaded once and not installed.
nms_sample_video ()
{
  local file copy="$NMS_ROOT/build/data/vtest.avi" work
  file=$(dpkg -L opencv-doc 2>/dev/null | grep '/vtest\.avi$' | head -n 1 || true)
  if [ ! -s "$copy" ] && [ -f "$file" ]; then
    printf '%s' "$file"
    return
  fi
  if [ ! -s "$copy" ]; then
    say "Downloading the sample video" >&2
    mkdir -p "${copy%/*}" && work=$(mktemp -d "${copy%/*}/sample.XXXXXX") &&
      NMS_BUILD_DIR=$work nms_unpack "$work" '*/vtest.avi*' opencv-doc ||
      die "the sample video could not be downloaded (package opencv-doc); use --input FILE"
    file=$(find "$work" -name 'vtest.avi*')
    if [ "${file##*.}" = gz ]; then
      gzip -d "$file"
      file=${file%.gz}
    fi
    mv "$file" "$copy"
    rm -rf "$work"
  fi
  printf '%s' "$copy"
}

# Decodes the first frame of NMS_INPUT (default: the sample) and sets NMS_WIDTH,
# NMS_HEIGHT, NMS_FRAMES (-1: all) and the array NMS_SOURCE: elements that produce the RGB
# frames of the first NMS_SECONDS.
nms_open_video ()
{
  local look header reason rate height
  NMS_INPUT=${NMS_INPUT:-$(nms_sample_video)}
  # The header of a YUV4MPEG stream contains the size and the frame rate.
  nms_temporary look "${TMPDIR:-/tmp}/nms-look.XXXXXX"
  LC_ALL=C NMS_LIMIT=60 nms_launch -q \
    filesrc "$(nms_set location "$NMS_INPUT")" ! decodebin ! videoconvert ! videoflip video-direction=auto \
    ! identity eos-after=2 ! y4menc ! filesink "$(nms_set location "$look/frame")" >"$look/log" 2>&1 || true
  header=$(head -c 200 "$look/frame" 2>/dev/null | head -n 1 | tr -d '\0')
  reason=$(grep -m 1 -E '^(ERROR|WARNING): ' "$look/log" | sed 's/^[A-Z]*: //' || true)
  [ -n "$header" ] || ! grep -q 'reason not-linked' "$look/log" ||
    die "'$NMS_INPUT' is not a video: it has only sound that GStreamer can decode"
  [[ $header =~ ^YUV4MPEG2\ .*W([0-9]+)\ H([0-9]+) ]] ||
    die "'$NMS_INPUT' is not a video that GStreamer can decode${reason:+: $reason}"
  NMS_WIDTH=${BASH_REMATCH[1]} NMS_HEIGHT=${BASH_REMATCH[2]}
  rate=
  [[ ! $header =~ \ F([0-9]+):([0-9]+) ]] || rate=${BASH_REMATCH[1]}/${BASH_REMATCH[2]}
  # (videoflip turns the video of a phone upright, as the tags of the file say)
  NMS_DECODER=(filesrc "$(nms_set location "$NMS_INPUT")" ! decodebin ! videoconvert
    ! videoflip video-direction=auto)
  if [ -z "$rate" ] || [ "${rate%/*}" = 0 ]; then
    rate=25/1
    NMS_DECODER+=(! videorate ! video/x-raw,framerate=25/1)
  fi
  if [ "$NMS_WIDTH" -gt 1280 ]; then
    height=$(((NMS_HEIGHT * 1280 + NMS_WIDTH / 2) / NMS_WIDTH))
    say "The video is $NMS_WIDTH x $NMS_HEIGHT; the detector gets it as 1280 x $height."
    NMS_WIDTH=1280 NMS_HEIGHT=$height
  fi
  # (videoscale even if the size is right, because a video may change its size midway)
  NMS_DECODER+=(! videoscale ! "video/x-raw,format=RGB,width=$NMS_WIDTH,height=$NMS_HEIGHT")
  NMS_FRAMES=$(LC_ALL=C awk -v s="$NMS_SECONDS" -v n="${rate%/*}" -v d="${rate#*/}" 'BEGIN {
    f = s * n / d; c = int (f); if (c < f) c++; print (s > 0 ? c : -1) }')
  nms_cut "$NMS_FRAMES"
}

# Ends NMS_SOURCE after exactly $1 frames (-1: never). The queue comes after the elements
# that end the stream, because a queue of GStreamer 1.22 before them could hang: when
# downstream returns EOS, the queue drops a waiting query without an answer, and
# avdec_h264 sends an ALLOCATION query with each frame whose width is not a multiple of 16.
# identity drops the buffer at which it ends the stream, hence $1 + 1, but passes later
# buffers on. A draining decoder sends up to four of them (measured with H.264, H.265,
# MPEG-4, VP8, VP9 and JPEG in five containers). Eight identities in series drop eight.
nms_cut ()
{
  local i
  NMS_SOURCE=("${NMS_DECODER[@]}")
  for ((i = 0; i < 8 && $1 >= 0; i++)); do
    NMS_SOURCE+=(! identity eos-after=$(($1 + 1)))
  done
  NMS_SOURCE+=(! queue)
}

# Sets NMS_DETECTOR: OpenCV's people detector, which reports all raw windows with scores.
nms_detector () { NMS_DETECTOR=(hogdetect scale=1.6 pyramid-step=1.2); }

# Sets NMS_FILTER for that detector.
nms_filter ()
{
  NMS_FILTER=(nmsfilter iou-threshold="${NMS_IOU:-0.3}" score-threshold="${NMS_SCORE:-0.7}")
}

# Sets NMS_MIX: two pictures side by side, each of even size because encoders require it.
# The branches end in mix.sink_0 and mix.sink_1, and NMS_MIX continues from them.
nms_two_halves ()
{
  local half=$(((NMS_WIDTH + 1) / 2 * 2))
  NMS_DRAW=(boxoverlay show-label=false show-score=false)
  NMS_CAPTION=(textoverlay valignment=top halignment=left shaded-background=true
    'font-desc="Sans Bold 11"')
  NMS_MIX=(compositor name=mix background=black sink_1::xpos="$half"
    ! "video/x-raw,width=$((2 * half)),height=$(((NMS_HEIGHT + 1) / 2 * 2))" ! videoconvert)
}

# Sets NMS_ENCODE: H.264 in MP4, written to the file $1. mp4mux's temporary file is beside
# it, so that it is removed with its folder when the script is interrupted.
nms_encode ()
{
  NMS_ENCODE=(videoconvert ! video/x-raw,format=I420
    ! x264enc speed-preset=veryfast pass=quant quantizer=21 bframes=0 key-int-max=60
    ! mp4mux faststart=true "$(nms_set faststart-file "$1.faststart")"
    ! filesink "$(nms_set location "$1")")
}

# Makes NMS_WORK, a temporary folder $1/.NAME.xxx for unfinished results.
nms_work_dir () { nms_temporary NMS_WORK "$1/.$NMS_SELF.XXXXXX"; }

# Prints the errors of a pipeline that failed, and ends the script.
nms_failed ()
{
  grep -E -A 2 '^ERROR' "$1" >&2 || tail -n 20 "$1" >&2
  die "${2:-the pipeline failed}"
}

# Prints the number of boxes in each line of a recording. Each box has a member `"x":`;
# within a text its quotes would be escaped.
nms_count_boxes () { awk '{ print gsub (/"x":/, "&") }' "$1"; }

# nms_boxes N: prints "1 box" or "N boxes".
nms_boxes () { if [ "$1" = 1 ]; then printf '1 box'; else printf '%s boxes' "$1"; fi; }

# Prints the number of boxes in a recording.
nms_total_boxes () { nms_count_boxes "$1" | awk '{ n += $1 } END { print n + 0 }'; }
