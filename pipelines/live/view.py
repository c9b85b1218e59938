#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""view: a page with the filtered video of a camera or file; view-in-browser.sh starts it.

The pipeline is that of camera.py. Its pictures are encoded once, as JPEG, and each viewer gets
the newest one when it has taken the one before (multipart/x-mixed-replace, which browsers show
in an image). A viewer therefore has a thread of its own and holds up no other. The page reads
/state each second and posts what the viewer changes to /settings, in JSON.
"""
import os
import signal
import sys


def interrupted(*_):
    """Ends the program at Ctrl-C while modules are loaded, before run () handles signals."""
    print("view-in-browser: interrupted", file=sys.stderr, flush=True)
    os._exit(130)


signal.signal(signal.SIGINT, interrupted)

import collections  # noqa: E402
import http.server  # noqa: E402
import ipaddress  # noqa: E402
import json  # noqa: E402
import math  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

import camera  # noqa: E402
from camera import GLib, Gst, say  # noqa: E402

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "view.html")
# the statistics that the page shows: all but times and those that count kept boxes twice
COUNTS = ["frames", "boxes-in", "boxes-out", "suppressed", "below-score", "not-candidate",
          "over-cap", "too-few-neighbors", "no-score", "invalid", "dropped-class"]
SLIDERS = {"iou-threshold": (0, 1), "score-threshold": (0, 1), "min-neighbors": (0, 20)}
STALLED = 10            # seconds after which a viewer that takes nothing is disconnected
LARGEST_REQUEST = 65536


def arguments():
    parser = camera.common_arguments(__doc__.split("\n")[0])
    parser.add_argument("--listen", default="127.0.0.1", help="address to listen at")
    parser.add_argument("--port", type=int, default=8080, help="0: any free one")
    parser.add_argument("--loop", action="store_true", help="play a file again at its end")
    return parser.parse_args()


class Pictures:
    """The newest JPEG. Any number of threads may wait for the next one."""

    def __init__(self):
        self.changed = threading.Condition()
        self.number, self.jpeg = 0, b""

    def put(self, jpeg):
        with self.changed:
            self.number, self.jpeg = self.number + 1, jpeg
            self.changed.notify_all()

    def after(self, number):
        """Waits for a picture after that number; returns its number and its bytes, which are
        empty if there was none for 10 s."""
        with self.changed:
            if self.changed.wait_for(lambda: self.number != number, timeout=10):
                return self.number, self.jpeg
            return number, b""


class View(camera.Program):
    def __init__(self, options):
        options.detector += " ! boxrecord name=raw emit-signals=true"
        super().__init__(options, camera.filtered(options)
                         + " filtered. ! queue leaky=downstream max-size-buffers=1 ! videoconvert"
                         " ! video/x-raw,format=I420 ! jpegenc ! appsink name=pictures"
                         " emit-signals=true sync=false max-buffers=1 drop=true")
        self.pictures = Pictures()
        self.lock = threading.Lock()   # guards the fields below
        self.viewers = 0
        self.labels = collections.Counter()   # boxes of the detector by label
        self.arrivals = collections.deque(maxlen=64)   # (PTS, time.monotonic_ns ()) of frames
        self.measured = {"frames-per-second": 0, "dropped": 0, "microseconds": 0, "latency-ms": 0}
        self.totals = {}         # the fields of nmsfilter's statistics
        self.recent = {}         # the same fields for a frame, as means of the last second
        self.filter = self.pipeline.get_by_name("filter")
        self.select = self.pipeline.get_by_name("select")
        self.pipeline.get_by_name("raw").connect("frame-boxes", self.on_boxes)
        self.pipeline.get_by_name("pictures").connect("new-sample", self.on_picture)

    # ---- called in streaming threads

    def on_frame(self, sample):
        super().on_frame(sample)
        with self.lock:
            self.arrivals.append((self.pts, time.monotonic_ns()))

    def on_boxes(self, record, buffer, structure):
        labels = [box.get_string("label") if box.has_field("label") else ""
                  for box in structure.get_value("boxes")]
        with self.lock:
            self.labels.update(labels)

    def on_picture(self, sink):
        buffer = sink.emit("pull-sample").get_buffer()
        now = time.monotonic_ns()
        with self.lock:
            for pts, arrival in self.arrivals:
                if pts == buffer.pts:
                    self.measured["latency-ms"] = round((now - arrival) / 1e6, 1)
        self.pictures.put(buffer.extract_dup(0, buffer.get_size()))
        return Gst.FlowReturn.OK

    # ---- called in the main loop

    def on_element(self, bus, message):
        super().on_element(bus, message)
        structure = message.get_structure()
        if structure and structure.get_name() == "nmsfilter":
            names = [structure.nth_field_name(i) for i in range(structure.n_fields())]
            totals = {name: structure.get_uint64(name)[1] for name in names if name in COUNTS}
            dropped = self.select.get_property("stats").get_uint64("dropped-class")[1]
            totals.update({"dropped-class": dropped, "boxes-in": totals["boxes-in"] + dropped})
            with self.lock:
                before = self.totals or dict.fromkeys(totals, 0)
                frames = totals["frames"] - before["frames"]
                if frames > 0:
                    self.recent = {name: (totals[name] - before[name]) / frames for name in totals}
                self.totals = totals

    def on_report(self, frames, microseconds):
        with self.lock:
            self.measured.update({"frames-per-second": frames, "dropped": self.dropped(),
                                  "microseconds": round(microseconds, 1)})

    def on_gone(self, why):
        if self.options.loop and self.offset is not None:   # (None: it had no frame at all)
            self.connect()
        else:
            super().on_gone(why)

    # ---- called in the threads of the server

    def state(self):
        """Returns what /state says."""
        dropped = set(filter(None, (self.select.get_property("drop-classes") or "").split(",")))
        settings = {name: self.filter.get_property(name) for name in SLIDERS}
        settings["score-threshold"] = max(0, settings["score-threshold"])   # (may be -inf)
        with self.lock:
            return {"measured": dict(self.measured), "totals": dict(self.totals),
                    "recent": dict(self.recent), "settings": settings, "viewers": self.viewers,
                    "labels": [{"label": label, "boxes": boxes, "shown": label not in dropped}
                               for label, boxes in sorted(self.labels.items())]}

    def set(self, changes):
        """Changes properties of nmsfilter and boxselect; a ValueError says what is wrong."""
        if not isinstance(changes, dict):
            raise ValueError("an object with settings is needed")
        for name, value in changes.items():
            if name == "drop-classes":
                if not isinstance(value, list) or any(
                        not isinstance(label, str) or not label or "," in label
                        for label in value):
                    raise ValueError("drop-classes takes a list of classes without commas")
            elif name not in SLIDERS:
                raise ValueError(f"there is no setting '{name}'")
            elif (not isinstance(value, (int, float)) or isinstance(value, bool)
                  or not math.isfinite(value)
                  or not SLIDERS[name][0] <= value <= SLIDERS[name][1]):
                raise ValueError("%s takes a number from %g to %g" % ((name,) + SLIDERS[name]))
        for name, value in changes.items():
            if name == "drop-classes":
                self.select.set_property(name, ",".join(value))
            else:
                self.filter.set_property(name, int(value) if name == "min-neighbors" else value)


class Handler(http.server.BaseHTTPRequestHandler):
    timeout = STALLED
    protocol_version = "HTTP/1.1"

    def answer(self, status, kind, content):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def refuse(self, status, why):
        self.close_connection = True   # (a body may not have been read)
        self.answer(status, "text/plain; charset=utf-8", (why + "\n").encode())

    def is_local(self):
        """False for a request that another page sent to this machine under a name of its own."""
        host = self.headers.get("Host", "").rsplit(":", 1)[0].strip("[]")
        return not self.server.loopback or host in ("localhost", "127.0.0.1", "::1")

    def do_GET(self):
        if not self.is_local():
            self.refuse(403, "unknown host")
        elif self.path == "/":
            with open(PAGE, "rb") as file:
                self.answer(200, "text/html; charset=utf-8", file.read())
        elif self.path == "/state":
            self.answer(200, "application/json", json.dumps(self.server.view.state()).encode())
        elif self.path == "/video":
            self.video()
        else:
            self.refuse(404, "there is no such page")

    def do_POST(self):
        size = self.headers.get("Content-Length", "")
        if not self.is_local():
            self.refuse(403, "unknown host")
        elif self.path != "/settings":
            self.refuse(404, "there is no such page")
        # (a browser sends this type from a page of another site only after asking us)
        elif self.headers.get_content_type() != "application/json":
            self.refuse(415, "the settings are application/json")
        elif not size.isdecimal() or int(size) > LARGEST_REQUEST:
            self.refuse(413, "the settings are missing or too long")
        else:
            try:
                self.server.view.set(json.loads(self.rfile.read(int(size))))
            except (ValueError, RecursionError) as error:
                self.refuse(400, str(error))
            else:
                self.answer(200, "application/json", b"{}")

    def video(self):
        """Sends pictures until the viewer is gone, or takes none for STALLED seconds."""
        view, number = self.server.view, 0
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=picture")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        with view.lock:
            view.viewers += 1
        try:
            while True:
                number, jpeg = view.pictures.after(number)
                self.wfile.write(b"--picture\r\nContent-Type: image/jpeg\r\nContent-Length: %d"
                                 b"\r\n\r\n%s\r\n" % (len(jpeg), jpeg) if jpeg else b"")
        except OSError:
            pass   # the viewer is gone
        finally:
            with view.lock:
                view.viewers -= 1

    def log_message(self, *_):
        pass   # (http.server would print a line for each request)


class Server(http.server.ThreadingHTTPServer):
    def __init__(self, options, view):
        address = ipaddress.ip_address(options.listen)
        self.address_family = {4: http.server.socketserver.socket.AF_INET,
                               6: http.server.socketserver.socket.AF_INET6}[address.version]
        super().__init__((options.listen, options.port), Handler)
        self.view, self.loopback = view, address.is_loopback

    def server_bind(self):
        # (HTTPServer would look for the name of the address, which can take seconds)
        http.server.socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def handle_error(self, request, client_address):
        pass   # (a viewer that closes the connection midway)

    def say(self, options):
        shown = f"[{options.listen}]" if ":" in options.listen else options.listen
        say(f"Open http://{shown}:{self.server_port}/ in a browser; "
            + ("only this machine can (--listen 0.0.0.0 lets others)." if self.loopback
               else "every machine that reaches this address can see and change it."))


def main():
    options = arguments()
    Gst.init(None)
    try:
        view = View(options)
        server = Server(options, view)
    except GLib.Error as error:
        sys.exit(f"view-in-browser: {error.message}")
    except (OSError, OverflowError) as error:
        sys.exit(f"view-in-browser: cannot listen at {options.listen}, port {options.port}:"
                 f" {error}")
    except ValueError as error:
        sys.exit(f"view-in-browser: --listen takes an IP address: {error}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.say(options)
    failure = view.run()
    server.shutdown()
    say(f"{view.taken} frames")
    if failure:
        sys.exit(f"view-in-browser: {failure}")


if __name__ == "__main__":
    main()
