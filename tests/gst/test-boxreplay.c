/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxreplay: which record belongs to a buffer, in any order of records and of buffers. Of several
 * records with one time the last one written counts. */
#include "gstrunner.h"
#include "replaying.h"
#include "sanitized.h"

#define TEN "0..9"
#define PARTS "0..9 4..8 20..29 2..6 9..0 9..3 3..12" /* of a stream with seeks, partly reverse */
#define DECODED "0 4 2 1 3 8 6 5 7 9"                 /* in decoding order */
#define MOT "1,7,2,3,4,5,0.5,-1,-1,-1\n1,-1,5,5,5,5,-1,-1,-1,-1\n3,1,7,7,4.5,4,1,-1,-1,-1\n"
#define IGNORED \
  "1,1,2,3,4,5,0,1,1\n3,1,3,3,4,5,1,1,1\n" /* ground truth; the first box is ignored */
#define WITH_BAD_LINE LINE ("", 1) "x\n" LINE ("", 3)
#define SOME_TIMES "0 - 2"
/* number of frames in ten years, after which about 10^9 passes over a file have gone by */
#define LATE "3153600000"

static const ReplayRow rows[] = {
  { "byte_order_mark_and_crlf", "",
      "\xef\xbb\xbf\r\n{\"timestamp\":0,\"objects\":[{\"x\":3,\"y\":0,"
      "\"w\":0,\"h\":0}]}\r\n",
      "0:3 boxes=1" },
  /* frame 3 has no record: an empty frame */
  { "the_nearest_record_is_used_once", "", "0 1.01 1.98 4 5.4 5.6",
      "0:1 1:2 2:3 3:- 4:4 5:5 6:6 7:- matched=6 unmatched=0" },
  { "the_nearest_record_on_either_side", "", "0.6 0.9 1.2 1.45", "0:- 1:2 2:- unmatched=3" },
  { "a_record_serves_every_near_frame", "tolerance=100000000", "0 2 4",
      "0:1 1:1 1.25:2 2:2 3.5:3 5:3 5.25:- unmatched=0" },
  { "tolerance_bounds_the_search", "tolerance=29999999", "0.3 1.3", "0:-" },
  { "tolerance_includes_its_end", "tolerance=30000000", "0.3 1.3", "0:1 1:2" },
  { "tolerance_bounds_the_past", "tolerance=29999999", "0.7", "1:-" },
  { "tolerance_includes_its_begin", "tolerance=30000000", "0.7", "1:1" },
  { "tolerance_is_half_a_frame", "", "0.5", "0:1" },
  { "buffers_without_a_time_go_by_index", "", "0 1 2 3", "0:1 -:2 2:3 -:4 -:- matched=4" },
  { "records_without_a_time", "", "- n -o -", "5:1 9:- 10:3" },
  { "the_last_line_needs_no_newline", "", "{\"objects\":[]}\n{\"objects\":[]}",
      "5:- 9:- matched=2" },
  { "records_without_a_time_are_not_matched_by_it", "match=timestamp", "-", "0:!",
      ":1: the first record has no timestamp" },
  { "lines_without_a_time_belong_to_buffers_without", "", SOME_TIMES, "0:1 -:2 2:3" },
  { "lines_without_a_time_are_passed_over", "", SOME_TIMES, "0:1 1:- 2:3" },
  { "mot_text_is_replayed", "", MOT, "0:1 1:- 2:6 3:- boxes=3" },
  { "mot_boxes_that_are_ignored_are_counted", "", IGNORED, "0:- 1:- 2:2 ignored=1" },
  { "mot_text_follows_seeks", "", MOT,
      "0:1 seek-2 2:6 seek-0 0:1 1:- 2:6 reverse-3 2:6 1:- 0:1 boxes=9" },
  { "mot_sorted_by_track_is_refused", "on-error=skip", MOT "2,2,2,3,4,5,1,-1,-1,-1\n", "0:!",
      ":4: frame 2 comes after frame 3 of line 3" },
  { "mot_text_has_no_times", "match=timestamp", MOT, "0:!", "MOT text has no times" },
  /* members of recordings by older versions */
  { "older_members_are_passed_over", "",
      LINE ("\"timestamp\":0,\"session\":5,\"reverse\":true,", 1)
          LINE ("\"timestamp\":100000000,\"session\":5,\"decoding-order\":true,", 2),
      "0:1 1:2" },

  { "times_are_stream_times", "", "0 1 2 3", "from-1000/2 1000:3 1001:4" },
  /* forward, backward, to the same frame again, without a flush, and after the end */
  { "seeks_are_followed", "match=timestamp", TEN,
      "0:1 1:2 seek-6 6:7 7:8 seek-2 2:3 seek-2 2:3 from-0 0:1 eos seek-5 5:6" },
  { "seeks_are_followed_by_index", "match=index", TEN,
      "0:1 1:2 seek-6 6:7 7:8 seek-2 2:3 seek-2 2:3 from-0 0:1 eos seek-5 5:6" },
  { "seeks_are_followed_without_a_rate", "match=index", TEN,
      "bare 0:1 1:2 seek-6 6:7 7:8 seek-2 2:3" },
  /* within two frames of the last buffer the index counts buffers; after a larger step it is
   * computed from the time */
  { "a_contiguous_segment_keeps_the_index", "match=index", "0..7",
      "0:1 1.6:2 3.2:3 from-0 4.8:4 from-0 7:8" },
  /* a stop ends all state */
  { "a_restart_begins_anew", "", "0..9",
      "seek-5 5:6 7:8 eos matched=2 unmatched=8 again frames=0 matched=0 0:1 1:2 eos unmatched=8" },
  { "a_restart_begins_anew_by_index", "match=index", "0..9", "5:1 6:2 again 5:1 6:2 matched=2" },
  { "a_restart_in_a_loop", "loop=true", "0..2", "0..2:1 3..5:1 6:1 again 0..2:1 3..5:1" },
  { "a_gap_is_no_frame", "", "0 1 2 3", "0:1 gap-1 2:3 unmatched=2" },
  /* every frame gets the boxes that were recorded last for it */
  { "the_same_seeks_give_the_same_boxes", "match=timestamp", PARTS,
      "seek-0 0:40 1:39 2:38 3..9:48 seek-4 4..8:49 seek-20 20..29:16 seek-2 2:38 3..6:48 "
      "reverse-10 "
      "9..3:54 2:38 1:39 0:40 reverse-10 9..3:54 seek-3 3..12:48 seek-0 0:40 1:39 2:38 "
      "3..12:48 13..19:- "
      "20..29:16 30..40:- eos matched=80 superseded=34 unmatched=0" },
  { "the_same_seeks_give_the_same_boxes_by_default", "", PARTS,
      "seek-0 0:40 1:39 2:38 3..9:48 seek-4 4..8:49 reverse-10 9..3:54 2:38 1:39 0:40 eos" },
  { "appended_recordings_are_replayed", "", "0..9 0..9",
      "0..9:11 10:- 11:- from-0 0..9:11 10:- 11:- superseded=10 unmatched=0" },
  { "appended_recordings_are_replayed_by_index", "match=index", "0..9 0..9", "0..19:1" },
  { "a_file_in_decoding_order_is_sorted", "", DECODED,
      "0:1 4:2 2:3 1:4 3:5 8:6 6:7 5:8 7:9 9:10 matched=10 eos unmatched=0" },
  { "a_file_in_decoding_order_gives_frames_in_order", "", DECODED,
      "0:1 1:4 2:3 3:5 4:2 5:8 6:7 7:9 8:6 9:10 matched=10 eos unmatched=0" },
  { "a_file_in_decoding_order_by_index", "match=index", DECODED,
      "0:1 4:2 2:3 1:4 3:5 8:6 6:7 5:8 7:9 9:10 matched=10 eos unmatched=0" },
  /* as of a seek to the end */
  { "an_empty_stream_decides_nothing", "", "- -", "eos seek-0 0:1 1:2" },
  { "an_empty_stream_leaves_times", "", "0..999",
      "eos flush from-0 0..99:1 flush from-0/400 0..99:401 flush from-0/800 0..99:801 flush "
      "from-0/20 "
      "0:21" },
  { "lines_are_counted_across_seeks", "", "n 0..4999 5000m", "0:1 seek-4999 4999:5000 5000:!",
      ":5002: objects[0] has neither" },
  { "no_record_matches", "", "0 1 2 3 4", "1000:- eos", "None of the 5 records" },

  /* frames that are not shown */
  { "buffers_outside_the_segment_take_no_record", "", "0 1 2 3 4",
      "from-10/0 7..9:- 10..14:1 matched=5 unmatched=0 frames=8" },
  { "buffers_outside_the_segment_by_index", "match=index", "0 1 2 3 4",
      "from-10/0 7..9:- 10..14:1 matched=5 unmatched=0 frames=8" },
  { "records_outside_of_the_segment_are_not_attached", "", "-h 0h 0 1 2 3 4 -h 0h",
      "from-10/0 7..9:- 10..14:3 matched=5 unmatched=0 frames=8" },
  { "records_outside_of_the_segment_by_index", "match=index", "-h 0h 0 1 2 3 4 -h 0h",
      "from-10/0 7..9:- 10..14:3 matched=5 unmatched=0 frames=8" },
  { "marked_lines_are_not_unmatched", "", "0o 1o 2h 3o", "0:- eos unmatched=2" },

  /* loops add their length and a frame */
  { "loop_adds_length_and_a_frame", "loop=true", "1 2 3",
      "1..3:1 4..6:1 7..9:1 10..12:1 13..15:1 unmatched=0" },
  { "loop_by_index", "loop=true match=index", "1 2 3", "0..2:1 3..5:1 6..8:1 9..10:1" },
  { "a_loop_of_one_record", "loop=true", "1", "1:1 2:1 3:1 4:1" },
  { "a_loop_of_nothing", "loop=true", "", "0:-" },
  { "a_loop_of_bad_lines", "loop=true on-error=skip format=jsonl", "x\ny\n", "0:-", ":1: " },
  { "a_loop_repeats_the_last_boxes", "loop=true", "0..2 0..1",
      "0:4 1:5 2:3 3:4 4:5 5:3 6:4 7:5 8:3" },
  { "loop_skips_whole_passes", "loop=true", "1 2 3", LATE ":3 3153600001:1 unmatched=1" },
  { "loop_skips_passes_and_a_record", "loop=true", "1 2 3",
      "3153600001:1 3153600002:2 unmatched=1" },
  { "loop_skips_passes_and_two_records", "loop=true", "1 2 3",
      "3153600002:2 3153600003:3 unmatched=1" },
  { "loop_counts_lines_once", "loop=true on-error=skip", WITH_BAD_LINE,
      "0:1 seek-" LATE " " LATE ":1 3153600001:- 3153600002:3 3153600003:1 skipped=1 unmatched=0",
      ":2: " },
  { "loop_counts_ignored_boxes_once", "loop=true", IGNORED,
      "0:- seek-" LATE " " LATE ":- 3153600001:- 3153600002:2 ignored=1" },

  /* records are held */
  { "hold_fills_the_frames_between", "hold=200000000", "0 2 4 9",
      "0:1 1:1 2:2 3:2 4:3 5:3 6:3 7:- 8:- 9:4 10:4 11:4 12:- eos matched=4 held=6 unmatched=0" },
  { "without_hold_frames_between_are_empty", "", "0 2 4 9", "0:1 1:- 2:2 3:- 4:3 held=0" },
  { "hold_ends_at_an_empty_record", "hold=1000000000", "0 2o", "0:1 1:1 2:- 3:- held=2" },
  /* the record that was shown at that time is shown again */
  { "hold_follows_seeks", "hold=1000000000", "0 3 6",
      "0:1 seek-5 5:2 seek-1 1:1 reverse-9 8:3 7:3 6:3 5:2 4:2 3:2 2:1 1:1 0:1" },
  { NULL },
};

/* ------------------------------------------------------------------ long recordings */

#define COUNT 2500

/* Frames with one to three boxes; every seventh frame has none and no lines. */
static gchar *
mot_lines (void)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < COUNT; i++)
    for (guint k = 0; i % 7 != 6 && k <= i % 3; k++)
      g_string_append_printf (text, "%u,-1,%u,1,4,4,-1,-1,-1,-1\n", i + 1, i + 2);
  return g_string_free (text, FALSE);
}

static gint
expected_x (guint i, gboolean mot)
{
  return i >= COUNT || (mot && i % 7 == 6) ? -1 : (gint) i + 1;
}

/* Seeks to places in random order, then plays backward, in both formats, by time and by index. */
static void
every_seek_finds_its_record (void)
{
  static const gchar *const properties[] = { "match=timestamp", "match=index", "match=index" };
  g_autofree gchar *mot_text = mot_lines ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    const gboolean mot = i == 2;
    const gchar *contents = mot ? mot_text : "0..2499";
    g_autoptr (GString) steps = g_string_new ("0:1");

    for (guint k = 0; k < 200; k++) {
      const guint at = (guint) g_rand_int_range (rand, 0, COUNT + 9);

      g_string_append_printf (steps, " seek-%u %u:%d %u:%d", at, at, expected_x (at, mot), at + 1,
          expected_x (at + 1, mot));
    }
    replay_row (&(ReplayRow) { "", properties[i], contents, steps->str, NULL });

    g_string_assign (steps, "reverse-2500");
    for (guint k = COUNT; k-- > 0;)
      g_string_append_printf (steps, " %u:%d", k, expected_x (k, mot));
    g_string_append (steps,
        mot ? " eos unmatched=0 matched=2143" : " eos unmatched=0 matched=2500");
    replay_row (&(ReplayRow) { "", properties[i], contents, steps->str, NULL });
  }
}

/* Frames that a line states as dropped count for the index. */
static void
dropped_frames_keep_the_index (void)
{
  g_autoptr (GString) text = g_string_new (LINE ("\"timestamp\":0,", 1));
  g_autoptr (GString) steps = g_string_new ("0:1 1:- 2:3");

  for (guint i = 2; i < COUNT; i += 2)
    steps_record (text, "d", GST_CLOCK_TIME_NONE, i + 1);
  for (gint i = COUNT - 10; i > 237; i -= 237)
    g_string_append_printf (steps, " seek-%d %d:%d %d:%d", i, i, i % 2 ? -1 : i + 1, i + 1,
        i % 2 ? i + 2 : -1);
  replay_row (&(ReplayRow) { "", "match=index", text->str, steps->str, NULL });
}

/* Records in random order, each time twice, are found in random order. */
static void
random_order_finds_every_record (void)
{
  g_autoptr (GString) times = g_string_new ("0"), steps = g_string_new (NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  gint last[1000];

  memset (last, -1, sizeof last);
  last[0] = 1;
  for (gint i = 2; i <= 2000; i++) {
    const gint frame = g_rand_int_range (rand, 0, 1000);

    last[frame] = i;
    g_string_append_printf (times, " %d", frame);
  }
  for (guint i = 0; i < 2000; i++) {
    const gint frame = g_rand_int_range (rand, 0, 1000);

    g_string_append_printf (steps, "%s%d:%d", i ? " " : "", frame, last[frame]);
  }
  replay_row (&(ReplayRow) { "", "", times->str, steps->str, NULL });
}

/* Returns a number of a file in /proc/self, or 0 if the system does not tell. */
static guint64
process_number (const gchar *file, const gchar *name)
{
  g_autofree gchar *text = NULL;
  gchar *line;
  guint64 number = 0;

  if (g_file_get_contents (file, &text, NULL, NULL) && (line = strstr (text, name)) != NULL)
    number = g_ascii_strtoull (line + strlen (name), NULL, 10);
  return number;
}

/* A recording of any length is read in 16 bytes a line, or 32 while it is sorted, and a buffer of
 * reverse playback reads a part of the file that does not depend on its length. */
static void
long_recordings_take_little (void)
{
  /* fewer with a sanitizer, which is slow and hides the memory in use */
  const guint lines = SANITIZED ? 30000 : 300000;
  g_autoptr (GString) text = g_string_new (NULL);
  guint64 before = 0, after;
  g_auto (Replay) r = { 0 };

  for (guint i = 0; i < lines; i++)
    g_string_append_printf (text,
        "{\"timestamp\":%" G_GUINT64_FORMAT ",\"objects\":[{\"x\":%u,\"y\":2,\"w\":3,\"h\":4,"
        "\"roi_type\":\"person\",\"region_id\":%u}]}\n",
        i * FRAME, i % 12 + 1, i);
  replay_open (&r, text->str, "");
  for (guint i = 0; i < lines; i += 3) { /* some records are skipped */
    g_assert_cmpint (replay_x_at (&r, i * FRAME), ==, i % 12 + 1);
    if (i == lines / 10)
      before = process_number ("/proc/self/status", "VmRSS:");
  }
  after = process_number ("/proc/self/status", "VmRSS:");
  g_assert_cmpuint (stat_of (r.h->element, "matched"), ==, lines / 3);
  if (!(SANITIZED || after < before + 8192))
    g_error ("%" G_GUINT64_FORMAT " KiB, after %" G_GUINT64_FORMAT, before, after);
  replay_close (&r);

  replay_open (&r, text->str, "");
  push_flush (r.h);
  replay_play (&r, SANITIZED ? "reverse-30000" : "reverse-300000");
  /* the first one reads the file once */
  g_assert_cmpint (replay_x_at (&r, (lines - 1) * FRAME), ==, 12);
  before = process_number ("/proc/self/io", "rchar:");
  if (before == 0)
    g_printerr ("bytes read: NOT TESTED, the system does not count them\n");
  for (guint k = 2; k <= 101; k++)
    g_assert_cmpint (replay_x_at (&r, (lines - k) * FRAME), ==, (lines - k) % 12 + 1);
  after = process_number ("/proc/self/io", "rchar:");
  g_assert_cmpuint (after - before, <, 100 * 131072 + 65536);
}

/* Joining a loop late gives what a file with 12 copies of its records gives. */
static void
loop_equals_copies_of_the_file (void)
{
  static const guint hundredths[] = { 30, 110, 245 }; /* because a locale may print a comma */
  g_autoptr (GString) copies = g_string_new (NULL);

  for (guint i = 0; i < 36; i++) {
    const guint at = hundredths[i % 3] + i / 3 * 315;

    g_string_append_printf (copies, "%s%u.%02u", i ? " " : "", at / 100, at % 100);
  }
  for (guint quarter = 0; quarter < 4 * 35; quarter++) {
    g_auto (Replay) looped = { 0 }, straight = { 0 };
    guint matched = 0;

    replay_open (&looped, "0.3 1.1 2.45", "loop=true");
    replay_open (&straight, copies->str, "");
    for (guint i = 0; i < 2; i++) {
      const GstClockTime time = quarter * FRAME / 4 + i * FRAME;
      const gint x = replay_x_at (&straight, time);

      g_assert_cmpint (replay_x_at (&looped, time), ==, x < 0 ? -1 : (x - 1) % 3 + 1);
      matched += x > 0;
    }
    g_assert_cmpuint (stat_of (looped.h->element, "matched"), ==, matched);
  }
}

/* --------------------------------------------------------------- what is attached */

typedef struct
{
  const gchar *name, *properties;
  guint frame;
  gboolean old;       /* the buffer has the region 9,9,1,1 already */
  const gchar *boxes; /* those on the buffer that comes out */
  gboolean copied;    /* it is another one */
} BufferRow;

static const BufferRow buffers[] = {
  { "existing_boxes_are_kept", "existing=keep", 1, TRUE, "9,9,1,1 1,2,3,4", TRUE },
  { "existing_boxes_are_replaced", "existing=replace", 1, TRUE, "1,2,3,4", TRUE },
  { "existing_boxes_stay_without_a_record", "existing=keep", 0, TRUE, "9,9,1,1", FALSE },
  { "existing_boxes_go_without_a_record", "existing=replace", 0, TRUE, "", TRUE },
  { "buffers_without_boxes_pass_uncopied", "", 0, FALSE, "", FALSE },
  { "buffers_with_boxes_are_copied", "", 1, FALSE, "1,2,3,4", TRUE },
  { NULL },
};

/* Pushes a buffer with two owners, which is not writable. */
static void
a_shared_buffer (gconstpointer data)
{
  const BufferRow *row = data;
  g_autofree gchar *properties = g_strconcat ("meta=roi ", row->properties, NULL);
  g_autoptr (GstBuffer) in = frame_new (row->frame * FRAME), out = NULL;
  g_auto (Replay) r = { 0 };

  replay_open (&r, "1", properties);
  if (row->old)
    add_boxes (in, "1 old 9,9,1,1");
  out = through (r.h, gst_buffer_ref (in));
  g_assert_cmpstr (boxes_on (out), ==, row->boxes);
  g_assert_cmpint (out != in, ==, row->copied);
  g_assert_cmpuint (count_on (in), ==, row->old);
  g_assert_true (gst_buffer_peek_memory (in, 0) == gst_buffer_peek_memory (out, 0));
}

/* The index of suppressed-by does not grow with each frame. */
static void
held_boxes_are_unchanged (void)
{
  g_auto (Replay) r = { 0 };

  replay_open (&r,
      "{\"timestamp\":0,\"objects\":[{\"x\":1,\"y\":0,\"w\":4,\"h\":4},{\"x\":2,\"y\":0,\"w\":4,"
      "\"h\":4,\"region_id\":3,\"nms\":{\"state\":\"suppressed\",\"suppressed-by\":0}}]}\n",
      "hold=1000000000 meta=roi");
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GstBuffer) buffer = frame_new (i * FRAME);

    add_boxes (buffer, "7 old 9,9,1,1");
    buffer = through (r.h, buffer);
    assert_ids (buffer, "7 0 3");
    assert_tag (buffer, 3, "suppressed:1");
  }
}

/* At EOS the property stats is posted as a message, and notified. */
static void
eos_reports (void)
{
  gint count = 0;
  g_autoptr (GstMessage) message = NULL;
  g_autofree gchar *text = NULL;
  g_auto (Replay) r = { 0 };

  replay_open (&r, "0 1 2 3 4", "");
  g_signal_connect (r.h->element, "notify::stats", G_CALLBACK (count_notification), &count);
  replay_play (&r, "0:1 2:3");
  g_assert_cmpint (count, ==, 0);
  replay_play (&r, "eos frames=2 matched=2 unmatched=3 boxes=2 skipped=0");
  g_assert_cmpint (count, ==, 1);
  message = gst_bus_pop_filtered (r.bus, GST_MESSAGE_ELEMENT);
  g_assert_true (message && gst_message_has_name (message, "boxreplay"));
  text = gst_structure_to_string (gst_message_get_structure (message));
  g_assert_cmpstr (text, ==,
      "boxreplay, frames=(guint64)2, matched=(guint64)2, held=(guint64)0, unmatched=(guint64)3, "
      "superseded=(guint64)0, boxes=(guint64)2, skipped=(guint64)0, ignored=(guint64)0, "
      "labels-refused=(guint64)0;");
}

static const TestCase cases[] = { TEST_ROWS ("/%s", replay_row, rows),
  TEST_ROWS ("/%s", a_shared_buffer, buffers), CASE (every_seek_finds_its_record),
  CASE (dropped_frames_keep_the_index), CASE (random_order_finds_every_record),
  CASE (long_recordings_take_little), CASE (loop_equals_copies_of_the_file),
  CASE (held_boxes_are_unchanged), CASE (eos_reports), { NULL } };

GST_TEST_PROGRAM (cases);
