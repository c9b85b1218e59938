/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sourceweights: the branches from which boxmerge took boxes, with their weights for method
 * weighted. Immutable after parsing, so that a frame can use them without a lock.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  gint ref_count;               /* atomic */
  guint count;                  /* 1 or more */
  GQuark *names;                /* [count] */
  gfloat *weights;              /* [count]; above 0 */
} SourceWeights;

/* Parses names with optional weights, "main=2,left,right=0.5"; a name without a weight has 1.
 * Returns NULL for NULL or text without a name. Otherwise returns NULL and sets *error to the
 * reason, to be freed, if the text cannot be used. */
SourceWeights *source_weights_parse (const gchar * text, gchar ** error);

/* Take and release a reference. Both accept NULL. */
SourceWeights *source_weights_ref (SourceWeights * weights);
void source_weights_unref (SourceWeights * weights);

/* Returns the number of a source, 0 for a name that is not listed. */
gint source_weights_find (const SourceWeights * weights, GQuark name);

G_END_DECLS
