/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlacontext: contexts for the options of a call, with engine xla if they name it. */
#ifndef NMS_PYTHON_XLACONTEXT_H
#define NMS_PYTHON_XLACONTEXT_H

#include "pyoptions.h"

/* Returns a spare context, or a new one; with engine xla its plugin is that of the options. Returns
 * NULL with an exception set. */
nms_context *xlacontext_take (module_state *state, const py_options *o);

/* Keeps the context for a later call, or frees it. */
void xlacontext_return (module_state *state, const py_options *o, nms_context *ctx);

#endif
