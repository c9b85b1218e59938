# SPDX-License-Identifier: LGPL-2.1-or-later
# env: source this (`. pipelines/env.sh`) after quickstart.sh, and GStreamer's
# own programs find the plugin that it built.
NMS_PLUGIN_DIR=${NMS_PLUGIN_DIR:-${NMS_BUILD_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")/.." &&
  pwd)/build}/plugin/gst}
[ -f "$NMS_PLUGIN_DIR/libgstnms.so" ] || echo "env.sh: no plugin in $NMS_PLUGIN_DIR" >&2
export GST_PLUGIN_PATH="$NMS_PLUGIN_DIR${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}"
