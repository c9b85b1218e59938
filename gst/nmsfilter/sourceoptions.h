/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sourceoptions: the branches from which boxmerge took boxes, with what applies to the boxes of
 * each. Immutable after parsing, so that a frame can use them without a lock.
 */
#pragma once

#include "meta/box.h"

G_BEGIN_DECLS

#define SOURCE_OPTIONS_MOST_PRIORITY 1000 /* and the least one is its negative */

typedef struct
{
  gint ref_count;                /* atomic */
  guint count;                   /* 1 or more */
  GQuark *names;                 /* [count] */
  gfloat *weights;               /* [count]; above 0 */
  gint *priorities;              /* [count]; boxes with a higher one rank first */
  gfloat *score_thresholds;      /* [count]; boxes with a lower confidence are dropped */
  gboolean has_priorities;       /* they differ */
  gboolean has_score_thresholds; /* one is above -INFINITY */
} SourceOptions;

/* Parses names, each with an optional weight and options, as in
 * "main=2:priority=1,left,right=0.5:score-threshold=0.3". The defaults are the weight 1, the
 * priority 0 and no threshold. The first source is that of the main stream. Returns NULL for NULL
 * or text without a name. Otherwise returns NULL and sets *error to the reason, to be freed, if
 * the text cannot be used. */
SourceOptions *source_options_parse (const gchar *text, gchar **error);

/* Take and release a reference. Both accept NULL. */
SourceOptions *source_options_ref (SourceOptions *self);
void source_options_unref (SourceOptions *self);

/* Returns whether any option applies to a frame with this nms_method. FALSE if `self` is NULL. */
gboolean source_options_apply (const SourceOptions *self, gint method);

/* Returns the number of a source, 0 for a name that is not listed. */
gint source_options_find (const SourceOptions *self, GQuark name);

/* Returns the priority of a box; 0 if `self` is NULL. */
gint source_options_priority (const SourceOptions *self, const Box *box);

/* Returns whether the confidence of a box is below the threshold of its source. FALSE if the box
 * has none or if `self` is NULL. */
gboolean source_options_drop (const SourceOptions *self, const Box *box);

G_END_DECLS
