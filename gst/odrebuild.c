/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * odrebuild: a new meta on a temporary buffer, which the meta's own copy
 * function then puts in the place of the old one (two metas on one buffer are
 * one too many for GStreamer 1.28). The type of a mtd is the address of its
 * functions, so that mtds of any type can be copied: their bytes, and then what
 * their type does when it is copied.
 *
 * GStreamer keeps relations as a matrix, which costs a look at every pair of
 * mtds. It is looked through once.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "odrebuild.h"

#include <string.h>

/* What a mtd other than an OD is related to, directly or by way of others. */
enum
{
  TO_STAYING = 1,
  TO_GOING = 2,
  DIRECTLY = 4,                 /* to an OD itself: ways do not count */
};

static const GstAnalyticsMtdImpl hole_impl = { "nms-removed", NULL, NULL, {NULL} };

void
od_rebuild_init (OdRebuild * self, GstAnalyticsRelationMeta * meta)
{
  self->meta = meta;
  self->count = (guint) gst_analytics_relation_get_length (meta);
  self->goes = g_malloc0 (self->count + 1);
  self->new_id = g_new (gint, self->count + 1);
  self->ids_stay = FALSE;
  self->room = 0;
  self->edges = NULL;
}

void
od_rebuild_clear (OdRebuild * self)
{
  g_free (self->goes);
  g_free (self->new_id);
}

static GstAnalyticsMtdType
type_of (const OdRebuild * self, guint id)
{
  GstAnalyticsMtd mtd = { id, self->meta };

  return gst_analytics_mtd_get_mtd_type (&mtd);
}

void
od_edges_collect (GstAnalyticsRelationMeta * meta, GArray * edges)
{
  guint id, count = (guint) gst_analytics_relation_get_length (meta);

  g_array_set_size (edges, 0);
  for (id = 0; id < count; id++) {
    gpointer state = NULL;
    GstAnalyticsMtd other;

    while (gst_analytics_relation_meta_get_direct_related (meta, id,
            GST_ANALYTICS_REL_TYPE_ANY, GST_ANALYTICS_MTD_TYPE_ANY, &state, &other)) {
      OdEdge edge = { id, other.id,
        gst_analytics_relation_meta_get_relation (meta, id, other.id)
      };
      g_array_append_val (edges, edge);
    }
  }
}

/* Decides about the mtds that are no ODs: one goes when ODs that go are all
 * that it is related to. */
static void
decide (OdRebuild * self, const GArray * edges)
{
  const GstAnalyticsMtdType od_type = gst_analytics_od_mtd_get_mtd_type ();
  guint8 *is_od = g_malloc (2 * (gsize) self->count + 1), *related = is_od + self->count;
  gboolean changed = TRUE;
  guint i;

  for (i = 0; i < self->count; i++)
    is_od[i] = type_of (self, i) == od_type;
  memset (related, 0, self->count);
  for (i = 0; i < edges->len; i++) {
    const OdEdge *edge = &g_array_index (edges, OdEdge, i);

    if (is_od[edge->from] != is_od[edge->to]) {
      guint od = is_od[edge->from] ? edge->from : edge->to;
      guint other = edge->from + edge->to - od;
      related[other] |= DIRECTLY | (self->goes[od] ? TO_GOING : TO_STAYING);
    }
  }
  for (i = 0; i < self->count; i++)     /* a survivor is enough to stay */
    if (related[i] & TO_STAYING)
      related[i] &= ~TO_GOING;
  while (changed) {
    changed = FALSE;
    for (i = 0; i < edges->len; i++) {
      const OdEdge *edge = &g_array_index (edges, OdEdge, i);
      guint8 *a = &related[edge->from], *b = &related[edge->to];
      guint8 both = (*a | *b) & (TO_STAYING | TO_GOING);

      if (is_od[edge->from] || is_od[edge->to])
        continue;
      if (!(*a & DIRECTLY) && (*a & both) != both) {
        *a |= both;
        changed = TRUE;
      }
      if (!(*b & DIRECTLY) && (*b & both) != both) {
        *b |= both;
        changed = TRUE;
      }
    }
  }
  for (i = 0; i < self->count; i++) {
    const GstAnalyticsMtdType type = type_of (self, i);

    /* empty places go: ours, and those of 1.28, where what has refused to be
     * copied leaves one without a type */
    if ((!is_od[i] && (related[i] & (TO_GOING | TO_STAYING)) == TO_GOING)
        || type == (GstAnalyticsMtdType) & hole_impl || type == 0)
      self->goes[i] = TRUE;
  }
  g_free (is_od);
}

/* Whether what a mtd of this type holds can be the id of another: not in the
 * types that are known here. */
static gboolean
may_hold_ids (GstAnalyticsMtdType type)
{
  return type != gst_analytics_od_mtd_get_mtd_type ()
      && type != gst_analytics_cls_mtd_get_mtd_type ()
      && type != gst_analytics_tracking_mtd_get_mtd_type ()
#if GST_CHECK_VERSION (1, 26, 0)
      && type != gst_analytics_segmentation_mtd_get_mtd_type ()
#endif
#if GST_CHECK_VERSION (1, 28, 0)
      && type != gst_analytics_tensor_mtd_get_mtd_type ()
#endif
      ;
}

/* How many mtds the new meta has, holes included, and the bytes of them. */
static guint
number_mtds (OdRebuild * self, gsize * bytes)
{
  guint i, stays = 0, end = 0;

  *bytes = 0;
  for (i = 0; i < self->count; i++) {
    GstAnalyticsMtd mtd = { i, self->meta };

    if (self->goes[i])
      continue;
    if (may_hold_ids (gst_analytics_mtd_get_mtd_type (&mtd)))
      self->ids_stay = TRUE;
    *bytes += GST_ROUND_UP_8 (gst_analytics_mtd_get_size (&mtd));
    stays++;
    end = i + 1;
  }
  return self->ids_stay ? end : stays;
}

static void
copy_mtds (OdRebuild * self, GstBuffer * buffer, GstAnalyticsRelationMeta * meta,
    GstBuffer * target, guint new_count)
{
  GstMetaTransformCopy whole = { FALSE, 0, (gsize) - 1 };
  guint i, made = 0;

  for (i = 0; i < self->count; i++) {
    GstAnalyticsMtd mtd = { i, self->meta }, copy;
    const GstAnalyticsMtdImpl *impl;
    gpointer data;
    gsize size;

    self->new_id[i] = -1;
    if (made == new_count)
      continue;
    if (self->goes[i]) {
      if (self->ids_stay) {
        gst_analytics_relation_meta_add_mtd (meta, &hole_impl, 0, &copy);
        made++;
      }
      continue;
    }
    impl = (const GstAnalyticsMtdImpl *) gst_analytics_mtd_get_mtd_type (&mtd);
    size = gst_analytics_mtd_get_size (&mtd);
    data = gst_analytics_relation_meta_add_mtd (meta, impl, size, &copy);
    if (size > 0)
      memcpy (data, gst_analytics_relation_meta_get_mtd_data (self->meta, i), size);
    self->new_id[i] = (gint) copy.id;
    made++;
    if (impl->mtd_meta_transform)
      impl->mtd_meta_transform (target, &copy, buffer, _gst_meta_transform_copy, &whole);
  }
}

void
od_rebuild_copy (OdRebuild * self, GstBuffer * buffer, GstBuffer * target)
{
  const GArray *edges = self->edges;
  GArray *own_edges = NULL;
  GstAnalyticsRelationMetaInitParams params;
  GstAnalyticsRelationMeta *meta;
  guint i, new_count;
  gsize bytes;

  if (edges == NULL) {
    edges = own_edges = g_array_new (FALSE, FALSE, sizeof (OdEdge));
    od_edges_collect (self->meta, own_edges);
  }
  decide (self, edges);
  new_count = number_mtds (self, &bytes);
  /* exactly what is needed, as a matrix that has to grow is slow; but one of
   * no mtds at all is one that GStreamer cannot read */
  params.initial_relation_order = MAX (new_count + self->room, 1);
  params.initial_buf_size = bytes + (new_count + 1) * 32 + self->room * 64;
  meta = gst_buffer_add_analytics_relation_meta_full (target, &params);
  copy_mtds (self, buffer, meta, target, new_count);
  for (i = 0; i < edges->len; i++) {
    const OdEdge *edge = &g_array_index (edges, OdEdge, i);
    gint from = self->new_id[edge->from], to = self->new_id[edge->to];

    if (from >= 0 && to >= 0)
      gst_analytics_relation_meta_set_relation (meta, edge->types, (guint) from, (guint) to);
  }
  if (own_edges)
    g_array_unref (own_edges);
}

GstAnalyticsRelationMeta *
od_rebuild_replace (OdRebuild * self, GstBuffer * buffer)
{
  GstMetaTransformCopy whole = { FALSE, 0, (gsize) - 1 };
  GstBuffer *between = gst_buffer_new ();
  GstMeta *meta;

  od_rebuild_copy (self, buffer, between);
  gst_buffer_remove_meta (buffer, (GstMeta *) self->meta);
  meta = (GstMeta *) gst_buffer_get_analytics_relation_meta (between);
  meta->info->transform_func (buffer, meta, between, _gst_meta_transform_copy, &whole);
  gst_buffer_unref (between);
  self->meta = gst_buffer_get_analytics_relation_meta (buffer);
  return self->meta;
}
