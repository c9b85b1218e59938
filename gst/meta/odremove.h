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

/* Writes the relations from one mtd to others into an array of OdEdge, from
 * element `used` on, and returns how many are used then. The array may be longer,
 * and is made longer by more than needed. */
guint od_edges_add (GstAnalyticsRelationMeta * meta, guint id, GArray * edges, guint used);

typedef struct
{
  GstAnalyticsRelationMeta *meta;       /* the one to take from */
  guint count;                  /* mtds it has */
  guint8 *goes;                 /* count; not 0: this mtd goes */
  gboolean ids_stay;            /* somebody holds ids: see od_meta_remove */
  guint room;                   /* for mtds that will be added afterwards */
  const GArray *edges;          /* from its ODs, or NULL: not collected yet */
  guint8 *related;              /* count; of the rebuild */
  gint *new_id;                 /* count; by the rebuild: -1 for what has gone */
} OdRebuild;

/* For a meta of which nothing goes yet. */
void od_rebuild_init (OdRebuild * self, GstAnalyticsRelationMeta * meta);
void od_rebuild_clear (OdRebuild * self);

/* Says of an OD that it is one, and whether it goes. (ODs of which nobody says so
 * are found too, at the price of a look at each mtd.) */
void od_rebuild_note_od (OdRebuild * self, guint id, gboolean goes);

/* Puts what stays in the place of the meta on its buffer, which is writable;
 * with the ODs that go goes what is related to no other. Returns the new one. */
GstAnalyticsRelationMeta *od_rebuild_replace (OdRebuild * self, GstBuffer * buffer);

/* Puts what stays, likewise, on another buffer that has no relation meta; the
 * one of `buffer` stays as it is. */
void od_rebuild_copy (OdRebuild * self, GstBuffer * buffer, GstBuffer * target);

G_END_DECLS
