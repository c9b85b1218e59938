/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* odrelations: the relation meta of a buffer, the types of its mtds and their relations. */
#pragma once

#include <gst/analytics/analytics.h>

G_BEGIN_DECLS

/* A relation between two mtds, which has a direction. */
typedef struct
{
  guint from, to; /* ids */
  GstAnalyticsRelTypes types;
} OdRelation;

/* A mtd without data that takes the place of a removed one, so that later ones keep their ids. */
extern const GstAnalyticsMtdImpl od_relations_placeholder;
#define OD_RELATIONS_PLACEHOLDER ((GstAnalyticsMtdType) &od_relations_placeholder)

/* Returns whether mtds of this type are masks (GstAnalyticsSegmentationMtd). */
gboolean od_relations_type_is_mask (GstAnalyticsMtdType type);

/* Returns whether this type is not known here, so that its data may contain positions and ids of
 * other mtds. Classes, tracks and tensors contain none of these, ODs and masks only positions. A
 * mtd without a type (0) and a placeholder contain nothing. */
gboolean od_relations_type_is_unknown (GstAnalyticsMtdType type);

/* Returns the semantic tag of a mtd, which says for example that a group is a hand; NULL if it has
 * none, or GStreamer has no tags. Free it. */
gchar *od_relations_tag (const GstAnalyticsMtd *mtd);

/* Sets the semantic tag of a mtd that has none. Does nothing if the tag is NULL. */
void od_relations_set_tag (GstAnalyticsMtd *mtd, const gchar *tag);

/* The data of an OD. */
typedef struct
{
  GQuark label;
  gint x, y, w, h;
  gfloat rotation, confidence;
} OdData;

/* Read and add an OD. The rotation of an OD is 0 before GStreamer 1.26. Returns FALSE if the meta
 * is full. */
OdData od_relations_read_od (const GstAnalyticsMtd *mtd);
gboolean od_relations_add_od (GstAnalyticsRelationMeta *meta, const OdData *data,
    GstAnalyticsODMtd *od);

/* Returns the relation meta of a buffer, or NULL if it has none or a locked one. */
GstAnalyticsRelationMeta *od_relations_meta (GstBuffer *buffer);

/* Writes the relations that start at mtd `id` into `relations` (a GArray of
 * OdRelation), beginning at element `used`, and returns the number of elements used
 * afterwards. The array grows in large steps, so its length is at least that number. */
guint od_relations_append (GstAnalyticsRelationMeta *meta, guint id, GArray *relations, guint used);

G_END_DECLS
