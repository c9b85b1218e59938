/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxreplay: malformed files, pipes, states, and recordings of any length. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gstrunner.h"
#include "replaying.h"
#include "sanitized.h"
#include "startrace.h"
#include "textfiles.h"

/* --------------------------------------------------------------- bad input */

static void
unusable_files_fail_at_start (void)
{
  gchar *path = text_file_path ("missing.jsonl");

  replay_must_refuse ("set the property location", "boxreplay");
  replay_must_refuse ("set the property location", "boxreplay location=\"\"");
  replay_must_refuse ("missing.jsonl: No such file or directory", "boxreplay location=%s", path);
  replay_must_refuse ("Is a directory", "boxreplay location=%s", g_get_tmp_dir ());
  g_free (path);
  path = text_file_new ("secret.jsonl", "", 0);
  g_assert_cmpint (chmod (path, 0), ==, 0);
  if (access (path, R_OK) < 0)
    replay_must_refuse ("Permission denied", "boxreplay location=%s", path);
  else
    g_printerr ("unreadable file: NOT TESTED as root, who may read all\n");
  g_free (path);
}

static void
malformed_lines_name_file_and_line (void)
{
  static const gchar good[] = "{\"timestamp\":0,\"objects\":[{\"x\":1,\"y\":0,\"w\":4,\"h\":4}]}\n";
  static const struct
  {
    const gchar *line, *says;
  } rows[] = {
    { "{\"timestamp\":100000000,\"objects\":[{\"x\":", ":2: the line is not valid JSON" },
    { "{\"timestamp\":100000000,\"objects\":[]}{}", ":2: something follows the object" },
    { "garbage", ":2: the line is not a JSON object" },
    { "{\"timestamp\":100000000}", ":2: objects is missing" },
    { "{\"timestamp\":9223372036854775808,\"objects\":[]}", ":2: timestamp is not an integer" },
    { "1,2,3,4,5,6,7,8,9,10", ":2: the line is not a JSON object" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *text = g_strconcat (good, rows[i].line,
        "\n{\"timestamp\":200000000,\"objects\":"
        "[{\"x\":3,\"y\":0,\"w\":4,\"h\":4}]}\n",
        NULL);
    Replay r;

    replay_check_error (text, "", rows[i].says);

    replay_open (&r, text, "on-error=skip");
    replay_play (&r, "0:1 1:- 2:3");
    replay_must_say (&r, GST_MESSAGE_WARNING, rows[i].says);
    g_assert_cmpuint (stat_of (r.h->element, "skipped"), ==, 1);
    replay_close (&r);

    /* a bad line counts as a frame of the index */
    replay_check (text, "on-error=skip match=index", "0:1 1:- 2:3");
  }
}

static void
the_format_is_told_or_refused (void)
{
  replay_check_error ("\n  \nhello\n", "on-error=skip",
      ":3: neither JSON Lines (which begins with '{') nor MOT");
  replay_check ("", "", "0:- eos quiet");
  replay_check_error ("{\"objects\":[]}", "format=mot", ":1: frame is not a number");
}

static void
long_lines_are_refused (void)
{
  g_autofree gchar *blanks = g_strnfill (200000, ' ');
  g_autofree gchar *text = g_strconcat ("{\"timestamp\":0,\"objects\":[", blanks,
      "]}\n"
      "{\"timestamp\":100000000,\"objects\":[{\"x\":2,\"y\":0,\"w\":4,\"h\":4}]}",
      NULL);

  replay_check_error (text, "max-line=200000",
      ":1: the line is longer than max-line (200000 bytes)");
  replay_check (text, "max-line=200000 on-error=skip", "0:- 1:2 skipped=1");
  replay_check (text, "max-line=200100", "0:- 1:2");
}

/* A label beyond the limit is left out and does not become a quark. The box stays. */
static void
labels_are_limited (void)
{
  static const gchar *const expected[] = { "limit-a", "limit-b", "", "limit-a", "person", "" };
  const gchar *names[] = { "limit-a", "limit-b", "limit-c", "limit-a", "person", NULL };
  g_autofree gchar *longest = g_strnfill (4097, 'x');
  g_autoptr (GString) text = g_string_new (NULL);
  Replay r;

  g_quark_from_static_string ("person"); /* known to the process */
  names[5] = longest;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_string_append_printf (text,
        "{\"objects\":[{\"x\":%u,\"y\":0,\"w\":4,\"h\":4,"
        "\"roi_type\":\"%s\"}]}\n",
        i, names[i]);
  replay_open (&r, text->str, "match=index max-labels=2");
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (GstBuffer) buffer = NULL;

    g_assert_cmpint (gst_harness_push (r.h, replay_buffer (i * FRAME)), ==, GST_FLOW_OK);
    buffer = gst_harness_pull (r.h);
    g_assert_cmpint (replay_count (buffer), ==, 1);
    g_assert_cmpint (replay_box (buffer, 0)->x, ==, i);
    g_assert_cmpstr (g_quark_to_string (replay_box (buffer, 0)->roi_type), ==, expected[i]);
  }
  g_assert_cmpuint (stat_of (r.h->element, "labels-refused"), ==, 2);
  g_assert_cmpint (g_quark_try_string ("limit-c"), ==, 0);
  g_assert_cmpint (g_quark_try_string (longest), ==, 0);
  replay_must_say (&r, GST_MESSAGE_WARNING, "without its label, because max-labels (2)");
  replay_close (&r);

  replay_open (&r, text->str, "match=index max-labels=0");
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_cmpint (replay_x_at (&r, i * FRAME), ==, i);
  g_assert_cmpuint (stat_of (r.h->element, "labels-refused"), ==, 0);
  g_assert_true (g_quark_try_string ("limit-c") != 0);
  replay_close (&r);
}

static void
boxes_without_any_frame_size (void)
{
  static const gchar text[] =
      "{\"objects\":[{\"detection\":{\"bounding_box\":{\"x_min\":0,"
      "\"y_min\":0,\"x_max\":1,\"y_max\":1}}}]}\n{\"objects\":[{\"x\":2,\"y\":0,\"w\":4,"
      "\"h\":4}]}\n";
  Replay r;

  replay_open (&r, text, "");
  gst_harness_set_src_caps_str (r.h, "application/x-anything");
  g_assert_cmpint (gst_harness_push (r.h, replay_buffer (0)), ==, GST_FLOW_ERROR);
  replay_must_say (&r, GST_MESSAGE_ERROR, ":1: objects[0] has normalized coordinates only");
  replay_close (&r);
  replay_open (&r, text, "on-error=skip");
  gst_harness_set_src_caps_str (r.h, "application/x-anything");
  replay_play (&r, "0:- 1:2 skipped=1 matched=1");
  replay_close (&r);
}

/* -------------------------------------------------------------- pipes, states */

/* A pipe is read forward: seeks forward work, seeks back do not. */
static void
a_fifo_streams (void)
{
  Replay r;
  int fd = replay_open_pipe (&r, "");

  for (guint i = 0; i < 4; i++) {
    g_autofree gchar *line = replay_line (i * FRAME, i + 1);

    g_assert_cmpint (write (fd, line, strlen (line)), ==, (int) strlen (line));
  }
  replay_play (&r, "0:1 1:2 seek-3 3:4 seek-0");
  g_assert_cmpint (gst_harness_push (r.h, replay_buffer (0)), ==, GST_FLOW_ERROR);
  replay_must_say (&r, GST_MESSAGE_ERROR, "cannot seek backward");
  replay_close_pipe (&r, fd);
}

static void
files_change_in_ready_only (void)
{
  gchar *location;
  g_auto (Replay) r = { 0 };

  replay_open_records (&r, "0", "");
  g_object_set (r.h->element, "location", "/elsewhere", NULL);
  g_object_get (r.h->element, "location", &location, NULL);
  g_assert_cmpstr (location, ==, r.path);
  g_free (location);
  g_free (replay_message (r.bus, GST_MESSAGE_WARNING));
  g_object_set (r.h->element, "tolerance", G_GUINT64_CONSTANT (5), "existing", 1, NULL);
  g_assert_null (gst_bus_pop_filtered (r.bus, GST_MESSAGE_WARNING));
}

static void
files_change_while_starting (void)
{
  start_race ("boxreplay");
}

/* A pipeline may play again: its recording is read again, and written anew. */
static void
states_may_repeat (void)
{
  g_autofree gchar *text = replay_records ("0 1 2"), *before = NULL;
  g_autofree gchar *path = text_file_new ("again.jsonl", text, -1),
                   *copy = text_file_path ("copy.jsonl");
  g_autofree gchar *launch =
      g_strdup_printf ("videotestsrc num-buffers=3 ! " CAPS
                       " ! boxreplay name=r location=%s ! boxrecord location=%s"
                       " ! fakesink",
          path, copy);
  g_autoptr (GstElement) pipeline = gst_parse_launch (launch, NULL);
  g_autoptr (GstElement) replay = gst_bin_get_by_name (GST_BIN (pipeline), "r");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  for (guint i = 0; i < 5; i++) {
    GstMessage *message;
    GstStructure *stats;
    guint64 matched;

    g_assert_false (
        gst_element_set_state (pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE);
    message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
    gst_message_unref (message);
    g_object_get (replay, "stats", &stats, NULL);
    g_assert_true (gst_structure_get_uint64 (stats, "matched", &matched));
    g_assert_cmpuint (matched, ==, 3);
    gst_structure_free (stats);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    if (before == NULL)
      before = text_file_read (copy);
    g_assert_nonnull (strstr (before, "200000000"));
    text_file_must_be (copy, before);
  }
}

static guint64
resident_kib (void)
{
  g_autofree gchar *text = NULL;
  gchar *line;
  guint64 kib = 0;

  g_assert_true (g_file_get_contents ("/proc/self/status", &text, NULL, NULL));
  if ((line = strstr (text, "VmRSS:")) != NULL)
    kib = g_ascii_strtoull (line + 6, NULL, 10);
  return kib;
}

/* A recording of any length is read in 16 bytes a line, or 32 while it is sorted. */
static void
long_recordings_take_little_memory (void)
{
  /* fewer with a sanitizer, which is slow and hides the memory in use */
  const guint lines = SANITIZED ? 30000 : 300000;
  gchar *path = text_file_path ("long.jsonl");
  FILE *file = fopen (path, "w");
  guint64 before = 0, after;
  g_autofree gchar *launch = NULL;
  g_auto (Replay) r = { 0 };

  g_assert_nonnull (file);
  for (guint i = 0; i < lines; i++)
    fprintf (file,
        "{\"timestamp\":%" G_GUINT64_FORMAT ",\"resolution\":{\"width\":16,"
        "\"height\":16},\"objects\":[{\"x\":%u,\"y\":2,\"w\":3,\"h\":4,\"roi_type\":\"person\","
        "\"region_id\":%u}]}\n",
        i * FRAME, i % 12 + 1, i);
  g_assert_cmpint (fclose (file), ==, 0);
  launch = g_strdup_printf ("boxreplay location=%s", path);
  r.path = path;
  r.h = harness_new_caps (launch, CAPS);
  gst_harness_set_drop_buffers (r.h, TRUE);
  for (guint i = 0; i < lines; i += 3) { /* some records are skipped */
    g_assert_cmpint (gst_harness_push (r.h, replay_buffer (i * FRAME)), ==, GST_FLOW_OK);
    if (i == lines / 10)
      before = resident_kib ();
  }
  after = resident_kib ();
  g_assert_cmpuint (stat_of (r.h->element, "matched"), ==, lines / 3);
  if (!(SANITIZED || after < before + 8192))
    g_error ("%" G_GUINT64_FORMAT " KiB, after %" G_GUINT64_FORMAT, before, after);
}

static const TestCase cases[] = { CASE (unusable_files_fail_at_start),
  CASE (malformed_lines_name_file_and_line), CASE (the_format_is_told_or_refused),
  CASE (long_lines_are_refused), CASE (labels_are_limited), CASE (boxes_without_any_frame_size),
  CASE (a_fifo_streams), CASE (files_change_in_ready_only), CASE (files_change_while_starting),
  CASE (states_may_repeat), CASE (long_recordings_take_little_memory), { NULL } };

GST_TEST_PROGRAM (cases);
