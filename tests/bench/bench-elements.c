/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-elements: measures the time that the elements take for a buffer.
 *
 *   bench-elements [--json] [--quick] [filter] [analytics] [overlay] [files] [merge]
 *
 * Without a name all five are measured. Each buffer is created right before the push, as
 * if a detector upstream had just written it. Only the push is timed: from the pad
 * before the element to the pad after it, in one thread without a queue. Times are
 * wall-clock times, except those of the file elements: they take so long that other
 * programs would disturb the measurement, so they are CPU times. So are those of boxmerge,
 * because it has a thread of its own.
 */
#include "bench-elements.h"

#include <glib/gstdio.h>
#include <gst/video/video.h>

/* -------------------------------------------------------------- boxoverlay */

static gboolean
drop_region (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  if ((*meta)->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)
    *meta = NULL;
  return TRUE;
}

/* Draws on one frame again and again, because new pixels would not change the work. */
static void
bench_overlay (Timings *timings)
{
  const guint counts[] = { 0, 10, 50 };
  GRand *rand = g_rand_new_with_seed (1);
  GstVideoInfo info;
  GstBuffer *frame;
  Bed bed;

  if (!bed_open (&bed, "boxoverlay", NULL))
    goto done;
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_I420, WIDTH, HEIGHT);
  frame = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_memset (frame, 0, 128, info.size);
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    GArray *list = make_detections (counts[i] * 5 / 2);

    for (guint call = 0; call < timings_calls (timings) / 4; call++) {
      guint attached = 0;
      for (guint j = 0; j < list->len && attached < counts[i]; j++) {
        Detection d = g_array_index (list, Detection, j);
        if (d.confidence < 0.7)
          continue;
        d.confidence = g_rand_double_range (rand, 0.3, 1); /* another text */
        attach (frame, &d, attached++);
      }
      GST_BUFFER_PTS (frame) = call * FRAME;
      timings_push (timings, &bed, frame);
      frame = g_steal_pointer (&bed.caught);
      gst_buffer_foreach_meta (frame, drop_region, NULL);
    }
    timings_print (timings, "boxoverlay, %u boxes with label and score, I420 %dx%d", counts[i],
        WIDTH, HEIGHT);
    g_array_unref (list);
  }
  gst_buffer_unref (frame);
  bed_close (&bed);
done:
  g_rand_free (rand);
}

/* -------------------------------------------------- boxrecord and boxreplay */

static guint
count_regions (GstBuffer *buffer)
{
  return gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

static void
bench_files (Timings *timings)
{
  const guint frames = timings_calls (timings) / 4;
  gchar *folder = g_dir_make_tmp ("bench-elements-XXXXXX", NULL);
  gchar *path = g_build_filename (folder, "boxes.jsonl", NULL);
  GArray *list = make_detections (100);
  Bed bed;

  timings->clock = CLOCK_PROCESS_CPUTIME_ID;
  if (bed_open (&bed, "boxrecord", "location", path, NULL)) {
    for (guint i = 0; i < frames; i++) {
      GstBuffer *buffer = gst_buffer_new ();
      attach_all (buffer, list);
      GST_BUFFER_PTS (buffer) = i * FRAME;
      timings_push (timings, &bed, buffer);
    }
    bed_close (&bed);
    timings_print (timings, "boxrecord, 100 boxes, JSON Lines into a file");
  }
  if (g_file_test (path, G_FILE_TEST_EXISTS)
      && bed_open (&bed, "boxreplay", "location", path, NULL)) {
    for (guint i = 0; i < frames; i++) {
      GstBuffer *buffer = gst_buffer_new ();
      GST_BUFFER_PTS (buffer) = i * FRAME;
      timings_push (timings, &bed, buffer);
      if (count_regions (bed.caught) != list->len)
        g_error ("boxreplay attached %u of %u boxes", count_regions (bed.caught), list->len);
    }
    bed_close (&bed);
    timings_print (timings, "boxreplay, 100 boxes, JSON Lines from a file");
  }
  g_array_unref (list);
  g_unlink (path);
  g_rmdir (folder);
  g_free (path);
  g_free (folder);
}

int
main (int argc, char **argv)
{
  Timings *timings = g_new0 (Timings, 1);
  guint major, minor, micro, nano;

  static const struct {
    const gchar *name;
    void (*run) (Timings *timings);
  } parts[] = {
    { "filter", bench_filter },
    { "analytics", bench_analytics },
    { "overlay", bench_overlay },
    { "files", bench_files },
    { "merge", bench_merge },
  };
  guint wanted = 0; /* a bit each */

  gst_init (&argc, &argv);
  for (int i = 1; i < argc; i++) {
    guint k = 0;

    timings->json |= g_str_equal (argv[i], "--json");
    timings->quick |= g_str_equal (argv[i], "--quick");
    while (k < G_N_ELEMENTS (parts) && !g_str_equal (argv[i], parts[k].name))
      k++;
    if (k < G_N_ELEMENTS (parts)) {
      wanted |= 1u << k;
    } else if (!g_str_equal (argv[i], "--json") && !g_str_equal (argv[i], "--quick")) {
      g_print ("usage: bench-elements [--json] [--quick] [filter] [analytics] [overlay] "
               "[files] [merge]\n");
      return !g_str_equal (argv[i], "--help");
    }
  }
  timings->clock = CLOCK_MONOTONIC;
  gst_version (&major, &minor, &micro, &nano);
  if (timings->json)
    g_print ("{\"gstreamer\": \"%u.%u.%u\", \"rows\": [", major, minor, micro);
  for (guint k = 0; k < G_N_ELEMENTS (parts); k++)
    if (wanted == 0 || wanted & 1u << k)
      parts[k].run (timings);
  if (timings->json)
    g_print ("\n]}\n");
  g_free (timings);
  return 0;
}
