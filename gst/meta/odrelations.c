/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* odrelations: GStreamer stores relations as a matrix, so those of a mtd are a row of it. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "odrelations.h"

/* GStreamer 1.30 has these functions, and so have the GStreamer 1.26 and 1.28 that come with DL
 * Streamer 2026.1. They are looked up when the plugin is loaded, and are NULL if missing. */
gchar *gst_analytics_mtd_get_semantic_tag (const GstAnalyticsMtd *instance) __attribute__ ((weak));
gboolean gst_analytics_mtd_set_semantic_tag (GstAnalyticsMtd *instance, const gchar *tag)
    __attribute__ ((weak));

const GstAnalyticsMtdImpl od_relations_placeholder = { .name = "nms-removed" };

gboolean
od_relations_type_is_mask (GstAnalyticsMtdType type)
{
#if GST_CHECK_VERSION(1, 26, 0)
  return type == gst_analytics_segmentation_mtd_get_mtd_type ();
#else
  return FALSE;
#endif
}

gboolean
od_relations_type_is_unknown (GstAnalyticsMtdType type)
{
  return type != gst_analytics_od_mtd_get_mtd_type ()
      && type != gst_analytics_cls_mtd_get_mtd_type ()
      && type != gst_analytics_tracking_mtd_get_mtd_type () && !od_relations_type_is_mask (type)
#if GST_CHECK_VERSION(1, 28, 0)
      && type != gst_analytics_tensor_mtd_get_mtd_type ()
#endif
      && type != OD_RELATIONS_PLACEHOLDER && type != 0;
}

gchar *
od_relations_tag (const GstAnalyticsMtd *mtd)
{
  gchar *tag;

  if (gst_analytics_mtd_get_semantic_tag == NULL)
    return NULL;
  tag = gst_analytics_mtd_get_semantic_tag (mtd);
  if (tag && *tag == '\0')
    g_clear_pointer (&tag, g_free);
  return tag;
}

void
od_relations_set_tag (GstAnalyticsMtd *mtd, const gchar *tag)
{
  if (tag && gst_analytics_mtd_set_semantic_tag)
    gst_analytics_mtd_set_semantic_tag (mtd, tag);
}

OdData
od_relations_read_od (const GstAnalyticsMtd *mtd)
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

gboolean
od_relations_add_od (GstAnalyticsRelationMeta *meta, const OdData *data, GstAnalyticsODMtd *od)
{
#if GST_CHECK_VERSION(1, 26, 0)
  return gst_analytics_relation_meta_add_oriented_od_mtd (meta, data->label, data->x, data->y,
      data->w, data->h, data->rotation, data->confidence, od);
#else
  return gst_analytics_relation_meta_add_od_mtd (meta, data->label, data->x, data->y, data->w,
      data->h, data->confidence, od);
#endif
}

GstAnalyticsRelationMeta *
od_relations_meta (GstBuffer *buffer)
{
  GstMeta *meta = (GstMeta *) gst_buffer_get_analytics_relation_meta (buffer);

  if (meta && GST_META_FLAG_IS_SET (meta, GST_META_FLAG_LOCKED))
    return NULL;
  return (GstAnalyticsRelationMeta *) meta;
}

guint
od_relations_append (GstAnalyticsRelationMeta *meta, guint id, GArray *relations, guint used)
{
  GstAnalyticsMtd other;
  gpointer state = NULL;

  while (gst_analytics_relation_meta_get_direct_related (meta, id, GST_ANALYTICS_REL_TYPE_ANY,
      GST_ANALYTICS_MTD_TYPE_ANY, &state, &other)) {
    if (used >= relations->len) /* in large steps, because each call takes time */
      g_array_set_size (relations, 2 * used + 64);
    g_array_index (relations, OdRelation, used++) = (OdRelation) { id, other.id,
      gst_analytics_relation_meta_get_relation (meta, id, other.id) };
  }
  return used;
}
