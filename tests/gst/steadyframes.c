/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * steadyframes LAUNCH-LINE: reads frames from standard input, sends them through an element,
 * and writes the boxes that come out. A line `frame MILLISECONDS` begins a frame of 1024 x 1024
 * pixels, in which normalized coordinates are exact; a line `LABEL X1 Y1 X2 Y2 SCORE TRACK` is a
 * box, with `-` for what it does not have. Numbers are written as %a writes them. An output box has
 * `lost` (0 or 1) as a last number.
 */
#include "gstboxes.h"

#include <locale.h>
#include <math.h>

#define SIZE 1024

static gint
whole (gdouble number)
{
  return isfinite (number) ? (gint) CLAMP (floor (number + 0.5), -0x7fffffff, 0x7fffffff) : 0;
}

static void
add_box (GstBuffer *buffer, gchar **words)
{
  gdouble c[4];
  GstVideoRegionOfInterestMeta *roi;
  GstStructure *s;

  for (guint i = 0; i < 4; i++)
    c[i] = g_ascii_strtod (words[1 + i], NULL);
  roi = add_region (buffer, 0, words[0],
      (Rect) { whole (c[0]), whole (c[1]), whole (c[2] - c[0]), whole (c[3] - c[1]) });
  s = gst_structure_new ("detection", "x_min", G_TYPE_DOUBLE, c[0] / SIZE, "x_max", G_TYPE_DOUBLE,
      c[2] / SIZE, "y_min", G_TYPE_DOUBLE, c[1] / SIZE, "y_max", G_TYPE_DOUBLE, c[3] / SIZE, NULL);
  if (!g_str_equal (words[5], "-"))
    gst_structure_set (s, "confidence", G_TYPE_DOUBLE, g_ascii_strtod (words[5], NULL), NULL);
  gst_video_region_of_interest_meta_add_param (roi, s);
  if (!g_str_equal (words[6], "-"))
    gst_video_region_of_interest_meta_add_param (roi,
        gst_structure_new ("object_id", "id", G_TYPE_INT, atoi (words[6]), NULL));
}

static void
write_region (GstVideoRegionOfInterestMeta *roi)
{
  const GstStructure *s = gst_video_region_of_interest_meta_get_param (roi, "detection");
  const GstStructure *track = gst_video_region_of_interest_meta_get_param (roi, "object_id");
  gdouble c[4] = { NAN, NAN, NAN, NAN }, number;
  gint id;

  gst_structure_get (s, "x_min", G_TYPE_DOUBLE, &c[0], "y_min", G_TYPE_DOUBLE, &c[1], "x_max",
      G_TYPE_DOUBLE, &c[2], "y_max", G_TYPE_DOUBLE, &c[3], NULL);
  for (guint i = 0; i < 4; i++)
    c[i] *= SIZE;
  printf ("%s %a %a %a %a", g_quark_to_string (roi->roi_type), c[0], c[1], c[2], c[3]);
  if (gst_structure_get_double (s, "confidence", &number))
    printf (" %a", number);
  else
    printf (" -");
  if (track && gst_structure_get_int (track, "id", &id))
    printf (" %d", id);
  else
    printf (" -");
  printf (" %d\n", track && gst_structure_has_field (track, "lost"));
}

/* Writes the frames that have come out. */
static void
write_frames (GstHarness *h)
{
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (h))) {
    gpointer state = NULL;
    GstMeta *meta;

    printf ("frame\n");
    while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
        != NULL)
      write_region ((GstVideoRegionOfInterestMeta *) meta);
    gst_buffer_unref (buffer);
  }
}

static void
send_frame (GstHarness *h, GstBuffer *buffer)
{
  if (buffer)
    g_assert_cmpint (gst_harness_push (h, buffer), ==, GST_FLOW_OK);
  write_frames (h);
}

int
main (int argc, char **argv)
{
  GstBuffer *buffer = NULL;
  char line[1024];
  GstHarness *h;

  gst_init (&argc, &argv);
  setlocale (LC_NUMERIC, "C"); /* for the numbers that are printed */
  h = harness_new_caps (argv[1], "video/x-raw,format=GRAY8,width=1024,height=1024,framerate=10/1");
  while (fgets (line, sizeof line, stdin)) {
    gchar **words = g_strsplit (g_strchomp (line), " ", -1);

    if (g_str_equal (words[0], "frame")) {
      send_frame (h, buffer);
      buffer = frame_new ((GstClockTime) atoll (words[1]) * GST_MSECOND);
    } else {
      add_box (buffer, words);
    }
    g_strfreev (words);
  }
  send_frame (h, buffer);
  gst_harness_push_event (h, gst_event_new_eos ());
  write_frames (h);
  gst_harness_teardown (h);
  return 0;
}
