/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * odrewrite: GstAnalytics has no function that changes an OD, and its data are private.
 * Therefore a new OD is made in a temporary meta, and its bytes replace those of the old one,
 * which is the same type and owns no memory.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "odrewrite.h"

#include "odrelations.h"

#include <string.h>

/* What an OD states. */
typedef struct
{
  GQuark label;
  gint x, y, w, h;
  gfloat rotation, confidence;
} OdData;

static OdData
read_od (const GstAnalyticsMtd *mtd)
{
  GstAnalyticsODMtd *od = (GstAnalyticsODMtd *) mtd;
  OdData data = { .label = gst_analytics_od_mtd_get_obj_type (od) };

#if GST_CHECK_VERSION(1, 26, 0)
  gst_analytics_od_mtd_get_oriented_location (od, &data.x, &data.y, &data.w, &data.h,
      &data.rotation, &data.confidence);
#else
  gst_analytics_od_mtd_get_location (od, &data.x, &data.y, &data.w, &data.h, &data.confidence);
#endif
  return data;
}

static gboolean
add_od (GstAnalyticsRelationMeta *meta, const OdData *data, GstAnalyticsODMtd *od)
{
#if GST_CHECK_VERSION(1, 26, 0)
  return gst_analytics_relation_meta_add_oriented_od_mtd (meta, data->label, data->x, data->y,
      data->w, data->h, data->rotation, data->confidence, od);
#else
  return gst_analytics_relation_meta_add_od_mtd (meta, data->label, data->x, data->y, data->w,
      data->h, data->confidence, od);
#endif
}

static void
replace_od (GstAnalyticsMtd *mtd, const OdData *data)
{
  GstAnalyticsRelationMetaInitParams params = { 1, 64 };
  GstBuffer *temporary = gst_buffer_new ();
  GstAnalyticsRelationMeta *meta = gst_buffer_add_analytics_relation_meta_full (temporary, &params);
  const gsize size = gst_analytics_mtd_get_size (mtd);
  GstAnalyticsODMtd od;

  if (add_od (meta, data, &od) && gst_analytics_mtd_get_size ((GstAnalyticsMtd *) &od) == size)
    memcpy (gst_analytics_relation_meta_get_mtd_data (mtd->meta, mtd->id),
        gst_analytics_relation_meta_get_mtd_data (meta, od.id), size);
  gst_buffer_unref (temporary);
}

void
od_rewrite_od (GstAnalyticsRelationMeta *meta, guint id, const Box *box)
{
  GstAnalyticsMtd mtd = { id, meta };
  OdData data = read_od (&mtd);

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

void
od_rewrite (GstBuffer *buffer, const GArray *boxes)
{
  GstAnalyticsRelationMeta *meta = od_relations_meta (buffer);
  guint i;

  for (i = 0; meta && i < boxes->len; i++) {
    const Box *box = &g_array_index (boxes, Box, i);

    if (box->od >= 0 && (box->flags & (BOX_MOVED | BOX_RESCORED))
        && !box_state_is_drop (box->state))
      od_rewrite_od (meta, (guint) box->od, box);
  }
}
