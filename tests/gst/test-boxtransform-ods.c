/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxtransform: masks are moved with the boxes. Metadata of unknown types may hold positions, so
 * it is removed.
 */
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
  const guint foreign = add_foreign (buffer, 7);

  relate (buffer, add_ods (buffer, "dog 100,20,30,40 0.5 poodle"), foreign,
      GST_ANALYTICS_REL_TYPE_CONTAIN);
  add_class (buffer, foreign, "left paw", 0.5f);
  add_boxes (buffer, "1 dog 100,20,30,40");
  return buffer;
}

/* The foreign mtd is removed with what belongs to it alone, and ids do not change; without boxes,
 * too, because its positions are those of the picture before. */
static void
test_unknown (void)
{
  static const struct
  {
    const gchar *launch, *words, *ods, *foreign;
  } rows[] = {
    { "boxtransform", NULL, "4: 1 dog 100,20,30,40 0.5 poodle", "7" },
    { "boxtransform left=40", "\"foreign\"", "3: 1 dog 60,20,30,40 0.5 poodle", "" },
    { "boxtransform left=40", "\"foreign\"", "0:", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstBuffer *buffer = i < 2 ? with_unknown () : frame_new (0), *out;

    if (i == 2)
      add_foreign (buffer, 7);
    out = through_twice (rows[i].launch, buffer, rows[i].words);
    assert_ods_text (out, rows[i].ods);
    assert_foreign (out, rows[i].foreign);
    assert_ids (out, i < 2 ? "1" : "");
    gst_buffer_unref (out);
    assert_none_alive ();
  }
}

/* boxtransform keeps ids and relations while it moves boxes, and removes the box "far", which is
 * then outside the frame. The face has the place of the region's doubles. */
static void
test_related (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("boxtransform left=50 top=50 width=640 height=480",
      "video/x-raw,format=GRAY8,width=1180,height=860,framerate=10/1");
  g_autoptr (GstBuffer)
      buffer = frame_with_ods ("person 100,50,20,40 0.5 tall; face 105,52,4,4 0.25");

  add_track (buffer, 2, 77);
  add_ods (buffer, "far 0,0,10,10 0.5");
  relate (buffer, 2, 0, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  add_boxes (buffer, "2 face 105.25:52.25:109.25:56.25 0.25 in 0");
  buffer = through (h, buffer);
  assert_ods_text (buffer, "4: 0 person 100,0,40,80 0.5 tall; 2 face 111,5,8,8 0.25 #77");
  g_assert_cmphex (types_between (buffer, 2, 0), ==, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  g_assert_cmphex (types_between (buffer, 2, 3), ==, GST_ANALYTICS_REL_TYPE_RELATE_TO);
  g_assert_cmpstr (boxes_on (buffer), ==, "111,5,8,8");
}

/* A region around a rotated OD stays the upright box around it. */
static void
test_rotated (void)
{
#if GST_CHECK_VERSION(1, 26, 0)
  GstBuffer *buffer = frame_with_ods ("a 0,0,9,9 0.5; ship 100,100,40,20 0.5 @1.5707963"), *out;

  add_boxes (buffer, "1 ship 110,90,20,40");
  out = through_twice ("boxtransform video-direction=horiz", buffer, NULL);
  assert_ods_text (out, "2: 0 a 631,0,9,9 0.5; 1 ship 500,100,40,20 0.5 @-1.5708");
  g_assert_cmpstr (boxes_on (out), ==, "510,90,20,40");
  g_assert_null (gst_buffer_get_video_region_of_interest_meta (out)->params);
  gst_buffer_unref (out);
#endif
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

static const TestCase cases[] = { CASE (test_unknown), CASE (test_related), CASE (test_rotated),
  CASE (test_masks), { NULL } };

GST_TEST_PROGRAM (cases);
