/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * filteroptions: the properties `class-options` and `class-groups`, in the form that is used on
 * every frame, and `method-options`, which holds what only some methods have.
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

/* A class of a group. */
typedef struct
{
  GQuark label;
  gint32 group; /* the class id of the first class of the group */
  guint rank;   /* 0 for the classes that rank first in the group, then 1, 2, ... */
} ClassGroup;

#define CLASS_GROUPS_MOST_RANKS 1000

/* Parses class-groups, such as "bus>truck>car;cup,glass": groups are separated by ";", ranks in a
 * group by ">", and classes of one rank by ",". Blanks around labels are ignored. Returns an array
 * of ClassGroup in ascending order of the labels, or NULL for NULL or text without a group.
 * Otherwise returns NULL and sets *error to the reason, to be freed, if the text cannot be used. */
GArray *class_groups_parse (const gchar *text, gchar **error);

/* Returns whether a group has ranks. FALSE if `groups` is NULL. */
gboolean class_groups_have_ranks (const GArray *groups);

/* Returns an array of nms_class_options in ascending order of class_id: those of class-options with
 * the groups of their classes, and the groups of other classes. Either argument may be NULL. */
GArray *class_options_with_groups (const GArray *options, const GArray *groups);

typedef struct
{
  gfloat sigma; /* 0 for the default of the method */
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
