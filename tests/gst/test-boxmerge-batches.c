/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxmerge with a branch of batches: the boxes of slices in the main frame. */
#include "batches.h"
#include "gstrunner.h"
#include "merging.h"

#define SLICES "video/x-raw(meta:GstAnalyticsBatchMeta),format=GRAY8,width=640,height=480"
#define QUARTER "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1"
#define SMALL "video/x-raw,format=GRAY8,width=160,height=120,framerate=10/1"

/* Returns a slice with a region of 30x40 pixels at x, 20. */
static GstBuffer *
slice_new (gint x)
{
  GstBuffer *slice = frame_new (0);

  add_scored (slice, 1, "o", x, 20, 30, 40, 0.5);
  return slice;
}

static GstBuffer *
cropped_new (gint x, guint left, guint top)
{
  GstBuffer *slice = slice_new (x);
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (slice);

  crop->x = left;
  crop->y = top;
  crop->width = 320;
  crop->height = 240;
  return slice;
}

/* Returns a batch of one stream with pictures of these caps. */
static GstBuffer *
slices_new (const gchar *caps)
{
  GstBuffer *batch = batches_new (0, 1);

  batches_begin_stream (batch, 0, "a", caps, 0);
  return batch;
}

/* Merges a batch, which it takes, with a main buffer. Fails unless that gets these boxes. */
static void
expect_merged (const gchar *launch, const gchar *caps, GstBuffer *batch, const gchar *expected,
    guint boxes)
{
  g_auto (Merging) m = { 0 };

  merging_open (&m, launch, 1, caps, FALSE);
  g_assert_cmpint (gst_harness_push (m.branch[0], batch), ==, GST_FLOW_OK);
  merging_push_main (&m, 0);
  merging_expect (&m, 0, expected);
  merging_expect_stat (&m, 0, "merged", 1);
  merging_expect_stat (&m, 0, "boxes", boxes);
}

static void
test_tiles (void)
{
  GstBuffer *batch = slices_new (QUARTER);

  for (gint i = 0; i < 4; i++)
    batches_add (batch, 0, slice_new (i));
  expect_merged ("boxmerge sink_0::tiles=2x2", SLICES, batch,
      "0,20,30,40 321,20,30,40 2,260,30,40 323,260,30,40", 4);
}

/* Slices in a buffer list, from the second tile on; one has no boxes. */
static void
test_list (void)
{
  GstBuffer *batch = slices_new (QUARTER);
  GstBufferList *list = gst_buffer_list_new ();

  gst_buffer_list_add (list, slice_new (1));
  gst_buffer_list_add (list, frame_new (0));
  gst_buffer_list_add (list, slice_new (3));
  batches_add (batch, 0, list);
  expect_merged ("boxmerge sink_0::tiles=2x2 sink_0::tile-index=1", SLICES, batch,
      "321,20,30,40 323,260,30,40", 2);
}

/* Streams of one tile each; that of tile 1 has no buffer in this batch. */
static void
test_streams (void)
{
  GstBuffer *batch = batches_new (0, 4);

  for (guint i = 0; i < 4; i++) {
    batches_begin_stream (batch, i, NULL, QUARTER, 0);
    if (i != 1)
      batches_add (batch, i, slice_new ((gint) i));
  }
  expect_merged ("boxmerge sink_0::tiles=2x2", BATCH_CAPS, batch,
      "0,20,30,40 2,260,30,40 323,260,30,40", 3);
}

/* The crop of a slice states its place in the main frame; the picture may be scaled. */
static void
test_crops (void)
{
  GstBuffer *batch = slices_new (QUARTER);
  GstCaps *small = gst_caps_from_string (SMALL);

  batches_add (batch, 0, cropped_new (1, 0, 0));
  batches_add (batch, 0, cropped_new (2, 240, 0));
  batches_add (batch, 0, gst_event_new_caps (small));
  batches_add (batch, 0, cropped_new (3, 100, 200));
  gst_caps_unref (small);
  expect_merged ("boxmerge", SLICES, batch, "1,20,30,40 242,20,30,40 106,240,60,80", 3);
}

static void
test_empty (void)
{
  expect_merged ("boxmerge", BATCH_CAPS, batches_new (0, 0), "", 0);
  expect_merged ("boxmerge", BATCH_CAPS, batches_new (0, 2), "", 0);
}

/* The boxes of all slices have the name of the branch. */
static void
test_source (void)
{
  GstBuffer *batch = slices_new (QUARTER);
  g_autoptr (GstBuffer) out = NULL;
  GstVideoRegionOfInterestMeta *roi;
  g_auto (Merging) m = { 0 };

  batches_add (batch, 0, slice_new (0));
  merging_open (&m, "boxmerge sink_0::source=slices", 1, SLICES, FALSE);
  gst_harness_push (m.branch[0], batch);
  merging_push_main (&m, 0);
  out = gst_harness_pull (m.main);
  roi = (GstVideoRegionOfInterestMeta *) gst_buffer_get_meta (out,
      GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  g_assert_cmpstr (gst_structure_get_string (gst_video_region_of_interest_meta_get_param (roi,
                                                 "source"),
                       "name"),
      ==, "slices");
}

static void
expect_error (const gchar *launch, GstBuffer *buffer, const gchar *text)
{
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_auto (Merging) m = { 0 };

  merging_open (&m, launch, 1, SLICES, FALSE);
  gst_element_set_bus (m.element, bus);
  gst_harness_push (m.branch[0], buffer);
  merging_push_main (&m, 0);
  assert_says (gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_ERROR), text);
  gst_element_set_bus (m.element, NULL);
}

static void
test_errors (void)
{
  GstBuffer *batch = slices_new (QUARTER);

  for (gint i = 0; i < 3; i++)
    batches_add (batch, 0, slice_new (i));
  expect_error ("boxmerge sink_0::tiles=2x1", batch, "has no tile 2");
  expect_error ("boxmerge", slice_new (0), "a buffer is none");
}

/* The boxes of the last batch are held, but not the memory of its slices. */
static void
test_hold (void)
{
  GstBuffer *batch = slices_new (QUARTER), *slice = slice_new (5);
  GstMemory *memory = gst_buffer_get_memory (slice, 0);
  g_auto (Merging) m = { 0 };

  batches_add (batch, 0, slice);
  merging_open (&m, "boxmerge sink_0::tiles=2x2 sink_0::hold=1000000000", 1, SLICES, FALSE);
  gst_harness_push (m.branch[0], batch);
  merging_play (&m, "m0 =0:5");
  g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (memory), ==, 1);
  gst_harness_push_event (m.branch[0], gst_event_new_eos ());
  merging_play (&m, "m100 =100:5 a.held:1");
  gst_memory_unref (memory);
}

/* The batch itself does not change, so another branch of a tee may have it. */
static void
test_shared (void)
{
  g_autoptr (GstBuffer) batch = slices_new (QUARTER);
  GstBuffer *slice = slice_new (5);

  batches_add (batch, 0, slice);
  expect_merged ("boxmerge sink_0::tiles=2x2 sink_0::hold=1000000000", SLICES,
      gst_buffer_ref (batch), "5,20,30,40", 1);
  g_assert_true (batches_get (batch, 0, 0) == slice);
  g_assert_cmpuint (gst_buffer_n_memory (slice), ==, 1);
  g_assert_cmpuint (count_on (slice), ==, 1);
}

static const TestCase cases[] = { CASE (test_tiles), CASE (test_list), CASE (test_streams),
  CASE (test_crops), CASE (test_empty), CASE (test_source), CASE (test_errors), CASE (test_hold),
  CASE (test_shared), { NULL } };

GST_TEST_PROGRAM (cases);
