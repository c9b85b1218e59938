/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxrecord: pipes whose readers are slow, late, gone, or shared by several recorders. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gstrunner.h"
#include "recorder.h"
#include "textfiles.h"

static gchar *
new_fifo (const gchar *name)
{
  gchar *path = text_file_path (name);

  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  return path;
}

typedef struct
{
  GstHarness *h;
  gint pushed; /* accessed atomically */
} Pusher;

static gpointer
push_until_refused (gpointer data)
{
  Pusher *pusher = data;
  GstFlowReturn flow;

  while ((flow = recorder_push (pusher->h, (guint) g_atomic_int_get (&pusher->pushed), BIG))
      == GST_FLOW_OK)
    g_atomic_int_inc (&pusher->pushed);
  return GINT_TO_POINTER (flow);
}

/* Waits until the thread has been blocked for 100 ms. */
static void
wait_until_blocked (Pusher *pusher)
{
  gint before;

  do {
    before = g_atomic_int_get (&pusher->pushed);
    g_usleep (100000);
  } while (before != g_atomic_int_get (&pusher->pushed));
}

static void
a_stalled_stream_warns_and_goes_on (void)
{
  g_autofree gchar *path = new_fifo ("stall");
  int fd = open (path, O_RDONLY | O_NONBLOCK);
  GstBus *bus;
  Pusher pusher = { recorder_new (&bus, path, ""), 0 };
  GThread *thread = g_thread_new ("push", push_until_refused, &pusher);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GstMessage)
      message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND, GST_MESSAGE_WARNING);
  gint before = g_atomic_int_get (&pusher.pushed), i;

  g_assert_nonnull (message);
  for (i = 0; i < 500 && g_atomic_int_get (&pusher.pushed) < before + 10; i++) {
    recorder_drain (fd, text);
    g_usleep (10000);
  }
  g_assert_cmpint (i, <, 500);
  gst_element_set_state (pusher.h->element, GST_STATE_NULL);
  g_assert_cmpint (GPOINTER_TO_INT (g_thread_join (thread)), ==, GST_FLOW_FLUSHING);
  recorder_drain (fd, text);
  recorder_lines (text->str);
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_ERROR), ==, 0);
  harness_free (pusher.h);
  close (fd);
}

/* A flush ends waiting for the reader and leaves whole lines only, also if the reader comes
 * afterwards. */
static void
a_flush_leaves_whole_lines (void)
{
  for (guint late = 0; late < 2; late++) {
    g_autofree gchar *path = new_fifo (late ? "late" : "flush");
    int fd = late ? -1 : open (path, O_RDONLY | O_NONBLOCK);
    Pusher pusher = { recorder_new (NULL, path, ""), 0 };
    GThread *thread = g_thread_new ("push", push_until_refused, &pusher);
    g_autoptr (GString) text = g_string_new (NULL);

    wait_until_blocked (&pusher);
    g_assert_true (gst_harness_push_event (pusher.h, gst_event_new_flush_start ()));
    g_assert_cmpint (GPOINTER_TO_INT (g_thread_join (thread)), ==, GST_FLOW_FLUSHING);
    g_assert_true (gst_harness_push_event (pusher.h, gst_event_new_flush_stop (TRUE)));
    push_segment (pusher.h, 0, 0);
    if (late)
      fd = open (path, O_RDONLY | O_NONBLOCK);
    g_assert_true (gst_harness_push_event (pusher.h, gst_event_new_eos ()));
    gst_element_set_state (pusher.h->element, GST_STATE_NULL);
    recorder_drain (fd, text);
    g_assert_cmpint (recorder_lines (text->str), ==, g_atomic_int_get (&pusher.pushed));
    gst_harness_teardown (pusher.h);
    close (fd);
  }
}

static gpointer
push_300 (gpointer h)
{
  for (guint i = 0; i < 300; i++)
    g_assert_cmpint (recorder_push (h, i, BIG), ==, GST_FLOW_OK);
  return NULL;
}

static gpointer
read_to_the_end (gpointer path)
{
  int fd = open (path, O_RDONLY);
  GString *text = g_string_new (NULL);

  recorder_drain (fd, text);
  close (fd);
  return text;
}

static void
two_recorders_share_a_pipe (void)
{
  g_autofree gchar *path = new_fifo ("shared");
  GThread *reader = g_thread_new ("read", read_to_the_end, path);
  GstHarness *a = recorder_new (NULL, path, ""), *b = recorder_new (NULL, path, "");
  GThread *push_a = g_thread_new ("push-a", push_300, a);
  GThread *push_b = g_thread_new ("push-b", push_300, b);
  g_autoptr (GString) text = NULL;

  g_thread_join (push_a);
  g_thread_join (push_b);
  gst_harness_teardown (a);
  gst_harness_teardown (b);
  text = g_thread_join (reader);
  g_assert_cmpint (recorder_lines (text->str), ==, 600);
}

/* A line longer than the largest pipe (1 MiB) is written in parts. */
static void
a_line_longer_than_the_pipe_passes (void)
{
  g_autofree gchar *path = new_fifo ("long");
  GThread *reader = g_thread_new ("read", read_to_the_end, path);
  GstHarness *h = recorder_new (NULL, path, "");
  g_autoptr (GString) text = NULL;

  g_assert_cmpint (recorder_push (h, 0, 40000), ==, GST_FLOW_OK);
  recorder_push_range (h, 1, 2);
  g_assert_cmpint (recorder_push (h, 2, 40000), ==, GST_FLOW_OK);
  /* waits for the reader to take the rest of the last line */
  g_assert_true (gst_harness_push_event (h, gst_event_new_eos ()));
  gst_harness_teardown (h);
  text = g_thread_join (reader);
  g_assert_true (text->len > 2 * 1024 * 1024);
  g_assert_cmpint (recorder_lines (text->str), ==, 3);
}

/* A line that leaves less than three pages of the largest pipe (1 MiB) is written at once if the
 * pipe is empty. */
static void
a_line_fills_an_empty_pipe (void)
{
  g_autofree gchar *path = new_fifo ("full");
  int fd = open (path, O_RDONLY | O_NONBLOCK);
  g_autoptr (GstHarness) h = recorder_new (NULL, path, "");
  g_autofree gchar *label = g_strnfill (512 * 1024 - 4096, 'x'); /* is written twice */
  g_autoptr (GString) text = g_string_new (NULL);
  GstBuffer *buffer = gst_buffer_new ();

  GST_BUFFER_PTS (buffer) = 0;
  gst_buffer_add_video_region_of_interest_meta (buffer, label, 1, 2, 3, 4);
  g_assert_cmpint (gst_harness_push (h, buffer), ==, GST_FLOW_OK);
  recorder_drain (fd, text);
  g_assert_cmpuint (text->len, >, 1024 * 1024 - 3 * 4096);
  g_assert_cmpuint (text->len, <, 1024 * 1024);
  g_assert_cmpint (recorder_lines (text->str), ==, 1);
  close (fd);
}

static const TestCase cases[] = { CASE (a_stalled_stream_warns_and_goes_on),
  CASE (a_flush_leaves_whole_lines), CASE (two_recorders_share_a_pipe),
  CASE (a_line_longer_than_the_pipe_passes), CASE (a_line_fills_an_empty_pipe), { NULL } };

GST_TEST_PROGRAM (cases);
