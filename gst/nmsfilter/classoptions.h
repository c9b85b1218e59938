/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * classoptions: the properties `classes` and `class-options` in the form that
 * is used on every frame. Both results are immutable and counted, so that a
 * frame keeps the ones it began with while an application sets others.
 */
#pragma once

#include <gst/gst.h>

#include "nmscore.h"

G_BEGIN_DECLS

/* A label's class id in the core. The ids of empty labels are 0 or negative. */
#define CLASS_ID_OF_LABEL(quark) ((gint32) (quark))

/* ------------------------------------------------------- options per label */

typedef struct
{
  gint ref_count;
  guint count;
  nms_class_options *options;   /* by class_id, ascending */
  nms_class_options *unscored;  /* the same without the score thresholds */
} ClassOptions;

/* Reads both forms:
 *   o,person=[o,iou-threshold=0.3],car=[o,max=5]
 *   o,options=<[o,label="traffic light",score-threshold=0.2],[o,label=car,max=5]>
 * Numbers may have any numeric type, or be text. NULL and *error (free with
 * g_free; one sentence that names the label and the key) if a key is unknown,
 * a value is no number or out of range, or a label is missing or listed twice. */
ClassOptions *class_options_parse (const GstStructure * structure, gchar ** error);

/* Accept NULL. */
ClassOptions *class_options_ref (ClassOptions * options);
void class_options_unref (ClassOptions * options);

/* The score threshold of a class, `otherwise` where it has none of its own.
 * `options` may be NULL. */
gfloat class_options_score_threshold (const ClassOptions * options, gint32 class_id,
    gfloat otherwise);

/* The threshold as the core takes it: the lowest float that a property can
 * have stands for "keep all", which a score of -inf would not pass. */
gfloat class_options_threshold_for_core (gfloat threshold);

/* -------------------------------------------------- labels that take part */

typedef struct
{
  gint ref_count;
  guint count;
  GQuark labels[];              /* ascending */
} ClassSelection;

/* Comma-separated labels; blanks around them and empty ones are dropped. NULL
 * if there are none: all classes take part. */
ClassSelection *class_selection_parse (const gchar * text);

/* Accept NULL. */
ClassSelection *class_selection_ref (ClassSelection * selection);
void class_selection_unref (ClassSelection * selection);

/* `selection` NULL: TRUE. An empty label (0) is never on a list. */
gboolean class_selection_has (const ClassSelection * selection, GQuark label);

G_END_DECLS
