#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The applications of pipelines/embed: keys, survivors, statistics, ends, errors.
. "$(dirname "$0")/check.sh"

run record --seconds 5 --output embed.jsonl
prepare embed
nms_prepare_python
video=$(nms_sample_video)

application ()
{
  case $1 in
    C) set -- "$NMS_EMBED_DIR/filter-video" "${@:2}" ;;
    Python) set -- "$NMS_PYTHON" "$PIPELINES/embed/filter-video.py" "${@:2}" ;;
  esac
  timeout --foreground -k 5 60 env ${NMS_PRELOAD:+"LD_PRELOAD=$NMS_PRELOAD"} "$@"
}

# Waits until the application has loaded the plugin, and plays for 3 s. (The name
# of the recording tells it from those that other tests start.)
loaded ()
{
  pid=$(pgrep -s 0 -n -f "filter-video.* embed.jsonl fakesink") &&
    grep -q libgstnms "/proc/$pid/maps"
}
playing () { until_true loaded || true; sleep 3; }

for language in C Python; do
  # Keys work while it plays, and the statistics agree with what the probe counted.
  { printf '+++'; playing; printf 'xq'; } |
    application $language "$video" embed.jsonl fakesink >out 2>err || fail "$language ended with $?"
  said '^iou-threshold is 0.35$'
  said '^iou-threshold is 0.45$'
  [[ $(tail -n 1 out) =~ ^([0-9]+)\ frames,\ boxes:\ ([0-9]+)\ in,\ ([0-9]+)\ out,\ ([0-9]+)\ seen$ ]] ||
    fail "the last line of $language: $(tail -n 1 out)"
  [ "${BASH_REMATCH[1]}" -gt 5 ] && [ "${BASH_REMATCH[1]}" -lt 60 ] || fail "${BASH_REMATCH[0]}"
  [ "${BASH_REMATCH[3]}" = "${BASH_REMATCH[4]}" ] || fail "${BASH_REMATCH[0]}"
  [ "${BASH_REMATCH[3]}" -gt 0 ] && [ "${BASH_REMATCH[3]}" -lt "${BASH_REMATCH[2]}" ] ||
    fail "${BASH_REMATCH[0]}"

  # Ctrl-C ends it properly; when no more keys can come it plays on.
  rc=0
  application $language "$video" embed.jsonl fakesink >out 2>err </dev/null &
  playing
  kill -INT "$pid"
  wait $! || rc=$?
  [ $rc = 0 ] || { cat out err >&2; fail "$language ended with $rc at Ctrl-C"; }
  said ' seen$'

  # A missing input ends the program with an error that names it.
  ends 1 application $language nosuch.avi embed.jsonl fakesink </dev/null
  grep -q '^filter-video.*: .*not found' err || { cat err >&2; fail "$language: no such video"; }
  ends 1 application $language "$video" nosuch.jsonl fakesink </dev/null
  grep -q 'nosuch.jsonl' err || { cat err >&2; fail "$language: no such recording"; }
done

# The example of the core without GStreamer.
printf '0 0 10 10 .8\n1 1 11 11 .9\n50 50 60 60 .7\nnan 0 1 1 1\n0 0 10 10 .5 7\n' |
  "$NMS_EMBED_DIR/boxes" 0.5 >out
[ "$(cat out)" = $'kept 1\nkept 2\nkept 4\n0 suppressed by 1\n3 invalid' ] || fail "$(cat out)"
! printf '1 2 3\n' | "$NMS_EMBED_DIR/boxes" 2>err || fail "a line of three numbers is taken"
grep -q 'line 1' err
! "$NMS_EMBED_DIR/boxes" 7 </dev/null 2>err || fail "a threshold of 7 is taken"
grep -q 'iou_threshold is 7' err

[ -e "$NMS_EMBED_DIR/yolo-head" ] || { echo "no yolo-head: built without accelerators"; exit 0; }

# A detector's head, decoded and filtered in one program: 2 classes, 4 anchors.
printf '5 6 50 5  5 5 50 5  10 10 10 10  10 10 10 10  .9 .8 .1 0  .1 .1 .7 .95' |
  "$NMS_EMBED_DIR/yolo-head" 2 4 0.5 0.5 >out
[ "$(cat out)" = $'0 0 10 10 0.95 1\n0 0 10 10 0.9 0\n45 45 55 55 0.7 1' ] || fail "$(cat out)"
"$NMS_EMBED_DIR/yolo-head" 2 4 0.5 0.5 --dump </dev/null >out
grep -q 'func.func @main(%a0: tensor<f32>, %a1: tensor<6x4xf32>' out || fail "no program is written"
! printf '1 2 x' | "$NMS_EMBED_DIR/yolo-head" 2 4 0.5 0.5 2>err || fail "a short head is taken"
grep -q 'ends too soon' err
! printf '1 %.0s' {1..24} | "$NMS_EMBED_DIR/yolo-head" 2 4 0.5 0.5 nosuch.so 2>err ||
  fail "a plugin that is not there is taken"
grep -q 'nosuch.so' err || fail "$(cat err)"
