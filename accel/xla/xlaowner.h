/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlaowner: the process that may use plugins, which is the first one that claims them. The threads
 * of a plugin do not exist in a forked process, where a transfer would wait for them for ever, and
 * a lock that a thread of the parent held stays locked there. So in a forked process each function
 * of engine xla and of nmsxla.h returns an error before it locks anything. Thread-safe; takes no
 * lock.
 */
#ifndef NMS_XLAOWNER_H
#define NMS_XLAOWNER_H

#include <stddef.h>

/* Makes this process the owner unless another one already is. Returns 0, or NMS_ERROR_DEVICE and
 * one line of text if the owner is another process, from which this one was forked. */
int nms__xla_owner_claim (char *error, size_t error_size);

/* Returns whether this process is the owner. */
int nms__xla_owner_is_self (void);

#endif
