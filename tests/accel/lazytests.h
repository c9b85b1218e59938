/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lazytests: the main function of tests of lazy tensors. */
#pragma once

#include "nmslazy.h"

typedef struct {
  const char *path;
  void (*run) (void);
} LazyTest;

/* Runs tests; the path of the last one is NULL. During each test *lz is a context of an
 * eager cache, which is also in *cache unless `cache` is NULL. */
int lazytests_run (int argc, char **argv, const LazyTest *tests, nms_lazy_cache **cache,
    nms_lazy **lz);
