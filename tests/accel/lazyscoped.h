/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lazyscoped: frees contexts and caches of lazy tensors at the end of their scopes. */
#pragma once

#include "nmslazy.h"

#include <glib.h>

static inline void
lazyscoped_free (nms_lazy *context)
{
  nms_lazy_free (&context);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (nms_lazy, lazyscoped_free)

static inline void
lazyscoped_cache_free (nms_lazy_cache *shared)
{
  nms_lazy_cache_free (&shared);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (nms_lazy_cache, lazyscoped_cache_free)
