/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams from sources of GStreamer itself and from files: frames without timestamps, at a variable
 * rate, with a size that changes, in the branches of a tee; seeks, segments, playing backward,
 * decodebin that changes decoders in mid-stream. Each frame has boxes that depend on its number.
 * All frames must arrive in order, once, with the boxes that an nmsfilter alone leaves of them.
 */
#include "gstrunner.h"
#include "playing.h"
#include "textfiles.h"

#define FRAMES 60 /* frames in the recordings */
#define FRAME (100 * GST_MSECOND)
#define FILTER "nmsfilter iou-threshold=0.3"
#define VIDEO "/usr/share/doc/opencv-doc/examples/data/vtest.avi"

/* ------------------------------------------------------------- numbered frames */

typedef struct
{
  gint width, height;       /* size of the frames; 0: unknown */
  guint32 expected[FRAMES]; /* hash of the boxes that must be left */
  guint order[4 * FRAMES];  /* numbers of the frames, in order of arrival */
  guint count;              /* length of order */
  guint wrong;              /* frames with other boxes than expected */
  guint sent;               /* frames that a source has sent */
} Seen;

/* Attaches the boxes of frame `index` to a frame of this size (0: unknown). */
static void
attach (GstBuffer *buffer, guint index, gint width, gint height)
{
  const gint w = width ? width : FRAME_WIDTH, h = height ? height : FRAME_HEIGHT;
  g_autoptr (GRand) rand = g_rand_new_with_seed (index + 1);

  for (guint i = 0; i < 4 + index % 17; i++) {
    /* multiples of 1/32 of the frame are whole pixels in frames of many sizes */
    const gint x = g_rand_int_range (rand, 0, 24), y = g_rand_int_range (rand, 0, 24);
    const gint right = g_rand_int_range (rand, x + 2, 33);
    const gint bottom = g_rand_int_range (rand, y + 2, 33);
    GstVideoRegionOfInterestMeta *roi = add_region (buffer, (gint) (index * 100 + i + 1),
        i % 2 ? "car" : "person",
        (Rect) { x * w / 32, y * h / 32, ((right - x) * w / 32), ((bottom - y) * h / 32) });

    gst_video_region_of_interest_meta_add_param (roi,
        gst_structure_new ("detection", "x_min", G_TYPE_DOUBLE, x / 32.0, "x_max", G_TYPE_DOUBLE,
            right / 32.0, "y_min", G_TYPE_DOUBLE, y / 32.0, "y_max", G_TYPE_DOUBLE, bottom / 32.0,
            "confidence", G_TYPE_DOUBLE, g_rand_int_range (rand, 0, 1000) / 1000.0, NULL));
  }
}

static guint32
digest (GstBuffer *buffer)
{
  g_autofree gchar *text = g_strconcat (ids_on (buffer), " ", boxes_on (buffer), NULL);
  const guint32 hash = g_str_hash (text);

  return hash;
}

static GstHarness *
open_harness (const gchar *line, gint width, gint height)
{
  g_autofree gchar *caps = width
      ? g_strdup_printf ("video/x-raw,format=GRAY8,width=%d,height=%d,framerate=10/1", width,
          height)
      : g_strdup ("application/x-frames");
  GstHarness *h = harness_new_caps (line, caps);

  return h;
}

/* Records frames of this size at these times (NULL: ten a second). Returns the path. Free it. */
static gchar *
record (gint width, gint height, const GstClockTime *times)
{
  gchar *path = text_file_path ("all.jsonl");
  g_autofree gchar *line = g_strdup_printf ("boxrecord location=%s", path);
  g_autoptr (GstHarness) h = open_harness (line, width, height);

  for (guint i = 0; i < FRAMES; i++) {
    GstBuffer *buffer = frame_new (times ? times[i] : i * FRAME);

    attach (buffer, i, width, height);
    gst_buffer_unref (through (h, buffer));
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  return path;
}

/* Returns what must be seen of frames of this size. Free it. */
static Seen *
expect_frames_of (gint width, gint height)
{
  g_autoptr (GstHarness) h = open_harness (FILTER, width, height);
  Seen *seen = g_new0 (Seen, 1);

  seen->width = width;
  seen->height = height;
  for (guint i = 0; i < FRAMES; i++) {
    g_autoptr (GstBuffer) buffer = frame_new (i * FRAME);

    attach (buffer, i, width, height);
    buffer = through (h, buffer);
    seen->expected[i] = digest (buffer);
  }
  g_assert_cmpuint (stat_of (h->element, "boxes-out"), <, stat_of (h->element, "boxes-in"));
  return seen;
}

static void
see (Seen *seen, GstBuffer *buffer, guint index)
{
  g_assert_cmpuint (index, <, FRAMES);
  g_assert_cmpuint (seen->count, <, G_N_ELEMENTS (seen->order));
  seen->order[seen->count++] = index;
  if (digest (buffer) != seen->expected[index])
    g_test_message ("frame %u: other boxes than expected: %s", index, ids_on (buffer));
  seen->wrong += digest (buffer) != seen->expected[index];
}

/* Fails unless the frames first to last came, in order, each once and with the right boxes. They
 * came backward if last < first. Empties the list of frames. */
static void
must_be_seen (Seen *seen, guint first, guint last)
{
  const gint step = last < first ? -1 : 1;
  const guint count = (guint) ABS ((gint) last - (gint) first) + 1;

  g_assert_cmpuint (seen->wrong, ==, 0);
  for (guint i = 0; i < MIN (count, seen->count); i++)
    g_assert_cmpuint (seen->order[i], ==, first + (guint) (step * (gint) i));
  g_assert_cmpuint (seen->count, ==, count);
  seen->count = 0;
}

/* ------------------------------------------------------------------- streams */

typedef struct
{
  const gchar *name;
  gboolean timed;
  const gchar *elements; /* behind boxreplay; the frames are seen at `sink` */
} StreamRow;

static const StreamRow streams[] = {
  /* boxes belong to frames by their order */
  { "without_timestamps", FALSE, "boxrecord name=record ! " FILTER " ! fakesink name=sink" },
  { "variable_rate", TRUE, "boxrecord name=record ! " FILTER " ! fakesink name=sink" },
  /* one branch is filtered, one tagged, one unchanged, in three threads */
  { "tee", TRUE,
      "tee name=t t. ! queue ! " FILTER " ! fakesink name=sink "
      "t. ! queue ! boxrecord name=record ! fakesink "
      "t. ! queue ! " FILTER " action=tag ! fakesink" },
  { NULL },
};

/* Sets times: the frames are 1 ms to 3 s apart, or have none. */
static void
set_times (GstClockTime *times, gboolean timed)
{
  static const guint steps[] = { 40, 1, 33, 500, 7, 3000, 100, 16 };
  GstClockTime time = 0;

  for (guint i = 0; i < FRAMES; i++) {
    times[i] = timed ? time : GST_CLOCK_TIME_NONE;
    time += steps[i % G_N_ELEMENTS (steps)] * GST_MSECOND;
  }
}

static GstClockTime times[FRAMES];

static GstPadProbeReturn
set_time (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Seen *seen = user_data;
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));

  GST_BUFFER_PTS (buffer) = times[seen->sent++];
  GST_BUFFER_DURATION (buffer) = GST_CLOCK_TIME_NONE;
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
see_in_order (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Seen *seen = user_data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);

  g_assert_cmpuint (GST_BUFFER_PTS (buffer), ==, times[seen->count]);
  see (seen, buffer, seen->count);
  return GST_PAD_PROBE_OK;
}

/* boxrecord writes the recording that boxreplay reads, box for box. */
static void
stream_row (gconstpointer data)
{
  const StreamRow *row = data;
  g_autofree gchar *copy = text_file_path ("copy.jsonl"), *all = NULL, *before = NULL;
  g_autofree Seen *seen = expect_frames_of (0, 0);
  g_autoptr (GstElement) pipeline = NULL, recorder = NULL;

  set_times (times, row->timed);
  all = record (0, 0, times);
  pipeline =
      playing_new ("fakesrc name=source num-buffers=%d sizetype=fixed sizemax=16 format=time ! "
                   "capsfilter caps=application/x-frames ! "
                   "boxreplay name=replay meta=roi location=%s %s ! %s",
          FRAMES, all, row->timed ? "tolerance=400000" : "", row->elements);
  recorder = gst_bin_get_by_name (GST_BIN (pipeline), "record");
  g_object_set (recorder, "location", copy, NULL);
  playing_probe (pipeline, "source", "src", set_time, seen);
  playing_probe (pipeline, "sink", "sink", see_in_order, seen);
  playing_to_end (pipeline);
  must_be_seen (seen, 0, FRAMES - 1);
  g_assert_cmpuint (playing_stat (pipeline, "replay", "unmatched"), ==, 0);
  before = text_file_read (all);
  g_assert_cmpuint (strlen (before), >, 1000);
  text_file_must_be (copy, before);
}

static void
size_on_pad (GstPad *pad, gint *width, gint *height)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);

  g_assert_true (gst_structure_get (gst_caps_get_structure (caps, 0), "width", G_TYPE_INT, width,
      "height", G_TYPE_INT, height, NULL));
}

/* Sees frames of two sizes: those of each in order. */
static GstPadProbeReturn
see_either (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Seen **halves = user_data, *seen;
  gint width, height;

  size_on_pad (pad, &width, &height);
  seen = halves[width != halves[0]->width];
  g_assert_true (width == seen->width && height == seen->height);
  see (seen, GST_PAD_PROBE_INFO_BUFFER (info), seen->sent + seen->count);
  return GST_PAD_PROBE_OK;
}

/* The frame size changes from 640x480 to 320x192, and the boxes are scaled with it. */
static void
test_resolution_change (void)
{
  g_autofree gchar *all = record (640, 480, NULL);
  g_autofree Seen *first = expect_frames_of (640, 480), *second = expect_frames_of (320, 192);
  Seen *halves[] = { first, second };
  g_autoptr (GstElement) pipeline = NULL;

  if (!has_element ("videotestsrc")) {
    g_test_skip ("there is no videotestsrc (gstreamer1.0-plugins-base)");
    return;
  }
  pipeline = playing_new (
      "concat name=c adjust-base=false ! boxreplay meta=roi location=%s ! " FILTER
      " name=filter ! fakesink name=sink "
      "videotestsrc num-buffers=%d ! video/x-raw,format=GRAY8,width=640,height=480,"
      "framerate=10/1 ! c. videotestsrc num-buffers=%d ! video/x-raw,format=GRAY8,width=320,"
      "height=192,framerate=10/1 ! c.",
      all, FRAMES, FRAMES);
  playing_probe (pipeline, "sink", "sink", see_either, halves);
  playing_to_end (pipeline);
  must_be_seen (first, 0, FRAMES - 1);
  must_be_seen (second, 0, FRAMES - 1);
  g_assert_cmpuint (playing_stat (pipeline, "filter", "frames"), ==, 2 * FRAMES);
}

/* -------------------------------------------------------------------- files */

static const gchar *
video_path (void)
{
  const gchar *path = g_getenv ("NMS_TEST_VIDEO");

  return path ? path : VIDEO;
}

/* Skips the test and returns TRUE if one of the elements or the video is missing. */
static gboolean
lacking (const gchar *elements)
{
  g_auto (GStrv) list = g_strsplit (elements, " ", -1);

  for (guint i = 0; list[i]; i++)
    if (!has_element (list[i])) {
      g_autofree gchar *why = g_strdup_printf ("there is no %s", list[i]);

      g_test_skip (why);
      return TRUE;
    }
  if (!g_file_test (video_path (), G_FILE_TEST_EXISTS)) {
    g_test_skip ("there is no " VIDEO " (package opencv-doc; NMS_TEST_VIDEO names another)");
    return TRUE;
  }
  return FALSE;
}

/* Writes a file with `frames` frames, encoded and in a container. Returns its path. Free it. */
static gchar *
make_video (const gchar *name, guint frames, gint width, gint height, const gchar *encoder)
{
  gchar *path = text_file_path (name);
  g_autoptr (GstElement) pipeline = playing_new (
      "videotestsrc num-buffers=%u pattern=ball ! "
      "video/x-raw,format=I420,width=%d,height=%d,framerate=10/1 ! %s ! filesink location=%s",
      frames, width, height, encoder, path);

  playing_to_end (pipeline);
  return path;
}

typedef struct
{
  gdouble rate; /* negative: the frames before `end` come first; 0: there is no part */
  GstSeekFlags flags;
  guint first, end; /* frames; `end` is not included */
} Part;

typedef struct
{
  const gchar *name, *needs;
  const gchar *encoder; /* NULL: the video is VIDEO */
  const gchar *decoder;
  gint width, height;
  Part parts[7];
} SeekRow;

static const SeekRow seeks[] = {
  { "seeks", "avidemux avdec_msmpeg4", NULL, "avidemux ! avdec_msmpeg4", 768, 576,
      { { 1, GST_SEEK_FLAG_FLUSH, 0, 20 }, { 1, GST_SEEK_FLAG_FLUSH, 33, 47 }, /* no key frame */
          { 1, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_SEGMENT, 50, 60 },
          { 1, GST_SEEK_FLAG_SEGMENT, 10, 20 }, /* without a flush, as in a loop */
          { 1, GST_SEEK_FLAG_SEGMENT, 10, 20 },
          { 2, GST_SEEK_FLAG_FLUSH, 5, 15 } } }, /* faster, without dropping frames */
  /* avidemux outputs nothing if the end is between two key frames */
  { "backwards", "avidemux avdec_msmpeg4", NULL, "avidemux ! avdec_msmpeg4", 768, 576,
      { { -1, GST_SEEK_FLAG_FLUSH, 0, 30 }, { 1, GST_SEEK_FLAG_FLUSH, 20, 30 },
          { -2, GST_SEEK_FLAG_FLUSH, 0, 20 } } },
  { "backwards_key_frames", "videotestsrc jpegenc jpegdec avimux avidemux", "jpegenc ! avimux",
      "avidemux ! jpegdec", 320, 256,
      { { -1, GST_SEEK_FLAG_FLUSH, 10, 30 }, { 1, GST_SEEK_FLAG_FLUSH, 20, 30 },
          { -2, GST_SEEK_FLAG_FLUSH, 10, 20 } } },
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
  if (GST_CLOCK_TIME_IS_VALID (time))
    see (seen, buffer, (guint) ((time + FRAME / 2) / FRAME));
  return GST_PAD_PROBE_OK;
}

static void
seek_row (gconstpointer data)
{
  const SeekRow *row = data;
  g_autofree gchar *all = NULL, *video = NULL;
  g_autofree Seen *seen = NULL;
  g_autoptr (GstElement) pipeline = NULL;

  if (lacking (row->needs))
    return;
  all = record (row->width, row->height, NULL);
  seen = expect_frames_of (row->width, row->height);
  video = row->encoder ? make_video ("motion.avi", 30, row->width, row->height, row->encoder)
                       : g_strdup (video_path ());
  pipeline = playing_new ("filesrc location=%s ! %s ! boxreplay meta=roi location=%s ! " FILTER
                          " ! fakesink name=sink sync=false",
      video, row->decoder, all);
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
    must_be_seen (seen, part->rate > 0 ? part->first : part->end - 1,
        part->rate > 0 ? part->end - 1 : part->first);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* Attaches boxes to each buffer, by its number in order of arrival. */
static GstPadProbeReturn
attach_next (GstPad *pad, GstPadProbeInfo *info, gpointer sent)
{
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  gint width, height;

  size_on_pad (pad, &width, &height);
  attach (buffer, (*(guint *) sent)++, width, height);
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  return GST_PAD_PROBE_OK;
}

/* Links the pad that decodebin adds, in place of the previous one. */
static void
link_new_pad (GstElement *decodebin, GstPad *pad, gpointer filter)
{
  g_autoptr (GstPad) sink = gst_element_get_static_pad (filter, "sink");
  g_autoptr (GstPad) before = gst_pad_get_peer (sink);

  if (before)
    gst_pad_unlink (before, sink);
  g_assert_cmpint (gst_pad_link (pad, sink), ==, GST_PAD_LINK_OK);
}

/* Two Ogg files in one. At the second one decodebin removes its decoders, creates others and adds
 * another pad. */
static void
test_decodebin_plugs_anew (void)
{
  g_autofree gchar *first = NULL, *second = NULL, *both = text_file_path ("both.ogg");
  g_autofree Seen *large = expect_frames_of (320, 256), *small = expect_frames_of (160, 128);
  Seen *sizes[] = { large, small };
  g_autoptr (GstElement) join = NULL, pipeline = NULL, decodebin = NULL, filter = NULL;
  guint sent = 0;

  if (lacking ("videotestsrc theoraenc theoradec oggmux oggdemux decodebin"))
    return;
  first = make_video ("first.ogg", 30, 320, 256, "theoraenc ! oggmux");
  second = make_video ("second.ogg", 20, 160, 128, "theoraenc ! oggmux");
  join = playing_new ("concat name=c ! filesink location=%s filesrc location=%s ! c. "
                      "filesrc location=%s ! c.",
      both, first, second);
  playing_to_end (join);
  small->sent = 30; /* the number of its first frame */
  pipeline = playing_new ("filesrc location=%s ! decodebin name=decoder " FILTER
                          " name=filter ! fakesink name=sink sync=false",
      both);
  decodebin = gst_bin_get_by_name (GST_BIN (pipeline), "decoder");
  filter = gst_bin_get_by_name (GST_BIN (pipeline), "filter");
  g_signal_connect (decodebin, "pad-added", G_CALLBACK (link_new_pad), filter);
  playing_probe (pipeline, "filter", "sink", attach_next, &sent);
  playing_probe (pipeline, "sink", "sink", see_either, sizes);
  playing_to_end (pipeline);
  must_be_seen (large, 0, 29);
  must_be_seen (small, 30, 49);
}

static const TestCase cases[] = { TEST_ROWS ("/test_%s", stream_row, streams),
  CASE (test_resolution_change), TEST_ROWS ("/test_%s", seek_row, seeks),
  CASE (test_decodebin_plugs_anew), { NULL } };

GST_TEST_PROGRAM (cases);
