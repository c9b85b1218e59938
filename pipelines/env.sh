# SPDX-License-Identifier: LGPL-2.1-or-later
# env: tells this shell where the plugin is that quickstart.sh built, the detectors, the presets,
# nms-xla-probe and (in PATH) the command nms-filter. Source it: `. pipelines/env.sh`.
NMS_PIPELINES=$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")" && pwd)
NMS_PLUGIN_DIR=${NMS_PLUGIN_DIR:-${NMS_BUILD_DIR:-$NMS_PIPELINES/../build}/plugin/gst}
[ ! -d "$NMS_PLUGIN_DIR" ] || NMS_PLUGIN_DIR=$(cd "$NMS_PLUGIN_DIR" && pwd)
[ -f "$NMS_PLUGIN_DIR/libgstnms.so" ] ||
  echo "env.sh: no plugin in $NMS_PLUGIN_DIR (pipelines/quickstart.sh builds it)" >&2
# (hogdetect was built, the detectors in Python are in the checkout)
NMS_DETECTORS=${NMS_PLUGIN_DIR%/gst}/pipelines/detectors:$NMS_PIPELINES/detectors
export GST_PLUGIN_PATH="$NMS_PLUGIN_DIR:$NMS_DETECTORS${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}"
export GST_PRESET_PATH="$NMS_PLUGIN_DIR/nmsfilter${GST_PRESET_PATH:+:$GST_PRESET_PATH}"
export NMS_XLA_PROBE=${NMS_XLA_PROBE-${NMS_PLUGIN_DIR%/gst}/tools/nms-xla-probe}
export PATH="$NMS_PLUGIN_DIR/command:$PATH"
