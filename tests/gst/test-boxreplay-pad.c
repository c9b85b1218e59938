/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxreplay: the pad boxes: matching by running time, waiting, and what ends it. */
#include <string.h>

#include "gstrunner.h"

#define FRAME (100 * GST_MSECOND)
#define LINES 64 /* lines that the pad holds */

/* A boxreplay whose two sink pads are in a harness each. */
typedef struct
{
  GstElement *element;
  GstHarness *video, *boxes;
  GstBus *bus;
} Pads;

/* Creates it with these properties, and with regions alone, which keep their ids. */
static Pads
pads_new (const gchar *properties)
{
  gchar *line = g_strdup_printf ("boxreplay meta=roi %s", properties);
  Pads pads = { .element = element_new (line), .bus = gst_bus_new () };

  g_free (line);

  /* the first harness starts the element */
  pads.boxes = gst_harness_new_with_element (pads.element, "boxes", NULL);
  pads.video = gst_harness_new_with_element (pads.element, "sink", "src");
  gst_element_set_bus (pads.element, pads.bus);
  gst_harness_set_src_caps_str (pads.boxes, "text/x-raw,format=utf8");
  gst_harness_set_src_caps_str (pads.video, FRAME_CAPS);
  return pads;
}

static void
pads_free (Pads *pads)
{
  gst_element_set_bus (pads->element, NULL);
  gst_harness_teardown (pads->video);
  gst_harness_teardown (pads->boxes);
  gst_object_unref (pads->bus);
  gst_object_unref (pads->element);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pads, pads_free)

static GstFlowReturn
push_text (Pads *pads, GstClockTime time, const gchar *text)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, strlen (text), NULL);

  gst_buffer_fill (buffer, 0, text, strlen (text));
  GST_BUFFER_PTS (buffer) = time;
  return gst_harness_push (pads->boxes, buffer);
}

/* Pushes the line of a frame at this time with one box, which has this region_id. */
static GstFlowReturn
push_box (Pads *pads, GstClockTime time, gint id)
{
  g_autofree gchar *line = g_strdup_printf ("{\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,"
                                            "\"roi_type\":\"a\",\"region_id\":%d}]}\n",
      id);
  GstFlowReturn flow = push_text (pads, time, line);

  return flow;
}

/* Pushes a frame and compares the region ids on it when it comes out. */
static void
expect_ids (Pads *pads, GstClockTime time, const gchar *ids)
{
  g_autoptr (GstBuffer) buffer = through (pads->video, frame_new (time));

  assert_ids (buffer, ids);
}

/* Pushes a frame in another thread, which waits for its text. */
static gpointer
push_frame (gpointer data)
{
  Pads *pads = data;

  return GINT_TO_POINTER (gst_harness_push (pads->video, frame_new (FRAME)));
}

static GThread *
frame_that_waits (Pads *pads)
{
  GThread *thread = g_thread_new ("video", push_frame, pads);

  g_usleep (30000);
  g_assert_null (gst_harness_try_pull (pads->video));
  return thread;
}

static void
expect_ids_from (Pads *pads, GThread *thread, const gchar *ids)
{
  g_autoptr (GstBuffer) buffer = NULL;

  g_assert_cmpint (GPOINTER_TO_INT (g_thread_join (thread)), ==, GST_FLOW_OK);
  buffer = gst_harness_pull (pads->video);
  assert_ids (buffer, ids);
}

static void
attaches_text_of_the_same_time (void)
{
  g_auto (Pads) pads = pads_new ("");

  push_box (&pads, 0, 1);
  push_box (&pads, FRAME + 49 * GST_MSECOND, 2);
  push_box (&pads, 2 * FRAME + 51 * GST_MSECOND, 3);
  expect_ids (&pads, 0, "1");
  expect_ids (&pads, FRAME, "2");
  expect_ids (&pads, 2 * FRAME, "");
  expect_ids (&pads, 3 * FRAME, "3");
  assert_stats (pads.element, "matched=3 boxes=3");
}

static void
drops_and_counts_text_without_a_frame (void)
{
  g_auto (Pads) pads = pads_new ("");

  push_box (&pads, 0, 1);
  push_box (&pads, FRAME, 2);
  push_box (&pads, 2 * FRAME, 3);
  push_box (&pads, 5 * FRAME, 4);
  expect_ids (&pads, 2 * FRAME, "3");
  gst_harness_push_event (pads.video, gst_event_new_eos ());
  g_assert_cmpuint (stat_of (pads.element, "unmatched"), ==, 3);
  g_assert_cmpint (push_box (&pads, 6 * FRAME, 5), ==, GST_FLOW_EOS);
}

static void
takes_a_gap_or_eos_for_no_boxes (void)
{
  g_auto (Pads) pads = pads_new ("");

  gst_harness_push_event (pads.boxes, gst_event_new_gap (0, 2 * FRAME));
  expect_ids (&pads, 0, "");
  expect_ids (&pads, FRAME, "");
  push_box (&pads, 2 * FRAME, 1);
  expect_ids (&pads, 2 * FRAME, "1");
  gst_harness_push_event (pads.boxes, gst_event_new_eos ());
  expect_ids (&pads, 3 * FRAME, "");
}

/* matroskamux of GStreamer 1.28 stores a gap as text without content. */
static void
takes_empty_text_for_no_boxes (void)
{
  static const gchar *const empty[] = { "", "\n", " " };
  g_auto (Pads) pads = pads_new ("");

  for (guint i = 0; i < G_N_ELEMENTS (empty); i++) {
    push_text (&pads, i * FRAME, empty[i]);
    expect_ids (&pads, i * FRAME, "");
  }
  assert_stats (pads.element, "matched=0 skipped=0");
}

static void
waits_for_the_text (void)
{
  g_auto (Pads) pads = pads_new ("");
  GThread *thread = frame_that_waits (&pads);

  push_box (&pads, 0, 1);
  g_usleep (30000);
  g_assert_null (gst_harness_try_pull (pads.video));
  push_box (&pads, FRAME, 2);
  expect_ids_from (&pads, thread, "2");
}

static void
waits_no_longer_than_told (void)
{
  g_auto (Pads) pads = pads_new ("boxes-timeout=50000000");
  gint64 start = g_get_monotonic_time ();

  expect_ids (&pads, 0, "");
  g_assert_true (g_get_monotonic_time () - start >= 50000);
  gst_harness_set_upstream_latency (pads.video, GST_MSECOND);
  g_assert_cmpuint (gst_harness_query_latency (pads.video), ==, 51 * GST_MSECOND);
  push_box (&pads, 0, 1);
  push_box (&pads, FRAME, 2);
  expect_ids (&pads, FRAME, "2");
}

/* Text and video may have segments that begin at different times. */
static void
matches_by_running_time (void)
{
  g_auto (Pads) pads = pads_new ("");

  push_segment (pads.video, 100 * FRAME, 0);
  push_box (&pads, FRAME, 1);
  expect_ids (&pads, 101 * FRAME, "1");
}

static void
a_flush_interrupts_the_wait (void)
{
  g_auto (Pads) pads = pads_new ("");
  GThread *thread = frame_that_waits (&pads);

  gst_harness_push_event (pads.video, gst_event_new_flush_start ());
  g_assert_cmpint (GPOINTER_TO_INT (g_thread_join (thread)), ==, GST_FLOW_FLUSHING);
  gst_harness_push_event (pads.video, gst_event_new_flush_stop (TRUE));
  push_segment (pads.video, 0, 0);
  push_box (&pads, 0, 1);
  expect_ids (&pads, 0, "1");
}

static void
ready_interrupts_the_wait (void)
{
  g_auto (Pads) pads = pads_new ("");
  GThread *thread = frame_that_waits (&pads);

  gst_element_set_state (pads.element, GST_STATE_READY);
  g_assert_cmpint (GPOINTER_TO_INT (g_thread_join (thread)), ==, GST_FLOW_FLUSHING);
}

/* A flush of the pad boxes drops the text that it holds. */
static void
a_flush_of_the_pad_forgets_its_text (void)
{
  g_auto (Pads) pads = pads_new ("");

  push_box (&pads, 0, 1);
  push_flush (pads.boxes);
  push_segment (pads.boxes, 0, 0);
  push_box (&pads, FRAME, 2);
  expect_ids (&pads, 0, "");
  expect_ids (&pads, FRAME, "2");
}

/* Pushes more text than the pad holds. */
static gpointer
push_many (gpointer data)
{
  for (guint i = 0; i < LINES + 2; i++)
    push_box (data, i * FRAME, (gint) i + 1);
  return NULL;
}

static void
holds_so_many_lines (void)
{
  g_auto (Pads) pads = pads_new ("");
  GThread *thread = g_thread_new ("boxes", push_many, &pads);

  g_usleep (50000);
  expect_ids (&pads, 0, "1");
  expect_ids (&pads, (LINES + 1) * FRAME, "66");
  g_thread_join (thread);
  g_assert_cmpuint (stat_of (pads.element, "unmatched"), ==, LINES);
}

static void
reads_what_a_demuxer_escaped (void)
{
  g_auto (Pads) pads = pads_new ("");
  g_autoptr (GstBuffer) buffer = NULL;
  GstVideoRegionOfInterestMeta *roi;

  push_text (&pads, 0,
      "{&quot;objects&quot;:[{&quot;x&quot;:1,&quot;y&quot;:2,&quot;w&quot;:3,"
      "&quot;h&quot;:4,&quot;roi_type&quot;:&quot;it&apos;s \\u003cb\\u003e\\u0026amp;&quot;}]}");
  buffer = through (pads.video, frame_new (0));
  roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 0);
  g_assert_nonnull (roi);
  g_assert_cmpstr (g_quark_to_string (roi->roi_type), ==, "it's <b>&amp;");
}

/* Fails unless the only message of this type on the bus contains `what`. */
static void
must_say (Pads *pads, GstMessageType type, const gchar *what)
{
  GstMessage *message = gst_bus_pop_filtered (pads->bus, type);
  gchar *text;

  g_assert_nonnull (message);
  text = message_text (message);
  if (strstr (text, what) == NULL)
    g_error ("it says: %s", text);
  g_free (text);
  gst_message_unref (message);
  g_assert_null (gst_bus_pop_filtered (pads->bus, type));
}

static void
malformed_text_is_an_error_or_skipped (void)
{
  static const gchar *const bad[] = { "{", "{\"objects\":[", "\xff\xff", "[]", "null" };
  Pads pads;

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    pads = pads_new ("");
    push_text (&pads, FRAME, bad[i]);
    g_assert_cmpint (gst_harness_push (pads.video, frame_new (FRAME)), ==, GST_FLOW_ERROR);
    must_say (&pads, GST_MESSAGE_ERROR, "pad boxes: text at 0:00:00.100000000: ");
    pads_free (&pads);
  }
  pads = pads_new ("on-error=skip max-line=200");
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    push_text (&pads, i * FRAME, bad[i]);
    expect_ids (&pads, i * FRAME, "");
  }
  {
    g_autofree gchar *longest = g_strnfill (201, ' ');

    push_text (&pads, 6 * FRAME, longest);
    expect_ids (&pads, 6 * FRAME, "");
  }
  must_say (&pads, GST_MESSAGE_WARNING, "pad boxes: text at 0:00:00.000000000: ");
  push_box (&pads, 7 * FRAME, 1);
  expect_ids (&pads, 7 * FRAME, "1");
  g_assert_cmpuint (stat_of (pads.element, "skipped"), ==, 6);
  pads_free (&pads);
}

static void
text_needs_times (void)
{
  g_auto (Pads) pads = pads_new ("");

  g_assert_cmpint (push_box (&pads, GST_CLOCK_TIME_NONE, 1), ==, GST_FLOW_ERROR);
  must_say (&pads, GST_MESSAGE_ERROR, "text with timestamps");
}

/* A pad cannot be requested while the element runs; a released one gives no boxes. */
static void
is_requested_before_the_start (void)
{
  g_auto (Pads) pads = pads_new ("");
  GstPad *pad = gst_element_get_static_pad (pads.element, "boxes");

  push_box (&pads, 0, 1);
  expect_ids (&pads, 0, "1");
  gst_element_release_request_pad (pads.element, pad);
  gst_object_unref (pad);
  expect_ids (&pads, FRAME, "");
  g_assert_null (gst_element_request_pad_simple (pads.element, "boxes"));
  gst_element_set_state (pads.element, GST_STATE_READY);
  pad = gst_element_request_pad_simple (pads.element, "boxes");
  g_assert_nonnull (pad);
  gst_object_unref (pad);
}

static const TestCase cases[] = { CASE (attaches_text_of_the_same_time),
  CASE (drops_and_counts_text_without_a_frame), CASE (takes_a_gap_or_eos_for_no_boxes),
  CASE (takes_empty_text_for_no_boxes), CASE (waits_for_the_text), CASE (waits_no_longer_than_told),
  CASE (matches_by_running_time), CASE (a_flush_interrupts_the_wait),
  CASE (ready_interrupts_the_wait), CASE (a_flush_of_the_pad_forgets_its_text),
  CASE (holds_so_many_lines), CASE (reads_what_a_demuxer_escaped),
  CASE (malformed_text_is_an_error_or_skipped), CASE (text_needs_times),
  CASE (is_requested_before_the_start), { NULL } };

GST_TEST_PROGRAM (cases);
