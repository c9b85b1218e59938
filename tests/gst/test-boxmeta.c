/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmeta: what is read from metadata and written to it, field by field. The
 * only test here that calls a function of the plugin: elements show too little
 * of it.
 */
#include "boxmeta.h"
#include "gstboxes.h"

#include <math.h>

static GArray *
boxes_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (Box));
}

#define BOX(boxes, i) (&g_array_index (boxes, Box, i))

static void
test_state_names (void)
{
  gint state;

  for (state = BOX_STATE_KEPT; state <= BOX_STATE_INVALID; state++) {
    g_assert_nonnull (box_state_name (state));
    g_assert_cmpint (box_state_from_name (box_state_name (state)), ==, state);
  }
  g_assert_null (box_state_name (BOX_STATE_NONE));
  g_assert_null (box_state_name (-1));
  g_assert_null (box_state_name (BOX_STATE_INVALID + 1));
  g_assert_cmpint (box_state_from_name (NULL), ==, BOX_STATE_NONE);
  g_assert_cmpint (box_state_from_name ("Kept"), ==, BOX_STATE_NONE);
}

static void
test_read_everything (void)
{
  GArray *boxes = boxes_new ();
  GstBuffer *buffer = frame_new (0);
  GstVideoRegionOfInterestMeta *roi = add_exact (buffer, 7, "person", 10.25, 20.5, 30.75, 60.5,
      0.875);
  Box *box;

  roi->parent_id = 9;
  gst_structure_set (roi->params->data, "label_id", G_TYPE_INT, -4, NULL);
  gst_video_region_of_interest_meta_add_param (roi,
      gst_structure_new ("object_id", "id", G_TYPE_INT, 77, NULL));
  gst_video_region_of_interest_meta_add_param (roi, gst_structure_new ("nms",
          "state", G_TYPE_STRING, "suppressed", "suppressed-by", G_TYPE_INT, 1, NULL));
  add_region (buffer, 9, "", 1, 2, 3, 4);

  g_assert_cmpuint (box_meta_read (buffer, FRAME_WIDTH, FRAME_HEIGHT,
          BOX_META_TRACK | BOX_META_STATE, boxes), ==, 2);
  box = BOX (boxes, 0);
  g_assert_cmphex (box->flags, ==, BOX_HAS_NORMALIZED | BOX_HAS_CONFIDENCE | BOX_HAS_LABEL_ID
      | BOX_HAS_TRACK_ID);
  g_assert_cmpfloat (box->x1, ==, 10.25);
  g_assert_cmpfloat (box->x2, ==, 30.75);
  g_assert_cmpfloat (box->y1, ==, 20.5);
  g_assert_cmpfloat (box->y2, ==, 60.5);
  g_assert_cmpfloat (box->x_min, ==, 10.25 / FRAME_WIDTH);
  g_assert_cmpfloat (box->y_max, ==, 60.5 / FRAME_HEIGHT);
  g_assert_cmpint (box->x, ==, 10);
  g_assert_cmpint (box->w, ==, 21);
  g_assert_cmpfloat (box->confidence, ==, 0.875);
  g_assert_cmpstr (g_quark_to_string (box->label), ==, "person");
  g_assert_cmpint (box->label_id, ==, -4);
  g_assert_cmpint (box->region_id, ==, 7);
  g_assert_cmpint (box->parent_id, ==, 9);
  g_assert_cmpint (box->parent, ==, 1);
  g_assert_cmpint (box->track_id, ==, 77);
  g_assert_cmpint (box->state, ==, BOX_STATE_SUPPRESSED);
  g_assert_cmpint (box->suppressed_by, ==, 1);

  box = BOX (boxes, 1);
  g_assert_cmphex (box->flags, ==, 0);
  g_assert_cmpuint (box->label, ==, 0);
  g_assert_cmpfloat (box->x2, ==, 4);
  g_assert_cmpint (box->parent, ==, -1);
  g_assert_cmpint (box->suppressed_by, ==, -1);

  /* only what was asked for */
  box_meta_read (buffer, FRAME_WIDTH, FRAME_HEIGHT, 0, boxes);
  g_assert_cmphex (BOX (boxes, 0)->flags & BOX_HAS_TRACK_ID, ==, 0);
  g_assert_cmpint (BOX (boxes, 0)->state, ==, BOX_STATE_NONE);
  gst_buffer_unref (buffer);
  g_array_unref (boxes);
}

/* Doubles that lie `off` pixels beside the integers 100..200. */
static gboolean
counts (const gchar * field, gdouble off, gint width)
{
  GArray *boxes = boxes_new ();
  GstBuffer *buffer = frame_new (0);
  GstVideoRegionOfInterestMeta *roi = add_exact (buffer, 1, "a", 100, 100, 200, 200, 0.5);
  gboolean x = field[0] == 'x', normalized;
  gdouble pixel = (strstr (field, "min") ? 100 : 200) + off;

  gst_structure_set (roi->params->data, field, G_TYPE_DOUBLE,
      pixel / (x ? FRAME_WIDTH : FRAME_HEIGHT), NULL);
  box_meta_read (buffer, width, FRAME_HEIGHT, 0, boxes);
  normalized = (BOX (boxes, 0)->flags & BOX_HAS_NORMALIZED) != 0;
  if (!normalized)
    g_assert_cmpfloat (BOX (boxes, 0)->x1, ==, 100);
  gst_buffer_unref (buffer);
  g_array_unref (boxes);
  return normalized;
}

static void
test_agreement (void)
{
  static const gchar *const fields[] = { "x_min", "x_max", "y_min", "y_max" };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (fields); i++) {
    g_assert_true (counts (fields[i], 0, FRAME_WIDTH));
    g_assert_true (counts (fields[i], 0.99, FRAME_WIDTH));
    g_assert_true (counts (fields[i], -0.99, FRAME_WIDTH));
    g_assert_false (counts (fields[i], 1.01, FRAME_WIDTH));
    g_assert_false (counts (fields[i], -1.01, FRAME_WIDTH));
    g_assert_false (counts (fields[i], NAN, FRAME_WIDTH));
    g_assert_false (counts (fields[i], INFINITY, FRAME_WIDTH));
    g_assert_false (counts (fields[i], 0, 0));
    g_assert_false (counts (fields[i], 0, FRAME_WIDTH * 2));
  }
}

static void
test_bad_tags (void)
{
  static const gint bad[] = { -2, 1, 2, G_MAXINT, G_MININT };
  GArray *boxes = boxes_new ();
  guint i;

  for (i = 0; i < G_N_ELEMENTS (bad); i++) {
    GstBuffer *buffer = frame_new (0);
    GstVideoRegionOfInterestMeta *roi = add_region (buffer, 1, "a", 0, 0, 1, 1);

    gst_video_region_of_interest_meta_add_param (roi, gst_structure_new ("nms", "state",
            G_TYPE_STRING, "suppressed", "suppressed-by", G_TYPE_INT, bad[i], NULL));
    box_meta_read (buffer, 0, 0, BOX_META_STATE, boxes);
    g_assert_cmpint (BOX (boxes, 0)->suppressed_by, ==, -1);
    gst_structure_set (gst_video_region_of_interest_meta_get_param (roi, "nms"), "state",
        G_TYPE_INT, 3, NULL);
    box_meta_read (buffer, 0, 0, BOX_META_STATE, boxes);
    g_assert_cmpint (BOX (boxes, 0)->state, ==, BOX_STATE_NONE);
    gst_buffer_unref (buffer);
  }
  g_array_unref (boxes);
}

static void
test_any (void)
{
  GstBuffer *buffer = frame_new (0);
  GstVideoRegionOfInterestMeta *roi;

  g_assert_false (box_meta_any (buffer));
  roi = add_region (buffer, 1, "a", 0, 0, 1, 1);
  gst_video_region_of_interest_meta_add_param (roi, gst_structure_new_empty ("roi/x264"));
  gst_video_region_of_interest_meta_add_param (roi, gst_structure_new_empty ("roi/vp9"));
  g_assert_false (box_meta_any (buffer));
  roi = add_region (buffer, 2, "a", 0, 0, 1, 1);
  g_assert_true (box_meta_any (buffer));
  box_meta_remove_all (buffer);
  assert_ids (buffer, "1");
  g_assert_false (box_meta_any (buffer));
  gst_buffer_unref (buffer);
}

/* A chain, a part of a ring, a ring, a double id, nobody. */
static void
test_parents (void)
{
  static const struct
  {
    gint id, parent_id, parent;
  } rows[] = {
    { 1, 2, 1 }, { 2, 3, 2 }, { 3, 0, -1 },
    { 4, 5, 4 }, { 5, 6, -1 }, { 6, 5, -1 },
    { 7, 7, -1 }, { 0, 8, 9 }, { 9, 99, -1 },
    { 8, 0, -1 }, { 8, 1, 0 }, { 10, 0, -1 },
    { 11, 12, -1 }, { 12, 13, -1 }, { 13, 11, -1 }, { 14, 13, 14 }, { -3, 0, -1 }, { 15, -3, 16 },
  };
  GArray *boxes = boxes_new ();
  GstBuffer *buffer = frame_new (0);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (rows); i++)
    add_region (buffer, rows[i].id, "a", 0, 0, 1, 1)->parent_id = rows[i].parent_id;
  box_meta_read (buffer, 0, 0, 0, boxes);
  for (i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpint (BOX (boxes, i)->parent, ==, rows[i].parent);
  gst_buffer_unref (buffer);
  g_array_unref (boxes);
}

/* Dropping by position, with what is no detection in between, on a copy. */
static void
test_remove (void)
{
  static const guint8 drop[] = { 1, 0, 1, 0 };
  GArray *boxes = boxes_new ();
  GstBuffer *buffer = frame_new (0), *copy;

  add_region (buffer, 1, "a", 0, 0, 1, 1);
  gst_video_region_of_interest_meta_add_param (add_region (buffer, 2, "a", 0, 0, 1, 1),
      gst_structure_new_empty ("roi/x264"));
  add_region (buffer, 3, "a", 0, 0, 1, 1);
  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 4, 4);
  add_region (buffer, 4, "a", 0, 0, 1, 1);
  add_region (buffer, 5, "a", 0, 0, 1, 1);
  g_assert_cmpuint (box_meta_read (buffer, 0, 0, 0, boxes), ==, 4);
  copy = gst_buffer_copy (buffer);
  box_meta_remove (copy, boxes, drop);
  assert_ids (copy, "2 3 5");
  assert_ids (buffer, "1 2 3 4 5");
  box_meta_remove (buffer, boxes, drop);
  assert_ids (buffer, "2 3 5");
  g_assert_nonnull (gst_buffer_get_video_meta (buffer));
  gst_buffer_unref (copy);
  gst_buffer_unref (buffer);
  g_array_unref (boxes);
}

static void
test_tag (void)
{
  GArray *boxes = boxes_new ();
  GstBuffer *buffer = frame_new (0);

  add_region (buffer, 1, "a", 0, 0, 1, 1);
  add_region (buffer, 2, "a", 0, 0, 1, 1);
  add_region (buffer, 3, "a", 0, 0, 1, 1);
  box_meta_read (buffer, 0, 0, 0, boxes);
  BOX (boxes, 0)->state = BOX_STATE_SUPPRESSED;
  BOX (boxes, 0)->suppressed_by = 2;
  BOX (boxes, 2)->state = BOX_STATE_KEPT;
  box_meta_tag (buffer, boxes);
  assert_tag (buffer, 1, "suppressed:2");
  assert_tag (buffer, 2, "");
  assert_tag (buffer, 3, "kept");
  BOX (boxes, 0)->state = BOX_STATE_KEPT;
  BOX (boxes, 0)->suppressed_by = -1;
  box_meta_tag (buffer, boxes);
  assert_tag (buffer, 1, "kept");
  box_meta_read (buffer, 0, 0, BOX_META_STATE, boxes);
  g_assert_cmpint (BOX (boxes, 0)->state, ==, BOX_STATE_KEPT);
  gst_buffer_unref (buffer);
  g_array_unref (boxes);
}

/* What is attached is read again as it was, inside the frame and across its
 * edges. */
static void
test_attach (void)
{
  static const struct
  {
    gint64 x, y, w, h;          /* given */
    gint cx, cy;
    guint cw, ch;               /* as they end up on the meta */
  } rows[] = {
    { 10, 20, 30, 40, 10, 20, 30, 40 },
    { -10, -20, 30, 40, 0, 0, 20, 20 },
    { 630, 470, 30, 40, 630, 470, 10, 10 },
    { -100, 0, 50, 10, 0, 0, 0, 10 },
    { 700, 0, 50, 10, 640, 0, 0, 10 },
    { 0, 0, 0, 0, 0, 0, 0, 0 },
    { 0, 0, -5, 10, 0, 0, 0, 10 },
    { -100, -100, 5000, 5000, 0, 0, 640, 480 },
    { G_MININT64, G_MAXINT64, G_MAXINT64, G_MININT64, 0, 480, 640, 0 },
  };
  GArray *boxes = boxes_new ();
  guint i;

  for (i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstBuffer *buffer = frame_new (0);
    GstVideoRegionOfInterestMeta *roi;
    Box box = { .x = rows[i].x, .y = rows[i].y, .w = rows[i].w, .h = rows[i].h,
      .label = g_quark_from_string ("dog"), .region_id = 3, .parent_id = 4, .track_id = 5,
      .label_id = 6, .confidence = 0.1, .state = BOX_STATE_OVER_CAP, .suppressed_by = -1,
      .flags = BOX_HAS_CONFIDENCE | BOX_HAS_LABEL_ID | BOX_HAS_TRACK_ID
    };

    if (i < 3) {                /* exact in the doubles, however clipped */
      box.flags |= BOX_HAS_NORMALIZED;
      box.x_min = (rows[i].x + 0.25) / FRAME_WIDTH;
      box.x_max = (rows[i].x + rows[i].w) / (gdouble) FRAME_WIDTH;
      box.y_min = rows[i].y / (gdouble) FRAME_HEIGHT;
      box.y_max = (rows[i].y + rows[i].h) / (gdouble) FRAME_HEIGHT;
    }
    box_meta_attach (buffer, &box, FRAME_WIDTH, FRAME_HEIGHT);
    roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 3);
    g_assert_nonnull (roi);
    g_assert_cmpint ((gint) roi->x, ==, rows[i].cx);
    g_assert_cmpint ((gint) roi->y, ==, rows[i].cy);
    g_assert_cmpuint (roi->w, ==, rows[i].cw);
    g_assert_cmpuint (roi->h, ==, rows[i].ch);

    box_meta_read (buffer, FRAME_WIDTH, FRAME_HEIGHT, BOX_META_TRACK | BOX_META_STATE, boxes);
    g_assert_cmphex (BOX (boxes, 0)->flags, ==, box.flags);
    g_assert_cmpfloat (BOX (boxes, 0)->x_min, ==, box.x_min);
    g_assert_cmpfloat (BOX (boxes, 0)->confidence, ==, 0.1);
    g_assert_cmpint (BOX (boxes, 0)->label_id, ==, 6);
    g_assert_cmpint (BOX (boxes, 0)->track_id, ==, 5);
    g_assert_cmpint (BOX (boxes, 0)->parent_id, ==, 4);
    g_assert_cmpuint (BOX (boxes, 0)->label, ==, box.label);
    g_assert_cmpint (BOX (boxes, 0)->state, ==, BOX_STATE_OVER_CAP);
    gst_buffer_unref (buffer);
  }
  g_array_unref (boxes);
}

/* Nothing known but the box: nothing else is written. Off the frame and no
 * frame: negative numbers wrap and come back. */
static void
test_attach_little (void)
{
  GArray *boxes = boxes_new ();
  GstBuffer *buffer = frame_new (0);
  Box box = { .x = -10, .y = -20, .w = 30, .h = 40, .suppressed_by = -1 };
  GstVideoRegionOfInterestMeta *roi;

  box_meta_attach (buffer, &box, 0, 0);
  roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 0);
  g_assert_null (roi->params);
  box_meta_read (buffer, 0, 0, BOX_META_TRACK | BOX_META_STATE, boxes);
  g_assert_cmpint (BOX (boxes, 0)->x, ==, -10);
  g_assert_cmpint (BOX (boxes, 0)->y, ==, -20);
  g_assert_cmpfloat (BOX (boxes, 0)->x2, ==, 20);
  g_assert_cmpuint (BOX (boxes, 0)->label, ==, 0);
  gst_buffer_unref (buffer);
  g_array_unref (boxes);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  gst_init (&argc, &argv);
  g_test_add_func ("/boxmeta/state-names", test_state_names);
  g_test_add_func ("/boxmeta/read-everything", test_read_everything);
  g_test_add_func ("/boxmeta/agreement", test_agreement);
  g_test_add_func ("/boxmeta/bad-tags", test_bad_tags);
  g_test_add_func ("/boxmeta/any", test_any);
  g_test_add_func ("/boxmeta/parents", test_parents);
  g_test_add_func ("/boxmeta/remove", test_remove);
  g_test_add_func ("/boxmeta/tag", test_tag);
  g_test_add_func ("/boxmeta/attach", test_attach);
  g_test_add_func ("/boxmeta/attach-little", test_attach_little);
  return run_tests ();
}
