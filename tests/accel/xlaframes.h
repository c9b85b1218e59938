/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlaframes: frames for engine xla, for the tests of a real device and of the fake
 * TPU. */
#pragma once

#include "frames.h"

/* Adds engine xla with this plugin to the context, with or without NMS_XLA_STRICT. */
void xlaframes_ask (nms_context *context, const char *plugin, int strict);

/* Calls frame_init with the seed `count`, and sets engine xla in the frame. */
void xlaframes_init (Frame *frame, size_t count, const char *plugin, int strict);

/* Checks that the device of this name ran the last frame and is not refused. */
void xlaframes_check_in_use (nms_context *context, const char *name);

/* Runs frames of many sizes in threads with one context each. Each result must be
 * right, and no device may remain open. */
void xlaframes_check_threads (const char *plugin);
