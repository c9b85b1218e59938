/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmerge: events and queries. Those of the main stream pass unchanged and in order; of a
 * branch only its boxes pass.
 */
#include <gst/base/gstaggregator.h>

#include "gstrunner.h"
#include "merging.h"
#include "playing.h"

static const MergingRow orders[] = {
  { "events of the main stream come in order, those of a branch do not come", "boxmerge", 1, FALSE,
      "tag-m tag-a custom-a a0:1 m0 =0:1 custom-m a100:1 m100 =100:1 tag-m eos-m =eos",
      "stream-start caps segment tag buffer:0 custom-downstream buffer:100 tag eos " },
  { "a GAP of the main stream leaves as one", "boxmerge", 1, FALSE,
      "gap-m:0+100 a100:1 m100 =100:1", "stream-start caps segment gap:0+100 buffer:100 " },
  { "caps of the main stream set the place of tiles, those of a branch the scale",
      "boxmerge sink_0::tiles=2x2 sink_0::tile-index=3", 1, FALSE,
      "small-a a0:10 m0 =0:330,260,30,40 large-a a100:10 m100 =100:325,250,15,20 small-m a200:10 "
      "m200 =200:163,125,7,10",
      "stream-start caps segment buffer:0 buffer:100 caps segment buffer:200 " },
  { "a flush of a branch forgets its queued and held boxes",
      "boxmerge sink_0::hold=18446744073709551615", 1, FALSE,
      "a0:1 m0 =0:1 a100:2 flush-a a200:3 m100 =100: m200 =200:3",
      "stream-start caps segment buffer:0 buffer:100 buffer:200 " },
  { NULL },
};

/* EOS of the main stream ends the stream, also if a branch has neither data nor EOS and nothing
 * came before, and tells that the statistics are final. */
static void
test_eos (void)
{
  static const gchar *const before[] = { "a0:1 b0:2 m0 =0:1+2", "a.in:0" };

  for (guint i = 0; i < G_N_ELEMENTS (before); i++) {
    gint notified = 0;
    g_auto (Merging) m = { 0 };

    merging_open (&m, "boxmerge", 2, NULL, FALSE);
    g_signal_connect (m.element, "notify::stats", G_CALLBACK (count_notification), &notified);
    merging_play (&m, before[i]);
    g_assert_cmpint (g_atomic_int_get (&notified), ==, 0);
    merging_play (&m, "eos-m =eos");
    g_assert_cmpint (g_atomic_int_get (&notified), ==, 1);
  }
}

/* Buffers without memory and with the flag GAP are not taken for GAP events. */
static void
test_gap_buffers (void)
{
  GstBuffer *buffers[2];
  g_autoptr (GstBuffer) out = NULL;
  g_auto (Merging) m = { 0 };

  for (guint i = 0; i < 2; i++) {
    buffers[i] = gst_buffer_new ();
    GST_BUFFER_PTS (buffers[i]) = 0;
    GST_BUFFER_DURATION (buffers[i]) = FRAME;
    GST_BUFFER_FLAG_SET (buffers[i], GST_BUFFER_FLAG_GAP | GST_BUFFER_FLAG_DROPPABLE);
    add_boxes (buffers[i], i ? "0 a 2,20,30,40" : "0 a 1,20,30,40");
  }
  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  out = merging_merge (&m, buffers[0], buffers[1]);
  g_assert_cmpstr (boxes_on (out), ==, "2,20,30,40 1,20,30,40");
}

/* The events of a second stream come in order, too. They keep their seqnums and values, also those
 * that GstAggregator makes anew. */
static void
test_second_stream (void)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (QUARTER_CAPS);
  GstEvent *events[5];
  GstSegment segment;
  const gchar *id;
  g_auto (Merging) m = { 0 };

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.base = FRAME;
  segment.applied_rate = 2;
  events[0] = gst_event_new_stream_start ("second");
  events[1] = gst_event_new_caps (caps);
  events[2] = gst_event_new_segment (&segment);
  events[3] = gst_event_new_gap (FRAME, FRAME);
  events[4] = gst_event_new_eos ();
  merging_open (&m, "boxmerge", 0, NULL, FALSE);
  merging_play (&m, "tag-m m0 =0:");
  gst_event_unref (merging_wait_event (&m, GST_EVENT_SEGMENT));
  for (guint i = 0; i < G_N_ELEMENTS (events); i++) {
    if (i == 3)
      merging_play (&m, "tag-m m0 =0:");
    gst_event_set_seqnum (events[i], 1001 + i);
    g_assert_true (gst_harness_push_event (m.main, events[i]));
  }
  for (guint i = 0; i < G_N_ELEMENTS (events); i++) {
    static const GstEventType types[] = { GST_EVENT_STREAM_START, GST_EVENT_CAPS, GST_EVENT_SEGMENT,
      GST_EVENT_GAP, GST_EVENT_EOS };

    events[i] = merging_wait_event (&m, types[i]);
    g_assert_cmpuint (gst_event_get_seqnum (events[i]), ==, 1001 + i);
  }
  gst_event_parse_stream_start (events[0], &id);
  g_assert_cmpstr (id, ==, "second");
  gst_event_copy_segment (events[2], &segment);
  g_assert_cmpuint (segment.base, ==, FRAME);
  g_assert_cmpfloat (segment.applied_rate, ==, 2);
  for (guint i = 0; i < G_N_ELEMENTS (events); i++)
    gst_event_unref (events[i]);
  g_assert_cmpstr (m.passed->str, ==,
      "stream-start caps segment tag buffer:0 stream-start caps segment tag buffer:0 gap:100+100 "
      "eos ");
}

/* Caps queries pass between the main stream and downstream; a branch takes everything. */
static void
test_caps_queries (void)
{
  static const gchar *const rows[][2] = { { "sink", QUARTER_CAPS }, { "sink_0", "ANY" },
    { "src", FRAME_CAPS } };
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  gst_harness_set_sink_caps_str (m.main, QUARTER_CAPS);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GstPad) pad = gst_element_get_static_pad (m.element, rows[i][0]);
    g_autoptr (GstCaps) caps = gst_pad_query_caps (pad, NULL),
                        wanted = gst_caps_from_string (rows[i][1]);

    g_assert_true (gst_caps_is_equal (caps, wanted));
  }
}

/* ALLOCATION of the main stream is answered by downstream, and that of a branch is not: it does not
 * wait for the buffers that wait for the main stream. */
static void
test_allocation (void)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (FRAME_CAPS);
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  gst_harness_add_propose_allocation_meta (m.main, GST_VIDEO_CROP_META_API_TYPE, NULL);
  for (guint branch = 0; branch < 2; branch++) {
    const GType apis[] = { GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE, GST_VIDEO_META_API_TYPE,
      GST_VIDEO_CROP_META_API_TYPE };
    const gboolean expected[] = { TRUE, branch, !branch };
    g_autoptr (GstQuery) query = gst_query_new_allocation (caps, TRUE);

    if (branch)
      merging_push_box (&m, 0, 0, 1);
    g_assert_true (gst_pad_peer_query (branch ? m.branch[0]->srcpad : m.main->srcpad, query));
    for (guint i = 0; i < G_N_ELEMENTS (apis); i++)
      g_assert_true (gst_query_find_allocation_meta (query, apis[i], NULL) == expected[i]);
    g_assert_true (!branch || gst_query_get_n_allocation_pools (query) == 0);
  }
  merging_play (&m, "m0 =0:1");
}

/* Returns whether an upstream event of this type has reached the harness. */
static gboolean
got_upstream (GstHarness *h, GstEventType type)
{
  gboolean found = FALSE;
  GstEvent *event;

  while ((event = gst_harness_try_pull_upstream_event (h)) != NULL) {
    found |= GST_EVENT_TYPE (event) == type;
    gst_event_unref (event);
  }
  return found;
}

static void
expect_upstream (Merging *m, GstEvent *event, gboolean branch)
{
  const GstEventType type = GST_EVENT_TYPE (event);

  got_upstream (m->main, type);
  got_upstream (m->branch[0], type);
  gst_harness_push_upstream_event (m->main, event);
  g_assert_true (got_upstream (m->main, type));
  g_assert_true (got_upstream (m->branch[0], type) == branch);
}

static void
test_upstream_events (void)
{
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  merging_play (&m, "a0:1 m0 =0:1");
  expect_upstream (&m, gst_event_new_reconfigure (), FALSE);
  expect_upstream (&m,
      gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM, gst_structure_new_empty ("GstForceKeyUnit")),
      FALSE);
  expect_upstream (&m, gst_event_new_navigation (gst_structure_new_empty ("a")), FALSE);
  expect_upstream (&m, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 1, 0, 0), TRUE);
  expect_upstream (&m, gst_event_new_latency (GST_SECOND), TRUE);
}

static GstPadProbeReturn
count_seeks (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_SEEK)
    ++*(guint *) user_data;
  return GST_PAD_PROBE_OK;
}

/* Branches of the main stream's own source are sought with it. */
static void
test_one_source (void)
{
  static const GstSeekFlags flags[] = { GST_SEEK_FLAG_FLUSH, 0 };
  g_autoptr (GstElement) pipeline = playing_new (
      "videotestsrc num-buffers=1000 ! identity name=i ! tee name=t ! queue ! boxmerge name=m "
      "! fakesink t. ! queue ! m.sink_0 t. ! queue ! videoscale ! m.sink_1");
  guint seeks = 0;

  playing_probe_type (pipeline, "i", "src", GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, count_seeks, &seeks);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (playing_wait (pipeline, GST_MESSAGE_ASYNC_DONE));
  for (guint i = 0; i < G_N_ELEMENTS (flags); i++) {
    g_assert_true (gst_element_seek_simple (pipeline, GST_FORMAT_TIME, flags[i], GST_SECOND));
    g_assert_cmpuint (seeks, ==, i + 1);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* A flushing seek goes to all sources. Their flushes reach downstream once, held boxes are
 * forgotten, and the new segment of the main stream passes. */
static void
test_seek (void)
{
  GstEvent *seek = gst_event_new_seek (1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET,
      5 * FRAME, GST_SEEK_TYPE_NONE, 0);
  const guint32 seqnum = gst_event_get_seqnum (seek);
  g_autoptr (GstEvent) event = NULL;
  GstEvent *events[3];
  GstSegment segment;
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge sink_0::hold=18446744073709551615", 1, NULL, FALSE);
  merging_play (&m, "a0:1 m0 =0:1 a200:1 m100 =100:1");
  gst_event_unref (merging_wait_event (&m, GST_EVENT_SEGMENT));
  expect_upstream (&m, seek, TRUE);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = 5 * FRAME;
  events[0] = gst_event_new_flush_start ();
  events[1] = gst_event_new_flush_stop (TRUE);
  events[2] = gst_event_new_segment (&segment);
  for (guint i = 0; i < 3; i++) {
    gst_event_set_seqnum (events[i], seqnum);
    g_assert_true (gst_harness_push_event (m.branch[0], gst_event_ref (events[i])));
    g_assert_true (gst_harness_push_event (m.main, events[i]));
    if (i < 2)
      gst_event_unref (merging_wait_event (&m, i ? GST_EVENT_FLUSH_STOP : GST_EVENT_FLUSH_START));
  }
  merging_play (&m, "a600:2 m500 =500:");
  event = merging_wait_event (&m, GST_EVENT_SEGMENT);
  gst_event_copy_segment (event, &segment);
  g_assert_cmpuint (segment.time, ==, 5 * FRAME);
  g_assert_cmpuint (gst_event_get_seqnum (event), ==, seqnum);
  merging_play (&m, "m600 =600:2");
}

/* Notes the times in ms of the buffers that are about to be merged. */
static void
note_samples (GstAggregator *aggregator, GstSegment *segment, guint64 pts, guint64 dts,
    guint64 duration, GstStructure *info, gpointer user_data)
{
  for (GList *l = GST_ELEMENT (aggregator)->sinkpads; l; l = l->next) {
    GstSample *sample = gst_aggregator_peek_next_sample (aggregator, l->data);

    g_string_append_printf (user_data, "%s:%d ", GST_OBJECT_NAME (l->data),
        sample ? (gint) (GST_BUFFER_PTS (gst_sample_get_buffer (sample)) / GST_MSECOND) : -1);
    if (sample)
      gst_sample_unref (sample);
  }
}

static void
test_samples_selected (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  Merging m;

  merging_open (&m, "boxmerge emit-signals=true", 1, NULL, FALSE);
  g_signal_connect (m.element, "samples-selected", G_CALLBACK (note_samples), text);
  merging_play (&m, "a10:1 m0 =0:1 a200:2 m100 =100: m200 =200:2");
  merging_close (&m);
  g_assert_cmpstr (text->str, ==, "sink:0 sink_0:10 sink:100 sink_0:-1 sink:200 sink_0:200 ");
}

/* The first pad that is linked is that of the main stream, the next ones are branches. Statistics
 * begin anew with each start, and the pads work again. */
static void
test_restart (void)
{
  g_autoptr (GstElement) pipeline = playing_new ("videotestsrc num-buffers=5 ! tee name=t ! queue "
                                                 "! boxmerge name=m ! fakesink t. ! queue ! m.");

  for (guint i = 0; i < 3; i++) {
    playing_to_end (pipeline);
    g_assert_cmpuint (playing_stat (pipeline, "m", "frames"), ==, 5);
    g_assert_cmpuint (playing_stat (pipeline, "m", "merged"), ==, 5);
  }
}

static const TestCase cases[] = { TEST_ROWS ("/orders/%s", merging_run, orders), CASE (test_eos),
  CASE (test_second_stream), CASE (test_caps_queries), CASE (test_allocation),
  CASE (test_upstream_events), CASE (test_gap_buffers), CASE (test_one_source), CASE (test_seek),
  CASE (test_samples_selected), CASE (test_restart), { NULL } };

GST_TEST_PROGRAM (cases);
