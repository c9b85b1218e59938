/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sourceoptions: the branches from which boxmerge took boxes, with what applies to the boxes of
 * each. The arrays do not change after parsing, so that a frame can use them without a lock.
 */
#pragma once

#include "meta/box.h"

G_BEGIN_DECLS

#define SOURCE_OPTIONS_MOST_PRIORITY 1000 /* priorities range from -1000 to 1000 */

typedef struct
{
  GQuark name;
  gfloat weight;          /* above 0 */
  gint priority;          /* boxes with a higher priority rank first */
  gfloat score_threshold; /* boxes with a lower confidence are dropped */
} SourceOption;

/* Parses names, each with an optional weight and options, as in
 * "main=2:priority=1,left,right=0.5:score-threshold=0.3". The defaults are the weight 1, the
 * priority 0 and no threshold. The first source is that of the main stream. Returns an array of
 * SourceOption, or NULL for NULL or text without a name. Otherwise returns NULL and sets *error to
 * the reason, to be freed, if the text cannot be used. */
GArray *source_options_parse (const gchar *text, gchar **error);

/* Return whether the priorities differ, and whether a score threshold is above -INFINITY. Both
 * return FALSE if `self` is NULL. */
gboolean source_options_have_priorities (const GArray *self);
gboolean source_options_have_thresholds (const GArray *self);

/* Returns the number of a source, 0 for a name that is not listed. */
guint source_options_find (const GArray *self, GQuark name);

G_END_DECLS
