/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmeta: links of parents and tags that cannot be used, hints, and the integers of boxes that are
 * attached. Calls functions of the plugin directly, because the elements do not show them. The
 * elements' tests read and write the other fields.
 */
#include "gstrunner.h"
#include "meta/boxremove.h"

static GArray *
boxes_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (Box));
}

#define BOX(boxes, i) (&g_array_index (boxes, Box, i))

static void
test_bad_tags (void)
{
  static const gint bad[] = { -2, 1, 2, G_MAXINT, G_MININT };
  g_autoptr (GArray) boxes = boxes_new ();

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GstBuffer) buffer = frame_new (0);
    GstVideoRegionOfInterestMeta *roi = add_region (buffer, 1, "a", (Rect) { 0, 0, 1, 1 });

    gst_video_region_of_interest_meta_add_param (roi,
        gst_structure_new ("nms", "state", G_TYPE_STRING, "suppressed", "suppressed-by", G_TYPE_INT,
            bad[i], NULL));
    box_meta_read (buffer, 0, 0, BOX_READ_STATE, boxes);
    g_assert_cmpint (BOX (boxes, 0)->suppressed_by, ==, -1);
    gst_structure_set (gst_video_region_of_interest_meta_get_param (roi, "nms"), "state",
        G_TYPE_INT, 3, NULL);
    box_meta_read (buffer, 0, 0, BOX_READ_STATE, boxes);
    g_assert_cmpint (BOX (boxes, 0)->state, ==, BOX_STATE_NONE);
  }
}

/* Hints to encoders are no boxes. */
static void
test_any (void)
{
  g_autoptr (GstBuffer) buffer = frame_with ("1 a 0,0,1,1");

  g_assert_true (box_meta_any (buffer));
  add_structure (gst_buffer_get_video_region_of_interest_meta (buffer), "roi/x264;");
  add_structure (gst_buffer_get_video_region_of_interest_meta (buffer), "roi/vp9;");
  g_assert_false (box_meta_any (buffer));
  add_boxes (buffer, "2 a 0,0,1,1");
  g_assert_true (box_meta_any (buffer));
  box_remove_all (buffer);
  assert_ids (buffer, "1");
}

/* The parents form a chain, a part of a ring, a ring, a doubled id, and an unknown id. */
static void
test_parents (void)
{
  static const gint parents[] = { 1, 2, -1, 4, -1, -1, -1, 9, -1, -1, 0, -1, -1, -1, -1, 14, -1,
    16 };
  g_autoptr (GArray) boxes = boxes_new ();
  g_autoptr (GstBuffer) buffer = frame_with (
      "1 a 0,0,1,1 in 2; 2 a 0,0,1,1 in 3; 3 a 0,0,1,1; 4 a 0,0,1,1 in 5; 5 a 0,0,1,1 in 6; "
      "6 a 0,0,1,1 in 5; 7 a 0,0,1,1 in 7; 0 a 0,0,1,1 in 8; 9 a 0,0,1,1 in 99; 8 a 0,0,1,1; "
      "8 a 0,0,1,1 in 1; 10 a 0,0,1,1; 11 a 0,0,1,1 in 12; 12 a 0,0,1,1 in 13; "
      "13 a 0,0,1,1 in 11; 14 a 0,0,1,1 in 13; -3 a 0,0,1,1; 15 a 0,0,1,1 in -3");

  box_meta_read (buffer, 0, 0, 0, boxes);
  g_assert_cmpuint (boxes->len, ==, G_N_ELEMENTS (parents));
  for (guint i = 0; i < boxes->len; i++)
    g_assert_cmpint (BOX (boxes, i)->parent, ==, parents[i]);
}

/* The integers of a box that is attached are clipped to the frame. test-boxrecord compares the
 * fields of boxes that were attached. */
static void
test_attach (void)
{
  static const struct
  {
    gint64 x, y, w, h;    /* given */
    const gchar *written; /* to the region */
  } rows[] = {
    { 10, 20, 30, 40, "10,20,30,40" },
    { -10, -20, 30, 40, "0,0,20,20" },
    { 630, 470, 30, 40, "630,470,10,10" },
    { -100, 0, 50, 10, "0,0,0,10" },
    { 700, 0, 50, 10, "640,0,0,10" },
    { 0, 0, 0, 0, "0,0,0,0" },
    { 0, 0, -5, 10, "0,0,0,10" },
    { -100, -100, 5000, 5000, "0,0,640,480" },
    { G_MININT64, G_MAXINT64, G_MAXINT64, G_MININT64, "0,480,640,0" },
  };
  g_autoptr (GArray) boxes = boxes_new ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const Box box = { .x = rows[i].x, .y = rows[i].y, .w = rows[i].w, .h = rows[i].h };
    g_autoptr (GstBuffer) buffer = frame_new (0);

    g_array_set_size (boxes, 0);
    g_array_append_val (boxes, box);
    box_meta_attach (buffer, boxes, FRAME_WIDTH, FRAME_HEIGHT, BOX_META_ROI);
    g_assert_cmpstr (boxes_on (buffer), ==, rows[i].written);
  }
}

static const TestCase cases[] = { CASE (test_bad_tags), CASE (test_any), CASE (test_parents),
  CASE (test_attach), { NULL } };

GST_TEST_PROGRAM (cases);
