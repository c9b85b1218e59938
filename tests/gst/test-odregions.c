/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxreplay and boxrecord on buffers with GstAnalytics detections, beside regions of interest. */
#include "gstrunner.h"
#include "odboxes.h"
#include "textfiles.h"

/* Lets boxreplay attach the boxes of the line `text` to the buffer. */
static GstBuffer *
replay (const gchar *text, const gchar *properties, GstBuffer *buffer)
{
  g_autofree gchar *path = text_file_new ("replayed.jsonl", text, -1);
  g_autofree gchar *launch = g_strdup_printf ("boxreplay %s location=\"%s\"", properties, path);

  return filtered (launch, buffer);
}

/* A replayed region has the id of its OD, and its parent the id of the parent's OD, also where
 * the parent is the first box of the line. */
static void
test_replayed_parents (void)
{
  g_autoptr (GstBuffer) buffer = frame_new (0);

  add_foreign (buffer, 0); /* makes sure that no OD has id 0 */
  buffer = replay ("{\"timestamp\":0,\"objects\":["
                   "{\"x\":100,\"y\":100,\"w\":50,\"h\":90,\"region_id\":7},"
                   "{\"x\":110,\"y\":100,\"w\":9,\"h\":9,\"region_id\":8,\"parent_id\":7}]}\n",
      "meta=both", buffer);
  assert_ids (buffer, "1 2");
  assert_ods (buffer, "100 110");
  g_assert_cmpint (gst_buffer_get_video_region_of_interest_meta_id (buffer, 1)->parent_id, ==, 0);
  g_assert_cmpint (gst_buffer_get_video_region_of_interest_meta_id (buffer, 2)->parent_id, ==, 1);
}

/* With existing=replace boxreplay removes all boxes of the buffer, and the mtds that are related
 * only to removed ODs. */
static void
test_replayed_instead (void)
{
  g_autoptr (GstBuffer) buffer = frame_new (0);

  add_foreign (buffer, 5); /* related to nothing */
  add_ods (buffer, "dog 100,100,50,90 0.5 puppy; dog 200,100,50,90 0.5");
  add_boxes (buffer, "1 dog 100,100,50,90");
  buffer = replay ("{\"timestamp\":0,\"objects\":[{\"x\":110,\"y\":100,\"w\":9,\"h\":9}]}\n",
      "meta=both existing=replace", buffer);
  assert_ods (buffer, "110");
  g_assert_cmpuint (count_on (buffer), ==, 1);
  g_assert_cmpuint (mtds_on (buffer), ==, 2); /* the third party's and the new OD */
}

/* Lets boxrecord record the two buffers, and returns the text of the file. */
static gchar *
record (GstBuffer *first, GstBuffer *second)
{
  g_autofree gchar *path = text_file_path ("recorded.jsonl");
  g_autofree gchar *launch = g_strdup_printf ("boxrecord location=\"%s\"", path);
  GstHarness *h = harness_new (launch);

  gst_buffer_unref (through (h, first));
  gst_buffer_unref (through (h, second));
  g_assert_true (gst_harness_push_event (h, gst_event_new_eos ()));
  gst_harness_teardown (h);
  return text_file_read (path);
}

/* The boxes of a frame leave nothing in those of the next: an OD in the place of a region that
 * has a parent is recorded without one. */
static void
test_recorded_after_parents (void)
{
  g_autofree gchar *text = record (frame_with ("7 dog 100,100,50,90; 8 paw 110,100,9,9 in 7"),
      frame_with_ods ("dog 100,100,50,90 0.5; paw 110,100,9,9 0.5"));

  g_assert_nonnull (strstr (text, "\"parent_id\":7"));
  g_assert_null (strstr (strchr (text, '\n'), "parent_id"));
  g_assert_nonnull (strstr (strchr (text, '\n'), "\"paw\""));
}

/* Tags of ODs are recorded; only ODs with a tag have a state. */
static void
test_recorded_tags (void)
{
  g_autofree gchar *text = record (filtered ("nmsfilter action=tag", frame_with_ods (THREE_ODS)),
      frame_with_ods (THREE_ODS));

  g_assert_true (g_pattern_match_simple ("*\"state\":\"suppressed\"*\"state\":\"kept\"*"
                                         "\"state\":\"kept\"*\n*",
      text));
  g_assert_null (strstr (strchr (text, '\n'), "state")); /* of the second line */
}

static const TestCase cases[] = { CASE (test_replayed_parents), CASE (test_replayed_instead),
  CASE (test_recorded_after_parents), CASE (test_recorded_tags), { NULL } };

GST_TEST_PROGRAM (cases);
