/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxrecord: files that cannot be written, full disks, files that are shared, standard output, and
 * the signal. A limit of the process on file sizes stands for a full disk. */
#define _GNU_SOURCE /* memfd_create */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gstrunner.h"
#include "playing.h"
#include "recorder.h"
#include "sanitized.h"
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

#define DISK 20000 /* bytes; not a multiple of the length of a line */

/* Limits the size of files, or with 0 ends the limit. Check writes a file for each
 * condition that it checks, so nothing is checked under the limit. */
static void
limit_files (guint64 size)
{
  struct rlimit limit;

  signal (SIGXFSZ, size > 0 ? SIG_IGN : SIG_DFL);
  g_assert (getrlimit (RLIMIT_FSIZE, &limit) == 0);
  limit.rlim_cur = size > 0 ? size : limit.rlim_max;
  g_assert (setrlimit (RLIMIT_FSIZE, &limit) == 0);
}

static void
a_full_disk_leaves_whole_lines (void)
{
  static const gchar *const settings[] = { "", "flush=disk", "flush=buffer" };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    g_autofree gchar *path = text_file_path ("full.jsonl");
    GstBus *bus;
    GstHarness *h = recorder_new (&bus, path, settings[i]);
    guint frame = 0, lines;

    limit_files (DISK);
    while (frame < 10000 && recorder_push (h, frame, 1) == GST_FLOW_OK)
      frame++;
    limit_files (0);
    if (!(frame > 100 && frame < 10000))
      g_error ("%u frames passed", frame);
    recorder_must_say (bus, GST_MESSAGE_ERROR, "Cannot write to ");
    lines = recorder_file_lines (path);
    if (!(lines > 100 && lines <= frame))
      g_error ("%u lines of %u", lines, frame);
    /* the collected lines are written when the disk has room again */
    harness_free (h);
    g_assert_cmpint (recorder_file_lines (path), ==, frame);
  }
}

static void
a_full_disk_need_not_end_the_stream (void)
{
  g_autofree gchar *path = text_file_path ("continue.jsonl"), *text = NULL, *marker = NULL;
  GstBus *bus;
  g_autoptr (GstHarness) h = recorder_new (&bus, path, "on-error=continue");
  guint64 failed;

  limit_files (DISK);
  recorder_push_range (h, 0, 500);
  limit_files (0);
  failed = stat_of (h->element, "failed");
  g_assert_cmpuint (failed, >, 100);
  g_assert_cmpuint (stat_of (h->element, "frames") + failed, ==, 500);
  recorder_must_say (bus, GST_MESSAGE_WARNING, "recording continues");
  recorder_push_range (h, 500, 501);
  g_assert_cmpuint (recorder_file_lines (path), ==, stat_of (h->element, "frames"));
  text = text_file_read (path);
  marker = g_strdup_printf ("{\"timestamp\":50000000000,\"dropped\":%" G_GUINT64_FORMAT ",",
      failed);
  g_assert_nonnull (strstr (text, marker));
}

/* The path of an open file need not be good for a second opening. */
static void
a_path_may_be_good_for_one_opening (void)
{
  g_autofree gchar *path = text_file_new ("once.jsonl", "", 0), *location = NULL;
  int fd = g_open (path, O_RDWR | O_CLOEXEC, 0);
  GstHarness *h;

  location = g_strdup_printf ("/dev/fd/%d", fd);
  h = recorder_new (NULL, location, "");
  g_assert_cmpint (close (fd), ==, 0);
  recorder_push_range (h, 0, 3);
  gst_harness_teardown (h);
  g_assert_cmpint (recorder_file_lines (path), ==, 3);
}

/* A program that runs cannot be opened, and the end of a sealed file cannot be removed. */
static void
a_file_that_cannot_be_appended_to_is_refused (void)
{
  int fd = memfd_create ("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  g_autofree gchar *sealed = g_strdup_printf ("/dev/fd/%d", fd);

  recorder_must_refuse ("/proc/self/exe", "append=true", "Text file busy");
  g_assert_true (write (fd, "{\"times", 7) == 7);
  g_assert_cmpint (fcntl (fd, F_ADD_SEALS, F_SEAL_SHRINK), ==, 0);
  recorder_must_refuse (sealed, "append=true", "Operation not permitted");
  g_assert_cmpint (close (fd), ==, 0);
}

static void
two_recorders_of_one_file_are_refused (void)
{
  g_autofree gchar *path = text_file_path ("one.jsonl"), *same = text_file_path ("same.jsonl");
  const gchar *const locations[] = { path, same };
  GstHarness *h = recorder_new (NULL, path, "name=first");

  recorder_must_refuse (path, "name=second", "first writes to this file, so second cannot");
  recorder_push_range (h, 0, 2);
  g_assert_cmpint (link (path, same), ==, 0);
  for (guint i = 0; i < 4; i++)
    recorder_must_refuse (locations[i / 2], i % 2 ? "name=second append=true" : "name=second",
        "first writes to this file, so second cannot");
  recorder_push_range (h, 2, 3);
  g_assert_cmpint (recorder_file_lines (path), ==, 3);
  gst_harness_teardown (h);
  /* afterwards the file is free */
  h = recorder_new (NULL, same, "append=true");
  recorder_push_range (h, 3, 4);
  gst_harness_teardown (h);
  g_assert_cmpint (recorder_file_lines (path), ==, 4);
}

#define RECORDING \
  "{\"timestamp\":0,\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4}]}\n" \
  "{\"timestamp\":100000000,\"objects\":[]}\n"

static void
set_location (GstElement *pipeline, const gchar *element, const gchar *location)
{
  g_autoptr (GstElement) found = gst_bin_get_by_name (GST_BIN (pipeline), element);

  if (found)
    g_object_set (found, "location", location, NULL);
}

/* Plays three frames through elements, of which `replay` has this path and `record` the other one.
 * Fails unless the first error contains `refused`; NULL: there is none. */
static void
play (const gchar *elements, const gchar *path, const gchar *other, const gchar *refused)
{
  g_autoptr (GstElement) pipeline = playing_new (
      "videotestsrc num-buffers=3 ! video/x-raw,width=16,height=16,framerate=10/1 ! %s ! fakesink",
      elements);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  set_location (pipeline, "replay", path);
  set_location (pipeline, "record", other);
  if (!refused) {
    playing_to_end (pipeline);
    return;
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  assert_says (message, refused);
}

/* A file is not emptied while a boxreplay of the process reads it, whatever its name and
 * whichever of the two starts first. */
static void
a_recording_is_not_recorded_onto_itself (void)
{
  static const struct
  {
    const gchar *elements, *refused;
    guint lines; /* of the file afterwards, in the order of the rows */
  } rows[] = {
    { "boxreplay name=replay ! boxrecord name=record",
        "record replaces this file, so replay cannot read it", 2 },
    { "boxrecord name=record on-error=continue ! "
      "boxreplay name=replay on-error=skip follow=true",
        "replay reads this file, so record cannot replace it", 2 },
    /* what loses no line is allowed */
    { "boxreplay name=replay ! boxreplay name=record", NULL, 2 },
    { "boxreplay name=replay ! boxrecord name=record append=true", NULL, 5 },
    { "boxrecord name=record", NULL, 3 },
  };
  g_autofree gchar *path = text_file_path ("self1.jsonl"), *folder = g_path_get_dirname (path);
  g_autofree gchar *linked = text_file_path ("symlink.jsonl");
  g_autofree gchar *hard = text_file_path ("hard.jsonl");
  const gchar *const names[] = { path, hard, "self1.jsonl", linked };

  g_free (text_file_new ("self1.jsonl", RECORDING, -1));
  g_assert_true (symlink (path, linked) == 0 && link (path, hard) == 0);
  g_assert_cmpint (g_chdir (folder), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint k = rows[i].refused ? 0 : 3; k < G_N_ELEMENTS (names); k++) {
      play (rows[i].elements, path, names[k], rows[i].refused);
      if (rows[i].refused)
        text_file_must_be (path, RECORDING);
      g_assert_cmpuint (recorder_file_lines (path), ==, rows[i].lines);
    }
  g_assert_cmpint (g_chdir ("/"), ==, 0);
}

/* An element of another pipeline is refused, too; one that follows the new lines is not. */
static void
a_recorder_and_a_replay_may_share_a_new_file (void)
{
  g_autofree gchar *path = text_file_new ("shared.jsonl", RECORDING, -1);
  g_autoptr (GstElement) replay = element_new ("boxreplay follow=true");
  GstHarness *h = recorder_new (NULL, path, "");

  g_object_set (replay, "location", path, NULL);
  g_assert_cmpint (gst_element_set_state (replay, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (replay, GST_STATE_NULL);
  text_file_must_be (path, RECORDING);
  recorder_push_range (h, 0, 1);
  g_assert_true (gst_element_set_state (replay, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
  recorder_push_range (h, 1, 4);
  gst_harness_teardown (h);
  h = recorder_new (NULL, path, "append=true");
  recorder_push_range (h, 4, 5);
  g_assert_cmpint (recorder_file_lines (path), ==, 5);
  gst_harness_teardown (h);
  gst_element_set_state (replay, GST_STATE_NULL);
}

/* --------------------------------------------------- standard output and location */

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
  g_autoptr (GString) lines = g_string_new (NULL), errors = g_string_new (NULL);
  g_auto (GStrv) environment = child_environment ();
  GPid pid;
  gchar byte;
  int err[2], status;

  if (environment == NULL)
    return;
  g_assert_cmpint (pipe (err), ==, 0);
  fcntl (out[0], F_SETFD, FD_CLOEXEC);
  g_assert_true (g_spawn_async_with_fds (NULL, (gchar **) argv, environment,
      G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &pid, -1, out[1], err[1], NULL));
  close (out[1]);
  close (err[1]);
  for (guint i = 0; i < 2; byte == '\n' ? i++ : i) {
    g_assert_true (read (out[0], &byte, 1) == 1);
    g_string_append_c (lines, byte);
  }
#define LINE(time) \
  "{\"timestamp\":" time ",\"resolution\":{\"width\":16,\"height\":16},\"objects\":[]}\n"
  g_assert_cmpstr (lines->str, ==, LINE ("0") LINE ("100000000"));
  g_assert_true (poll (&readable, 1, 20000) == 1);
  close (out[0]);
  /* the program reports an error and fails, and does not die of SIGPIPE */
  recorder_drain (err[0], errors);
  close (err[0]);
  g_assert_true (waitpid (pid, &status, 0) == pid);
  if (strstr (errors->str, "the reader closed the pipe") == NULL)
    g_error ("%s", errors->str);
  if (!(WIFEXITED (status) && WEXITSTATUS (status) != 0))
    g_error ("status %d", status);
  g_spawn_close_pid (pid);
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
  recorder_must_say (bus, GST_MESSAGE_ERROR, "the reader closed the pipe");
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
    recorder_must_say (bus, GST_MESSAGE_WARNING, "location");
    if (i == 1)
      g_object_set (h->element, "tolerance", G_GUINT64_CONSTANT (5), "existing", 1, NULL);
    g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 0);
  }
}

typedef struct
{
  GstElement *element;
  gint stop; /* boolean, accessed atomically */
} Race;

static gpointer
set_locations (gpointer data)
{
  Race *race = data;

  for (guint i = 0; !g_atomic_int_get (&race->stop); i++)
    g_object_set (race->element, "location", i % 2 ? "/missing/a" : "/missing/longer-name-of-a",
        NULL);
  return NULL;
}

/* Starting fails each time, because an error shows the location that was read. */
static void
files_change_while_starting (void)
{
  static const gchar *const factories[] = { "boxrecord", "boxreplay" };

  for (guint i = 0; i < G_N_ELEMENTS (factories); i++) {
    g_autofree gchar *line = g_strconcat (factories[i], " location=/missing/a", NULL);
    g_autoptr (GstElement) element = element_new (line);
    Race race = { element, FALSE };
    g_autoptr (GstBus) bus = gst_bus_new ();
    GThread *setter;

    gst_element_set_bus (element, bus);
    setter = g_thread_new ("setter", set_locations, &race);
    for (guint k = 0; k < 3000; k++) {
      g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==,
          GST_STATE_CHANGE_FAILURE);
      assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR), " /missing/*a*: No such file");
      gst_element_set_state (element, GST_STATE_NULL);
    }
    g_atomic_int_set (&race.stop, TRUE);
    g_thread_join (setter);
    gst_element_set_bus (element, NULL);
    gst_bus_set_flushing (bus, TRUE);
  }
}

/* -------------------------------------------------------------------- signal */

/* Applications get any label as valid text. */
static void
on_frame_boxes (GstElement *element, GstBuffer *buffer, GstStructure *boxes, gpointer count)
{
  static const gchar *const expected[] = {
    "box, x=(gint64)-3, y=(gint64)2, w=(gint64)9, h=(gint64)4, region_id=(int)0, "
    "label=(string)car, confidence=(double)0.5, id=(int)12;",
    "box, x=(gint64)1, y=(gint64)2, w=(gint64)3, h=(gint64)4, region_id=(int)0, "
    "label=(string)fffd, state=(string)suppressed, suppressed-by=(int)0;",
  };
  const GValue *array = gst_structure_get_value (boxes, "boxes");
  guint64 timestamp;
  gint width;

  g_assert_true (GST_IS_BUFFER (buffer) && gst_structure_has_name (boxes, "frame-boxes"));
  g_assert_true (gst_structure_get_uint64 (boxes, "timestamp", &timestamp) && timestamp == 5);
  g_assert_true (gst_structure_get_int (boxes, "width", &width) && width == 16);
  g_assert_cmpuint (gst_value_array_get_size (array), ==, G_N_ELEMENTS (expected));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    GstStructure *box = g_value_dup_boxed (gst_value_array_get_value (array, i));
    g_autofree gchar *text = NULL;

    if (g_str_equal (gst_structure_get_string (box, "label"), "\xef\xbf\xbd"))
      gst_structure_set (box, "label", G_TYPE_STRING, "fffd", NULL);
    text = gst_structure_to_string (box);
    g_assert_cmpstr (text, ==, expected[i]);
    gst_structure_free (box);
  }
  (*(guint *) count)++;
}

static void
the_signal_needs_no_file (void)
{
  g_autoptr (GstHarness) h = harness_new ("boxrecord emit-signals=true");
  GstBuffer *buffer = frame_new (5);
  guint count = 0;

  g_signal_connect (h->element, "frame-boxes", G_CALLBACK (on_frame_boxes), &count);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=16,height=16,framerate=10/1");
  add_boxes (buffer, "0 car -3,2,9,4 0.5");
  add_structure (gst_buffer_get_video_region_of_interest_meta (buffer), "object_id, id=(int)12;");
  add_structure (add_region (buffer, 0, "\xff", (Rect) { 1, 2, 3, 4 }),
      "nms, state=(string)suppressed, suppressed-by=(int)0;");
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
  CASE (a_full_disk_leaves_whole_lines), CASE (a_full_disk_need_not_end_the_stream),
  CASE (a_path_may_be_good_for_one_opening), CASE (a_file_that_cannot_be_appended_to_is_refused),
  CASE (two_recorders_of_one_file_are_refused), CASE (a_recording_is_not_recorded_onto_itself),
  CASE (a_recorder_and_a_replay_may_share_a_new_file), CASE (standard_output_is_live),
  CASE (sigpipe_stays_as_it_was), CASE (files_change_in_ready_only),
  CASE (files_change_while_starting), CASE (the_signal_needs_no_file),
  CASE (the_signal_works_from_python), { NULL } };

GST_TEST_PROGRAM (cases);
