/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlaframes: frames for engine xla, whatever the plugin: what the tests of a real
 * device and of one that says it is a TPU have in common. */
#pragma once

#include "frames.h"

/* Asks for the plugin's device, strictly or not. */
void xlaframes_ask (nms_options *options, const char *plugin, int strict);

/* frame_init with the seed `count`, and that. */
void xlaframes_init (Frame *frame, size_t count, const char *plugin, int strict);

/* The device ran the last frame, under this name, and nothing was refused. */
void xlaframes_check_in_use (nms_context *context, const char *name);

/* Threads with a context each run frames of many sizes; each must be right, and
 * no client of the plugin may be left. */
void xlaframes_check_threads (const char *plugin);
