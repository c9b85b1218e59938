/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fakepjrt: what a test asks of the fake plugin, by dlsym. */
#pragma once

/* Lets the call of that number, counted from now, fail; 0: none. */
void fakepjrt_fail_at (long call);

/* Calls since then; and objects that have not been destroyed. */
long fakepjrt_calls (void);
long fakepjrt_alive (void);
