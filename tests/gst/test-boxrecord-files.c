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
#include <unistd.h>

#include "gstrunner.h"
#include "recorder.h"
#include "textfiles.h"

/* A program that runs cannot be opened, and the end of a sealed file cannot be removed. */
static void
unusable_files_fail_at_start (void)
{
  const int fd = memfd_create ("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  g_autofree gchar *path = text_file_new ("words.txt", "not MOT\n", -1);
  g_autofree gchar *sealed = g_strdup_printf ("/dev/fd/%d", fd);

  recorder_must_refuse ("", "", "set the property location");
  recorder_must_refuse (g_get_tmp_dir (), "", "Is a directory");
  recorder_must_refuse ("/nonexistent/boxes.jsonl", "", "No such file or directory");
  recorder_must_refuse (path, "append=true format=mot", "does not end with a line of MOT text");
  recorder_must_refuse (path, "append=true", "does not end with a line of JSON Lines");
  recorder_must_refuse ("/proc/self/exe", "append=true", "Text file busy");
  g_assert_true (write (fd, "{\"times", 7) == 7);
  g_assert_cmpint (fcntl (fd, F_ADD_SEALS, F_SEAL_SHRINK), ==, 0);
  recorder_must_refuse (sealed, "append=true", "Operation not permitted");
  g_assert_cmpint (close (fd), ==, 0);
}

#define DISK 20000 /* bytes; not a multiple of the length of a line */

/* Limits the size of files, or with 0 ends the limit. Nothing is printed under the limit, because
 * standard output may be a file. */
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
    steps_must_say (bus, GST_MESSAGE_ERROR, "Cannot write to ", NULL);
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
  steps_must_say (bus, GST_MESSAGE_WARNING, "recording continues", NULL);
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

#define RECORDING \
  "{\"timestamp\":0,\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4}]}\n" \
  "{\"timestamp\":100000000,\"objects\":[]}\n"

/* Two elements that use one file, whatever its name is. */
static void
a_file_is_claimed (void)
{
  static const struct
  {
    const gchar *first, *second;
    const gchar *refused; /* what the second one says while the first one runs; NULL: it starts */
  } rows[] = {
    { "boxrecord name=a", "boxreplay name=b", "a replaces this file, so b cannot read it" },
    { "boxreplay name=a on-error=skip follow=true", "boxrecord name=b on-error=continue",
        "a reads this file, so b cannot replace it" },
    { "boxrecord name=a", "boxrecord name=b", "a writes to this file, so b cannot" },
    { "boxrecord name=a", "boxrecord name=b append=true", "a writes to this file, so b cannot" },
    /* what loses no line is allowed */
    { "boxreplay", "boxreplay", NULL },
    { "boxreplay", "boxrecord append=true", NULL },
    { "boxrecord append=true", "boxreplay", NULL },
  };
  g_autofree gchar *path = text_file_new ("self1.jsonl", RECORDING, -1);
  g_autofree gchar *folder = g_path_get_dirname (path);
  g_autofree gchar *linked = text_file_path ("symlink.jsonl");
  g_autofree gchar *hard = text_file_path ("hard.jsonl");
  const gchar *const names[] = { path, hard, "self1.jsonl", linked };

  g_assert_true (symlink (path, linked) == 0 && link (path, hard) == 0);
  g_assert_cmpint (g_chdir (folder), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (rows) * G_N_ELEMENTS (names); i++) {
    const guint row = i / G_N_ELEMENTS (names);
    g_autoptr (GstElement) first = element_new (rows[row].first);
    g_autoptr (GstElement) second = element_new (rows[row].second);

    g_object_set (first, "location", path, NULL);
    g_object_set (second, "location", names[i % G_N_ELEMENTS (names)], NULL);
    g_assert_cmpint (gst_element_set_state (first, GST_STATE_PAUSED), !=, GST_STATE_CHANGE_FAILURE);
    if (rows[row].refused) {
      expect_no_start (second, rows[row].refused);
      gst_element_set_state (first, GST_STATE_NULL);
    }
    expect_start (second);
    gst_element_set_state (first, GST_STATE_NULL);
    text_file_must_be (path, RECORDING);
  }
  g_assert_cmpint (g_chdir ("/"), ==, 0);
}

/* From its first line on, a new recording may be followed. */
static void
a_recorder_and_a_replay_may_share_a_new_file (void)
{
  g_autofree gchar *path = text_file_new ("shared.jsonl", RECORDING, -1);
  g_autoptr (GstElement) replay = element_new ("boxreplay name=b follow=true");
  GstHarness *h = recorder_new (NULL, path, "name=a");

  g_object_set (replay, "location", path, NULL);
  expect_no_start (replay, "a replaces this file");
  text_file_must_be (path, RECORDING);
  recorder_push_range (h, 0, 1);
  expect_start (replay);
  recorder_must_refuse (path, "name=b append=true", "a writes to this file, so b cannot");
  recorder_push_range (h, 1, 4);
  gst_harness_teardown (h);
  g_assert_cmpint (recorder_file_lines (path), ==, 4);
}

/* --------------------------------------------------- standard output and location */

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

/* Records to standard output, which is ends[1] meanwhile, with a reader that leaves in mid-stream
 * with a line unread. SIGPIPE would end this program. */
static void
must_write_live (const int ends[2])
{
  const int before = dup (STDOUT_FILENO);
  g_autofree gchar *expected = recorder_text ("0 1"), *text = g_malloc0 (strlen (expected) + 1);
  GstBus *bus;
  g_autoptr (GstHarness) h = NULL;
  struct pollfd readable = { .fd = ends[0], .events = POLLIN };
  sigset_t mask, pending;
  struct sigaction action;

  fflush (stdout);
  g_assert_cmpint (dup2 (ends[1], STDOUT_FILENO), ==, STDOUT_FILENO);
  h = recorder_new (&bus, "-", "");
  g_assert_cmpint (dup2 (before, STDOUT_FILENO), ==, STDOUT_FILENO);
  close (before);
  close (ends[1]);
  recorder_push_range (h, 0, 3);
  for (gsize got = 0; got < strlen (expected);) {
    const gssize part = read (ends[0], text + got, strlen (expected) - got);

    g_assert_cmpint (part, >, 0);
    got += (gsize) part;
  }
  g_assert_cmpstr (text, ==, expected);
  g_assert_cmpint (poll (&readable, 1, 20000), ==, 1);
  close (ends[0]);
  g_assert_cmpint (recorder_push (h, 3, 0), ==, GST_FLOW_ERROR);
  steps_must_say (bus, GST_MESSAGE_ERROR, "the reader closed the pipe", NULL);
  /* how an application handles SIGPIPE is not changed */
  sigpending (&pending);
  g_assert_false (sigismember (&pending, SIGPIPE));
  pthread_sigmask (SIG_SETMASK, NULL, &mask);
  g_assert_false (sigismember (&mask, SIGPIPE));
  sigaction (SIGPIPE, NULL, &action);
  g_assert_true (action.sa_handler == SIG_DFL);
}

static void
standard_output_is_live (void)
{
  int ends[2];

  g_assert_cmpint (pipe (ends), ==, 0);
  must_write_live (ends);
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM, 0, ends), ==, 0);
  must_write_live (ends);
  /* the system reports the reader's end as ECONNRESET here, as EPIPE above */
  connect_tcp (ends);
  must_write_live (ends);
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
    steps_must_say (bus, GST_MESSAGE_WARNING, "location", NULL);
    if (i == 1)
      g_object_set (h->element, "tolerance", G_GUINT64_CONSTANT (5), "existing", 1, NULL);
    g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 0);
  }
}

/* Starting fails each time, because an error shows the location that was read. */
static void
files_change_while_starting (void)
{
  static const gchar *const lines[] = { "boxrecord location=/dev/null",
    "boxreplay location=/dev/null" };
  GValue location = G_VALUE_INIT;

  g_value_init (&location, G_TYPE_STRING);
  g_value_set_static_string (&location, "/missing/a");
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_autoptr (GstHarness) h = harness_new_caps (lines[i], NULL);
    GstBus *bus = harness_bus (h);
    GstHarnessThread *setter;

    gst_element_set_state (h->element, GST_STATE_NULL);
    g_object_set_property (G_OBJECT (h->element), "location", &location);
    setter = gst_harness_stress_property_start_full (h, "location", &location, 0);
    for (guint k = 0; k < 3000; k++) {
      g_assert_cmpint (gst_element_set_state (h->element, GST_STATE_PAUSED), ==,
          GST_STATE_CHANGE_FAILURE);
      assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR), " /missing/a*: No such file");
      gst_element_set_state (h->element, GST_STATE_NULL);
    }
    gst_harness_stress_thread_stop (setter);
  }
  g_value_unset (&location);
}

/* -------------------------------------------------------------------- signal */

/* Appends each box, as text. */
static void
on_frame_boxes (GstElement *element, GstBuffer *buffer, GstStructure *boxes, GString *seen)
{
  const GValue *array = gst_structure_get_value (boxes, "boxes");
  guint64 timestamp;
  gint width;

  g_assert_true (GST_IS_BUFFER (buffer) && gst_structure_has_name (boxes, "frame-boxes"));
  g_assert_true (gst_structure_get_uint64 (boxes, "timestamp", &timestamp) && timestamp == 5);
  g_assert_true (gst_structure_get_int (boxes, "width", &width) && width == 16);
  for (guint i = 0; i < gst_value_array_get_size (array); i++) {
    g_autofree gchar *box = gst_structure_to_string (
        g_value_get_boxed (gst_value_array_get_value (array, i)));

    g_string_append (seen, box);
  }
}

/* Applications get any label as valid text. */
static void
the_signal_needs_no_file (void)
{
  static const gchar expected[] =
      "box, x=(gint64)-3, y=(gint64)2, w=(gint64)9, h=(gint64)4, region_id=(int)0, "
      "label=(string)car, confidence=(double)0.5, id=(int)12;"
      "box, x=(gint64)1, y=(gint64)2, w=(gint64)3, h=(gint64)4, region_id=(int)0, "
      "label=(string)\"\\357\\277\\275\", state=(string)suppressed, suppressed-by=(int)0;";
  g_autoptr (GstHarness) h = harness_new_caps ("boxrecord emit-signals=true",
      "video/x-raw,format=GRAY8,width=16,height=16,framerate=10/1");
  g_autoptr (GString) seen = g_string_new (NULL);
  GstBuffer *buffer = frame_new (5);

  g_signal_connect (h->element, "frame-boxes", G_CALLBACK (on_frame_boxes), seen);
  add_boxes (buffer, "0 car -3,2,9,4 0.5");
  add_structure (gst_buffer_get_video_region_of_interest_meta (buffer), "object_id, id=(int)12;");
  add_structure (add_region (buffer, 0, "\xff", (Rect) { 1, 2, 3, 4 }),
      "nms, state=(string)suppressed, suppressed-by=(int)0;");
  g_assert_cmpint (gst_harness_push (h, buffer), ==, GST_FLOW_OK);
  g_assert_cmpstr (seen->str, ==, expected);
  g_object_set (h->element, "emit-signals", FALSE, NULL);
  g_assert_cmpint (gst_harness_push (h, gst_buffer_new ()), ==, GST_FLOW_OK);
  g_assert_cmpstr (seen->str, ==, expected);
}

static const TestCase cases[] = { CASE (unusable_files_fail_at_start),
  CASE (a_full_disk_leaves_whole_lines), CASE (a_full_disk_need_not_end_the_stream),
  CASE (a_path_may_be_good_for_one_opening), CASE (a_file_is_claimed),
  CASE (a_recorder_and_a_replay_may_share_a_new_file), CASE (standard_output_is_live),
  CASE (files_change_in_ready_only), CASE (files_change_while_starting),
  CASE (the_signal_needs_no_file), { NULL } };

GST_TEST_PROGRAM (cases);
