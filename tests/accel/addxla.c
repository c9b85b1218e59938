/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* addxla: links engine xla and the program of lazy tensors into test programs of the core. */
#include "conformance.h"
#include "lazynms.h"
#include "nmsxla.h"

#include <stdlib.h>

int
enginecheck_add_engine (nms_context *ctx)
{
  const char *plugin = getenv ("NMS_TEST_XLA_PLUGIN");
  nms_added_engine engine = { .size = sizeof engine };

  if (!plugin || !ctx)
    return plugin ? NMS_OK : NMS_ERROR_UNSUPPORTED;
  int error = nms_xla_engine (plugin, NMS_XLA_STRICT, &engine);
  return error ? error : nms_context_add_engine (ctx, &engine);
}

void
conformance_check_lazy (const nms_boxes *boxes, const nms_options *options)
{
  nms_lazy_cache *cache = nms_lazy_cache_new (NULL, 0);
  nms_lazy *lazy = nms_lazy_new (cache);

  nms_lazy_cache_free (&cache);
  g_assert_nonnull (lazy);
  for (unsigned flags = 0; flags <= NMS_LAZY_NO_DIVISION && !boxes->angle.data; flags++)
    lazynms_check (lazy, boxes, options, boxes->count + !boxes->count, flags);
  nms_lazy_free (&lazy);
}
