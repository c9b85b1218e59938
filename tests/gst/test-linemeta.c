/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* linemeta: boxrecord line-meta=true attaches the line of a frame to its buffer, and
 * boxreplay line-meta=true takes the boxes from there. */
#include "checkrunner.h"
#include "gstboxes.h"

#define FRAME (100 * GST_MSECOND)
#define NAME "NmsBoxLineMeta"

static gboolean
is_region (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  if ((*meta)->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)
    *meta = NULL;
  return TRUE;
}

/* Removes the regions, as unixfdsink does. */
static GstBuffer *
without_regions (GstBuffer *buffer)
{
  buffer = gst_buffer_make_writable (buffer);
  gst_buffer_foreach_meta (buffer, is_region, NULL);
  fail_unless_equals_int (count_on (buffer), 0);
  return buffer;
}

/* Returns a frame with three boxes and their line, without the regions. */
static GstBuffer *
frame_with_line (void)
{
  GstBuffer *buffer = frame_new (FRAME);

  add_exact (buffer, 4, "a \"b\" \\ \xc3\xa9\n", 1.25, 2, 30, 40, 0.75);
  add_exact (buffer, 2, "person", 50, 60, 90.5, 80, 1.0 / 3.0);
  add_region (buffer, 9, "car", 3, 4, 5, 6);
  return without_regions (filtered ("boxrecord line-meta=true", buffer));
}

/* Returns the line of a buffer, which owns it, or NULL. */
static const gchar *
line_of (GstBuffer *buffer)
{
  GstCustomMeta *meta = gst_buffer_get_custom_meta (buffer, NAME);

  return meta ? gst_structure_get_string (gst_custom_meta_get_structure (meta), "line") : NULL;
}

/* Returns the boxes of a buffer as a line of text. Free it. */
static gchar *
boxes_of (GstBuffer *buffer)
{
  GstBuffer *out = filtered ("boxrecord line-meta=true", gst_buffer_ref (buffer));
  gchar *line = g_strdup (line_of (out));

  gst_buffer_unref (out);
  return line;
}

/* Fails unless boxreplay attaches the boxes of frame_with_line () for `buffer`, which it
 * takes, and removes the line. */
static void
expect_boxes (GstBuffer *buffer)
{
  gchar *sent = g_strdup (line_of (buffer)), *received;
  GstBuffer *out = filtered ("boxreplay line-meta=true meta=roi", buffer);

  assert_ids (out, "4 2 9");
  fail_unless (line_of (out) == NULL);
  received = boxes_of (out);
  fail_unless_equals_string (received, sent);
  g_free (sent);
  g_free (received);
  gst_buffer_unref (out);
}

GST_START_TEST (carries_all_boxes)
{
  GstBuffer *buffer = frame_with_line ();

  fail_unless (g_str_has_prefix (line_of (buffer), "{\"timestamp\":100000000,\"resolution\":"));
  expect_boxes (buffer);
}
GST_END_TEST

GST_START_TEST (copies_a_shared_buffer)
{
  GstBuffer *buffer = frame_new (FRAME),
            *out = filtered ("boxrecord line-meta=true", gst_buffer_ref (buffer));

  fail_unless (out != buffer);
  fail_unless (line_of (out) != NULL && line_of (buffer) == NULL);
  gst_buffer_unref (buffer);
  buffer = filtered ("boxreplay line-meta=true", gst_buffer_ref (out));
  fail_unless (line_of (out) != NULL && line_of (buffer) == NULL);
  gst_buffer_unref (out);
  gst_buffer_unref (buffer);
}
GST_END_TEST

GST_START_TEST (takes_gap_buffers_too)
{
  GstBuffer *buffer = frame_new (FRAME);

  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  add_region (buffer, 7, "car", 3, 4, 5, 6);
  buffer = without_regions (filtered ("boxrecord line-meta=true", buffer));
  fail_unless (line_of (buffer) != NULL);
  expect ("boxreplay line-meta=true meta=roi", buffer, "7");
}
GST_END_TEST

GST_START_TEST (replaces_an_older_line)
{
  GstBuffer *buffer = frame_with_line ();

  buffer = filtered ("boxrecord line-meta=true", buffer);
  fail_unless_equals_int (gst_buffer_get_n_meta (buffer, gst_meta_get_info (NAME)->api), 1);
  expect ("boxreplay line-meta=true", buffer, "");
}
GST_END_TEST

GST_START_TEST (passes_a_buffer_without_a_line)
{
  GstHarness *h = harness_new ("boxreplay line-meta=true");
  GstBuffer *buffer = frame_new (FRAME);

  add_region (buffer, 7, "car", 3, 4, 5, 6);
  buffer = through (h, buffer);
  assert_ids (buffer, "7");
  fail_unless_equals_uint64 (stat_of (h->element, "frames"), 1);
  fail_unless_equals_uint64 (stat_of (h->element, "matched"), 0);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A converter keeps the size of the picture, so the line stays true; a scaler does not. */
GST_START_TEST (follows_conversion_and_not_scaling)
{
  const gsize size = FRAME_WIDTH * FRAME_HEIGHT;
  GstBuffer *buffer = frame_with_line (), *out;
  GstHarness *h = gst_harness_new_parse ("videoconvert ! capsfilter caps=\"video/x-raw,"
                                         "format=RGB\"");

  gst_buffer_replace_all_memory (buffer, gst_allocator_alloc (NULL, size, NULL));
  gst_harness_set_src_caps_str (h, FRAME_CAPS);
  out = through (h, gst_buffer_ref (buffer));
  fail_unless_equals_string (line_of (out), line_of (buffer));
  expect_boxes (out);
  gst_harness_teardown (h);

  h = gst_harness_new_parse ("videoscale ! capsfilter caps=\"video/x-raw,width=64\"");
  gst_harness_set_src_caps_str (h, FRAME_CAPS);
  out = through (h, buffer);
  fail_unless (line_of (out) == NULL);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* What unixfdsink and unixfdsrc do with metadata. */
GST_START_TEST (passes_serialization)
{
#if GST_CHECK_VERSION(1, 24, 0)
  GstBuffer *from = frame_with_line (), *to = frame_new (FRAME);
  GByteArray *bytes = g_byte_array_new ();
  guint32 consumed;

  fail_unless (gst_meta_serialize_simple (&gst_buffer_get_custom_meta (from, NAME)->meta, bytes));
  fail_unless (gst_meta_deserialize (to, bytes->data, bytes->len, &consumed) != NULL);
  fail_unless_equals_int (consumed, bytes->len);
  fail_unless_equals_string (line_of (to), line_of (from));
  g_byte_array_unref (bytes);
  gst_buffer_unref (from);
  expect_boxes (to);
#endif
}
GST_END_TEST

/* Fails unless the element, with `pad` the pad boxes requested, does not start. */
static void
expect_refusal (const gchar *launch_line, gboolean pad)
{
  GstElement *element = element_new (launch_line);
  GstPad *boxes = pad ? gst_element_request_pad_simple (element, "boxes") : NULL;

  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (element, GST_STATE_NULL);
  if (boxes)
    gst_element_release_request_pad (element, boxes);
  gst_clear_object (&boxes);
  gst_object_unref (element);
}

/* A boxreplay has one recording, and a boxrecord has an output: a location, the metadata or the
 * pad boxes. */
GST_START_TEST (is_a_recording_of_its_own)
{
  expect_refusal ("boxreplay", FALSE);
  expect_refusal ("boxreplay line-meta=true location=/dev/null", FALSE);
  expect_refusal ("boxreplay location=/dev/null", TRUE);
  expect_refusal ("boxreplay line-meta=true", TRUE);
  expect_refusal ("boxreplay location=/dev/null loop=true", FALSE);
  expect_refusal ("boxreplay location=/proc/self/exe loop=true follow=true", FALSE);
  expect_refusal ("boxrecord", FALSE);
}
GST_END_TEST

/* Another round after EOS reports again. */
GST_START_TEST (reports_at_each_end)
{
  GstHarness *h = harness_new ("boxreplay line-meta=true");
  GstBus *bus = gst_bus_new ();
  GstMessage *message;

  gst_element_set_bus (h->element, bus);
  for (guint round = 1; round <= 2; round++) {
    gst_buffer_unref (through (h, frame_with_line ()));
    gst_harness_push_event (h, gst_event_new_eos ());
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
    fail_unless (message != NULL);
    gst_message_unref (message);
    fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT) == NULL);
    fail_unless_equals_uint64 (stat_of (h->element, "matched"), round);
    fail_unless_equals_uint64 (stat_of (h->element, "boxes"), 3 * round);
    gst_harness_push_event (h, gst_event_new_flush_start ());
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
    gst_harness_set_src_caps_str (h, FRAME_CAPS);
  }
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

static const CheckCase cases[] = { CHECK_CASE (carries_all_boxes),
  CHECK_CASE (copies_a_shared_buffer), CHECK_CASE (takes_gap_buffers_too),
  CHECK_CASE (replaces_an_older_line), CHECK_CASE (passes_a_buffer_without_a_line),
  CHECK_CASE (follows_conversion_and_not_scaling), CHECK_CASE (passes_serialization),
  CHECK_CASE (is_a_recording_of_its_own), CHECK_CASE (reports_at_each_end), { NULL } };

CHECK_PROGRAM (cases);
