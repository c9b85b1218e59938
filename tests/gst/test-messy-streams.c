/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams from sources of GStreamer itself and from files: the branches of a tee, a size that
 * changes, seeks, segments, playing backward. Each frame has two boxes that overlap. All frames
 * must arrive in order, once, with the box that nmsfilter leaves of the two.
 */
#include "gstrunner.h"
#include "playing.h"
#include "textfiles.h"

#define FRAMES 60 /* frames in the recordings */
#define FRAME (100 * GST_MSECOND)
#define SMALL_CAPS "video/x-raw,format=GRAY8,width=320,height=192,framerate=10/1"
#define SOURCE(caps) \
  "fakesrc num-buffers=" G_STRINGIFY (FRAMES) " sizetype=fixed sizemax=16 datarate=160 " \
                                              "format=time ! capsfilter caps=" caps " ! "
#define VIDEO "/usr/share/doc/opencv-doc/examples/data/vtest.avi"

/* ------------------------------------------------------------- numbered frames */

/* Records ten frames a second, each with two boxes, of which nmsfilter leaves the one whose id is
 * the number of the frame. Returns the path. Free it. */
static gchar *
record (void)
{
  gchar *path = text_file_path ("all.jsonl");
  g_autofree gchar *line = g_strdup_printf ("boxrecord location=%s", path);
  g_autoptr (GstHarness) h = harness_new (line);

  for (guint i = 0; i < FRAMES; i++) {
    GstBuffer *buffer = frame_new (i * FRAME);
    g_autofree gchar *boxes = g_strdup_printf ("%u car 64,40,320,240 0.8; %u car 64,40,320,240 0.9",
        i + 1000, i);

    add_boxes (buffer, boxes);
    gst_buffer_unref (through (h, buffer));
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  return path;
}

/* Appends the ids of the boxes on a frame. */
static void
see (GString *seen, GstBuffer *buffer)
{
  g_string_append_printf (seen, "[%s]", ids_on (buffer));
}

/* Fails unless the frames first to last came, in order, `rounds` times, and with the right box.
 * They came backward if last < first. Empties the text. */
static void
must_be_seen (GString *seen, gint first, gint last, guint rounds)
{
  const gint step = last < first ? -1 : 1;
  g_autoptr (GString) expected = g_string_new (NULL);

  for (; rounds > 0; rounds--)
    for (gint i = first; i != last + step; i += step)
      g_string_append_printf (expected, "[%d]", i);
  g_assert_cmpstr (seen->str, ==, expected->str);
  g_string_truncate (seen, 0);
}

/* ------------------------------------------------------------------- streams */

static GstPadProbeReturn
see_next (GstPad *pad, GstPadProbeInfo *info, gpointer seen)
{
  see (seen, GST_PAD_PROBE_INFO_BUFFER (info));
  return GST_PAD_PROBE_OK;
}

/* One branch is filtered, one tagged, and one recorded unchanged, in three threads. */
static void
test_tee (void)
{
  g_autofree gchar *all = record (), *before = text_file_read (all);
  g_autofree gchar *copy = text_file_path ("copy.jsonl");
  g_autoptr (GString) seen = g_string_new (NULL);
  g_autoptr (GstElement) pipeline =
      playing_new (SOURCE (FRAME_CAPS) "boxreplay name=replay meta=roi location=%s ! tee name=t "
                                       "t. ! queue ! nmsfilter ! fakesink name=sink "
                                       "t. ! queue ! boxrecord location=%s ! fakesink "
                                       "t. ! queue ! nmsfilter action=tag ! fakesink",
          all, copy);

  playing_probe (pipeline, "sink", "sink", see_next, seen);
  playing_to_end (pipeline);
  must_be_seen (seen, 0, FRAMES - 1, 1);
  g_assert_cmpuint (playing_stat (pipeline, "replay", "unmatched"), ==, 0);
  text_file_must_be (copy, before);
}

/* Sees frames of two sizes, with boxes of the right size. */
static GstPadProbeReturn
see_scaled (GstPad *pad, GstPadProbeInfo *info, gpointer seen)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  gint width;

  g_assert_true (gst_structure_get_int (gst_caps_get_structure (caps, 0), "width", &width));
  g_assert_cmpstr (boxes_on (buffer), ==, width == 640 ? "64,40,320,240" : "32,16,160,96");
  see (seen, buffer);
  return GST_PAD_PROBE_OK;
}

/* The frame size changes from 640x480 to 320x192, and the boxes are scaled with it. */
static void
test_resolution_change (void)
{
  g_autofree gchar *all = record ();
  g_autoptr (GString) seen = g_string_new (NULL);
  g_autoptr (GstElement) pipeline = playing_new (
      "concat name=c adjust-base=false ! boxreplay meta=roi location=%s ! nmsfilter name=filter ! "
      "fakesink name=sink " SOURCE (FRAME_CAPS) "c. " SOURCE (SMALL_CAPS) "c.",
      all);

  playing_probe (pipeline, "sink", "sink", see_scaled, seen);
  playing_to_end (pipeline);
  must_be_seen (seen, 0, FRAMES - 1, 2);
  g_assert_cmpuint (playing_stat (pipeline, "filter", "frames"), ==, 2 * FRAMES);
}

/* -------------------------------------------------------------------- files */

typedef struct
{
  gdouble rate; /* negative: the frames before `end` come first; 0: there is no part */
  GstSeekFlags flags;
  gint first, end; /* frames; `end` is not included */
} Part;

typedef struct
{
  const gchar *name;
  Part parts[7];
} SeekRow;

static const SeekRow seeks[] = {
  { "seeks",
      { { 1, GST_SEEK_FLAG_FLUSH, 0, 20 }, { 1, GST_SEEK_FLAG_FLUSH, 33, 47 }, /* no key frame */
          { 1, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_SEGMENT, 50, 60 },
          { 1, GST_SEEK_FLAG_SEGMENT, 10, 20 }, /* without a flush, as in a loop */
          { 1, GST_SEEK_FLAG_SEGMENT, 10, 20 },
          { 2, GST_SEEK_FLAG_FLUSH, 5, 15 } } }, /* faster, without dropping frames */
  /* avidemux outputs nothing if the end is between two key frames */
  { "backwards",
      { { -1, GST_SEEK_FLAG_FLUSH, 0, 30 }, { 1, GST_SEEK_FLAG_FLUSH, 20, 30 },
          { -2, GST_SEEK_FLAG_FLUSH, 0, 20 } } },
  { NULL },
};

static GstPadProbeReturn
see_by_time (GstPad *pad, GstPadProbeInfo *info, gpointer seen)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  g_autoptr (GstEvent) event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment;
  GstClockTime time;

  gst_event_parse_segment (event, &segment);
  time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
  /* decoders may output frames before the start of a seek, which the sink drops */
  if (GST_CLOCK_TIME_IS_VALID (time)) {
    g_assert_cmpint (atoi (ids_on (buffer)), ==, (time + FRAME / 2) / FRAME);
    see (seen, buffer);
  }
  return GST_PAD_PROBE_OK;
}

static void
seek_row (gconstpointer data)
{
  const SeekRow *row = data;
  const gchar *video = g_getenv ("NMS_TEST_VIDEO");
  g_autofree gchar *all = record ();
  g_autoptr (GString) seen = g_string_new (NULL);
  g_autoptr (GstElement) pipeline = NULL;

  video = video ? video : VIDEO;
  if (!has_element ("avidemux") || !has_element ("avdec_msmpeg4")
      || !g_file_test (video, G_FILE_TEST_EXISTS)) {
    g_test_skip ("needs avidemux, avdec_msmpeg4 and " VIDEO " (package opencv-doc; "
                 "NMS_TEST_VIDEO names another)");
    return;
  }
  pipeline = playing_new ("filesrc location=%s ! avidemux ! avdec_msmpeg4 ! "
                          "boxreplay meta=roi location=%s ! nmsfilter ! "
                          "fakesink name=sink sync=false",
      video, all);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  playing_probe (pipeline, "sink", "sink", see_by_time, seen);
  for (const Part *part = row->parts; part->rate; part++) {
    g_assert_true (gst_element_seek (pipeline, part->rate, GST_FORMAT_TIME,
        GST_SEEK_FLAG_ACCURATE | part->flags, GST_SEEK_TYPE_SET, part->first * FRAME,
        GST_SEEK_TYPE_SET, part->end * FRAME));
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    gst_message_unref (playing_wait (pipeline,
        part->flags & GST_SEEK_FLAG_SEGMENT ? GST_MESSAGE_SEGMENT_DONE : GST_MESSAGE_EOS));
    if (part->rate > 0)
      must_be_seen (seen, part->first, part->end - 1, 1);
    else
      must_be_seen (seen, part->end - 1, part->first, 1);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

static const TestCase cases[] = { CASE (test_tee), CASE (test_resolution_change),
  TEST_ROWS ("/test_%s", seek_row, seeks), { NULL } };

GST_TEST_PROGRAM (cases);
