/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "merging.h"

#include <gst/check/gsttestclock.h>
#include <stdlib.h>
#include <string.h>

/* Appends what passes the source pad to a text. */
static GstPadProbeReturn
note_passed (GstPad *pad, GstPadProbeInfo *info, gpointer text)
{
  GstClockTime time, duration;

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    g_string_append_printf (text, "buffer:%d ",
        (gint) (GST_BUFFER_PTS (GST_PAD_PROBE_INFO_BUFFER (info)) / GST_MSECOND));
  } else if (GST_EVENT_TYPE (info->data) == GST_EVENT_GAP) {
    gst_event_parse_gap (info->data, &time, &duration);
    g_string_append_printf (text, "gap:%d+%d ", (gint) (time / GST_MSECOND),
        (gint) (duration / GST_MSECOND));
  } else {
    g_string_append_printf (text, "%s ", GST_EVENT_TYPE_NAME (info->data));
  }
  return GST_PAD_PROBE_OK;
}

void
merging_open (Merging *m, const gchar *launch, guint count, const gchar *caps, gboolean live)
{
  GstElement *element = element_new (launch);

  *m = (Merging) { .element = element, .count = count, .passed = g_string_new (NULL) };
  m->main = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  gst_pad_add_probe (m->main->sinkpad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM
          | GST_PAD_PROBE_TYPE_EVENT_FLUSH,
      note_passed, m->passed, NULL);
  gst_harness_set_live (m->main, live);
  for (guint i = 0; i < count; i++) {
    g_autofree gchar *name = g_strdup_printf ("sink_%u", i);

    m->branch[i] = gst_harness_new_with_element (element, name, NULL);
    gst_harness_set_live (m->branch[i], live);
  }
  gst_harness_set_src_caps_str (m->main, FRAME_CAPS);
  for (guint i = 0; i < count; i++)
    gst_harness_set_src_caps_str (m->branch[i], caps ? caps : FRAME_CAPS);
}

void
merging_close (Merging *m)
{
  for (guint i = 0; i < m->count; i++)
    gst_harness_teardown (m->branch[i]);
  harness_free (m->main);
  g_string_free (m->passed, TRUE);
}

void
merging_push_box (Merging *m, guint i, GstClockTime time, gint x)
{
  GstBuffer *buffer = frame_new (time);
  g_autofree gchar *box = x >= 0 ? g_strdup_printf ("0 a %d,20,30,40 0.5", x) : NULL;

  add_boxes (buffer, box ? box : "");
  g_assert_cmpint (gst_harness_push (m->branch[i], buffer), ==, GST_FLOW_OK);
}

void
merging_push_main (Merging *m, GstClockTime time)
{
  g_assert_cmpint (gst_harness_push (m->main, frame_new (time)), ==, GST_FLOW_OK);
}

GstBuffer *
merging_merge (Merging *m, GstBuffer *branch, GstBuffer *main)
{
  GstBuffer *out;

  g_assert_cmpint (gst_harness_push (m->branch[0], branch), ==, GST_FLOW_OK);
  g_assert_cmpint (gst_harness_push (m->main, main ? main : frame_new (0)), ==, GST_FLOW_OK);
  out = gst_harness_pull (m->main);
  g_assert_nonnull (out);
  return out;
}

void
merging_expect (Merging *m, GstClockTime time, const gchar *boxes)
{
  g_autoptr (GstBuffer) buffer = gst_harness_pull (m->main);

  g_assert_nonnull (buffer);
  g_assert_cmpuint (GST_BUFFER_PTS (buffer), ==, time);
  g_assert_cmpstr (boxes_on (buffer), ==, boxes);
}

gchar *
merging_sources (GstBuffer *buffer)
{
  gchar **places = g_strsplit (boxes_on (buffer), " ", -1), *text;
  gpointer state = NULL;

  for (guint i = 0; places[i]; i++) {
    GstMeta *meta = gst_buffer_iterate_meta_filtered (buffer, &state,
        GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
    GstStructure *source =
        gst_video_region_of_interest_meta_get_param ((GstVideoRegionOfInterestMeta *) meta,
            "source");
    const gchar *name = source ? gst_structure_get_string (source, "name") : NULL;
    g_autofree gchar *place = places[i];
    gboolean cut = FALSE;

    if (source)
      gst_structure_get_boolean (source, "cut", &cut);
    places[i] = g_strdup_printf ("%s %s%s", place, name ? name : "-", cut ? " cut" : "");
  }
  text = g_strjoinv ("; ", places);
  g_strfreev (places);
  return text;
}

void
merging_expect_stat (Merging *m, guint i, const gchar *name, guint64 value)
{
  g_autoptr (GstPad) pad = gst_pad_get_peer (m->branch[i]->srcpad);

  if (stat_of ((gpointer) pad, name) != value)
    g_error ("branch %u: %s is not %" G_GUINT64_FORMAT, i, name, value);
}

void
merging_expect_error (GstBus *bus, const gchar *words)
{
  assert_says (gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_ERROR), words);
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

/* Returns the number of the branch with this letter. */
static guint
branch_of (const Merging *m, const gchar *step, gchar letter)
{
  if (letter < 'a' || letter >= 'a' + (gint) m->count)
    steps_unknown (step);
  return (guint) (letter - 'a');
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

/* Begins a segment at a time, or with rate -1 one that ends there. */
static void
begin_segment (GstHarness *h, gdouble rate, GstClockTime time)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = rate;
  segment.start = rate > 0 ? time : 0;
  segment.stop = rate > 0 ? GST_CLOCK_TIME_NONE : time;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
}

/* Plays a step with a dash: gap-a:300+200, eos-m. */
static void
play_event (Merging *m, const gchar *step, const gchar *dash)
{
  g_autofree gchar *word = g_strndup (step, (gsize) (dash - step));
  GstHarness *h = dash[1] == 'm' ? m->main : m->branch[branch_of (m, step, dash[1])];
  gchar *rest = (gchar *) dash + 2;

  if (g_str_equal (word, "small") || g_str_equal (word, "large")) {
    gst_harness_set_src_caps_str (h, *step == 's' ? QUARTER_CAPS : FRAME_CAPS);
  } else if (g_str_equal (word, "flush")) {
    push_flush (h);
    begin_segment (h, 1, 0);
  } else if ((g_str_equal (word, "from") || g_str_equal (word, "reverse")) && *rest == ':') {
    begin_segment (h, *word == 'f' ? 1 : -1, read_time (rest + 1, &rest));
  } else if (g_str_equal (word, "eos")) {
    gst_harness_push_event (h, gst_event_new_eos ());
  } else if (g_str_equal (word, "custom")) {
    gst_harness_push_event (h,
        gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("a")));
  } else if (g_str_equal (word, "tag")) {
    gst_harness_push_event (h, gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, step, NULL)));
  } else if (g_str_equal (word, "gap") && *rest == ':') {
    const GstClockTime start = read_time (rest + 1, &rest);

    gst_harness_push_event (h,
        gst_event_new_gap (start,
            *rest == '+' ? read_time (rest + 1, &rest) : GST_CLOCK_TIME_NONE));
  } else {
    steps_unknown (step);
  }
  if (*rest)
    steps_unknown (step);
}

/* Plays a step such as b.dropped:2. */
static void
play_stat (Merging *m, const gchar *step)
{
  g_auto (GStrv) parts = g_strsplit (step + 2, ":", 2);

  if (step[1] != '.' || g_strv_length (parts) != 2)
    steps_unknown (step);
  merging_expect_stat (m, branch_of (m, step, *step), parts[0],
      g_ascii_strtoull (parts[1], NULL, 10));
}

static void
play_step (gpointer player, const gchar *step)
{
  Merging *m = player;
  const gchar *dash = strchr (step, '-');
  gchar *rest = NULL;
  const GstClockTime time = read_time (step + 1, &rest);

  if (g_str_equal (step, "none")) {
    g_usleep (30 * 1000);
    g_assert_cmpuint (gst_harness_buffers_in_queue (m->main), ==, 0);
  } else if (g_str_equal (step, "=eos")) {
    gst_event_unref (merging_wait_event (m, GST_EVENT_EOS));
  } else if (*step == '=' && (*rest == ':' || *rest == '\0')) {
    g_autofree gchar *text = boxes_of (*rest ? rest + 1 : rest);
    merging_expect (m, time, text);
  } else if (strchr (step, '.')) {
    play_stat (m, step);
  } else if (dash && dash > step + 1) {
    play_event (m, step, dash);
  } else if (*step == 'm' && *rest == '\0') {
    merging_push_main (m, time);
  } else if (*step == '!' && *rest == '\0') {
    reach_deadline (m, time);
  } else if (*rest == '\0' || *rest == ':') {
    merging_push_box (m, branch_of (m, step, *step), time, *rest && rest[1] ? atoi (rest + 1) : -1);
  } else {
    steps_unknown (step);
  }
}

void
merging_play (Merging *m, const gchar *steps)
{
  steps_play (steps, play_step, m);
}

void
merging_run (gconstpointer data)
{
  const MergingRow *row = data;
  g_auto (Merging) m = { 0 };

  merging_open (&m, row->launch, row->branches, NULL, row->live);
  merging_play (&m, row->steps);
  if (row->passed)
    g_assert_cmpstr (m.passed->str, ==, row->passed);
}
