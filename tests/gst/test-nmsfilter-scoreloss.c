/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: the warning about boxes without a confidence: when it is posted, and that it is
 * posted once for each stream.
 */
#include "gstrunner.h"
#include "playing.h"
#include "steps.h"
#include "textfiles.h"

/* Plays a step: pushes a frame, begins a stream, checks which warning came, sets a property, or
 * checks the count of boxes without a confidence. */
static void
play_step (gpointer player, const gchar *step)
{
  static const gchar *const frames[][2] = { { "none", "" }, { "scored", "1 a 0,0,100,100 0.9" },
    { "unscored", "1 a 0,0,100,100" }, { "unscored-b", "1 b 0,0,100,100" },
    { "unscored-c", "1 c 0,0,100,100" }, { "both", "1 a 0,0,100,100 0.9; 3 a 300,0,100,100" } };
  static const gchar *const warnings[][2] = { { "!", NULL },
    { "!threshold", "score threshold does not apply" },
    { "!convert", "nmsfilter before videoconvert" },
    { "!lost", "earlier boxes of this stream had one" } };
  GstHarness *h = player;
  g_autoptr (GstBus) bus = gst_element_get_bus (h->element);
  g_auto (GStrv) words = g_strsplit (step, "=", 2);

  for (guint i = 0; i < G_N_ELEMENTS (frames); i++)
    if (g_str_equal (step, frames[i][0])) {
      gst_buffer_unref (through (h, frame_with (frames[i][1])));
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (warnings); i++)
    if (g_str_equal (step, warnings[i][0])) {
      if (warnings[i][1])
        assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), warnings[i][1]);
      g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 0);
      return;
    }
  if (g_str_equal (words[0], "stream"))
    g_assert_true (gst_harness_push_event (h, gst_event_new_stream_start (words[1])));
  else if (g_str_equal (words[0], "unscored"))
    assert_stats (h->element, step);
  else if (words[1])
    gst_util_set_object_arg (G_OBJECT (h->element), words[0], words[1]);
  else
    steps_unknown (step);
}

typedef struct
{
  const gchar *name, *line, *steps;
} Row;

static void
run_row (gconstpointer data)
{
  const Row *row = data;
  g_autoptr (GstHarness) h = harness_new (row->line);

  harness_bus (h);
  steps_play (row->steps, play_step, h);
}

static const Row losses[] = {
  /* once for each stream, also if funnel interleaves them */
  { "threshold", "nmsfilter score-threshold=0.6",
      "none scored ! unscored !threshold unscored unscored unscored ! stream=2 unscored !convert "
      "stream=3 scored stream=2 unscored stream=3 scored stream=2 unscored ! unscored=7" },
  /* only for boxes of the class; boxes of other classes than `classes` pass with any confidence */
  { "threshold of a class", "nmsfilter class-options=o,b=[o,score-threshold=0.5],c=[o,max=3]",
      "unscored unscored-c classes=a unscored-b classes= ! unscored-b !threshold" },
  /* also if only some boxes have no confidence, and with a negative threshold */
  { "partly scored", "nmsfilter", "both both both ! score-threshold=-0.5 both !threshold" },
  /* without a threshold, if no box of a frame has a confidence, after a frame in which one had */
  { "lost scores", "nmsfilter",
      "unscored none scored none ! unscored !lost scored unscored ! stream=2 "
      "unscored none scored none ! unscored !lost scored unscored !" },
  { NULL },
};

#define LINE "{\"objects\":[{\"x\":1,\"y\":2,\"w\":30,\"h\":40,\"roi_type\":\"a\""

/* A converter in the pipeline drops recorded confidences. There is a warning with a threshold and
 * without one, and none if the converter converts nothing or is in front of the boxes. */
static void
test_converted (void)
{
  static const struct
  {
    const gchar *before, *behind, *properties;
    gboolean unscored;
    GstMessageType end;
  } rows[] = {
    { "", "", "score-threshold=0.6", FALSE, GST_MESSAGE_EOS },
    { "", "videoconvert ! video/x-raw,format=I420 !", "score-threshold=0.6", FALSE,
        GST_MESSAGE_WARNING },
    { "", "videoconvert ! video/x-raw,format=I420 !", "", FALSE, GST_MESSAGE_WARNING },
    { "", "videoscale ! video/x-raw,width=160 ! queue ! videoconvert !", "", FALSE,
        GST_MESSAGE_WARNING },
    { "", "videoconvert ! queue !", "", TRUE, GST_MESSAGE_EOS },
    { "videoconvert ! video/x-raw,format=I420 !", "queue !", "", TRUE, GST_MESSAGE_EOS },
  };
  gchar *paths[2];

  if (!has_element ("boxreplay")) {
    g_test_skip ("built without boxreplay");
    return;
  }
  paths[FALSE] = text_file_new ("boxes.jsonl", LINE ",\"detection\":{\"confidence\":0.9}}]}\n", -1);
  paths[TRUE] = text_file_new ("unscored.jsonl", LINE "}]}\n", -1);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    /* regions only, because videoconvert copies GstAnalytics metadata from GStreamer 1.26 on */
    g_autoptr (GstElement)
        pipeline = playing_new ("videotestsrc num-buffers=3 ! "
                                "video/x-raw,format=RGB,width=320,height=240 ! %s "
                                "boxreplay meta=roi location=%s ! %s "
                                "nmsfilter %s ! fakesink",
            rows[i].before, paths[rows[i].unscored], rows[i].behind, rows[i].properties);

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    gst_message_unref (playing_wait (pipeline, rows[i].end));
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
  g_free (paths[FALSE]);
  g_free (paths[TRUE]);
}

static const TestCase cases[] = { TEST_ROWS ("/%s", run_row, losses), CASE (test_converted),
  { NULL } };

GST_TEST_PROGRAM (cases, .needs = "videotestsrc videoconvert");
