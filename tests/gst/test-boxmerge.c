/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmerge: where the boxes of a branch come to lie in the main frame, what belongs to
 * them, and that pixels are not copied.
 */
#include <math.h>
#include <string.h>

#include "gstrunner.h"
#include "merging.h"

#define QUARTER "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1"
#define UPRIGHT "video/x-raw,format=GRAY8,width=240,height=320,framerate=10/1"

/* Sends one box, at 10,20 and 30x40 pixels large, through a branch with a picture of 320x240 or
 * other caps and these properties of its pad. */
static void
expect_place (const gchar *properties, const gchar *caps, const gchar *expected)
{
  g_autofree gchar *launch = g_strdup_printf ("boxmerge %s", properties);
  g_auto (Merging) m = { 0 };

  merging_open (&m, launch, 1, caps, FALSE);
  merging_play (&m, "a0:10 m0");
  merging_expect (&m, 0, expected);
  merging_expect_stat (&m, 0, "merged", 1);
  merging_expect_stat (&m, 0, "boxes", *expected ? 1 : 0);
}

static void
test_places (void)
{
  expect_place ("", QUARTER, "10,20,30,40");
  expect_place ("sink_0::xpos=320 sink_0::ypos=100", QUARTER, "330,120,30,40");
  expect_place ("sink_0::xpos=-5 sink_0::ypos=-25", QUARTER, "5,-5,30,40");
  expect_place ("sink_0::width=640 sink_0::height=480", QUARTER, "20,40,60,80");
  expect_place ("sink_0::width=160 sink_0::xpos=7", QUARTER, "12,20,15,40");
}

static void
test_tiles (void)
{
  expect_place ("sink_0::tiles=2x2", QUARTER, "10,20,30,40");
  expect_place ("sink_0::tiles=2x2 sink_0::tile-index=3", QUARTER, "330,260,30,40");
  /* tiles of 352 x 272 at 288, 208; the picture of the branch is smaller */
  expect_place ("sink_0::tiles=2x2+64 sink_0::tile-index=3", QUARTER, "299,231,33,45");
  /* tiles of 214 x 480 at 0, 212, 426 */
  expect_place ("sink_0::tiles=3x1 sink_0::tile-index=1 sink_0::xpos=99",
      "video/x-raw,format=GRAY8,width=214,height=480,framerate=10/1", "222,20,30,40");
  expect_place ("sink_0::tiles=3x1 sink_0::tile-index=2",
      "video/x-raw,format=GRAY8,width=214,height=480,framerate=10/1", "436,20,30,40");
}

static void
test_directions (void)
{
  expect_place ("sink_0::video-direction=180", QUARTER, "280,180,30,40");
  expect_place ("sink_0::video-direction=horiz", QUARTER, "280,20,30,40");
  expect_place ("sink_0::video-direction=vert", QUARTER, "10,180,30,40");
  /* The branch turned 320x240 into 240x320. */
  expect_place ("sink_0::video-direction=90r", UPRIGHT, "20,200,40,30");
  expect_place ("sink_0::video-direction=90l sink_0::xpos=1", UPRIGHT, "261,10,40,30");
  expect_place ("sink_0::video-direction=ul-lr", UPRIGHT, "20,10,40,30");
  expect_place ("sink_0::video-direction=ur-ll", UPRIGHT, "260,200,40,30");
  expect_place ("sink_0::video-direction=90r sink_0::width=640 sink_0::height=480", UPRIGHT,
      "40,400,80,60");
}

static void
test_clip (void)
{
  expect_place ("sink_0::xpos=-20 sink_0::clip=true", QUARTER, "0,20,20,40");
  expect_place ("sink_0::xpos=620", QUARTER, "630,20,30,40");
  expect_place ("sink_0::xpos=620 sink_0::clip=true", QUARTER, "630,20,10,40");
  expect_place ("sink_0::xpos=640", QUARTER, "");
}

/* Returns a structure of region `n` of the buffer, or NULL. */
static GstStructure *
param_of (GstBuffer *buffer, guint n, const gchar *name)
{
  GstMeta *meta = NULL;
  gpointer state = NULL;

  for (guint i = 0; i <= n; i++)
    meta = gst_buffer_iterate_meta_filtered (buffer, &state,
        GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  g_assert_nonnull (meta);
  return gst_video_region_of_interest_meta_get_param ((GstVideoRegionOfInterestMeta *) meta, name);
}

static const gchar *
source_of (GstBuffer *buffer, guint n)
{
  GstStructure *source = param_of (buffer, n, "source");

  return source ? gst_structure_get_string (source, "name") : NULL;
}

static gdouble
confidence_of (GstBuffer *buffer, guint n)
{
  gdouble confidence = NAN;

  gst_structure_get_double (param_of (buffer, n, "detection"), "confidence", &confidence);
  return confidence;
}

/* Returns the source of the only region: its name, and whether it is cut. Free it. */
static gchar *
only_source (GstBuffer *buffer)
{
  GstStructure *source = param_of (buffer, 0, "source");
  const gchar *name = source_of (buffer, 0);
  gboolean cut = FALSE;

  g_assert_cmpuint (count_on (buffer), ==, 1);
  if (source)
    gst_structure_get_boolean (source, "cut", &cut);
  return g_strdup_printf ("%s%s", name ? name : "-", cut ? " cut" : "");
}

/* Sends a box of 30x40 pixels at x, 20 through a branch, with the structure "source" of `had` if
 * that is not NULL, and checks the source that comes out. */
static void
expect_source (const gchar *properties, const gchar *caps, gint x, const gchar *had,
    const gchar *expected)
{
  g_autofree gchar *launch = g_strdup_printf ("boxmerge %s", properties), *found = NULL;
  GstVideoRegionOfInterestMeta *roi;
  g_autoptr (GstBuffer) buffer = frame_new (0);
  g_auto (Merging) m = { 0 };

  merging_open (&m, launch, 1, caps, FALSE);
  roi = add_scored (buffer, 0, "a", x, 20, 30, 40, 0.5);
  if (had)
    gst_video_region_of_interest_meta_add_param (roi, gst_structure_from_string (had, NULL));
  gst_harness_push (m.branch[0], buffer);
  merging_push_main (&m, 0);
  buffer = gst_harness_pull (m.main);
  found = only_source (buffer);
  if (strcmp (found, expected) != 0)
    g_error ("%s, box at %d: \"%s\", not \"%s\"", properties, x, found, expected);
}

/* Boxes at an edge of the branch's picture are cut, but not those at an edge of the main frame. */
static void
test_cut (void)
{
  static const gchar right[] = "sink_0::xpos=320";

  expect_source (right, QUARTER, 0, NULL, "sink_0 cut");
  expect_source (right, QUARTER, 5, NULL, "sink_0 cut");
  expect_source (right, QUARTER, -10, NULL, "sink_0 cut");
  expect_source (right, QUARTER, 6, NULL, "sink_0");
  expect_source (right, QUARTER, 290, NULL, "sink_0");
  expect_source ("", QUARTER, 0, NULL, "sink_0");
  expect_source ("", QUARTER, 285, NULL, "sink_0 cut");
  expect_source ("sink_0::clip=true", QUARTER, 300, NULL, "sink_0 cut");
  /* the top edge at 260: 20 pixels away, or 10 after scaling */
  expect_source ("sink_0::edge-margin=19 sink_0::ypos=240", QUARTER, 100, NULL, "sink_0");
  expect_source ("sink_0::edge-margin=20 sink_0::ypos=240", QUARTER, 100, NULL, "sink_0 cut");
  expect_source ("sink_0::edge-margin=10 sink_0::ypos=240 sink_0::width=160 sink_0::height=120",
      QUARTER, 100, NULL, "sink_0 cut");
  expect_source ("sink_0::tiles=2x1 sink_0::tile-index=1", QUARTER, 0, NULL, "sink_0 cut");
  expect_source ("sink_0::tiles=2x1 sink_0::tile-index=1 sink_0::video-direction=horiz", QUARTER,
      290, NULL, "sink_0 cut");
  /* a branch with the whole frame */
  expect_source ("", NULL, 0, NULL, "sink_0");
}

/* Per cent are those of the branch's picture; 0 marks boxes that touch, and an empty text none. */
static void
test_edge_margin (void)
{
  expect_source ("sink_0::edge-margin=10% sink_0::xpos=320", QUARTER, 32, NULL, "sink_0 cut");
  expect_source ("sink_0::edge-margin=10% sink_0::xpos=320", QUARTER, 33, NULL, "sink_0");
  /* the top edge at 260 is 20 pixels away, and 8.4 % of 240 are 20.16 */
  expect_source ("sink_0::edge-margin=8.4% sink_0::ypos=240", QUARTER, 100, NULL, "sink_0 cut");
  expect_source ("sink_0::edge-margin=8.3% sink_0::ypos=240", QUARTER, 100, NULL, "sink_0");
  expect_source ("sink_0::edge-margin=0 sink_0::xpos=320", QUARTER, 0, NULL, "sink_0 cut");
  expect_source ("sink_0::edge-margin=0 sink_0::xpos=320", QUARTER, 1, NULL, "sink_0");
  expect_source ("sink_0::edge-margin=\"\" sink_0::xpos=320", QUARTER, 0, NULL, "sink_0");
}

/* The edges of a main frame of unknown size do not cut either. */
static void
test_cut_unknown_size (void)
{
  g_autoptr (GstBuffer) buffer = frame_new (0);
  g_autofree gchar *found = NULL;
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  gst_harness_set_src_caps_str (m.main, "application/x-test");
  add_boxes (buffer, "0 a 0,20,30,40 0.5");
  gst_harness_push (m.branch[0], buffer);
  merging_push_main (&m, 0);
  buffer = gst_harness_pull (m.main);
  found = only_source (buffer);
  g_assert_cmpstr (found, ==, "sink_0");
}

/* A mark of an earlier boxmerge is kept, with or without a name. */
static void
test_marks_of_marked (void)
{
  expect_source ("", QUARTER, 100, "source,name=old,cut=true", "sink_0 cut");
  expect_source ("", QUARTER, 100, "source,name=old,cut=false", "sink_0");
  expect_source ("sink_0::source=\"\"", QUARTER, 100, "source,name=old", "old");
  expect_source ("sink_0::source=\"\"", QUARTER, 100, "source,name=old,cut=true", "old cut");
  expect_source ("sink_0::source=\"\"", QUARTER, 285, "source,name=old", "old cut");
  expect_source ("sink_0::source=\"\"", QUARTER, 285, NULL, "- cut");
  expect_source ("sink_0::source=\"\"", QUARTER, 100, NULL, "-");
}

/* Checks that the bus gets an error with this text. */
static void
expect_bus_error (GstBus *bus, const gchar *expected)
{
  assert_says (gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_ERROR), expected);
}

/* Sets a malformed text, which is an error at once and at the start. */
static void
expect_malformed (const gchar *property, const gchar *text, const gchar *expected)
{
  g_autoptr (GstElement) element = element_new ("boxmerge");
  g_autoptr (GstPad) pad = gst_element_request_pad_simple (element, "sink_0");
  g_autoptr (GstBus) bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  g_object_set (pad, property, text, NULL);
  expect_bus_error (bus, expected);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  expect_bus_error (bus, expected);
  gst_element_set_state (element, GST_STATE_NULL);
  g_object_set (pad, property, NULL, NULL);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), !=, GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_element_release_request_pad (element, pad);
}

static void
test_malformed_text (void)
{
  static const gchar *const grids[] = { "2", "2x", "x2", "2x2+", "2x2x2", "0x1", "1x0", "2 x2",
    "-1x2", "2x2+4x", "2000x2", "2x2-4", "2x2+1+1" };

  for (guint i = 0; i < G_N_ELEMENTS (grids); i++) {
    g_autofree gchar *expected =
        g_strdup_printf ("sink_0: cannot use tiles: \"%s\" is not COLUMNSx", grids[i]);

    expect_malformed ("tiles", grids[i], expected);
  }
  expect_malformed ("edge-margin", "5px", "cannot use edge-margin: \"5px\" is not a number");
  expect_malformed ("edge-margin", "-1", "cannot use edge-margin: \"-1\" is not a number");
}

/* A tile that is not in the grid is an error of the stream, also if it has no boxes. */
static void
test_wrong_tile (void)
{
  GstBus *bus;
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge sink_0::tiles=2x2 sink_0::tile-index=4", 1, QUARTER, FALSE);
  bus = harness_bus (m.main);
  merging_play (&m, "a0: m0");
  expect_bus_error (bus, "no tile 4 in a grid of 2x2");
}

/* Boxes of the main stream come first and do not change; ids are unique; parents follow. */
static void
test_what_belongs_to_boxes (void)
{
  GstBuffer *buffer = frame_new (0);
  g_autoptr (GstBuffer) out = NULL;
  GstVideoRegionOfInterestMeta *roi;
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge sink_1::source=street sink_2::source=\"\"", 3, NULL, FALSE);
  add_boxes (buffer, "1 car 0,0,100,100 0.75");
  roi = add_region (buffer, 2, "wheel", 0, 50, 20, 20);
  roi->parent_id = 1;
  gst_harness_push (m.branch[0], buffer);
  merging_play (&m, "b0:1 c0:2");
  buffer = frame_new (0);
  add_boxes (buffer, "1 main 5,5,5,5");
  gst_harness_push (m.main, buffer);
  out = gst_harness_pull (m.main);
  g_assert_cmpstr (boxes_on (out), ==, "5,5,5,5 0,0,100,100 0,50,20,20 1,20,30,40 2,20,30,40");
  g_assert_null (source_of (out, 0));
  g_assert_cmpstr (source_of (out, 1), ==, "sink_0");
  g_assert_cmpstr (source_of (out, 2), ==, "sink_0");
  g_assert_cmpstr (source_of (out, 3), ==, "street");
  g_assert_null (source_of (out, 4));
  assert_ids (out, "1 2 3 0 0");
  roi = gst_buffer_get_video_region_of_interest_meta_id (out, 3);
  g_assert_cmpint (roi->parent_id, ==, 2);
  g_assert_cmpfloat (confidence_of (out, 1), ==, 0.75);
}

/* A main buffer that another element holds is not changed; the memory is shared. A buffer that
 * gets no box leaves as it came. */
static void
test_shared_memory (void)
{
  GstBuffer *buffer = frame_new (0), *out;
  GstMemory *memory = gst_buffer_peek_memory (buffer, 0);
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  merging_push_box (&m, 0, 0, 7);
  gst_harness_push (m.main, gst_buffer_ref (buffer));
  out = gst_harness_pull (m.main);
  g_assert_true (out != buffer);
  g_assert_true (gst_buffer_peek_memory (out, 0) == memory);
  g_assert_cmpuint (count_on (out), ==, 1);
  g_assert_cmpuint (count_on (buffer), ==, 0);
  gst_buffer_unref (out);
  gst_buffer_unref (buffer);

  buffer = frame_new (FRAME);
  merging_push_box (&m, 0, FRAME, -1);
  gst_harness_push (m.main, gst_buffer_ref (buffer));
  out = gst_harness_pull (m.main);
  g_assert_true (out == buffer);
  gst_buffer_unref (out);
  gst_buffer_unref (buffer);
}

/* The pads' properties through the child proxy, and their defaults. */
static void
test_defaults (void)
{
  g_autoptr (GstElement) element = element_new ("boxmerge");
  g_autoptr (GstPad) pad = gst_element_request_pad_simple (element, "sink_%u");
  GObject *child;

  assert_values (element, "tolerance latency ignore-inactive-pads force-live", "0 0 false false");
  assert_values (pad,
      "xpos ypos width height tiles tile-index video-direction clip hold source edge-margin",
      "0 0 0 0 NULL 0 identity false 0 NULL 5");
  g_assert_cmpuint (gst_child_proxy_get_children_count (GST_CHILD_PROXY (element)), ==, 2);
  child = gst_child_proxy_get_child_by_name (GST_CHILD_PROXY (element), "sink_0");
  g_assert_true (child == G_OBJECT (pad));
  g_object_unref (child);
  gst_element_release_request_pad (element, pad);
}

/* A branch's buffer that another owner has does not change, nor do boxes that are held. */
static void
test_shared_buffers (void)
{
  g_autoptr (GstBuffer) shared = frame_new (0);
  GstBuffer *out;
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge sink_0::hold=1000000000", 1, NULL, FALSE);
  add_boxes (shared, "0 a 10,20,30,40 0.5");
  gst_harness_push (m.branch[0], gst_buffer_ref (shared));
  for (guint i = 0; i < 3; i++) {
    merging_push_main (&m, i * FRAME);
    out = gst_harness_pull (m.main);
    g_assert_cmpuint (count_on (out), ==, 1);
    g_assert_cmpfloat (confidence_of (out, 0), ==, 0.5);
    gst_buffer_unref (out);
    if (i == 0)
      merging_push_box (&m, 0, 5 * FRAME, -1); /* later than the main buffers */
  }
  g_assert_cmpfloat (confidence_of (shared, 0), ==, 0.5);
}

static const TestCase cases[] = { CASE (test_places), CASE (test_tiles), CASE (test_directions),
  CASE (test_clip), CASE (test_cut), CASE (test_edge_margin), CASE (test_cut_unknown_size),
  CASE (test_marks_of_marked), CASE (test_shared_buffers), CASE (test_malformed_text),
  CASE (test_wrong_tile), CASE (test_what_belongs_to_boxes), CASE (test_shared_memory),
  CASE (test_defaults), { NULL } };

GST_TEST_PROGRAM (cases);
