/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * soak: pushes buffers with boxes through nmsfilter, boxtransform, boxrecord and boxmerge, with
 * flushes, seeks, new caps and properties at random. Counts every buffer and box, and checks that
 * the memory of the process does not grow.
 *
 *     test-soak [BUFFERS [SEED]]    # default: 20,000 buffers
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gstboxes.h"

#define STEP (40 * GST_MSECOND)
#define MOST_BOXES 12
#define GROWTH 16384   /* KiB that the process may grow by after a tenth of the buffers */
#define ENOUGH 1000000 /* buffers, below which memory is not checked */

typedef struct
{
  GstElement *bin, *filter;
  GstPad *src, *sink;
  GRand *rand;
  GstClockTime time;
  guint64 pushed, boxes;        /* pushed by this program */
  guint64 kept;                 /* boxes that came out of boxrecord */
  guint64 flushes, seeks, caps; /* done */
  gint came;                    /* atomic: buffers out of boxmerge since the last flush */
  gint sent;                    /* buffers pushed since the last flush */
} Soak;

static GstStaticPadTemplate any_sink = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK,
    GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static glong
resident_kib (void)
{
  gchar *text = NULL;
  glong pages = 0;

  if (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL))
    sscanf (text, "%*d %ld", &pages);
  g_free (text);
  return pages * (sysconf (_SC_PAGESIZE) / 1024);
}

static GstFlowReturn
receive (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Soak *soak = gst_pad_get_element_private (pad);

  g_atomic_int_inc (&soak->came);
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static GstPadProbeReturn
count_kept (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  ((Soak *) user_data)->kept += count_on (GST_PAD_PROBE_INFO_BUFFER (info));
  return GST_PAD_PROBE_OK;
}

static gboolean
take_seek (GstPad *pad, GstObject *parent, GstEvent *event)
{
  Soak *soak = gst_pad_get_element_private (pad);

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEEK)
    soak->seeks++;
  gst_event_unref (event);
  return TRUE;
}

static void
push_caps (Soak *soak)
{
  const gboolean wide = g_rand_boolean (soak->rand);
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "GRAY8", "width",
      G_TYPE_INT, wide ? 1280 : 640, "height", G_TYPE_INT, wide ? 720 : 480, "framerate",
      GST_TYPE_FRACTION, 25, 1, NULL);

  g_assert_true (gst_pad_push_event (soak->src, gst_event_new_caps (caps)));
  gst_caps_unref (caps);
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
  g_assert_true (gst_pad_push_event (soak->src, gst_event_new_segment (&segment)));
}

/* Waits until all buffers have come out of boxmerge, which has a thread of its own. */
static void
drain (Soak *soak)
{
  for (guint i = 0; g_atomic_int_get (&soak->came) < soak->sent; i++) {
    g_assert_cmpuint (i, <, 100000);
    g_usleep (100);
  }
}

/* Seeks: downstream asks for it, and upstream flushes, nine times of ten after all has come out. */
static void
seek (Soak *soak)
{
  if (g_rand_int_range (soak->rand, 0, 10) > 0)
    drain (soak);
  g_assert_true (gst_pad_push_event (soak->sink,
      gst_event_new_seek (1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0,
          GST_SEEK_TYPE_NONE, 0)));
  g_assert_true (gst_pad_push_event (soak->src, gst_event_new_flush_start ()));
  g_assert_true (gst_pad_push_event (soak->src, gst_event_new_flush_stop (TRUE)));
  soak->flushes++;
  soak->sent = 0;
  g_atomic_int_set (&soak->came, 0);
  push_soak_segment (soak);
}

static void
push_buffer (Soak *soak)
{
  static const gchar *const labels[] = { "person", "car", "dog" };
  const gint count = g_rand_int_range (soak->rand, 0, MOST_BOXES + 1);
  GstBuffer *buffer = frame_new (soak->time);

  for (gint i = 0; i < count; i++)
    add_scored (buffer, i + 1, labels[g_rand_int_range (soak->rand, 0, 3)],
        g_rand_int_range (soak->rand, -20, 620), g_rand_int_range (soak->rand, -20, 460), 60, 80,
        g_rand_double (soak->rand));
  soak->time += STEP;
  soak->boxes += (guint64) count;
  soak->pushed++;
  soak->sent++;
  g_assert_cmpint (gst_pad_push (soak->src, buffer), ==, GST_FLOW_OK);
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

static void
soak_open (Soak *soak, guint32 seed)
{
  GError *error = NULL;
  GstElement *record;
  GstPad *pad;

  *soak = (Soak) { .rand = g_rand_new_with_seed (seed) };
  soak->bin =
      gst_parse_bin_from_description ("nmsfilter name=filter ! boxtransform "
                                      "! boxrecord name=record location=/dev/null ! boxmerge",
          TRUE, &error);
  g_assert_no_error (error);
  gst_object_ref_sink (soak->bin);
  soak->filter = gst_bin_get_by_name (GST_BIN (soak->bin), "filter");
  record = gst_bin_get_by_name (GST_BIN (soak->bin), "record");
  pad = gst_element_get_static_pad (record, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_kept, soak, NULL);
  gst_object_unref (pad);
  gst_object_unref (record);
  soak->src = gst_pad_new ("src", GST_PAD_SRC);
  soak->sink = gst_pad_new_from_static_template (&any_sink, "sink");
  gst_pad_set_element_private (soak->src, soak);
  gst_pad_set_element_private (soak->sink, soak);
  gst_pad_set_event_function (soak->src, take_seek);
  gst_pad_set_chain_function (soak->sink, receive);
  pad = gst_element_get_static_pad (soak->bin, "sink");
  g_assert_cmpint (gst_pad_link (soak->src, pad), ==, GST_PAD_LINK_OK);
  gst_object_unref (pad);
  pad = gst_element_get_static_pad (soak->bin, "src");
  g_assert_cmpint (gst_pad_link (pad, soak->sink), ==, GST_PAD_LINK_OK);
  gst_object_unref (pad);
  gst_pad_set_active (soak->sink, TRUE);
  gst_pad_set_active (soak->src, TRUE);
  g_assert_cmpint (gst_element_set_state (soak->bin, GST_STATE_PLAYING), !=,
      GST_STATE_CHANGE_FAILURE);
  gst_pad_push_event (soak->src, gst_event_new_stream_start ("soak"));
  push_caps (soak);
  push_soak_segment (soak);
}

/* Compares the counters of nmsfilter with those of this program. */
static void
check_counts (Soak *soak)
{
  guint64 frames, in, out;
  GstStructure *stats;

  g_object_get (soak->filter, "stats", &stats, NULL);
  g_assert_true (gst_structure_get (stats, "frames", G_TYPE_UINT64, &frames, "boxes-in",
      G_TYPE_UINT64, &in, "boxes-out", G_TYPE_UINT64, &out, NULL));
  gst_structure_free (stats);
  g_assert_cmpuint (frames, ==, soak->pushed);
  g_assert_cmpuint (in, ==, soak->boxes);
  g_assert_cmpuint (out, ==, soak->kept);
  g_assert_cmpuint (soak->seeks, ==, soak->flushes);
}

static void
soak_close (Soak *soak)
{
  gst_element_set_state (soak->bin, GST_STATE_NULL);
  gst_pad_set_active (soak->src, FALSE);
  gst_pad_set_active (soak->sink, FALSE);
  gst_object_unref (soak->src);
  gst_object_unref (soak->sink);
  gst_object_unref (soak->filter);
  gst_object_unref (soak->bin);
  g_rand_free (soak->rand);
}

int
main (int argc, char **argv)
{
  Soak soak;
  glong early = 0, late;

  gst_init (NULL, NULL);
  const guint64 buffers = argc > 1 ? g_ascii_strtoull (argv[1], NULL, 10) : 20000;
  soak_open (&soak, argc > 2 ? (guint32) atoi (argv[2]) : 1);
  while (soak.pushed < buffers) {
    act (&soak);
    if (soak.pushed == buffers / 10)
      early = resident_kib ();
  }
  drain (&soak);
  check_counts (&soak);
  late = resident_kib ();
  g_print ("%" G_GUINT64_FORMAT " buffers, %" G_GUINT64_FORMAT " boxes, %" G_GUINT64_FORMAT
           " kept, %" G_GUINT64_FORMAT " seeks, %" G_GUINT64_FORMAT " caps; %ld KiB after a tenth, "
           "%ld KiB at the end\n",
      soak.pushed, soak.boxes, soak.kept, soak.seeks, soak.caps, early, late);
  if (buffers >= ENOUGH)
    g_assert_cmpint (late, <, early + GROWTH);
  soak_close (&soak);
  gst_deinit ();
  return 0;
}
