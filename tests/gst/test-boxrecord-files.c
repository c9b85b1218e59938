/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxrecord: files that cannot be written, standard output, states, and the signal. */
#include <fcntl.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gstrunner.h"
#include "recorder.h"
#include "sanitized.h"
#include "startrace.h"
#include "textfiles.h"

static void
unusable_files_fail_at_start (void)
{
  g_autofree gchar *path = text_file_new ("words.txt", "not MOT\n", -1);

  recorder_must_refuse ("", "", "set the property location");
  recorder_must_refuse (g_get_tmp_dir (), "", "Is a directory");
  recorder_must_refuse ("/nonexistent/boxes.jsonl", "", "No such file or directory");
  recorder_must_refuse (path, "append=true format=mot", "does not end with a line of MOT text");
  recorder_must_refuse (path, "append=true", "does not end with a line of JSON Lines");
}

/* Reads one line from a descriptor, which must be there already. */
static void
must_read_line (int fd, const gchar *expected)
{
  gchar line[256];
  gsize length = 0;

  while (length < sizeof line - 1 && read (fd, line + length, 1) == 1)
    if (line[length++] == '\n')
      break;
  line[length] = '\0';
  g_assert_cmpstr (line, ==, expected);
}

/* Returns the environment for another program that loads the plugin. With a sanitizer in
 * the plugin it preloads the sanitizer and turns its search for leaks off. Returns NULL,
 * with a message, if the sanitizer is linked statically and cannot be preloaded. Free
 * it. */
static gchar **
child_environment (void)
{
  gchar **environment = g_get_environ ();

  environment = g_environ_unsetenv (environment, "GST_TRACERS");
  environment = g_environ_unsetenv (environment, "G_DEBUG");
  if (SANITIZED) {
    g_autofree gchar *maps = NULL;
    gchar *name, *end;

    g_assert_true (g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL));
    if ((name = strstr (maps, "libasan.so")) == NULL) {
      g_printerr ("other programs: NOT TESTED, the sanitizer is no library\n");
      g_clear_pointer (&environment, g_strfreev);
    } else {
      for (end = name; *end != '\n'; end++)
        ;
      *end = '\0';
      environment = g_environ_setenv (environment, "LD_PRELOAD",
          strchr (g_strrstr (maps, " "), '/'), TRUE);
      environment = g_environ_setenv (environment, "ASAN_OPTIONS", "detect_leaks=0", TRUE);
    }
  }
  return environment;
}

/* Opens a TCP connection. ends[0] is read, ends[1] is written to. */
static void
connect_tcp (int ends[2])
{
  struct sockaddr_in address = { .sin_family = AF_INET };
  socklen_t length = sizeof address;
  int listener = socket (AF_INET, SOCK_STREAM, 0);

  address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
  g_assert_cmpint (bind (listener, (struct sockaddr *) &address, length), ==, 0);
  g_assert_cmpint (listen (listener, 1), ==, 0);
  g_assert_cmpint (getsockname (listener, (struct sockaddr *) &address, &length), ==, 0);
  ends[1] = socket (AF_INET, SOCK_STREAM, 0);
  g_assert_cmpint (connect (ends[1], (struct sockaddr *) &address, length), ==, 0);
  ends[0] = accept (listener, NULL, NULL);
  close (listener);
}

/* Runs gst-launch-1.0 -q with this standard output, which this program reads at out[0] and
 * closes in mid-stream, with a line unread. The pipeline has no end, so the first lines must have
 * been written while it ran. */
static void
must_write_live (const int out[2])
{
  struct pollfd readable = { .fd = out[0], .events = POLLIN };
  const gchar *argv[] = { "gst-launch-1.0", "-q", "videotestsrc", "!",
    "video/x-raw,width=16,height=16,framerate=10/1", "!", "boxrecord", "location=-", "!",
    "fakesink", NULL };
  gchar *errors, **environment = child_environment ();
  gsize length = 0;
  GPid pid;
  int err[2], status;

  if (environment == NULL)
    return;
  g_assert_cmpint (pipe (err), ==, 0);
  fcntl (out[0], F_SETFD, FD_CLOEXEC);
  g_assert_true (g_spawn_async_with_fds (NULL, (gchar **) argv, environment,
      G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &pid, -1, out[1], err[1], NULL));
  close (out[1]);
  close (err[1]);
  g_strfreev (environment);
  must_read_line (out[0],
      "{\"timestamp\":0,\"resolution\":{\"width\":16,\"height\":16},"
      "\"objects\":[]}\n");
  must_read_line (out[0],
      "{\"timestamp\":100000000,\"resolution\":{\"width\":16,\"height\":16},"
      "\"objects\":[]}\n");
  g_assert_true (poll (&readable, 1, 20000) == 1);
  close (out[0]);
  /* the program reports an error and fails, and does not die of SIGPIPE */
  errors = g_malloc0 (65536);
  while (length < 65535) {
    gssize got = read (err[0], errors + length, 65535 - length);
    if (got <= 0)
      break;
    length += got;
  }
  close (err[0]);
  g_assert_true (waitpid (pid, &status, 0) == pid);
  if (strstr (errors, "the reader closed the pipe") == NULL)
    g_error ("%s", errors);
  if (!(WIFEXITED (status) && WEXITSTATUS (status) != 0))
    g_error ("status %d", status);
  g_spawn_close_pid (pid);
  g_free (errors);
}

static void
standard_output_is_live (void)
{
  gchar *program = g_find_program_in_path ("gst-launch-1.0");
  int out[2];

  if (program == NULL) {
    g_printerr ("gst-launch-1.0 into a pipe: NOT TESTED, there is no gst-launch-1.0\n");
    return;
  }
  g_free (program);
  g_assert_cmpint (pipe (out), ==, 0);
  must_write_live (out);
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM, 0, out), ==, 0);
  must_write_live (out);
  /* the system reports the reader's end as ECONNRESET here, as EPIPE above */
  connect_tcp (out);
  must_write_live (out);
}

/* boxrecord does not change how an application handles SIGPIPE. */
static void
sigpipe_stays_as_it_was (void)
{
  int ends[2];
  g_autofree gchar *location = NULL;
  GstBus *bus;
  g_autoptr (GstHarness) h = NULL;
  sigset_t mask, pending;
  struct sigaction action;

  g_assert_cmpint (pipe (ends), ==, 0);
  location = g_strdup_printf ("/dev/fd/%d", ends[1]);
  h = recorder_new (&bus, location, "");
  close (ends[0]);
  close (ends[1]);
  g_assert_cmpint (recorder_push (h, 0, 0), ==, GST_FLOW_ERROR);
  g_assert_cmpint (recorder_messages (bus, GST_MESSAGE_ERROR, "the reader closed the pipe"), ==, 1);
  sigpending (&pending);
  g_assert_false (sigismember (&pending, SIGPIPE));
  pthread_sigmask (SIG_SETMASK, NULL, &mask);
  g_assert_false (sigismember (&mask, SIGPIPE));
  sigaction (SIGPIPE, NULL, &action);
  g_assert_true (action.sa_handler == SIG_DFL);
}

static void
files_change_in_ready_only (void)
{
  static const gchar *const factories[] = { "boxrecord", "boxreplay" };
  g_autofree gchar *path = text_file_new ("ready.jsonl", "", 0);

  for (guint i = 0; i < G_N_ELEMENTS (factories); i++) {
    g_autofree gchar *line = g_strdup_printf ("%s location=%s", factories[i], path);
    g_autoptr (GstHarness) h = harness_new (line);
    GstBus *bus = harness_bus (h);

    g_object_set (h->element, "location", "/elsewhere", NULL);
    assert_values (h->element, "location", path);
    g_assert_cmpint (recorder_messages (bus, GST_MESSAGE_WARNING, "location"), ==, 1);
    if (i == 1)
      g_object_set (h->element, "tolerance", G_GUINT64_CONSTANT (5), "existing", 1, NULL);
    g_assert_cmpint (recorder_messages (bus, GST_MESSAGE_WARNING, ""), ==, 0);
  }
}

static void
files_change_while_starting (void)
{
  start_race ("boxrecord");
  start_race ("boxreplay");
}

/* -------------------------------------------------------------------- signal */

static void
on_frame_boxes (GstElement *element, GstBuffer *buffer, GstStructure *boxes, gpointer data)
{
  const GValue *array = gst_structure_get_value (boxes, "boxes");
  const GstStructure *box;
  guint64 timestamp;
  gdouble confidence;
  gint64 x;
  gint id, width;

  g_assert_true (GST_IS_BUFFER (buffer));
  g_assert_true (gst_structure_has_name (boxes, "frame-boxes"));
  g_assert_true (gst_structure_get_uint64 (boxes, "timestamp", &timestamp) && timestamp == 5);
  g_assert_true (gst_structure_get_int (boxes, "width", &width) && width == 16);
  g_assert_cmpint (gst_value_array_get_size (array), ==, 2);
  box = gst_value_get_structure (gst_value_array_get_value (array, 0));
  g_assert_true (gst_structure_get_int64 (box, "x", &x) && x == -3);
  g_assert_cmpstr (gst_structure_get_string (box, "label"), ==, "car");
  g_assert_true (gst_structure_get_double (box, "confidence", &confidence) && confidence == 0.5);
  g_assert_true (gst_structure_get_int (box, "id", &id) && id == 12);
  /* applications get any label as valid text */
  box = gst_value_get_structure (gst_value_array_get_value (array, 1));
  g_assert_cmpstr (gst_structure_get_string (box, "label"), ==, "\xef\xbf\xbd");
  g_assert_false (gst_structure_has_field (box, "confidence"));
  g_assert_true (gst_structure_get_int (box, "suppressed-by", &id) && id == 0);
  (*(guint *) data)++;
}

static void
the_signal_needs_no_file (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("boxrecord emit-signals=true", NULL);
  GstVideoRegionOfInterestMeta *roi;
  GstBuffer *buffer = gst_buffer_new ();
  guint count = 0;

  GST_BUFFER_PTS (buffer) = 5;
  g_signal_connect (h->element, "frame-boxes", G_CALLBACK (on_frame_boxes), &count);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=16,height=16,framerate=10/1");
  roi = gst_buffer_add_video_region_of_interest_meta (buffer, "car", (guint) -3, 2, 9, 4);
  add_structure (roi, "detection, confidence=(double)0.5;");
  add_structure (roi, "object_id, id=(int)12;");
  roi = gst_buffer_add_video_region_of_interest_meta (buffer, "\xff", 1, 2, 3, 4);
  add_structure (roi, "nms, state=(string)suppressed, suppressed-by=(int)0;");
  g_assert_cmpint (gst_harness_push (h, buffer), ==, GST_FLOW_OK);
  g_assert_cmpint (count, ==, 1);
  g_object_set (h->element, "emit-signals", FALSE, NULL);
  g_assert_cmpint (gst_harness_push (h, gst_buffer_new ()), ==, GST_FLOW_OK);
  g_assert_cmpint (count, ==, 1);
}

/* Returns python3 if it has the package python3-gi. */
static void
the_signal_works_from_python (void)
{
  static const gchar script[] =
      "import sys, warnings\n"
      "warnings.simplefilter ('ignore')\n"
      "try:\n"
      "  import gi\n"
      "  gi.require_version ('Gst', '1.0')\n"
      "  from gi.repository import Gst\n"
      "except (ImportError, ValueError):\n"
      "  sys.exit (77)\n"
      "Gst.init (None)\n"
      "p = Gst.parse_launch ('videotestsrc num-buffers=2 ! video/x-raw,width=32,height=32,'\n"
      "    'framerate=10/1 ! boxreplay location=\"%s\" ! boxrecord emit-signals=true name=r ! '\n"
      "    'fakesink' % sys.argv[1])\n"
      "seen = []\n"
      "def on_boxes (element, buffer, s):\n"
      "  ok, array = s.get_array ('boxes')\n"
      "  boxes = [array.get_nth (i) for i in range (array.n_values)] if ok else []\n"
      "  seen.append ((buffer.pts, s.get_value ('timestamp'), s.get_value ('width'),\n"
      "      [(b.get_value ('label'), b.get_value ('x'), b.get_value ('confidence'))\n"
      "       for b in boxes]))\n"
      "p.get_by_name ('r').connect ('frame-boxes', on_boxes)\n"
      "p.set_state (Gst.State.PLAYING)\n"
      "m = p.get_bus ().timed_pop_filtered (Gst.CLOCK_TIME_NONE,\n"
      "    Gst.MessageType.EOS | Gst.MessageType.ERROR)\n"
      "p.set_state (Gst.State.NULL)\n"
      "assert m.type == Gst.MessageType.EOS, m.parse_error ()\n"
      "assert seen == [(0, 0, 32, [('\\u00e9', 2, 0.75)]), (100000000, 100000000, 32, [])], seen\n";
  g_autofree gchar *program = text_file_path ("frame-boxes.py");
  g_autofree gchar *boxes = text_file_new ("frame-boxes.jsonl",
      "{\"timestamp\":0,\"objects\":[{\"x\":2,\"y\":0,"
      "\"w\":4,\"h\":4,\"roi_type\":\"\xc3\xa9\",\"detection\":{\"confidence\":0.75}}]}\n",
      -1);
  const gchar *argv[] = { "/usr/bin/python3", program, boxes, NULL };
  gchar **environment = child_environment ();
  gint status = 0;
  GError *error = NULL;

  g_assert_true (g_file_set_contents (program, script, -1, NULL));
  if (environment == NULL) {
    /* child_environment () has printed why */
  } else if (!g_spawn_sync (NULL, (gchar **) argv, environment, G_SPAWN_DEFAULT, NULL, NULL, NULL,
                 NULL, &status, &error)) {
    g_printerr ("the signal from Python: NOT TESTED, %s\n", error->message);
    g_clear_error (&error);
  } else if (WIFEXITED (status) && WEXITSTATUS (status) == 77) {
    g_printerr ("the signal from Python: NOT TESTED, there is no python3-gi\n");
  } else {
    if (!(WIFEXITED (status) && WEXITSTATUS (status) == 0))
      g_error ("status %d", status);
  }
  g_strfreev (environment);
}

static const TestCase cases[] = { CASE (unusable_files_fail_at_start),
  CASE (standard_output_is_live), CASE (sigpipe_stays_as_it_was), CASE (files_change_in_ready_only),
  CASE (files_change_while_starting), CASE (the_signal_needs_no_file),
  CASE (the_signal_works_from_python), { NULL } };

GST_TEST_PROGRAM (cases);
