/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxrecord: the text that it writes, byte by byte; a recording that is replayed and
 * recorded again is the same. */
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <math.h>

#include "gstrunner.h"
#include "textfiles.h"

#define FRAME (100 * GST_MSECOND)
#define CAPS "video/x-raw,format=GRAY8,width=768,height=576,framerate=10/1"
#define NO_SIZE "application/x-anything"

static GstHarness *
harness (GstBus *bus, const gchar *caps, const gchar *format, ...)
{
  GstHarness *h;
  g_autofree gchar *launch = NULL;
  va_list args;

  va_start (args, format);
  launch = g_strdup_vprintf (format, args);
  va_end (args);
  h = gst_harness_new_parse (launch);
  if (bus)
    gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h, caps);
  return h;
}

static GstBuffer *
new_buffer (GstClockTime pts)
{
  GstBuffer *buffer = gst_buffer_new ();

  GST_BUFFER_PTS (buffer) = pts;
  GST_BUFFER_DURATION (buffer) = FRAME;
  return buffer;
}

static void
push (GstHarness *h, GstBuffer *buffer)
{
  g_assert_cmpint (gst_harness_push (h, buffer), ==, GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (h));
}

static void
frames_become_lines (void)
{
  g_autofree gchar *path = text_file_path ("out.jsonl");
  g_autoptr (GstHarness) h = harness (NULL, CAPS, "boxrecord location=\"%s\"", path);
  GstBuffer *buffer = new_buffer (0);
  GstVideoRegionOfInterestMeta *roi;

  roi = gst_buffer_add_video_region_of_interest_meta (buffer, "person", 10, 20, 30, 60);
  roi->id = 3;
  roi->parent_id = 1;
  add_structure (roi,
      "detection, x_min=0.013, y_min=0.035, x_max=0.052, y_max=0.139, confidence=0.91, "
      "label_id=1;");
  add_structure (roi, "object_id, id=(int)7;");
  add_structure (roi, "nms, state=(string)suppressed, suppressed-by=(int)1;");
  /* integers only, outside of the frame: negative ones wrap */
  gst_buffer_add_video_region_of_interest_meta (buffer, "", (guint) -192, 288, 384, 576);
  /* a hint for an encoder is not a detection */
  roi = gst_buffer_add_video_region_of_interest_meta (buffer, "hint", 1, 1, 1, 1);
  add_structure (roi, "roi/x264enc;");
  push (h, buffer);
  push (h, new_buffer (FRAME));
  push (h, new_buffer (GST_CLOCK_TIME_NONE));
  gst_harness_push_event (h, gst_event_new_gap (3 * FRAME, FRAME));
  /* each line is in the file when its buffer has passed */
  text_file_must_be (path,
      "{\"timestamp\":0,\"resolution\":{\"width\":768,\"height\":576},\"objects\":["
      "{\"x\":10,\"y\":20,\"w\":30,\"h\":60,\"roi_type\":\"person\",\"region_id\":3,"
      "\"parent_id\":1,\"id\":7,\"detection\":{\"bounding_box\":{\"x_min\":0.013,\"y_min\":0.035,"
      "\"x_max\":0.052,\"y_max\":0.139},\"confidence\":0.91,\"label_id\":1,\"label\":\"person\"},"
      "\"nms\":{\"state\":\"suppressed\",\"suppressed-by\":1}},"
      "{\"x\":0,\"y\":288,\"w\":192,\"h\":288,\"region_id\":0,\"detection\":{\"bounding_box\":"
      "{\"x_min\":-0.25,\"y_min\":0.5,\"x_max\":0.25,\"y_max\":1.5}}}]}\n"
      "{\"timestamp\":100000000,\"resolution\":{\"width\":768,\"height\":576},\"objects\":[]}\n"
      "{\"resolution\":{\"width\":768,\"height\":576},\"objects\":[]}\n");
}

static void
caps_may_change_or_tell_nothing (void)
{
  g_autofree gchar *path = text_file_path ("caps.jsonl");
  g_autoptr (GstHarness) h = harness (NULL, NO_SIZE, "boxrecord location=\"%s\"", path);
  GstBuffer *buffer = new_buffer (0);

  gst_buffer_add_video_region_of_interest_meta (buffer, "a", (guint) -5, 2, 4000, 4);
  push (h, buffer);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=4,height=8,framerate=0/1");
  buffer = new_buffer (FRAME);
  gst_buffer_add_video_region_of_interest_meta (buffer, "a", 1, 2, 2, 4);
  push (h, buffer);
  text_file_must_be (path,
      "{\"timestamp\":0,\"objects\":[{\"x\":-5,\"y\":2,\"w\":4000,\"h\":4,"
      "\"roi_type\":\"a\",\"region_id\":0,\"detection\":{\"label\":\"a\"}}]}\n"
      "{\"timestamp\":100000000,\"resolution\":{\"width\":4,\"height\":8},\"objects\":[{\"x\":1,"
      "\"y\":2,\"w\":2,\"h\":4,\"roi_type\":\"a\",\"region_id\":0,\"detection\":{\"bounding_box\":"
      "{\"x_min\":0.25,\"y_min\":0.25,\"x_max\":0.75,\"y_max\":0.75},\"label\":\"a\"}}]}\n");
}

static void
buffers_are_never_copied (void)
{
  g_autofree gchar *path = text_file_path ("same.jsonl");
  g_autoptr (GstHarness) h = harness (NULL, CAPS, "boxrecord location=\"%s\"", path);
  g_autoptr (GstBuffer) in = new_buffer (0), out = NULL;

  gst_buffer_add_video_region_of_interest_meta (in, "a", 1, 2, 3, 4);
  gst_buffer_ref (in); /* two owners, so not writable */
  g_assert_cmpint (gst_harness_push (h, in), ==, GST_FLOW_OK);
  out = gst_harness_pull (h);
  g_assert_true (out == in);
}

static void
mot_text_is_written (void)
{
  g_autofree gchar *path = text_file_path ("out.mot");
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstHarness) h = harness (bus, CAPS, "boxrecord format=mot location=\"%s\"", path);
  GstVideoRegionOfInterestMeta *roi;
  GstBuffer *buffer;

  push (h, new_buffer (0));
  for (guint i = 0; i < 2; i++) {
    buffer = new_buffer (FRAME);
    roi = gst_buffer_add_video_region_of_interest_meta (buffer, "person", 9, 0, 30, 60);
    gst_video_region_of_interest_meta_add_param (roi,
        gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, i ? 0.5 : NAN, NULL));
    add_structure (roi, "object_id, id=(int)7;");
    push (h, buffer);
  }
  text_file_must_be (path, "2,7,10,1,30,60,-1,-1,-1,-1\n3,7,10,1,30,60,0.5,-1,-1,-1\n");
  g_assert_cmpint (count_messages (bus, GST_MESSAGE_WARNING), ==, 2); /* label, NaN */
  gst_bus_set_flushing (bus, TRUE);
}

static void
numbers_that_are_none_are_left_out (void)
{
  g_autofree gchar *path = text_file_path ("nan.jsonl");
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstHarness) h = harness (bus, NO_SIZE, "boxrecord location=\"%s\"", path);

  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = new_buffer (i);
    GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta (buffer, "", 1,
        2, 3, 4);

    gst_video_region_of_interest_meta_add_param (roi,
        gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, i ? INFINITY : NAN, "x_min",
            G_TYPE_DOUBLE, NAN, NULL));
    push (h, buffer);
  }
  text_file_must_be (path,
      "{\"timestamp\":0,\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"region_id\":0}]}\n"
      "{\"timestamp\":1,\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"region_id\":0}]}\n"
      "{\"timestamp\":2,\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"region_id\":0}]}\n");
  g_assert_cmpint (count_messages (bus, GST_MESSAGE_WARNING), ==, 1);
  gst_bus_set_flushing (bus, TRUE);
}

/* ------------------------------------------------------- recorded again: bytes */

/* Replays a recording onto buffers with the times of its records, and records it again. */
static void
must_survive (const gchar *path, const gchar *caps, const gchar *format, const GstClockTime *times,
    guint frames)
{
  g_autofree gchar *again = text_file_path ("again.txt");
  GstHarness *h = harness (NULL, caps,
      "boxreplay location=\"%s\" ! boxrecord format=%s location=\"%s\"", path, format, again);
  g_autofree gchar *before = NULL, *after = NULL;

  for (guint i = 0; i < frames; i++)
    push (h, new_buffer (times[i]));
  gst_harness_teardown (h);
  before = text_file_read (path);
  after = text_file_read (again);
  g_assert_cmpstr (after, ==, before);
}

static void
golden_recordings_survive (void)
{
  static const GstClockTime times[] = { 0, 33366700, GST_CLOCK_TIME_NONE, 9223372036854 };
  static const GstClockTime no_size[] = { 0, FRAME, GST_CLOCK_TIME_NONE };
  static const GstClockTime mot[] = { 0, FRAME, 2 * FRAME, 3 * FRAME };
  const gchar *data = g_getenv ("NMS_TEST_DATA");
  gchar *path;

  g_assert_nonnull (data);
  path = g_build_filename (data, "boxes.jsonl", NULL);
  must_survive (path, CAPS, "jsonl", times, G_N_ELEMENTS (times));
  g_free (path);
  path = g_build_filename (data, "boxes-nosize.jsonl", NULL);
  must_survive (path, NO_SIZE, "jsonl", no_size, G_N_ELEMENTS (no_size));
  g_free (path);
  path = g_build_filename (data, "boxes.mot.txt", NULL);
  must_survive (path, CAPS, "mot", mot, G_N_ELEMENTS (mot));
  g_free (path);
}

static void
add_random_box (GstBuffer *buffer, GRand *random, gint width, gint height)
{
  static const gchar *const labels[] = { "", "person", "traffic light", "\"\\\n\x02", "\xff\xfe",
    "\xc3\xa9" };
  gdouble x1 = g_rand_double_range (random, -0.3, 1.2);
  gdouble y1 = g_rand_double_range (random, -0.3, 1.2);
  gdouble x2 = x1 + g_rand_double_range (random, 0, 0.8), y2 = y1 + g_rand_double (random);
  gint x = (gint) floor (x1 * width + 0.5), y = (gint) floor (y1 * height + 0.5);
  GstVideoRegionOfInterestMeta *roi;
  GstStructure *s;

  roi = gst_buffer_add_video_region_of_interest_meta (buffer,
      labels[g_rand_int_range (random, 0, G_N_ELEMENTS (labels))], (guint) x, (guint) y,
      (guint) ((x2 - x1) * width + 0.5), (guint) ((y2 - y1) * height + 0.5));
  roi->id = g_rand_int_range (random, -1, 4);
  roi->parent_id = g_rand_int_range (random, -1, 4);
  if (g_rand_int_range (random, 0, 4) > 0) {
    s = gst_structure_new_empty ("detection");
    if (g_rand_boolean (random)) {
      /* half of the time the integers do not agree with the doubles */
      gdouble off = g_rand_boolean (random) ? 0 : g_rand_double_range (random, -0.02, 0.02);
      gst_structure_set (s, "x_min", G_TYPE_DOUBLE, x1 + off, "y_min", G_TYPE_DOUBLE, y1, "x_max",
          G_TYPE_DOUBLE, x2 + off, "y_max", G_TYPE_DOUBLE, y2, NULL);
    }
    if (g_rand_boolean (random))
      gst_structure_set (s, "confidence", G_TYPE_DOUBLE,
          g_rand_boolean (random) ? (gdouble) (gfloat) g_rand_double (random)
                                  : g_rand_double (random),
          NULL);
    if (g_rand_boolean (random))
      gst_structure_set (s, "label_id", G_TYPE_INT, (gint) g_rand_int (random), NULL);
    gst_video_region_of_interest_meta_add_param (roi, s);
  }
  if (g_rand_boolean (random))
    gst_video_region_of_interest_meta_add_param (roi,
        gst_structure_new ("object_id", "id", G_TYPE_INT, (gint) g_rand_int (random), NULL));
  if (g_rand_boolean (random)) {
    s = gst_structure_new ("nms", "state", G_TYPE_STRING, "suppressed", NULL);
    if (g_rand_boolean (random)) /* may be out of date, beyond the last box */
      gst_structure_set (s, "suppressed-by", G_TYPE_INT, g_rand_int_range (random, -2, 5), NULL);
    gst_video_region_of_interest_meta_add_param (roi, s);
  }
}

static void
random_recordings_survive (void)
{
  static const struct
  {
    const gchar *caps, *format;
    gint width, height;
  } rows[] = {
    { CAPS, "jsonl", 768, 576 },
    { NO_SIZE, "jsonl", 640, 480 },
    { "video/x-raw,format=GRAY8,width=1921,height=7,framerate=30000/1001", "jsonl", 1921, 7 },
    { CAPS, "mot", 768, 576 },
    { "video/x-raw,format=GRAY8,width=1921,height=1081,framerate=0/1", "mot", 1921, 1081 },
    { NO_SIZE, "mot", 640, 480 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GRand) random = g_rand_new_with_seed (100 + i);
    g_autofree gchar *path = text_file_path ("random.txt");
    GstHarness *h = harness (NULL, rows[i].caps, "boxrecord format=%s location=\"%s\"",
        rows[i].format, path);
    GstClockTime times[400];

    for (guint frame = 0; frame < G_N_ELEMENTS (times); frame++) {
      GstBuffer *buffer;

      times[frame] = frame * FRAME;
      /* MOT text is matched by index, so that buffers need no time */
      if (frame > 0 && g_rand_int_range (random, 0, 20) == 0)
        times[frame] = GST_CLOCK_TIME_NONE;
      buffer = new_buffer (times[frame]);
      for (guint n = g_rand_int_range (random, 0, 6); n > 0; n--)
        add_random_box (buffer, random, rows[i].width, rows[i].height);
      push (h, buffer);
    }
    gst_harness_teardown (h);
    must_survive (path, rows[i].caps, rows[i].format, times, G_N_ELEMENTS (times));
  }
}

static const TestCase cases[] = { CASE (frames_become_lines),
  CASE (caps_may_change_or_tell_nothing), CASE (buffers_are_never_copied),
  CASE (mot_text_is_written), CASE (numbers_that_are_none_are_left_out),
  CASE (golden_recordings_survive), CASE (random_recordings_survive), { NULL } };

GST_TEST_PROGRAM (cases);
