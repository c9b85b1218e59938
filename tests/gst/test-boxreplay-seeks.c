/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxreplay: jumps in long recordings, which an index makes cheap. */
#include <string.h>

#include "gstrunner.h"
#include "replaying.h"
#include "sanitized.h"
#include "textfiles.h"

#define COUNT 1000

/* Appends a line of about `size` bytes whose only box has x = i % 12 + 1. */
static void
append_line (GString *text, guint i, guint size, const gchar *member)
{
  gsize start = text->len;

  g_string_append_printf (text,
      "{\"timestamp\":%" G_GUINT64_FORMAT ",\"objects\":[{\"x\":%u,"
      "\"y\":0,\"w\":4,\"h\":4}]",
      i * FRAME, i % 12 + 1);
  while (text->len - start + 2 < size)
    g_string_append_c (text, ' ');
  g_string_append_printf (text, "%s}\n", member);
}

static gchar *
json_lines (guint count, guint size)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < count; i++)
    append_line (text, i, size, "");
  return g_string_free (text, FALSE);
}

/* Frames with one to three boxes; every seventh frame has none and no lines. */
static gchar *
mot_lines (guint count)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < count; i++)
    for (guint k = 0; i % 7 != 6 && k <= i % 3; k++)
      g_string_append_printf (text, "%u,-1,%u,1,4,4,-1,-1,-1,-1\n", i + 1, i % 12 + 2);
  return g_string_free (text, FALSE);
}

static void
seek_to (Replay *r, guint i)
{
  push_flush (r->h);
  push_segment (r->h, i * FRAME, i * FRAME);
}

static gint
expected_x (guint i, gboolean mot)
{
  return i >= COUNT || (mot && i % 7 == 6) ? -1 : (gint) (i % 12) + 1;
}

/* Seeks to places in random order, in both formats, by time and by index. */
static void
every_seek_finds_its_record (void)
{
  static const gchar *const properties[] = { "match=timestamp", "match=index", "match=index" };
  guint at = 1;

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    gboolean mot = i == 2;
    g_autofree gchar *text = mot ? mot_lines (COUNT) : json_lines (COUNT, 300);
    g_auto (Replay) r = { 0 };

    replay_open (&r, text, properties[i]);
    g_assert_cmpint (replay_x_at (&r, 0), ==, 1);
    for (guint k = 0; k < 200; k++) {
      at = at * 48271 % 0x7fffffff;
      seek_to (&r, at % (COUNT + 9));
      g_assert_cmpint (replay_x_at (&r, at % (COUNT + 9) * FRAME), ==,
          expected_x (at % (COUNT + 9), mot));
      g_assert_cmpint (replay_x_at (&r, (at % (COUNT + 9) + 1) * FRAME), ==,
          expected_x (at % (COUNT + 9) + 1, mot));
    }
    g_assert_null (gst_bus_pop_filtered (r.bus, GST_MESSAGE_ERROR));
  }
}

static void
reverse_finds_every_record (void)
{
  for (guint i = 0; i < 3; i++) {
    gboolean mot = i == 2;
    g_autofree gchar *text = mot ? mot_lines (COUNT) : json_lines (COUNT, 300);
    g_auto (Replay) r = { 0 };

    replay_open (&r, text, i == 0 ? "match=timestamp" : "match=index");
    replay_reverse (&r, COUNT * FRAME);
    for (guint k = COUNT; k-- > 0;)
      g_assert_cmpint (replay_x_at (&r, k * FRAME), ==, expected_x (k, mot));
    /* records played in reverse were all used */
    replay_play (&r, "eos unmatched=0");
    g_assert_cmpuint (stat_of (r.h->element, "matched"), ==, mot ? COUNT - COUNT / 7 : COUNT);
  }
}

/* Errors after a seek name the right line. */
static void
lines_are_counted_across_seeks (void)
{
  g_autofree gchar *lines = json_lines (COUNT, 300);
  g_autofree gchar *text = g_strconcat ("\n", lines,
      "{\"timestamp\":100000000000,\"objects\":[{}]}\n", NULL);
  g_autofree gchar *says = g_strdup_printf (":%u: objects[0] has neither", COUNT + 2);
  g_auto (Replay) r = { 0 };

  replay_open (&r, text, "");
  g_assert_cmpint (replay_x_at (&r, 0), ==, 1);
  seek_to (&r, COUNT - 1);
  g_assert_cmpint (replay_x_at (&r, (COUNT - 1) * FRAME), ==, expected_x (COUNT - 1, FALSE));
  g_assert_cmpint (gst_harness_push (r.h, replay_buffer (COUNT * FRAME)), ==, GST_FLOW_ERROR);
  replay_must_say (&r, GST_MESSAGE_ERROR, says);
}

/* Frames that a line states as dropped count for the index. */
static void
dropped_frames_keep_the_index (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (Replay) r = { 0 };

  for (guint i = 0; i < COUNT; i += 2)
    append_line (text, i, 300, i > 0 ? ",\"dropped\":1" : "");
  replay_open (&r, text->str, "match=index");
  replay_play (&r, "0:1 1:- 2:3");
  for (guint i = COUNT - 10; i > 100; i -= 97) {
    seek_to (&r, i);
    g_assert_cmpint (replay_x_at (&r, i * FRAME), ==, i % 2 ? -1 : expected_x (i, FALSE));
    g_assert_cmpint (replay_x_at (&r, (i + 1) * FRAME), ==, i % 2 ? expected_x (i + 1, FALSE) : -1);
  }
}

/* Returns the number of bytes that this process has read so far, or 0 if the system does
 * not tell. */
static guint64
bytes_read (void)
{
  g_autofree gchar *text = NULL;
  gchar *line;
  guint64 bytes = 0;

  if (g_file_get_contents ("/proc/self/io", &text, NULL, NULL)
      && (line = strstr (text, "rchar:")) != NULL)
    bytes = g_ascii_strtoull (line + 6, NULL, 10);
  return bytes;
}

/* A buffer of reverse playback reads a part of the file that does not depend on its length. */
static void
reverse_reads_little (void)
{
  const guint count = SANITIZED ? 5000 : 50000;
  g_autofree gchar *text = json_lines (count, 300);
  guint64 before;
  g_auto (Replay) r = { 0 };

  replay_open (&r, text, "");
  replay_reverse (&r, count * FRAME);
  /* the first one reads the file once */
  g_assert_cmpint (replay_x_at (&r, (count - 1) * FRAME), ==, (count - 1) % 12 + 1);
  before = bytes_read ();
  if (before == 0)
    g_printerr ("bytes read: NOT TESTED, the system does not count them\n");
  for (guint k = 2; k <= 101; k++)
    g_assert_cmpint (replay_x_at (&r, (count - k) * FRAME), ==, (count - k) % 12 + 1);
  if (!(bytes_read () - before < 100 * 131072 + 65536))
    g_error ("%" G_GUINT64_FORMAT " bytes", bytes_read () - before);
}

/* A stream without a frame, as of a seek to the end, leaves open how records are matched. */
static void
an_empty_stream_decides_nothing (void)
{
  const gchar *lines = "{\"objects\":[{\"x\":5,\"y\":0,\"w\":4,\"h\":4}]}\n"
                       "{\"objects\":[{\"x\":6,\"y\":0,\"w\":4,\"h\":4}]}\n";
  g_autofree gchar *timed = json_lines (COUNT, 200);
  Replay r;

  replay_check (lines, "", "eos seek-0 0:5 1:6");

  replay_open (&r, timed, "");
  gst_harness_push_event (r.h, gst_event_new_eos ());
  for (guint i = 0; i < 3; i++) {
    push_flush (r.h);
    push_segment (r.h, 0, i * 400 * FRAME);
    for (guint k = 0; k < 100; k++)
      g_assert_cmpint (replay_x_at (&r, k * FRAME), ==, (i * 400 + k) % 12 + 1);
  }
  push_flush (r.h);
  push_segment (r.h, 0, 20 * FRAME);
  g_assert_cmpint (replay_x_at (&r, 0), ==, 20 % 12 + 1);
  replay_close (&r);
}

static const TestCase cases[] = { CASE (every_seek_finds_its_record),
  CASE (reverse_finds_every_record), CASE (lines_are_counted_across_seeks),
  CASE (dropped_frames_keep_the_index), CASE (reverse_reads_little),
  CASE (an_empty_stream_decides_nothing), { NULL } };

GST_TEST_PROGRAM (cases);
