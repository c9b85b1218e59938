/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replaying: a boxreplay in a harness, its recording in a text file. */
#include "replaying.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "textfiles.h"

/* Creates the recording, and returns its location. */
static gchar *
contents_new (Replay *r, const gchar *contents)
{
  g_autofree gchar *records = NULL;
  gchar *path;

  if (g_str_equal (contents, "|")) {
    path = text_file_path ("pipe");
    g_assert_cmpint (mkfifo (path, 0600), ==, 0);
    r->fd = open (path, O_RDWR);
    return path;
  }
  if (*contents && contents[strspn (contents, "0123456789. -hmno")] == '\0')
    contents = records = steps_records (contents, TRUE);
  path = text_file_new ("replay.txt", contents, -1);
  for (; *contents; contents++)
    r->records += *contents == '\n';
  return path;
}

void
replay_open (Replay *r, const gchar *contents, const gchar *properties)
{
  g_autofree gchar *launch = g_strconcat ("boxreplay name=e ", properties, NULL);
  g_autoptr (GstElement) element = element_new (launch);

  *r = (Replay) { .fd = -1 };
  if (g_str_equal (contents, "pad")) {
    r->path = g_strdup ("pad boxes"); /* the name in messages */
    r->text = gst_harness_new_with_element (element, "boxes", NULL);
    gst_harness_set_src_caps_str (r->text, "text/x-raw,format=utf8");
  } else {
    r->path = contents_new (r, contents);
    g_object_set (element, "location", r->path, NULL);
  }
  r->h = gst_harness_new_with_element (element, "sink", "src");
  r->bus = harness_bus (r->h);
  gst_harness_set_src_caps_str (r->h, CAPS);
}

void
replay_close (Replay *r)
{
  if (r->fd >= 0)
    close (r->fd);
  if (r->text)
    gst_harness_teardown (r->text);
  else
    unlink (r->path);
  harness_free (r->h);
  g_free (r->path);
}

static gint
first_x (GstBuffer *buffer)
{
  return count_on (buffer) > 0 ? atoi (boxes_on (buffer)) : -1;
}

gint
replay_x_at (Replay *r, GstClockTime pts)
{
  g_autoptr (GstBuffer) buffer = gst_harness_push_and_pull (r->h, frame_new (pts));

  g_assert_nonnull (buffer);
  return first_x (buffer);
}

/* Plays a step that begins with + or <. */
static void
write_step (Replay *r, const gchar *step)
{
  const gchar *at = step + 1, *result = "ok";
  g_autoptr (GString) text = g_string_new (NULL);
  GstClockTime time = *at == '\'' ? 0 : steps_time (step, &at);

  if (*at == '\'') {
    g_string_append (text, at + 1);
  } else {
    at = steps_record (text, at, time, ++r->records);
    if (*at == '!')
      result = at + 1;
    else if (*at)
      steps_unknown (step);
  }
  if (r->text) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, text->len, NULL);
    GstFlowReturn flow;

    gst_buffer_fill (buffer, 0, text->str, text->len);
    GST_BUFFER_PTS (buffer) = time;
    flow = gst_harness_push (r->text, buffer);
    g_assert_cmpstr (gst_flow_get_name (flow), ==, result);
    r->failed |= flow == GST_FLOW_ERROR;
  } else if (r->fd >= 0) {
    g_assert_cmpint (write (r->fd, text->str, text->len), ==, text->len);
  } else {
    g_autofree gchar *path = g_strconcat (r->path, *step == '<' ? ".1" : NULL, NULL);
    int fd = open (path, O_WRONLY | O_APPEND | O_CREAT, 0600);

    g_assert_cmpint (write (fd, text->str, text->len), ==, text->len);
    close (fd);
  }
}

static gpointer
push_second (gpointer h)
{
  return GINT_TO_POINTER (gst_harness_push (h, frame_new (FRAME)));
}

static GstPadProbeReturn
note_arrival (GstPad *pad, GstPadProbeInfo *info, gpointer arrived)
{
  g_atomic_int_set ((gint *) arrived, TRUE);
  return GST_PAD_PROBE_REMOVE;
}

/* Lets a thread push a frame, and returns when the frame has arrived at the element. */
static void
start_waiting (Replay *r)
{
  gint arrived = FALSE;

  gst_pad_add_probe (r->h->srcpad, GST_PAD_PROBE_TYPE_BUFFER, note_arrival, &arrived, NULL);
  r->waiting = g_thread_new ("video", push_second, r->h);
  while (!g_atomic_int_get (&arrived))
    g_usleep (1000);
}

/* Plays a step that begins with a word: an event, or what happens to the file. */
static void
word_step (Replay *r, const gchar *step)
{
  const gchar *number = step + strcspn (step, "-");
  const gint ms = *number ? atoi (number + 1) : 0;

  if (g_str_has_prefix (step, "text-") && r->text) {
    if (!steps_event (r->text, number + 1))
      steps_unknown (step);
  } else if (ms > 0 && g_str_has_prefix (step, "took-")) {
    g_assert_cmpint (g_get_monotonic_time () - r->start, >=, 1000 * ms);
  } else if (ms > 0 && g_str_has_prefix (step, "waits-")) {
    g_usleep ((gulong) ms * 1000);
    g_assert_null (gst_harness_try_pull (r->h));
  } else if (g_str_equal (step, "bare")) {
    gst_harness_set_src_caps_str (r->h, "application/x-anything");
  } else if (g_str_equal (step, "ready")) {
    gst_element_set_state (r->h->element, GST_STATE_READY);
  } else if (g_str_equal (step, "truncate")) {
    g_assert_cmpint (truncate (r->path, 0), ==, 0);
  } else if (g_str_equal (step, "unlink")) {
    g_assert_cmpint (unlink (r->path), ==, 0);
  } else if (g_str_equal (step, "move")) {
    g_autofree gchar *old = g_strconcat (r->path, ".1", NULL);

    g_assert_cmpint (rename (r->path, old), ==, 0);
  } else if (!steps_event (r->h, step)) {
    steps_unknown (step);
  }
}

/* Fails unless a push had this result: "7" (x of the first box), "-" (no box) or "!error". */
static void
must_give (Replay *r, GstFlowReturn flow, const gchar *step, const gchar *result, gint offset)
{
  g_autoptr (GstBuffer) buffer = NULL;
  gchar *end = (gchar *) result + 1;
  gint x;

  if (*result == '!') {
    g_assert_cmpstr (gst_flow_get_name (flow), ==, *end ? end : "error");
    r->failed |= flow == GST_FLOW_ERROR;
    return;
  }
  x = g_str_equal (result, "-") ? -1 : (gint) strtol (result, &end, 10) + offset;
  if (end == result || *end)
    steps_unknown (step);
  g_assert_cmpstr (gst_flow_get_name (flow), ==, "ok");
  buffer = gst_harness_pull (r->h);
  g_assert_cmpint (first_x (buffer), ==, x);
}

/* Plays a step such as 2..4:7, -:7, 2:!, 1? or ?:7. */
static void
frame_step (Replay *r, const gchar *step)
{
  const gchar *at = step;
  GstClockTime first;
  gint range;

  if (g_str_has_prefix (step, "?:")) {
    must_give (r, GPOINTER_TO_INT (g_thread_join (r->waiting)), step, step + 2, 0);
  } else if (g_str_equal (step, "1?")) {
    start_waiting (r);
    word_step (r, "waits-30");
  } else {
    range = steps_range (step, &at, &first);
    if (*at != ':')
      steps_unknown (step);
    for (gint i = 0; i <= ABS (range); i++)
      must_give (r, gst_harness_push (r->h, frame_new (steps_nth (first, range, i))), step, at + 1,
          range < 0 ? -i : i);
  }
}

static void
play_step (gpointer player, const gchar *step)
{
  if (*step == '+' || *step == '<')
    write_step (player, step);
  else if (g_ascii_isalpha (*step))
    word_step (player, step);
  else
    frame_step (player, step);
}

void
replay_play (Replay *r, const gchar *steps)
{
  r->start = g_get_monotonic_time ();
  steps_play (steps, play_step, r);
}

void
replay_row (gconstpointer data)
{
  const ReplayRow *row = data;
  Replay r;

  replay_open (&r, row->contents, row->properties);
  replay_play (&r, row->steps);
  steps_must_say (r.bus, r.failed ? GST_MESSAGE_ERROR : GST_MESSAGE_WARNING, row->says, r.path);
  replay_close (&r);
}
