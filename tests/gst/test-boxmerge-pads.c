/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmerge: pads that come and go under load. One thread pushes the main stream; each of
 * the others requests a pad, sends a few buffers, at times with EOS or a GAP, and releases it while
 * the main stream may be waiting for it. Meanwhile another thread changes properties and
 * reads statistics. Each main buffer must come out, in order, and the boxes on them must be those
 * that the statistics count. Run under ThreadSanitizer too (tests/run.sh tsan).
 */
#include <stdlib.h>

#include "gstrunner.h"
#include "merging.h"

#define BRANCHES 4
#define ROUNDS 1000 /* rounds of all branches together; NMS_TEST_ROUNDS sets another number */

typedef struct
{
  GstElement *element;
  GstHarness *main;
  guint rounds; /* rounds of each branch */
  gint time;    /* atomic: number of the last main buffer pushed */
  gint running; /* atomic: branches that have not finished */
} Load;

static GstPad *
open_branch (Load *load, GstPad **sink)
{
  GstPad *src = gst_pad_new ("branch", GST_PAD_SRC);
  g_autoptr (GstCaps) caps = gst_caps_from_string (FRAME_CAPS);
  GstSegment segment;

  *sink = gst_element_request_pad_simple (load->element, "sink_%u");
  g_assert_nonnull (*sink);
  gst_pad_set_active (src, TRUE);
  g_assert_cmpint (gst_pad_link (src, *sink), ==, GST_PAD_LINK_OK);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (src, gst_event_new_stream_start ("branch"));
  gst_pad_push_event (src, gst_event_new_caps (caps));
  gst_pad_push_event (src, gst_event_new_segment (&segment));
  return src;
}

static void
run_round (Load *load, GRand *rand)
{
  g_autoptr (GstPad) sink = NULL, src = open_branch (load, &sink);
  const gint count = g_rand_int_range (rand, 0, 5);

  for (gint i = 0; i < count; i++) {
    GstBuffer *buffer = frame_new ((GstClockTime) (g_atomic_int_get (&load->time) + i) * FRAME);

    add_scored (buffer, 1, "a", i, 20, 30, 40, 0.5);
    gst_pad_push (src, buffer);
  }
  if (g_rand_int_range (rand, 0, 4) == 0)
    gst_pad_push_event (src, gst_event_new_eos ());
  else if (g_rand_int_range (rand, 0, 4) == 0)
    gst_pad_push_event (src,
        gst_event_new_gap ((GstClockTime) g_atomic_int_get (&load->time) * FRAME, 3 * FRAME));
  gst_element_release_request_pad (load->element, sink);
  gst_pad_set_active (src, FALSE);
}

static gpointer
run_branch (gpointer user_data)
{
  Load *load = user_data;
  GRand *rand = g_rand_new_with_seed (load->rounds);

  for (guint i = 0; i < load->rounds; i++)
    run_round (load, rand);
  g_rand_free (rand);
  g_atomic_int_add (&load->running, -1);
  return NULL;
}

static gpointer
run_settings (gpointer user_data)
{
  Load *load = user_data;

  while (g_atomic_int_get (&load->running) > 0) {
    GstPad *pad = NULL;
    GstStructure *stats;

    g_object_set (load->element, "tolerance", (guint64) g_random_int_range (0, 3) * 1000, NULL);
    g_object_get (load->element, "stats", &stats, NULL);
    gst_structure_free (stats);
    GST_OBJECT_LOCK (load->element);
    if (load->element->sinkpads->next)
      pad = gst_object_ref (load->element->sinkpads->next->data);
    GST_OBJECT_UNLOCK (load->element);
    if (pad) {
      g_object_set (pad, "xpos", g_random_int_range (0, 100), "hold",
          (guint64) g_random_int_range (0, 2) * FRAME, "source", "s", NULL);
      gst_object_unref (pad);
    }
    g_usleep (100);
  }
  return NULL;
}

/* Pushes main buffers until all branches have finished. Returns their number. */
static gpointer
run_main (gpointer user_data)
{
  Load *load = user_data;
  gint count = 0;

  while (g_atomic_int_get (&load->running) > 0) {
    g_assert_cmpint (gst_harness_push (load->main, frame_new ((GstClockTime) count * FRAME)), ==,
        GST_FLOW_OK);
    g_atomic_int_set (&load->time, ++count);
  }
  gst_harness_push_event (load->main, gst_event_new_eos ());
  return GINT_TO_POINTER (count);
}

typedef struct
{
  guint64 buffers, boxes;
  gint ended; /* atomic */
} Seen;

/* Checks each main buffer until EOS. */
static GstPadProbeReturn
check_output (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Seen *seen = user_data;

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);

    g_assert_cmpuint (GST_BUFFER_PTS (buffer), ==, seen->buffers * FRAME);
    seen->buffers++;
    seen->boxes += count_on (buffer);
  } else if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_EOS) {
    g_atomic_int_set (&seen->ended, 1);
  }
  return GST_PAD_PROBE_OK;
}

static void
test_pads (void)
{
  const gchar *rounds = g_getenv ("NMS_TEST_ROUNDS");
  GThread *threads[BRANCHES], *main_thread, *settings;
  GstElement *element;
  Seen seen = { 0 };
  Load load = { .running = BRANCHES };
  g_auto (Merging) m = { 0 };
  gint count;

  merging_open (&m, "boxmerge", 0, NULL, FALSE);
  gst_harness_set_drop_buffers (m.main, TRUE);
  gst_pad_add_probe (m.main->sinkpad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, check_output, &seen, NULL);
  load.element = element = m.element;
  load.main = m.main;
  load.rounds = (rounds ? (guint) atoi (rounds) : ROUNDS) / BRANCHES;
  main_thread = g_thread_new ("main", run_main, &load);
  settings = g_thread_new ("settings", run_settings, &load);
  for (guint i = 0; i < BRANCHES; i++)
    threads[i] = g_thread_new ("branch", run_branch, &load);
  for (guint i = 0; i < BRANCHES; i++)
    g_thread_join (threads[i]);
  g_thread_join (settings);
  count = GPOINTER_TO_INT (g_thread_join (main_thread));
  while (!g_atomic_int_get (&seen.ended))
    g_usleep (1000);
  g_assert_cmpuint (seen.buffers, ==, (guint) count);
  g_assert_cmpuint (stat_of (element, "frames"), ==, (guint) count);
  g_assert_cmpuint (stat_of (element, "boxes"), ==, seen.boxes);
  g_assert_cmpuint (stat_of (element, "in"), ==,
      stat_of (element, "merged") + stat_of (element, "too-late")
          + stat_of (element, "without-match"));
  g_assert_cmpuint (stat_of (element, "merged"), >, 0);
  g_test_message ("%d main buffers, %" G_GUINT64_FORMAT " boxes", count, seen.boxes);
}

static const TestCase cases[] = { CASE (test_pads), { NULL } };

GST_TEST_PROGRAM (cases);
