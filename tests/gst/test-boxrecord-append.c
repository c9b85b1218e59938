/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxrecord: what append=true continues, and lines whose times do not ascend or that are of frames
 * outside of their segment. */
#include <gst/video/video.h>

#include "gstrunner.h"
#include "recorder.h"
#include "textfiles.h"

typedef enum
{
  RAW,
  WITH_DTS,
  DELTA_UNIT,
} Kind;

/* Pushes one buffer with a box at the time of frame `i`. */
static void
push (GstHarness *h, gint i, Kind kind)
{
  GstBuffer *buffer = gst_buffer_new ();

  GST_BUFFER_PTS (buffer) = i * FRAME;
  GST_BUFFER_DURATION (buffer) = FRAME;
  if (kind == WITH_DTS)
    GST_BUFFER_DTS (buffer) = 0;
  if (kind == DELTA_UNIT)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  gst_buffer_add_video_region_of_interest_meta (buffer, "", 1, 2, 3, 4);
  g_assert_cmpint (gst_harness_push (h, buffer), ==, GST_FLOW_OK);
}

static void
push_times (GstHarness *h, const gint *frames, guint count)
{
  for (guint i = 0; i < count; i++)
    push (h, frames[i], RAW);
}

#define PUSH(h, ...) \
  push_times (h, (const gint[]) { __VA_ARGS__ }, \
      sizeof ((const gint[]) { __VA_ARGS__ }) / sizeof (gint))

static void
new_segment (GstHarness *h, gdouble rate, guint64 start, guint64 stop)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = rate;
  segment.start = segment.time = start;
  segment.stop = stop;
  g_assert_true (gst_harness_push_event (h, gst_event_new_segment (&segment)));
}

/* Fails unless the file has these lines, each written as "<frame><members>" with
 * members of its header, "-" for a line without a timestamp. */
static void
must_hold (const gchar *path, const gchar *const *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree gchar *contents = text_file_read (path);

  for (; *expected; expected++) {
    gchar **parts = g_strsplit (*expected, " ", 2);

    g_string_append_c (text, '{');
    if (*parts[0] != '-')
      g_string_append_printf (text, "\"timestamp\":%" G_GUINT64_FORMAT ",",
          (guint64) (g_ascii_strtoull (parts[0], NULL, 10) * FRAME));
    g_string_append_printf (text,
        "%s\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,"
        "\"region_id\":0}]}\n",
        parts[1] ? parts[1] : "");
    g_strfreev (parts);
  }
  g_assert_cmpstr (contents, ==, text->str);
}

#define HOLDS(path, ...) must_hold (path, (const gchar *const[]) { __VA_ARGS__, NULL })

/* A last line longer than the block that is read first. */
static void
appending_reads_a_long_line (void)
{
  g_autoptr (GString) long_line = g_string_new ("{\"timestamp\":0,\"objects\":[");
  g_autofree gchar *path = NULL, *contents = NULL;
  GstHarness *h;

  for (guint i = 0; i < 20000; i++)
    g_string_append_printf (long_line, "%s{\"x\":1,\"y\":2,\"w\":3,\"h\":4}", i ? "," : "");
  g_string_append (long_line, "]}\n\n  \n");
  path = text_file_new ("long.jsonl", long_line->str, -1);
  h = recorder_new (NULL, path, "append=true");
  PUSH (h, 0);
  gst_harness_teardown (h);
  contents = text_file_read (path);
  g_assert_true (g_str_has_prefix (contents, long_line->str));
  g_assert_cmpstr (contents + long_line->len, ==,
      "{\"timestamp\":0,"
      "\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"region_id\":0}]}\n");
}

#define LINE "{\"timestamp\":0,\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"region_id\":0}]}\n"
#define MOT_LINE(number) number ",-1,2,3,3,4,-1,-1,-1,-1\n"

/* What a file has before and after a frame was appended. Half a record is removed, one that lacks
 * only its end of line is kept; frame numbers of MOT text go on, because it has no times. */
static void
appending_continues_after_the_last_record (void)
{
  static const struct
  {
    const gchar *format, *before, *after;
  } rows[] = {
    { "jsonl", "", LINE },
    { "jsonl", LINE, LINE LINE },
    { "jsonl", "{\"objects\":[]}", "{\"objects\":[]}\n" LINE },
    { "jsonl", "{\"objects\":[", LINE },
    { "jsonl", "{\"objects\":[]}\n{\"timestamp\":0,\"obj", "{\"objects\":[]}\n" LINE },
    { "mot", "", MOT_LINE ("1") },
    { "mot", MOT_LINE ("7"), MOT_LINE ("7") MOT_LINE ("8") },
    { "mot", MOT_LINE ("7") "8", MOT_LINE ("7") MOT_LINE ("8") },
    /* a line that was cut may have fewer columns than the line before */
    { "mot", MOT_LINE ("7") "8,-1,2,3,3,4,-1,-1,-1", MOT_LINE ("7") MOT_LINE ("8") },
    { "mot", MOT_LINE ("7") "8,-1,2,3,3,4,-1,-1,-1,-1",
        MOT_LINE ("7") MOT_LINE ("8") MOT_LINE ("9") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *path = text_file_new ("append.txt", rows[i].before, -1);
    g_autofree gchar *properties = g_strconcat ("append=true format=", rows[i].format, NULL);
    GstHarness *h = recorder_new (NULL, path, properties);

    PUSH (h, 0);
    gst_harness_teardown (h);
    text_file_must_be (path, rows[i].after);
  }
}

/* Seeks, reverse playback and frames in decoding order: lines have their times in the order of the
 * buffers. */
static void
lines_have_the_order_of_the_buffers (void)
{
  g_autofree gchar *path = text_file_path ("order.jsonl");
  GstHarness *h = recorder_new (NULL, path, "");

  PUSH (h, 0, 1, 2);
  push_flush (h);
  new_segment (h, 1, FRAME, GST_CLOCK_TIME_NONE);
  PUSH (h, 1);
  new_segment (h, -1, 0, 3 * FRAME);
  PUSH (h, 2, 1, 0);
  new_segment (h, 1, 0, GST_CLOCK_TIME_NONE);
  push (h, 0, WITH_DTS);
  push (h, 4, DELTA_UNIT);
  push (h, 2, DELTA_UNIT);
  gst_harness_teardown (h);
  HOLDS (path, "0", "1", "2", "1", "2", "1", "0", "0", "4", "2");
}

static void
frames_outside_of_the_segment_are_marked (void)
{
  g_autofree gchar *path = text_file_path ("outside.jsonl");
  GstHarness *h = recorder_new (NULL, path, "");
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = 5 * FRAME;
  segment.stop = 7 * FRAME;
  segment.time = FRAME;
  g_assert_true (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  PUSH (h, 3, 4, 5, 6, 7);
  gst_harness_teardown (h);
  HOLDS (path, "- \"outside-segment\":true,", "0 \"outside-segment\":true,", "1", "2",
      "3 \"outside-segment\":true,");
}

static void
mot_text_leaves_out_frames_outside_of_the_segment (void)
{
  g_autofree gchar *path = text_file_path ("outside.txt");
  GstHarness *h = recorder_new (NULL, path, "format=mot");

  new_segment (h, 1, 2 * FRAME, GST_CLOCK_TIME_NONE);
  PUSH (h, 0, 1, 2, 3);
  g_assert_cmpuint (stat_of (h->element, "frames"), ==, 2);
  gst_harness_teardown (h);
  text_file_must_be (path, "1,-1,2,3,3,4,-1,-1,-1,-1\n2,-1,2,3,3,4,-1,-1,-1,-1\n");
}

/* A buffer that begins before its segment and ends in it is shown, so it has a time. */
static void
a_frame_across_the_start_has_a_time (void)
{
  g_autofree gchar *path = text_file_path ("across.jsonl");
  GstHarness *h = recorder_new (NULL, path, "");

  push_segment (h, FRAME + FRAME / 2, 0);
  PUSH (h, 1);
  gst_harness_teardown (h);
  HOLDS (path, "0");
}

static const TestCase cases[] = { CASE (appending_reads_a_long_line),
  CASE (appending_continues_after_the_last_record), CASE (lines_have_the_order_of_the_buffers),
  CASE (frames_outside_of_the_segment_are_marked),
  CASE (mot_text_leaves_out_frames_outside_of_the_segment),
  CASE (a_frame_across_the_start_has_a_time), { NULL } };

GST_TEST_PROGRAM (cases);
