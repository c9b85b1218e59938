/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxrecord: the pad boxes: its text, events, and what happens without a peer. */
#include "gstrunner.h"

#define FRAME (100 * GST_MSECOND)
#define TEXT(label) \
  "{\"timestamp\":300000000,\"resolution\":{\"width\":640,\"height\":480},\"objects\":[{\"x\":10," \
  "\"y\":20,\"w\":30,\"h\":40,\"roi_type\":\"" label "\",\"region_id\":1,\"detection\":{" \
  "\"bounding_box\":{\"x_min\":0.015625,\"y_min\":0.041666666666666664,\"x_max\":0.0625," \
  "\"y_max\":0.125},\"confidence\":0.5,\"label\":\"" label "\"}}]}\n"

/* A frame at 3 * FRAME, and what comes out of the pad. */
typedef struct
{
  const gchar *name, *line, *boxes;
  const gchar *text; /* NULL: a gap */
} Row;

static const Row rows[] = {
  { "pushes_a_line_with_the_times_of_the_frame", "boxrecord", "1 a 10,20,30,40 0.5", TEXT ("a") },
  { "pushes_a_gap_for_a_frame_without_boxes", "boxrecord", "", NULL },
  { "pushes_empty_lines_if_told_so", "boxrecord empty-lines=true", "",
      "{\"timestamp\":300000000,\"resolution\":{\"width\":640,\"height\":480},\"objects\":[]}\n" },
  /* demuxers take text with < or & for markup */
  { "writes_markup_as_escapes", "boxrecord", "1 <b>&amp 10,20,30,40 0.5",
      TEXT ("\\u003cb\\u003e\\u0026amp") },
  { NULL },
};

/* A boxrecord whose two source pads are in a harness each. */
typedef struct
{
  GstElement *element;
  GstHarness *video, *boxes;
} Pads;

static Pads
pads_new (const gchar *launch_line)
{
  Pads pads = { .element = element_new (launch_line) };

  /* the first harness starts the element */
  pads.boxes = gst_harness_new_with_element (pads.element, NULL, "boxes");
  pads.video = gst_harness_new_with_element (pads.element, "sink", "src");
  gst_harness_set_src_caps_str (pads.video, FRAME_CAPS);
  return pads;
}

static void
pads_free (Pads *pads)
{
  gst_harness_teardown (pads->boxes);
  gst_harness_teardown (pads->video);
  gst_object_unref (pads->element);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pads, pads_free)

static void
push_frame (Pads *pads, guint number, const gchar *boxes)
{
  GstBuffer *buffer = frame_new (number * FRAME);

  add_boxes (buffer, boxes);
  gst_buffer_unref (through (pads->video, buffer));
}

/* Fails unless the next buffer of the pad boxes is of this frame, with this text (NULL: any). */
static void
expect_text (Pads *pads, guint number, const gchar *expected)
{
  g_autoptr (GstBuffer) buffer = gst_harness_try_pull (pads->boxes);
  g_autofree gchar *text = NULL;
  gsize length;

  g_assert_nonnull (buffer);
  g_assert_cmpuint (GST_BUFFER_PTS (buffer), ==, number * FRAME);
  g_assert_cmpuint (GST_BUFFER_DURATION (buffer), ==, FRAME);
  length = gst_buffer_get_size (buffer);
  text = g_malloc0 (length + 1);
  gst_buffer_extract (buffer, 0, text, length);
  if (expected)
    g_assert_cmpstr (text, ==, expected);
}

/* Returns the next event of this type that came out of the pad boxes, dropping others, or NULL. */
static GstEvent *
take_event (Pads *pads, GstEventType type)
{
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (pads->boxes)) && GST_EVENT_TYPE (event) != type)
    gst_event_unref (event);
  return event;
}

static void
must_come (Pads *pads, GstEventType type)
{
  g_autoptr (GstEvent) event = take_event (pads, type);

  if (event == NULL)
    g_error ("no %s", gst_event_type_get_name (type));
}

static void
run_row (gconstpointer data)
{
  const Row *row = data;
  g_auto (Pads) pads = pads_new (row->line);
  g_autoptr (GstEvent) gap = NULL;

  push_frame (&pads, 3, row->boxes);
  if (row->text)
    expect_text (&pads, 3, row->text);
  g_assert_null (gst_harness_try_pull (pads.boxes));
  gap = take_event (&pads, GST_EVENT_GAP);
  if (row->text) {
    g_assert_null (gap);
  } else {
    GstClockTime start, duration;

    gst_event_parse_gap (gap, &start, &duration);
    g_assert_true (start == 3 * FRAME && duration == FRAME);
  }
  assert_stats (pads.element, "frames=1");
}

static void
begins_as_the_video_does (void)
{
  g_auto (Pads) pads = pads_new ("boxrecord");
  g_autoptr (GstEvent) begin = NULL, caps_event = NULL, segment_event = NULL;
  const GstSegment *found;
  GstStreamFlags flags;
  GstCaps *caps;

  push_segment (pads.video, 2 * FRAME, 2 * FRAME);
  push_frame (&pads, 2, "");
  begin = take_event (&pads, GST_EVENT_STREAM_START);
  gst_event_parse_stream_flags (begin, &flags);
  g_assert_true (flags & GST_STREAM_FLAG_SPARSE);
  caps_event = take_event (&pads, GST_EVENT_CAPS);
  gst_event_parse_caps (caps_event, &caps);
  g_assert_true (gst_structure_has_name (gst_caps_get_structure (caps, 0), "text/x-raw"));
  segment_event = take_event (&pads, GST_EVENT_SEGMENT);
  gst_event_parse_segment (segment_event, &found);
  g_assert_true (found->start == 2 * FRAME && found->time == 2 * FRAME);
}

static void
forwards_gaps_flushes_and_eos (void)
{
  g_auto (Pads) pads = pads_new ("boxrecord");

  push_frame (&pads, 0, rows[0].boxes);
  gst_harness_push_event (pads.video, gst_event_new_gap (FRAME, FRAME));
  must_come (&pads, GST_EVENT_GAP);
  push_flush (pads.video);
  must_come (&pads, GST_EVENT_FLUSH_START);
  must_come (&pads, GST_EVENT_FLUSH_STOP);
  push_segment (pads.video, 0, 0);
  push_frame (&pads, 1, rows[0].boxes);
  must_come (&pads, GST_EVENT_SEGMENT);
  gst_harness_push_event (pads.video, gst_event_new_eos ());
  must_come (&pads, GST_EVENT_EOS);
}

/* Neither a pad without a peer nor one at its end stops the video. */
static void
leaves_the_video_alone (void)
{
  g_auto (Pads) pads = { .element = element_new ("boxrecord") };
  GstPad *pad = gst_element_request_pad_simple (pads.element, "boxes");
  g_autoptr (GstPadTemplate) template = gst_pad_get_pad_template (pad);

  pads.video = gst_harness_new_with_element (pads.element, "sink", "src");
  gst_harness_set_src_caps_str (pads.video, FRAME_CAPS);
  push_frame (&pads, 0, rows[0].boxes);
  gst_pad_push_event (pad, gst_event_new_eos ());
  push_frame (&pads, 1, rows[0].boxes);
  g_assert_null (gst_element_request_pad (pads.element, template, NULL, NULL));
  gst_element_release_request_pad (pads.element, pad);
  gst_object_unref (pad);
  push_frame (&pads, 2, rows[0].boxes);

  /* a pad requested in mid-stream gets the same events first */
  pads.boxes = gst_harness_new_with_element (pads.element, NULL, "boxes");
  push_frame (&pads, 3, rows[0].boxes);
  must_come (&pads, GST_EVENT_SEGMENT);
  expect_text (&pads, 3, NULL);
}

static GstFlowReturn
fail_to_take (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_ERROR;
}

static void
stops_at_an_error_downstream (void)
{
  g_auto (Pads) pads = pads_new ("boxrecord");

  gst_pad_set_chain_function (pads.boxes->sinkpad, fail_to_take);
  push_frame (&pads, 0, "");
  g_assert_cmpint (gst_harness_push (pads.video, frame_with (rows[0].boxes)), ==, GST_FLOW_ERROR);
}

static const TestCase cases[] = { TEST_ROWS ("/%s", run_row, rows), CASE (begins_as_the_video_does),
  CASE (forwards_gaps_flushes_and_eos), CASE (leaves_the_video_alone),
  CASE (stops_at_an_error_downstream), { NULL } };

GST_TEST_PROGRAM (cases);
