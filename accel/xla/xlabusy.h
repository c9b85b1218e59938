/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlabusy: counts the threads of this library that may be inside a plugin while no context
 * waits for them. Thread-safe.
 */
#ifndef NMS_XLABUSY_H
#define NMS_XLABUSY_H

/* Add 1 to the count, and subtract 1. */
void nms__xla_busy_begin (void);
void nms__xla_busy_end (void);

/* Waits up to `milliseconds` until the count is 0. Returns whether it is 0. Returns 1 at once in a
 * forked process, because the counted threads do not exist there. */
int nms__xla_busy_wait (unsigned milliseconds);

/* Makes the process wait for the threads, up to NMS__XLA_EXIT_MS milliseconds, when it ends. Call
 * it after a plugin is loaded: the C library then waits before it runs the destructors of the
 * plugin, which free memory that the threads use. */
#define NMS__XLA_EXIT_MS 3000
void nms__xla_busy_wait_at_exit (void);

/* Does the same if the caller is the main thread, before all functions of atexit (). A plugin
 * registers more destructors while it creates its client and compiles, which run before the wait
 * that was registered when it was loaded. */
void nms__xla_busy_wait_of_main (void);

#endif
