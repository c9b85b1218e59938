/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxreplay: recordings that are written while they are replayed, and detectors that are
 * slower than the video. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gstrunner.h"
#include "replaying.h"
#include "textfiles.h"

static void
append_text (const gchar *path, const gchar *text, gssize length)
{
  FILE *file = fopen (path, "a");
  gsize size = length < 0 ? strlen (text) : (gsize) length;

  g_assert_nonnull (file);
  g_assert_cmpuint (fwrite (text, 1, size, file), ==, size);
  g_assert_cmpint (fclose (file), ==, 0);
}

/* ------------------------------------------------------------- unfinished lines */

static void
an_unfinished_line_is_a_warning (void)
{
  static const gchar *const properties[] = { "", "on-error=skip", "match=index" };

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    for (guint cut = 2; cut < 50; cut += 20) {
      g_autofree gchar *text = replay_records ("0 1");
      g_auto (Replay) r = { 0 };

      text[strlen (text) - cut] = '\0';
      replay_open (&r, text, properties[i]);
      replay_play (&r, "0:1 1:- 2:- eos");
      replay_must_say (&r, GST_MESSAGE_WARNING, ":2: ");
      replay_play (&r, "skipped=1 matched=1");
    }
  }
}

static void
unfinished_mot_text_is_a_warning (void)
{
  Replay r;

  replay_open (&r, "1,1,2,3,4,5,1,-1,-1,-1\n2,1,2", "");
  replay_play (&r, "0:1 1:-");
  replay_must_say (&r, GST_MESSAGE_WARNING, ":2: 3 columns");
  replay_close (&r);
  /* text that cannot be the beginning of a record is an error */
  replay_check_error ("1,1,2,3,4,5,1,-1,-1,-1\n2,1,x", "", ":2: ");
}

/* -------------------------------------------------------------------- following */

#define LINES 12

/* Appends lines in halves. */
static gpointer
write_slowly (gpointer path)
{
  for (guint i = 1; i < LINES; i++) {
    g_autofree gchar *line = replay_line (i * FRAME, i + 1);
    gsize half = strlen (line) / 2;

    append_text (path, line, half);
    g_usleep (2000);
    append_text (path, line + half, -1);
  }
  return NULL;
}

static void
follow_waits_for_lines (void)
{
  GThread *writer;
  g_auto (Replay) r = { 0 };

  replay_open_records (&r, "0", "follow=true");
  g_assert_cmpint (replay_x_at (&r, 0), ==, 1);
  writer = g_thread_new ("writer", write_slowly, r.path);
  for (gint i = 1; i < LINES; i++)
    g_assert_cmpint (replay_x_at (&r, i * FRAME), ==, i + 1);
  g_thread_join (writer);
  /* seeks do not wait for lines that are not written yet */
  replay_play (&r, "seek-3 3:4");
  /* the end of the stream does not wait for them either */
  replay_play (&r, "eos unmatched=0 quiet");
}

static gpointer
push_second (gpointer data)
{
  return GINT_TO_POINTER (gst_harness_push (data, replay_buffer (FRAME)));
}

/* Neither a silent pipe nor a file that does not grow blocks a flush or a state change. */
static void
waiting_is_interrupted (void)
{
  for (guint i = 0; i < 4; i++) {
    GThread *thread;
    int fd = -1;
    Replay r;

    if (i < 2)
      fd = replay_open_pipe (&r, "");
    else
      replay_open_records (&r, "0", "follow=true");
    thread = g_thread_new ("push", push_second, r.h);
    g_usleep (50000);
    if (i % 2 == 0)
      gst_harness_push_event (r.h, gst_event_new_flush_start ());
    else
      gst_element_set_state (r.h->element, GST_STATE_NULL);
    g_assert_cmpint (GPOINTER_TO_INT (g_thread_join (thread)), ==, GST_FLOW_FLUSHING);
    g_assert_null (gst_bus_pop_filtered (r.bus, GST_MESSAGE_ERROR));
    replay_close_pipe (&r, fd);
  }
}

/* Appends the records from..to-1, each at its number of frames and with x one higher. */
static void
append_records (const gchar *path, guint from, guint to)
{
  for (; from < to; from++) {
    g_autofree gchar *line = replay_line (from * FRAME, from + 1);

    append_text (path, line, -1);
  }
}

/* A file that was moved away is read to its end, without a line that it does not finish, and then
 * the new file at its path. */
static void
follow_goes_on_in_a_new_file (void)
{
  static const gchar *const properties[] = { "follow=true", "follow=true match=index" };
  g_autofree gchar *old = text_file_path ("followed.1");

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    g_auto (Replay) r = { 0 };

    replay_open_records (&r, "0", properties[i]);
    g_assert_cmpint (replay_x_at (&r, 0), ==, 1);
    for (guint k = 0; k < 2; k++) {
      g_assert_cmpint (rename (r.path, old), ==, 0);
      append_records (r.path, 3 + 4 * k, 5 + 4 * k);
      append_records (old, 1 + 4 * k, 3 + 4 * k);
      append_text (old, "{\"timestamp\":", -1);
      g_assert_cmpint (replay_x_at (&r, (1 + 4 * k) * FRAME), ==, 2 + 4 * k);
      g_assert_cmpint (replay_x_at (&r, (2 + 4 * k) * FRAME), ==, 3 + 4 * k);
      g_assert_cmpint (replay_x_at (&r, (3 + 4 * k) * FRAME), ==, 4 + 4 * k);
      g_assert_cmpint (replay_x_at (&r, (4 + 4 * k) * FRAME), ==, 5 + 4 * k);
    }
    /* a seek finds the records of the new file only */
    replay_play (&r, "seek-5 5:- 6:- 7:8 8:9 quiet");
  }
}

static void
follow_goes_on_in_a_file_cut_off (void)
{
  g_autofree gchar *line = replay_line (3 * FRAME, 4);
  g_auto (Replay) r = { 0 };

  replay_open_records (&r, "0", "follow=true");
  append_records (r.path, 1, 2);
  replay_play (&r, "0:1 1:2");
  g_assert_cmpint (truncate (r.path, 0), ==, 0);
  append_records (r.path, 2, 3);
  g_assert_cmpint (replay_x_at (&r, 2 * FRAME), ==, 3);
  /* messages count the lines of the new contents */
  append_text (r.path, line, -1);
  append_text (r.path, "x\n", -1);
  g_assert_cmpint (replay_x_at (&r, 3 * FRAME), ==, 4);
  g_assert_cmpint (gst_harness_push (r.h, replay_buffer (4 * FRAME)), ==, GST_FLOW_ERROR);
  replay_must_say (&r, GST_MESSAGE_ERROR, ":3: the line is not a JSON object");
}

/* Without a file at the path, or with an empty one, the stream waits. */
static void
follow_waits_for_a_new_file (void)
{
  g_auto (Replay) r = { 0 };

  replay_open_records (&r, "0", "follow=true boxes-timeout=20000000");
  g_assert_cmpint (replay_x_at (&r, 0), ==, 1);
  g_assert_cmpint (unlink (r.path), ==, 0);
  g_assert_cmpint (replay_x_at (&r, FRAME), ==, -1);
  append_text (r.path, "", 0);
  g_assert_cmpint (replay_x_at (&r, 2 * FRAME), ==, -1);
  append_records (r.path, 3, 4);
  g_assert_cmpint (replay_x_at (&r, 3 * FRAME), ==, 4);
}

/* A stream that waits for lines posts one warning. */
static void
waiting_is_a_warning (void)
{
  for (guint i = 0; i < 2; i++) {
    int fd = -1;
    Replay r;

    if (i == 0)
      fd = replay_open_pipe (&r, "");
    else
      replay_open (&r, "", "follow=true");
    for (guint k = 0; k < 2; k++) {
      GThread *thread = g_thread_new ("push", push_second, r.h);

      g_usleep (1300000);
      replay_play (&r, "seek-0");
      g_assert_cmpint (GPOINTER_TO_INT (g_thread_join (thread)), ==, GST_FLOW_FLUSHING);
    }
    replay_must_say (&r, GST_MESSAGE_WARNING, "has had no line for 1 s");
    replay_close_pipe (&r, fd);
  }
}

/* ---------------------------------------------------------------------- holding */

static void
hold_fills_the_frames_between (void)
{
  replay_check ("0 2 4 9", "hold=200000000",
      "0:1 1:1 2:2 3:2 4:3 5:3 6:3 7:- 8:- 9:4 10:4 11:4 12:- eos matched=4 held=6 unmatched=0");
  /* without `hold`, every other frame has no boxes */
  replay_check ("0 2 4 9", "", "0:1 1:- 2:2 3:- 4:3 held=0");
}

/* A record without boxes is held instead of the record before it. */
static void
hold_ends_at_an_empty_record (void)
{
  replay_check ("{\"timestamp\":0,\"objects\":[{\"x\":1,\"y\":0,\"w\":4,\"h\":4}]}\n"
                "{\"timestamp\":200000000,\"objects\":[]}\n",
      "hold=1000000000", "0:1 1:1 2:- 3:- held=2");
}

/* After a seek, and in reverse, the record that was shown at that time is shown again. */
static void
hold_follows_seeks (void)
{
  g_auto (Replay) r = { 0 };

  replay_open_records (&r, "0 3 6", "hold=1000000000");
  replay_play (&r, "0:1 seek-5 5:2 seek-1 1:1 flush");
  replay_reverse (&r, 9 * FRAME);
  replay_play (&r, "8:3 7:3 6:3 5:2 4:2 3:2 2:1 1:1 0:1");
}

/* The index of suppressed-by does not grow with each frame. */
static void
held_boxes_are_unchanged (void)
{
  gint by;
  g_auto (Replay) r = { 0 };

  replay_open (&r,
      "{\"timestamp\":0,\"objects\":[{\"x\":1,\"y\":0,\"w\":4,\"h\":4},{\"x\":2,"
      "\"y\":0,\"w\":4,\"h\":4,\"nms\":{\"state\":\"suppressed\",\"suppressed-by\":0}}]}\n",
      "hold=1000000000 meta=roi");
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GstBuffer) buffer = replay_buffer (i * FRAME);

    gst_buffer_add_video_region_of_interest_meta (buffer, "old", 9, 9, 1, 1);
    buffer = gst_harness_push_and_pull (r.h, buffer);
    g_assert_cmpint (replay_count (buffer), ==, 3);
    g_assert_true (
        gst_structure_get_int (gst_video_region_of_interest_meta_get_param (replay_box (buffer, 2),
                                   "nms"),
            "suppressed-by", &by));
    g_assert_cmpint (by, ==, 1);
  }
}

/* ------------------------------------------------------------------------ pipes */

/* A record that is written just before its frame is used without waiting for the next one,
 * although times are rounded. */
static void
a_pipe_adds_no_latency (void)
{
  static const gint off[] = { 0, -1, -1000000, 1, 1000000 };

  for (guint i = 0; i < G_N_ELEMENTS (off); i++) {
    Replay r;
    int fd = replay_open_pipe (&r, "");

    for (guint k = 1; k <= 3; k++) {
      g_autofree gchar *line = replay_line (k * FRAME + off[i], k);

      g_assert_cmpint (write (fd, line, strlen (line)), ==, (int) strlen (line));
      /* waits for ever if the record of the next frame is needed */
      g_assert_cmpint (replay_x_at (&r, k * FRAME), ==, k);
    }
    replay_close_pipe (&r, fd);
  }
}

static void
write_line (int fd, guint frame)
{
  g_autofree gchar *line = replay_line (frame * FRAME, frame);

  g_assert_cmpint (write (fd, line, strlen (line)), ==, (int) strlen (line));
}

/* A writer that leaves frames out delays them by boxes-timeout, not until its next record. */
static void
a_pipe_is_waited_for_no_longer_than_told (void)
{
  static const gchar *const ways[] = { "", "match=index" };
  gint64 start;
  Replay r;

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    g_autofree gchar *properties = g_strconcat ("boxes-timeout=50000000 ", ways[i], NULL);
    int fd = replay_open_pipe (&r, properties);

    start = g_get_monotonic_time ();
    g_assert_cmpint (replay_x_at (&r, 0), ==, -1); /* before the first line */
    g_assert_true (g_get_monotonic_time () - start >= 50000);
    if (i == 1)
      write_line (fd, 0);
    write_line (fd, 1);
    replay_play (&r, "1:1 2:-");
    if (i == 1) {
      write_line (fd, 2);
      write_line (fd, 3);
    }
    write_line (fd, 4);
    g_assert_cmpint (replay_x_at (&r, 3 * FRAME), ==, i == 1 ? 3 : -1);
    g_assert_cmpint (replay_x_at (&r, 4 * FRAME), ==, 4);
    g_assert_cmpuint (stat_of (r.h->element, "matched"), ==, i == 1 ? 3 : 2);
    replay_close_pipe (&r, fd);
  }
}

/* The wait is part of the latency, unless it has no limit or a file is read. */
static void
latency_includes_the_wait (void)
{
  GstMessage *message;
  g_auto (Replay) r = { 0 };
  int fd = replay_open_pipe (&r, "");

  gst_harness_set_upstream_latency (r.h, 7 * GST_MSECOND);
  g_assert_cmpuint (gst_harness_query_latency (r.h), ==, 7 * GST_MSECOND);
  g_object_set (r.h->element, "boxes-timeout", 50 * GST_MSECOND, NULL);
  message = gst_bus_pop_filtered (r.bus, GST_MESSAGE_LATENCY);
  g_assert_nonnull (message);
  gst_message_unref (message);
  g_assert_cmpuint (gst_harness_query_latency (r.h), ==, 57 * GST_MSECOND);
  replay_close_pipe (&r, fd);

  replay_open_records (&r, "0", "boxes-timeout=50000000");
  gst_harness_set_upstream_latency (r.h, 7 * GST_MSECOND);
  g_assert_cmpuint (gst_harness_query_latency (r.h), ==, 7 * GST_MSECOND);
}

static void
stats_notify_at_the_end (void)
{
  gint count = 0;
  g_auto (Replay) r = { 0 };

  replay_open_records (&r, "0", "");
  g_signal_connect (r.h->element, "notify::stats", G_CALLBACK (count_notification), &count);
  replay_x_at (&r, 0);
  g_assert_cmpint (count, ==, 0);
  g_assert_true (gst_harness_push_event (r.h, gst_event_new_eos ()));
  g_assert_cmpint (count, ==, 1);
}

/* Two replays of one pipe would each get a part of its lines; two of one file do not. */
static void
a_pipe_has_one_replay (void)
{
  g_auto (Replay) one = { 0 }, two = { 0 };
  int fd = replay_open_pipe (&one, "");
  g_autofree gchar *path = g_strdup (one.path);
  GstElement *other = gst_element_factory_make ("boxreplay", NULL);

  replay_must_refuse ("e reads this file, so second cannot", "boxreplay name=second location=%s",
      path);
  /* the claim ends in the state READY */
  gst_element_set_state (one.h->element, GST_STATE_READY);
  g_object_set (other, "location", path, NULL);
  g_assert_true (gst_element_set_state (other, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (other, GST_STATE_NULL);
  gst_object_unref (other);
  replay_close_pipe (&one, fd);
  replay_open_records (&one, "0", "");
  replay_open_records (&two, "0", ""); /* a second boxreplay of the same file */
  g_assert_cmpint (replay_x_at (&one, 0), ==, 1);
  g_assert_cmpint (replay_x_at (&two, 0), ==, 1);
}

static const TestCase cases[] = { CASE (an_unfinished_line_is_a_warning),
  CASE (unfinished_mot_text_is_a_warning), CASE (follow_waits_for_lines),
  CASE (waiting_is_interrupted), CASE (follow_goes_on_in_a_new_file),
  CASE (follow_goes_on_in_a_file_cut_off), CASE (follow_waits_for_a_new_file),
  CASE (waiting_is_a_warning), CASE (hold_fills_the_frames_between),
  CASE (hold_ends_at_an_empty_record), CASE (hold_follows_seeks), CASE (held_boxes_are_unchanged),
  CASE (a_pipe_adds_no_latency), CASE (a_pipe_is_waited_for_no_longer_than_told),
  CASE (latency_includes_the_wait), CASE (stats_notify_at_the_end), CASE (a_pipe_has_one_replay),
  { NULL } };

GST_TEST_PROGRAM (cases);
