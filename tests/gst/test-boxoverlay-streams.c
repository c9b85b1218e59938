/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxoverlay: segments of any format, the gap flag, cropped pictures. */
#include <math.h>

#include "checkrunner.h"
#include "pictures.h"

#define OUTLINES "boxoverlay show-label=false show-score=false"
#define FRAME_WIDTH 96
#define FRAME_HEIGHT 64

static GstVideoInfo
video_info (GstVideoFormat format, gint width, gint height)
{
  GstVideoInfo info;

  gst_video_info_init (&info);
  g_assert_true (gst_video_info_set_format (&info, format, width, height));
  return info;
}

/* GstCheck makes a test fail at any CRITICAL message. */
GST_START_TEST (paints_in_segments_of_any_format)
{
  static const GstFormat formats[] = { GST_FORMAT_BYTES, GST_FORMAT_DEFAULT, GST_FORMAT_TIME };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstVideoInfo info = video_info (GST_VIDEO_FORMAT_I420, FRAME_WIDTH, FRAME_HEIGHT);
    GstHarness *h = overlay_new (OUTLINES, &info);
    GstBuffer *buffer = video_buffer_new (&info);
    Picture *before = picture_read (&info, buffer), *after;
    GstSegment segment;

    gst_segment_init (&segment, formats[i]);
    g_assert_true (gst_harness_push_event (h, gst_event_new_segment (&segment)));
    video_buffer_add_box (buffer, "person", 8, 8, 40, 40, NAN, 0, NULL);
    buffer = overlay_push (h, buffer);
    after = picture_read (&info, buffer);
    g_assert_cmpuint (picture_changed (before, after, 0, 0, FRAME_WIDTH, FRAME_HEIGHT), >, 200);
    picture_free (before);
    picture_free (after);
    gst_buffer_unref (buffer);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

/* Downstream elements may skip the pixels of a buffer with the flag, so it is removed
 * where a box is painted, on a buffer that is painted in place and on a copy. */
GST_START_TEST (removes_the_gap_flag_from_painted_buffers)
{
  GstVideoInfo info = video_info (GST_VIDEO_FORMAT_I420, FRAME_WIDTH, FRAME_HEIGHT);
  GstHarness *h = overlay_new (OUTLINES, &info);

  for (guint shared = 0; shared < 2; shared++) {
    GstBuffer *in = video_buffer_new (&info), *out;

    GST_BUFFER_FLAG_SET (in, GST_BUFFER_FLAG_GAP);
    video_buffer_add_box (in, "person", 8, 8, 40, 40, NAN, 0, NULL);
    if (shared)
      gst_buffer_ref (in);
    out = overlay_push (h, in);
    g_assert_false (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_GAP));
    if (shared) {
      g_assert_true (GST_BUFFER_FLAG_IS_SET (in, GST_BUFFER_FLAG_GAP));
      gst_buffer_unref (in);
    }
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (keeps_the_gap_flag_where_nothing_is_painted)
{
  GstVideoInfo info = video_info (GST_VIDEO_FORMAT_I420, FRAME_WIDTH, FRAME_HEIGHT);
  GstHarness *h = overlay_new ("boxoverlay", &info);

  for (guint boxes = 0; boxes < 2; boxes++) {
    GstBuffer *buffer = video_buffer_new (&info);

    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
    if (boxes > 0)
      video_buffer_add_box (buffer, "person", FRAME_WIDTH, 10, 40, 20, 0.5, 0, NULL);
    buffer = overlay_push (h, buffer);
    g_assert_true (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP));
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

static const CheckCase cases[] = {
  CHECK_CASE (paints_in_segments_of_any_format),
  CHECK_CASE (removes_the_gap_flag_from_painted_buffers),
  CHECK_CASE (keeps_the_gap_flag_where_nothing_is_painted),
  { NULL }
};

CHECK_PROGRAM (cases);
