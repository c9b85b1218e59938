/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxreplay: the pad boxes: matching by running time, waiting, and what ends it. */
#include "gstrunner.h"
#include "replaying.h"

#define LINES 64 /* lines that the pad holds */
#define BAD_TEXT "pad boxes: text at 0:00:00.100000000: "
#define HALF "{\"objects\":["
#define LONG LINE ("\"makes-the-line-longer-than-max-line\":true,", 1)

static const ReplayRow rows[] = {
  { "attaches_text_of_the_same_time", "", "pad",
      "+0 +1.49 +2.51 0:1 1:2 2:- 3:3 matched=3 boxes=3" },
  { "drops_and_counts_text_without_a_frame", "", "pad", "+0 +1 +2 +5 2:3 eos unmatched=3 +6!eos" },
  { "takes_a_gap_or_eos_for_no_boxes", "", "pad", "text-gap-0/2 0:- 1:- +2 2:1 text-eos 3:-" },
  /* matroskamux of GStreamer 1.28 stores a gap as text without content */
  { "takes_empty_text_for_no_boxes", "", "pad", "+0' 0:- +1'\n 1:- +2'\t 2:- matched=0 skipped=0" },
  { "waits_for_the_text", "", "pad", "1? +0 waits-30 +1 ?:2" },
  { "waits_no_longer_than_told", "boxes-timeout=50000000", "pad", "0:- took-50 +0 +1 1:2" },
  /* text and video may have segments that begin at different times */
  { "matches_by_running_time", "", "pad", "from-100 +1 101:1" },
  { "a_flush_interrupts_the_wait", "", "pad", "1? seek-0 ?:!flushing +0 0:1" },
  { "ready_interrupts_the_wait", "", "pad", "1? ready ?:!flushing" },
  { "a_flush_of_the_pad_forgets_its_text", "", "pad", "+0 text-seek-0 +1 0:- 1:2" },
  { "malformed_text_is_an_error", "", "pad", "+1'{ 1:!", BAD_TEXT },
  { "unfinished_text_is_an_error", "", "pad", "+1'" HALF " 1:!", BAD_TEXT },
  { "text_in_no_utf8_is_an_error", "", "pad", "+1'\xff\xff 1:!", BAD_TEXT },
  { "an_array_is_an_error", "", "pad", "+1'[] 1:!", BAD_TEXT },
  { "null_is_an_error", "", "pad", "+1'null 1:!", BAD_TEXT },
  { "malformed_text_is_skipped", "on-error=skip max-line=70", "pad",
      "+1'{ 1:- +2'" HALF " 2:- +3'\xff\xff 3:- +4'[] 4:- +5'null 5:- +6'" LONG " 6:- +7 7:1 "
      "skipped=6",
      BAD_TEXT },
  { "text_needs_times", "", "pad", "+-!error", "text with timestamps" },
  { NULL },
};

/* Pushes more text than the pad holds. */
static gpointer
push_many (gpointer replay)
{
  for (guint i = 0; i < LINES + 2; i++) {
    g_autofree gchar *step = g_strdup_printf ("+%u", i);

    replay_play (replay, step);
  }
  return NULL;
}

static void
holds_so_many_lines (void)
{
  GThread *thread;
  g_auto (Replay) r = { 0 };

  replay_open (&r, "pad", "");
  thread = g_thread_new ("boxes", push_many, &r);
  g_usleep (50000);
  replay_play (&r, "0:1 65:66");
  g_thread_join (thread);
  g_assert_cmpuint (stat_of (r.h->element, "unmatched"), ==, LINES);
}

static void
reads_what_a_demuxer_escaped (void)
{
  g_autoptr (GstBuffer) buffer = NULL;
  g_auto (Replay) r = { 0 };

  replay_open (&r, "pad", "meta=roi");
  replay_play (&r,
      "+0'{&quot;objects&quot;:[{&quot;x&quot;:1,&quot;y&quot;:2,&quot;w&quot;:3,&quot;h&quot;:4,"
      "&quot;roi_type&quot;:&quot;it&apos;s\\u003cb\\u003e\\u0026amp;&quot;}]}");
  buffer = through (r.h, replay_buffer (0));
  g_assert_cmpuint (gst_buffer_get_video_region_of_interest_meta (buffer)->roi_type, ==,
      g_quark_from_string ("it's<b>&amp;"));
}

/* A pad cannot be requested while the element runs; a released one gives no boxes. */
static void
is_requested_before_the_start (void)
{
  GstElement *element;
  GstPad *pad;
  g_auto (Replay) r = { 0 };

  replay_open (&r, "pad", "");
  element = r.h->element;
  pad = gst_element_get_static_pad (element, "boxes");
  replay_play (&r, "+0 0:1");
  gst_element_release_request_pad (element, pad);
  gst_object_unref (pad);
  replay_play (&r, "1:-");
  g_assert_null (gst_element_request_pad_simple (element, "boxes"));
  gst_element_set_state (element, GST_STATE_READY);
  pad = gst_element_request_pad_simple (element, "boxes");
  g_assert_nonnull (pad);
  gst_object_unref (pad);
}

static const TestCase cases[] = { TEST_ROWS ("/%s", replay_row, rows), CASE (holds_so_many_lines),
  CASE (reads_what_a_demuxer_escaped), CASE (is_requested_before_the_start), { NULL } };

GST_TEST_PROGRAM (cases);
