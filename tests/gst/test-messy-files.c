/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Videos from files: seeks, segments, playing backwards, decodebin that changes decoders
 * in mid-stream. Each frame
 * has boxes that depend on its number. All frames must arrive in order, once, with the
 * boxes that an nmsfilter alone leaves of them.
 */
#include "gstrunner.h"
#include "numbered.h"
#include "playing.h"
#include "textfiles.h"

#define FRAMES 60 /* frames in the recording */
#define SETTINGS "iou-threshold=0.3"
#define VIDEO "/usr/share/doc/opencv-doc/examples/data/vtest.avi"
#define WIDTH 768
#define HEIGHT 576

static const gchar *
video_path (void)
{
  const gchar *path = g_getenv ("NMS_TEST_VIDEO");

  return path ? path : VIDEO;
}

/* Skips the test and returns TRUE if an element or the video is missing. */
static gboolean
lacking (const gchar *const *elements)
{
  for (; *elements; elements++) {
    if (!has_element (*elements)) {
      g_autofree gchar *why = g_strdup_printf ("there is no %s", *elements);
      g_test_skip (why);
      return TRUE;
    }
  }
  if (!g_file_test (video_path (), G_FILE_TEST_EXISTS)) {
    g_test_skip ("there is no " VIDEO " (package opencv-doc; NMS_TEST_VIDEO names another)");
    return TRUE;
  }
  return FALSE;
}

/* Writes a file with `frames` frames, encoded and in a container. */
static void
make_video (const gchar *path, guint frames, gint width, gint height, const gchar *encoder)
{
  g_autoptr (GstElement) pipeline = playing_new (
      "videotestsrc num-buffers=%u pattern=ball ! "
      "video/x-raw,format=I420,width=%d,height=%d,framerate=10/1 ! %s ! filesink location=%s",
      frames, width, height, encoder, path);

  playing_to_end (pipeline);
}

static const gchar *const decoder[] = { "avidemux", "avdec_msmpeg4", NULL };

/* --------------------------------------------------------------------- seeks */

/* Of a pipeline with several sinks, `element` is one of these, because a pipeline sends the event
 * to each and frames may pass after the first. */
static void
seek (GstElement *element, gdouble rate, GstSeekFlags flags, guint first, guint end)
{
  g_assert_true (gst_element_seek (element, rate, GST_FORMAT_TIME, GST_SEEK_FLAG_ACCURATE | flags,
      GST_SEEK_TYPE_SET, first * NUMBERED_TIME, GST_SEEK_TYPE_SET, end * NUMBERED_TIME));
}

/* Waits for the end of a part of the stream. Its frames must be first to last; then
 * empties the list of frames. */
static void
part (GstElement *pipeline, Numbered *seen, GstMessageType end, guint first, guint last)
{
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (playing_wait (pipeline, end));
  numbered_must_be (seen, first, last);
  seen->count = 0;
}

static void
test_seeks (void)
{
  g_autofree gchar *all = text_file_path ("all.jsonl");
  Numbered *seen = g_new (Numbered, 1);
  GstElement *pipeline;

  if (!lacking (decoder)) {
    numbered_record (all, FRAMES, WIDTH, HEIGHT, NULL);
    numbered_expect (seen, SETTINGS, FRAMES, WIDTH, HEIGHT);
    pipeline = playing_new ("filesrc location=%s ! avidemux ! avdec_msmpeg4 ! "
                            "boxreplay meta=roi location=%s ! nmsfilter " SETTINGS
                            " ! fakesink name=sink sync=false",
        video_path (), all);
    gst_element_set_state (pipeline, GST_STATE_PAUSED);
    gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
    playing_probe (pipeline, "sink", "sink", numbered_see_on_pad, seen);

    seek (pipeline, 1.0, GST_SEEK_FLAG_FLUSH, 0, 20);
    part (pipeline, seen, GST_MESSAGE_EOS, 0, 19);
    seek (pipeline, 1.0, GST_SEEK_FLAG_FLUSH, 33, 47); /* not at a key frame */
    part (pipeline, seen, GST_MESSAGE_EOS, 33, 46);
    seek (pipeline, 1.0, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_SEGMENT, 50, 60);
    part (pipeline, seen, GST_MESSAGE_SEGMENT_DONE, 50, 59);
    seek (pipeline, 1.0, GST_SEEK_FLAG_SEGMENT, 10, 20); /* without a flush, as in a loop */
    part (pipeline, seen, GST_MESSAGE_SEGMENT_DONE, 10, 19);
    seek (pipeline, 1.0, GST_SEEK_FLAG_SEGMENT, 10, 20);
    part (pipeline, seen, GST_MESSAGE_SEGMENT_DONE, 10, 19);
    seek (pipeline, 2.0, GST_SEEK_FLAG_FLUSH, 5, 15); /* faster, without dropping frames */
    part (pipeline, seen, GST_MESSAGE_EOS, 5, 14);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (pipeline);
  }
  g_free (seen);
}

static void
play_backwards (const gchar *path, const gchar *decode, gint width, gint height, guint first)
{
  g_autofree gchar *all = text_file_path ("all.jsonl");
  Numbered *seen = g_new (Numbered, 1);
  g_autoptr (GstElement) pipeline = NULL;

  numbered_record (all, FRAMES, width, height, NULL);
  numbered_expect (seen, SETTINGS, FRAMES, width, height);
  pipeline = playing_new ("filesrc location=%s ! %s ! boxreplay meta=roi location=%s ! "
                          "nmsfilter " SETTINGS " ! fakesink name=sink sync=false",
      path, decode, all);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  playing_probe (pipeline, "sink", "sink", numbered_see_on_pad, seen);

  seek (pipeline, -1.0, GST_SEEK_FLAG_FLUSH, first, 30);
  part (pipeline, seen, GST_MESSAGE_EOS, 29, first);
  seek (pipeline, 1.0, GST_SEEK_FLAG_FLUSH, 20, 30);
  part (pipeline, seen, GST_MESSAGE_EOS, 20, 29);
  seek (pipeline, -2.0, GST_SEEK_FLAG_FLUSH, first, 20);
  part (pipeline, seen, GST_MESSAGE_EOS, 19, first);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_free (seen);
}

/* avidemux outputs nothing if the end is between two key frames */
static void
test_backwards (void)
{
  if (!lacking (decoder))
    play_backwards (video_path (), "avidemux ! avdec_msmpeg4", WIDTH, HEIGHT, 0);
}

static void
test_backwards_key_frames (void)
{
  static const gchar *const elements[] = { "videotestsrc", "jpegenc", "jpegdec", "avimux",
    "avidemux", NULL };
  g_autofree gchar *path = text_file_path ("motion.avi");

  if (!lacking (elements)) {
    make_video (path, 30, 320, 256, "jpegenc ! avimux");
    play_backwards (path, "avidemux ! jpegdec", 320, 256, 10);
  }
}

/* ------------------------------------------------------------ other decoders */

/* Attaches boxes to each buffer, by its number in order of arrival. */
typedef struct
{
  guint in, out, sizes;
  gint width;     /* width of the previous buffer */
  Numbered *seen; /* one for each size of frames */
} Counted;

static void
size_on_pad (GstPad *pad, gint *width, gint *height)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  const GstStructure *s = gst_caps_get_structure (caps, 0);

  g_assert_true (
      gst_structure_get (s, "width", G_TYPE_INT, width, "height", G_TYPE_INT, height, NULL));
}

static GstPadProbeReturn
attach_next (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Counted *counted = user_data;
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  gint width, height;

  size_on_pad (pad, &width, &height);
  numbered_attach (buffer, counted->in++ % FRAMES, width, height);
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
see_next (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Counted *counted = user_data;
  Numbered *seen = counted->seen;
  gint width, height;

  size_on_pad (pad, &width, &height);
  counted->sizes += width != counted->width;
  counted->width = width;
  if (width != seen->width)
    seen++;
  g_assert_cmpint (width, ==, seen->width);
  g_assert_cmpint (height, ==, seen->height);
  numbered_see (seen, GST_PAD_PROBE_INFO_BUFFER (info), counted->out++ % FRAMES);
  return GST_PAD_PROBE_OK;
}

/* Links the pad that decodebin adds, in place of the previous one. */
static void
link_new_pad (GstElement *decodebin, GstPad *pad, gpointer user_data)
{
  g_autoptr (GstPad) sink = gst_element_get_static_pad (user_data, "sink");
  GstPad *before = gst_pad_get_peer (sink);

  if (before) {
    gst_pad_unlink (before, sink);
    gst_object_unref (before);
  }
  g_assert_cmpint (gst_pad_link (pad, sink), ==, GST_PAD_LINK_OK);
}

/* Two Ogg files in one. At the second one decodebin removes its decoders, creates others
 * and adds another pad. */
static void
test_decodebin_plugs_anew (void)
{
  static const gchar *const elements[] = { "videotestsrc", "theoraenc", "theoradec", "oggmux",
    "oggdemux", "decodebin", NULL };
  g_autofree gchar *first = text_file_path ("first.ogg"), *second = text_file_path ("second.ogg");
  g_autofree gchar *both = text_file_path ("both.ogg");
  gchar *bytes;
  Counted counted = { .seen = g_new (Numbered, 2) };
  GstElement *pipeline, *decodebin, *filter;
  g_autoptr (GString) joined = g_string_new (NULL);
  gsize length;

  if (!lacking (elements)) {
    make_video (first, 30, 320, 256, "theoraenc ! oggmux");
    make_video (second, 20, 160, 128, "theoraenc ! oggmux");
    g_assert_true (g_file_get_contents (first, &bytes, &length, NULL));
    g_string_append_len (joined, bytes, (gssize) length);
    g_free (bytes);
    g_assert_true (g_file_get_contents (second, &bytes, &length, NULL));
    g_string_append_len (joined, bytes, (gssize) length);
    g_free (bytes);
    g_assert_true (g_file_set_contents (both, joined->str, (gssize) joined->len, NULL));

    numbered_expect (&counted.seen[0], SETTINGS, FRAMES, 320, 256);
    numbered_expect (&counted.seen[1], SETTINGS, FRAMES, 160, 128);
    pipeline = playing_new ("filesrc location=%s ! decodebin name=decoder "
                            "nmsfilter name=filter " SETTINGS " ! fakesink name=sink sync=false",
        both);
    decodebin = gst_bin_get_by_name (GST_BIN (pipeline), "decoder");
    filter = gst_bin_get_by_name (GST_BIN (pipeline), "filter");
    g_signal_connect (decodebin, "pad-added", G_CALLBACK (link_new_pad), filter);
    playing_probe (pipeline, "filter", "sink", attach_next, &counted);
    playing_probe (pipeline, "sink", "sink", see_next, &counted);
    playing_to_end (pipeline);
    g_assert_cmpuint (counted.sizes, ==, 2);
    numbered_must_be (&counted.seen[0], 0, 29);
    numbered_must_be (&counted.seen[1], 30, 49);
    gst_object_unref (decodebin);
    gst_object_unref (filter);
    gst_object_unref (pipeline);
  }
  g_free (counted.seen);
}

static const TestCase cases[] = { CASE (test_seeks), CASE (test_backwards),
  CASE (test_backwards_key_frames), CASE (test_decodebin_plugs_anew), { NULL } };

GST_TEST_PROGRAM (cases);
