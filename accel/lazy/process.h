/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * process: decides which process may use plugins, and lets it end safely. Thread-safe.
 *
 * The process that may use plugins is the first one that claims them. The threads of a plugin do
 * not exist in a forked process, where a transfer would wait for them for ever, and a lock that a
 * thread of the parent held stays locked there. So in a forked process each function of engine xla
 * and of nmsxla.h returns an error before it locks anything.
 *
 * Threads of this library that may be inside a plugin while no context waits for them are counted,
 * because a process that ends has to wait for them.
 */
#ifndef NMS_PROCESS_H
#define NMS_PROCESS_H

#include <stddef.h>

/* Makes this process the owner of plugins unless another one already is. Returns 0, or
 * NMS_ERROR_DEVICE and one line of text if the owner is another process, from which this one was
 * forked. Takes no lock. */
int nms__process_claim (char *error, size_t error_size);

/* Returns whether this process is the owner. Takes no lock. */
int nms__process_is_owner (void);

/* Add 1 to the count, and subtract 1. */
void nms__process_begin (void);
void nms__process_end (void);

/* Waits up to `milliseconds` until the count is 0. Returns whether it is 0. Returns 1 at once in a
 * forked process, because the counted threads do not exist there. */
int nms__process_wait (unsigned milliseconds);

/* Makes the process wait for the threads, up to NMS__PROCESS_EXIT_MS milliseconds, when it ends; if
 * they need longer, it ends without its other functions of atexit (). Call it after a plugin is
 * loaded: the C library then waits before it runs the destructors of the plugin, which free memory
 * that the threads use. */
#define NMS__PROCESS_EXIT_MS 3000
void nms__process_wait_at_exit (void);

/* Makes the process wait before any function of atexit () runs, because a plugin registers more
 * destructors while it creates its client and compiles, and these run before the wait of
 * nms__process_wait_at_exit (). Does nothing outside of the main thread. It is called when this
 * library is loaded, and again later in case another thread loaded the library. */
void nms__process_wait_of_main (void);

#endif
