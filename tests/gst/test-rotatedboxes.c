/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rotated boxes without GstAnalytics: recorded angles are replayed, filtered, recorded
 * again and drawn.
 */
#include <math.h>

#include "gstrunner.h"
#include "pictures.h"
#include "textfiles.h"

#define ANGLE 0.5

/* Returns the structure of an angle. */
static GstStructure *
rotation_new (gdouble angle)
{
  return gst_structure_new ("rotation", "angle", G_TYPE_DOUBLE, angle, NULL);
}

/* Gives the region with this id an angle. */
static void
rotate (GstBuffer *buffer, gint id, gdouble angle)
{
  gst_video_region_of_interest_meta_add_param (
      gst_buffer_get_video_region_of_interest_meta_id (buffer, id), rotation_new (angle));
}

/* Rotated bars across each other overlap little, along each other much. */
static void
test_filter (void)
{
  static const gdouble steep = 0.927295218001612; /* the angle of 3, 4 */
  static const struct
  {
    const gchar *line, *boxes;
    gdouble angles[5]; /* of the regions 1, 2, .. */
    const gchar *ids, *places;
  } rows[] = {
    /* half a turn is the same box */
    { "nmsfilter",
        "1 ship 200,200,100,10 0.9; 2 ship 200,200,100,10 0.8; 3 ship 201,201,100,10 0.7; "
        "4 ship 201,201,100,10 0.6; 5 ship 200,200,100,10 0.6",
        { ANGLE, -ANGLE, ANGLE, ANGLE + G_PI, INFINITY }, "1 2", "200,200,100,10 200,200,100,10" },
    /* a merged box has the angle of the best one: region 3 is region 1 moved by 20 along it */
    { "nmsfilter method=merge",
        "1 ship 200,200,100,10 0.9; 2 ship 200,200,100,10 0.8; 3 ship 212,216,100,10 0.7",
        { steep, -steep, steep }, "1 2", "196,208,120,10 200,200,100,10" },
    /* neighbors are counted for boxes without a confidence */
    { "nmsfilter min-neighbors=2",
        "1 ship 200,200,100,10; 2 ship 200,200,100,10; 3 ship 201,200,100,10; "
        "4 ship 200,200,100,10",
        { ANGLE, ANGLE, ANGLE, -ANGLE }, "1", "200,200,100,10" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GstBuffer) buffer = frame_with (rows[i].boxes);
    const guint count = count_on (buffer);
    gdouble written;

    for (guint k = 0; k < count; k++)
      rotate (buffer, (gint) k + 1, rows[i].angles[k]);
    buffer = filtered (rows[i].line, buffer);
    assert_ids (buffer, rows[i].ids);
    g_assert_cmpstr (boxes_on (buffer), ==, rows[i].places);
    g_assert_true (
        gst_structure_get_double (gst_video_region_of_interest_meta_get_param (
                                      gst_buffer_get_video_region_of_interest_meta_id (buffer, 1),
                                      "rotation"),
            "angle", &written));
    g_assert_cmpfloat (written, ==, rows[i].angles[0]);
  }
}

static void
test_record_again (void)
{
  const gchar *line =
      "{\"timestamp\":0,\"resolution\":{\"width\":640,\"height\":480},"
      "\"objects\":[{\"x\":10,\"y\":20,\"w\":64,\"h\":48,\"roi_type\":\"ship\",\"region_id\":3,"
      "\"rotation\":-0.25,\"detection\":{\"bounding_box\":{\"x_min\":0.015625,\"y_min\":0.0417,"
      "\"x_max\":0.115625,\"y_max\":0.1417},\"confidence\":0.5,\"label\":\"ship\"}}]}\n";
  g_autofree gchar *in = text_file_new ("in.jsonl", line, -1),
                   *out = text_file_new ("out.jsonl", "", 0);
  g_autofree gchar *launch = g_strdup_printf ("boxreplay location=\"%s\" ! nmsfilter ! boxrecord "
                                              "location=\"%s\"",
      in, out);
  GstHarness *h = gst_harness_new_parse (launch);
  g_autofree gchar *recorded = NULL;

  gst_harness_set_src_caps_str (h, FRAME_CAPS);
  gst_buffer_unref (through (h, frame_new (0)));
  gst_harness_teardown (h);
  g_assert_true (g_file_get_contents (out, &recorded, NULL, NULL));
  g_assert_cmpstr (recorded, ==, line);
}

static void
test_bad_angle (void)
{
  g_autofree gchar *in = text_file_new ("in.jsonl",
      "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1,"
      "\"rotation\":\"much\"}]}\n",
      -1);
  g_autofree gchar *launch = g_strdup_printf ("boxreplay location=\"%s\"", in);
  g_autoptr (GstHarness) h = harness_new (launch);
  GstBus *bus = harness_bus (h);

  g_assert_cmpint (gst_harness_push (h, frame_new (0)), ==, GST_FLOW_ERROR);
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR),
      "objects?0?.rotation is not a number");
}

/* Returns the distance of the centre of a pixel from the nearest side of the rotated
 * box; it is negative outside of the box. */
static gdouble
depth (gint px, gint py, gdouble x, gdouble y, gdouble w, gdouble h, gdouble angle)
{
  gdouble dx = px + 0.5 - (x + w / 2), dy = py + 0.5 - (y + h / 2);
  gdouble u = fabs (dx * cos (angle) + dy * sin (angle));
  gdouble v = fabs (dy * cos (angle) - dx * sin (angle));

  return MIN (w / 2 - u, h / 2 - v);
}

/* Fails unless all of the border of a rotated box of 60 x 40 pixels is painted, and nothing
 * else. */
static void
must_draw (GstVideoFormat format, gint left, gint top, gdouble angle)
{
  const GstVideoInfo info = video_info_of (format, 120, 90);
  const gdouble grid = GST_VIDEO_FORMAT_INFO_W_SUB (info.finfo,
                           GST_VIDEO_INFO_N_COMPONENTS (&info) > 1)
      ? 2
      : 1;
  GstBuffer *buffer = video_buffer_new (&info);
  g_autoptr (Picture) before = picture_blank (&info), after = NULL;

  add_region (buffer, 1, "ship", (Rect) { left, top, 60, 40 });
  rotate (buffer, 1, angle);
  after = overlay_once (OUTLINES " thickness=4", &info, buffer);
  for (gint y = 0; y < 90; y++)
    for (gint x = 0; x < 120; x++) {
      gdouble d = depth (x, y, left, top, 60, 40, angle);
      gboolean painted = !picture_same (before, after, x, y);

      if (painted && (d < -1.5 * grid || d > 4 + 1.5 * grid))
        g_error ("format %u, angle %g: %d, %d is painted (%g)", format, angle, x, y, d);
      if (!painted && d > grid && d < 4 - grid)
        g_error ("format %u, angle %g: %d, %d is not painted (%g)", format, angle, x, y, d);
    }
}

static void
test_draw (void)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_I420,
    GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_GRAY8 };
  static const gdouble angles[] = { ANGLE, -1.2, 3.0, G_PI / 2, 1e-3, 100 };
  /* only a corner of the box is on the frame, in all quadrants of the angle */
  static const gdouble quadrants[] = { ANGLE, -ANGLE, G_PI - ANGLE, ANGLE - G_PI };
  static const gint corners[][2] = { { 30, -48 }, { 30, 98 }, { -60, 25 }, { 120, 25 } };

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    for (guint a = 0; a < G_N_ELEMENTS (angles); a++)
      must_draw (formats[f], 30, 25, angles[a]);
  for (guint a = 0; a < G_N_ELEMENTS (quadrants); a++)
    for (guint c = 0; c < G_N_ELEMENTS (corners); c++)
      must_draw (GST_VIDEO_FORMAT_RGB, corners[c][0], corners[c][1], quadrants[a]);
}

/* Boxes far outside of the frame, of any size, dashed: no crash, no endless loop, and a box of the
 * frame is drawn over them. */
static void
test_draw_hostile (void)
{
  static const guint sizes[] = { 0, 1, 3000000000u, G_MAXUINT };
  static const gint places[] = { -2000000000, -5, 50, 2000000000 };
  const GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, 120, 90);
  GstBuffer *buffer = video_buffer_new (&info);
  g_autoptr (Picture) before = picture_blank (&info), after = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint k = 0; k < G_N_ELEMENTS (places); k++) {
      GstVideoRegionOfInterestMeta *roi = add_region (buffer, 0, "ship",
          (Rect) { places[k], places[3 - k], sizes[i], sizes[(i + k) % 4] });

      gst_video_region_of_interest_meta_add_param (roi,
          rotation_new (k == 0 ? NAN : 0.1 * i + 1e-9));
      add_structure (roi, k % 2 ? "nms, state=suppressed;" : "nms, state=kept;");
    }
  add_region (buffer, 1, "ship", (Rect) { 30, 26, 60, 40 });
  rotate (buffer, 1, 0);
  after = overlay_once ("boxoverlay thickness=1", &info, buffer);
  g_assert_cmpuint (picture_changed (before, after, 30, 26, 90, 27), ==, 60);
}

static const TestCase cases[] = { CASE (test_filter), CASE (test_record_again),
  CASE (test_bad_angle), CASE (test_draw), CASE (test_draw_hostile), { NULL } };

GST_TEST_PROGRAM (cases);
