/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxoverlay: segments of any format, the gap flag, cropped pictures. */
#include <string.h>

#include "gstrunner.h"
#include "pictures.h"

/* No critical message is logged. */
static void
test_segments (void)
{
  static const GstFormat formats[] = { GST_FORMAT_BYTES, GST_FORMAT_DEFAULT, GST_FORMAT_TIME };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
    g_autoptr (GstHarness) h = overlay_new (OUTLINES, &info);
    GstBuffer *buffer = video_buffer_new (&info);
    g_autoptr (Picture) before = picture_read (&info, buffer), after = NULL;
    GstSegment segment;

    gst_segment_init (&segment, formats[i]);
    g_assert_true (gst_harness_push_event (h, gst_event_new_segment (&segment)));
    video_buffer_add_box (buffer, "person", "8,8,40,40", NULL);
    after = overlay_draw (h, &info, buffer);
    g_assert_cmpuint (picture_changed (before, after, 0, 0, PICTURE_WIDTH, PICTURE_HEIGHT), >, 200);
  }
}

/* The query succeeds where no element downstream answers it. */
static void
test_allocation (void)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("boxoverlay", NULL);
  GstPad *pad = gst_element_get_static_pad (element, "sink");
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  GstCaps *caps = gst_video_info_to_caps (&info);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  gst_element_set_state (element, GST_STATE_PAUSED);
  g_assert_true (gst_pad_send_event (pad, gst_event_new_stream_start ("s")));
  g_assert_true (gst_pad_send_event (pad, gst_event_new_caps (caps)));
  g_assert_true (gst_pad_query (pad, query));
  g_assert_true (
      gst_query_find_allocation_meta (query, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE, NULL));
  gst_query_unref (query);
  gst_caps_unref (caps);
  gst_object_unref (pad);
  gst_element_set_state (element, GST_STATE_NULL);
}

/* Downstream elements may skip the pixels of a buffer with the flag, so it is removed
 * where a box is painted, on a buffer that is painted in place and on a copy, and only there. */
static void
test_gap_flag (void)
{
  static const gchar *const places[] = { NULL, "96,10,40,20", "8,8,40,40" };
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  g_autoptr (GstHarness) h = overlay_new (OUTLINES, &info);

  for (guint i = 0; i < 2 * G_N_ELEMENTS (places); i++) {
    const gchar *place = places[i / 2];
    GstBuffer *in = video_buffer_new (&info), *shared = NULL;
    g_autoptr (GstBuffer) out = NULL;

    GST_BUFFER_FLAG_SET (in, GST_BUFFER_FLAG_GAP);
    if (place)
      video_buffer_add_box (in, "person", place, NULL);
    if (i % 2)
      shared = gst_buffer_ref (in);
    out = overlay_push (h, in);
    g_assert_true (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_GAP) == (i / 2 < 2));
    g_assert_true (shared == NULL || GST_BUFFER_FLAG_IS_SET (shared, GST_BUFFER_FLAG_GAP));
    gst_clear_buffer (&shared);
  }
}

/* Returns a buffer of frames of `full` that states a crop, with one box. */
static GstBuffer *
cropped_new (const GstVideoInfo *full, const GstVideoRectangle *crop, const gchar *place)
{
  GstBuffer *buffer = video_buffer_new (full);
  GstVideoCropMeta *meta = gst_buffer_add_video_crop_meta (buffer);

  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, full->finfo->format, full->width,
      full->height);
  meta->x = (guint) crop->x;
  meta->y = (guint) crop->y;
  meta->width = (guint) crop->w;
  meta->height = (guint) crop->h;
  video_buffer_add_box (buffer, "person", place, "0.5 #3");
  return buffer;
}

/* A crop on the chroma grid is painted as a frame of its size is, with labels, and the
 * pixels around it do not change. */
static void
test_crops (void)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_I420,
    GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_UYVY, GST_VIDEO_FORMAT_Y41B,
    GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_v210,
    GST_VIDEO_FORMAT_NV12_10LE32 };
  static const GstVideoRectangle crop = { 24, 8, PICTURE_WIDTH, PICTURE_HEIGHT };

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    GstVideoInfo info = video_info_of (formats[f], PICTURE_WIDTH, PICTURE_HEIGHT);
    GstVideoInfo full = video_info_of (formats[f], PICTURE_WIDTH + 32, PICTURE_HEIGHT + 16);
    g_autoptr (GstHarness) h = overlay_new ("boxoverlay", &info);
    g_autoptr (GstBuffer) plain = video_buffer_new (&info), buffer = NULL;
    g_autoptr (Picture) blank = NULL, expected = NULL, picture = NULL;

    buffer = cropped_new (&full, &crop, "4,30,50,20");
    video_buffer_add_box (plain, "person", "4,30,50,20", "0.5 #3");
    blank = picture_read (&full, buffer);
    buffer = overlay_push (h, buffer);
    plain = overlay_push (h, plain);
    expected = picture_read (&info, plain);
    picture = picture_read (&full, buffer);
    for (gint y = 0; y < full.height; y++) {
      for (gint x = 0; x < full.width; x++) {
        gint u = x - crop.x, v = y - crop.y;

        if (u < 0 || v < 0 || u >= crop.w || v >= crop.h)
          g_assert_true (picture_same (picture, blank, x, y));
        else
          g_assert_cmphex (picture_rgb (picture, x, y), ==, picture_rgb (expected, u, v));
      }
    }
  }
}

/* Returns the first component of a pixel: the luma. */
static guint8
luma_at (const Picture *picture, gint x, gint y)
{
  return picture->unpacked[((gsize) y * picture->width + x) * 4 + 1];
}

/* A crop off the chroma grid shares its outer chroma samples with pixels around it; the
 * luma of those does not change, and the outline of a box that fills the crop shows on
 * each side. */
static void
test_crops_off_grid (void)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12,
    GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_Y41B, GST_VIDEO_FORMAT_YUV9 };

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    for (gint k = 0; k < 16; k++) {
      const GstVideoRectangle crop = { 16 + k % 4, 8 + k / 4, 40 + k % 3, 24 + k % 5 };
      GstVideoInfo info = video_info_of (formats[f], crop.w, crop.h);
      GstVideoInfo full = video_info_of (formats[f], PICTURE_WIDTH, PICTURE_HEIGHT);
      g_autoptr (GstHarness) h = overlay_new (k % 2 ? "boxoverlay" : OUTLINES, &info);
      gchar *place = g_strdup_printf ("0,0,%d,%d", crop.w, crop.h);
      g_autoptr (GstBuffer) buffer = cropped_new (&full, &crop, place);
      g_autoptr (Picture) before = picture_read (&full, buffer), after = NULL;
      gint x1 = full.width, y1 = full.height, x2 = 0, y2 = 0;

      g_free (place);
      buffer = overlay_push (h, buffer);
      after = picture_read (&full, buffer);
      for (gint y = 0; y < full.height; y++) {
        for (gint x = 0; x < full.width; x++) {
          if (luma_at (before, x, y) != luma_at (after, x, y)) {
            x1 = MIN (x1, x);
            y1 = MIN (y1, y);
            x2 = MAX (x2, x + 1);
            y2 = MAX (y2, y + 1);
          }
        }
      }
      g_assert_cmpint (x1, >=, crop.x);
      g_assert_cmpint (y1, >=, crop.y);
      g_assert_cmpint (x2, <=, crop.x + crop.w);
      g_assert_cmpint (y2, <=, crop.y + crop.h);
      if (k % 2 == 0 && formats[f] != GST_VIDEO_FORMAT_YUV9) {
        g_assert_cmpint (x1 - crop.x, <, 4);
        g_assert_cmpint (y1 - crop.y, <, 4);
        g_assert_cmpint (crop.x + crop.w - x2, <, 4);
        g_assert_cmpint (crop.y + crop.h - y2, <, 4);
      }
    }
  }
}

/* A crop of any numbers is cut to the frame. Only one that leaves nothing causes a
 * warning, once, because its boxes cannot be drawn. */
static void
test_crops_of_any_size (void)
{
  static const GstVideoRectangle crops[] = { { 0, 0, -1, -1 }, { 90, 60, 96, 64 },
    { 95, 63, -1, -1 }, { 0, 0, 0, 10 }, { 96, 0, 10, 10 }, { 0, 64, 10, 10 }, { -1, -1, -1, -1 } };
  const gsize guard = 4096;
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  gsize bytes = GST_VIDEO_INFO_SIZE (&info);
  g_autoptr (GstHarness) h = overlay_new ("boxoverlay", &info);
  g_autofree guint8 *memory = g_malloc (bytes + 2 * guard);
  g_autoptr (GstBus) bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  for (guint i = 0; i < G_N_ELEMENTS (crops); i++) {
    GstBuffer *buffer = cropped_new (&info, &crops[i], "0,0,96,64");
    GstMessage *message;

    memset (memory, 0x50, bytes + 2 * guard);
    gst_buffer_replace_all_memory (buffer,
        gst_memory_new_wrapped (0, memory, bytes + 2 * guard, guard, bytes, NULL, NULL));
    gst_buffer_unref (overlay_push (h, buffer));
    for (gsize k = 0; k < guard; k++)
      g_assert_true (memory[k] == 0x50 && memory[guard + bytes + k] == 0x50);
    for (gsize k = 0; i >= 3 && k < bytes; k++)
      g_assert_true (memory[guard + k] == 0x50);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
    g_assert_true ((message != NULL) == (i == 3));
    g_clear_pointer (&message, gst_message_unref);
  }
  gst_element_set_bus (h->element, NULL);
}

static const TestCase cases[] = { CASE (test_segments), CASE (test_allocation),
  CASE (test_gap_flag), CASE (test_crops), CASE (test_crops_off_grid),
  CASE (test_crops_of_any_size), { NULL } };

GST_TEST_PROGRAM (cases);
