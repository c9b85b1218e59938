/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lazycontext: creates and frees a context of lazy tensors and its cache. */
#include "lazycontext.h"

#include <glib.h>

nms_lazy_cache *cache;
nms_lazy *lz;

const char *
lazycontext_start (const char *needs)
{
  cache = nms_lazy_cache_new (NULL, 0);
  lz = nms_lazy_new (cache);
  g_assert_nonnull (lz);
  return NULL;
}

void
lazycontext_finish (void)
{
  nms_lazy_free (&lz);
  nms_lazy_cache_free (&cache);
}
