/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * classoptions: the property `class-options` of nmsfilter in the form that is used on every
 * frame. It is immutable and has a reference count, so a frame keeps the one it began with while
 * the application sets a new one.
 */
#pragma once

#include <gst/gst.h>

#include "nmscore.h"

G_BEGIN_DECLS

/* The class id of a label in the core. Boxes without a label have ids of 0 or less. */
#define CLASS_ID_OF_LABEL(quark) ((gint32) (quark))

typedef struct
{
  gint ref_count;
  guint count;
  nms_class_options *options;  /* by class_id, ascending */
  nms_class_options *unscored; /* the same without the score thresholds */
} ClassOptions;

/* Parses class-options (classlist.h) with the keys iou-threshold, score-threshold and max. Numbers
 * may have any numeric type, or be text. Returns NULL and the reason in *error, as
 * class_list_parse does. */
ClassOptions *class_options_parse (const GstStructure *structure, gchar **error);

/* Take and release a reference. Both accept NULL. */
ClassOptions *class_options_ref (ClassOptions *options);
void class_options_unref (ClassOptions *options);

/* Returns the score threshold of a class, or `otherwise` if the class has none of its
 * own. `options` may be NULL. */
gfloat class_options_score_threshold (const ClassOptions *options, gint32 class_id,
    gfloat otherwise);

G_END_DECLS
