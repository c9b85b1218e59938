# SPDX-License-Identifier: LGPL-2.1-or-later
# env: sets GST_PLUGIN_PATH, GST_PRESET_PATH and NMS_XLA_PROBE, so that GStreamer's programs
# find the plugin that quickstart.sh built, the detectors in Python, the presets and
# nms-xla-probe. Source it: `. pipelines/env.sh`.
NMS_DETECTOR_DIR=$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")" && pwd)/detectors
NMS_PLUGIN_DIR=${NMS_PLUGIN_DIR:-${NMS_BUILD_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")/.." &&
  pwd)/build}/plugin/gst}
[ -f "$NMS_PLUGIN_DIR/libgstnms.so" ] || echo "env.sh: no plugin in $NMS_PLUGIN_DIR" >&2
export GST_PLUGIN_PATH="$NMS_PLUGIN_DIR:$NMS_DETECTOR_DIR${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}"
export GST_PRESET_PATH="$NMS_PLUGIN_DIR/nmsfilter${GST_PRESET_PATH:+:$GST_PRESET_PATH}"
export NMS_XLA_PROBE=${NMS_XLA_PROBE-$NMS_PLUGIN_DIR/../tools/nms-xla-probe}
