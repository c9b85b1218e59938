/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * odrebuild: takes mtds out of a GstAnalyticsRelationMeta. GstAnalytics can only
 * add, so the meta is built anew from what stays.
 */
#pragma once

#include <gst/analytics/analytics.h>

G_BEGIN_DECLS

/* One relation, which has a direction. */
typedef struct
{
  guint from, to;
  GstAnalyticsRelTypes types;
} OdEdge;

/* Fills an array of OdEdge with all relations of the meta. */
void od_edges_collect (GstAnalyticsRelationMeta * meta, GArray * edges);

typedef struct
{
  GstAnalyticsRelationMeta *meta;       /* the one to take from */
  guint count;                  /* mtds it has */
  guint8 *goes;                 /* count; not 0: this mtd goes */
  gboolean ids_stay;            /* somebody holds ids: see od_meta_remove */
  guint room;                   /* for mtds that will be added afterwards */
  const GArray *edges;          /* of the meta, or NULL: not collected yet */
  gint *new_id;                 /* count; by the rebuild: -1 for what has gone */
} OdRebuild;

/* For a meta of which nothing goes yet. */
void od_rebuild_init (OdRebuild * self, GstAnalyticsRelationMeta * meta);
void od_rebuild_clear (OdRebuild * self);

/* Puts what stays in the place of the meta on its buffer, which is writable;
 * with the ODs that go goes what is related to no other. Returns the new one. */
GstAnalyticsRelationMeta *od_rebuild_replace (OdRebuild * self, GstBuffer * buffer);

/* Puts what stays, likewise, on another buffer that has no relation meta; the
 * one of `buffer` stays as it is. */
void od_rebuild_copy (OdRebuild * self, GstBuffer * buffer, GstBuffer * target);

G_END_DECLS
