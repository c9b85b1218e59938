#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Ctrl-C, and SIGTERM: a script ends within 2 s with status 130, says so, and leaves
# neither a process nor a folder of results in the making.
. "$(dirname "$0")/check.sh"

mkdir tmp results
export TMPDIR=$PWD/tmp

said_or_ended () { grep -qs "$1" out err || ! kill -0 "$2"; }
# (a process that only waits for init to read its status is no longer there)
gone () { ! ps -o stat=,args= -s "$1" | grep -v '^Z' >processes; }

# killed SIGNAL TEXT SAYS COMMAND...: sends the signal when file out or err has the text; SIGINT goes
# to the process group, as from a terminal. The command says only SAYS.
killed ()
{
  local signal=$1 says=$3 pid start rc=0
  rm -f out err # the program empties them a moment later; the run before may have written the text
  # (a shell without job control starts background programs with SIGINT ignored)
  setsid env --default-signal=INT "${@:4}" >out 2>err &
  pid=$!
  until_true said_or_ended "$2" $pid || true
  # (of 400 times, timeout of coreutils 9.1 left its program running 4 times at a signal that arrived
  # while it started it)
  sleep 0.2
  start=$(date +%s%N)
  if [ "$signal" = INT ]; then kill -INT -- -$pid; else kill -$signal "$(pgrep -P $pid)"; fi
  wait $pid || rc=$?
  [ $rc != 77 ] || { cat err >&2; exit 77; }
  [ $rc = 130 ] || { cat out err >&2; fail "${*:4} ended with $rc at SIG$signal"; }
  [ $(($(date +%s%N) - start)) -lt 2000000000 ] || fail "${*:4} took more than 2 s to end"
  [ "$(cat err)" = "$says" ] || { cat err >&2; fail "${*:4} does not say '$says'"; }
  tries=20 until_true gone $pid || { cat processes >&2; fail "${*:4} leaves processes behind"; }
  [ -z "$(find tmp results -mindepth 1 | tee left)" ] || { cat left >&2; fail "${*:4} leaves files"; }
}

# interrupted SIGNAL TEXT SCRIPT ARGUMENTS...
interrupted ()
{
  killed "$1" "$2" "$3: interrupted" timeout --foreground -k 5 100 "$PIPELINES/$3.sh" "${@:4}"
}

interrupted INT 'frame [1-9]' quickstart --seconds 60 --output results
interrupted TERM 'frame [1-9]' quickstart --seconds 60 --output results
interrupted INT 'Detecting' small-people --output results
interrupted INT '"timestamp"' publish

# A signal during the build, which runs beside the installation of packages.
NMS_PLUGIN_DIR='' NMS_BUILD_DIR=$PWD/build interrupted INT 'Building' record --output results/raw

# A signal while bash expands $(...), which was a syntax error in the trap in three of four runs.
export COMMON=$PIPELINES/common.sh
cat >expanding.sh <<'END'
#!/usr/bin/env bash
. "$COMMON"
nms_arguments
nms_temporary folder "$TMPDIR/XXXXXX"
echo expanding
while :; do : "$(sleep 0.01)$(sleep 0.01)$(sleep 0.01)"; done
END
chmod +x expanding.sh
for _ in {1..5}; do PIPELINES=$PWD interrupted TERM expanding expanding; done

# A signal during programs that the scripts only wait for: a gst-inspect-1.0 that reads many plugins, and
# Python, which loads modules before camera.py handles signals.
mkdir slow
export SLOW_OUT=$PWD/out
printf '#!/bin/sh\necho inspecting >>"$SLOW_OUT"\nexec sleep 30\n' >slow/gst-inspect-1.0
chmod +x slow/gst-inspect-1.0
printf 'print ("loading", flush=True)\nimport time\ntime.sleep (30)\n' >slow/gi.py
PATH=$PWD/slow:$PATH interrupted TERM inspecting record --output results/raw.jsonl

# loading SAYS PROGRAM ARGUMENTS...: Ctrl-C while a program of live/ loads its modules
loading ()
{
  killed INT loading "$1" env PYTHONPATH="$PWD/slow" python3 "$PIPELINES/live/$2" "${@:3}"
}
loading 'live-camera: interrupted' camera.py rtsp://127.0.0.1/ --detector identity
loading 'view-in-browser: interrupted' view.py rtsp://127.0.0.1/ --detector identity
loading '' rtsp-server.py video.avi jpeg
