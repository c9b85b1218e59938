/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlaprobe: makes the program nms-xla-probe open a plugin before this process does, because a
 * plugin may abort, crash or block.
 */
#ifndef NMS_XLAPROBE_H
#define NMS_XLAPROBE_H

#include <stddef.h>

/* Runs the program on a plugin, unless this process has kept its answer for a file of that name,
 * device, inode, size and time of modification. Answers are kept if the plugin opened, crashed or
 * blocked, but not if it returned an error. Waits up to NMS_XLA_PROBE_SECONDS (30). One thread at
 * a time probes; the others wait. Returns 0 if the plugin may be opened, and also if the program
 * is absent or switched off; otherwise a code of nms_error and one line of text. */
int nms__xla_probe (const char *path, char *error, size_t error_size);

/* Returns 0 if the program can be run or is switched off, otherwise NMS_ERROR_DEVICE and one
 * line of text. */
int nms__xla_probe_check (char *error, size_t error_size);

#endif
