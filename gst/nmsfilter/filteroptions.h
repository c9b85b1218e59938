/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * filteroptions: the properties `class-options`, in the form that is used on every frame, and
 * `method-options`, which holds what only some methods have.
 */
#pragma once

#include <gst/gst.h>
#include <nmscore.h>

G_BEGIN_DECLS

/* The class id of a label in the core. Boxes without a label have ids of 0 or less. */
#define CLASS_ID_OF_LABEL(quark) ((gint32) (quark))

/* Parses class-options (classlist.h) with the keys iou-threshold, score-threshold and max. Returns
 * an array of nms_class_options in ascending order of class_id. Returns NULL and the reason in
 * *error, as class_list_parse does. */
GArray *class_options_parse (const GstStructure *structure, gchar **error);

/* Returns the score threshold of a class, or `otherwise` if the class has none of its
 * own. `options` may be NULL. */
gfloat class_options_score_threshold (const GArray *options, gint32 class_id, gfloat otherwise);

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
