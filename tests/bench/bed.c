/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bed: makes the boxes and runs the elements of the benchmarks. */
#include "bed.h"

#include <gst/video/video.h>
#include <string.h>

#define COLUMNS 25 /* columns of the grid of at most 400 objects */
#define ROWS 16

static const gchar *const labels[] = { "person", "car", "bicycle", "dog" };

GArray *
make_detections (guint count)
{
  GArray *list = g_array_sized_new (FALSE, FALSE, sizeof (Detection), count);
  GRand *rand = g_rand_new_with_seed (count);
  const guint objects = MAX (1, count * 2 / 5);

  for (guint i = 0; i < count; i++) {
    const guint object = i % objects, place = object * (COLUMNS * ROWS / objects);
    const gboolean copy = i >= objects;
    Detection d = { .w = 40, .h = 36, .label = (gint) (object % G_N_ELEMENTS (labels)) };

    d.x = (gint) (place % COLUMNS) * 51 + (copy ? g_rand_int_range (rand, 0, 4) : 2);
    d.y = (gint) (place / COLUMNS) * 45 + (copy ? g_rand_int_range (rand, 0, 4) : 2);
    d.confidence = copy ? g_rand_double_range (rand, 0.3, 0.6) : g_rand_double_range (rand, 0.7, 1);
    g_array_append_val (list, d);
  }
  for (guint i = count; i > 1; i--) {
    const guint j = (guint) g_rand_int_range (rand, 0, (gint32) i);
    const Detection d = g_array_index (list, Detection, i - 1);
    g_array_index (list, Detection, i - 1) = g_array_index (list, Detection, j);
    g_array_index (list, Detection, j) = d;
  }
  g_rand_free (rand);
  return list;
}

const gchar *
detection_label (const Detection *d)
{
  return labels[d->label];
}

void
attach (GstBuffer *buffer, const Detection *d, guint id)
{
  GstVideoRegionOfInterestMeta *meta = gst_buffer_add_video_region_of_interest_meta (buffer,
      detection_label (d), (guint) d->x, (guint) d->y, (guint) d->w, (guint) d->h);

  meta->id = (gint) id + 1;
  gst_video_region_of_interest_meta_add_param (meta,
      gst_structure_new ("detection", "x_min", G_TYPE_DOUBLE, d->x / (gdouble) WIDTH, "x_max",
          G_TYPE_DOUBLE, (d->x + d->w) / (gdouble) WIDTH, "y_min", G_TYPE_DOUBLE,
          d->y / (gdouble) HEIGHT, "y_max", G_TYPE_DOUBLE, (d->y + d->h) / (gdouble) HEIGHT,
          "confidence", G_TYPE_DOUBLE, d->confidence, "label_id", G_TYPE_INT, d->label, NULL));
}

void
attach_all (GstBuffer *buffer, const GArray *list)
{
  for (guint i = 0; i < list->len; i++)
    attach (buffer, &g_array_index (list, Detection, i), i);
}

static GstFlowReturn catch (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Bed *bed = pad->chaindata;

  bed->caught = buffer;
  return GST_FLOW_OK;
}

gboolean
bed_open (Bed *bed, const gchar *name, ...)
{
  const gchar *property;
  GstSegment segment;
  GstPad *sink, *src;
  va_list args;

  memset (bed, 0, sizeof *bed);
  bed->element = gst_element_factory_make (name, NULL);
  if (!bed->element) {
    g_printerr ("there is no element %s\n", name);
    return FALSE;
  }
  gst_object_ref_sink (bed->element);
  va_start (args, name);
  while ((property = va_arg (args, const gchar *)))
    gst_util_set_object_arg (G_OBJECT (bed->element), property, va_arg (args, const gchar *));
  va_end (args);

  bed->before = gst_pad_new ("before", GST_PAD_SRC);
  bed->after = gst_pad_new ("after", GST_PAD_SINK);
  gst_pad_set_chain_function_full (bed->after, catch, bed, NULL);
  sink = gst_element_get_static_pad (bed->element, "sink");
  src = gst_element_get_static_pad (bed->element, "src");
  gst_pad_link (bed->before, sink);
  gst_pad_link (src, bed->after);
  gst_object_unref (sink);
  gst_object_unref (src);
  gst_pad_set_active (bed->before, TRUE);
  gst_pad_set_active (bed->after, TRUE);
  if (gst_element_set_state (bed->element, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    g_error ("%s does not start", name);

  gst_pad_push_event (bed->before, gst_event_new_stream_start ("bench"));
  gst_pad_push_event (bed->before, gst_event_new_caps (gst_caps_from_string (CAPS)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (bed->before, gst_event_new_segment (&segment));
  return TRUE;
}

void
bed_push (Bed *bed, GstBuffer *buffer)
{
  const GstFlowReturn flow = gst_pad_push (bed->before, buffer);

  if (flow != GST_FLOW_OK)
    g_error ("%s: %s", GST_OBJECT_NAME (bed->element), gst_flow_get_name (flow));
}

void
bed_close (Bed *bed)
{
  gst_pad_push_event (bed->before, gst_event_new_eos ());
  gst_element_set_state (bed->element, GST_STATE_NULL);
  gst_pad_set_active (bed->before, FALSE);
  gst_pad_set_active (bed->after, FALSE);
  gst_clear_buffer (&bed->caught);
  gst_clear_object (&bed->before);
  gst_clear_object (&bed->after);
  gst_clear_object (&bed->element);
}
