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

static void
add_rotated (GstBuffer *buffer, gint id, gint x, gint y, guint w, guint h, gdouble confidence,
    gdouble angle)
{
  gst_video_region_of_interest_meta_add_param (add_scored (buffer, id, "ship", x, y, w, h,
                                                   confidence),
      gst_structure_new ("rotation", "angle", G_TYPE_DOUBLE, angle, NULL));
}

/* Rotated bars across each other overlap little, along each other much. */
static void
test_filter (void)
{
  g_autoptr (GstBuffer) buffer = frame_new (0);

  add_rotated (buffer, 1, 200, 200, 100, 10, 0.9, ANGLE);
  add_rotated (buffer, 2, 200, 200, 100, 10, 0.8, -ANGLE);
  add_rotated (buffer, 3, 201, 201, 100, 10, 0.7, ANGLE);
  add_rotated (buffer, 4, 201, 201, 100, 10, 0.6, ANGLE + G_PI); /* half a turn: the same box */
  add_rotated (buffer, 5, 200, 200, 100, 10, 0.6, INFINITY);
  buffer = filtered ("nmsfilter", buffer);
  assert_ids (buffer, "1 2");
}

/* A merged box has the angle of the best one: region 3 is region 1 moved by 20 along it. */
static void
test_merge (void)
{
  g_autoptr (GstBuffer) buffer = frame_new (0);
  const gdouble angle = atan2 (4, 3);
  gdouble written;

  add_rotated (buffer, 1, 200, 200, 100, 10, 0.9, angle);
  add_rotated (buffer, 2, 200, 200, 100, 10, 0.8, -angle);
  add_rotated (buffer, 3, 212, 216, 100, 10, 0.7, angle);
  buffer = filtered ("nmsfilter method=merge", buffer);
  assert_ids (buffer, "1 2");
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 1);
  g_assert_cmpuint (roi->x, ==, 196);
  g_assert_cmpuint (roi->y, ==, 208);
  g_assert_cmpuint (roi->w, ==, 120);
  g_assert_cmpuint (roi->h, ==, 10);
  g_assert_true (
      gst_structure_get_double (gst_video_region_of_interest_meta_get_param (roi, "rotation"),
          "angle", &written));
  g_assert_cmpfloat (written, ==, angle);
}

/* Neighbors are counted for boxes without a confidence, also for rotated ones. */
static void
test_neighbors (void)
{
  g_autoptr (GstBuffer) buffer = frame_new (0);

  for (gint i = 1; i <= 4; i++)
    gst_video_region_of_interest_meta_add_param (add_region (buffer, i, "ship", 200 + (i == 3), 200,
                                                     100, 10),
        gst_structure_new ("rotation", "angle", G_TYPE_DOUBLE, i < 4 ? ANGLE : -ANGLE, NULL));
  buffer = filtered ("nmsfilter min-neighbors=2", buffer);
  assert_ids (buffer, "1");
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
  GstVideoInfo info = video_info_of (format, 120, 90);
  GstBuffer *buffer = video_buffer_new (&info);
  g_autoptr (Picture) before = picture_read (&info, buffer), after = NULL;
  gdouble grid;
  gint y;

  grid = GST_VIDEO_FORMAT_INFO_W_SUB (info.finfo, GST_VIDEO_INFO_N_COMPONENTS (&info) > 1) ? 2 : 1;
  add_rotated (buffer, 1, left, top, 60, 40, 0.5, angle);
  after = overlay_once (OUTLINES " thickness=4", &info, buffer);
  for (y = 0; y < 90; y++)
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

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    for (guint a = 0; a < G_N_ELEMENTS (angles); a++)
      must_draw (formats[f], 30, 25, angles[a]);
}

/* Only a corner of the box is on the frame, in all quadrants of the angle. */
static void
test_draw_corners (void)
{
  static const gdouble angles[] = { ANGLE, -ANGLE, G_PI - ANGLE, ANGLE - G_PI };

  for (guint a = 0; a < G_N_ELEMENTS (angles); a++) {
    must_draw (GST_VIDEO_FORMAT_RGB, 30, -48, angles[a]);
    must_draw (GST_VIDEO_FORMAT_RGB, 30, 98, angles[a]);
    must_draw (GST_VIDEO_FORMAT_RGB, -60, 25, angles[a]);
    must_draw (GST_VIDEO_FORMAT_RGB, 120, 25, angles[a]);
  }
}

/* Boxes far outside of the frame, of any size, dashed: no crash, no endless loop, and a box of the
 * frame is drawn over them. */
static void
test_draw_hostile (void)
{
  static const guint sizes[] = { 0, 1, 3000000000u, G_MAXUINT };
  static const gint places[] = { -2000000000, -5, 50, 2000000000 };
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, 120, 90);
  GstBuffer *buffer = video_buffer_new (&info);
  g_autoptr (Picture) before = picture_read (&info, buffer), after = NULL;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint k = 0; k < G_N_ELEMENTS (places); k++) {
      GstVideoRegionOfInterestMeta *roi = add_scored (buffer, 1, "ship", places[k], places[3 - k],
          sizes[i], sizes[(i + k) % 4], 0.5);

      gst_video_region_of_interest_meta_add_param (roi,
          gst_structure_new ("rotation", "angle", G_TYPE_DOUBLE, k == 0 ? NAN : 0.1 * i + 1e-9,
              NULL));
      gst_video_region_of_interest_meta_add_param (roi,
          gst_structure_new ("nms", "state", G_TYPE_STRING, k % 2 ? "suppressed" : "kept", NULL));
    }
  add_rotated (buffer, 1, 30, 26, 60, 40, 0.5, 0.0);
  after = overlay_once ("boxoverlay thickness=1", &info, buffer);
  for (i = 30; i < 90; i++)
    g_assert_false (picture_same (before, after, i, 26));
}

static const TestCase cases[] = { CASE (test_filter), CASE (test_merge), CASE (test_neighbors),
  CASE (test_record_again), CASE (test_bad_angle), CASE (test_draw), CASE (test_draw_corners),
  CASE (test_draw_hostile), { NULL } };

GST_TEST_PROGRAM (cases);
