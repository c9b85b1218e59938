/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmeta: reads and writes metadata field by field. Calls functions of the plugin
 * directly, because the elements do not show every field.
 */
#include "gstrunner.h"
#include "meta/boxremove.h"

#include <math.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC (BoxMetaReading, box_meta_reading_free)

static GArray *
boxes_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (Box));
}

#define BOX(boxes, i) (&g_array_index (boxes, Box, i))

static void
test_state_names (void)
{
  for (gint state = BOX_STATE_KEPT; state < BOX_STATE_COUNT; state++) {
    g_assert_nonnull (box_state_name (state));
    g_assert_cmpint (box_state_from_name (box_state_name (state)), ==, state);
  }
  g_assert_null (box_state_name (BOX_STATE_NONE));
  g_assert_null (box_state_name (-1));
  g_assert_null (box_state_name (BOX_STATE_COUNT));
  g_assert_cmpint (box_state_from_name (NULL), ==, BOX_STATE_NONE);
  g_assert_cmpint (box_state_from_name ("Kept"), ==, BOX_STATE_NONE);
}

static void
test_read_everything (void)
{
  g_autoptr (GArray) boxes = boxes_new ();
  g_autoptr (GstBuffer) buffer = frame_new (0);
  GstVideoRegionOfInterestMeta *roi = add_exact (buffer, 7, "person", 10.25, 20.5, 30.75, 60.5,
      0.875);
  Box *box;

  roi->parent_id = 9;
  gst_structure_set (roi->params->data, "label_id", G_TYPE_INT, -4, NULL);
  add_structure (roi, "object_id, id=(int)77;");
  add_structure (roi, "nms, state=(string)suppressed, suppressed-by=(int)1;");
  add_region (buffer, 9, "", 1, 2, 3, 4);

  g_assert_cmpuint (box_meta_read (buffer, FRAME_WIDTH, FRAME_HEIGHT,
                        BOX_READ_TRACK | BOX_READ_STATE, boxes),
      ==, 2);
  box = BOX (boxes, 0);
  g_assert_cmphex (box->flags, ==,
      BOX_HAS_NORMALIZED | BOX_HAS_CONFIDENCE | BOX_HAS_LABEL_ID | BOX_HAS_TRACK_ID);
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

  /* only the fields that were asked for */
  box_meta_read (buffer, FRAME_WIDTH, FRAME_HEIGHT, 0, boxes);
  g_assert_cmphex (BOX (boxes, 0)->flags & BOX_HAS_TRACK_ID, ==, 0);
  g_assert_cmpint (BOX (boxes, 0)->state, ==, BOX_STATE_NONE);
}

/* Makes a region whose doubles are `off` pixels beside its integers 100..200. */
static gboolean
counts (const gchar *field, gdouble off, gint width)
{
  g_autoptr (GArray) boxes = boxes_new ();
  g_autoptr (GstBuffer) buffer = frame_new (0);
  GstVideoRegionOfInterestMeta *roi = add_exact (buffer, 1, "a", 100, 100, 200, 200, 0.5);
  gboolean x = field[0] == 'x', normalized;
  gdouble pixel = (strstr (field, "min") ? 100 : 200) + off;

  gst_structure_set (roi->params->data, field, G_TYPE_DOUBLE,
      pixel / (x ? FRAME_WIDTH : FRAME_HEIGHT), NULL);
  box_meta_read (buffer, width, FRAME_HEIGHT, 0, boxes);
  normalized = (BOX (boxes, 0)->flags & BOX_HAS_NORMALIZED) != 0;
  if (!normalized)
    g_assert_cmpfloat (BOX (boxes, 0)->x1, ==, 100);
  return normalized;
}

static void
test_agreement (void)
{
  static const gchar *const fields[] = { "x_min", "x_max", "y_min", "y_max" };

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
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
  g_autoptr (GArray) boxes = boxes_new ();

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GstBuffer) buffer = frame_new (0);
    GstVideoRegionOfInterestMeta *roi = add_region (buffer, 1, "a", 0, 0, 1, 1);

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

static void
test_any (void)
{
  g_autoptr (GstBuffer) buffer = frame_new (0);
  GstVideoRegionOfInterestMeta *roi;

  g_assert_false (box_meta_any (buffer));
  roi = add_region (buffer, 1, "a", 0, 0, 1, 1);
  add_structure (roi, "roi/x264;");
  add_structure (roi, "roi/vp9;");
  g_assert_false (box_meta_any (buffer));
  roi = add_region (buffer, 2, "a", 0, 0, 1, 1);
  g_assert_true (box_meta_any (buffer));
  box_remove_all (buffer);
  assert_ids (buffer, "1");
  g_assert_false (box_meta_any (buffer));
}

/* The parents form a chain, a part of a ring, a ring, a doubled id, and an unknown id. */
static void
test_parents (void)
{
  static const struct
  {
    gint id, parent_id, parent;
  } rows[] = {
    { 1, 2, 1 },
    { 2, 3, 2 },
    { 3, 0, -1 },
    { 4, 5, 4 },
    { 5, 6, -1 },
    { 6, 5, -1 },
    { 7, 7, -1 },
    { 0, 8, 9 },
    { 9, 99, -1 },
    { 8, 0, -1 },
    { 8, 1, 0 },
    { 10, 0, -1 },
    { 11, 12, -1 },
    { 12, 13, -1 },
    { 13, 11, -1 },
    { 14, 13, 14 },
    { -3, 0, -1 },
    { 15, -3, 16 },
  };
  g_autoptr (GArray) boxes = boxes_new ();
  g_autoptr (GstBuffer) buffer = frame_new (0);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    add_region (buffer, rows[i].id, "a", 0, 0, 1, 1)->parent_id = rows[i].parent_id;
  box_meta_read (buffer, 0, 0, 0, boxes);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpint (BOX (boxes, i)->parent, ==, rows[i].parent);
}

/* Returns the API types of the metas of a buffer, in order, without the reference that a
 * copy keeps to the buffer of a pool. */
static gchar *
list_metas (GstBuffer *buffer)
{
  GString *list = g_string_new (NULL);
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta (buffer, &state)))
    if (meta->info->api != GST_PARENT_BUFFER_META_API_TYPE)
      g_string_append_printf (list, " %s", g_type_name (meta->info->api));
  return g_string_free (list, FALSE);
}

/* A copy without some boxes equals a full copy from which they are removed. */
static void
test_copy_without (void)
{
  static GstStaticCaps unix_time = GST_STATIC_CAPS ("timestamp/x-unix");
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  g_autoptr (BoxMetaReading) reading = box_meta_reading_new ();
  GArray *boxes = box_meta_reading_boxes (reading);
  GstBuffer *buffer, *copy, *plain;
  gchar *metas, *plain_metas;

  gst_buffer_pool_config_set_params (config, NULL, 100, 1, 0);
  g_assert_true (gst_buffer_pool_set_config (pool, config));
  gst_buffer_pool_set_active (pool, TRUE);
  g_assert_cmpint (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL), ==, GST_FLOW_OK);
  add_exact (buffer, 1, "a", 10, 10, 20, 20, 0.5);
  add_structure (add_region (buffer, 2, "a", 0, 0, 1, 1), "roi/x264;");
  gst_buffer_add_reference_timestamp_meta (buffer, gst_static_caps_get (&unix_time), 7, 8);
  add_exact (buffer, 3, "a", 10, 10, 20, 20, 0.25);
  add_exact (buffer, 4, "a", 10, 10, 20, 20, 0.75);
  add_boxes (buffer, "5 a 0,0,1,1");
  GST_META_FLAG_SET (&add_region (buffer, 6, "a", 0, 0, 1, 1)->meta, GST_META_FLAG_LOCKED);
  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 4, 4);
  GST_BUFFER_PTS (buffer) = 1;
  GST_BUFFER_DTS (buffer) = 2;
  GST_BUFFER_DURATION (buffer) = 3;
  GST_BUFFER_OFFSET (buffer) = 4;
  GST_BUFFER_OFFSET_END (buffer) = 5;
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT | GST_BUFFER_FLAG_DISCONT);
  g_assert_cmpuint (box_meta_reading_take (reading, buffer, FRAME_WIDTH, FRAME_HEIGHT, 0), ==, 4);
  BOX (boxes, 0)->state = BOX_STATE_SUPPRESSED;
  BOX (boxes, 1)->state = BOX_STATE_KEPT;
  BOX (boxes, 2)->state = BOX_STATE_BELOW_SCORE;

  copy = box_remove_copy (buffer, reading);
  plain = gst_buffer_copy (buffer);
  box_remove (plain, reading);
  assert_ids (copy, "2 3 5 6");
  assert_ids (plain, "2 3 5 6");
  assert_ids (buffer, "1 2 3 4 5 6");
  metas = list_metas (copy);
  plain_metas = list_metas (plain);
  g_assert_cmpstr (metas, ==, plain_metas);
  g_assert_true (gst_buffer_is_writable (copy));
  g_assert_true (gst_buffer_peek_memory (copy, 0) == gst_buffer_peek_memory (buffer, 0));
  /* not every version of GStreamer keeps the buffer of the pool for a copy */
  g_assert_cmpuint (gst_buffer_get_n_meta (copy, GST_PARENT_BUFFER_META_API_TYPE), ==,
      gst_buffer_get_n_meta (plain, GST_PARENT_BUFFER_META_API_TYPE));
  g_assert_cmphex (GST_BUFFER_FLAGS (copy), ==, GST_BUFFER_FLAGS (plain));
  g_assert_cmpuint (GST_BUFFER_PTS (copy), ==, 1);
  g_assert_cmpuint (GST_BUFFER_DTS (copy), ==, 2);
  g_assert_cmpuint (GST_BUFFER_DURATION (copy), ==, 3);
  g_assert_cmpuint (GST_BUFFER_OFFSET (copy), ==, 4);
  g_assert_cmpuint (GST_BUFFER_OFFSET_END (copy), ==, 5);
  box_meta_read (copy, FRAME_WIDTH, FRAME_HEIGHT, 0, boxes);
  g_assert_cmpuint (boxes->len, ==, 3);
  g_assert_cmpfloat (BOX (boxes, 0)->confidence, ==, 0.25);
  g_free (metas);
  g_free (plain_metas);
  gst_buffer_unref (plain);
  gst_buffer_unref (copy);
  gst_buffer_unref (buffer);
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
}

/* Most extents lie within the frame and are decided without clipping. Here the same rule
 * is written out in full. */
static gboolean
agrees (gdouble a, gdouble b, gint64 start, gint64 length, gint size)
{
  gdouble low = MIN (a, b), high = MAX (a, b);
  gint64 first = CLAMP (start, 0, size), last = CLAMP (start + length, 0, size);

  if (!isfinite (a) || !isfinite (b))
    return FALSE;
  low = CLAMP (low, 0, size);
  high = CLAMP (high, 0, size);
  return fabs (low - first) <= 1 && fabs ((high - low) - (last - first)) <= 1;
}

static void
test_extents (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);
  guint yes = 0;

  for (guint i = 0; i < 200000; i++) {
    gint size = g_rand_int_range (rand, 1, 40);
    gint64 start = g_rand_int_range (rand, -10, 50), length = g_rand_int_range (rand, -3, 50);
    /* multiples of 1/4, so that each limit is met exactly now and then */
    gdouble a = start + g_rand_int_range (rand, -6, 7) / 4.0;
    gdouble b = start + length + g_rand_int_range (rand, -6, 7) / 4.0;

    switch (g_rand_int_range (rand, 0, 40)) {
      case 0:
        a = NAN;
        break;
      case 1:
        b = INFINITY;
        break;
      case 2:
        a = -INFINITY;
        break;
      case 3:
        a = b;
        break;
    }
    yes += agrees (a, b, start, length, size);
    g_assert_cmpint (box_extent_agrees (a, b, start, length, size), ==,
        agrees (a, b, start, length, size));
  }
  g_assert_cmpuint (yes, >, 20000);
  g_assert_cmpuint (yes, <, 180000);
}

/* A box that is attached is read again unchanged, inside the frame and across its edges. */
static void
test_attach (void)
{
  static const struct
  {
    gint64 x, y, w, h; /* given */
    gint cx, cy;
    guint cw, ch; /* as written to the meta */
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
  g_autoptr (GArray) boxes = boxes_new ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GstBuffer) buffer = frame_new (0);
    GstVideoRegionOfInterestMeta *roi;
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
    roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 3);
    g_assert_nonnull (roi);
    g_assert_cmpint ((gint) roi->x, ==, rows[i].cx);
    g_assert_cmpint ((gint) roi->y, ==, rows[i].cy);
    g_assert_cmpuint (roi->w, ==, rows[i].cw);
    g_assert_cmpuint (roi->h, ==, rows[i].ch);

    box_meta_read (buffer, FRAME_WIDTH, FRAME_HEIGHT, BOX_READ_TRACK | BOX_READ_STATE, boxes);
    g_assert_cmphex (BOX (boxes, 0)->flags, ==, box.flags);
    g_assert_cmpfloat (BOX (boxes, 0)->x_min, ==, box.x_min);
    g_assert_cmpfloat (BOX (boxes, 0)->confidence, ==, 0.1);
    g_assert_cmpint (BOX (boxes, 0)->label_id, ==, 6);
    g_assert_cmpint (BOX (boxes, 0)->track_id, ==, 5);
    g_assert_cmpint (BOX (boxes, 0)->parent_id, ==, 4);
    g_assert_cmpuint (BOX (boxes, 0)->label, ==, box.label);
    g_assert_cmpint (BOX (boxes, 0)->state, ==, BOX_STATE_OVER_CAP);
  }
}

/* If only the box is known, no other field is written. Negative numbers outside of the
 * frame, or without a frame size, wrap and are read back. */
static void
test_attach_little (void)
{
  g_autoptr (GArray) boxes = boxes_new ();
  g_autoptr (GstBuffer) buffer = frame_new (0);
  Box box = { .x = -10, .y = -20, .w = 30, .h = 40, .suppressed_by = -1 };
  GstVideoRegionOfInterestMeta *roi;

  g_array_append_val (boxes, box);
  box_meta_attach (buffer, boxes, 0, 0, BOX_META_ROI);
  roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 0);
  g_assert_null (roi->params);
  box_meta_read (buffer, 0, 0, BOX_READ_TRACK | BOX_READ_STATE, boxes);
  g_assert_cmpint (BOX (boxes, 0)->x, ==, -10);
  g_assert_cmpint (BOX (boxes, 0)->y, ==, -20);
  g_assert_cmpfloat (BOX (boxes, 0)->x2, ==, 20);
  g_assert_cmpuint (BOX (boxes, 0)->label, ==, 0);
}

static const TestCase cases[] = { CASE (test_state_names), CASE (test_read_everything),
  CASE (test_agreement), CASE (test_bad_tags), CASE (test_any), CASE (test_parents),
  CASE (test_copy_without), CASE (test_extents), CASE (test_attach), CASE (test_attach_little),
  { NULL } };

GST_TEST_PROGRAM (cases);
