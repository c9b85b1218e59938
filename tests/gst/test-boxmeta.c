/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmeta: reads and writes metadata field by field. Calls functions of the plugin
 * directly, because the elements do not show every field.
 */
#include "gstrunner.h"
#include "meta/boxremove.h"

static GArray *
boxes_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (Box));
}

#define BOX(boxes, i) (&g_array_index (boxes, Box, i))

/* Returns the fields of a box as text: confidence, label id, track, label, each - if it has none,
 * region id, parent's id and index, state, suppressed-by. Static. */
static const gchar *
box_text (const Box *b)
{
  static gchar text[256];
  const gchar *label = b->label ? g_quark_to_string (b->label) : "-";
  gchar confidence[32] = "-", label_id[16] = "-", track[16] = "-";

  if (b->flags & BOX_HAS_CONFIDENCE)
    g_ascii_formatd (confidence, sizeof confidence, "%g", b->confidence);
  if (b->flags & BOX_HAS_LABEL_ID)
    g_snprintf (label_id, sizeof label_id, "%d", b->label_id);
  if (b->flags & BOX_HAS_TRACK_ID)
    g_snprintf (track, sizeof track, "%d", b->track_id);
  g_snprintf (text, sizeof text, "%s %s %s %s %d in %d (%d) %d by %d", confidence, label_id, track,
      label, b->region_id, b->parent_id, b->parent, b->state, b->suppressed_by);
  return text;
}

#define ASSERT_PLACE(box, left, top, right, bottom) \
  g_assert_true ((box)->x1 == left && (box)->y1 == top && (box)->x2 == right && (box)->y2 == bottom)

static void
test_read_everything (void)
{
  g_autoptr (GArray) boxes = boxes_new ();
  g_autoptr (GstBuffer)
      buffer = frame_with ("7 person 10.25:20.5:30.75:60.5 0.875 in 9; 9 - 1,2,3,4");
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 7);

  gst_structure_set (roi->params->data, "label_id", G_TYPE_INT, -4, NULL);
  add_structure (roi, "object_id, id=(int)77;");
  add_structure (roi, "nms, state=(string)suppressed, suppressed-by=(int)1;");
  g_assert_cmpuint (box_meta_read (buffer, FRAME_WIDTH, FRAME_HEIGHT,
                        BOX_READ_TRACK | BOX_READ_STATE, boxes),
      ==, 2);
  g_assert_cmpstr (box_text (BOX (boxes, 0)), ==, "0.875 -4 77 person 7 in 9 (1) 2 by 1");
  ASSERT_PLACE (BOX (boxes, 0), 10.25, 20.5, 30.75, 60.5);
  g_assert_cmpfloat (BOX (boxes, 0)->x_min, ==, 10.25 / FRAME_WIDTH);
  g_assert_cmpfloat (BOX (boxes, 0)->y_max, ==, 60.5 / FRAME_HEIGHT);
  g_assert_cmpint (BOX (boxes, 0)->x, ==, 10);
  g_assert_cmpint (BOX (boxes, 0)->w, ==, 21);
  g_assert_cmpstr (box_text (BOX (boxes, 1)), ==, "- - - - 9 in 0 (-1) 0 by -1");
  ASSERT_PLACE (BOX (boxes, 1), 1, 2, 4, 6);
  g_assert_cmphex (BOX (boxes, 1)->flags, ==, 0);

  /* only the fields that were asked for */
  box_meta_read (buffer, FRAME_WIDTH, FRAME_HEIGHT, 0, boxes);
  g_assert_cmpstr (box_text (BOX (boxes, 0)), ==, "0.875 -4 - person 7 in 9 (1) 0 by -1");
}

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

/* A box that is attached is read again unchanged, inside the frame and across its edges. */
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
    g_autoptr (GstBuffer) buffer = frame_new (0);
    Box box = { .x = rows[i].x,
      .y = rows[i].y,
      .w = rows[i].w,
      .h = rows[i].h,
      .label = g_quark_from_string ("dog"),
      .region_id = 3,
      .parent_id = 4,
      .track_id = 5,
      .label_id = 6,
      .confidence = 0.1,
      .state = BOX_STATE_OVER_CAP,
      .suppressed_by = -1,
      .flags = BOX_HAS_CONFIDENCE | BOX_HAS_LABEL_ID | BOX_HAS_TRACK_ID };
    Box *read;

    if (i < 3) { /* exact in the doubles, even if the integers are clipped */
      box.flags |= BOX_HAS_NORMALIZED;
      box.x_min = (rows[i].x + 0.25) / FRAME_WIDTH;
      box.x_max = (rows[i].x + rows[i].w) / (gdouble) FRAME_WIDTH;
      box.y_min = rows[i].y / (gdouble) FRAME_HEIGHT;
      box.y_max = (rows[i].y + rows[i].h) / (gdouble) FRAME_HEIGHT;
    }
    g_array_set_size (boxes, 0);
    g_array_append_val (boxes, box);
    box_meta_attach (buffer, boxes, FRAME_WIDTH, FRAME_HEIGHT, BOX_META_ROI);
    assert_ids (buffer, "3");
    g_assert_cmpstr (boxes_on (buffer), ==, rows[i].written);

    box_meta_read (buffer, FRAME_WIDTH, FRAME_HEIGHT, BOX_READ_TRACK | BOX_READ_STATE, boxes);
    read = BOX (boxes, 0);
    g_assert_cmphex (read->flags, ==, box.flags);
    g_assert_cmpfloat (read->x_min, ==, box.x_min);
    g_assert_cmpstr (box_text (read), ==, "0.1 6 5 dog 3 in 4 (-1) 5 by -1");
  }
}

static const TestCase cases[] = { CASE (test_read_everything), CASE (test_bad_tags),
  CASE (test_any), CASE (test_parents), CASE (test_attach), { NULL } };

GST_TEST_PROGRAM (cases);
