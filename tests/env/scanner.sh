#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# scanner: GStreamer's plugin scanner with a sanitizer's run-time library in it,
# without which it cannot load a plugin built with the sanitizer. What the many
# plugins of a system leak as they are looked at does not concern the tests.
LD_PRELOAD="$NMS_SCANNER_PRELOAD" ASAN_OPTIONS=detect_leaks=0 \
  exec "$(pkg-config --variable=pluginscannerdir gstreamer-1.0)/gst-plugin-scanner" "$@"
