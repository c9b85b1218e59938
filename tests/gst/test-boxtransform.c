/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxtransform: where the boxes of a buffer are after it, and what it refuses. */
#include "gstrunner.h"

#include <gst/controller/controller.h>
#include <math.h>

#define CAPS(width, height) \
  "video/x-raw,format=GRAY8,width=" #width ",height=" #height ",framerate=10/1"

/* Where the box 100 50 200 100 of a picture of 640 x 480 is. */
static void
test_places (void)
{
  static const gchar *const rows[][3] = {
    { "", CAPS (640, 480), "100,50,200,100" },
    { "left=40 top=20", CAPS (600, 460), "60,30,200,100" },
    { "top=20", CAPS (640, 460), "100,30,200,100" },
    { "right=40 bottom=20", CAPS (600, 460), "100,50,200,100" },
    { "left=-40 top=-20 right=-1", CAPS (681, 500), "140,70,200,100" },
    { "left=200 top=100", CAPS (440, 380), "0,0,100,50" },
    { "left=200 top=100 clip=false", CAPS (440, 380), "-100,-50,200,100" },
    { "right=400 bottom=380", CAPS (240, 100), "100,50,140,50" },
    /* beside the frame */
    { "left=300", CAPS (340, 480), "" },
    { "right=540", CAPS (100, 480), "" },
    { "top=150", CAPS (640, 330), "" },
    { "bottom=430", CAPS (640, 50), "" },
    { "left=300 clip=false", CAPS (340, 480), "" },
    { "video-direction=identity", CAPS (640, 480), "100,50,200,100" },
    { "video-direction=vert", CAPS (640, 480), "100,330,200,100" },
    { "width=640 height=480", CAPS (320, 120), "50,13,100,25" },
    { "width=640", CAPS (1280, 480), "200,50,400,100" },
    /* a crop to 600 x 460, a turn to 460 x 600, half the size */
    { "left=40 top=20 video-direction=90r width=640 height=480", CAPS (230, 300), "165,30,50,100" },
    /* the box was stretched to 320 x 480 */
    { "stretched=true left=100 right=220", CAPS (320, 480), "100,50,220,100" },
    { "stretched=true width=1280 height=480", CAPS (640, 480), "100,50,200,100" },
    { "stretched=true video-direction=90r", CAPS (480, 640), "368,133,75,267" },
    { "left=300", "application/x-detections", "-200,50,200,100" },
    { "left=-2147483648", "application/x-detections", "2147483647,50,0,100" },
    { "left=40", "video/x-raw(memory:DMABuf),format=DMA_DRM,width=600,height=480",
        "60,50,200,100" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *launch = g_strconcat ("boxtransform ", rows[i][0], NULL);
    g_autoptr (GstHarness) h = harness_new_caps (launch, rows[i][1]);
    g_autoptr (GstBuffer) buffer = through (h, frame_with ("1 person 100,50,200,100"));

    if (strcmp (boxes_on (buffer), rows[i][2]) != 0)
      g_error ("%s on %s: \"%s\", not \"%s\"", launch, rows[i][1], boxes_on (buffer), rows[i][2]);
  }
}

static void
assert_double (GstVideoRegionOfInterestMeta *roi, const gchar *structure, const gchar *field,
    gdouble expected)
{
  gdouble value = NAN;

  gst_structure_get_double (gst_video_region_of_interest_meta_get_param (roi, structure), field,
      &value);
  g_assert_cmpfloat_with_epsilon (value, expected, 1e-12);
}

/* Rotated boxes turn with the picture, and are not clipped. A mirror mirrors their angle. */
static void
test_rotated (void)
{
  static const struct
  {
    const gchar *properties, *caps, *box, *expected;
    gdouble angle;
  } rows[] = {
    { "video-direction=90r", CAPS (480, 640), "100,50,200,100", "330,100,100,200", 0.25 },
    { "video-direction=180", CAPS (640, 480), "100,50,200,100", "340,330,200,100", 0.25 },
    { "video-direction=90l", CAPS (480, 640), "100,50,200,100", "50,340,100,200", 0.25 },
    { "video-direction=horiz", CAPS (640, 480), "100,50,200,100", "340,50,200,100", -0.25 },
    { "video-direction=vert", CAPS (640, 480), "100,50,200,100", "100,330,200,100", -0.25 },
    { "video-direction=ul-lr", CAPS (480, 640), "100,50,200,100", "50,100,100,200", -0.25 },
    { "video-direction=ur-ll", CAPS (480, 640), "100,50,200,100", "330,340,100,200", -0.25 },
    { "width=640 height=480", CAPS (1280, 960), "100,50,200,100", "200,100,400,200", 0.25 },
    { "left=10", CAPS (630, 480), "0,20,9,2", "" }, /* its right corner is at -0.9 */
    { "left=10", CAPS (630, 480), "0,20,9,60", "-10,20,9,60", 0.25 }, /* and this one's at 6.3 */
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *launch = g_strconcat ("boxtransform ", rows[i].properties, NULL);
    g_autofree gchar *box = g_strdup_printf ("1 ship %s @0.25", rows[i].box);
    g_autoptr (GstHarness) h = harness_new_caps (launch, rows[i].caps);
    g_autoptr (GstBuffer) buffer = through (h, frame_with (box));

    g_assert_cmpstr (boxes_on (buffer), ==, rows[i].expected);
    if (*rows[i].expected)
      assert_double (gst_buffer_get_video_region_of_interest_meta (buffer), "rotation", "angle",
          rows[i].angle);
  }
}

/* Scaling unevenly moves the middles of the left and right sides of a rotated box exactly. */
static void
test_rotated_unevenly (void)
{
  g_autoptr (GstHarness)
      h = harness_new_caps ("boxtransform width=640 height=480", CAPS (1280, 1440));
  g_autoptr (GstBuffer) buffer = through (h, frame_with ("1 ship 10,20,40,10 1 @0.5"));
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta (buffer);
  const gdouble half = 20 * hypot (2 * cos (0.5), 3 * sin (0.5));

  assert_double (roi, "rotation", "angle", atan2 (3 * sin (0.5), 2 * cos (0.5)));
  assert_double (roi, "detection", "x_min", (60 - half) / 1280);
  assert_double (roi, "detection", "x_max", (60 + half) / 1280);
  assert_double (roi, "detection", "y_max", (75 + 5 * hypot (2 * sin (0.5), 3 * cos (0.5))) / 1440);
}

/* Structures, ids and parents stay; coordinates in "detection" are those of the new frame, also
 * the parts of a pixel. */
static void
test_details (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("boxtransform left=40 top=20", CAPS (600, 460));
  g_autoptr (GstBuffer) buffer = frame_with ("7 face 100.25:50.5:110.75:60.5 0.5 in 9");
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta (buffer);

  add_structure (roi, "object_id, id=(int)12;");
  add_structure (roi, "unknown, x=(int)1;");
  buffer = through (h, buffer);
  g_assert_cmpstr (boxes_on (buffer), ==, "60,31,11,10");
  roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 7);
  g_assert_cmpint (roi->parent_id, ==, 9);
  g_assert_cmpuint (g_list_length (roi->params), ==, 3);
  assert_double (roi, "detection", "x_min", 60.25 / 600);
  assert_double (roi, "detection", "y_max", 40.5 / 460);
  assert_double (roi, "detection", "confidence", 0.5);
  g_assert_nonnull (gst_video_region_of_interest_meta_get_param (roi, "unknown"));
}

/* A moved box gets normalized corners if it has a structure for them, because its corners need
 * not lie on pixels any more. Its integers are rounded, and an extent above 0 to at least 1. */
static void
test_between_pixels (void)
{
  g_autoptr (GstHarness)
      h = harness_new_caps ("boxtransform width=640 height=480", CAPS (320, 240));
  g_autoptr (GstBuffer) buffer = through (h,
      frame_with ("1 person 101,50,200,101 0.5; 2 dot 101,50,1,1; 3 point 101,50,0,0"));
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta (buffer);

  assert_double (roi, "detection", "x_min", 50.5 / 320);
  assert_double (roi, "detection", "y_max", 75.5 / 240);
  g_assert_cmpstr (boxes_on (buffer), ==, "51,25,100,51 50,25,1,1 51,25,0,0");
}

/* Sends a box with keypoints, which DL Streamer writes relative to the box, through boxtransform.
 * Checks whether they are left, and that one warning says it if they are not. */
static void
expect_keypoints (const gchar *launch, gboolean left)
{
  g_autoptr (GstHarness) h = harness_new (launch);
  GstBus *bus = harness_bus (h);

  for (guint i = 0; i < 2; i++) {
    g_autoptr (GstBuffer) buffer = frame_with ("1 person 20,50,30,60");
    GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta (buffer);

    add_structure (roi, "keypoints, type=(string)keypoints;");
    add_structure (roi, "mask, type=(string)segmentation;");
    add_structure (roi, "pose, type=(string)classification_result;");
    buffer = through (h, buffer);
    roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 1);
    g_assert_cmpuint (g_list_length (roi->params), ==, left ? 3 : 1);
    g_assert_nonnull (gst_video_region_of_interest_meta_get_param (roi, "pose"));
  }
  if (!left)
    assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), "\"segmentation\"");
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));
}

/* Keypoints are kept as long as the content of the box is the same. */
static void
test_keypoints (void)
{
  expect_keypoints ("boxtransform left=20 width=1280 height=480", TRUE);
  expect_keypoints ("boxtransform left=40", FALSE);
  expect_keypoints ("boxtransform left=40 clip=false", TRUE);
  expect_keypoints ("boxtransform video-direction=horiz", FALSE);
  expect_keypoints ("boxtransform video-direction=180", FALSE);
}

#define THREE "1 a 0,0,10,10; 2 b 5,0,10,10; 3 c 20,0,10,10"

/* Properties apply from the next buffer on, new caps too, and all is counted. */
static void
test_playing (void)
{
  static const struct
  {
    const gchar *caps;
    gint left, width, height;
    const gchar *places, *stats;
  } rows[] = {
    { CAPS (640, 480), 0, 0, 0, "0,0,10,10 5,0,10,10 20,0,10,10", "frames=1 outside=0" },
    { CAPS (640, 480), 10, 0, 0, "0,0,5,10 10,0,10,10",
        "frames=2 boxes-in=6 boxes-out=5 outside=1" },
    { CAPS (1280, 960), 0, 640, 480, "0,0,20,20 10,0,20,20 40,0,20,20", "frames=3" },
    { CAPS (640, 480), 0, 640, 480, "0,0,10,10 5,0,10,10 20,0,10,10",
        "frames=4 boxes-in=12 boxes-out=11 outside=1" },
  };
  g_autoptr (GstHarness) h = harness_new_caps ("boxtransform", CAPS (640, 480));

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GstBuffer) buffer = NULL;

    gst_harness_set_src_caps_str (h, rows[i].caps);
    g_object_set (h->element, "left", rows[i].left, "width", rows[i].width, "height",
        rows[i].height, NULL);
    buffer = through (h, frame_with (THREE));
    g_assert_cmpstr (boxes_on (buffer), ==, rows[i].places);
    assert_stats (h->element, rows[i].stats);
  }
  gst_element_set_state (h->element, GST_STATE_READY);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  assert_stats (h->element, "frames=0 boxes-in=0 boxes-out=0 outside=0");
}

/* A buffer without a change, or without boxes, passes as it is; a shared one that changes is
 * copied, but not its memory. */
static void
test_copies (void)
{
  static const struct
  {
    const gchar *launch, *boxes;
    gboolean shared, same;
  } rows[] = { { "boxtransform", THREE, TRUE, TRUE },
    { "boxtransform video-direction=horiz", THREE, TRUE, FALSE },
    { "boxtransform video-direction=horiz", THREE, FALSE, TRUE },
    { "boxtransform video-direction=horiz", "", TRUE, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstBuffer *buffer = frame_with (rows[i].boxes), *out;
    g_autofree gchar *before = g_strdup (boxes_on (buffer));

    out = filtered (rows[i].launch, rows[i].shared ? gst_buffer_ref (buffer) : buffer);
    g_assert_cmpint (out == buffer, ==, rows[i].same);
    g_assert_true (gst_buffer_peek_memory (out, 0) == gst_buffer_peek_memory (buffer, 0));
    if (rows[i].shared)
      g_assert_cmpstr (boxes_on (buffer), ==, before);
    if (rows[i].launch[12])
      g_assert_cmpstr (boxes_on (out), ==, *before ? "630,0,10,10 625,0,10,10 610,0,10,10" : "");
    gst_buffer_unref (out);
    if (rows[i].shared)
      gst_buffer_unref (buffer);
  }
}

/* A picture change that is impossible is an error with the reason. */
static void
test_errors (void)
{
  static const gchar *const rows[][3] = {
    { "left=300 right=400 width=640", CAPS (640, 480), "leaves nothing of a picture of 640x480" },
    { "top=-2147483648 bottom=-2147483648", CAPS (640, 480),
        "leaves nothing of a picture of "
        "640x-4294966816" },
    { "video-direction=90r", "application/x-detections", "no frame size" },
    { "stretched=true", "application/x-detections", "no frame size" },
    { "width=640", "application/x-detections", "no frame size" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *launch = g_strconcat ("boxtransform ", rows[i][0], NULL);
    g_autoptr (GstHarness) h = harness_new_caps (launch, rows[i][1]);
    GstBus *bus = harness_bus (h);

    g_assert_cmpint (gst_harness_push (h, frame_new (0)), ==, GST_FLOW_ERROR);
    assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR), rows[i][2]);
  }
}

static void
test_auto_direction (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("boxtransform video-direction=90r", CAPS (480, 640));
  GstBus *bus = harness_bus (h);

  g_object_set (h->element, "video-direction", GST_VIDEO_ORIENTATION_AUTO, NULL);
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 1);
  assert_values (h->element, "video-direction", "90r");
}

static void
test_defaults (void)
{
  g_autoptr (GstElement) element = element_new ("boxtransform");

  assert_values (element, "top bottom left right width height video-direction stretched clip",
      "0 0 0 0 0 0 identity false true");
}

/* Values that change with stream time. */
static void
test_controlled (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("boxtransform", CAPS (640, 480));
  g_autoptr (GstControlSource) source = gst_interpolation_control_source_new ();

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_NONE, NULL);
  gst_object_add_control_binding (GST_OBJECT (h->element),
      gst_direct_control_binding_new_absolute (GST_OBJECT (h->element), "left", source));
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), 0, 5);
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), GST_SECOND, 7);
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GstBuffer) buffer = frame_with ("1 a 20,0,10,10");

    GST_BUFFER_PTS (buffer) = i * GST_SECOND;
    buffer = through (h, buffer);
    g_assert_cmpstr (boxes_on (buffer), ==, i ? "13,0,10,10" : "15,0,10,10");
  }
}

static const TestCase cases[] = { CASE (test_defaults), CASE (test_between_pixels),
  CASE (test_places), CASE (test_rotated), CASE (test_rotated_unevenly), CASE (test_details),
  CASE (test_keypoints), CASE (test_playing), CASE (test_copies), CASE (test_errors),
  CASE (test_auto_direction), CASE (test_controlled), { NULL } };

GST_TEST_PROGRAM (cases);
