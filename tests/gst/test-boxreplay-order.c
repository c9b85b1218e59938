/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxreplay: recordings of streams with seeks, reverse playback, several runs and reordered frames.
 * Of several records with one time the last one written counts. */

#include "gstrunner.h"
#include "replaying.h"
#include "textfiles.h"

/* One part of a stream: frames `from` to `to`, inclusive, forward or in reverse. */
typedef struct
{
  guint from, to;
} Part;

/* Begins a part with a flush and a segment, as a seek does. */
static void
begin_part (GstHarness *h, const Part *part)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  if (part->from <= part->to) {
    segment.start = segment.time = segment.position = part->from * FRAME;
  } else {
    segment.rate = -1;
    segment.stop = segment.position = (part->from + 1) * FRAME;
  }
  push_flush (h);
  g_assert_true (gst_harness_push_event (h, gst_event_new_segment (&segment)));
}

static guint
part_length (const Part *part)
{
  return ABS ((gint) part->to - (gint) part->from) + 1;
}

static guint
part_frame (const Part *part, guint i)
{
  return part->from <= part->to ? part->from + i : part->from - i;
}

/* Records the parts. The x of the box counts all buffers from 1. */
static void
record_parts (const gchar *path, const gchar *properties, const Part *parts, guint count, guint *x)
{
  g_autofree gchar *launch = g_strdup_printf ("boxrecord location=\"%s\" %s", path, properties);
  g_autoptr (GstHarness) h = gst_harness_new_parse (launch);

  gst_harness_set_src_caps_str (h, "application/x-anything");
  gst_harness_set_drop_buffers (h, TRUE);
  for (guint i = 0; i < count; i++) {
    begin_part (h, &parts[i]);
    for (guint k = 0; k < part_length (&parts[i]); k++) {
      GstBuffer *buffer = replay_buffer (part_frame (&parts[i], k) * FRAME);

      gst_buffer_add_video_region_of_interest_meta (buffer, "", ++*x, 0, 4, 4);
      g_assert_cmpint (gst_harness_push (h, buffer), ==, GST_FLOW_OK);
    }
  }
  g_assert_true (gst_harness_push_event (h, gst_event_new_eos ()));
}

/* Opens a replay of a file that exists. */
static void
open_path (Replay *r, const gchar *path, const gchar *properties)
{
  g_autofree gchar *contents = text_file_read (path);

  replay_open (r, contents, properties);
  gst_harness_set_src_caps_str (r->h, "application/x-anything");
}

/* Returns x of the record written last for a frame; -1: none. */
static gint
last_written (const Part *parts, guint count, guint frame)
{
  gint x = 0, last = -1;

  for (guint i = 0; i < count; i++)
    for (guint k = 0; k < part_length (&parts[i]); k++) {
      x++;
      if (part_frame (&parts[i], k) == frame)
        last = x;
    }
  return last;
}

/* Replayed with the same seeks, every frame gets the boxes that were recorded last for it. */
static void
the_same_seeks_give_the_same_boxes (void)
{
  static const Part parts[] = { { 0, 9 }, { 4, 8 }, { 20, 29 }, { 2, 6 }, { 9, 0 }, { 9, 3 },
    { 3, 12 }, { 0, 40 } };
  static const gchar *const by[] = { "match=timestamp", "match=auto" };
  const guint count = G_N_ELEMENTS (parts) - 1; /* without the last, which has all frames */
  guint x = 0;
  g_autofree gchar *path = text_file_path ("parts.jsonl");
  Replay r;

  record_parts (path, "", parts, count, &x);
  for (guint n = 0; n < G_N_ELEMENTS (by); n++) {
    open_path (&r, path, by[n]);
    for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
      begin_part (r.h, &parts[i]);
      for (guint k = 0; k < part_length (&parts[i]); k++) {
        const guint frame = part_frame (&parts[i], k);

        g_assert_cmpint (replay_x_at (&r, frame * FRAME), ==, last_written (parts, count, frame));
      }
    }
    g_assert_true (gst_harness_push_event (r.h, gst_event_new_eos ()));
    g_assert_cmpuint (stat_of (r.h->element, "matched"), ==, x + 23);
    g_assert_cmpuint (stat_of (r.h->element, "superseded"), ==, x - 23);
    replay_play (&r, "unmatched=0 quiet");
    replay_close (&r);
  }
}

/* What append=true recorded twice is replayed by time, with the later boxes, and by index. */
static void
appended_recordings_are_replayed (void)
{
  static const Part part = { 0, 9 };
  g_autofree gchar *path = text_file_path ("appended.jsonl");
  guint x = 0;
  Replay r;

  for (guint round = 0; round < 2; round++)
    record_parts (path, "append=true", &part, 1, &x);
  open_path (&r, path, "");
  for (guint round = 0; round < 2; round++) {
    for (guint i = 0; i < 12; i++)
      g_assert_cmpint (replay_x_at (&r, i * FRAME), ==, i < 10 ? (gint) i + 11 : -1);
    push_segment (r.h, 0, 0);
  }
  replay_play (&r, "superseded=10 unmatched=0");
  g_assert_null (gst_bus_pop_filtered (r.bus, GST_MESSAGE_ERROR));
  replay_close (&r);
  open_path (&r, path, "match=index");
  for (guint i = 0; i < 20; i++)
    g_assert_cmpint (replay_x_at (&r, i * FRAME), ==, i + 1);
  replay_close (&r);
}

/* A loop repeats each time of the recording once. */
static void
a_loop_repeats_the_last_boxes (void)
{
  static const Part parts[] = { { 0, 2 }, { 0, 1 } };
  g_autofree gchar *path = text_file_path ("loop.jsonl");
  guint x = 0;
  g_auto (Replay) r = { 0 };

  record_parts (path, "", parts, 2, &x);
  open_path (&r, path, "loop=true");
  for (guint i = 0; i < 9; i++)
    g_assert_cmpint (replay_x_at (&r, i * FRAME), ==, i % 3 == 2 ? 3 : (gint) (i % 3) + 4);
}

/* Members of recordings by older versions are passed over. */
static void
older_members_are_passed_over (void)
{
  replay_check (
      "{\"timestamp\":0,\"session\":5,\"reverse\":true,\"objects\":[{\"x\":1,\"y\":0,"
      "\"w\":4,\"h\":4}]}\n{\"timestamp\":100000000,\"session\":5,\"decoding-order\":true,"
      "\"objects\":[{\"x\":2,\"y\":0,\"w\":4,\"h\":4}]}\n",
      "", "0:1 1:2");
}

/* A file in any order gives each buffer its record, in any order of buffers. */
static void
a_file_in_decoding_order_is_sorted (void)
{
  static const gchar times[] = "0 4 2 1 3 8 6 5 7 9";

  replay_check (times, "", "0:1 4:2 2:3 1:4 3:5 8:6 6:7 5:8 7:9 9:10 matched=10 eos unmatched=0");
  replay_check (times, "", "0:1 1:4 2:3 3:5 4:2 5:8 6:7 7:9 8:6 9:10 matched=10 eos unmatched=0");
  replay_check (times, "match=index",
      "0:1 4:2 2:3 1:4 3:5 8:6 6:7 5:8 7:9 9:10 matched=10 eos unmatched=0");
}

/* 2,000 records in random order, each time twice, found in random order. */
static void
random_order_finds_every_record (void)
{
  enum
  {
    COUNT = 1000
  };
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  guint last[COUNT] = { 0 };
  g_auto (Replay) r = { 0 };

  for (guint i = 0; i < 2 * COUNT; i++) {
    guint frame = (guint) g_rand_int_range (rand, 0, COUNT);

    last[frame] = i + 1;
    g_string_append_printf (text,
        "{\"timestamp\":%" G_GUINT64_FORMAT ",\"resolution\":{\"width\":9000,\"height\":9000},"
        "\"objects\":[{\"x\":%u,\"y\":0,\"w\":4,\"h\":4}]}\n",
        frame * FRAME, i + 1);
  }
  replay_open (&r, text->str, "");
  gst_harness_set_src_caps_str (r.h, "application/x-anything,width=9000,height=9000");
  for (guint i = 0; i < 2 * COUNT; i++) {
    guint frame = (guint) g_rand_int_range (rand, 0, COUNT);

    g_assert_cmpint (replay_x_at (&r, frame * FRAME), ==, last[frame] ? (gint) last[frame] : -1);
  }
}

/* Two frames near one record both take it; a frame between two takes the nearer one, or the earlier
 * of two at one distance. */
static void
a_record_serves_every_near_frame (void)
{
  replay_check ("0 2 4", "tolerance=100000000", "0:1 1:1 1.25:2 2:2 3.5:3 5:3 5.25:- unmatched=0");
}

/* ---------------------------------------------------- frames that are not shown */

/* Pushes the frames from -3 on of a segment that begins at frame 10, and expects boxes from
 * frame 0 on only. */
static void
preroll_takes_nothing (const gchar *contents, const gchar *properties)
{
  g_auto (Replay) r = { 0 };

  replay_open (&r, contents, properties);
  push_segment (r.h, 10 * FRAME, 0);
  replay_play (&r, "7:- 8:- 9:- 10:1 11:2 12:3 13:4 14:5 matched=5 unmatched=0 frames=8");
}

static void
buffers_outside_the_segment_take_no_record (void)
{
  static const gchar hidden[] =
      "{\"outside-segment\":true,\"objects\":[{\"x\":9,\"y\":0,"
      "\"w\":4,\"h\":4}]}\n{\"timestamp\":0,\"outside-segment\":true,\"objects\":[]}\n";
  g_autofree gchar *plain = replay_records ("0 1 2 3 4");
  g_autofree gchar *marked = g_strconcat (hidden, plain, hidden, NULL);

  preroll_takes_nothing (plain, "");
  preroll_takes_nothing (plain, "match=index");
  /* frames of the recording outside of the segment are not attached */
  preroll_takes_nothing (marked, "");
  preroll_takes_nothing (marked, "match=index");
}

/* Lines of frames that are not shown do not count among the remaining records of a file. */
static void
marked_lines_are_not_unmatched (void)
{
  replay_check (
      "{\"timestamp\":0,\"objects\":[]}\n{\"timestamp\":100000000,"
      "\"objects\":[]}\n{\"timestamp\":200000000,\"outside-segment\":true,\"objects\":[]}\n"
      "{\"timestamp\":300000000,\"objects\":[]}\n",
      "", "0:- eos unmatched=2");
}

static const TestCase cases[] = { CASE (the_same_seeks_give_the_same_boxes),
  CASE (appended_recordings_are_replayed), CASE (a_loop_repeats_the_last_boxes),
  CASE (older_members_are_passed_over), CASE (a_file_in_decoding_order_is_sorted),
  CASE (random_order_finds_every_record), CASE (a_record_serves_every_near_frame),
  CASE (buffers_outside_the_segment_take_no_record), CASE (marked_lines_are_not_unmatched),
  { NULL } };

GST_TEST_PROGRAM (cases);
