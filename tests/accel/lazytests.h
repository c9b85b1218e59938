/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lazytests: the main function of tests of lazy tensors. */
#pragma once

#include "nmslazy.h"

typedef struct {
  const char *path;
  void (*run) (void);
} LazyTest;

/* Runs tests, which end with a path that is NULL. Meanwhile *cache, unless that is
 * NULL, is an eager cache and *lz a context of it. */
int lazytests_run (int argc, char **argv, const LazyTest *tests, nms_lazy_cache **cache,
    nms_lazy **lz);
