/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rotated boxes without GstAnalytics: recorded angles are replayed, filtered, recorded
 * again and drawn.
 */
#include <math.h>

#include "gstrunner.h"
#include "pictures.h"
#include "textfiles.h"

/* Rotated bars across each other overlap little, along each other much. */
static void
test_filter (void)
{
  static const struct
  {
    const gchar *line, *boxes;
    const gchar *ids, *places;
    gdouble angle; /* angle of region 1 */
  } rows[] = {
    /* half a turn is the same box */
    { "nmsfilter",
        "1 ship 200,200,100,10 0.9 @0.5; 2 ship 200,200,100,10 0.8 @-0.5; "
        "3 ship 201,201,100,10 0.7 @0.5; 4 ship 201,201,100,10 0.6 @3.641592653589793; "
        "5 ship 200,200,100,10 0.6 @inf",
        "1 2", "200,200,100,10 200,200,100,10", 0.5 },
    /* a merged box has the angle of the best one: region 3 is region 1 moved by 20 along it, which
     * is 12 to the right and 16 down */
    { "nmsfilter method=merge",
        "1 ship 200,200,100,10 0.9 @0.927295218001612; "
        "2 ship 200,200,100,10 0.8 @-0.927295218001612; "
        "3 ship 212,216,100,10 0.7 @0.927295218001612",
        "1 2", "196,208,120,10 200,200,100,10", 0.927295218001612 },
    /* neighbors are counted for boxes without a confidence */
    { "nmsfilter min-neighbors=2",
        "1 ship 200,200,100,10 @0.5; 2 ship 200,200,100,10 @0.5; 3 ship 201,200,100,10 @0.5; "
        "4 ship 200,200,100,10 @-0.5",
        "1", "200,200,100,10", 0.5 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GstBuffer) buffer = filtered (rows[i].line, frame_with (rows[i].boxes));
    gdouble angle;

    assert_ids (buffer, rows[i].ids);
    g_assert_cmpstr (boxes_on (buffer), ==, rows[i].places);
    g_assert_true (
        gst_structure_get_double (structure_on (gst_buffer_get_video_region_of_interest_meta (
                                                    buffer),
                                      "rotation"),
            "angle", &angle));
    g_assert_cmpfloat (angle, ==, rows[i].angle);
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

  gst_structure_set (structure_on (add_region (buffer, 1, "ship", (Rect) { left, top, 60, 40 }),
                         "rotation"),
      "angle", G_TYPE_DOUBLE, angle, NULL);
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
  static const gdouble angles[] = { 0.5, -1.2, 3.0, G_PI / 2, 1e-3, 100 };
  /* only a corner of the box is on the frame, in all quadrants of the angle */
  static const gdouble quadrants[] = { 0.5, -0.5, G_PI - 0.5, 0.5 - G_PI };
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

      gst_structure_set (structure_on (roi, "rotation"), "angle", G_TYPE_DOUBLE,
          k == 0 ? NAN : 0.1 * i + 1e-9, NULL);
      add_structure (roi, k % 2 ? "nms, state=suppressed;" : "nms, state=kept;");
    }
  add_boxes (buffer, "1 ship 30,26,60,40 @0");
  after = overlay_once ("boxoverlay thickness=1", &info, buffer);
  g_assert_cmpuint (picture_changed (before, after, 30, 26, 90, 27), ==, 60);
}

static const TestCase cases[] = { CASE (test_filter), CASE (test_record_again), CASE (test_draw),
  CASE (test_draw_hostile), { NULL } };

GST_TEST_PROGRAM (cases);
