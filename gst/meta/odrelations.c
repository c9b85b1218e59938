/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* odrelations: GStreamer stores relations as a matrix, so those of a mtd are a row of it. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "odrelations.h"

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
