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

static void
restart (GstHarness *h)
{
  GstCaps *caps = gst_pad_get_current_caps (h->srcpad);

  gst_element_set_state (h->element, GST_STATE_NULL);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  g_assert_true (gst_harness_push_event (h, gst_event_new_stream_start ("again")));
  gst_harness_set_src_caps (h, caps);
}

gboolean
steps_event (GstHarness *h, const gchar *step)
{
  static const struct
  {
    const gchar *word;
    guint least, most; /* numbers behind the word */
  } events[] = { { "from", 1, 3 }, { "flush", 0, 0 }, { "seek", 1, 1 }, { "reverse", 1, 1 },
    { "gap", 1, 2 }, { "eos", 0, 0 }, { "again", 0, 0 } };
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
  if (*word == 'a')
    restart (h);
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

const gchar *
steps_record (GString *text, const gchar *kind, GstClockTime time, guint x)
{
  g_string_append_c (text, '{');
  if (GST_CLOCK_TIME_IS_VALID (time))
    g_string_append_printf (text, "\"timestamp\":%" G_GUINT64_FORMAT ",", time);
  if (*kind == 'd')
    g_string_append (text, "\"dropped\":1,");
  if (*kind == 'h')
    g_string_append (text, "\"outside-segment\":true,");
  if (*kind == 'o')
    g_string_append (text, "\"objects\":[]}\n");
  else if (*kind == 'm')
    g_string_append (text, "\"objects\":[{}]}\n");
  else
    g_string_append_printf (text,
        "\"objects\":[{\"x\":%u,\"y\":2,\"w\":3,\"h\":4,\"region_id\":0}]}\n", x);
  return kind + (*kind && strchr ("dhom", *kind));
}

gchar *
steps_records (const gchar *records, gboolean numbered)
{
  GString *text = g_string_new (NULL);
  g_auto (GStrv) list = g_strsplit (records, " ", -1);
  guint count = 0;

  for (guint i = 0; list[i]; i++) {
    const gchar *kind = list[i], *end = NULL;
    GstClockTime first;
    gint range;

    if (g_str_equal (kind, "n")) {
      g_string_append_c (text, '\n');
      continue;
    }
    range = steps_range (list[i], &kind, &first);
    for (gint k = 0; k <= ABS (range); k++, count++)
      end = steps_record (text, kind, steps_nth (first, range, k), numbered ? count + 1 : 1);
    if (*end)
      steps_unknown (list[i]);
  }
  return g_string_free (text, FALSE);
}

void
steps_must_say (GstBus *bus, GstMessageType type, const gchar *words, const gchar *file)
{
  GstMessage *message = words ? gst_bus_pop_filtered (bus, type) : NULL;

  if (words) {
    g_assert_nonnull (message);
    assert_says (gst_message_ref (message), words);
    assert_says (message, file ? file : "");
  }
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  if (message)
    g_error ("it says: %s", message_text (message));
}
