/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxsteady on batches: each stream has links, numbers and jumps of its own. */
#include "batches.h"
#include "gstrunner.h"

/* Returns the track of the first region of a stream. */
static gint
track_of (GstBuffer *batch, guint stream)
{
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta (
      GST_BUFFER (batches_get (batch, stream, 0)));
  gint id;

  g_assert_nonnull (roi);
  g_assert_true (gst_structure_get_int (structure_on (roi, "object_id"), "id", &id));
  return id;
}

/* In the third batch stream 0 has no box, and a held one is added; in the last, stream 1 begins
 * anew, so that its box is another one. */
static void
expect_streams (const gchar *launch)
{
  static const gint expected[][2] = { { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 2 } };
  GstHarness *h = harness_new_caps (launch, BATCH_CAPS);

  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    const GstClockTime time = i * 100 * GST_MSECOND;
    GstBuffer *batch = batches_new (time, 2);

    if (i == 0)
      batches_begin_stream (batch, 0, "a", FRAME_CAPS, 0);
    if (i == 0 || i == 3)
      batches_begin_stream (batch, 1, "b", FRAME_CAPS, 0);
    batches_add (batch, 0, i == 2 ? frame_new (time) : batches_single_new (time, 20));
    batches_add (batch, 1, batches_single_new (time, i == 3 ? 300 : 100));
    batch = through (h, batch);
    for (guint stream = 0; stream < 2; stream++)
      g_assert_cmpint (track_of (batch, stream), ==, expected[i][stream]);
    gst_buffer_unref (batch);
  }
  g_assert_cmpuint (batches_stat_of (h->element, 0, "held"), ==, 1);
  g_assert_cmpuint (batches_stat_of (h->element, 1, "restarts"), ==, 1);
  g_assert_cmpuint (batches_stat_of (h->element, 1, "links"), ==, 2);
  gst_harness_teardown (h);
}

/* Batches do not wait for lookahead. */
static void
test_streams (void)
{
  expect_streams ("boxsteady");
  expect_streams ("boxsteady lookahead=2");
}

static const TestCase cases[] = { { "/boxsteady/batches", test_streams }, { NULL } };

GST_TEST_PROGRAM (cases);
