/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxreplay: the record that belongs to a buffer, and the metadata that is attached. */

#include "gstrunner.h"
#include "replaying.h"

/* -------------------------------------------------------------------- matching */

static void
everything_is_attached (void)
{
  g_auto (Replay) r = { 0 };
  GstBuffer *buffer;
  GstVideoRegionOfInterestMeta *roi;
  GstStructure *s;
  gdouble number;
  gint integer;

  replay_open (&r,
      "\xef\xbb\xbf\r\n{\"timestamp\":0,\"resolution\":{\"width\":16,\"height\":16},"
      "\"objects\":[{\"x\":2,\"y\":0,\"w\":8,\"h\":16,\"roi_type\":\"person\",\"region_id\":3,"
      "\"parent_id\":1,\"id\":7,\"detection\":{\"bounding_box\":{\"x_min\":0.125,\"y_min\":-0.5,"
      "\"x_max\":0.625,\"y_max\":1.5},\"confidence\":0.91,\"label_id\":1},"
      "\"nms\":{\"state\":\"suppressed\",\"suppressed-by\":1}},"
      "{\"x\":1,\"y\":1,\"w\":0,\"h\":0}]}\r\n",
      "meta=roi");
  buffer = gst_harness_push_and_pull (r.h, replay_buffer (0));
  g_assert_cmpint (replay_count (buffer), ==, 2);
  roi = replay_box (buffer, 0);
  g_assert_true (roi->x == 2 && roi->y == 0 && roi->w == 8 && roi->h == 16);
  g_assert_cmpstr (g_quark_to_string (roi->roi_type), ==, "person");
  g_assert_true (roi->id == 3 && roi->parent_id == 1);
  s = gst_video_region_of_interest_meta_get_param (roi, "detection");
  g_assert_true (gst_structure_get_double (s, "y_max", &number) && number == 1.5);
  g_assert_true (gst_structure_get_double (s, "confidence", &number) && number == 0.91);
  g_assert_true (gst_structure_get_int (s, "label_id", &integer) && integer == 1);
  s = gst_video_region_of_interest_meta_get_param (roi, "object_id");
  g_assert_true (gst_structure_get_int (s, "id", &integer) && integer == 7);
  s = gst_video_region_of_interest_meta_get_param (roi, "nms");
  g_assert_cmpstr (gst_structure_get_string (s, "state"), ==, "suppressed");
  g_assert_true (gst_structure_get_int (s, "suppressed-by", &integer) && integer == 1);
  roi = replay_box (buffer, 1);
  g_assert_true (roi->params == NULL && roi->w == 0);
  g_assert_cmpstr (g_quark_to_string (roi->roi_type), ==, "");
  gst_buffer_unref (buffer);
  g_assert_cmpuint (stat_of (r.h->element, "boxes"), ==, 2);
}

static void
the_nearest_record_is_used_once (void)
{
  /* frame 3 has no record: an empty frame */
  replay_check ("0 1.01 1.98 4 5.4 5.6", "",
      "0:1 1:2 2:3 3:- 4:4 5:5 6:6 7:- matched=6 unmatched=0");
  /* the nearest record is used, on either side; the one between is skipped */
  replay_check ("0.6 0.9 1.2 1.45", "", "0:- 1:2 2:- unmatched=3");
}

static void
tolerance_bounds_the_search (void)
{
  replay_check ("0.3 1.3", "tolerance=29999999", "0:-");
  replay_check ("0.3 1.3", "tolerance=30000000", "0:1 1:2");
  replay_check ("0.7", "tolerance=29999999", "1:-");
  replay_check ("0.7", "tolerance=30000000", "1:1");
  replay_check ("0.5", "", "0:1"); /* half a frame, inclusive */
}

static void
buffers_without_a_time_go_by_index (void)
{
  replay_check ("0 1 2 3", "", "0:1 -:2 2:3 -:4 -:- matched=4");
}

static void
records_without_a_time (void)
{
  static const gchar none[] = "{\"objects\":[{\"x\":1,\"y\":0,\"w\":4,\"h\":4}]}\n\n \n"
                              "{\"objects\":[]}\n{\"objects\":[{\"x\":3,\"y\":0,\"w\":4,\"h\":4}]}";
  static const gchar some[] =
      "{\"timestamp\":0,\"objects\":[{\"x\":1,\"y\":0,\"w\":4,\"h\":4}]}\n"
      "{\"objects\":[{\"x\":2,\"y\":0,\"w\":4,\"h\":4}]}\n"
      "{\"timestamp\":200000000,\"objects\":[{\"x\":3,\"y\":0,\"w\":4,\"h\":4}]}\n";

  /* the last line is complete, without a newline */
  replay_check (none, "", "5:1 9:- 10:3");
  replay_check_error (none, "match=timestamp", ":1: the first record has no timestamp");
  /* lines without a time belong to buffers without a time */
  replay_check (some, "", "0:1 -:2 2:3");
  replay_check (some, "", "0:1 1:- 2:3");
}

static void
mot_text_is_replayed (void)
{
  Replay r;
  GstBuffer *buffer;

  replay_open (&r,
      "1,7,2,3,4,5,0.5,-1,-1,-1\n1,-1,5,5,5,5,-1,-1,-1,-1\n"
      "3,1,7,7,4.5,4,1,-1,-1,-1\n",
      "");
  buffer = gst_harness_push_and_pull (r.h, replay_buffer (0));
  g_assert_cmpint (replay_count (buffer), ==, 2);
  g_assert_true (replay_box (buffer, 0)->x == 1 && replay_box (buffer, 0)->y == 2);
  gst_buffer_unref (buffer);
  replay_play (&r, "1:- 2:6 3:-");
  replay_close (&r);

  /* ground truth: the ignored boxes are not attached, but counted */
  replay_check ("1,1,2,3,4,5,0,1,1\n2,1,3,3,4,5,1,1,1\n", "", "0:- 1:2 ignored=1");
}

static void
mot_sorted_by_track_is_refused (void)
{
  replay_check_error ("1,1,2,3,4,5,1,-1,-1,-1\n2,1,2,3,4,5,1,-1,-1,-1\n1,2,2,3,4,5,1,-1,-1,-1\n",
      "on-error=skip", ":3: frame 1 comes after frame 2 of line 2");
  replay_check_error ("1,1,2,3,4,5,1,-1,-1,-1\n", "match=timestamp", "MOT text has no times");
}

/* Pushes a buffer with a region at x = 9, and returns what comes out. */
static GstBuffer *
push_old (Replay *r, GstClockTime time)
{
  GstBuffer *buffer = replay_buffer (time);

  gst_buffer_add_video_region_of_interest_meta (buffer, "old", 9, 9, 1, 1);
  return gst_harness_push_and_pull (r->h, buffer);
}

static void
existing_boxes (void)
{
  for (guint replace = 0; replace < 2; replace++) {
    g_autoptr (GstBuffer) with = NULL, without = NULL;
    g_auto (Replay) r = { 0 };

    replay_open_records (&r, "0", replace ? "existing=replace" : "existing=keep");
    with = push_old (&r, 0);
    g_assert_cmpint (replay_count (with), ==, replace ? 1 : 2);
    g_assert_cmpint (replay_box (with, 0)->x, ==, replace ? 1 : 9);
    without = push_old (&r, FRAME);
    g_assert_cmpint (replay_count (without), ==, replace ? 0 : 1);
  }
}

static void
buffers_without_boxes_pass_uncopied (void)
{
  g_auto (Replay) r = { 0 };
  GstBuffer *in, *out;

  replay_open_records (&r, "1", "meta=roi");
  in = gst_buffer_ref (replay_buffer (0)); /* two owners, so not writable */
  g_assert_true (gst_harness_push (r.h, in) == GST_FLOW_OK);
  out = gst_harness_pull (r.h);
  g_assert_true (out == in);
  gst_buffer_unref (out);
  gst_buffer_unref (in);

  in = gst_buffer_ref (replay_buffer (FRAME));
  g_assert_true (gst_harness_push (r.h, in) == GST_FLOW_OK);
  out = gst_harness_pull (r.h);
  g_assert_true (out != in && replay_count (in) == 0 && replay_count (out) == 1);
  g_assert_true (gst_buffer_peek_memory (in, 0) == gst_buffer_peek_memory (out, 0));
  gst_buffer_unref (out);
  gst_buffer_unref (in);
}

static void
boxes_of_a_shared_buffer_are_removed_from_a_copy (void)
{
  g_autoptr (GstBuffer) in = replay_buffer (0), out = NULL;
  g_auto (Replay) r = { 0 };

  replay_open_records (&r, "1", "meta=roi existing=replace");
  gst_buffer_add_video_region_of_interest_meta (in, "old", 9, 9, 1, 1);
  out = gst_harness_push_and_pull (r.h, gst_buffer_ref (in));
  g_assert_cmpint (replay_count (in), ==, 1);
  g_assert_cmpint (replay_count (out), ==, 0);
}

static void
caps_may_change_and_scale (void)
{
  static const gchar text[] = "{\"timestamp\":0,\"resolution\":{\"width\":32,\"height\":8},"
                              "\"objects\":[{\"x\":4,\"y\":4,\"w\":8,\"h\":2}]}\n"
                              "{\"timestamp\":100000000,\"resolution\":{\"width\":32,\"height\":8},"
                              "\"objects\":[{\"x\":4,\"y\":4,\"w\":8,\"h\":2}]}\n";
  g_auto (Replay) r = { 0 };
  GstBuffer *buffer;

  replay_open (&r, text, "");
  buffer = gst_harness_push_and_pull (r.h, replay_buffer (0));
  g_assert_true (replay_box (buffer, 0)->x == 2 && replay_box (buffer, 0)->y == 8
      && replay_box (buffer, 0)->w == 4 && replay_box (buffer, 0)->h == 4);
  gst_buffer_unref (buffer);
  gst_harness_set_src_caps_str (r.h, "video/x-raw,format=GRAY8,width=64,height=8,framerate=10/1");
  buffer = gst_harness_push_and_pull (r.h, replay_buffer (FRAME));
  g_assert_true (replay_box (buffer, 0)->x == 8 && replay_box (buffer, 0)->y == 4);
  gst_buffer_unref (buffer);
}

/* ------------------------------------------------------------- jumps and events */

static void
times_are_stream_times (void)
{
  g_auto (Replay) r = { 0 };

  replay_open_records (&r, "0 1 2 3", "");
  push_segment (r.h, 1000 * FRAME, 2 * FRAME);
  replay_play (&r, "1000:3 1001:4");
}

/* Forward, backward, to the same frame again, without a flush, and after the end. */
static void
seeks_are_followed (void)
{
  static const gchar *const by[] = { "match=timestamp", "match=index" };

  for (guint i = 0; i < 2; i++)
    replay_check ("0 1 2 3 4 5 6 7 8 9", by[i],
        "0:1 1:2 seek-6 6:7 7:8 seek-2 2:3 seek-2 2:3 from-0 0:1 eos seek-5 5:6");
}

/* A segment that begins within two frames of the last buffer is not a jump, so the index counts
 * buffers. After a larger step it is computed from the time. */
static void
a_contiguous_segment_keeps_the_index (void)
{
  replay_check ("0 1 2 3 4 5 6 7", "match=index", "0:1 1.6:2 3.2:3 from-0 4.8:4 from-0 7:8");
}

static void
a_gap_is_no_frame (void)
{
  g_auto (Replay) r = { 0 };

  replay_open_records (&r, "0 1 2 3", "");
  g_assert_cmpint (replay_x_at (&r, 0), ==, 1);
  g_assert_true (gst_harness_push_event (r.h, gst_event_new_gap (FRAME, FRAME)));
  g_assert_cmpint (replay_x_at (&r, 2 * FRAME), ==, 3);
  g_assert_cmpuint (stat_of (r.h->element, "unmatched"), ==, 2); /* 1 and 3 */
}

static void
eos_reports (void)
{
  guint64 frames, matched, unmatched, boxes, skipped;
  GstMessage *message;
  Replay r;

  replay_open_records (&r, "0 1 2 3 4", "");
  replay_play (&r, "0:1 2:3 eos");
  message = gst_bus_pop_filtered (r.bus, GST_MESSAGE_ELEMENT);
  g_assert_nonnull (message);
  g_assert_true (gst_message_has_name (message, "boxreplay"));
  g_assert_true (gst_structure_get (gst_message_get_structure (message), "frames", G_TYPE_UINT64,
      &frames, "matched", G_TYPE_UINT64, &matched, "unmatched", G_TYPE_UINT64, &unmatched, "boxes",
      G_TYPE_UINT64, &boxes, "skipped", G_TYPE_UINT64, &skipped, NULL));
  g_assert_true (frames == 2 && matched == 2 && unmatched == 3 && boxes == 2 && skipped == 0);
  gst_message_unref (message);
  replay_play (&r, "quiet");
  replay_close (&r);

  /* no record matches, which gives a warning */
  replay_open_records (&r, "0 1 2 3 4", "");
  replay_play (&r, "1000:- eos");
  replay_must_say (&r, GST_MESSAGE_WARNING, "None of the 5 records");
  replay_close (&r);
}

static const TestCase cases[] = { CASE (everything_is_attached),
  CASE (the_nearest_record_is_used_once), CASE (tolerance_bounds_the_search),
  CASE (buffers_without_a_time_go_by_index), CASE (records_without_a_time),
  CASE (mot_text_is_replayed), CASE (mot_sorted_by_track_is_refused), CASE (existing_boxes),
  CASE (buffers_without_boxes_pass_uncopied),
  CASE (boxes_of_a_shared_buffer_are_removed_from_a_copy), CASE (caps_may_change_and_scale),
  CASE (times_are_stream_times), CASE (seeks_are_followed),
  CASE (a_contiguous_segment_keeps_the_index), CASE (a_gap_is_no_frame), CASE (eos_reports),
  { NULL } };

GST_TEST_PROGRAM (cases);
