/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxtransform: masks are moved with the boxes. Metadata of unknown types may hold positions, so
 * it is removed.
 */
#include "foreignmtd.h"
#include "gstrunner.h"
#include "odboxes.h"

/* Sends a buffer through an element twice. Checks that it posts one warning with these words, or
 * with NULL none. Returns the second buffer. */
static GstBuffer *
through_twice (const gchar *launch, GstBuffer *buffer, const gchar *words)
{
  g_autoptr (GstHarness) h = harness_new (launch);
  GstBus *bus = harness_bus (h);
  GstBuffer *out = NULL;

  for (guint i = 0; i < 2; i++) {
    gst_clear_buffer (&out);
    out = through (h, gst_buffer_ref (buffer));
  }
  gst_buffer_unref (buffer);
  if (words)
    assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), words);
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR));
  return out;
}

/* A foreign mtd (0), and an OD with a class and a region. */
static GstBuffer *
with_unknown (void)
{
  GstBuffer *buffer = frame_new (0);
  const guint foreign = foreign_mtd_add (buffer, 7);

  relate (buffer, add_ods (buffer, "dog 100,20,30,40 0.5 poodle"), foreign,
      GST_ANALYTICS_REL_TYPE_CONTAIN);
  add_class (buffer, foreign, "left paw", 0.5f);
  add_boxes (buffer, "1 dog 100,20,30,40");
  return buffer;
}

/* The foreign mtd is removed with what belongs to it alone; ids do not change. */
static void
test_unknown (void)
{
  GstBuffer *out = through_twice ("boxtransform left=40", with_unknown (), "\"foreign\"");

  assert_ods_text (out, "3: 1 dog 60,20,30,40 0.5 poodle"); /* 0: the place of the removed mtd */
  assert_foreign (out, "");
  assert_ids (out, "1");
  gst_buffer_unref (out);
  assert_none_alive (foreign_mtds_alive ());
}

/* Without boxes, too: its positions are those of the picture before. */
static void
test_unknown_alone (void)
{
  GstBuffer *buffer = frame_new (0), *out;

  foreign_mtd_add (buffer, 7);
  out = through_twice ("boxtransform left=40", buffer, "\"foreign\"");
  assert_foreign (out, "");
  gst_buffer_unref (out);
  assert_none_alive (foreign_mtds_alive ());
}

static void
test_unchanged (void)
{
  GstBuffer *out = through_twice ("boxtransform", with_unknown (), NULL);

  assert_ods (out, "100");
  assert_foreign (out, "7");
  gst_buffer_unref (out);
  assert_none_alive (foreign_mtds_alive ());
}

/* The mask of an OD outside goes with it. */
static void
test_masks (void)
{
#if GST_CHECK_VERSION(1, 26, 0)
  GstBuffer *buffer = frame_new (0), *out;

  relate (buffer, add_ods (buffer, "dog 100,20,30,40 0.5"), add_mask (buffer, 100, 20, 30, 40),
      GST_ANALYTICS_REL_TYPE_CONTAIN);
  relate (buffer, add_ods (buffer, "dog 0,20,30,40 0.5"), add_mask (buffer, 0, 20, 30, 40),
      GST_ANALYTICS_REL_TYPE_CONTAIN);
  add_mask (buffer, 0, 0, 1280, 480); /* of the frame */
  gst_buffer_ref (buffer);
  out = through_twice ("boxtransform left=40 right=-40 width=1280 height=480", buffer, NULL);
  assert_ods (out, "30");
  assert_masks (out, "30,20,15,40 -20,0,640,480");
  assert_masks (buffer, "100,20,30,40 0,20,30,40 0,0,1280,480");
  gst_buffer_unref (out);
  out = through_twice ("boxtransform video-direction=180", buffer, "\"segmentation\"");
  assert_masks (out, "");
  assert_ods (out, "510 610");
  gst_buffer_unref (out);

  buffer = frame_new (0);
  add_mask (buffer, 0, 0, 640, 480);
  out = through_twice ("boxtransform left=40", buffer, NULL);
  assert_masks (out, "-40,0,640,480");
  gst_buffer_unref (out);
#endif
}

static const TestCase cases[] = { CASE (test_unknown), CASE (test_unknown_alone),
  CASE (test_unchanged), CASE (test_masks), { NULL } };

GST_TEST_PROGRAM (cases);
