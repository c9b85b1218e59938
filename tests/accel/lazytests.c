/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lazytests: makes a cache and a context for each test. */
#include "lazytests.h"

#include <glib.h>

int
lazytests_run (int argc, char **argv, const LazyTest *tests, nms_lazy_cache **cache,
    nms_lazy **lz)
{
  int result;

  g_test_init (&argc, &argv, NULL);
  if (cache) {
    *cache = nms_lazy_cache_new (NULL, 0);
    *lz = nms_lazy_new (*cache);
  }
  for (; tests->path; tests++)
    g_test_add_func (tests->path, tests->run);
  result = g_test_run ();
  if (cache) {
    nms_lazy_free (lz);
    nms_lazy_cache_free (cache);
  }
  return result;
}
