/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * odrewrite: GstAnalytics has no function that changes an OD, and its data are private.
 * Therefore a new OD is made in a temporary meta, and its bytes replace those of the old one,
 * which is the same type and owns no memory.
 *
 * A mask owns memory, and the kind of its segmentation cannot be read. Therefore two masks are
 * made that differ in their places only, and the bytes in which they differ are replaced.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "odrewrite.h"

#include "odrelations.h"

#include <gst/video/video.h>

#include <string.h>

static void
replace_od (GstAnalyticsMtd *mtd, const OdData *data)
{
  GstAnalyticsRelationMetaInitParams params = { 1, 64 };
  GstBuffer *temporary = gst_buffer_new ();
  GstAnalyticsRelationMeta *meta = gst_buffer_add_analytics_relation_meta_full (temporary, &params);
  const gsize size = gst_analytics_mtd_get_size (mtd);
  GstAnalyticsODMtd od;

  if (od_relations_add_od (meta, data, &od)
      && gst_analytics_mtd_get_size ((GstAnalyticsMtd *) &od) == size)
    memcpy (gst_analytics_relation_meta_get_mtd_data (mtd->meta, mtd->id),
        gst_analytics_relation_meta_get_mtd_data (meta, od.id), size);
  gst_buffer_unref (temporary);
}

void
od_rewrite_od (GstAnalyticsRelationMeta *meta, guint id, const Box *box)
{
  GstAnalyticsMtd mtd = { id, meta };
  OdData data = od_relations_read_od (&mtd);

  if (box->flags & BOX_MOVED) {
    Box placed = *box;

    box_place (&placed, 0, 0);
    data.x = (gint) placed.x;
    data.y = (gint) placed.y;
    data.w = (gint) MIN (placed.w, G_MAXINT);
    data.h = (gint) MIN (placed.h, G_MAXINT);
    data.rotation = (gfloat) box->rotation;
  }
  if (box->flags & BOX_RESCORED)
    data.confidence = (gfloat) box->confidence;
  replace_od (&mtd, &data);
}

/* -------------------------------------------------------------------- masks */

#if GST_CHECK_VERSION(1, 26, 0)

/* The place of a mask. */
typedef struct
{
  gint x, y;
  guint w, h;
} MaskPlace;

static MaskPlace
moved_place (const MaskPlace *place, const BoxMap *map)
{
  Box box = { .x1 = place->x,
    .y1 = place->y,
    .x2 = (gdouble) place->x + place->w,
    .y2 = (gdouble) place->y + place->h };

  box_map_move (map, &box);
  box_place (&box, 0, 0);
  return (MaskPlace) { (gint) box.x, (gint) box.y, (guint) MIN (box.w, G_MAXINT),
    (guint) MIN (box.h, G_MAXINT) };
}

static void
replace_place (GstAnalyticsMtd *mtd, const MaskPlace *from, const MaskPlace *to)
{
  const gsize size = gst_analytics_mtd_get_size (mtd);
  const gsize count = gst_analytics_segmentation_mtd_get_region_count (mtd);
  const GstAnalyticsRelationMetaInitParams params = { 2, 2 * size + 64 };
  GstBuffer *temporary = gst_buffer_new (), *pixels = gst_buffer_new ();
  GstAnalyticsRelationMeta *meta;
  GstAnalyticsMtd masks[2];
  guint *ids = g_new0 (guint, count + 1);
  const guint8 *old, *new;
  guint8 *data;
  gsize i;

  meta = gst_buffer_add_analytics_relation_meta_full (temporary,
      (GstAnalyticsRelationMetaInitParams *) &params);
  gst_buffer_add_video_meta (pixels, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 1, 1);
  for (i = 0; i < 2; i++) {
    const MaskPlace *place = i == 0 ? from : to;

    gst_analytics_relation_meta_add_segmentation_mtd (meta, gst_buffer_ref (pixels),
        GST_SEGMENTATION_TYPE_SEMANTIC, count, ids, place->x, place->y, place->w, place->h,
        &masks[i]);
  }
  old = gst_analytics_relation_meta_get_mtd_data (meta, masks[0].id);
  new = gst_analytics_relation_meta_get_mtd_data (meta, masks[1].id);
  data = gst_analytics_relation_meta_get_mtd_data (mtd->meta, mtd->id);
  for (i = 0; i < size; i++)
    if (old[i] != new[i])
      data[i] = new[i];
  g_free (ids);
  gst_buffer_unref (pixels);
  gst_buffer_unref (temporary);
}

static void
move_mask (GstAnalyticsMtd *mtd, const BoxMap *map)
{
  MaskPlace from, to;

  gst_buffer_unref (
      gst_analytics_segmentation_mtd_get_mask (mtd, &from.x, &from.y, &from.w, &from.h));
  to = moved_place (&from, map);
  replace_place (mtd, &from, &to);
}

#endif

void
od_rewrite_masks (GstAnalyticsRelationMeta *meta, guint first, const BoxMap *map)
{
#if GST_CHECK_VERSION(1, 26, 0)
  const guint count = (guint) gst_analytics_relation_get_length (meta);

  if (box_map_is_identity (map) || box_map_flips (map))
    return;
  for (guint i = first; i < count; i++) {
    GstAnalyticsMtd mtd = { i, meta };

    if (od_relations_type_is_mask (gst_analytics_mtd_get_mtd_type (&mtd)))
      move_mask (&mtd, map);
  }
#endif
}

/* ---------------------------------------------------------------------- all */

/* Relates a track to an OD. */
static void
add_track (GstAnalyticsRelationMeta *meta, const Box *box, GstClockTime time, GArray *relations)
{
  const OdRelation relation = { (guint) box->od, 0, GST_ANALYTICS_REL_TYPE_RELATE_TO };
  GstAnalyticsTrackingMtd track;

  if (!gst_analytics_relation_meta_add_tracking_mtd (meta, (guint64) box->track_id, time, &track)
      || !gst_analytics_relation_meta_set_relation (meta, relation.types, relation.from, track.id))
    return;
  g_array_append_val (relations, relation);
  g_array_index (relations, OdRelation, relations->len - 1).to = track.id;
}

void
od_rewrite (GstBuffer *buffer, const GArray *boxes, GArray *relations, const BoxMap *map)
{
  GstAnalyticsRelationMeta *meta = od_relations_meta (buffer);
  guint i;

  for (i = 0; meta && i < boxes->len; i++) {
    const Box *box = &g_array_index (boxes, Box, i);

    if (box->od >= 0 && (box->flags & (BOX_MOVED | BOX_RESCORED))
        && !box_state_is_drop (box->state))
      od_rewrite_od (meta, (guint) box->od, box);
    if (box->od >= 0 && (box->flags & BOX_TRACKED) && !box_state_is_drop (box->state))
      add_track (meta, box, GST_BUFFER_PTS (buffer), relations);
  }
  if (meta)
    od_rewrite_masks (meta, 0, map);
}
