/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * soak: pushes buffers with boxes through nmsfilter, boxtransform, boxrecord and boxmerge, with
 * flushes, seeks, new caps and properties at random. Counts every buffer and box, and checks that
 * the memory of the process does not grow.
 *
 *     test-soak [BUFFERS [SEED]]    # default: 20,000 buffers
 */
#include <unistd.h>

#include "gstboxes.h"

#define STEP (40 * GST_MSECOND)
#define MOST_BOXES 12
#define GROWTH 16384   /* KiB that the process may grow by after a tenth of the buffers */
#define ENOUGH 1000000 /* buffers, below which memory is not checked */

typedef struct
{
  GstHarness *h;
  GstElement *filter;
  GRand *rand;
  GstClockTime time;
  guint64 pushed, boxes; /* pushed by this program */
  guint64 kept;          /* boxes that came out of boxrecord */
  guint64 seeks, caps;   /* done */
  guint sent, came;      /* buffers since the last flush */
} Soak;

static glong
resident_kib (void)
{
  g_autofree gchar *text = NULL;
  glong pages = 0;

  if (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL))
    sscanf (text, "%*d %ld", &pages);
  return pages * (sysconf (_SC_PAGESIZE) / 1024);
}

static GstPadProbeReturn
count_kept (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  ((Soak *) user_data)->kept += count_on (GST_PAD_PROBE_INFO_BUFFER (info));
  return GST_PAD_PROBE_OK;
}

static void
push_caps (Soak *soak)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (g_rand_boolean (soak->rand)
          ? "video/x-raw,format=GRAY8,width=1280,height=720,framerate=25/1"
          : "video/x-raw,format=GRAY8,width=640,height=480,framerate=25/1");

  g_assert_true (gst_harness_push_event (soak->h, gst_event_new_caps (caps)));
  soak->caps++;
}

/* Begins a segment somewhere, at another rate. */
static void
push_soak_segment (Soak *soak)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = g_rand_boolean (soak->rand) ? 1 : 2;
  soak->time = g_rand_int_range (soak->rand, 0, 1000) * STEP;
  segment.start = segment.time = soak->time;
  g_assert_true (gst_harness_push_event (soak->h, gst_event_new_segment (&segment)));
}

/* Takes the buffers and events that have come out. */
static void
take (Soak *soak)
{
  GstBuffer *buffer;
  GstEvent *event;

  while ((buffer = gst_harness_try_pull (soak->h))) {
    gst_buffer_unref (buffer);
    soak->came++;
  }
  while ((event = gst_harness_try_pull_event (soak->h)))
    gst_event_unref (event);
}

/* Waits until all buffers have come out of boxmerge, which has a thread of its own. */
static void
drain (Soak *soak)
{
  for (; soak->came < soak->sent; soak->came++) {
    GstBuffer *buffer = gst_harness_pull (soak->h);

    g_assert_nonnull (buffer);
    gst_buffer_unref (buffer);
  }
}

/* Seeks: downstream asks for it, and upstream flushes, nine times of ten after all has come out. */
static void
seek (Soak *soak)
{
  const guint64 before = soak->seeks;
  GstEvent *event;

  if (g_rand_int_range (soak->rand, 0, 10) > 0)
    drain (soak);
  g_assert_true (gst_harness_push_upstream_event (soak->h,
      gst_event_new_seek (1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0,
          GST_SEEK_TYPE_NONE, 0)));
  do {
    event = gst_harness_pull_upstream_event (soak->h);
    g_assert_nonnull (event);
    soak->seeks += GST_EVENT_TYPE (event) == GST_EVENT_SEEK;
    gst_event_unref (event);
  } while (gst_harness_upstream_events_in_queue (soak->h) > 0);
  g_assert_cmpuint (soak->seeks, ==, before + 1);
  push_flush (soak->h);
  take (soak);
  soak->sent = soak->came = 0;
  push_soak_segment (soak);
}

static void
push_buffer (Soak *soak)
{
  static const gchar *const labels[] = { "person", "car", "dog" };
  const gint count = g_rand_int_range (soak->rand, 0, MOST_BOXES + 1);
  GstBuffer *buffer = frame_new (soak->time);

  for (gint i = 0; i < count; i++)
    gst_video_region_of_interest_meta_add_param (add_region (buffer, i + 1,
                                                     labels[g_rand_int_range (soak->rand, 0, 3)],
                                                     (Rect) {
                                                         g_rand_int_range (soak->rand, -20, 620),
                                                         g_rand_int_range (soak->rand, -20, 460),
                                                         60, 80 }),
        gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, g_rand_double (soak->rand),
            NULL));
  soak->time += STEP;
  soak->boxes += (guint64) count;
  soak->pushed++;
  soak->sent++;
  g_assert_cmpint (gst_harness_push (soak->h, buffer), ==, GST_FLOW_OK);
  take (soak);
}

static void
act (Soak *soak)
{
  switch (g_rand_int_range (soak->rand, 0, 400)) {
    case 0:
      seek (soak);
      break;
    case 1:
      push_caps (soak);
      break;
    case 2:
      push_soak_segment (soak);
      break;
    case 3:
      g_object_set (soak->filter, "iou-threshold", g_rand_double (soak->rand), NULL);
      break;
    default:
      push_buffer (soak);
  }
}

int
main (int argc, char **argv)
{
  Soak soak = { 0 };
  glong early = 0, late;

  gst_init (NULL, NULL);
  const guint64 buffers = argc > 1 ? g_ascii_strtoull (argv[1], NULL, 10) : 20000;
  soak.rand = g_rand_new_with_seed (argc > 2 ? (guint32) atoi (argv[2]) : 1);
  soak.h = gst_harness_new_parse ("nmsfilter name=filter ! boxtransform "
                                  "! boxrecord name=record location=/dev/null ! boxmerge");
  soak.filter = gst_bin_get_by_name (GST_BIN (soak.h->element), "filter");
  GstElement *record = gst_bin_get_by_name (GST_BIN (soak.h->element), "record");
  GstPad *recorded = gst_element_get_static_pad (record, "src");
  gst_pad_add_probe (recorded, GST_PAD_PROBE_TYPE_BUFFER, count_kept, &soak, NULL);
  gst_object_unref (recorded);
  gst_object_unref (record);
  gst_harness_set_src_caps_str (soak.h, FRAME_CAPS);
  push_caps (&soak);
  push_soak_segment (&soak);
  while (soak.pushed < buffers) {
    act (&soak);
    if (soak.pushed == buffers / 10)
      early = resident_kib ();
  }
  drain (&soak);
  g_autofree gchar *counted = g_strdup_printf ("frames=%" G_GUINT64_FORMAT
                                               " boxes-in=%" G_GUINT64_FORMAT
                                               " boxes-out=%" G_GUINT64_FORMAT,
      soak.pushed, soak.boxes, soak.kept);
  assert_stats (soak.filter, counted);
  late = resident_kib ();
  g_print ("%s, %" G_GUINT64_FORMAT " seeks, %" G_GUINT64_FORMAT " caps; %ld KiB after a tenth, "
           "%ld KiB at the end\n",
      counted, soak.seeks, soak.caps, early, late);
  if (buffers >= ENOUGH)
    g_assert_cmpint (late, <, early + GROWTH);
  gst_object_unref (soak.filter);
  gst_harness_teardown (soak.h);
  g_rand_free (soak.rand);
  gst_deinit ();
  return 0;
}
