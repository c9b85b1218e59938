/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replaying: a boxreplay in a harness, its recording in a text file. */
#include "replaying.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "textfiles.h"

void
replay_open (Replay *r, const gchar *contents, const gchar *properties)
{
  gchar *launch;

  r->path = text_file_new ("replay.txt", contents, -1);
  launch = g_strdup_printf ("boxreplay name=e location=\"%s\" %s", r->path, properties);
  r->h = gst_harness_new_parse (launch);
  g_free (launch);
  r->bus = gst_bus_new ();
  gst_element_set_bus (r->h->element, r->bus);
  gst_harness_set_src_caps_str (r->h, CAPS);
}

void
replay_close (Replay *r)
{
  gst_element_set_bus (r->h->element, NULL);
  gst_harness_teardown (r->h);
  gst_bus_set_flushing (r->bus, TRUE);
  gst_object_unref (r->bus);
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

guint64
replay_stat (Replay *r, const gchar *field)
{
  g_autoptr (GstElement) element = gst_harness_find_element (r->h, "boxreplay");
  g_autoptr (GstStructure) stats = NULL;
  guint64 value = G_MAXUINT64;

  g_object_get (element, "stats", &stats, NULL);
  if (!(gst_structure_get_uint64 (stats, field, &value)))
    g_error ("no %s", field);
  return value;
}

/* Takes all messages of that type, of which there must be exactly one. */
gchar *
replay_message (Replay *r, GstMessageType type)
{
  GstMessage *message = gst_bus_pop_filtered (r->bus, type);
  GError *error = NULL;
  gchar *text;

  if (message == NULL)
    g_error ("no message");
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  else
    gst_message_parse_warning (message, &error, NULL);
  text = g_strdup (error->message);
  g_error_free (error);
  gst_message_unref (message);
  message = gst_bus_pop_filtered (r->bus, type);
  if (message != NULL)
    g_error ("a second message after: %s", text);
  return text;
}

void
replay_must_say (Replay *r, GstMessageType type, const gchar *what)
{
  g_autofree gchar *text = replay_message (r, type);

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
  g_autofree gchar *launch = NULL;
  int fd;

  *r = (Replay) { .path = text_file_path ("pipe"), .bus = gst_bus_new () };
  g_assert_cmpint (mkfifo (r->path, 0600), ==, 0);
  fd = open (r->path, O_RDWR);
  launch = g_strdup_printf ("boxreplay name=e location=%s %s", r->path, properties);
  r->h = gst_harness_new_parse (launch);
  gst_element_set_bus (r->h->element, r->bus);
  gst_harness_set_src_caps_str (r->h, CAPS);
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
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstElement) element = NULL;
  va_list args;
  g_autofree gchar *line = NULL;

  va_start (args, launch);
  line = g_strdup_vprintf (launch, args);
  va_end (args);
  element = gst_object_ref_sink (gst_parse_launch (line, NULL));
  gst_element_set_bus (element, bus);
  for (guint i = 0; i < 2; i++) {
    Replay r = { .bus = bus };
    gchar *said;

    g_assert_cmpint (gst_element_set_state (element, GST_STATE_PLAYING), ==,
        GST_STATE_CHANGE_FAILURE);
    said = replay_message (&r, GST_MESSAGE_ERROR);
    if (strstr (said, text) == NULL)
      g_error ("%s said: %s", line, said);
    g_free (said);
    gst_element_set_state (element, GST_STATE_NULL);
  }
  gst_element_set_bus (element, NULL);
}

void
replay_open_records (Replay *r, const gchar *times, const gchar *properties)
{
  g_autofree gchar *text = replay_records (times);

  replay_open (r, text, properties);
}

void
replay_segment (Replay *r, GstClockTime start, GstClockTime time)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.position = start;
  segment.time = time;
  g_assert_true (gst_harness_push_event (r->h, gst_event_new_segment (&segment)));
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

void
replay_flush (Replay *r)
{
  g_assert_true (gst_harness_push_event (r->h, gst_event_new_flush_start ()));
  g_assert_true (gst_harness_push_event (r->h, gst_event_new_flush_stop (TRUE)));
}

static void
play_step (Replay *r, const gchar *step)
{
  const gchar *mark = step + strcspn (step, ":=-");

  if (*mark == '=') {
    g_autofree gchar *field = g_strndup (step, (gsize) (mark - step));

    g_assert_cmpuint (replay_stat (r, field), ==, g_ascii_strtoull (mark + 1, NULL, 10));
  } else if (g_str_equal (step, "quiet")) {
    g_assert_null (gst_bus_pop_filtered (r->bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
  } else if (g_str_equal (step, "eos")) {
    g_assert_true (gst_harness_push_event (r->h, gst_event_new_eos ()));
  } else if (g_ascii_isalpha (*step)) {
    const GstClockTime time = *mark ? g_ascii_strtoull (mark + 1, NULL, 10) * FRAME : 0;

    if (!g_str_has_prefix (step, "from"))
      replay_flush (r);
    if (*mark)
      replay_segment (r, time, time);
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
