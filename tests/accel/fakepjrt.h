/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fakepjrt: the functions of the fake plugin that tests call through dlsym. */
#pragma once

/* Makes a later call fail: 1 the next one, 2 the one after it, ...; 0: none. */
void fakepjrt_fail_at (long call);

/* Return the number of calls since then, and of objects that are not destroyed. */
long fakepjrt_calls (void);
long fakepjrt_objects (void);
