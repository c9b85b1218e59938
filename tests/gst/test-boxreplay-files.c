/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxreplay: malformed files, pipes, states, recordings that are written while they are replayed,
 * and the pad boxes. */
#include <sys/stat.h>
#include <unistd.h>

#include "gstrunner.h"
#include "replaying.h"
#include "textfiles.h"

#define NO_SIZE \
  "{\"objects\":[{\"detection\":{\"bounding_box\":{\"x_min\":0,\"y_min\":0,\"x_max\":1," \
  "\"y_max\":1}}}]}\n" LINE ("", 2)
#define TIMEOUT "boxes-timeout=50000000"
#define WAITING \
  "1? waits-1300 seek-0 ?:!flushing 1? waits-1300 seek-0 ?:!flushing 1? ready ?:!flushing"
#define MOT_LINE "1,1,2,3,4,5,1,-1,-1,-1\n"

#define AROUND(bad) LINE ("\"timestamp\":0,", 1) bad "\n" LINE ("\"timestamp\":200000000,", 3)
#define HALF "{\"timestamp\":100000000,\"objects\":[{\"x\":"
#define UNFINISHED LINE ("\"timestamp\":0,", 1) HALF
#define ONE_IS_MATCHED "0:1 1:- 2:- eos skipped=1 matched=1"
#define REST ",\"y\":0,\"w\":4,\"h\":4}]}\n"

#define LINES 64 /* lines that the pad holds */
#define BAD_TEXT "pad boxes: text at 0:00:00.100000000: "
#define LONG LINE ("\"makes-the-line-longer-than-max-line\":true,", 1)

static const ReplayRow rows[] = {
  { "malformed_lines_name_file_and_line", "", AROUND ("1,2,3,4,5,6,7,8,9,10"), "0:!",
      ":2: the line is not a JSON object" },
  { "half_a_line_is_malformed", "", AROUND (HALF), "0:!", ":2: the line is not valid JSON" },
  { "malformed_lines_are_skipped", "on-error=skip", AROUND ("x"), "0:1 1:- 2:3 skipped=1",
      ":2: the line is not a JSON object" },
  { "half_a_line_is_skipped", "on-error=skip", AROUND (HALF), "0:1 1:- 2:3 skipped=1",
      ":2: the line is not valid JSON" },
  { "a_bad_line_counts_as_a_frame_of_the_index", "on-error=skip match=index", AROUND ("x"),
      "0:1 1:- 2:3", ":2: the line is not a JSON object" },
  { "the_format_is_told_or_refused", "on-error=skip", "\n  \nhello\n", "0:!",
      ":3: neither JSON Lines (which begins with '{') nor MOT" },
  { "an_empty_file_is_a_recording", "", "", "0:- eos" },
  { "the_format_is_as_set", "format=mot", "{\"objects\":[]}", "0:!", ":1: frame is not a number" },
  { "an_unfinished_line_is_a_warning", "", UNFINISHED, ONE_IS_MATCHED, ":2: " },
  { "an_unfinished_line_is_skipped", "on-error=skip", UNFINISHED, ONE_IS_MATCHED, ":2: " },
  { "an_unfinished_line_by_index", "match=index", UNFINISHED, ONE_IS_MATCHED, ":2: " },
  { "unfinished_mot_text_is_a_warning", "", MOT_LINE "2,1,2", "0:1 1:-", ":2: 3 columns" },
  { "no_beginning_of_mot_text_is_an_error", "", MOT_LINE "2,1,x", "0:!", ":2: " },
  { "boxes_without_any_frame_size", "", NO_SIZE, "bare 0:!",
      ":1: objects[0] has normalized coordinates only" },
  { "boxes_without_any_frame_size_are_skipped", "on-error=skip", NO_SIZE,
      "bare 0:- 1:2 skipped=1 matched=1", ":1: objects[0] has normalized coordinates only" },

  /* a pipe is read forward: seeks forward work, seeks back do not */
  { "a_fifo_streams", "", "|", "+0 +1 +2 +3 0:1 1:2 seek-3 3:4 seek-0 0:!",
      "cannot seek backward" },
  /* a record that is written just before its frame is used without waiting for the next one,
   * although times are rounded */
  { "a_pipe_adds_no_latency", "", "|", "+1 1:1 +2 2:2 +3 3:3" },
  { "a_pipe_adds_no_latency_1_ns_before", "", "|",
      "+0.99999999 1:1 +1.99999999 2:2 +2.99999999 3:3" },
  { "a_pipe_adds_no_latency_1_ms_before", "", "|", "+0.99 1:1 +1.99 2:2 +2.99 3:3" },
  { "a_pipe_adds_no_latency_1_ns_after", "", "|",
      "+1.00000001 1:1 +2.00000001 2:2 +3.00000001 3:3" },
  { "a_pipe_adds_no_latency_1_ms_after", "", "|", "+1.01 1:1 +2.01 2:2 +3.01 3:3" },
  /* a writer that leaves frames out delays them by boxes-timeout, not until its next record */
  { "a_pipe_is_waited_for_no_longer_than_told", TIMEOUT, "|",
      "0:- took-50 +1 1:1 2:- +4 3:- 4:2 matched=2" },
  { "a_pipe_is_waited_for_by_index", TIMEOUT " match=index", "|",
      "0:- took-50 +0 +1 1:2 2:- +2 +3 +4 3:4 4:5 matched=3" },

  /* a file that was moved away is read to its end, without a line that it does not finish, and then
   * the new file at its path */
  { "follow_goes_on_in_a_new_file", "follow=true", "0",
      "0:1 move +3 +4 <1 <2 <'" HALF " 1:4 2:5 3:2 4:3 move +7 +8 <5 <6 <'" HALF " 5:8 6:9 7:6 8:7 "
      "seek-5 5:- 6:- 7:6 8:7" },
  { "follow_goes_on_in_a_new_file_by_index", "follow=true match=index", "0",
      "0:1 move +3 +4 <1 <2 <'" HALF " 1:4 2:5 3:2 4:3" },
  /* messages count the lines of the new contents */
  { "follow_goes_on_in_a_file_cut_off", "follow=true", "0",
      "+1 0:1 1:2 truncate +2 2:3 +3 +'x\n 3:4 4:!", ":3: the line is not a JSON object" },
  /* neither a seek nor the end of the stream waits for lines that are not written yet */
  { "follow_waits_for_lines", "follow=true", "0",
      "0:1 1? +'" HALF " waits-30 +'2" REST " ?:2 +2 2:2 seek-1 1:2 eos unmatched=0" },
  /* without a file at the path, or with an empty one, the stream waits */
  { "follow_waits_for_a_new_file", "follow=true boxes-timeout=20000000", "0",
      "0:1 unlink 1:- +' 2:- +3 3:2" },
  /* neither a silent pipe nor a file that does not grow blocks a flush or a state change */
  { "a_silent_pipe_is_a_warning_and_is_interrupted", "", "|", WAITING, "has had no line for 1 s" },
  { "a_silent_file_is_a_warning_and_is_interrupted", "follow=true", "", WAITING,
      "has had no line for 1 s" },

  /* the pad boxes: text belongs to the frame of the same running time */
  { "pad_attaches_text_of_the_same_time", "", "pad",
      "+0 +1.49 +2.51 0:1 1:2 2:- 3:3 matched=3 boxes=3" },
  { "pad_drops_and_counts_text_without_a_frame", "", "pad",
      "+0 +1 +2 +5 2:3 eos unmatched=3 +6!eos" },
  { "pad_takes_a_gap_or_eos_for_no_boxes", "", "pad", "text-gap-0/2 0:- 1:- +2 2:1 text-eos 3:-" },
  /* matroskamux of GStreamer 1.28 stores a gap as text without content */
  { "pad_takes_empty_text_for_no_boxes", "", "pad",
      "+0' 0:- +1'\n 1:- +2'\t 2:- matched=0 skipped=0" },
  { "pad_waits_for_the_text", "", "pad", "1? +0 waits-30 +1 ?:2" },
  { "pad_waits_no_longer_than_told", "boxes-timeout=50000000", "pad", "0:- took-50 +0 +1 1:2" },
  /* text and video may have segments that begin at different times */
  { "pad_matches_by_running_time", "", "pad", "from-100 +1 101:1" },
  { "pad_a_flush_interrupts_the_wait", "", "pad", "1? seek-0 ?:!flushing +0 0:1" },
  { "pad_ready_interrupts_the_wait", "", "pad", "1? ready ?:!flushing" },
  { "pad_a_flush_of_the_pad_forgets_its_text", "", "pad", "+0 text-seek-0 +1 0:- 1:2" },
  { "pad_malformed_text_is_an_error", "", "pad", "+1'{ 1:!", BAD_TEXT },
  { "pad_unfinished_text_is_an_error", "", "pad", "+1'" HALF " 1:!", BAD_TEXT },
  { "pad_text_in_no_utf8_is_an_error", "", "pad", "+1'\xff\xff 1:!", BAD_TEXT },
  { "pad_an_array_is_an_error", "", "pad", "+1'[] 1:!", BAD_TEXT },
  { "pad_null_is_an_error", "", "pad", "+1'null 1:!", BAD_TEXT },
  { "pad_malformed_text_is_skipped", "on-error=skip max-line=80", "pad",
      "+1'{ 1:- +2'" HALF " 2:- +3'\xff\xff 3:- +4'[] 4:- +5'null 5:- +6'" LONG " 6:- +7 7:1 "
      "skipped=6",
      BAD_TEXT },
  { "pad_text_needs_times", "", "pad", "+-!error", "text with timestamps" },
  { NULL },
};

/* --------------------------------------------------------------- bad input */

static void
unusable_files_fail_at_start (void)
{
  static const gchar *const refused[][2] = {
    { "boxreplay", "set the property location" },
    { "boxreplay location=\"\"", "set the property location" },
    { "boxreplay location=/nonexistent/missing.jsonl", "missing.jsonl: No such file or directory" },
    { "boxreplay location=/", "Is a directory" },
  };
  g_autofree gchar *secret = text_file_new ("secret.jsonl", "", 0);
  g_autofree gchar *line = g_strconcat ("boxreplay location=", secret, NULL);

  expect_no_starts (refused, G_N_ELEMENTS (refused));
  g_assert_cmpint (chmod (secret, 0), ==, 0);
  if (access (secret, R_OK) == 0)
    g_printerr ("unreadable file: NOT TESTED as root, who may read all\n");
  else
    expect_no_starts (&(const gchar *const[2]) { line, "Permission denied" }, 1);
}

static void
long_lines_are_refused (void)
{
  static const gchar says[] = ":1: the line is longer than max-line (200000 bytes)";
  g_autofree gchar *blanks = g_strnfill (200000, ' ');
  g_autofree gchar *text = g_strconcat ("{\"timestamp\":0,\"objects\":[", blanks,
      "]}\n" LINE ("\"timestamp\":100000000,", 2), NULL);

  replay_row (&(ReplayRow) { "", "max-line=200000", text, "0:!", says });
  replay_row (
      &(ReplayRow) { "", "max-line=200000 on-error=skip", text, "0:- 1:2 skipped=1", says });
  replay_row (&(ReplayRow) { "", "max-line=200100", text, "0:- 1:2", NULL });
}

/* A label beyond the limit is left out and does not become a quark. The box stays. */
static void
labels_are_limited (void)
{
  static const gchar *const expected[] = { "limit-a", "limit-b", "", "limit-a", "person", "" };
  g_autofree gchar *longest = g_strnfill (4097, 'x');
  const gchar *names[] = { "limit-a", "limit-b", "limit-c", "limit-a", "person", longest };
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (Replay) r = { 0 };

  g_quark_from_static_string ("person"); /* known to the process */
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_string_append_printf (text,
        "{\"objects\":[{\"x\":1,\"y\":0,\"w\":4,\"h\":4,\"roi_type\":\"%s\"}]}\n", names[i]);
  replay_open (&r, text->str, "match=index max-labels=2 meta=roi");
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (GstBuffer) buffer = through (r.h, frame_new (i * FRAME));
    GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta (buffer);

    g_assert_cmpstr (g_quark_to_string (roi->roi_type), ==, expected[i]);
  }
  assert_stats (r.h->element, "labels-refused=2 boxes=6");
  g_assert_cmpint (g_quark_try_string ("limit-c"), ==, 0);
  g_assert_cmpint (g_quark_try_string (longest), ==, 0);
  steps_must_say (r.bus, GST_MESSAGE_WARNING, "without its label, because max-labels (2)", r.path);

  replay_row (&(ReplayRow) { "", "match=index max-labels=0", text->str,
      "0:1 1:1 2:1 3:1 4:1 5:1 labels-refused=0", NULL });
  g_assert_true (g_quark_try_string ("limit-c") != 0);
}

/* -------------------------------------------------------------------- states */

/* What is counted and warned of in one stream is not in the next one. */
static void
a_restart_warns_again (void)
{
  g_auto (Replay) r = { 0 };

  replay_open (&r, AROUND ("x"), "on-error=skip");
  for (guint i = 0; i < 2; i++) {
    replay_play (&r, "again 0:1 1:- 2:3 skipped=1 boxes=2");
    steps_must_say (r.bus, GST_MESSAGE_WARNING, ":2: the line is not a JSON object", r.path);
  }
}

/* Two replays of one pipe would each get a part of its lines. */
static void
a_pipe_has_one_replay (void)
{
  g_auto (Replay) one = { 0 };
  g_autoptr (GstElement) other = element_new ("boxreplay name=second");

  replay_open (&one, "|", "");
  g_object_set (other, "location", one.path, NULL);
  expect_no_start (other, "e reads this file, so second cannot");
  gst_element_set_state (other, GST_STATE_NULL);
  /* the claim ends in the state READY */
  gst_element_set_state (one.h->element, GST_STATE_READY);
  expect_start (other);
}

/* The wait is part of the latency, unless it has no limit or a file is read. */
static void
latency_includes_the_wait (void)
{
  static const struct
  {
    const gchar *contents, *properties;
    guint wait; /* ms */
  } waits[] = { { "|", "", 0 }, { "|", TIMEOUT, 50 }, { "pad", TIMEOUT, 50 }, { "0", TIMEOUT, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (waits); i++) {
    g_autoptr (GstMessage) message = NULL;
    g_auto (Replay) r = { 0 };

    replay_open (&r, waits[i].contents, waits[i].properties);
    gst_harness_set_upstream_latency (r.h, 7 * GST_MSECOND);
    g_assert_cmpuint (gst_harness_query_latency (r.h), ==, (7 + waits[i].wait) * GST_MSECOND);
    g_object_set (r.h->element, "boxes-timeout", 60 * GST_MSECOND, NULL);
    message = gst_bus_pop_filtered (r.bus, GST_MESSAGE_LATENCY);
    g_assert_nonnull (message);
    g_assert_cmpuint (gst_harness_query_latency (r.h), ==, (i == 3 ? 7 : 67) * GST_MSECOND);
  }
}

/* -------------------------------------------------------------------- the pad boxes */

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
the_pad_holds_so_many_lines (void)
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
the_pad_reads_what_a_demuxer_escaped (void)
{
  g_autoptr (GstBuffer) buffer = NULL;
  g_auto (Replay) r = { 0 };

  replay_open (&r, "pad", "meta=roi");
  replay_play (&r,
      "+0'{&quot;objects&quot;:[{&quot;x&quot;:1,&quot;y&quot;:2,&quot;w&quot;:3,&quot;h&quot;:4,"
      "&quot;roi_type&quot;:&quot;it&apos;s\\u003cb\\u003e\\u0026amp;&quot;}]}");
  buffer = through (r.h, frame_new (0));
  g_assert_cmpuint (gst_buffer_get_video_region_of_interest_meta (buffer)->roi_type, ==,
      g_quark_from_string ("it's<b>&amp;"));
}

/* A pad cannot be requested while the element runs; a released one gives no boxes. */
static void
the_pad_is_requested_before_the_start (void)
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

static const TestCase cases[] = { TEST_ROWS ("/%s", replay_row, rows),
  CASE (unusable_files_fail_at_start), CASE (long_lines_are_refused), CASE (labels_are_limited),
  CASE (a_restart_warns_again), CASE (a_pipe_has_one_replay), CASE (latency_includes_the_wait),
  CASE (the_pad_holds_so_many_lines), CASE (the_pad_reads_what_a_demuxer_escaped),
  CASE (the_pad_is_requested_before_the_start), { NULL } };

GST_TEST_PROGRAM (cases);
