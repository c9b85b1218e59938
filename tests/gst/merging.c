/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "merging.h"

#include <gst/check/gsttestclock.h>
#include <stdlib.h>
#include <string.h>

static void
add_branch (Merging *m, guint i)
{
  g_autofree gchar *name = g_strdup_printf ("sink_%u", i);

  m->branch[i] = gst_harness_new_with_element (m->element, name, NULL);
}

void
merging_new (Merging *m, const gchar *launch, guint count, gboolean live)
{
  GstElement *element = element_new (launch);

  *m = (Merging) { .element = element, .count = count };
  m->main = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  gst_harness_set_live (m->main, live);
  for (guint i = 0; i < count; i++) {
    add_branch (m, i);
    gst_harness_set_live (m->branch[i], live);
  }
}

void
merging_start (Merging *m, const gchar *caps)
{
  gst_harness_set_src_caps_str (m->main, FRAME_CAPS);
  for (guint i = 0; i < m->count; i++)
    gst_harness_set_src_caps_str (m->branch[i], caps ? caps : FRAME_CAPS);
}

void
merging_open (Merging *m, const gchar *launch, guint count, const gchar *caps, gboolean live)
{
  merging_new (m, launch, count, live);
  merging_start (m, caps);
}

void
merging_close (Merging *m)
{
  for (guint i = 0; i < m->count; i++)
    g_clear_pointer (&m->branch[i], gst_harness_teardown);
  harness_free (m->main);
}

GstPad *
merging_pad (Merging *m, guint i)
{
  gchar *name = g_strdup_printf ("sink_%u", i);
  GstPad *pad = gst_element_get_static_pad (m->element, name);

  g_free (name);
  g_assert_nonnull (pad);
  return pad;
}

void
merging_push_box (Merging *m, guint i, GstClockTime time, gint x)
{
  GstBuffer *buffer = frame_new (time);

  if (x >= 0)
    add_scored (buffer, 0, "a", x, 20, 30, 40, 0.5);
  g_assert_cmpint (gst_harness_push (m->branch[i], buffer), ==, GST_FLOW_OK);
}

void
merging_push_main (Merging *m, GstClockTime time)
{
  g_assert_cmpint (gst_harness_push (m->main, frame_new (time)), ==, GST_FLOW_OK);
}

void
merging_expect (Merging *m, GstClockTime time, const gchar *boxes)
{
  g_autoptr (GstBuffer) buffer = gst_harness_pull (m->main);

  g_assert_nonnull (buffer);
  g_assert_cmpuint (GST_BUFFER_PTS (buffer), ==, time);
  g_assert_cmpstr (boxes_on (buffer), ==, boxes);
}

void
merging_expect_none (Merging *m)
{
  g_usleep (30 * 1000);
  g_assert_cmpuint (gst_harness_buffers_in_queue (m->main), ==, 0);
}

void
merging_expect_stat (Merging *m, guint i, const gchar *name, guint64 value)
{
  g_autoptr (GstPad) pad = merging_pad (m, i);
  g_autoptr (GstStructure) stats = NULL;
  guint64 found;

  g_object_get (pad, "stats", &stats, NULL);
  g_assert_true (gst_structure_get_uint64 (stats, name, &found));
  if (found != value)
    g_error ("branch %u: %s is %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT, i, name, found,
        value);
}

GstEvent *
merging_wait_event (Merging *m, GstEventType type)
{
  for (;;) {
    GstEvent *event = gst_harness_pull_event (m->main);

    g_assert_nonnull (event);
    if (GST_EVENT_TYPE (event) == type)
      return event;
    gst_event_unref (event);
  }
}

/* Waits until the element waits for the clock, checks the time, and lets it come. */
static void
reach_deadline (Merging *m, GstClockTime deadline)
{
  GstTestClock *clock = GST_TEST_CLOCK (gst_element_get_clock (m->element));
  GstClockID id;

  gst_test_clock_wait_for_next_pending_id (clock, &id);
  g_assert_cmpuint (gst_clock_id_get_time (id), ==, deadline);
  gst_clock_id_unref (id);
  g_assert_cmpuint (gst_harness_buffers_in_queue (m->main), ==, 0);
  g_assert_true (gst_test_clock_crank (clock));
  gst_object_unref (clock);
}

/* Reads a time; `rest` begins behind it. */
static GstClockTime
read_time (const gchar *text, gchar **rest)
{
  if (*text == '-') {
    *rest = (gchar *) text + 1;
    return GST_CLOCK_TIME_NONE;
  }
  return g_ascii_strtoull (text, rest, 10) * GST_MSECOND;
}

/* Returns the boxes of "1+2" in full. Free it. */
static gchar *
boxes_of (const gchar *text)
{
  gchar **places = g_strsplit (text, "+", -1), *boxes;

  for (guint i = 0; places[i] && strchr (places[i], ',') == NULL; i++) {
    g_autofree gchar *place = places[i];

    places[i] = g_strconcat (place, ",20,30,40", NULL);
  }
  boxes = g_strjoinv (" ", places);
  g_strfreev (places);
  return boxes;
}

/* Plays gap-a:300+200, eos-a or small-a. */
static void
play_event (Merging *m, const gchar *step)
{
  const gchar *dash = strchr (step, '-');
  GstHarness *branch = m->branch[dash[1] - 'a'];
  gchar *rest;

  if (g_str_has_prefix (step, "eos")) {
    gst_harness_push_event (branch, gst_event_new_eos ());
  } else if (g_str_has_prefix (step, "small")) {
    gst_harness_set_src_caps_str (branch,
        "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1");
  } else {
    const GstClockTime start = read_time (dash + 3, &rest);

    gst_harness_push_event (branch,
        gst_event_new_gap (start,
            *rest == '+' ? read_time (rest + 1, &rest) : GST_CLOCK_TIME_NONE));
  }
}

static void
play_step (Merging *m, const gchar *step)
{
  const gchar *dot = strchr (step, '.'), *colon = strchr (step, ':');
  GstClockTime time;
  gchar *rest, *text;

  if (g_str_equal (step, "none")) {
    merging_expect_none (m);
  } else if (dot) {
    text = g_strndup (dot + 1, (gsize) (colon - dot - 1));
    merging_expect_stat (m, (guint) (*step - 'a'), text, g_ascii_strtoull (colon + 1, NULL, 10));
    g_free (text);
  } else if (g_ascii_isalpha (step[1])) {
    play_event (m, step);
  } else {
    time = read_time (step + 1, &rest);
    if (*step == 'm') {
      merging_push_main (m, time);
    } else if (*step == '!') {
      reach_deadline (m, time);
    } else if (*step == '=') {
      text = boxes_of (rest + 1);
      merging_expect (m, time, text);
      g_free (text);
    } else {
      merging_push_box (m, (guint) (*step - 'a'), time, rest[1] ? atoi (rest + 1) : -1);
    }
  }
}

void
merging_play (Merging *m, const gchar *steps)
{
  gchar **list = g_strsplit (steps, " ", -1);

  for (guint i = 0; list[i]; i++) {
    g_test_message ("step %u: %s", i, list[i]);
    play_step (m, list[i]);
  }
  g_strfreev (list);
}
