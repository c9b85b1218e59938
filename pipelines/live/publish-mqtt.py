#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""publish-mqtt: sends the lines of boxrecord from standard input to an MQTT broker.

Each line is a message of quality of service 1: the broker acknowledges it, and a line that was
not acknowledged before the connection broke is sent again, so it may arrive twice. Lines wait
while the broker is away, up to --queue of them. Then the program stops reading, and boxrecord
waits; with --drop the program reads on and drops new lines. The last line on standard error
counts the lines that were sent, acknowledged, dropped and lost. The exit status is 1 if a line
was dropped or lost.
"""
import argparse
import collections
import json
import os
import signal
import ssl
import sys
import threading

try:
    import paho.mqtt.client as mqtt
except ImportError:
    sys.exit("publish-mqtt: the module paho.mqtt is missing (package python3-paho-mqtt)")


IN_FLIGHT = 20            # messages that paho sends before the first acknowledgement


def arguments():
    parser = argparse.ArgumentParser(
        prog="publish-mqtt.py", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="localhost", help="the broker (default: localhost)")
    parser.add_argument("--port", type=int, help="its port (default: 1883, with --tls 8883)")
    parser.add_argument("--tls", action="store_true", help="encrypt, and check the certificate")
    parser.add_argument("--user", help="user name; the password is in the variable MQTT_PASSWORD")
    parser.add_argument("--topic", default="nms/camera",
                        help="lines go to TOPIC/boxes (default: nms/camera)")
    parser.add_argument("--counts", action="store_true",
                        help="publish the number of boxes of each label as TOPIC/LABEL, retained, "
                             "when it changes, as Frigate does")
    parser.add_argument("--home-assistant", metavar="NAME",
                        help="as --counts, and announce a sensor NAME for each label by Home "
                             "Assistant's MQTT discovery")
    parser.add_argument("--queue", type=int, default=1000,
                        help="lines that may wait for the broker (default: 1000)")
    parser.add_argument("--drop", action="store_true", help="drop lines when the queue is full")
    parser.add_argument("--patience", type=float, default=10,
                        help="seconds to wait for acknowledgements at the end (default: 10)")
    options = parser.parse_args()
    if options.queue < 1 or options.patience < 0:
        parser.error("--queue takes at least 1, and --patience at least 0")
    if not options.topic or set("+#") & set(options.topic):
        parser.error("--topic must not be empty and contains neither + nor #")
    options.port = options.port or (8883 if options.tls else 1883)
    return options


class Publisher:
    """Messages on their way, in order. A thread gives them to paho, whose own thread calls
    on_connect (), on_disconnect () and on_publish (). After a reconnection paho sends the messages
    without an acknowledgement again, but would send a new one before them. New ones therefore
    wait for the first acknowledgement."""

    def __init__(self, options):
        self.options = options
        self.accepted = self.acknowledged = self.dropped = self.uncounted = 0   # lines
        self.pending = collections.deque()   # (topic, text, is_line, retain), not given to paho
        self.waiting = {}         # id of a message that paho has: it is a line
        self.early = set()        # ids that were acknowledged before publish () returned them
        self.unsettled = 0        # messages without an acknowledgement
        self.open = False         # a new message may be sent
        self.counts = {}          # label: the number that was published last
        self.refused = None
        self.changed = threading.Condition()
        version = getattr(mqtt, "CallbackAPIVersion", None)   # from paho 2.0 on
        self.client = mqtt.Client(*([version.VERSION1] if version else []))
        self.client.on_publish = self.on_publish
        self.client.on_connect = self.on_connect
        self.client.on_disconnect = self.on_disconnect
        self.client.reconnect_delay_set(1, 5)
        if options.user:
            self.client.username_pw_set(options.user, os.environ.get("MQTT_PASSWORD"))
        if options.tls:
            self.client.tls_set_context(ssl.create_default_context())

    # ---- called in paho's thread

    def on_connect(self, client, userdata, flags, code):
        with self.changed:
            if code:
                self.refused = mqtt.connack_string(code)
            self.open = not self.waiting
            self.changed.notify_all()

    def on_disconnect(self, client, userdata, code):
        with self.changed:
            self.open = False

    def on_publish(self, client, userdata, number):
        with self.changed:
            if number in self.waiting:
                self.settle(self.waiting.pop(number))
            else:
                self.early.add(number)
            self.open = True
            self.changed.notify_all()

    def settle(self, is_line):
        self.unsettled -= 1
        self.acknowledged += is_line

    # ---- the thread that sends

    def send_all(self):
        while True:
            with self.changed:
                self.changed.wait_for(
                    lambda: self.pending and self.open and len(self.waiting) < IN_FLIGHT)
                topic, text, is_line, retain = self.pending.popleft()
                self.changed.notify_all()
            # (paho takes a lock here that it holds while it calls on_publish ())
            number = self.client.publish(topic, text, qos=1, retain=retain).mid
            with self.changed:
                if number in self.early:
                    self.early.remove(number)
                    self.settle(is_line)
                else:
                    self.waiting[number] = is_line
                self.changed.notify_all()

    # ---- the main thread

    def add(self, topic, text, is_line=False, retain=False):
        with self.changed:
            self.pending.append((topic, text, is_line, retain))
            self.unsettled += 1
            self.accepted += is_line
            self.changed.notify_all()

    def publish(self, line):
        """Adds a line, after a wait for space in the queue unless lines may be dropped."""
        with self.changed:
            if self.options.drop and self.unsettled >= self.options.queue:
                self.dropped += 1
                return
            self.changed.wait_for(lambda: self.refused or self.unsettled < self.options.queue)
        self.add(self.options.topic + "/boxes", line, is_line=True)

    def publish_counts(self, line):
        """Publishes the counts of labels that differ from those of the line before."""
        counts = dict.fromkeys(self.counts, 0)
        try:
            for box in json.loads(line)["objects"]:
                label = box.get("roi_type") or "object"
                counts[label] = counts.get(label, 0) + 1
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            self.uncounted += 1
            return
        for label, count in counts.items():
            if self.counts.get(label) != count:
                topic = self.options.topic + "/" + topic_level(label)
                if label not in self.counts and self.options.home_assistant:
                    self.announce(label, topic)
                self.add(topic, count, retain=True)
        self.counts = counts

    def announce(self, label, topic):
        name = topic_level(self.options.home_assistant + "_" + label)
        self.add(f"homeassistant/sensor/{name}/config", json.dumps({
            "name": f"{self.options.home_assistant} {label}", "unique_id": name,
            "state_topic": topic, "state_class": "measurement"}), retain=True)

    def run(self, lines):
        try:
            self.client.connect(self.options.host, self.options.port, keepalive=15)
        except (OSError, ValueError) as error:
            sys.exit(f"publish-mqtt: cannot connect to {self.options.host}, port"
                     f" {self.options.port}: {error}")
        self.client.loop_start()
        threading.Thread(target=self.send_all, daemon=True).start()
        for line in lines:
            line = line.strip()
            if line and not self.refused:
                self.publish(line)
                if self.options.counts or self.options.home_assistant:
                    self.publish_counts(line)
        with self.changed:
            self.changed.wait_for(lambda: self.refused or not self.unsettled,
                                  timeout=self.options.patience)
            lost = self.accepted - self.acknowledged
        self.client.disconnect()
        self.client.loop_stop()
        return lost


def topic_level(text):
    """Returns the text with the characters that have a meaning in topics replaced."""
    return "".join("_" if character in "+#/ \0" else character for character in text)


def main():
    # (Ctrl-C also ends the pipeline before it; the lines that it has written are still sent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    publisher = Publisher(arguments())
    lost = publisher.run(sys.stdin)
    if publisher.refused:
        sys.exit(f"publish-mqtt: the broker refuses the connection: {publisher.refused}")
    print(f"{publisher.accepted} lines sent, {publisher.acknowledged} acknowledged,"
          f" {publisher.dropped} dropped, {lost} lost"
          + (f", {publisher.uncounted} not in boxrecord's format" if publisher.uncounted else ""),
          file=sys.stderr)
    sys.exit(1 if lost or publisher.dropped else 0)


if __name__ == "__main__":
    main()
