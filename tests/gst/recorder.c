/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recorder: the text of a line is checked at its start and end, which a cut line lacks. */
#include "recorder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "textfiles.h"

static gchar *
launch_line (const gchar *location, const gchar *properties)
{
  return g_strdup_printf ("boxrecord location=\"%s\" %s", location, properties);
}

GstHarness *
recorder_new (GstBus **bus, const gchar *location, const gchar *properties)
{
  g_autofree gchar *launch = launch_line (location, properties);
  GstHarness *h = harness_new_caps (launch, NULL);

  if (bus)
    *bus = harness_bus (h);
  gst_harness_set_src_caps_str (h, "application/x-anything");
  gst_harness_set_drop_buffers (h, TRUE);
  return h;
}

void
recorder_must_refuse (const gchar *location, const gchar *properties, const gchar *text)
{
  g_autofree gchar *launch = launch_line (location, properties);

  expect_no_starts (&(const gchar *const[2]) { launch, text }, 1);
}

GstFlowReturn
recorder_push (GstHarness *h, guint index, guint boxes)
{
  GstBuffer *buffer = frame_new (index * FRAME);

  for (; boxes > 0; boxes--)
    gst_buffer_add_video_region_of_interest_meta (buffer, "car", boxes, 2, 3, 4);
  return gst_harness_push (h, buffer);
}

void
recorder_push_range (GstHarness *h, guint from, guint to)
{
  for (; from < to; from++)
    g_assert_cmpint (recorder_push (h, from, 1), ==, GST_FLOW_OK);
}

void
recorder_must_say (GstBus *bus, GstMessageType type, const gchar *text)
{
  GstMessage *message;

  assert_says (gst_bus_pop_filtered (bus, type), text);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  if (message)
    g_error ("it says: %s", message_text (message));
}

guint
recorder_lines (const gchar *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint count;

  for (count = 0; lines[count] && lines[count + 1]; count++)
    if (!(g_str_has_prefix (lines[count], "{\"timestamp\":")
            && g_str_has_suffix (lines[count], "]}")
            && strstr (lines[count] + 1, "{\"timestamp\"") == NULL))
      g_error ("line %u: %s", count + 1, lines[count]);
  if (!(lines[count] == NULL || *lines[count] == '\0'))
    g_error ("half a line: %s", lines[count]);
  return count;
}

guint
recorder_file_lines (const gchar *path)
{
  g_autofree gchar *text = text_file_read (path);
  const guint count = recorder_lines (text);

  return count;
}

void
recorder_drain (int fd, GString *text)
{
  gchar block[4096];
  gssize got;

  while ((got = read (fd, block, sizeof block)) > 0)
    g_string_append_len (text, block, got);
}

/* -------------------------------------------------------------------------- rows */

typedef struct
{
  GstHarness *h;
  gchar *path, *moved;
  GString *got; /* what the reader of a FIFO has read; NULL for a file */
  int fd;       /* the end of the reader; -1: none */
} Recorder;

/* Plays a step such as 5..9 or 5!. */
static void
push_step (GstHarness *h, const gchar *step)
{
  const gchar *end = strstr (step, "..");
  const gint from = atoi (step), to = end ? atoi (end + 2) : from;

  for (gint i = from;; i += from <= to ? 1 : -1) {
    GstBuffer *buffer = frame_new ((guint) i * FRAME);

    add_boxes (buffer, "0 - 1,2,3,4");
    if (strchr (step, 'd')) {
      GST_BUFFER_DTS (buffer) = 0;
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
    }
    g_assert_cmpstr (gst_flow_get_name (gst_harness_push (h, buffer)), ==,
        strchr (step, '!') ? "error" : "ok");
    if (i == to)
      break;
  }
}

/* Begins the segment of a step such as from-5/0/7 or reverse-5. */
static void
begin_segment (GstHarness *h, const gchar *step)
{
  g_auto (GStrv) numbers = g_strsplit (strchr (step, '-') + 1, "/", -1);
  const GstClockTime first = (GstClockTime) (g_ascii_strtod (numbers[0], NULL) * FRAME);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  if (*step == 'r') {
    segment.rate = -1;
    segment.stop = first;
  } else {
    segment.start = segment.time = first;
    if (numbers[1])
      segment.time = atoi (numbers[1]) * FRAME;
    if (numbers[1] && numbers[2])
      segment.stop = atoi (numbers[2]) * FRAME;
  }
  g_assert_true (gst_harness_push_event (h, gst_event_new_segment (&segment)));
}

static void
count_lines (Recorder *r, const gchar *expected)
{
  guint lines;

  if (r->got)
    recorder_drain (r->fd, r->got);
  lines = r->got ? recorder_lines (r->got->str) : recorder_file_lines (r->path);
  if (*expected == '>')
    g_assert_cmpuint (lines, >, atoi (expected + 1));
  else
    g_assert_cmpuint (lines, ==, atoi (expected));
}

static void
play_step (Recorder *r, const gchar *step)
{
  if (strchr (step, '=')) {
    assert_stats (r->h->element, step);
  } else if (g_ascii_isdigit (*step)) {
    push_step (r->h, step);
  } else if (g_str_has_prefix (step, "from-") || g_str_has_prefix (step, "reverse-")) {
    begin_segment (r->h, step);
  } else if (g_str_has_prefix (step, "stream-")) {
    gst_harness_push_event (r->h, gst_event_new_stream_start (step + 7));
  } else if (g_str_has_prefix (step, "lines:")) {
    count_lines (r, step + 6);
  } else if (g_str_equal (step, "flush")) {
    push_flush (r->h);
  } else if (g_str_equal (step, "eos")) {
    g_assert_true (gst_harness_push_event (r->h, gst_event_new_eos ()));
  } else if (g_str_equal (step, "open")) {
    r->fd = open (r->path, O_RDONLY | O_NONBLOCK);
  } else if (g_str_equal (step, "close") || g_str_equal (step, "leave")) {
    if (*step == 'c')
      recorder_drain (r->fd, r->got);
    close (r->fd);
    r->fd = -1;
  } else {
    g_assert_cmpstr (step, ==, "move");
    r->moved = g_strconcat (r->path, ".1", NULL);
    g_assert_cmpint (rename (r->path, r->moved), ==, 0);
  }
}

gchar *
recorder_text (const gchar *after)
{
  GString *text = g_string_new (NULL);
  g_auto (GStrv) list = g_strsplit (after, " ", -1);

  if (*after == '\0' || after[strspn (after, "0123456789dh- ")])
    return g_string_free (g_string_assign (text, after), FALSE);
  for (guint i = 0; list[i]; i++) {
    g_string_append_c (text, '{');
    if (*list[i] != '-')
      g_string_append_printf (text, "\"timestamp\":%" G_GUINT64_FORMAT ",",
          (guint64) (atoi (list[i]) * FRAME));
    if (strchr (list[i], 'd'))
      g_string_append (text, "\"dropped\":1,");
    if (strchr (list[i], 'h'))
      g_string_append (text, "\"outside-segment\":true,");
    g_string_append (text, "\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"region_id\":0}]}\n");
  }
  return g_string_free (text, FALSE);
}

void
recorder_row (gconstpointer data)
{
  const RecorderRow *row = data;
  const gchar *before = row->before ? row->before : "";
  g_auto (GStrv) steps = g_strsplit (row->steps, " ", -1);
  Recorder r = { .path = text_file_path ("recorded.txt"), .fd = -1 };
  GstBus *bus;

  unlink (r.path);
  if (g_str_has_prefix (before, "|")) {
    r.got = g_string_new (NULL);
    g_assert_cmpint (mkfifo (r.path, 0600), ==, 0);
    if (!before[1])
      r.fd = open (r.path, O_RDONLY | O_NONBLOCK);
  } else if (g_str_has_prefix (before, "/dev/")) {
    g_free (r.path);
    r.path = g_strdup (before);
  } else if (row->before) {
    g_free (text_file_new ("recorded.txt", before, -1));
  }
  r.h = recorder_new (&bus, r.path, row->properties);
  for (guint i = 0; steps[i]; i++) {
    g_test_message ("step %u: %s", i, steps[i]);
    play_step (&r, steps[i]);
  }
  if (row->says)
    recorder_must_say (bus, strchr (row->steps, '!') ? GST_MESSAGE_ERROR : GST_MESSAGE_WARNING,
        row->says);
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
  harness_free (r.h);
  if (row->after) {
    g_autofree gchar *expected = recorder_text (row->after);

    if (r.got)
      g_assert_cmpstr (r.got->str, ==, expected);
    else
      text_file_must_be (r.path, expected);
  }
  if (r.moved)
    text_file_must_be (r.moved, row->before);
  if (r.fd >= 0)
    close (r.fd);
  if (r.got)
    g_string_free (r.got, TRUE);
  g_free (r.path);
  g_free (r.moved);
}
