/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fakepjrt: what tests set and read in the fake plugin, whose variable they find by dlsym. */
#pragma once

#include <stdatomic.h>

typedef struct {
  atomic_long calls;   /* calls since a test set this to 0 */
  atomic_long fail_at; /* the value of `calls` at which a call fails; 0: none does */
  atomic_long objects; /* objects that have not been destroyed */
} FakePjrt;

extern FakePjrt fakepjrt;
