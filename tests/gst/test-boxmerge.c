/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmerge: which buffer of a branch belongs to which main buffer, and how long a main buffer
 * waits; where the boxes of a branch come to lie in the main frame, what belongs to them, and that
 * pixels are not copied.
 */
#include <math.h>
#include <string.h>

#include "gstrunner.h"
#include "merging.h"

#define UPRIGHT_CAPS "video/x-raw,format=GRAY8,width=240,height=320,framerate=10/1"
#define GL_CAPS "video/x-raw(memory:GLMemory),format=RGBA,width=160,height=120,framerate=10/1"
#define NARROW_CAPS "video/x-raw,format=GRAY8,width=214,height=480,framerate=10/1"

static const MergingRow matches[] = {
  /* 60 ms is more than half a frame from 0, and less from 100 ms */
  { "nearest", "boxmerge", 1, FALSE, "a60:1 m0 =0: m100 =100:1 a250:2 m200 =200:2 a.merged:2" },
  { "tolerance", "boxmerge tolerance=1000000", 1, FALSE, "a1:1 m0 =0:1 a102:2 m100 =100:" },
  { "running times are compared, not timestamps", "boxmerge", 1, FALSE,
      "from-a:10000 a10100:1 m0 =0: m100 =100:1" },
  { "backward", "boxmerge", 1, FALSE,
      "reverse-a:1000 reverse-m:1000 a900:9 m900 =900:9 a800:8 m800 =800:8 a700:7 m700 =700:7 "
      "a0:1 m0 =0:1" },
  { "waits for each of several branches", "boxmerge", 2, FALSE, "m0 none a0:1 none b0:2 =0:1+2" },
  { "a buffer between main buffers is dropped, and the main buffer waits for the next one",
      "boxmerge tolerance=1000000", 1, FALSE,
      "a0:1 m0 =0:1 m100 a50:2 none a100:3 =100:3 a.in:3 a.merged:2 a.without-match:1 "
      "a.too-late:0" },
  { "a later buffer of a branch that drops frames shows that no earlier one comes", "boxmerge", 1,
      FALSE, "a0:0 m0 =0:0 m100 none a500:5 =100: m200 =200: m300 =300: m400 =400: m500 =500:5" },
  { "hold", "boxmerge sink_0::hold=250000000", 1, FALSE,
      "a0:1 m0 =0:1 a500:2 m100 =100:1 m200 =200:1 m300 =300: m400 =400: m500 =500:2 "
      "a.merged:2 a.held:2 a.boxes:4" },
  { "another size of the branch's picture ends the hold",
      "boxmerge sink_0::hold=1000000000 sink_0::width=640 sink_0::height=480", 1, FALSE,
      "a0:1 m0 =0:1 small-a a200:2 m100 =100: m200 =200:4,40,60,80" },
  { "a GAP covers main buffers, and does not end the hold", "boxmerge sink_0::hold=100000000", 1,
      FALSE,
      "a0:1 m0 =0:1 gap-a:100+200 m100 =100:1 m200 =200: m300 none gap-a:300 =300: m400 none "
      "a400:4 =400:4 a.in:2" },
  { "EOS of a branch ends the waiting for it", "boxmerge", 3, FALSE,
      "a0:1 eos-a b0:2 m0 none eos-c =0:1+2 m100 none b100:3 =100:3" },
  { "buffers without a PTS are matched in their order", "boxmerge", 1, FALSE,
      "a-:0 m- =-:0 a-:1 m100 =100:1 a100:2 m- =-:2" },
  { "what comes after the latency is too late", "boxmerge latency=200000000", 1, TRUE,
      "a0:1 m0 =0:1 m100 !300 =100: a100:2 a200:3 m200 =200:3 a.too-late:1 a.merged:2 a.in:3" },
  { "a dead branch costs the latency, but not of main buffers without a PTS",
      "boxmerge latency=50000000", 1, TRUE,
      "m0 !50 =0: m100 !150 =100: m200 !250 =200: m- !50 =-:" },
  { "waits for a branch without data once", "boxmerge latency=200000000 ignore-inactive-pads=true",
      2, TRUE, "a0:1 m0 !200 =0:1 m100 a100:2 =100:2" },
  { "what is too late is held for the frames after that",
      "boxmerge latency=50000000 sink_0::hold=700000000", 1, TRUE,
      "m0 !50 =0: m100 !150 =100: a0:1 m200 !250 =200:1 m300 !350 =300:1 m400 !450 =400:1 a200:2 "
      "m500 !550 =500:2 a.in:2 a.too-late:2 a.held:4" },
  { "force-live", "boxmerge force-live=true latency=200000000", 1, FALSE, "m0 !200 =0:" },
  { NULL },
};

/* The latency of upstream counts too. */
static void
test_upstream_latency (void)
{
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge latency=200000000", 1, NULL, TRUE);
  gst_harness_set_upstream_latency (m.main, 30 * GST_MSECOND);
  gst_harness_set_upstream_latency (m.branch[0], 70 * GST_MSECOND);
  g_assert_cmpuint (gst_harness_query_latency (m.main), ==, 270 * GST_MSECOND);
  merging_play (&m, "m0 !270 =0:");
}

typedef struct
{
  const gchar *name, *properties; /* of the branch, separated by blanks */
  const gchar *caps;              /* of its picture */
  const gchar *box;               /* a place in it */
  const gchar *expected;          /* as merging_sources writes it */
  const gchar *had;               /* its structure "source", or NULL */
} Place;

static void
run_place (gconstpointer data)
{
  const Place *row = data;
  gchar **words = g_strsplit (row->properties, " ", -1);
  g_autofree gchar *properties = g_strjoinv (" sink_0::", words), *found = NULL;
  g_autofree gchar *launch = g_strdup_printf ("boxmerge %s%s", *properties ? "sink_0::" : "",
      properties);
  g_autofree gchar *box = g_strdup_printf ("0 a %s 0.5", row->box);
  GstBuffer *buffer = frame_with (box);
  g_autoptr (GstBuffer) out = NULL;
  g_auto (Merging) m = { 0 };

  if (row->had)
    add_structure (gst_buffer_get_video_region_of_interest_meta_id (buffer, 0), row->had);
  merging_open (&m, launch, 1, row->caps, FALSE);
  out = merging_merge (&m, buffer, NULL);
  found = merging_sources (out);
  g_assert_cmpstr (found, ==, row->expected);
  merging_expect_stat (&m, 0, "merged", 1);
  merging_expect_stat (&m, 0, "boxes", *row->expected ? 1 : 0);
  g_strfreev (words);
}

#define BOX "10,20,30,40"

static const Place places[] = {
  { "same place", "", QUARTER_CAPS, BOX, "10,20,30,40 sink_0" },
  { "moved", "xpos=320 ypos=100", QUARTER_CAPS, BOX, "330,120,30,40 sink_0" },
  { "moved off the frame", "xpos=-5 ypos=-25", QUARTER_CAPS, BOX, "5,-5,30,40 sink_0" },
  { "scaled", "width=640 height=480", QUARTER_CAPS, BOX, "20,40,60,80 sink_0" },
  { "scaled in width", "width=160 xpos=7", QUARTER_CAPS, BOX, "12,20,15,40 sink_0 cut" },
  { "tile 0", "tiles=2x2", QUARTER_CAPS, BOX, "10,20,30,40 sink_0" },
  { "tile 3", "tiles=2x2 tile-index=3", QUARTER_CAPS, BOX, "330,260,30,40 sink_0" },
  /* tiles of 352 x 272 at 288, 208; the picture of the branch is smaller */
  { "tile with overlap", "tiles=2x2+64 tile-index=3", QUARTER_CAPS, BOX, "299,231,33,45 sink_0" },
  /* tiles of 214 x 480 at 0, 212, 426 */
  { "middle tile", "tiles=3x1 tile-index=1 xpos=99", NARROW_CAPS, BOX, "222,20,30,40 sink_0" },
  { "last tile", "tiles=3x1 tile-index=2", NARROW_CAPS, BOX, "436,20,30,40 sink_0" },
  { "memory feature", "tiles=2x2 tile-index=3", GL_CAPS, BOX, "340,280,60,80 sink_0" },
  { "180", "video-direction=180", QUARTER_CAPS, BOX, "280,180,30,40 sink_0" },
  { "horiz", "video-direction=horiz", QUARTER_CAPS, BOX, "280,20,30,40 sink_0" },
  { "vert", "video-direction=vert", QUARTER_CAPS, BOX, "10,180,30,40 sink_0" },
  /* the branch turned 320x240 into 240x320 */
  { "90r", "video-direction=90r", UPRIGHT_CAPS, BOX, "20,200,40,30 sink_0" },
  { "90l", "video-direction=90l xpos=1", UPRIGHT_CAPS, BOX, "261,10,40,30 sink_0" },
  { "ul-lr", "video-direction=ul-lr", UPRIGHT_CAPS, BOX, "20,10,40,30 sink_0" },
  { "ur-ll", "video-direction=ur-ll", UPRIGHT_CAPS, BOX, "260,200,40,30 sink_0" },
  { "90r, scaled", "video-direction=90r width=640 height=480", UPRIGHT_CAPS, BOX,
      "40,400,80,60 sink_0" },
  { "clip on the left", "xpos=-20 clip=true", QUARTER_CAPS, BOX, "0,20,20,40 sink_0" },
  { "no clip", "xpos=620", QUARTER_CAPS, BOX, "630,20,30,40 sink_0" },
  { "clip on the right", "xpos=620 clip=true", QUARTER_CAPS, BOX, "630,20,10,40 sink_0" },
  { "off the frame", "xpos=640", QUARTER_CAPS, BOX, "" },
  /* boxes at an edge of the branch's picture are cut, but not those at an edge of the main frame */
  { "cut at 0", "xpos=320", QUARTER_CAPS, "0,20,30,40", "320,20,30,40 sink_0 cut" },
  { "cut at 5", "xpos=320", QUARTER_CAPS, "5,20,30,40", "325,20,30,40 sink_0 cut" },
  { "cut at -10", "xpos=320", QUARTER_CAPS, "-10,20,30,40", "310,20,30,40 sink_0 cut" },
  { "not cut at 6", "xpos=320", QUARTER_CAPS, "6,20,30,40", "326,20,30,40 sink_0" },
  { "main right edge", "xpos=320", QUARTER_CAPS, "290,20,30,40", "610,20,30,40 sink_0" },
  { "main left edge", "", QUARTER_CAPS, "0,20,30,40", "0,20,30,40 sink_0" },
  { "cut on the right", "", QUARTER_CAPS, "285,20,30,40", "285,20,30,40 sink_0 cut" },
  { "cut, not clipped", "clip=true", QUARTER_CAPS, "300,20,30,40", "300,20,30,40 sink_0 cut" },
  /* the top edge at 260: 20 pixels away, or 10 after scaling */
  { "margin 19", "edge-margin=19 ypos=240", QUARTER_CAPS, BOX, "10,260,30,40 sink_0" },
  { "margin 20", "edge-margin=20 ypos=240", QUARTER_CAPS, BOX, "10,260,30,40 sink_0 cut" },
  { "margin 10, scaled", "edge-margin=10 ypos=240 width=160 height=120", QUARTER_CAPS,
      "100,20,30,40", "50,250,15,20 sink_0 cut" },
  { "tile edge", "tiles=2x1 tile-index=1", QUARTER_CAPS, "0,20,30,40", "320,40,30,80 sink_0 cut" },
  { "mirrored tile edge", "tiles=2x1 tile-index=1 video-direction=horiz", QUARTER_CAPS,
      "290,20,30,40", "320,40,30,80 sink_0 cut" },
  { "whole frame", "", NULL, "0,20,30,40", "0,20,30,40 sink_0" },
  /* per cent of the branch's picture; 0 marks boxes that touch, and an empty text none */
  { "10 % of 320", "edge-margin=10% xpos=320", QUARTER_CAPS, "32,20,30,40",
      "352,20,30,40 sink_0 cut" },
  { "over 10 %", "edge-margin=10% xpos=320", QUARTER_CAPS, "33,20,30,40", "353,20,30,40 sink_0" },
  /* the top edge at 260 is 20 pixels away, and 8.4 % of 240 are 20.16 */
  { "8.4 %", "edge-margin=8.4% ypos=240", QUARTER_CAPS, BOX, "10,260,30,40 sink_0 cut" },
  { "8.3 %", "edge-margin=8.3% ypos=240", QUARTER_CAPS, BOX, "10,260,30,40 sink_0" },
  { "touches", "edge-margin=0 xpos=320", QUARTER_CAPS, "0,20,30,40", "320,20,30,40 sink_0 cut" },
  { "does not touch", "edge-margin=0 xpos=320", QUARTER_CAPS, "1,20,30,40", "321,20,30,40 sink_0" },
  { "no margin", "edge-margin=\"\" xpos=320", QUARTER_CAPS, "0,20,30,40", "320,20,30,40 sink_0" },
  /* A mark of an earlier boxmerge is kept, with or without a name. */
  { "marked", "", QUARTER_CAPS, BOX, "10,20,30,40 sink_0 cut", "source,name=old,cut=true" },
  { "named", "", QUARTER_CAPS, BOX, "10,20,30,40 sink_0", "source,name=old,cut=false" },
  { "keeps a name", "source=\"\"", QUARTER_CAPS, BOX, "10,20,30,40 old", "source,name=old" },
  { "keeps name and mark", "source=\"\"", QUARTER_CAPS, BOX, "10,20,30,40 old cut",
      "source,name=old,cut=true" },
  { "adds a mark", "source=\"\"", QUARTER_CAPS, "285,20,30,40", "285,20,30,40 old cut",
      "source,name=old" },
  { "mark only", "source=\"\"", QUARTER_CAPS, "285,20,30,40", "285,20,30,40 - cut" },
  { "no source", "source=\"\"", QUARTER_CAPS, BOX, "10,20,30,40 -" },
  { NULL },
};

/* The edges of a main frame of unknown size do not cut either. */
static void
test_cut_unknown_size (void)
{
  g_autofree gchar *found = NULL;
  g_autoptr (GstBuffer) out = NULL;
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  gst_harness_set_src_caps_str (m.main, "application/x-test");
  out = merging_merge (&m, frame_with ("0 a 0,20,30,40 0.5"), NULL);
  found = merging_sources (out);
  g_assert_cmpstr (found, ==, "0,20,30,40 sink_0");
}

/* A malformed text is an error at once and at the start. */
static void
test_malformed_text (void)
{
  static const gchar *const rows[][2] = { { "tiles", "2" }, { "tiles", "2x" }, { "tiles", "x2" },
    { "tiles", "2x2+" }, { "tiles", "2x2x2" }, { "tiles", "0x1" }, { "tiles", "1x0" },
    { "tiles", "2 x2" }, { "tiles", "-1x2" }, { "tiles", "2x2+4x" }, { "tiles", "2000x2" },
    { "tiles", "2x2-4" }, { "tiles", "2x2+1+1" }, { "edge-margin", "5px" },
    { "edge-margin", "-1" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *words = g_strdup_printf ("sink_0: cannot use %s: \"%s\" is not %s",
        rows[i][0], rows[i][1], *rows[i][0] == 't' ? "COLUMNSx" : "a number");
    g_autoptr (GstElement) element = element_new ("boxmerge");
    g_autoptr (GstPad) pad = gst_element_request_pad_simple (element, "sink_0");
    g_autoptr (GstBus) bus = gst_bus_new ();

    gst_element_set_bus (element, bus);
    g_object_set (pad, rows[i][0], rows[i][1], NULL);
    merging_expect_error (bus, words);
    gst_element_set_bus (element, NULL);
    expect_no_start (element, words);
    g_object_set (pad, rows[i][0], NULL, NULL);
    expect_start (element);
    gst_element_release_request_pad (element, pad);
  }
}

/* A tile that is not in the grid is an error of the stream, also if it has no boxes. */
static void
test_wrong_tile (void)
{
  GstBus *bus;
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge sink_0::tiles=2x2 sink_0::tile-index=4", 1, QUARTER_CAPS, FALSE);
  bus = harness_bus (m.main);
  merging_play (&m, "a0: m0");
  merging_expect_error (bus, "no tile 4 in a grid of 2x2");
}

static gdouble
confidence_of (GstBuffer *buffer, gint id)
{
  gdouble confidence = NAN;

  gst_structure_get_double (gst_video_region_of_interest_meta_get_param (
                                gst_buffer_get_video_region_of_interest_meta_id (buffer, id),
                                "detection"),
      "confidence", &confidence);
  return confidence;
}

/* Boxes of the main stream come first and do not change; ids are unique; parents follow. */
static void
test_what_belongs_to_boxes (void)
{
  g_autofree gchar *found = NULL;
  g_autoptr (GstBuffer) out = NULL;
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge sink_1::source=street sink_2::source=\"\"", 3, NULL, FALSE);
  merging_play (&m, "b0:1 c0:2");
  out = merging_merge (&m, frame_with ("1 car 0,0,100,100 0.75; 2 wheel 0,50,20,20 in 1"),
      frame_with ("1 main 5,5,5,5"));
  found = merging_sources (out);
  g_assert_cmpstr (found, ==,
      "5,5,5,5 -; 0,0,100,100 sink_0; 0,50,20,20 sink_0; 1,20,30,40 street; 2,20,30,40 -");
  assert_ids (out, "1 2 3 0 0");
  g_assert_cmpint (gst_buffer_get_video_region_of_interest_meta_id (out, 3)->parent_id, ==, 2);
  g_assert_cmpfloat (confidence_of (out, 2), ==, 0.75);
}

/* A main buffer that another element holds is not changed; the memory is shared. A buffer that
 * gets no box leaves as it came. */
static void
test_shared_memory (void)
{
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  for (guint boxes = 0; boxes < 2; boxes++) {
    g_autoptr (GstBuffer) held = frame_new (0), out = NULL;

    out = merging_merge (&m, frame_with (boxes ? "0 a 7,20,30,40 0.5" : ""), gst_buffer_ref (held));
    g_assert_true ((out == held) == (boxes == 0));
    g_assert_true (gst_buffer_peek_memory (out, 0) == gst_buffer_peek_memory (held, 0));
    g_assert_cmpuint (count_on (out), ==, boxes);
    g_assert_cmpuint (count_on (held), ==, 0);
  }
}

/* A branch's buffer that another owner has does not change, nor do boxes that are held. */
static void
test_shared_buffers (void)
{
  g_autoptr (GstBuffer) shared = frame_with ("0 a 10,20,30,40 0.5");
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge sink_0::hold=1000000000", 1, NULL, FALSE);
  gst_harness_push (m.branch[0], gst_buffer_ref (shared));
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GstBuffer) out = NULL;

    merging_push_main (&m, i * FRAME);
    out = gst_harness_pull (m.main);
    g_assert_cmpuint (count_on (out), ==, 1);
    g_assert_cmpfloat (confidence_of (out, 0), ==, 0.5);
    if (i == 0)
      merging_push_box (&m, 0, 5 * FRAME, -1); /* later than the main buffers */
  }
  g_assert_cmpfloat (confidence_of (shared, 0), ==, 0.5);
}

/* The pads' properties through the child proxy, and their defaults. */
static void
test_defaults (void)
{
  g_autoptr (GstElement) element = element_new ("boxmerge");
  g_autoptr (GstPad) pad = gst_element_request_pad_simple (element, "sink_%u");
  g_autoptr (GObject) child = NULL;

  assert_values (element, "tolerance latency ignore-inactive-pads force-live", "0 0 false false");
  assert_values (pad,
      "xpos ypos width height tiles tile-index video-direction clip hold source edge-margin",
      "0 0 0 0 NULL 0 identity false 0 NULL 5");
  g_assert_cmpuint (gst_child_proxy_get_children_count (GST_CHILD_PROXY (element)), ==, 2);
  child = gst_child_proxy_get_child_by_name (GST_CHILD_PROXY (element), "sink_0");
  g_assert_true (child == G_OBJECT (pad));
  gst_element_release_request_pad (element, pad);
}

static const TestCase cases[] = { TEST_ROWS ("/matches/%s", merging_run, matches),
  CASE (test_upstream_latency), TEST_ROWS ("/places/%s", run_place, places),
  CASE (test_cut_unknown_size), CASE (test_malformed_text), CASE (test_wrong_tile),
  CASE (test_what_belongs_to_boxes), CASE (test_shared_memory), CASE (test_shared_buffers),
  CASE (test_defaults), { NULL } };

GST_TEST_PROGRAM (cases);
