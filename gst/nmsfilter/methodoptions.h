/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* methodoptions: the property `method-options`, which holds what only some methods have. */
#pragma once

#include <gst/gst.h>
#include <nmscore.h>

G_BEGIN_DECLS

typedef struct
{
  gfloat sigma; /* 0: the default of the method */
  gfloat min_score;
  nms_fused_score fused_score;
} MethodOptions;

/* Parses method-options, such as o,sigma=0.3,min-score=0.05,fused-score=max; NULL has no option.
 * Options that are not in the structure get their defaults. Returns FALSE if a key is unknown or a
 * value is not in its range; *error is then one sentence without a full stop, to be freed, and
 * `options` has the defaults. */
gboolean method_options_parse (const GstStructure *structure, MethodOptions *options,
    gchar **error);

G_END_DECLS
