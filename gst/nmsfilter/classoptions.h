/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * classoptions: the properties `classes` and `class-options` in the form that is used
 * on every frame. Both objects are immutable and have a reference count, so a frame
 * keeps the ones it began with while the application sets new ones.
 */
#pragma once

#include <gst/gst.h>

#include "boxlimits.h"
#include "nmscore.h"

G_BEGIN_DECLS

/* The class id of a label in the core. Boxes without a label have ids of 0 or less. */
#define CLASS_ID_OF_LABEL(quark) ((gint32) (quark))

/* ------------------------------------------------------- options per class */

typedef struct
{
  gint ref_count;
  guint count;
  nms_class_options *options;  /* by class_id, ascending */
  nms_class_options *unscored; /* the same without the score thresholds */
  BoxLimits *limits;           /* of the same classes; NULL: none has any */
} ClassOptions;

/* Parses class-options, in either form:
 *   o,person=[o,iou-threshold=0.3],car=[o,max=5]
 *   o,options=<[o,class="traffic light",score-threshold=0.2],[o,class=car,max=5]>
 * The keys are iou-threshold, score-threshold, max and the names of box_limit_name.
 * Numbers may have any numeric type, or be text. Returns NULL if a key is unknown, a
 * value is not a number or out of range, or a class is missing or listed twice. *error is
 * then one sentence that names the class and the key; free it with g_free. */
ClassOptions *class_options_parse (const GstStructure *structure, gchar **error);

/* Take and release a reference. Both accept NULL. */
ClassOptions *class_options_ref (ClassOptions *options);
void class_options_unref (ClassOptions *options);

/* Returns the score threshold of a class, or `otherwise` if the class has none of its
 * own. `options` may be NULL. */
gfloat class_options_score_threshold (const ClassOptions *options, gint32 class_id,
    gfloat otherwise);

/* Returns the limits of a class, or NULL if no class has any. */
const BoxLimits *class_options_limits (const ClassOptions *options, gint32 class_id);

/* -------------------------------------------------- classes that take part */

typedef struct
{
  gint ref_count;
  guint count;
  GQuark labels[]; /* ascending */
} ClassSelection;

/* Parses the labels of classes, separated by commas; blanks around them and empty ones are
 * ignored. Returns NULL if none is left: all classes take part. */
ClassSelection *class_selection_parse (const gchar *text);

/* Take and release a reference. Both accept NULL. */
ClassSelection *class_selection_ref (ClassSelection *selection);
void class_selection_unref (ClassSelection *selection);

/* Returns whether the boxes of a label take part: always if `selection` is NULL. An
 * empty label (0) is in no selection. */
gboolean class_selection_has (const ClassSelection *selection, GQuark label);

G_END_DECLS
