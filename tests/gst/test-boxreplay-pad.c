/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxreplay: the pad boxes: matching by running time, waiting, and what ends it. */
#include "gstrunner.h"

#define FRAME (100 * GST_MSECOND)
#define LINES 64 /* lines that the pad holds */

/* Texts that are no frame with a box, named a, b, ... in steps. */
static const gchar *const texts[] = { "", "\n", " ", "{", "{\"objects\":[", "\xff\xff", "[]",
  "null",
  "                                                                                                "
  "                                                                                                "
  "         " };
#define BAD_TEXT "pad boxes: text at 0:00:00.100000000: "

typedef struct
{
  const gchar *name, *properties;
  /* Separated by blanks, with times in frames:
   *   +2:7      text with a box of the region_id 7 comes at 2; +2:a is texts[0]
   *   2:7       a frame at 2 gets the region 7; 2:- gets none
   *   1?        a frame at 1 waits in another thread
   *   wait      it still waits after 30 ms
   *   ?:7       it gets the region 7
   *   ...!eos   a push or the frame that waits ends so, and not in ok
   *   from-5    a segment of the video begins at 5 with the running time 0
   *   flush     the video is flushed, ready: the element stops
   *   eos       the video ends
   *   gap-2     a gap of the text from 0 to 2
   *   text-eos, text-flush
   *   matched=3 the field of the property stats is 3 */
  const gchar *steps;
  const gchar *says; /* the only error or warning contains this; NULL: there is none */
} PadRow;

static const PadRow rows[] = {
  { "attaches_text_of_the_same_time", "",
      "+0:1 +1.49:2 +2.51:3 0:1 1:2 2:- 3:3 matched=3 boxes=3" },
  { "drops_and_counts_text_without_a_frame", "",
      "+0:1 +1:2 +2:3 +5:4 2:3 eos unmatched=3 +6:5!eos" },
  { "takes_a_gap_or_eos_for_no_boxes", "", "gap-2 0:- 1:- +2:1 2:1 text-eos 3:-" },
  /* matroskamux of GStreamer 1.28 stores a gap as text without content */
  { "takes_empty_text_for_no_boxes", "", "+0:a 0:- +1:b 1:- +2:c 2:- matched=0 skipped=0" },
  { "waits_for_the_text", "", "1? +0:1 wait +1:2 ?:2" },
  /* text and video may have segments that begin at different times */
  { "matches_by_running_time", "", "from-100 +1:1 101:1" },
  { "a_flush_interrupts_the_wait", "", "1? flush ?:!flushing +0:1 0:1" },
  { "ready_interrupts_the_wait", "", "1? ready ?:!flushing" },
  { "a_flush_of_the_pad_forgets_its_text", "", "+0:1 text-flush +1:2 0:- 1:2" },
  { "malformed_text_is_an_error", "", "+1:d 1:!error", BAD_TEXT },
  { "unfinished_text_is_an_error", "", "+1:e 1:!error", BAD_TEXT },
  { "text_in_no_utf8_is_an_error", "", "+1:f 1:!error", BAD_TEXT },
  { "an_array_is_an_error", "", "+1:g 1:!error", BAD_TEXT },
  { "null_is_an_error", "", "+1:h 1:!error", BAD_TEXT },
  { "malformed_text_is_skipped", "on-error=skip max-line=200",
      "+1:d 1:- +2:e 2:- +3:f 3:- +4:g 4:- +5:h 5:- +6:i 6:- +7:1 7:1 skipped=6", BAD_TEXT },
  { "text_needs_times", "", "+-:1!error", "text with timestamps" },
  { NULL },
};

/* A boxreplay whose two sink pads are in a harness each. */
typedef struct
{
  GstElement *element;
  GstHarness *video, *boxes;
  GstBus *bus;
  GThread *waiting; /* pushes a frame */
} Pads;

/* Creates it with these properties, and with regions alone, which keep their ids. */
static Pads
pads_new (const gchar *properties)
{
  g_autofree gchar *line = g_strdup_printf ("boxreplay meta=roi %s", properties);
  Pads pads = { .element = element_new (line) };

  /* the first harness starts the element */
  pads.boxes = gst_harness_new_with_element (pads.element, "boxes", NULL);
  pads.video = gst_harness_new_with_element (pads.element, "sink", "src");
  pads.bus = harness_bus (pads.video);
  gst_harness_set_src_caps_str (pads.boxes, "text/x-raw,format=utf8");
  gst_harness_set_src_caps_str (pads.video, FRAME_CAPS);
  return pads;
}

static void
pads_free (Pads *pads)
{
  harness_free (pads->video);
  gst_harness_teardown (pads->boxes);
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
  g_autofree gchar *line = g_strdup_printf (
      "{\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"roi_type\":\"a\",\"region_id\":%d}]}\n",
      id);
  const GstFlowReturn flow = push_text (pads, time, line);

  return flow;
}

static gpointer
push_second (gpointer h)
{
  return GINT_TO_POINTER (gst_harness_push (h, frame_new (FRAME)));
}

/* Plays a step such as +2:7 or 2:!error. */
static void
push_step (Pads *pads, const gchar *step)
{
  const gchar *what = strchr (step, ':') + 1, *result = strchr (step, '!');
  const gboolean text = *step == '+';
  const GstClockTime time = step[text] == '-'
      ? GST_CLOCK_TIME_NONE
      : (GstClockTime) (g_ascii_strtod (step + text, NULL) * FRAME + 0.5);
  GstFlowReturn flow;

  if (*step == '?')
    flow = GPOINTER_TO_INT (g_thread_join (pads->waiting));
  else if (!text)
    flow = gst_harness_push (pads->video, frame_new (time));
  else if (g_ascii_isalpha (*what))
    flow = push_text (pads, time, texts[*what - 'a']);
  else
    flow = push_box (pads, time, atoi (what));
  g_assert_cmpstr (gst_flow_get_name (flow), ==, result ? result + 1 : "ok");
  if (!text && !result) {
    g_autoptr (GstBuffer) buffer = gst_harness_pull (pads->video);

    assert_ids (buffer, *what == '-' ? "" : what);
  }
}

static void
wait_step (Pads *pads)
{
  g_usleep (30000);
  g_assert_null (gst_harness_try_pull (pads->video));
}

static void
play_step (Pads *pads, const gchar *step)
{
  if (strchr (step, '=')) {
    assert_stats (pads->element, step);
  } else if (g_str_equal (step, "1?")) {
    pads->waiting = g_thread_new ("video", push_second, pads->video);
    wait_step (pads);
  } else if (g_str_equal (step, "wait")) {
    wait_step (pads);
  } else if (g_str_has_prefix (step, "from-")) {
    push_segment (pads->video, atoi (step + 5) * FRAME, 0);
  } else if (g_str_has_suffix (step, "flush")) {
    GstHarness *h = *step == 't' ? pads->boxes : pads->video;

    push_flush (h);
    push_segment (h, 0, 0);
  } else if (g_str_equal (step, "ready")) {
    gst_element_set_state (pads->element, GST_STATE_READY);
  } else if (g_str_has_suffix (step, "eos") && !strchr (step, ':')) {
    gst_harness_push_event (*step == 't' ? pads->boxes : pads->video, gst_event_new_eos ());
  } else if (g_str_has_prefix (step, "gap-")) {
    gst_harness_push_event (pads->boxes, gst_event_new_gap (0, atoi (step + 4) * FRAME));
  } else {
    push_step (pads, step);
  }
}

static void
play (Pads *pads, const gchar *steps)
{
  g_auto (GStrv) list = g_strsplit (steps, " ", -1);

  for (guint i = 0; list[i]; i++) {
    g_test_message ("step %u: %s", i, list[i]);
    play_step (pads, list[i]);
  }
}

static void
run_row (gconstpointer data)
{
  const PadRow *row = data;
  g_auto (Pads) pads = pads_new (row->properties);

  play (&pads, row->steps);
  if (row->says)
    assert_says (gst_bus_pop_filtered (pads.bus,
                     strstr (row->steps, "!error") ? GST_MESSAGE_ERROR : GST_MESSAGE_WARNING),
        row->says);
  g_assert_null (gst_bus_pop_filtered (pads.bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
}

static void
waits_no_longer_than_told (void)
{
  g_auto (Pads) pads = pads_new ("boxes-timeout=50000000");
  const gint64 start = g_get_monotonic_time ();

  play (&pads, "0:-");
  g_assert_cmpint (g_get_monotonic_time () - start, >=, 50000);
  gst_harness_set_upstream_latency (pads.video, GST_MSECOND);
  g_assert_cmpuint (gst_harness_query_latency (pads.video), ==, 51 * GST_MSECOND);
  play (&pads, "+0:1 +1:2 1:2");
}

/* Pushes more text than the pad holds. */
static gpointer
push_many (gpointer pads)
{
  for (guint i = 0; i < LINES + 2; i++)
    push_box (pads, i * FRAME, (gint) i + 1);
  return NULL;
}

static void
holds_so_many_lines (void)
{
  g_auto (Pads) pads = pads_new ("");
  GThread *thread = g_thread_new ("boxes", push_many, &pads);

  g_usleep (50000);
  play (&pads, "0:1 65:66");
  g_thread_join (thread);
  g_assert_cmpuint (stat_of (pads.element, "unmatched"), ==, LINES);
}

static void
reads_what_a_demuxer_escaped (void)
{
  g_auto (Pads) pads = pads_new ("");
  g_autoptr (GstBuffer) buffer = NULL;

  push_text (&pads, 0,
      "{&quot;objects&quot;:[{&quot;x&quot;:1,&quot;y&quot;:2,&quot;w&quot;:3,"
      "&quot;h&quot;:4,&quot;roi_type&quot;:&quot;it&apos;s \\u003cb\\u003e\\u0026amp;&quot;}]}");
  buffer = through (pads.video, frame_new (0));
  g_assert_cmpuint (gst_buffer_get_video_region_of_interest_meta (buffer)->roi_type, ==,
      g_quark_from_string ("it's <b>&amp;"));
}

/* A pad cannot be requested while the element runs; a released one gives no boxes. */
static void
is_requested_before_the_start (void)
{
  g_auto (Pads) pads = pads_new ("");
  GstPad *pad = gst_element_get_static_pad (pads.element, "boxes");

  play (&pads, "+0:1 0:1");
  gst_element_release_request_pad (pads.element, pad);
  gst_object_unref (pad);
  play (&pads, "1:-");
  g_assert_null (gst_element_request_pad_simple (pads.element, "boxes"));
  gst_element_set_state (pads.element, GST_STATE_READY);
  pad = gst_element_request_pad_simple (pads.element, "boxes");
  g_assert_nonnull (pad);
  gst_object_unref (pad);
}

static const TestCase cases[] = { TEST_ROWS ("/%s", run_row, rows),
  CASE (waits_no_longer_than_told), CASE (holds_so_many_lines), CASE (reads_what_a_demuxer_escaped),
  CASE (is_requested_before_the_start), { NULL } };

GST_TEST_PROGRAM (cases);
