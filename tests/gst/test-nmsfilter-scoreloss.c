/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: the warning about boxes without a confidence: when it is posted, that it is
 * posted once for each stream, and which element it names.
 */
#include <string.h>

#include "gstboxes.h"
#include "gstrunner.h"
#include "textfiles.h"

static GstBuffer *
scored (const gchar *label)
{
  GstBuffer *buffer = frame_new (0);

  add_scored (buffer, 1, label, 0, 0, 100, 100, 0.9);
  return buffer;
}

static GstBuffer *
unscored (const gchar *label)
{
  GstBuffer *buffer = frame_new (0);

  add_region (buffer, 1, label, 0, 0, 100, 100);
  return buffer;
}

static void
push (GstHarness *h, GstBuffer *buffer)
{
  gst_buffer_unref (through (h, buffer));
}

/* Fails unless the bus has exactly one warning, which contains `word`. */
static void
expect_warning (GstBus *bus, const gchar *word)
{
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  gchar *text;

  g_assert_nonnull (message);
  text = message_text (message);
  if (strstr (text, word) == NULL)
    g_error ("\"%s\" does not say \"%s\"", text, word);
  g_free (text);
  gst_message_unref (message);
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 0);
}

#define expect_no_warning(bus) g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 0)

/* ---------------------------------------------------------------- when it comes */

static void
test_global_threshold (void)
{
  GstHarness *h = harness_new ("nmsfilter score-threshold=0.6");
  GstBus *bus = harness_bus (h);
  guint i;

  push (h, frame_new (0));
  push (h, scored ("a"));
  expect_no_warning (bus);
  push (h, unscored ("a"));
  expect_warning (bus, "score threshold does not apply");
  for (i = 0; i < 3; i++) /* once a stream */
    push (h, unscored ("a"));
  expect_no_warning (bus);
  g_assert_true (gst_harness_push_event (h, gst_event_new_stream_start ("next")));
  push (h, unscored ("a"));
  expect_warning (bus, "nmsfilter before videoconvert");
  for (i = 0; i < 3; i++) { /* streams interleaved as funnel does it */
    g_assert_true (gst_harness_push_event (h, gst_event_new_stream_start ("third")));
    push (h, scored ("a"));
    g_assert_true (gst_harness_push_event (h, gst_event_new_stream_start ("next")));
    push (h, unscored ("a"));
  }
  expect_no_warning (bus);
  g_assert_cmpuint (stat_of (h->element, "unscored"), ==, 8);
  harness_teardown (h, bus);
}

/* Any threshold that is set leads to the warning, negative ones too. */
static void
test_thresholds (void)
{
  GstHarness *h = harness_new ("nmsfilter");
  GstBus *bus = harness_bus (h);

  push (h, unscored ("a"));
  expect_no_warning (bus);
  g_object_set (h->element, "score-threshold", -0.5, NULL);
  push (h, unscored ("a"));
  expect_warning (bus, "score threshold does not apply");
  harness_teardown (h, bus);
}

/* The threshold of a class leads to the warning only for boxes of that class. */
static void
test_class_threshold (void)
{
  GstHarness *h = harness_new ("nmsfilter class-options=o,b=[o,score-threshold=0.5],c=[o,max=3]");
  GstBus *bus = harness_bus (h);

  push (h, unscored ("a"));
  push (h, unscored ("c"));
  g_object_set (h->element, "classes", "a", NULL);
  push (h, unscored ("b")); /* passes with any confidence */
  g_object_set (h->element, "classes", NULL, NULL);
  expect_no_warning (bus);
  push (h, unscored ("b"));
  expect_warning (bus, "score threshold does not apply");
  harness_teardown (h, bus);
}

/* Also if only some of the boxes have no confidence. */
static void
test_partly_scored (void)
{
  GstHarness *h = harness_new ("nmsfilter");
  GstBus *bus = harness_bus (h);
  GstBuffer *buffer = scored ("a");
  guint i;

  add_region (buffer, 3, "a", 300, 0, 100, 100);
  for (i = 0; i < 3; i++) /* no warning without a threshold */
    push (h, gst_buffer_ref (buffer));
  expect_no_warning (bus);
  g_object_set (h->element, "score-threshold", 0.5, NULL);
  push (h, buffer);
  expect_warning (bus, "score threshold does not apply");
  harness_teardown (h, bus);
}

/* Without a threshold it warns if no box of a frame has a confidence, after a frame in
 * which boxes had one. */
static void
test_lost_scores (void)
{
  GstHarness *h = harness_new ("nmsfilter");
  GstBus *bus = harness_bus (h);
  guint round;

  for (round = 0; round < 2; round++) {
    push (h, unscored ("a")); /* no box had a confidence so far */
    push (h, frame_new (0));
    push (h, scored ("a"));
    push (h, frame_new (0));
    expect_no_warning (bus);
    push (h, unscored ("a"));
    expect_warning (bus, "earlier boxes of this stream had one");
    push (h, scored ("a")); /* once for each stream */
    push (h, unscored ("a"));
    expect_no_warning (bus);
    g_assert_true (gst_harness_push_event (h, gst_event_new_stream_start ("next")));
  }
  gst_element_set_state (h->element, GST_STATE_READY);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  harness_teardown (h, bus);
}

/* ------------------------------------------------------------ which one it names */

static GstPadProbeReturn
attach (GstPad *pad, GstPadProbeInfo *info, gpointer with_score)
{
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));

  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  if (with_score)
    add_scored (buffer, 1, "a", 0, 0, 100, 100, 0.9);
  else
    add_region (buffer, 1, "a", 0, 0, 100, 100);
  return GST_PAD_PROBE_OK;
}

/* Plays `pipeline`, which it takes, to its end. If there is an element `detector`,
 * attaches a box to each of its buffers. Returns the texts of the warnings of nmsfilter,
 * one on each line. */
static gchar *
warnings_of (GstElement *pipeline, gboolean with_score)
{
  GstElement *detector = gst_bin_get_by_name (GST_BIN (pipeline), "detector");
  GstBus *bus = gst_element_get_bus (pipeline);
  GString *texts = g_string_new (NULL);
  gboolean end = FALSE;
  GstMessage *message;

  if (detector) {
    GstPad *pad = gst_element_get_static_pad (detector, "src");

    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, attach, GINT_TO_POINTER (with_score), NULL);
    gst_object_unref (pad);
    gst_object_unref (detector);
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!end) {
    message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    g_assert_nonnull (message);
    g_assert_cmpint (GST_MESSAGE_TYPE (message), !=, GST_MESSAGE_ERROR);
    end = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
    if (!end) {
      gchar *text = message_text (message);

      g_string_append_printf (texts, "%s\n", text);
      g_free (text);
    }
    gst_message_unref (message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  return g_string_free (texts, FALSE);
}

/* Fails unless the only warning contains `expected`; with NULL there must be none. */
static void
check (GstElement *pipeline, gboolean with_score, const gchar *expected)
{
  gchar *texts = warnings_of (pipeline, with_score);

  g_test_message ("%s", texts);
  if (expected == NULL) {
    g_assert_cmpstr (texts, ==, "");
  } else {
    g_assert_nonnull (strstr (texts, expected));
    g_assert_true (strchr (texts, '\n') == strrchr (texts, '\n'));
  }
  g_free (texts);
}

#define SOURCE \
  "videotestsrc name=detector num-buffers=3 ! " \
  "video/x-raw,format=RGB,width=320,height=240 ! "
#define FILTER "nmsfilter score-threshold=0.6 ! fakesink"

static void
test_named (void)
{
  static const struct
  {
    const gchar *pipeline;
    gboolean with_score;
    const gchar *expected;
  } cases[] = {
    { SOURCE FILTER, TRUE, NULL },
    { SOURCE FILTER, FALSE, "They come from detector (videotestsrc)" },
    { SOURCE "videoconvert name=c ! video/x-raw,format=I420 ! " FILTER, FALSE,
        "c (videoconvert) probably dropped it" },
    { SOURCE "videoscale name=s ! video/x-raw,width=160,height=120 ! queue ! tee ! identity ! "
             "queue ! " FILTER,
        FALSE, "s (videoscale) probably dropped it" },
    { SOURCE
        "videoconvert name=far ! video/x-raw,format=I420 ! "
        "videoscale name=near ! video/x-raw,width=160,height=120 ! nmsfilter ! queue ! " FILTER,
        FALSE, "near (videoscale) probably dropped it" },
    /* a converter in passthrough keeps all metadata */
    { SOURCE "videoconvert name=far ! video/x-raw,format=I420 ! videoscale ! " FILTER, FALSE,
        "far (videoconvert) probably dropped it" },
    { SOURCE "videoconvert ! " FILTER, TRUE, NULL },
    { SOURCE "videoconvert ! " FILTER, FALSE, "They come from detector (videotestsrc)" },
    /* one input, and one of several inputs */
    { SOURCE "input-selector ! " FILTER, FALSE, "They come from detector (videotestsrc)" },
    { SOURCE "funnel name=f ! " FILTER " videotestsrc num-buffers=3 ! "
             "video/x-raw,format=RGB,width=320,height=240 ! f.",
        FALSE, "They come from f (funnel)" },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GError *error = NULL;
    GstElement *pipeline = gst_parse_launch (cases[i].pipeline, &error);

    g_assert_no_error (error);
    check (pipeline, cases[i].with_score, cases[i].expected);
  }
}

/* Behind a crop the advice names boxtransform, and the search passes it. */
static void
test_cropped (void)
{
  if (!has_element ("videocrop")) {
    g_test_skip ("there is no videocrop");
    return;
  }
  check (gst_parse_launch (
             "videotestsrc num-buffers=3 ! video/x-raw,format=RGB,width=320,"
             "height=240 ! videocrop name=detector left=8 ! boxtransform left=8 ! " FILTER,
             NULL),
      FALSE,
      "detector (videocrop) probably dropped it: put nmsfilter before that element, or "
      "send the boxes around it and move them with boxtransform (docs/geometry.md).");
}

/* The converter and nmsfilter are each in bins within bins. */
static void
test_bins (void)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *parts[3];
  guint i;

  parts[0] = gst_parse_bin_from_description (SOURCE "videoconvert name=c ! "
                                                    "capsfilter caps=video/x-raw,format=I420",
      TRUE, NULL);
  parts[1] = gst_parse_bin_from_description ("queue", TRUE, NULL);
  parts[2] = gst_parse_bin_from_description ("nmsfilter score-threshold=0.6 ! fakesink", TRUE,
      NULL);
  for (i = 0; i < 3; i++) {
    GstElement *outer = gst_bin_new (NULL);
    GstPad *pad;

    gst_bin_add (GST_BIN (outer), parts[i]);
    for (pad = NULL; i > 0 && pad == NULL;) {
      pad = gst_element_get_static_pad (parts[i], "sink");
      gst_element_add_pad (outer, gst_ghost_pad_new ("sink", pad));
      gst_object_unref (pad);
    }
    for (pad = NULL; i < 2 && pad == NULL;) {
      pad = gst_element_get_static_pad (parts[i], "src");
      gst_element_add_pad (outer, gst_ghost_pad_new ("src", pad));
      gst_object_unref (pad);
    }
    gst_bin_add (GST_BIN (pipeline), outer);
    parts[i] = outer;
  }
  g_assert_true (gst_element_link_many (parts[0], parts[1], parts[2], NULL));
  check (pipeline, FALSE, "c (videoconvert) probably dropped it");
}

/* A pipeline with recorded confidences, a converter and a threshold. */
static void
test_replayed (void)
{
  static const gchar *const lines =
      "{\"objects\":[{\"x\":1,\"y\":2,\"w\":30,\"h\":40,\"roi_type\":\"a\","
      "\"detection\":{\"confidence\":0.9}}]}\n"
      "{\"objects\":[]}\n";
  static const gchar *const unscored_lines =
      "{\"objects\":[{\"x\":1,\"y\":2,\"w\":30,\"h\":40,\"roi_type\":\"a\"}]}\n";
  static const struct
  {
    const gchar *lines, *elements, *expected;
  } cases[] = {
    { lines, "boxreplay name=r location=%s ! ", NULL },
    /* regions only, because videoconvert copies GstAnalytics metadata from GStreamer
     * 1.26 on */
    { lines,
        "boxreplay name=r meta=roi location=%s ! videoconvert name=c ! "
        "video/x-raw,format=I420 ! ",
        "c (videoconvert) probably dropped it" },
    { unscored_lines,
        "videoconvert name=c ! video/x-raw,format=I420 ! "
        "boxreplay name=r location=%s ! ",
        "They come from r (boxreplay)" },
  };
  guint i;

  if (!has_element ("boxreplay")) {
    g_test_skip ("built without boxreplay");
    return;
  }
  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *path = text_file_new ("boxes.jsonl", cases[i].lines, -1);
    gchar *elements = g_strdup_printf (cases[i].elements, path);
    gchar *line = g_strconcat ("videotestsrc num-buffers=3 ! "
                               "video/x-raw,format=RGB,width=320,height=240 ! ",
        elements, FILTER, NULL);
    GError *error = NULL;
    GstElement *pipeline = gst_parse_launch (line, &error);

    g_assert_no_error (error);
    check (pipeline, FALSE, cases[i].expected);
    g_free (line);
    g_free (elements);
    g_free (path);
  }
}

static const TestCase cases[] = { { "/nmsfilter/scoreloss/global-threshold",
                                      test_global_threshold },
  { "/nmsfilter/scoreloss/thresholds", test_thresholds },
  { "/nmsfilter/scoreloss/class-threshold", test_class_threshold },
  { "/nmsfilter/scoreloss/partly-scored", test_partly_scored },
  { "/nmsfilter/scoreloss/lost-scores", test_lost_scores },
  { "/nmsfilter/scoreloss/named", test_named }, { "/nmsfilter/scoreloss/cropped", test_cropped },
  { "/nmsfilter/scoreloss/bins", test_bins }, { "/nmsfilter/scoreloss/replayed", test_replayed },
  { NULL } };

GST_TEST_PROGRAM (cases, .needs = "videotestsrc videoconvert");
