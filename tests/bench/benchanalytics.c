/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* benchanalytics: times nmsfilter on GstAnalytics detections. */
#include "bench-elements.h"

#ifdef HAVE_ANALYTICS
#include <gst/analytics/analytics.h>

/* Attaches the boxes as GstAnalytics detections, with or without a class mtd for each. Allocates
 * the meta at its final size, as a decoder does that knows the number of boxes. */
static void
attach_ods (GstBuffer *buffer, const GArray *list, gboolean classes)
{
  const guint mtds = list->len * (classes ? 2 : 1);
  GstAnalyticsRelationMetaInitParams params = { MAX (mtds, 1), mtds * 64 + 64 };
  GstAnalyticsRelationMeta *meta = gst_buffer_add_analytics_relation_meta_full (buffer, &params);

  for (guint i = 0; i < list->len; i++) {
    const Detection *d = &g_array_index (list, Detection, i);
    const GQuark label = g_quark_from_static_string (detection_label (d));
    GstAnalyticsODMtd od;
    GstAnalyticsClsMtd cls;

    gst_analytics_relation_meta_add_od_mtd (meta, label, d->x, d->y, d->w, d->h,
        (gfloat) d->confidence, &od);
    if (classes
        && gst_analytics_relation_meta_add_one_cls_mtd (meta, (gfloat) d->confidence, label,
            &cls)) {
      gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, od.id,
          cls.id);
      gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, cls.id,
          od.id);
    }
  }
}

/* Measures how long GStreamer takes to read all relations. */
static void
time_relations (const GArray *list, gboolean classes, Timings *timings)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstAnalyticsRelationMeta *meta;
  guint found = 0, count;
  guint64 start;

  attach_ods (buffer, list, classes);
  meta = gst_buffer_get_analytics_relation_meta (buffer);
  count = (guint) gst_analytics_relation_get_length (meta);
  start = timings_now (timings);
  for (guint id = 0; id < count; id++) {
    gpointer state = NULL;
    GstAnalyticsMtd other;

    while (gst_analytics_relation_meta_get_direct_related (meta, id, GST_ANALYTICS_REL_TYPE_ANY,
        GST_ANALYTICS_MTD_TYPE_ANY, &state, &other))
      found++;
  }
  timings_add (timings, &timings->beside, start);
  if (found != (classes ? 2 : 0) * list->len)
    g_error ("%u relations found", found);
  gst_buffer_unref (buffer);
}

void
bench_analytics (Timings *timings)
{
  const guint counts[] = { 10, 100, 300 };
  Bed bed;

  if (!bed_open (&bed, "nmsfilter", "iou-threshold", IOU_TEXT, NULL))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (counts) * 4; i++) {
    const gboolean classes = i & 1, shared = i & 2;
    GArray *list = make_detections (counts[i / 4]);
    guint left;

    for (guint call = 0; call < timings_calls_for (timings, list); call++) {
      GstBuffer *buffer = gst_buffer_new (), *other = NULL;

      attach_ods (buffer, list, classes);
      GST_BUFFER_PTS (buffer) = call * FRAME;
      if (shared)
        other = gst_buffer_ref (buffer);
      timings_push (timings, &bed, buffer);
      gst_clear_buffer (&other);
      if (!shared)
        time_relations (list, classes, timings);
    }
    left = (guint) gst_analytics_relation_get_length (
        gst_buffer_get_analytics_relation_meta (bed.caught));
    timings_print (timings, FILTER_ROW, counts[i / 4], classes ? left / 2 : left,
        classes      ? shared ? ", ODs with a class, shared" : ", ODs with a class"
            : shared ? ", ODs, of a shared buffer"
                     : ", ODs");
    if (!shared)
      timings_print_series (timings, &timings->beside,
          "  (GStreamer: looking through all relations)");
    g_array_unref (list);
  }
  bed_close (&bed);
}
#else
void
bench_analytics (Timings *timings)
{
}
#endif
