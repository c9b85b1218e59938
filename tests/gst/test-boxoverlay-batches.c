/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxoverlay on batches: each stream in its own format, and which pixels change. */

#include "batches.h"
#include "gstrunner.h"
#include "pictures.h"

#define BOX "0 person 8,8,40,40 0.5"

/* Adds the caps of a stream and a frame with a box to a batch. */
static void
add_stream (GstBuffer *batch, guint stream, const GstVideoInfo *info)
{
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (info);

  batches_add_sticky (batch, stream, gst_event_new_caps (caps));
  batches_add (batch, stream, boxed_buffer_new (info, BOX));
}

/* Returns how many pixels of a picture are painted. */
static guint
changed (GstBuffer *batch, guint stream, guint object, const GstVideoInfo *info)
{
  g_autoptr (Picture) before = picture_blank (info);
  g_autoptr (Picture) after = picture_read (info, batches_get (batch, stream, object));
  const guint count = picture_all_changed (before, after);

  return count;
}

static void
test_streams (void)
{
  const GstVideoInfo large = video_info_of (GST_VIDEO_FORMAT_I420, 192, 128);
  const GstVideoInfo small = video_info_of (GST_VIDEO_FORMAT_RGB, 96, 64);
  g_autoptr (GstHarness) h = harness_new_caps ("boxoverlay", BATCH_CAPS);

  for (guint i = 0; i < 3; i++) {
    GstBuffer *batch = batches_new (i * 100 * GST_MSECOND, 2);
    g_autoptr (GstBuffer) out = NULL;
    GstBuffer *same;

    add_stream (batch, 0, &large);
    add_stream (batch, 1, &small);
    same = video_buffer_new (&small);
    batches_add (batch, 1, same);
    out = through (h, batch);
    g_assert_true (out == batch);
    g_assert_true (batches_get (out, 1, 1) == same);
    g_assert_cmpuint (changed (out, 0, 0, &large), >, 200);
    g_assert_cmpuint (changed (out, 1, 0, &small), >, 200);
    g_assert_cmpuint (changed (out, 1, 1, &small), ==, 0);
  }
}

static void
test_other_branches (void)
{
  const GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_RGB, PICTURE_WIDTH, PICTURE_HEIGHT);
  g_autoptr (GstHarness) h = harness_new_caps (OUTLINES, BATCH_CAPS);
  g_autoptr (GstBuffer) batch = batches_new (0, 1), out = NULL;

  add_stream (batch, 0, &info);
  batches_add (batch, 0, video_buffer_new (&info));
  GST_BUFFER_FLAG_SET (batches_get (batch, 0, 0), GST_BUFFER_FLAG_GAP);
  out = through (h, gst_buffer_ref (batch));
  g_assert_true (out != batch);
  g_assert_cmpuint (changed (batch, 0, 0, &info), ==, 0);
  g_assert_cmpuint (changed (out, 0, 0, &info), >, 200);
  g_assert_true (batches_get (out, 0, 1) == batches_get (batch, 0, 1));
  g_assert_false (GST_BUFFER_FLAG_IS_SET (batches_get (out, 0, 0), GST_BUFFER_FLAG_GAP));
}

/* A stream without caps, and one that is no video, pass unchanged; one warning says so. */
static void
test_no_video (void)
{
  const GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_RGB, PICTURE_WIDTH, PICTURE_HEIGHT);
  g_autoptr (GstHarness) h = harness_new_caps (OUTLINES, BATCH_CAPS);
  GstBus *bus = harness_bus (h);
  GstBuffer *batch = batches_new (0, 3);
  g_autoptr (GstBuffer) out = NULL;
  GstBuffer *unknown = boxed_buffer_new (&info, BOX);

  batches_begin_stream (batch, 1, "lidar", "application/x-lidar", 0);
  batches_add (batch, 0, unknown);
  batches_add (batch, 1, boxed_buffer_new (&info, BOX));
  add_stream (batch, 2, &info);
  out = through (h, batch);
  g_assert_true (batches_get (out, 0, 0) == unknown);
  g_assert_cmpuint (changed (out, 0, 0, &info), ==, 0);
  g_assert_cmpuint (changed (out, 1, 0, &info), ==, 0);
  g_assert_cmpuint (changed (out, 2, 0, &info), >, 200);
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), "Cannot paint");
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));
}

/* The caps of a stream change within a batch. */
static void
test_new_caps (void)
{
  const GstVideoInfo first = video_info_of (GST_VIDEO_FORMAT_RGB, PICTURE_WIDTH, PICTURE_HEIGHT);
  const GstVideoInfo second = video_info_of (GST_VIDEO_FORMAT_NV12, 128, 64);
  g_autoptr (GstHarness) h = harness_new_caps (OUTLINES, BATCH_CAPS);
  g_autoptr (GstBuffer) batch = batches_new (0, 1);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&second);

  add_stream (batch, 0, &first);
  batches_add (batch, 0, gst_event_new_caps (caps));
  batches_add (batch, 0, boxed_buffer_new (&second, BOX));
  batch = through (h, batch);
  g_assert_cmpuint (changed (batch, 0, 2, &second), >, 200);
}

static void
test_slices (void)
{
  const GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_RGB, PICTURE_WIDTH, PICTURE_HEIGHT);
  g_autoptr (GstHarness) h = harness_new_caps (OUTLINES,
      "video/x-raw(meta:GstAnalyticsBatchMeta),"
      "format=RGB,width=192,height=64,framerate=10/1,slice-width=96");
  g_autoptr (GstBuffer) batch = batches_new (0, 1);

  add_stream (batch, 0, &info);
  batch = through (h, batch);
  g_assert_cmpuint (changed (batch, 0, 0, &info), >, 200);
}

static const TestCase cases[] = { CASE (test_streams), CASE (test_other_branches),
  CASE (test_no_video), CASE (test_new_caps), CASE (test_slices), { NULL } };

GST_TEST_PROGRAM (cases);
