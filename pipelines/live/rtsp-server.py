#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""rtsp-server: serves a video file by RTSP, in place of a camera. The file begins when the
first viewer connects.

usage: rtsp-server.py VIDEO jpeg|h264 [PORT]

Prints the camera's address, on loopback, when it is there; PORT 0, the default,
takes a free one. Ends when its standard output is closed.
"""
import signal
import sys

signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback while modules are loaded

import gi  # noqa: E402
gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

ENCODERS = {
    "jpeg": "jpegenc ! rtpjpegpay name=pay0",
    "h264": "x264enc tune=zerolatency speed-preset=ultrafast bitrate=4000 key-int-max=10"
            " ! h264parse ! rtph264pay name=pay0 config-interval=1",
}


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[2] not in ENCODERS:
        sys.exit(__doc__)
    Gst.init(None)
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(sys.argv[3] if len(sys.argv) > 3 else "0")
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_shared(True)
    # (sends each frame at its time, like a camera)
    factory.set_launch(f"( uridecodebin uri={Gst.filename_to_uri(sys.argv[1])}"
                       " ! videoconvert ! video/x-raw,format=I420"
                       f" ! identity sync=true ! {ENCODERS[sys.argv[2]]} )")
    server.get_mount_points().add_factory("/camera", factory)
    if not server.attach(None):
        sys.exit("rtsp-server.py: the port is taken")
    print(f"rtsp://127.0.0.1:{server.get_bound_port()}/camera", flush=True)
    loop = GLib.MainLoop()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # meant for who looks at the camera
    GLib.io_add_watch(sys.stdout, GLib.PRIORITY_DEFAULT, GLib.IOCondition.ERR,
                      lambda *_: loop.quit())
    loop.run()


if __name__ == "__main__":
    main()
