#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Lines to brokers on this machine: mosquitto, which is restarted meanwhile, and
# the broker for tests in the library of kcat (it keeps its messages in memory).
. "$(dirname "$0")/check.sh"

PATH=$PATH:/usr/sbin
for program in mosquitto mosquitto_sub kcat; do
  command -v $program >/dev/null || { echo "$program is missing (package mosquitto, \
mosquitto-clients or kcat)"; exit 77; }
done
/usr/bin/python3 -c 'import paho.mqtt' || { echo "package python3-paho-mqtt is missing"; exit 77; }
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$WORK"' EXIT

publish () { /usr/bin/python3 "$PIPELINES/live/publish-mqtt.py" --port "$port" "$@"; }
port=$(python3 -c 'import socket
with socket.create_server (("127.0.0.1", 0)) as free: print (free.getsockname ()[1])')
printf '%s\n' "listener $port 127.0.0.1" 'allow_anonymous true' 'user root' 'persistence true' \
  "persistence_location $PWD/" >mosquitto.conf

# Starts mosquitto and waits until it listens.
serve ()
{
  mosquitto -c mosquitto.conf >>broker.log 2>&1 &
  broker=$!
  for _ in $(seq 100); do
    ! mosquitto_pub -h 127.0.0.1 -p "$port" -t hello -n 2>/dev/null || return 0
    sleep 0.1
  done
  cat broker.log >&2
  fail "mosquitto does not start"
}

# lines COUNT PAUSE: that many lines as boxrecord writes them, with pauses between them
lines ()
{
  local i
  for ((i = 1; i <= $1; i++)); do
    printf '{"timestamp":%d,"objects":[%s]}\n' $i \
      "$([ $((i / 40 % 2)) = 1 ] || printf '{"roi_type":"a/b person"}')"
    [ "$2" = 0 ] || sleep "$2"
  done
}

# No broker: one line, at once.
rc=0
lines 1 0 | publish --host 127.0.0.1 2>err || rc=$?
[ $rc = 1 ] && grep -q "^publish-mqtt: cannot connect to 127.0.0.1, port $port: " err ||
  { cat err >&2; fail "without a broker it ends with $rc"; }

# A broker that is restarted: each line arrives, in order, if a second copy is left out. A count is
# published when it changes.
serve
mosquitto_sub -h 127.0.0.1 -p "$port" -i reader -c -q 1 -t 'gate/#' -t 'homeassistant/#' -v \
  >got 2>sub.err &
reader=$!
sleep 0.5
lines 200 0.02 | publish --topic gate --home-assistant 'The gate' 2>err &
publisher=$!
sleep 1.5
kill $broker
wait $broker 2>/dev/null || true
sleep 0.5
serve
wait $publisher || { cat err >&2; fail "the publisher ended with $?"; }
grep -q '^200 lines sent, 200 acknowledged, 0 dropped, 0 lost$' err ||
  { cat err >&2; fail "not all lines were acknowledged"; }
for _ in $(seq 100); do
  ! grep -q '"timestamp":200,' got || break
  sleep 0.1
done
kill $reader
sed -nE 's/^gate\/boxes .*"timestamp":([0-9]+),.*/\1/p' got | awk '!seen[$1]++' >numbers
seq 200 | cmp - numbers || { cat sub.err; fail "lines are missing or out of order"; }
grep -E '^gate/a_b_person' got | uniq >counts
printf 'gate/a_b_person %s\n' 1 0 1 0 1 0 | head -n "$(grep -c '' counts)" | cmp - counts ||
  { cat counts >&2; fail "the counts"; }
[ "$(grep -c '' counts)" -ge 4 ] || fail "too few counts"
grep -q '^homeassistant/sensor/The_gate_a_b_person/config {.*"state_topic": "gate/a_b_person"' got ||
  { grep homeassistant got >&2; fail "no sensor for Home Assistant"; }

# A broker that does not come back: what it did not acknowledge is counted as lost; with --drop
# the queue is bounded.
lines 100 0.02 | publish --topic gate --queue 5 --drop --patience 0.5 2>err &
publisher=$!
sleep 0.7
kill -9 $broker
rc=0
wait $publisher || rc=$?
awk -v rc=$rc '/^100 lines/ { exit 1 } / lost$/ { exit !(rc == 1 && $1 + $6 == 100 &&
  $1 - $4 == $8 && $8 > 0 && $6 > 0 && $8 <= 6) } END { if (!NR) exit 1 }' err ||
  { cat err >&2; fail "lines that are lost are not counted (status $rc)"; }

# Kafka's protocol: each line once and in order, with a key.
# (a producer that has nothing to send holds the broker)
sleep 60 | kcat -P -b none -t none -X test.mock.num.brokers=1 -d mock >kafka.out 2>&1 &
for _ in $(seq 100); do
  servers=$(grep -aoE '127\.0\.0\.1:[0-9]+' kafka.out | head -n 1 || true)
  [ -z "$servers" ] || break
  sleep 0.1
done
[ -n "$servers" ] || { cat kafka.out >&2; fail "kcat has no broker for tests"; }
lines 500 0 | kcat -P -b "$servers" -t boxes -k gate -X acks=all -X enable.idempotence=true ||
  fail "kcat -P ended with $?"
timeout 30 kcat -C -b "$servers" -t boxes -o beginning -e -q >got ||
  fail "kcat -C ended with $?"
lines 500 0 | cmp - got || fail "the lines in Kafka differ"
