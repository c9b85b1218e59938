/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps.h"

void
steps_unknown (const gchar *step)
{
  g_error ("unknown step: %s", step);
}

void
steps_play (const gchar *steps, void (*play) (gpointer player, const gchar *step), gpointer player)
{
  g_auto (GStrv) list = g_strsplit (steps, " ", -1);

  for (guint i = 0; list[i]; i++) {
    g_test_message ("step %u: %s", i, list[i]);
    play (player, list[i]);
  }
}

GstClockTime
steps_time (const gchar *step, const gchar **at)
{
  const gchar *start = *at;
  gchar *end;
  gdouble frames;

  if (*start == '-') {
    *at = start + 1;
    return GST_CLOCK_TIME_NONE;
  }
  if (!g_ascii_isdigit (*start))
    steps_unknown (step);
  frames = g_ascii_strtod (start, &end);
  *at = end[-1] == '.' ? end - 1 : end; /* the first one of 5..9 */
  return (GstClockTime) (frames * FRAME + 0.5);
}

gint
steps_range (const gchar *step, const gchar **at, GstClockTime *first)
{
  GstClockTimeDiff distance;

  *first = steps_time (step, at);
  if (!g_str_has_prefix (*at, ".."))
    return 0;
  *at += 2;
  distance = GST_CLOCK_DIFF (*first, steps_time (step, at));
  if (distance % (gint64) FRAME)
    steps_unknown (step);
  return (gint) (distance / (gint64) FRAME);
}

GstClockTime
steps_nth (GstClockTime first, gint range, gint i)
{
  return first + (GstClockTime) (range < 0 ? -i : i) * FRAME;
}

gboolean
steps_event (GstHarness *h, const gchar *step)
{
  static const struct
  {
    const gchar *word;
    guint least, most; /* numbers behind the word */
  } events[] = { { "from", 1, 3 }, { "flush", 0, 0 }, { "seek", 1, 1 }, { "reverse", 1, 1 },
    { "gap", 1, 2 }, { "eos", 0, 0 } };
  const gchar *at = step + strcspn (step, "-");
  g_autofree gchar *word = g_strndup (step, (gsize) (at - step));
  GstClockTime times[3];
  guint count = 0, i;
  GstSegment segment;

  if (strchr (step, '=')) {
    assert_stats (h->element, step);
    return TRUE;
  }
  for (i = 0; i < G_N_ELEMENTS (events) && !g_str_equal (word, events[i].word); i++)
    ;
  if (i == G_N_ELEMENTS (events))
    return FALSE;
  while (count < events[i].most && *at == (count ? '/' : '-')) {
    at++;
    times[count++] = steps_time (step, &at);
  }
  if (*at || count < events[i].least)
    steps_unknown (step);

  gst_segment_init (&segment, GST_FORMAT_TIME);
  if (strchr ("fsr", *word) && !g_str_equal (word, "from"))
    push_flush (h);
  if (*word == 'r') {
    segment.rate = -1;
    segment.stop = segment.position = times[0];
  } else if (count) {
    segment.start = segment.position = times[0];
    segment.time = times[count > 1];
    segment.stop = count > 2 ? times[2] : GST_CLOCK_TIME_NONE;
  }
  if (*word == 'g')
    g_assert_true (
        gst_harness_push_event (h, gst_event_new_gap (times[0], count > 1 ? times[1] : FRAME)));
  else if (*word == 'e')
    g_assert_true (gst_harness_push_event (h, gst_event_new_eos ()));
  else if (count)
    g_assert_true (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  return TRUE;
}
