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
  Merging m;
  guint rounds;           /* rounds of each branch */
  gint time;              /* atomic: number of the last main buffer pushed */
  gint running;           /* atomic: branches that have not finished */
  guint64 buffers, boxes; /* that came out */
  gint ended;             /* atomic: EOS came out */
} Load;

static gpointer
run_branch (gpointer user_data)
{
  Load *load = user_data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (load->rounds);

  for (guint i = 0; i < load->rounds; i++) {
    g_autoptr (GstPad) src = gst_pad_new ("branch", GST_PAD_SRC);
    g_autoptr (GstPad) sink = gst_element_request_pad_simple (load->m.element, "sink_%u");
    g_autoptr (GstCaps) caps = gst_caps_from_string (FRAME_CAPS);
    const gint count = g_rand_int_range (rand, 0, 5);
    GstSegment segment;

    g_assert_nonnull (sink);
    gst_pad_set_active (src, TRUE);
    g_assert_cmpint (gst_pad_link (src, sink), ==, GST_PAD_LINK_OK);
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_pad_push_event (src, gst_event_new_stream_start ("branch"));
    gst_pad_push_event (src, gst_event_new_caps (caps));
    gst_pad_push_event (src, gst_event_new_segment (&segment));
    for (gint k = 0; k < count; k++) {
      GstBuffer *buffer = frame_new ((GstClockTime) (g_atomic_int_get (&load->time) + k) * FRAME);

      add_boxes (buffer, "1 a 3,20,30,40 0.5");
      gst_pad_push (src, buffer);
    }
    if (g_rand_int_range (rand, 0, 4) == 0)
      gst_pad_push_event (src, gst_event_new_eos ());
    else if (g_rand_int_range (rand, 0, 4) == 0)
      gst_pad_push_event (src,
          gst_event_new_gap ((GstClockTime) g_atomic_int_get (&load->time) * FRAME, 3 * FRAME));
    gst_element_release_request_pad (load->m.element, sink);
    gst_pad_set_active (src, FALSE);
  }
  g_atomic_int_add (&load->running, -1);
  return NULL;
}

static gpointer
run_settings (gpointer user_data)
{
  Load *load = user_data;
  GstElement *element = load->m.element;

  while (g_atomic_int_get (&load->running) > 0) {
    g_autoptr (GstPad) pad = NULL;

    g_object_set (element, "tolerance", (guint64) g_random_int_range (0, 3) * 1000, NULL);
    stat_of (element, "frames");
    GST_OBJECT_LOCK (element);
    if (element->sinkpads->next)
      pad = gst_object_ref (element->sinkpads->next->data);
    GST_OBJECT_UNLOCK (element);
    if (pad)
      g_object_set (pad, "xpos", g_random_int_range (0, 100), "hold",
          (guint64) g_random_int_range (0, 2) * FRAME, "source", "s", NULL);
    g_usleep (100);
  }
  return NULL;
}

/* Pushes main buffers until all branches have finished. */
static gpointer
run_main (gpointer user_data)
{
  Load *load = user_data;

  while (g_atomic_int_get (&load->running) > 0) {
    merging_push_main (&load->m, (GstClockTime) load->time * FRAME);
    g_atomic_int_inc (&load->time);
  }
  gst_harness_push_event (load->m.main, gst_event_new_eos ());
  return NULL;
}

/* Checks each main buffer until EOS. */
static GstPadProbeReturn
check_output (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Load *load = user_data;

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    g_assert_cmpuint (GST_BUFFER_PTS (info->data), ==, load->buffers * FRAME);
    load->buffers++;
    load->boxes += count_on (info->data);
  } else if (GST_EVENT_TYPE (info->data) == GST_EVENT_EOS) {
    g_atomic_int_set (&load->ended, 1);
  }
  return GST_PAD_PROBE_OK;
}

static void
test_pads (void)
{
  const gchar *rounds = g_getenv ("NMS_TEST_ROUNDS");
  GThread *threads[BRANCHES + 2];
  GstElement *element;
  Load load = { .running = BRANCHES };

  load.rounds = (rounds ? (guint) atoi (rounds) : ROUNDS) / BRANCHES;
  merging_open (&load.m, "boxmerge", 0, NULL, FALSE);
  element = load.m.element;
  gst_harness_set_drop_buffers (load.m.main, TRUE);
  gst_pad_add_probe (load.m.main->sinkpad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, check_output, &load, NULL);
  threads[BRANCHES] = g_thread_new ("main", run_main, &load);
  threads[BRANCHES + 1] = g_thread_new ("settings", run_settings, &load);
  for (guint i = 0; i < BRANCHES; i++)
    threads[i] = g_thread_new ("branch", run_branch, &load);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  while (!g_atomic_int_get (&load.ended))
    g_usleep (1000);
  g_assert_cmpuint (load.buffers, ==, (guint) load.time);
  g_assert_cmpuint (stat_of (element, "frames"), ==, (guint) load.time);
  g_assert_cmpuint (stat_of (element, "boxes"), ==, load.boxes);
  g_assert_cmpuint (stat_of (element, "in"), ==,
      stat_of (element, "merged") + stat_of (element, "too-late")
          + stat_of (element, "without-match"));
  g_assert_cmpuint (stat_of (element, "merged"), >, 0);
  g_test_message ("%d main buffers, %" G_GUINT64_FORMAT " boxes", load.time, load.boxes);
  merging_close (&load.m);
}

static const TestCase cases[] = { CASE (test_pads), { NULL } };

GST_TEST_PROGRAM (cases);
