/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* odrelations: the relation meta of a buffer and the relations among its mtds. */
#pragma once

#include <gst/analytics/analytics.h>

G_BEGIN_DECLS

/* A relation between two mtds, which has a direction. */
typedef struct
{
  guint from, to; /* ids */
  GstAnalyticsRelTypes types;
} OdRelation;

/* Returns the relation meta of a buffer, or NULL if it has none or a locked one. */
GstAnalyticsRelationMeta *od_relations_meta (GstBuffer *buffer);

/* Writes the relations that start at mtd `id` into `relations` (a GArray of
 * OdRelation), beginning at element `used`, and returns the number of elements used
 * afterwards. The array grows in large steps, so its length is at least that number. */
guint od_relations_append (GstAnalyticsRelationMeta *meta, guint id, GArray *relations, guint used);

G_END_DECLS
