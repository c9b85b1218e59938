/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "numbered.h"

#include <string.h>

#include "gstboxes.h"

void
numbered_attach (GstBuffer *buffer, guint index, gint width, gint height)
{
  static const gchar *const labels[] = { "person", "car" };
  const gint w = width ? width : FRAME_WIDTH, h = height ? height : FRAME_HEIGHT;
  g_autoptr (GRand) rand = g_rand_new_with_seed (index + 1);
  guint count = 4 + index % 17;

  for (guint i = 0; i < count; i++) {
    /* multiples of 1/32 of the frame are whole pixels in frames of many sizes */
    gint x = g_rand_int_range (rand, 0, 24), y = g_rand_int_range (rand, 0, 24);
    gint right = g_rand_int_range (rand, x + 2, 33), bottom = g_rand_int_range (rand, y + 2, 33);
    gdouble confidence = g_rand_int_range (rand, 0, 1000) / 1000.0;
    GstVideoRegionOfInterestMeta *roi = add_region (buffer, (gint) (index * 100 + i + 1),
        labels[i % 2], x * w / 32, y * h / 32, (guint) ((right - x) * w / 32),
        (guint) ((bottom - y) * h / 32));

    gst_video_region_of_interest_meta_add_param (roi,
        gst_structure_new ("detection", "x_min", G_TYPE_DOUBLE, x / 32.0, "x_max", G_TYPE_DOUBLE,
            right / 32.0, "y_min", G_TYPE_DOUBLE, y / 32.0, "y_max", G_TYPE_DOUBLE, bottom / 32.0,
            "confidence", G_TYPE_DOUBLE, confidence, NULL));
  }
}

/* Returns a hash of the ids and positions of the regions, in order. */
static guint32
digest (GstBuffer *buffer)
{
  guint32 hash = 2166136261u;
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
              GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    const GstVideoRegionOfInterestMeta *roi = (GstVideoRegionOfInterestMeta *) meta;
    const guint32 values[] = { (guint32) roi->id, roi->x, roi->y, roi->w, roi->h };

    for (guint i = 0; i < G_N_ELEMENTS (values); i++)
      hash = (hash ^ values[i]) * 16777619u;
  }
  return hash;
}

static gchar *
caps_of (gint width, gint height)
{
  if (width == 0)
    return g_strdup ("application/x-frames");
  return g_strdup_printf ("video/x-raw,format=GRAY8,width=%d,height=%d,framerate=10/1", width,
      height);
}

static GstHarness *
open_harness (const gchar *line, gint width, gint height)
{
  g_autofree gchar *caps = caps_of (width, height);
  GstHarness *h = harness_new_caps (line, caps);

  return h;
}

void
numbered_record (const gchar *path, guint count, gint width, gint height, const GstClockTime *times)
{
  g_autofree gchar *line = g_strdup_printf ("boxrecord location=%s", path);
  g_autoptr (GstHarness) h = open_harness (line, width, height);

  for (guint i = 0; i < count; i++) {
    GstBuffer *buffer = frame_new (times ? times[i] : i * NUMBERED_TIME);

    numbered_attach (buffer, i, width, height);
    gst_buffer_unref (through (h, buffer));
  }
  gst_harness_push_event (h, gst_event_new_eos ());
}

void
numbered_expect (Numbered *numbered, const gchar *settings, guint count, gint width, gint height)
{
  g_autofree gchar *line = g_strdup_printf ("nmsfilter %s", settings);
  g_autoptr (GstHarness) h = open_harness (line, width, height);

  g_assert_cmpuint (count, <=, NUMBERED_MOST);
  memset (numbered, 0, sizeof *numbered);
  numbered->width = width;
  numbered->height = height;
  for (guint i = 0; i < count; i++) {
    g_autoptr (GstBuffer) buffer = frame_new (i * NUMBERED_TIME);

    numbered_attach (buffer, i, width, height);
    buffer = through (h, buffer);
    numbered->expected[i] = digest (buffer);
  }
  g_assert_cmpuint (stat_of (h->element, "boxes-out"), <, stat_of (h->element, "boxes-in"));
}

void
numbered_see (Numbered *numbered, GstBuffer *buffer, guint index)
{
  g_assert_cmpuint (index, <, NUMBERED_MOST);
  g_assert_cmpuint (numbered->count, <, G_N_ELEMENTS (numbered->order));
  numbered->order[numbered->count++] = index;
  numbered->seen[index]++;
  if (digest (buffer) != numbered->expected[index])
    g_test_message ("frame %u: other boxes than expected: %s", index, ids_on (buffer));
  numbered->wrong += digest (buffer) != numbered->expected[index];
}

GstPadProbeReturn
numbered_see_on_pad (GstPad *pad, GstPadProbeInfo *info, gpointer numbered)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment;
  GstClockTime time;

  g_assert_nonnull (event);
  gst_event_parse_segment (event, &segment);
  time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
  gst_event_unref (event);
  /* decoders may output frames before the start of a seek, which the sink drops */
  if (GST_CLOCK_TIME_IS_VALID (time))
    numbered_see (numbered, buffer, (guint) ((time + NUMBERED_TIME / 2) / NUMBERED_TIME));
  return GST_PAD_PROBE_OK;
}

void
numbered_must_be (const Numbered *numbered, guint first, guint last)
{
  const gint step = last < first ? -1 : 1;
  const guint count = (guint) ABS ((gint) last - (gint) first) + 1;

  g_assert_cmpuint (numbered->wrong, ==, 0);
  for (guint i = 0; i < MIN (count, numbered->count); i++)
    g_assert_cmpuint (numbered->order[i], ==, first + (guint) (step * (gint) i));
  g_assert_cmpuint (numbered->count, ==, count);
}
