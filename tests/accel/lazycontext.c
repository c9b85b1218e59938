/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lazycontext: creates and frees a context of lazy tensors and its cache. */
#include "lazycontext.h"

#include "nmsxla.h"

#include <glib.h>

nms_lazy_cache *cache;
nms_lazy *lz;
static nms_lazy_backend *backend;

const char *
lazycontext_start (const char *needs)
{
  const char *plugin = g_getenv ("NMS_TEST_XLA_PLUGIN");

  if (g_getenv ("NMS_TEST_LAZY_DEVICE")) {
    if (!plugin)
      return "NMS_TEST_XLA_PLUGIN names no plugin; tools/fetch-xla.sh fetches one";
    g_assert_cmpint (nms_xla_open (plugin, &backend, NULL, 0), ==, NMS_OK);
  }
  cache = nms_lazy_cache_new (backend, 0);
  lz = nms_lazy_new (cache);
  g_assert_nonnull (lz);
  return NULL;
}

void
lazycontext_finish (void)
{
  nms_lazy_free (&lz);
  nms_lazy_cache_free (&cache);
  nms_xla_close (&backend);
}
