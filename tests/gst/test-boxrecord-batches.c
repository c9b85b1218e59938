/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxrecord on batches: the lines of each stream, with its own times and counts. */
#include "batches.h"
#include "gstrunner.h"
#include "textfiles.h"

#define LARGE "video/x-raw,format=GRAY8,width=640,height=480,framerate=10/1"
#define SMALL "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1"

static GstHarness *
recorder (const gchar *path, const gchar *properties)
{
  g_autofree gchar *line = g_strdup_printf ("boxrecord location=\"%s\" %s", path, properties);
  GstHarness *h = harness_new_caps (line, BATCH_CAPS);

  return h;
}

static GstBuffer *
two_streams (GstClockTime pts)
{
  GstBuffer *batch = batches_new (pts, 2);

  batches_begin_stream (batch, 0, "a", LARGE, 0);
  batches_begin_stream (batch, 1, "b", SMALL, 10 * GST_SECOND);
  return batch;
}

#define A ",\"resolution\":{\"width\":640,\"height\":480},\"objects\":[]}\n"
#define B ",\"resolution\":{\"width\":320,\"height\":240},\"objects\":[]}\n"

/* The lines are tests/data/batches.jsonl, which the test of the schema reads, too. Stream b begins
 * at 10 s, which is its stream time 0. */
static void
test_lines (void)
{
  g_autofree gchar *path = text_file_path ("lines.jsonl");
  g_autofree gchar *data = g_build_filename (g_getenv ("NMS_TEST_DATA"), "batches.jsonl", NULL);
  g_autofree gchar *expected = text_file_read (data);
  g_autoptr (GstHarness) h = recorder (path, "add-stream-id=true");
  GstBuffer *batch = two_streams (GST_SECOND), *out;
  GstBufferList *list = gst_buffer_list_new ();

  batches_add (batch, 0, frame_new (GST_SECOND));
  batches_add (batch, 0, batches_single_new (2 * GST_SECOND, 0));
  gst_buffer_list_add (list, frame_new (11 * GST_SECOND));
  gst_buffer_list_add (list, frame_new (12 * GST_SECOND));
  batches_add (batch, 1, list);
  out = through (h, gst_buffer_ref (batch));
  g_assert_true (out == batch);
  gst_buffer_unref (out);
  gst_buffer_unref (batch);
  text_file_must_be (path, expected);
  assert_stats (h->element, "frames=4 boxes=1");
  g_assert_cmpuint (batches_stat_of (h->element, 0, "boxes"), ==, 1);
  g_assert_cmpuint (batches_stat_of (h->element, 1, "frames"), ==, 2);
  g_assert_cmpuint (batches_stat_of (h->element, 1, "boxes"), ==, 0);
}

/* The times of a stream are those of its own segments. */
static void
test_segments (void)
{
  g_autofree gchar *path = text_file_path ("segments.jsonl");
  g_autoptr (GstHarness) h = recorder (path, "");
  GstSegment segment;

  for (guint i = 0; i < 3; i++) {
    GstBuffer *batch = two_streams (i * GST_SECOND);

    if (i == 2) {
      gst_segment_init (&segment, GST_FORMAT_TIME);
      batches_add (batch, 0, gst_event_new_segment (&segment));
    }
    batches_add (batch, 0, frame_new (i == 2 ? 0 : i * GST_SECOND));
    batches_add (batch, 1, frame_new ((10 + i) * GST_SECOND));
    gst_buffer_unref (through (h, batch));
  }
  text_file_must_be (path,
      "{\"timestamp\":0,\"stream\":0" A "{\"timestamp\":0,\"stream\":1" B
      "{\"timestamp\":1000000000,\"stream\":0" A "{\"timestamp\":1000000000,\"stream\":1" B
      "{\"timestamp\":0,\"stream\":0" A "{\"timestamp\":2000000000,\"stream\":1" B);
}

/* A stream without caps, segment and id has the times of the batches and no size. */
static void
test_bare_stream (void)
{
  g_autofree gchar *path = text_file_path ("bare.jsonl");
  g_autoptr (GstHarness) h = recorder (path, "add-stream-id=true");
  GstBuffer *batch = batches_new (0, 1);

  batches_add (batch, 0, frame_new (3));
  gst_buffer_unref (through (h, batch));
  gst_buffer_unref (through (h, batches_new (GST_SECOND, 0)));
  text_file_must_be (path, "{\"timestamp\":3,\"stream\":0,\"objects\":[]}\n");
}

/* line-meta attaches the line to each buffer, and copies what a tee has too. */
static void
test_line_meta (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("boxrecord line-meta=true", BATCH_CAPS);
  g_autoptr (GstBuffer) batch = two_streams (0), out = NULL;

  batches_add (batch, 0, frame_new (0));
  batches_add (batch, 1, batches_single_new (10 * GST_SECOND, 0));
  out = through (h, gst_buffer_ref (batch));
  g_assert_true (out != batch);
  for (guint i = 0; i < 2; i++) {
    GstCustomMeta *meta = gst_buffer_get_custom_meta (batches_get (out, i, 0), "NmsBoxLineMeta");
    g_autofree gchar *member = g_strdup_printf ("\"stream\":%u,", i);

    g_assert_nonnull (meta);
    g_assert_nonnull (
        strstr (gst_structure_get_string (gst_custom_meta_get_structure (meta), "line"), member));
    g_assert_null (gst_buffer_get_custom_meta (batches_get (batch, i, 0), "NmsBoxLineMeta"));
  }
}

static void
take_stream (GstElement *element, GstBuffer *buffer, GstStructure *boxes, GString *streams)
{
  guint stream = 99;

  gst_structure_get_uint (boxes, "stream", &stream);
  g_string_append_printf (streams, "%u:%u ", stream, count_on (buffer));
}

static void
test_signal (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("boxrecord emit-signals=true", BATCH_CAPS);
  GstBuffer *batch = two_streams (0);
  g_autoptr (GString) streams = g_string_new (NULL);

  g_signal_connect (h->element, "frame-boxes", G_CALLBACK (take_stream), streams);
  batches_add (batch, 0, frame_new (0));
  batches_add (batch, 1, batches_pair_new (10 * GST_SECOND, 0));
  gst_buffer_unref (through (h, batch));
  g_assert_cmpstr (streams->str, ==, "0:0 1:2 ");
}

/* The pad boxes gives the text of all streams the times of the batch. */
static void
test_pad (void)
{
  g_autoptr (GstElement) element = element_new ("boxrecord emit-signals=true");
  g_autoptr (GstHarness) h = gst_harness_new_with_element (element, "sink", "src");
  g_autoptr (GstHarness) text = gst_harness_new_with_element (element, NULL, "boxes");
  GstBuffer *batch = two_streams (7 * GST_SECOND);

  gst_harness_set_src_caps_str (h, BATCH_CAPS);
  batches_add (batch, 0, batches_single_new (7 * GST_SECOND, 0));
  batches_add (batch, 1, batches_single_new (17 * GST_SECOND, 0));
  gst_buffer_unref (through (h, batch));
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GstBuffer) line = gst_harness_pull (text);

    g_assert_cmpuint (GST_BUFFER_PTS (line), ==, 7 * GST_SECOND);
    g_assert_cmpuint (GST_BUFFER_DURATION (line), ==, 100 * GST_MSECOND);
  }
}

static void
test_mot (void)
{
  g_autofree gchar *path = text_file_path ("out.txt");
  g_autofree gchar *line = g_strdup_printf ("boxrecord format=mot location=\"%s\"", path);
  g_autoptr (GstHarness) h = harness_new_caps (line, NULL);
  GstBus *bus = harness_bus (h);

  gst_harness_set_src_caps_str (h, BATCH_CAPS);
  g_assert_cmpint (gst_harness_push (h, two_streams (0)), ==, GST_FLOW_NOT_NEGOTIATED);
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR), "MOT text cannot name the streams");
}

static const TestCase cases[] = { CASE (test_lines), CASE (test_segments), CASE (test_bare_stream),
  CASE (test_line_meta), CASE (test_signal), CASE (test_pad), CASE (test_mot), { NULL } };

GST_TEST_PROGRAM (cases);
