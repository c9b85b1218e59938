/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* linemeta: boxrecord line-meta=true attaches the line of a frame to its buffer, and
 * boxreplay line-meta=true takes the boxes from there. */
#include "gstrunner.h"

#define FRAME (100 * GST_MSECOND)
#define NAME "NmsBoxLineMeta"

/* Returns a frame with these boxes and their line, without the regions, as unixfdsink leaves it. */
static GstBuffer *
frame_with_line (const gchar *boxes)
{
  GstBuffer *buffer = frame_new (FRAME);

  add_boxes (buffer, boxes);
  return filtered ("boxselect keep-classes=none", filtered ("boxrecord line-meta=true", buffer));
}

#define THREE "4 a\"b\"\\\xc3\xa9\n 1.25:2:30:40 0.75; 2 - 50:60:90.5:80 0.33; 9 car 3,4,5,6"

/* Returns the line of a buffer, which owns it, or NULL. */
static const gchar *
line_of (GstBuffer *buffer)
{
  GstCustomMeta *meta = gst_buffer_get_custom_meta (buffer, NAME);

  return meta ? gst_structure_get_string (gst_custom_meta_get_structure (meta), "line") : NULL;
}

/* Fails unless boxreplay attaches the boxes of THREE for `buffer`, which it takes, and removes the
 * line. */
static void
expect_boxes (GstBuffer *buffer)
{
  g_autofree gchar *sent = g_strdup (line_of (buffer));
  g_autoptr (GstBuffer) out = filtered ("boxreplay line-meta=true meta=roi", buffer), again = NULL;

  assert_ids (out, "4 2 9");
  g_assert_null (line_of (out));
  again = filtered ("boxrecord line-meta=true", gst_buffer_ref (out));
  g_assert_cmpstr (line_of (again), ==, sent);
}

static void
carries_all_boxes (void)
{
  GstBuffer *buffer = frame_with_line (THREE);

  g_assert_true (g_str_has_prefix (line_of (buffer), "{\"timestamp\":100000000,\"resolution\":"));
  expect_boxes (buffer);
}

static void
copies_a_shared_buffer (void)
{
  GstBuffer *buffer = frame_new (FRAME);
  g_autoptr (GstBuffer) out = filtered ("boxrecord line-meta=true", gst_buffer_ref (buffer));

  g_assert_true (out != buffer);
  g_assert_true (line_of (out) != NULL && line_of (buffer) == NULL);
  gst_buffer_unref (buffer);
  buffer = filtered ("boxreplay line-meta=true", gst_buffer_ref (out));
  g_assert_true (line_of (out) != NULL && line_of (buffer) == NULL);
  gst_buffer_unref (buffer);
}

static void
takes_gap_buffers_too (void)
{
  GstBuffer *buffer = frame_with_line ("7 car 3,4,5,6");

  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  expect ("boxreplay line-meta=true meta=roi", buffer, "7");
  buffer = frame_new (FRAME);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  buffer = filtered ("boxrecord line-meta=true", buffer);
  g_assert_nonnull (line_of (buffer));
  gst_buffer_unref (buffer);
}

static void
replaces_an_older_line (void)
{
  GstBuffer *buffer = frame_with_line (THREE);

  buffer = filtered ("boxrecord line-meta=true", buffer);
  g_assert_cmpint (gst_buffer_get_n_meta (buffer, gst_meta_get_info (NAME)->api), ==, 1);
  expect ("boxreplay line-meta=true", buffer, "");
}

static void
passes_a_buffer_without_a_line (void)
{
  g_autoptr (GstHarness) h = harness_new ("boxreplay line-meta=true");
  g_autoptr (GstBuffer) buffer = frame_new (FRAME);

  add_boxes (buffer, "7 car 3,4,5,6");
  buffer = through (h, buffer);
  assert_ids (buffer, "7");
  assert_stats (h->element, "frames=1 matched=0");
}

static void
obeys_on_error (void)
{
  static const gchar *const malformed[] = { "{}", "{\"objects\":[" };

  for (guint i = 0; i < G_N_ELEMENTS (malformed); i++) {
    GstBuffer *buffer = frame_with_line (THREE);
    GstCustomMeta *meta = gst_buffer_get_custom_meta (buffer, NAME);
    g_autoptr (GstHarness) skips = harness_new ("boxreplay line-meta=true on-error=skip");
    g_autoptr (GstHarness) fails = harness_new ("boxreplay line-meta=true");

    gst_structure_set (gst_custom_meta_get_structure (meta), "line", G_TYPE_STRING, malformed[i],
        NULL);
    expect_through (skips, gst_buffer_ref (buffer), "");
    assert_stats (skips->element, "skipped=1");
    g_assert_cmpint (gst_harness_push (fails, buffer), ==, GST_FLOW_ERROR);
  }
}

/* A converter keeps the size of the picture, so the line stays true; a scaler does not. */
static void
follows_conversion_and_not_scaling (void)
{
  const gsize size = FRAME_WIDTH * FRAME_HEIGHT;
  GstBuffer *buffer = frame_with_line (THREE);
  g_autoptr (GstBuffer) out = NULL;
  GstHarness *h = gst_harness_new_parse ("videoconvert ! capsfilter caps=\"video/x-raw,"
                                         "format=RGB\"");

  gst_buffer_replace_all_memory (buffer, gst_allocator_alloc (NULL, size, NULL));
  gst_harness_set_src_caps_str (h, FRAME_CAPS);
  out = through (h, gst_buffer_ref (buffer));
  g_assert_cmpstr (line_of (out), ==, line_of (buffer));
  expect_boxes (out);
  gst_harness_teardown (h);

  h = gst_harness_new_parse ("videoscale ! capsfilter caps=\"video/x-raw,width=64\"");
  gst_harness_set_src_caps_str (h, FRAME_CAPS);
  out = through (h, buffer);
  g_assert_null (line_of (out));
  gst_harness_teardown (h);
}

/* What unixfdsink and unixfdsrc do with metadata. */
static void
passes_serialization (void)
{
#if GST_CHECK_VERSION(1, 24, 0)
  GstBuffer *from = frame_with_line (THREE), *to = frame_new (FRAME);
  GByteArray *bytes = g_byte_array_new ();
  guint32 consumed;

  g_assert_true (gst_meta_serialize_simple (&gst_buffer_get_custom_meta (from, NAME)->meta, bytes));
  g_assert_nonnull (gst_meta_deserialize (to, bytes->data, bytes->len, &consumed));
  g_assert_cmpint (consumed, ==, bytes->len);
  g_assert_cmpstr (line_of (to), ==, line_of (from));
  g_byte_array_unref (bytes);
  gst_buffer_unref (from);
  expect_boxes (to);
#endif
}

/* A boxreplay has one recording, which can be read again if it is to loop. */
static void
is_a_recording_of_its_own (void)
{
  static const gchar *const refused[][2] = {
    { "boxreplay line-meta=true location=/dev/null", "more than one of the location" },
    { "boxreplay location=/dev/null loop=true", "cannot be read again from its start" },
    { "boxreplay location=/proc/self/exe loop=true follow=true", "Cannot both loop and follow" },
  };
  static const gchar *const with_pad[] = { "boxreplay location=/dev/null",
    "boxreplay line-meta=true" };

  expect_no_starts (refused, G_N_ELEMENTS (refused));
  for (guint i = 0; i < G_N_ELEMENTS (with_pad); i++) {
    g_autoptr (GstElement) element = element_new (with_pad[i]);
    g_autoptr (GstPad) boxes = gst_element_request_pad_simple (element, "boxes");

    expect_no_start (element, "more than one of the location");
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_release_request_pad (element, boxes);
  }
}

/* Another round after EOS reports again. */
static void
reports_at_each_end (void)
{
  g_autoptr (GstHarness) h = harness_new ("boxreplay line-meta=true");
  GstBus *bus = harness_bus (h);

  for (guint round = 1; round <= 2; round++) {
    gst_buffer_unref (through (h, frame_with_line (THREE)));
    gst_harness_push_event (h, gst_event_new_eos ());
    g_assert_cmpuint (count_messages (bus, GST_MESSAGE_ELEMENT), ==, 1);
    assert_stats (h->element, round == 1 ? "matched=1 boxes=3" : "matched=2 boxes=6");
    push_flush (h);
    gst_harness_set_src_caps_str (h, FRAME_CAPS);
  }
}

static const TestCase cases[] = { CASE (carries_all_boxes), CASE (copies_a_shared_buffer),
  CASE (takes_gap_buffers_too), CASE (replaces_an_older_line),
  CASE (passes_a_buffer_without_a_line), CASE (obeys_on_error),
  CASE (follows_conversion_and_not_scaling), CASE (passes_serialization),
  CASE (is_a_recording_of_its_own), CASE (reports_at_each_end), { NULL } };

GST_TEST_PROGRAM (cases);
