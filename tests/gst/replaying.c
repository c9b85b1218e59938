/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replaying: a boxreplay in a harness, its recording in a text file. */
#include "replaying.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "textfiles.h"

static GstClockTime
time_of (gdouble frames)
{
  return (GstClockTime) (frames * FRAME + 0.5);
}

/* Appends the line of a word such as "1.5h". */
static void
append_record (GString *text, const gchar *word, guint x)
{
  gchar *kind;
  const gdouble time = *word == '-' ? -1 : g_ascii_strtod (word, &kind);

  if (*word == '-')
    kind = (gchar *) word + 1;
  g_string_append_c (text, '{');
  if (time >= 0)
    g_string_append_printf (text, "\"timestamp\":%" G_GUINT64_FORMAT ",", time_of (time));
  if (*kind == 'h')
    g_string_append (text, "\"outside-segment\":true,");
  if (*kind == 'o')
    g_string_append (text, "\"objects\":[]}\n");
  else if (*kind == 'x')
    g_string_append (text, "\"objects\":[{}]}\n");
  else
    g_string_append_printf (text, "\"objects\":[{\"x\":%u,\"y\":0,\"w\":4,\"h\":4}]}\n", x);
}

gchar *
replay_records (const gchar *times)
{
  GString *text = g_string_new (NULL);
  g_auto (GStrv) list = g_strsplit (times, " ", -1);
  guint x = 0;

  for (guint i = 0; list[i]; i++) {
    const gchar *end = strstr (list[i], "..");

    if (end) {
      const gint from = atoi (list[i]), to = atoi (end + 2), step = from <= to ? 1 : -1;

      for (gint frame = from; frame != to + step; frame += step) {
        gchar word[16];

        g_snprintf (word, sizeof word, "%d", frame);
        append_record (text, word, ++x);
      }
    } else if (*list[i] == 'n') {
      g_string_append_c (text, '\n');
    } else {
      append_record (text, list[i], ++x);
    }
  }
  return g_string_free (text, FALSE);
}

GstBuffer *
replay_buffer (GstClockTime pts)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 256, NULL);

  GST_BUFFER_PTS (buffer) = pts;
  GST_BUFFER_DURATION (buffer) = FRAME;
  return buffer;
}

void
replay_open (Replay *r, const gchar *contents, const gchar *properties)
{
  g_autofree gchar *launch = NULL, *records = NULL;

  *r = (Replay) { .fd = -1 };
  if (g_str_equal (contents, "|")) {
    r->path = text_file_path ("pipe");
    g_assert_cmpint (mkfifo (r->path, 0600), ==, 0);
    r->fd = open (r->path, O_RDWR);
  } else {
    if (*contents && contents[strspn (contents, "0123456789. -hnox")] == '\0')
      contents = records = replay_records (contents);
    r->path = text_file_new ("replay.txt", contents, -1);
    for (; *contents; contents++)
      r->records += *contents == '\n';
  }
  launch = g_strdup_printf ("boxreplay name=e location=\"%s\" %s", r->path, properties);
  r->h = harness_new_caps (launch, NULL);
  r->bus = harness_bus (r->h);
  gst_harness_set_src_caps_str (r->h, CAPS);
}

void
replay_close (Replay *r)
{
  if (r->fd >= 0)
    close (r->fd);
  unlink (r->path);
  harness_free (r->h);
  g_free (r->path);
}

gint
replay_x_at (Replay *r, GstClockTime pts)
{
  g_autoptr (GstBuffer) buffer = gst_harness_push_and_pull (r->h, replay_buffer (pts));

  g_assert_nonnull (buffer);
  return count_on (buffer) > 0 ? atoi (boxes_on (buffer)) : -1;
}

void
replay_must_say (Replay *r, GstMessageType type, const gchar *what)
{
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (r->bus, type);
  g_autoptr (GstMessage) second = gst_bus_pop_filtered (r->bus, type);
  g_autofree gchar *text = NULL;

  g_assert_nonnull (message);
  text = message_text (message);
  if (second)
    g_error ("a second message after: %s", text);
  if (strstr (text, what) == NULL)
    g_error ("said: %s\nnot: %s", text, what);
  if (strstr (text, r->path) == NULL)
    g_error ("%s does not name the file", text);
}

void
replay_append (const gchar *path, const gchar *text, gsize length)
{
  int fd = open (path, O_WRONLY | O_APPEND | O_CREAT, 0600);

  g_assert_cmpint (write (fd, text, length), ==, length);
  close (fd);
}

/* Plays a step that begins with + or <. */
static void
write_step (Replay *r, const gchar *step)
{
  g_autofree gchar *old = g_strconcat (r->path, ".1", NULL);
  g_autoptr (GString) text = g_string_new (NULL);

  if (g_str_equal (step, "<"))
    g_string_append (text, "{\"timestamp\":");
  else if (g_str_equal (step, "+x"))
    g_string_append (text, "x\n");
  else if (step[1])
    append_record (text, step + 1, ++r->records);
  if (r->fd >= 0)
    g_assert_cmpint (write (r->fd, text->str, text->len), ==, text->len);
  else
    replay_append (*step == '<' ? old : r->path, text->str, text->len);
}

/* Plays a step that begins with a word: an event, or what happens to the file. */
static void
word_step (Replay *r, const gchar *step)
{
  const gchar *number = strchr (step, '-'), *slash = strchr (step, '/');
  const GstClockTime time = number ? time_of (g_ascii_strtod (number + 1, NULL)) : 0;
  GstEvent *event = NULL;
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  if (g_str_has_prefix (step, "flush") || g_str_has_prefix (step, "seek")
      || g_str_has_prefix (step, "reverse"))
    push_flush (r->h);
  if (g_str_has_prefix (step, "reverse")) {
    segment.rate = -1;
    segment.stop = segment.position = time;
    event = gst_event_new_segment (&segment);
  } else if (g_str_equal (step, "eos")) {
    event = gst_event_new_eos ();
  } else if (g_str_has_prefix (step, "gap")) {
    event = gst_event_new_gap (time, FRAME);
  } else if (g_str_equal (step, "bare")) {
    gst_harness_set_src_caps_str (r->h, "application/x-anything");
  } else if (g_str_equal (step, "truncate")) {
    g_assert_cmpint (truncate (r->path, 0), ==, 0);
  } else if (g_str_equal (step, "unlink")) {
    g_assert_cmpint (unlink (r->path), ==, 0);
  } else if (g_str_equal (step, "move")) {
    g_autofree gchar *old = g_strconcat (r->path, ".1", NULL);

    g_assert_cmpint (rename (r->path, old), ==, 0);
  } else if (number) {
    push_segment (r->h, time, slash ? time_of (g_ascii_strtod (slash + 1, NULL)) : time);
  } else {
    g_assert_cmpstr (step, ==, "flush");
  }
  if (event)
    g_assert_true (gst_harness_push_event (r->h, event));
}

/* Plays a step such as 2..4:7. */
static void
frame_step (Replay *r, const gchar *step)
{
  const gchar *x = strchr (step, ':') + 1, *end = strstr (step, "..");
  const gdouble from = *step == '-' ? -1 : g_ascii_strtod (step, NULL);
  const gdouble to = end ? g_ascii_strtod (end + 2, NULL) : from;

  for (gdouble frame = from;; frame += from <= to ? 1 : -1) {
    const GstClockTime time = frame < 0 ? GST_CLOCK_TIME_NONE : time_of (frame);

    if (*x == '!')
      g_assert_cmpint (gst_harness_push (r->h, replay_buffer (time)), ==, GST_FLOW_ERROR);
    else
      g_assert_cmpint (replay_x_at (r, time), ==,
          *x == '-' ? -1 : atoi (x) + (gint) (frame - from));
    if (frame == to)
      break;
  }
}

void
replay_play (Replay *r, const gchar *steps)
{
  g_auto (GStrv) list = g_strsplit (steps, " ", -1);
  const gint64 start = g_get_monotonic_time ();

  for (guint i = 0; list[i]; i++) {
    g_test_message ("step %u: %s", i, list[i]);
    if (strchr (list[i], '='))
      assert_stats (r->h->element, list[i]);
    else if (g_str_has_prefix (list[i], "waited-"))
      g_assert_cmpint (g_get_monotonic_time () - start, >=, 1000 * atoi (list[i] + 7));
    else if (*list[i] == '+' || *list[i] == '<')
      write_step (r, list[i]);
    else if (g_ascii_isalpha (*list[i]))
      word_step (r, list[i]);
    else
      frame_step (r, list[i]);
  }
}

void
replay_row (gconstpointer data)
{
  const ReplayRow *row = data;
  GstMessage *message;
  Replay r;

  replay_open (&r, row->contents, row->properties);
  replay_play (&r, row->steps);
  if (row->says)
    replay_must_say (&r, strstr (row->steps, ":!") ? GST_MESSAGE_ERROR : GST_MESSAGE_WARNING,
        row->says);
  message = gst_bus_pop_filtered (r.bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  if (message)
    g_error ("it says: %s", message_text (message));
  replay_close (&r);
}
