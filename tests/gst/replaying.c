/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replaying: a boxreplay in a harness, its recording in a text file. */
#include "replaying.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "textfiles.h"

/* Creates a boxreplay of the file at r->path. */
static void
open_path (Replay *r, const gchar *properties)
{
  g_autofree gchar *launch = g_strdup_printf ("boxreplay name=e location=\"%s\" %s", r->path,
      properties);

  r->h = harness_new_caps (launch, NULL);
  r->bus = harness_bus (r->h);
  gst_harness_set_src_caps_str (r->h, CAPS);
}

void
replay_open (Replay *r, const gchar *contents, const gchar *properties)
{
  r->path = text_file_new ("replay.txt", contents, -1);
  open_path (r, properties);
}

void
replay_close (Replay *r)
{
  harness_free (r->h);
  g_free (r->path);
}

GstBuffer *
replay_buffer (GstClockTime pts)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 256, NULL);

  GST_BUFFER_PTS (buffer) = pts;
  GST_BUFFER_DURATION (buffer) = FRAME;
  return buffer;
}

guint
replay_count (GstBuffer *buffer)
{
  return gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

GstVideoRegionOfInterestMeta *
replay_box (GstBuffer *buffer, guint n)
{
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
              GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
      != NULL)
    if (n-- == 0)
      return (GstVideoRegionOfInterestMeta *) meta;
  g_assert_not_reached ();
  return NULL;
}

/* The records of the tests differ in x. */
gint
replay_x_at (Replay *r, GstClockTime pts)
{
  g_autoptr (GstBuffer) buffer = gst_harness_push_and_pull (r->h, replay_buffer (pts));
  gint x;

  g_assert_nonnull (buffer);
  x = replay_count (buffer) > 0 ? (gint) replay_box (buffer, 0)->x : -1;
  return x;
}

/* Takes all messages of that type, of which there must be exactly one. */
gchar *
replay_message (GstBus *bus, GstMessageType type)
{
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, type), second = NULL;
  gchar *text;

  g_assert_nonnull (message);
  text = message_text (message);
  second = gst_bus_pop_filtered (bus, type);
  if (second)
    g_error ("a second message after: %s", text);
  return text;
}

void
replay_must_say (Replay *r, GstMessageType type, const gchar *what)
{
  g_autofree gchar *text = replay_message (r->bus, type);

  if (strstr (text, what) == NULL)
    g_error ("said: %s\nnot: %s", text, what);
  if (strstr (text, r->path) == NULL)
    g_error ("%s does not name the file", text);
}

gchar *
replay_line (guint64 time, guint x)
{
  return g_strdup_printf ("{\"timestamp\":%" G_GUINT64_FORMAT ",\"objects\":[{\"x\":%u,\"y\":0,"
                          "\"w\":4,\"h\":4}]}\n",
      time, x);
}

gchar *
replay_records (const gchar *times)
{
  GString *s = g_string_new (NULL);
  g_auto (GStrv) list = g_strsplit (times, " ", -1);

  for (guint i = 0; list[i]; i++) {
    g_autofree gchar *line = replay_line ((guint64) (g_ascii_strtod (list[i], NULL) * FRAME + 0.5),
        i + 1);

    g_string_append (s, line);
  }
  return g_string_free (s, FALSE);
}

int
replay_open_pipe (Replay *r, const gchar *properties)
{
  int fd;

  r->path = text_file_path ("pipe");
  g_assert_cmpint (mkfifo (r->path, 0600), ==, 0);
  fd = open (r->path, O_RDWR);
  open_path (r, properties);
  return fd;
}

void
replay_close_pipe (Replay *r, int fd)
{
  if (fd >= 0)
    close (fd);
  unlink (r->path);
  replay_close (r);
}

void
replay_must_refuse (const gchar *text, const gchar *launch, ...)
{
  g_autoptr (GstElement) element = NULL;
  g_autofree gchar *line = NULL;
  va_list args;

  va_start (args, launch);
  line = g_strdup_vprintf (launch, args);
  va_end (args);
  element = element_new (line);
  for (guint i = 0; i < 2; i++) {
    expect_no_start (element, text);
    gst_element_set_state (element, GST_STATE_NULL);
  }
}

void
replay_open_records (Replay *r, const gchar *times, const gchar *properties)
{
  g_autofree gchar *text = replay_records (times);

  replay_open (r, text, properties);
}

void
replay_reverse (Replay *r, GstClockTime stop)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = -1;
  segment.stop = segment.position = stop;
  g_assert_true (gst_harness_push_event (r->h, gst_event_new_segment (&segment)));
}

static void
play_step (Replay *r, const gchar *step)
{
  const gchar *mark = step + strcspn (step, ":=-");

  if (*mark == '=') {
    g_autofree gchar *field = g_strndup (step, (gsize) (mark - step));

    g_assert_cmpuint (stat_of (r->h->element, field), ==, g_ascii_strtoull (mark + 1, NULL, 10));
  } else if (g_str_equal (step, "quiet")) {
    g_assert_null (gst_bus_pop_filtered (r->bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
  } else if (g_str_equal (step, "eos")) {
    g_assert_true (gst_harness_push_event (r->h, gst_event_new_eos ()));
  } else if (g_ascii_isalpha (*step)) {
    const GstClockTime time = *mark ? g_ascii_strtoull (mark + 1, NULL, 10) * FRAME : 0;

    if (!g_str_has_prefix (step, "from"))
      push_flush (r->h);
    if (*mark)
      push_segment (r->h, time, time);
  } else {
    const gchar *x = strchr (step, ':') + 1;

    g_assert_cmpint (replay_x_at (r,
                         *step == '-' ? GST_CLOCK_TIME_NONE
                                      : (GstClockTime) (g_ascii_strtod (step, NULL) * FRAME + 0.5)),
        ==, *x == '-' ? -1 : atoi (x));
  }
}

void
replay_play (Replay *r, const gchar *steps)
{
  g_auto (GStrv) list = g_strsplit (steps, " ", -1);

  for (guint i = 0; list[i]; i++) {
    g_test_message ("step %u: %s", i, list[i]);
    play_step (r, list[i]);
  }
}

static void
open_either (Replay *r, const gchar *contents, const gchar *properties)
{
  if (*contents && contents[strspn (contents, "0123456789. ")] == '\0')
    replay_open_records (r, contents, properties);
  else
    replay_open (r, contents, properties);
}

void
replay_check (const gchar *contents, const gchar *properties, const gchar *steps)
{
  g_auto (Replay) r = { 0 };

  g_test_message ("%s: %s", properties, contents);
  open_either (&r, contents, properties);
  replay_play (&r, steps);
}

void
replay_check_error (const gchar *contents, const gchar *properties, const gchar *says)
{
  g_auto (Replay) r = { 0 };

  open_either (&r, contents, properties);
  g_assert_cmpint (gst_harness_push (r.h, replay_buffer (0)), ==, GST_FLOW_ERROR);
  replay_must_say (&r, GST_MESSAGE_ERROR, says);
}
