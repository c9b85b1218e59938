/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * odrebuild: what stays is put back into the meta after that has been cleared,
 * as buffer pools do it: nothing is allocated for it, nothing copied twice. Not
 * where a mtd that stays would lose what it owns by that, and not for another
 * buffer: then a new meta is made. (On a buffer that has one already, by way of
 * a temporary buffer, as two are one too many for GStreamer 1.28.)
 *
 * The type of a mtd is the address of its functions, so that mtds of any type
 * can be moved and copied: their bytes, and for a copy what their type does then.
 *
 * GStreamer keeps relations as a matrix, in which to find those of one mtd means
 * a look at every other: most of the time goes there. What ODs are related to is
 * looked for when they are read; what the others are, only once something goes,
 * and not for all of them.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "odremove.h"

#include <string.h>

/* What a mtd is related to that is no OD, directly or by way of others. */
enum
{
  TO_STAYING = 1,
  TO_GOING = 2,
  DIRECTLY = 4,                 /* to an OD itself: ways do not count */
  IS_OD = 8,                    /* it is one */
  IS_HOLE = 16,                 /* it is nothing */
};

static const GstAnalyticsMtdImpl hole_impl = { .name = "nms-removed" };

#define HOLE_TYPE ((GstAnalyticsMtdType) &hole_impl)

void
od_rebuild_init (OdRebuild * self, GstAnalyticsRelationMeta * meta)
{
  self->meta = meta;
  self->count = (guint) gst_analytics_relation_get_length (meta);
  self->new_id = g_malloc0 ((self->count + 1) * (sizeof *self->new_id + 2));
  self->goes = (guint8 *) (self->new_id + self->count + 1);
  self->related = self->goes + self->count + 1;
  self->ids_stay = FALSE;
  self->room = 0;
  self->edges = NULL;
}

void
od_rebuild_clear (OdRebuild * self)
{
  g_free (self->new_id);        /* all three */
}

guint
od_edges_add (GstAnalyticsRelationMeta * meta, guint id, GArray * edges, guint used)
{
  GstAnalyticsMtd other;
  gpointer state = NULL;

  while (gst_analytics_relation_meta_get_direct_related (meta, id, GST_ANALYTICS_REL_TYPE_ANY,
          GST_ANALYTICS_MTD_TYPE_ANY, &state, &other)) {
    if (used >= edges->len)     /* room for more than this one: no call an edge */
      g_array_set_size (edges, 2 * used + 64);
    g_array_index (edges, OdEdge, used++) = (OdEdge) {
      id, other.id, gst_analytics_relation_meta_get_relation (meta, id, other.id)
    };
  }
  return used;
}

static GstAnalyticsMtdType
type_of (const OdRebuild * self, guint id)
{
  GstAnalyticsMtd mtd = { id, self->meta };

  return gst_analytics_mtd_get_mtd_type (&mtd);
}

static GArray *
edges_of_ods (const OdRebuild * self)
{
  const GstAnalyticsMtdType od_type = gst_analytics_od_mtd_get_mtd_type ();
  GArray *edges = g_array_new (FALSE, FALSE, sizeof (OdEdge));
  guint i, used = 0;

  for (i = 0; i < self->count; i++)
    if (type_of (self, i) == od_type)
      used = od_edges_add (self->meta, i, edges, used);
  g_array_set_size (edges, used);
  return edges;
}

/* ----------------------------------------------------------------- deciding */

void
od_rebuild_note_od (OdRebuild * self, guint id, gboolean goes)
{
  self->related[id] = IS_OD;
  self->goes[id] = goes;
}

/* Finds ODs not noted yet, and empty places, which go: ours, and those of 1.28,
 * where what has refused to be copied leaves one without a type. */
static void
look_through (OdRebuild * self)
{
  const GstAnalyticsMtdType od_type = gst_analytics_od_mtd_get_mtd_type ();
  guint i;

  for (i = 0; i < self->count; i++) {
    GstAnalyticsMtdType type;

    if (self->related[i] & IS_OD)
      continue;
    type = type_of (self, i);
    self->related[i] = type == od_type ? IS_OD : 0;
    if (type == HOLE_TYPE || type == 0) {
      self->related[i] = IS_HOLE;
      self->goes[i] = TRUE;
    }
  }
}

/* Notes for the others what edges between them and ODs say. Whether there are
 * edges among the others. */
static gboolean
note_related (OdRebuild * self, const GArray * edges)
{
  guint8 *related = self->related;
  gboolean ways = FALSE;
  guint i;

  for (i = 0; i < edges->len; i++) {
    const OdEdge *edge = &g_array_index (edges, OdEdge, i);
    const gboolean from_od = related[edge->from] & IS_OD, to_od = related[edge->to] & IS_OD;

    if (from_od && !to_od)
      related[edge->to] |= DIRECTLY | (self->goes[edge->from] ? TO_GOING : TO_STAYING);
    else if (to_od && !from_od)
      related[edge->from] |= DIRECTLY | (self->goes[edge->to] ? TO_GOING : TO_STAYING);
    else if (!from_od)
      ways = TRUE;
  }
  return ways;
}

/* Carries over the edges among mtds that are no ODs what these are related to
 * by way of others. */
static void
follow_ways (OdRebuild * self, const GArray * edges)
{
  gboolean changed = TRUE;
  guint i;

  for (i = 0; i < self->count; i++)     /* a survivor is enough to stay */
    if (self->related[i] & TO_STAYING)
      self->related[i] &= ~TO_GOING;
  while (changed) {
    changed = FALSE;
    for (i = 0; i < edges->len; i++) {
      const OdEdge *edge = &g_array_index (edges, OdEdge, i);
      guint8 *a = &self->related[edge->from], *b = &self->related[edge->to];
      guint8 both = (*a | *b) & (TO_STAYING | TO_GOING);

      if ((*a | *b) & IS_OD)
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
}

static gboolean
leads_to_any (const OdRebuild * self, guint id, const guint * ods, guint count)
{
  guint i;

  for (i = 0; i < count; i++)
    if (gst_analytics_relation_meta_get_relation (self->meta, id, ods[i]))
      return TRUE;
  return FALSE;
}

/* Decides about the mtds that are no ODs: one goes when ODs that go are all
 * that it is related to, and collects the relations that those have which stay.
 *
 * Where ODs lead to each of them, no ways among them count, and few ODs stay,
 * one that none of these leads to is asked about each, which is quicker than to
 * look through all its relations. */
static void
decide (OdRebuild * self, const GArray * od_edges, GArray * edges)
{
  guint *staying = g_new (guint, self->count + 1), ods = 0, others = 0, led_to = 0, used = 0, i;

  look_through (self);
  note_related (self, od_edges);
  for (i = 0; i < self->count; i++)
    if (self->related[i] & IS_OD) {
      if (!self->goes[i])
        staying[ods++] = i;
    } else if (!(self->related[i] & IS_HOLE)) {
      others++;
      led_to += (self->related[i] & DIRECTLY) != 0;
    }
  if (led_to == others && 3 * ods < self->count) {
    for (i = 0; i < self->count; i++) {
      if (self->related[i] & (IS_OD | IS_HOLE))
        continue;
      if (!(self->related[i] & TO_STAYING) && !leads_to_any (self, i, staying, ods))
        self->goes[i] = TRUE;
      else
        used = od_edges_add (self->meta, i, edges, used);
    }
    g_array_set_size (edges, used);
  } else if (others > 0) {
    for (i = 0; i < self->count; i++)
      if (!(self->related[i] & (IS_OD | IS_HOLE)))
        used = od_edges_add (self->meta, i, edges, used);
    g_array_set_size (edges, used);
    if (note_related (self, edges))
      follow_ways (self, edges);
    for (i = 0; i < self->count; i++)
      if ((self->related[i] & (TO_GOING | TO_STAYING)) == TO_GOING)
        self->goes[i] = TRUE;
  }
  g_free (staying);
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

/* A mtd that stays. */
typedef struct
{
  guint id;
  const GstAnalyticsMtdImpl *impl;      /* its type */
  gsize size;
} Part;

/* All of them; `bytes` of data they have. */
static Part *
list_parts (OdRebuild * self, guint * count, gsize * bytes)
{
  Part *parts = g_new (Part, self->count + 1), *next = parts;
  const GstAnalyticsMtdType od_type = gst_analytics_od_mtd_get_mtd_type ();
  GstAnalyticsMtdType seen = od_type;
  guint i;

  *bytes = 0;
  for (i = 0; i < self->count; i++) {
    GstAnalyticsMtd mtd = { i, self->meta };
    GstAnalyticsMtdType type;

    if (self->goes[i])
      continue;
    type = self->related[i] & IS_OD ? od_type : type_of (self, i);
    if (type != seen) {
      self->ids_stay = self->ids_stay || may_hold_ids (type);
      seen = type;
    }
    *next = (Part) { i, (const GstAnalyticsMtdImpl *) type, gst_analytics_mtd_get_size (&mtd) };
    *bytes += GST_ROUND_UP_8 (next->size);
    next++;
  }
  *count = (guint) (next - parts);
  return parts;
}

/* ------------------------------------------------------------------ putting */

/* What the new meta is made of. */
typedef struct
{
  const Part *parts;
  guint count;
  gsize bytes;                  /* of data */
  const GArray *od_edges, *edges;       /* of ODs; of others */
} Content;

static gpointer
data_of (const OdRebuild * self, guint id)
{
  return gst_analytics_relation_meta_get_mtd_data (self->meta, id);
}

static void
put_relations (const OdRebuild * self, GstAnalyticsRelationMeta * meta, const GArray * edges)
{
  guint i;

  for (i = 0; i < edges->len; i++) {
    const OdEdge *edge = &g_array_index (edges, OdEdge, i);
    gint from = self->new_id[edge->from], to = self->new_id[edge->to];

    if (from >= 0 && to >= 0)
      gst_analytics_relation_meta_set_relation (meta, edge->types, (guint) from, (guint) to);
  }
}

/* Puts the content into a meta without mtds. The data are in `saved`, one
 * behind the other, or, if that is NULL, in self->meta. */
static void
put (OdRebuild * self, GstAnalyticsRelationMeta * meta, const Content * content,
    const guint8 * saved)
{
  GstAnalyticsMtd added;
  guint i, k = 0;

  for (i = 0; i < self->count; i++)
    self->new_id[i] = -1;
  for (i = 0; i < content->count; i++) {
    const Part *part = &content->parts[i];
    gpointer data;

    for (; self->ids_stay && k < part->id; k++)
      gst_analytics_relation_meta_add_mtd (meta, &hole_impl, 0, &added);
    data = gst_analytics_relation_meta_add_mtd (meta, part->impl, part->size, &added);
    if (part->size > 0)
      memcpy (data, saved ? saved : data_of (self, part->id), part->size);
    if (saved)
      saved += GST_ROUND_UP_8 (part->size);
    self->new_id[part->id] = (gint) added.id;
    k++;
  }
  put_relations (self, meta, content->od_edges);
  put_relations (self, meta, content->edges);
}

/* Onto another buffer. */
static void
copy (OdRebuild * self, const Content * content, GstBuffer * buffer, GstBuffer * target)
{
  GstMetaTransformCopy whole = { FALSE, 0, (gsize) - 1 };
  GstAnalyticsRelationMetaInitParams params;
  GstAnalyticsRelationMeta *meta;
  guint i, new_count = content->count;

  if (self->ids_stay && new_count > 0)
    new_count = content->parts[new_count - 1].id + 1;
  /* exactly what is needed, as a matrix that has to grow is slow; but one of
   * no mtds at all is one that GStreamer cannot read */
  params.initial_relation_order = MAX (new_count + self->room, 1);
  params.initial_buf_size = content->bytes + (new_count + 1) * 32 + self->room * 64;
  meta = gst_buffer_add_analytics_relation_meta_full (target, &params);
  put (self, meta, content, NULL);
  for (i = 0; i < content->count; i++) {
    const Part *part = &content->parts[i];

    if (part->impl->mtd_meta_transform) {
      GstAnalyticsMtd mtd = { (guint) self->new_id[part->id], meta };
      part->impl->mtd_meta_transform (target, &mtd, buffer, _gst_meta_transform_copy, &whole);
    }
  }
}

/* Whether what stays can be taken out of the meta and put into it again after
 * that was cleared: not what owns something, which goes then. And only where the
 * meta will not have to grow. */
static gboolean
can_be_refilled (const OdRebuild * self, const Content * content)
{
  guint i;

  if (((const GstMeta *) self->meta)->info->clear_func == NULL || self->room > 0)
    return FALSE;
  for (i = 0; i < content->count; i++)
    if (content->parts[i].impl->mtd_meta_clear)
      return FALSE;
  return TRUE;
}

static void
refill (OdRebuild * self, const Content * content, GstBuffer * buffer)
{
  GstMeta *meta = (GstMeta *) self->meta;
  guint8 *saved = g_malloc (content->bytes + 1), *next = saved;
  guint i;

  for (i = 0; i < content->count; i++) {
    memcpy (next, data_of (self, content->parts[i].id), content->parts[i].size);
    next += GST_ROUND_UP_8 (content->parts[i].size);
  }
  meta->info->clear_func (buffer, meta);
  put (self, self->meta, content, saved);
  g_free (saved);
}

/* By way of a temporary buffer. */
static void
exchange (OdRebuild * self, const Content * content, GstBuffer * buffer)
{
  GstMetaTransformCopy whole = { FALSE, 0, (gsize) - 1 };
  GstBuffer *between = gst_buffer_new ();
  GstMeta *meta;

  copy (self, content, buffer, between);
  gst_buffer_remove_meta (buffer, (GstMeta *) self->meta);
  meta = (GstMeta *) gst_buffer_get_analytics_relation_meta (between);
  meta->info->transform_func (buffer, meta, between, _gst_meta_transform_copy, &whole);
  gst_buffer_unref (between);
  self->meta = gst_buffer_get_analytics_relation_meta (buffer);
}

/* Without a target: in the place of the old one. */
static void
rebuild (OdRebuild * self, GstBuffer * buffer, GstBuffer * target)
{
  GArray *own_edges = NULL, *edges = g_array_new (FALSE, FALSE, sizeof (OdEdge));
  Content content = {.od_edges = self->edges,.edges = edges };
  Part *parts;

  if (content.od_edges == NULL)
    content.od_edges = own_edges = edges_of_ods (self);
  decide (self, content.od_edges, edges);
  content.parts = parts = list_parts (self, &content.count, &content.bytes);
  if (target)
    copy (self, &content, buffer, target);
  else if (can_be_refilled (self, &content))
    refill (self, &content, buffer);
  else
    exchange (self, &content, buffer);
  if (own_edges)
    g_array_unref (own_edges);
  g_array_unref (edges);
  g_free (parts);
}

void
od_rebuild_copy (OdRebuild * self, GstBuffer * buffer, GstBuffer * target)
{
  rebuild (self, buffer, target);
}

GstAnalyticsRelationMeta *
od_rebuild_replace (OdRebuild * self, GstBuffer * buffer)
{
  rebuild (self, buffer, NULL);
  return self->meta;
}
