/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* scoped: frees contexts, calls and results of the reference at the end of their scopes, by
 * g_autoptr (nms_context), g_auto (BoxCall) and g_auto (RefResult). */
#pragma once

#include "boxgen.h"
#include "reference.h"

#include <glib.h>

static inline void
scoped_context_free (nms_context *ctx)
{
  nms_context_free (&ctx);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (nms_context, scoped_context_free)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (BoxCall, boxcall_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RefResult, ref_result_clear)
