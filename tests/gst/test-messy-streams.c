/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams from sources of GStreamer itself: frames without timestamps, at a variable
 * rate, with a size that changes, in the branches of a tee. boxreplay attaches the boxes
 * of each frame, nmsfilter filters them, boxrecord writes them. The output must equal
 * the recording, or what nmsfilter leaves of it, box for box.
 */
#include "gstrunner.h"
#include "numbered.h"
#include "playing.h"
#include "textfiles.h"

#include <string.h>

#define FRAMES 60
#define SETTINGS "iou-threshold=0.3"
/* frames without a known size and rate */
#define SOURCE "fakesrc name=source num-buffers=%d sizetype=fixed sizemax=16 "
#define UNKNOWN "capsfilter caps=application/x-frames"

static void
must_be_equal (const gchar *left, const gchar *right)
{
  g_autofree gchar *a = text_file_read (left), *b = text_file_read (right);

  g_assert_cmpstr (a, ==, b);
  g_assert_cmpuint (strlen (a), >, 1000);
}

/* --------------------------------------------------------------- timestamps */

static GstPadProbeReturn
count_frame (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Numbered *seen = user_data;

  g_assert_false (GST_BUFFER_PTS_IS_VALID (GST_PAD_PROBE_INFO_BUFFER (info)));
  numbered_see (seen, GST_PAD_PROBE_INFO_BUFFER (info), seen->count);
  return GST_PAD_PROBE_OK;
}

/* Without timestamps boxes belong to frames by their order. */
static void
test_without_timestamps (void)
{
  g_autofree gchar *all = text_file_path ("all.jsonl"), *copy = text_file_path ("copy.jsonl");
  Numbered *seen = g_new (Numbered, 1);
  GstClockTime times[FRAMES];
  g_autoptr (GstElement) pipeline = NULL;

  for (guint i = 0; i < FRAMES; i++)
    times[i] = GST_CLOCK_TIME_NONE;
  numbered_record (all, FRAMES, 0, 0, times);
  numbered_expect (seen, SETTINGS, FRAMES, 0, 0);
  pipeline = playing_new (SOURCE
      " ! " UNKNOWN " ! "
      "boxreplay meta=roi name=replay location=%s ! boxrecord location=%s ! "
      "nmsfilter " SETTINGS " ! "
      "fakesink name=sink",
      FRAMES, all, copy);
  playing_probe (pipeline, "sink", "sink", count_frame, seen);
  playing_to_end (pipeline);
  numbered_must_be (seen, 0, FRAMES - 1);
  g_assert_cmpuint (playing_stat (pipeline, "replay", "unmatched"), ==, 0);
  must_be_equal (all, copy);
  g_free (seen);
}

/* The frames are 1 ms to 3 s apart; two have the same time. */
static GstClockTime
irregular (guint index)
{
  static const guint steps[] = { 40, 1, 33, 500, 7, 3000, 100, 16 };
  GstClockTime time = 0;

  for (guint i = 0; i < index; i++)
    time += steps[i % G_N_ELEMENTS (steps)];
  return time * GST_MSECOND;
}

typedef struct
{
  guint sent;
  Numbered seen;
} Irregular;

static GstPadProbeReturn
set_irregular (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Irregular *state = user_data;
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));

  GST_BUFFER_PTS (buffer) = irregular (state->sent++);
  GST_BUFFER_DURATION (buffer) = GST_CLOCK_TIME_NONE;
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
see_irregular (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Irregular *state = user_data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);

  g_assert_cmpuint (GST_BUFFER_PTS (buffer), ==, irregular (state->seen.count));
  numbered_see (&state->seen, buffer, state->seen.count);
  return GST_PAD_PROBE_OK;
}

static void
test_variable_rate (void)
{
  g_autofree gchar *all = text_file_path ("all.jsonl"), *copy = text_file_path ("copy.jsonl");
  Irregular *state = g_new0 (Irregular, 1);
  GstClockTime times[FRAMES];
  g_autoptr (GstElement) pipeline = NULL;

  for (guint i = 0; i < FRAMES; i++)
    times[i] = irregular (i);
  numbered_record (all, FRAMES, 0, 0, times);
  numbered_expect (&state->seen, SETTINGS, FRAMES, 0, 0);
  pipeline = playing_new (SOURCE "format=time ! " UNKNOWN " ! "
                                 "boxreplay meta=roi name=replay tolerance=400000 location=%s ! "
                                 "boxrecord location=%s ! nmsfilter " SETTINGS
                                 " ! fakesink name=sink",
      FRAMES, all, copy);
  playing_probe (pipeline, "source", "src", set_irregular, state);
  playing_probe (pipeline, "sink", "sink", see_irregular, state);
  playing_to_end (pipeline);
  numbered_must_be (&state->seen, 0, FRAMES - 1);
  g_assert_cmpuint (playing_stat (pipeline, "replay", "unmatched"), ==, 0);
  must_be_equal (all, copy);
  g_free (state);
}

/* --------------------------------------------------------------------- caps */

static GstPadProbeReturn
see_first_half (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Numbered *halves = user_data;
  GstCaps *caps = gst_pad_get_current_caps (pad);
  GstClockTime pts = GST_BUFFER_PTS (GST_PAD_PROBE_INFO_BUFFER (info));
  gint width;

  gst_structure_get_int (gst_caps_get_structure (caps, 0), "width", &width);
  gst_caps_unref (caps);
  /* each source of concat starts at stream time 0 */
  numbered_see (&halves[width != halves[0].width], GST_PAD_PROBE_INFO_BUFFER (info),
      (guint) (pts / NUMBERED_TIME));
  return GST_PAD_PROBE_OK;
}

/* The frame size changes from 640x480 to 320x192, and the boxes are scaled with it. */
static void
test_resolution_change (void)
{
  GstElementFactory *factory = gst_element_factory_find ("videotestsrc");
  gchar *all = text_file_path ("all.jsonl");
  Numbered *halves = g_new (Numbered, 2);
  GstElement *pipeline;

  if (factory == NULL) {
    g_test_skip ("there is no videotestsrc (gstreamer1.0-plugins-base)");
    g_free (halves);
    g_free (all);
    return;
  }
  numbered_record (all, FRAMES, 640, 480, NULL);
  numbered_expect (&halves[0], SETTINGS, FRAMES, 640, 480);
  numbered_expect (&halves[1], SETTINGS, FRAMES, 320, 192);
  pipeline = playing_new (
      "concat name=c adjust-base=false ! boxreplay meta=roi location=%s ! "
      "nmsfilter name=filter " SETTINGS " ! fakesink name=sink "
      "videotestsrc num-buffers=%d ! video/x-raw,format=GRAY8,width=640,height=480,"
      "framerate=10/1 ! c. videotestsrc num-buffers=%d ! video/x-raw,format=GRAY8,width=320,"
      "height=192,framerate=10/1 ! c.",
      all, FRAMES, FRAMES);
  playing_probe (pipeline, "sink", "sink", see_first_half, halves);
  playing_to_end (pipeline);
  numbered_must_be (&halves[0], 0, FRAMES - 1);
  numbered_must_be (&halves[1], 0, FRAMES - 1);
  g_assert_cmpuint (playing_stat (pipeline, "filter", "frames"), ==, 2 * FRAMES);
  gst_object_unref (pipeline);
  gst_object_unref (factory);
  g_free (halves);
  g_free (all);
}

/* ---------------------------------------------------------------------- tee */

/* One branch is filtered, one tagged, one unchanged. All get the same buffers from one
 * source, in three threads. */
static void
test_tee (void)
{
  g_autofree gchar *all = text_file_path ("all.jsonl"), *copy = text_file_path ("copy.jsonl");
  Irregular *state = g_new0 (Irregular, 1);
  GstClockTime times[FRAMES];
  g_autoptr (GstElement) pipeline = NULL;

  for (guint i = 0; i < FRAMES; i++)
    times[i] = irregular (i);
  numbered_record (all, FRAMES, 0, 0, times);
  numbered_expect (&state->seen, SETTINGS, FRAMES, 0, 0);

  pipeline = playing_new (SOURCE "format=time ! " UNKNOWN " ! "
                                 "boxreplay meta=roi tolerance=400000 location=%s ! tee name=t "
                                 "t. ! queue ! nmsfilter " SETTINGS " ! fakesink name=filtered "
                                 "t. ! queue ! boxrecord location=%s ! fakesink name=plain "
                                 "t. ! queue ! nmsfilter action=tag " SETTINGS
                                 " ! fakesink name=tagged",
      FRAMES, all, copy);
  playing_probe (pipeline, "source", "src", set_irregular, state);
  playing_probe (pipeline, "filtered", "sink", see_irregular, state);
  playing_to_end (pipeline);
  numbered_must_be (&state->seen, 0, FRAMES - 1);
  must_be_equal (all, copy);

  g_free (state);
}

static const TestCase cases[] = { CASE (test_without_timestamps), CASE (test_variable_rate),
  CASE (test_resolution_change), CASE (test_tee), { NULL } };

GST_TEST_PROGRAM (cases);
