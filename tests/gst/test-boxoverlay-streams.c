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

static const CheckCase cases[] = {
  CHECK_CASE (paints_in_segments_of_any_format),
  { NULL }
};

CHECK_PROGRAM (cases);
