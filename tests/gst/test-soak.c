/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * soak: pushes buffers with boxes through nmsfilter, boxtransform, boxrecord and boxmerge, with
 * flushes, segments, new caps and properties at random. Counts every buffer and box, and checks
 * that the memory of the process does not grow.
 *
 *     test-soak [BUFFERS [SEED]]    # default: 20,000 buffers
 */
#include <unistd.h>

#include "playing.h"
#include "steps.h"

#define MOST_BOXES 12
#define GROWTH 16384   /* KiB that the process may grow by after a tenth of the buffers */
#define ENOUGH 1000000 /* buffers, below which memory is not checked */

typedef struct
{
  GstHarness *h;
  GstElement *filter;
  GRand *rand;
  gint frame;            /* number of the next one */
  guint64 pushed, boxes; /* pushed by this program */
  guint64 kept;          /* boxes that came out of boxrecord */
  guint due;             /* buffers that must have come out, if none is pending */
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

/* Waits until all buffers have come out of boxmerge, which has a thread of its own. */
static void
drain (Soak *soak)
{
  for (guint ms = 0; gst_harness_buffers_received (soak->h) < soak->due; ms++) {
    g_assert_cmpuint (ms, <, 60000);
    g_usleep (1000);
  }
}

/* Begins a segment somewhere, after a flush or without one. */
static void
move (Soak *soak, gboolean flush)
{
  g_autofree gchar *step = NULL;

  soak->frame = g_rand_int_range (soak->rand, 0, 1000);
  step = g_strdup_printf ("%s-%d", flush ? "seek" : "from", soak->frame);
  g_assert_true (steps_event (soak->h, step));
  if (flush)
    soak->due = gst_harness_buffers_received (soak->h);
}

static void
push_caps (Soak *soak)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (g_rand_boolean (soak->rand)
          ? "video/x-raw,format=GRAY8,width=1280,height=720,framerate=10/1"
          : FRAME_CAPS);

  g_assert_true (gst_harness_push_event (soak->h, gst_event_new_caps (caps)));
}

static void
push_buffer (Soak *soak)
{
  static const gchar *const labels[] = { "person", "car", "dog" };
  const gint count = g_rand_int_range (soak->rand, 0, MOST_BOXES + 1);
  GstBuffer *buffer = frame_new ((GstClockTime) soak->frame++ * FRAME);

  for (gint i = 0; i < count; i++) {
    const gint x = g_rand_int_range (soak->rand, -20, 620);
    const gint y = g_rand_int_range (soak->rand, -20, 460);

    add_scored (buffer, i + 1, labels[g_rand_int_range (soak->rand, 0, 3)], (Rect) { x, y, 60, 80 },
        g_rand_double (soak->rand));
  }
  soak->boxes += (guint64) count;
  soak->pushed++;
  soak->due++;
  g_assert_cmpint (gst_harness_push (soak->h, buffer), ==, GST_FLOW_OK);
  for (GstEvent *event; (event = gst_harness_try_pull_event (soak->h)) != NULL;)
    gst_event_unref (event);
}

static void
act (Soak *soak)
{
  switch (g_rand_int_range (soak->rand, 0, 400)) {
    case 0:
      if (g_rand_int_range (soak->rand, 0, 10) > 0)
        drain (soak);
      move (soak, TRUE);
      break;
    case 1:
      push_caps (soak);
      break;
    case 2:
      move (soak, FALSE);
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
  gst_harness_set_drop_buffers (soak.h, TRUE);
  soak.filter = gst_bin_get_by_name (GST_BIN (soak.h->element), "filter");
  playing_probe (soak.h->element, "record", "src", count_kept, &soak);
  gst_harness_set_src_caps_str (soak.h, FRAME_CAPS);
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
  g_print ("%s; %ld KiB after a tenth, %ld KiB at the end\n", counted, early, late);
  if (buffers >= ENOUGH)
    g_assert_cmpint (late, <, early + GROWTH);
  gst_object_unref (soak.filter);
  gst_harness_teardown (soak.h);
  g_rand_free (soak.rand);
  gst_deinit ();
  return 0;
}
