#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sends lines to brokers on this machine: mosquitto, which is restarted meanwhile, and
# the broker for tests in the library of kcat (it keeps its messages in memory).
. "$(dirname "$0")/check.sh"

PATH=$PATH:/usr/sbin
for program in mosquitto mosquitto_sub kcat; do
  command -v $program >/dev/null || { echo "$program is missing (package mosquitto, \
mosquitto-clients or kcat)"; exit 77; }
done
/usr/bin/python3 -c 'import paho.mqtt' || { echo "package python3-paho-mqtt is missing"; exit 77; }

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
  ! until_true mosquitto_pub -h 127.0.0.1 -p "$port" -t hello -n || return 0
  cat broker.log >&2
  fail "mosquitto does not start"
}

# lines FIRST LAST PAUSE: lines as boxrecord writes them, with pauses between them
lines ()
{
  local i
  for ((i = $1; i <= $2; i++)); do
    printf '{"timestamp":%d,"objects":[%s]}\n' $i \
      "$([ $((i / 40 % 2)) = 1 ] || printf '{"roi_type":"a/b person"}')"
    [ "$3" = 0 ] || sleep "$3"
  done
}

at_least () { [ "$(grep -c "$2" "$3")" -ge "$1" ]; }

# Without a broker the program ends at once with one line.
ends 1 publish --host 127.0.0.1 < <(lines 1 1 0)
grep -q "^publish-mqtt: cannot connect to 127.0.0.1, port $port: " err ||
  { cat err >&2; fail "without a broker"; }

# A broker that is restarted: each line arrives, in order, if a second copy is left out. A count is
# published when it changes.
serve
mosquitto_sub -h 127.0.0.1 -p "$port" -i reader -c -q 1 -t 'gate/#' -t 'homeassistant/#' -v \
  >got 2>sub.err &
reader=$!
until_true grep -q 'as reader' broker.log
{ lines 1 150 0.02; until_true [ -e restarted ]; lines 151 200 0.02; } |
  publish --topic gate --home-assistant 'The gate' 2>err &
publisher=$!
until_true at_least 30 boxes got
kill $broker
wait $broker 2>/dev/null || true
sleep 0.5
serve
: >restarted
wait $publisher || { cat err >&2; fail "the publisher ended with an error"; }
grep -q '^200 lines sent, 200 acknowledged, 0 dropped, 0 lost$' err ||
  { cat err >&2; fail "not all lines were acknowledged"; }
until_true grep -q '"timestamp":200,' got
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
known=$(grep -c 'New client' broker.log)
{ lines 1 30 0; until_true [ -e killed ]; lines 31 100 0; } |
  publish --topic gate --queue 5 --drop --patience 0.5 2>err &
publisher=$!
until_true at_least $((known + 1)) 'New client' broker.log
kill -9 $broker
wait $broker 2>/dev/null || true
: >killed
rc=0
wait $publisher || rc=$?
awk -v rc=$rc '/^100 lines/ { exit 1 } / lost$/ { exit !(rc == 1 && $1 + $6 == 100 &&
  $1 - $4 == $8 && $8 > 0 && $6 > 0 && $8 <= 5) } END { if (!NR) exit 1 }' err ||
  { cat err >&2; fail "lines that are lost are not counted (status $rc)"; }

# With Kafka's protocol each line arrives once and in order, with a key.
# (a producer that has nothing to send holds the broker)
sleep 60 | kcat -P -b none -t none -X test.mock.num.brokers=1 -d mock >kafka.out 2>&1 &
until_true grep -aqE '127\.0\.0\.1:[0-9]' kafka.out
servers=$(grep -aoE '127\.0\.0\.1:[0-9]+' kafka.out | head -n 1)
lines 1 500 0 | kcat -P -b "$servers" -t boxes -k gate -X acks=all -X enable.idempotence=true ||
  fail "kcat cannot send"
timeout 30 kcat -C -b "$servers" -t boxes -o beginning -e -q >got ||
  fail "kcat cannot read"
lines 1 500 0 | cmp - got || fail "the lines in Kafka differ"
