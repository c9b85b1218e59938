/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * odappend: copies mtds with odremove. If the target has fewer mtds than are appended, its meta is
 * rebuilt first with space for all. Otherwise GStreamer would grow the matrix of relations in steps
 * of its initial size (5 mtds by default) and copy it in each step. A larger meta is not rebuilt,
 * because that reads all its relations.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "odappend.h"

#include "odmeta.h"
#include "odremove.h"
#include "odrewrite.h"

/* Marks the ODs of the boxes. Returns the number of ODs to append, and sets *cut to the number of
 * those that an edge cuts. */
static guint
mark_ods (OdRemove *removal, const GArray *boxes, guint *cut)
{
  guint i, count = 0;

  *cut = 0;
  for (i = 0; i < boxes->len; i++) {
    const Box *box = &g_array_index (boxes, Box, i);
    const gboolean drop = box_state_is_drop (box->state);

    if (box->od < 0)
      continue;
    od_remove_mark_od (removal, (guint) box->od, drop);
    count += !drop;
    *cut += !drop && (box->flags & BOX_CUT);
  }
  return count;
}

/* Marks the classes "source-cut" and, with `names`, "source:NAME" as removed. */
static void
mark_sources (OdRemove *removal, gboolean names)
{
  guint i;

  for (i = 0; i < removal->count; i++) {
    GstAnalyticsMtd mtd = { i, removal->meta };

    if (gst_analytics_mtd_get_mtd_type (&mtd) == gst_analytics_cls_mtd_get_mtd_type ()
        && ((names && od_meta_class_suffix (&mtd, OD_META_SOURCE_PREFIX))
            || od_meta_class_suffix (&mtd, OD_META_SOURCE_CUT)))
      removal->remove[i] = TRUE;
  }
}

/* Returns the relation meta of `target`, added or rebuilt for `count` more mtds. */
static GstAnalyticsRelationMeta *
with_space (GstBuffer *target, guint count)
{
  GstAnalyticsRelationMetaInitParams params = { count, 64 * count };
  GstAnalyticsRelationMeta *meta = od_relations_meta (target);
  OdRemove nothing;

  if (meta == NULL)
    return gst_buffer_add_analytics_relation_meta_full (target, &params);
  if (gst_analytics_relation_get_length (meta) >= count)
    return meta;
  od_remove_init (&nothing, meta);
  nothing.keep_ids = TRUE;
  nothing.extra = count;
  meta = od_remove_in_place (&nothing, target);
  od_remove_clear (&nothing);
  return meta;
}

/* Writes the places, sources and marks of the appended ODs. */
static void
complete (GstAnalyticsRelationMeta *meta, const GArray *boxes, const gint *ids, const gchar *name)
{
  guint i;

  for (i = 0; i < boxes->len; i++) {
    const Box *box = &g_array_index (boxes, Box, i);

    if (box->od < 0 || ids[box->od] < 0)
      continue;
    if (box->flags & (BOX_MOVED | BOX_RESCORED))
      od_rewrite_od (meta, (guint) ids[box->od], box);
    if (name)
      od_meta_add_class (meta, (guint) ids[box->od], OD_META_SOURCE_PREFIX, name);
    if (box->flags & BOX_CUT)
      od_meta_add_class (meta, (guint) ids[box->od], OD_META_SOURCE_CUT, "");
  }
}

gint *
od_append (GstBuffer *target, GstBuffer *source, const GArray *boxes, const GArray *relations,
    GHashTable *reserved, const gchar *name, BoxMove *move)
{
  GstAnalyticsRelationMeta *from = od_relations_meta (source), *to;
  gint *ids = NULL;
  OdRemove removal;
  guint count, cut, first;

  if (from == NULL || (od_meta_has_frame (target) && od_relations_meta (target) == NULL))
    return NULL;
  od_remove_init (&removal, from);
  removal.relations = relations;
  removal.related_only = TRUE;
  removal.reserved = reserved;
  removal.move = move;
  count = mark_ods (&removal, boxes, &cut);
  if (count > 0) {
    if (name || cut > 0)
      mark_sources (&removal, name != NULL);
    to = with_space (target, od_remove_bound (&removal) + (name ? count : 0) + cut);
    first = (guint) gst_analytics_relation_get_length (to);
    od_remove_append (&removal, source, to, target);
    od_rewrite_masks (to, first, &move->map);
    ids = g_memdup2 (removal.new_id, (removal.count + 1) * sizeof *ids);
    complete (to, boxes, ids, name);
  }
  od_remove_clear (&removal);
  return ids;
}
