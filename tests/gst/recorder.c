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
    add_region (buffer, 0, NULL, (Rect) { (gint) boxes, 2, 3, 4 });
  return gst_harness_push (h, buffer);
}

void
recorder_push_range (GstHarness *h, guint from, guint to)
{
  for (; from < to; from++)
    g_assert_cmpint (recorder_push (h, from, 1), ==, GST_FLOW_OK);
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
  GstHarness *h, *pad;
  const gchar *path;
  gchar *moved;
  GString *got; /* what the reader of a FIFO or the pad boxes has got; NULL for a file */
  int fd;       /* the end of the reader; -1: none */
} Recorder;

/* Plays a step such as 5..9, 5u or 5!. */
static void
push_step (GstHarness *h, const gchar *step)
{
  const gchar *kind = step;
  GstClockTime first;
  const gint range = steps_range (step, &kind, &first);

  if (*kind && (kind[1] || !strchr ("uto!", *kind)))
    steps_unknown (step);
  for (gint i = 0; i <= ABS (range); i++) {
    GstBuffer *buffer = frame_new (steps_nth (first, range, i));

    add_boxes (buffer, *kind == 'o' ? "" : "0 - 1,2,3,4");
    if (*kind == 't')
      GST_BUFFER_DTS (buffer) = 0;
    if (*kind == 'u')
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
    g_assert_cmpstr (gst_flow_get_name (gst_harness_push (h, buffer)), ==,
        *kind == '!' ? "error" : "ok");
  }
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
play_step (gpointer player, const gchar *step)
{
  Recorder *r = player;

  if (g_ascii_isdigit (*step)) {
    push_step (r->h, step);
  } else if (g_str_has_prefix (step, "stream-")) {
    gst_harness_push_event (r->h, gst_event_new_stream_start (step + 7));
  } else if (g_str_has_prefix (step, "lines:")) {
    count_lines (r, step + 6);
  } else if (g_str_equal (step, "open")) {
    r->fd = open (r->path, O_RDONLY | O_NONBLOCK);
  } else if (g_str_equal (step, "close") || g_str_equal (step, "leave")) {
    if (*step == 'c')
      recorder_drain (r->fd, r->got);
    close (r->fd);
    r->fd = -1;
  } else if (g_str_equal (step, "move")) {
    r->moved = g_strconcat (r->path, ".1", NULL);
    g_assert_cmpint (rename (r->path, r->moved), ==, 0);
  } else if (!steps_event (r->h, step)) {
    steps_unknown (step);
  }
}

gchar *
recorder_text (const gchar *after)
{
  if (*after == '\0' || after[strspn (after, "0123456789dh- ")])
    return g_strdup (after);
  return steps_records (after, FALSE);
}

static void
note_time (GString *got, const gchar *before, GstClockTime time, GstClockTime duration)
{
  g_string_append_printf (got, "%s%u+%u", before, (guint) (time / FRAME),
      (guint) (duration / FRAME));
}

/* Writes down what comes out of the pad boxes. */
static GstPadProbeReturn
note (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  const GstEventType type = info->type & GST_PAD_PROBE_TYPE_BUFFER ? GST_EVENT_UNKNOWN
                                                                   : GST_EVENT_TYPE (info->data);
  GString *got = user_data;
  GstClockTime time, duration;
  const GstSegment *segment;
  GstStreamFlags flags;
  GstMapInfo map;
  GstCaps *caps;

  if (type == GST_EVENT_UNKNOWN) {
    note_time (got, "", GST_BUFFER_PTS (info->data), GST_BUFFER_DURATION (info->data));
    g_assert_true (gst_buffer_map (info->data, &map, GST_MAP_READ));
    g_string_append_c (got, ' ');
    g_string_append_len (got, (const gchar *) map.data, (gssize) map.size);
    gst_buffer_unmap (info->data, &map);
    return GST_PAD_PROBE_OK;
  }
  if (type == GST_EVENT_GAP) {
    gst_event_parse_gap (info->data, &time, &duration);
    note_time (got, "gap ", time, duration);
  } else if (type == GST_EVENT_SEGMENT) {
    gst_event_parse_segment (info->data, &segment);
    note_time (got, "segment ", segment->start, segment->time);
  } else if (type == GST_EVENT_CAPS) {
    gst_event_parse_caps (info->data, &caps);
    g_string_append (got, gst_structure_get_name (gst_caps_get_structure (caps, 0)));
  } else if (type == GST_EVENT_STREAM_START) {
    gst_event_parse_stream_flags (info->data, &flags);
    g_string_append (got, flags & GST_STREAM_FLAG_SPARSE ? "sparse stream" : "stream");
  } else {
    g_string_append (got, gst_event_type_get_name (type));
  }
  g_string_append_c (got, '\n');
  return GST_PAD_PROBE_OK;
}

/* Creates a boxrecord whose pad boxes is noted. */
static void
open_pad (Recorder *r, const gchar *properties, GstBus **bus)
{
  g_autofree gchar *launch = g_strconcat ("boxrecord ", properties, NULL);
  g_autoptr (GstElement) element = element_new (launch);

  r->pad = gst_harness_new_with_element (element, NULL, "boxes");
  gst_harness_set_drop_buffers (r->pad, TRUE);
  gst_pad_add_probe (r->pad->sinkpad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM
          | GST_PAD_PROBE_TYPE_EVENT_FLUSH,
      note, r->got, NULL);
  r->h = gst_harness_new_with_element (element, "sink", "src");
  *bus = harness_bus (r->h);
  gst_harness_set_src_caps_str (r->h, "application/x-anything");
  gst_harness_set_drop_buffers (r->h, TRUE);
}

void
recorder_row (gconstpointer data)
{
  const RecorderRow *row = data;
  const gchar *before = row->before ? row->before : "";
  g_autofree gchar *path = text_file_path ("recorded.txt");
  g_autofree gchar *expected = row->after ? recorder_text (row->after) : NULL;
  g_autoptr (GString) got = g_string_new (NULL);
  Recorder r = { .path = path, .fd = -1 };
  GstBus *bus;

  unlink (path);
  if (*before == '|') {
    r.got = got;
    g_assert_cmpint (mkfifo (path, 0600), ==, 0);
    if (!before[1])
      r.fd = open (path, O_RDONLY | O_NONBLOCK);
  } else if (g_str_has_prefix (before, "/dev/")) {
    r.path = before;
  } else if (row->before && !g_str_equal (before, "pad")) {
    g_free (text_file_new ("recorded.txt", before, -1));
  }
  if (g_str_equal (before, "pad")) {
    r.got = got;
    open_pad (&r, row->properties, &bus);
  } else {
    r.h = recorder_new (&bus, r.path, row->properties);
  }
  steps_play (row->steps, play_step, &r);
  steps_must_say (bus, strchr (row->steps, '!') ? GST_MESSAGE_ERROR : GST_MESSAGE_WARNING,
      row->says, NULL);
  if (r.pad)
    gst_harness_teardown (r.pad);
  harness_free (r.h);
  if (expected && r.got)
    g_assert_cmpstr (got->str, ==, expected);
  else if (expected)
    text_file_must_be (r.path, expected);
  if (r.moved)
    text_file_must_be (r.moved, row->before);
  if (r.fd >= 0)
    close (r.fd);
  g_free (r.moved);
}
