/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxreplay: recordings of streams with seeks, reverse playback and several runs. */
#include <string.h>

#include "checkrunner.h"
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
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
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
  gchar *launch = g_strdup_printf ("boxrecord location=\"%s\" %s", path, properties);
  GstHarness *h = gst_harness_new_parse (launch);
  guint i, k;

  gst_harness_set_src_caps_str (h, "application/x-anything");
  gst_harness_set_drop_buffers (h, TRUE);
  for (i = 0; i < count; i++) {
    begin_part (h, &parts[i]);
    for (k = 0; k < part_length (&parts[i]); k++) {
      GstBuffer *buffer = replay_buffer (part_frame (&parts[i], k) * FRAME);

      gst_buffer_add_video_region_of_interest_meta (buffer, "", ++*x, 0, 4, 4);
      fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
    }
  }
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  gst_harness_teardown (h);
  g_free (launch);
}

/* Opens a replay of a file that exists. */
static void
open_path (Replay *r, const gchar *path, const gchar *properties)
{
  gchar *contents = text_file_read (path);

  replay_open (r, contents, properties);
  gst_harness_set_src_caps_str (r->h, "application/x-anything");
  g_free (contents);
}

/* Recorded and replayed with the same seeks, every buffer gets its own boxes. */
GST_START_TEST (the_same_seeks_give_the_same_boxes)
{
  static const Part parts[] = { { 0, 9 }, { 4, 8 }, { 20, 29 }, { 2, 6 }, { 9, 0 }, { 9, 3 },
    { 3, 12 }, { 0, 40 } };
  static const gchar *const by[] = { "match=timestamp", "match=auto" };
  guint i, k, n, x = 0;
  gchar *path = text_file_path ("parts.jsonl");
  Replay r;

  record_parts (path, "", parts, G_N_ELEMENTS (parts), &x);
  for (n = 0; n < G_N_ELEMENTS (by); n++) {
    open_path (&r, path, by[n]);
    for (i = 0, x = 0; i < G_N_ELEMENTS (parts); i++) {
      begin_part (r.h, &parts[i]);
      for (k = 0; k < part_length (&parts[i]); k++)
        fail_unless_equals_int (replay_x_at (&r, part_frame (&parts[i], k) * FRAME), ++x);
    }
    fail_unless (gst_harness_push_event (r.h, gst_event_new_eos ()));
    fail_unless_equals_uint64 (replay_stat (&r, "matched"), x);
    fail_unless_equals_uint64 (replay_stat (&r, "unmatched"), 0);
    fail_unless (gst_bus_pop_filtered (r.bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING) == NULL);
    replay_close (&r);
  }
  g_free (path);
}

GST_END_TEST;

/* What append=true recorded twice is replayed by time and by index. */
GST_START_TEST (appended_recordings_are_replayed)
{
  static const Part part = { 0, 9 };
  gchar *path = text_file_path ("appended.jsonl");
  guint i, round, x = 0;
  Replay r;

  for (round = 0; round < 2; round++)
    record_parts (path, "append=true", &part, 1, &x);
  /* a stream of 20 frames: the second session has no later times */
  open_path (&r, path, "");
  for (i = 0; i < 20; i++)
    fail_unless_equals_int (replay_x_at (&r, i * FRAME), i < 10 ? (gint) i + 1 : -1);
  fail_unless_equals_uint64 (replay_stat (&r, "unmatched"), 10);
  fail_unless (gst_bus_pop_filtered (r.bus, GST_MESSAGE_ERROR) == NULL);
  replay_close (&r);
  /* two streams, one after the other */
  open_path (&r, path, "");
  for (i = 0; i < 20; i++) {
    if (i == 10)
      replay_segment (&r, 0, 0);
    fail_unless_equals_int (replay_x_at (&r, i % 10 * FRAME), i + 1);
  }
  replay_close (&r);
  open_path (&r, path, "match=index");
  for (i = 0; i < 20; i++)
    fail_unless_equals_int (replay_x_at (&r, i * FRAME), i + 1);
  replay_close (&r);
  g_free (path);
}

GST_END_TEST;

/* A stream without seeks gets the boxes of the next session where one ends. */
GST_START_TEST (a_straight_stream_passes_sessions)
{
  static const Part parts[] = { { 0, 9 }, { 5, 14 } };
  gchar *path = text_file_path ("straight.jsonl");
  guint i, x = 0;
  Replay r;

  record_parts (path, "", parts, 2, &x);
  open_path (&r, path, "");
  for (i = 0; i < 15; i++)
    fail_unless_equals_int (replay_x_at (&r, i * FRAME), i < 10 ? i + 1 : i + 6);
  fail_unless_equals_uint64 (replay_stat (&r, "unmatched"), 5);
  replay_close (&r);
  g_free (path);
}

GST_END_TEST;

/* A session recorded in reverse serves a stream that plays forward, and vice versa. */
GST_START_TEST (direction_need_not_be_the_recorded_one)
{
  static const Part parts[] = { { 9, 0 }, { 0, 9 } };
  guint i, k;

  for (i = 0; i < 2; i++) {
    gchar *path = text_file_path ("direction.jsonl");
    guint x = 0;
    Replay r;

    record_parts (path, "", &parts[i], 1, &x);
    open_path (&r, path, "");
    begin_part (r.h, &parts[1 - i]);
    for (k = 0; k < 10; k++)
      fail_unless_equals_int (replay_x_at (&r, part_frame (&parts[1 - i], k) * FRAME), 10 - k);
    replay_close (&r);
    g_free (path);
  }
}

GST_END_TEST;

/* A part of a recording may begin in any session. */
GST_START_TEST (the_first_session_may_have_any_number)
{
  static const gchar text[] =
      "{\"timestamp\":0,\"session\":5,\"objects\":[{\"x\":1,\"y\":0,"
      "\"w\":4,\"h\":4}]}\n{\"timestamp\":100000000,\"session\":5,\"objects\":[{\"x\":2,"
      "\"y\":0,\"w\":4,\"h\":4}]}\n";
  guint loop;
  Replay r;

  for (loop = 0; loop < 2; loop++) {
    replay_open (&r, text, loop ? "loop=true" : "");
    fail_unless_equals_int (replay_x_at (&r, 0), 1);
    fail_unless_equals_int (replay_x_at (&r, FRAME), 2);
    fail_unless_equals_int (replay_x_at (&r, 2 * FRAME), loop ? 1 : -1);
    replay_close (&r);
  }
}

GST_END_TEST;

GST_START_TEST (a_loop_needs_one_session)
{
  static const Part parts[] = { { 0, 1 }, { 0, 1 } };
  gchar *path = text_file_path ("loop.jsonl");
  guint x = 0;
  Replay r;

  record_parts (path, "", parts, 2, &x);
  open_path (&r, path, "loop=true");
  fail_unless_equals_int (replay_x_at (&r, 0), 1);
  fail_unless_equals_int (replay_x_at (&r, FRAME), 2);
  fail_unless_equals_int (gst_harness_push (r.h, replay_buffer (2 * FRAME)), GST_FLOW_ERROR);
  replay_must_say (&r, GST_MESSAGE_ERROR, ":3: another session begins, but loop=true needs");
  replay_close (&r);
  g_free (path);
}

GST_END_TEST;

/* Buffers in decoding order, of which each finds its record in a file. */
GST_START_TEST (decoding_order_finds_every_record)
{
  static const guint order[] = { 0, 4, 2, 1, 3, 8, 6, 5, 7, 11 };
  static const gdouble times[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
  guint i;
  Replay r;

  replay_open_records (&r, times, 12, "");
  for (i = 0; i < G_N_ELEMENTS (order); i++)
    fail_unless_equals_int (replay_x_at (&r, order[i] * FRAME), order[i] + 1);
  fail_unless_equals_uint64 (replay_stat (&r, "matched"), G_N_ELEMENTS (order));
  fail_unless_equals_uint64 (replay_stat (&r, "unmatched"), 2);
  replay_close (&r);
}

GST_END_TEST;

/* Returns records in this order, marked as in decoding order from the second on, the i-th frame
 * with x = i % 12 + 1. Free it. */
static gchar *
records_in_decoding_order (const guint *order, guint count, const gchar *more)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < count; i++)
    g_string_append_printf (text,
        "{\"timestamp\":%" G_GUINT64_FORMAT ",%s%s\"objects\":[{"
        "\"x\":%u,\"y\":0,\"w\":4,\"h\":4}]}\n",
        order[i] * FRAME, more, i > 0 ? "\"decoding-order\":true," : "", order[i] % 12 + 1);
  return g_string_free (text, FALSE);
}

/* A file in decoding order gives each buffer its record, in any order of buffers, and so does a
 * second session of it. */
GST_START_TEST (a_file_in_decoding_order_is_sorted)
{
  static const guint order[] = { 0, 4, 2, 1, 3, 8, 6, 5, 7, 9 };
  const guint count = G_N_ELEMENTS (order);
  gchar *once = records_in_decoding_order (order, count, "");
  gchar *again = records_in_decoding_order (order, count, "\"session\":1,");
  gchar *text = g_strconcat (once, again, NULL);
  Replay r;

  for (guint way = 0; way < 3; way++) {
    replay_open (&r, text, way < 2 ? "" : "match=index");
    for (guint round = 0; round < 2; round++) {
      for (guint i = 0; i < count; i++) {
        guint frame = way == 1 ? i : order[i];

        fail_unless_equals_int (replay_x_at (&r, frame * FRAME), frame + 1);
      }
      if (way < 2 && round == 0)
        replay_segment (&r, 0, 0);
    }
    fail_unless_equals_uint64 (replay_stat (&r, "matched"), 2 * count);
    fail_unless (gst_harness_push_event (r.h, gst_event_new_eos ()));
    fail_unless_equals_uint64 (replay_stat (&r, "unmatched"), 0);
    replay_close (&r);
  }
  g_free (text);
  g_free (again);
  g_free (once);
}

GST_END_TEST;

/* EOS counts the records that were read for sorting. */
GST_START_TEST (sorted_records_are_counted_at_the_end)
{
  static const guint order[] = { 0, 4, 2, 1, 3, 8, 6, 5, 7, 9 };
  gchar *text = records_in_decoding_order (order, G_N_ELEMENTS (order), "");
  Replay r;

  replay_open (&r, text, "");
  fail_unless_equals_int (replay_x_at (&r, 0), 1);
  fail_unless_equals_int (replay_x_at (&r, FRAME), 2);
  fail_unless (gst_harness_push_event (r.h, gst_event_new_eos ()));
  fail_unless_equals_uint64 (replay_stat (&r, "unmatched"), G_N_ELEMENTS (order) - 2);
  replay_close (&r);
  g_free (text);
}

GST_END_TEST;

/* Frames are reordered by 16 at most; a file that is not marked is in order of time. */
GST_START_TEST (disorder_is_an_error)
{
  guint far[20] = { 100 };
  static const gchar bare[] = "{\"timestamp\":400000000,\"objects\":[]}\n"
                              "{\"timestamp\":0,\"objects\":[]}\n";
  gchar *text;
  Replay r;

  replay_open (&r, bare, "");
  fail_unless_equals_int (replay_x_at (&r, 4 * FRAME), -1);
  fail_unless_equals_int (gst_harness_push (r.h, replay_buffer (5 * FRAME)), GST_FLOW_ERROR);
  replay_must_say (&r, GST_MESSAGE_ERROR, ":2: timestamp 0 is before 400000000 of line 1");
  replay_close (&r);

  for (guint i = 1; i < G_N_ELEMENTS (far); i++)
    far[i] = i == 19 ? 50 : 100 + i;
  text = records_in_decoding_order (far, G_N_ELEMENTS (far), "");
  replay_open (&r, text, "");
  fail_unless_equals_int (replay_x_at (&r, 100 * FRAME), 5);
  fail_unless_equals_int (replay_x_at (&r, 102 * FRAME), 7);
  fail_unless_equals_int (gst_harness_push (r.h, replay_buffer (103 * FRAME)), GST_FLOW_ERROR);
  replay_must_say (&r, GST_MESSAGE_ERROR, ":20: timestamp 5000000000 is before");
  replay_close (&r);
  g_free (text);
}

GST_END_TEST;

/* ---------------------------------------------------- frames that are not shown */

/* Pushes the frames from -3 on of a segment that begins at frame 10, and expects boxes from
 * frame 0 on only. */
static void
preroll_takes_nothing (const gchar *contents, const gchar *properties)
{
  gint i;
  Replay r;

  replay_open (&r, contents, properties);
  replay_segment (&r, 10 * FRAME, 0);
  for (i = -3; i < 5; i++)
    fail_unless_equals_int (replay_x_at (&r, (10 + i) * FRAME), i < 0 ? -1 : i + 1);
  fail_unless_equals_uint64 (replay_stat (&r, "matched"), 5);
  fail_unless_equals_uint64 (replay_stat (&r, "unmatched"), 0);
  fail_unless_equals_uint64 (replay_stat (&r, "frames"), 8);
  replay_close (&r);
}

GST_START_TEST (buffers_outside_the_segment_take_no_record)
{
  static const gdouble times[] = { 0, 1, 2, 3, 4 };
  static const gchar hidden[] =
      "{\"outside-segment\":true,\"objects\":[{\"x\":9,\"y\":0,"
      "\"w\":4,\"h\":4}]}\n{\"timestamp\":0,\"outside-segment\":true,\"objects\":[]}\n";
  gchar *plain = replay_records (times, 5);
  gchar *marked = g_strconcat (hidden, plain, hidden, NULL);

  preroll_takes_nothing (plain, "");
  preroll_takes_nothing (plain, "match=index");
  /* frames of the recording outside of the segment are not attached */
  preroll_takes_nothing (marked, "");
  preroll_takes_nothing (marked, "match=index");
  g_free (marked);
  g_free (plain);
}

GST_END_TEST;

/* Lines of frames that are not shown do not count among the remaining records of a file. */
GST_START_TEST (marked_lines_are_not_unmatched)
{
  static const gchar text[] =
      "{\"timestamp\":0,\"objects\":[]}\n{\"timestamp\":100000000,"
      "\"objects\":[]}\n{\"timestamp\":200000000,\"outside-segment\":true,\"objects\":[]}\n"
      "{\"timestamp\":300000000,\"objects\":[]}\n";
  Replay r;

  replay_open (&r, text, "");
  replay_x_at (&r, 0);
  fail_unless (gst_harness_push_event (r.h, gst_event_new_eos ()));
  fail_unless_equals_uint64 (replay_stat (&r, "unmatched"), 2);
  replay_close (&r);
}

GST_END_TEST;

static const CheckCase cases[] = { CHECK_CASE (the_same_seeks_give_the_same_boxes),
  CHECK_CASE (appended_recordings_are_replayed), CHECK_CASE (a_straight_stream_passes_sessions),
  CHECK_CASE (direction_need_not_be_the_recorded_one),
  CHECK_CASE (the_first_session_may_have_any_number), CHECK_CASE (a_loop_needs_one_session),
  CHECK_CASE (decoding_order_finds_every_record), CHECK_CASE (a_file_in_decoding_order_is_sorted),
  CHECK_CASE (sorted_records_are_counted_at_the_end), CHECK_CASE (disorder_is_an_error),
  CHECK_CASE (buffers_outside_the_segment_take_no_record),
  CHECK_CASE (marked_lines_are_not_unmatched), { NULL } };

CHECK_PROGRAM (cases);
