/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxrecord: full disks, files that are shared or moved, and when lines are written. A limit of the
 * process on file sizes stands for a full disk. */
#define _GNU_SOURCE /* memfd_create */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gstrunner.h"
#include "recorder.h"
#include "textfiles.h"

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
    g_assert_cmpint (recorder_messages (bus, GST_MESSAGE_ERROR, "Cannot write to "), ==, 1);
    lines = recorder_file_lines (path);
    if (!(lines > 100 && lines <= frame))
      g_error ("%u lines of %u", lines, frame);
    /* the collected lines are written when the disk has room again */
    harness_free (h);
    g_assert_cmpint (recorder_file_lines (path), ==, frame);
  }
}

static void
a_full_disk_is_one_error (void)
{
  GstBus *bus;
  g_autoptr (GstHarness) h = recorder_new (&bus, "/dev/full", "");

  g_assert_cmpint (recorder_push (h, 0, 0), ==, GST_FLOW_ERROR);
  g_assert_cmpint (recorder_messages (bus, GST_MESSAGE_ERROR,
                       "Cannot write to /dev/full: No space left on device"),
      ==, 1);
}

static void
a_full_disk_need_not_end_the_stream (void)
{
  g_autofree gchar *path = text_file_path ("continue.jsonl"), *text = NULL;
  GstBus *bus;
  g_autoptr (GstHarness) h = recorder_new (&bus, path, "on-error=continue");
  guint frame = 0;

  limit_files (DISK);
  while (frame < 500 && recorder_push (h, frame, 1) == GST_FLOW_OK)
    frame++;
  limit_files (0);
  g_assert_cmpint (frame, ==, 500);
  g_assert_true (stat_of (h->element, "failed") > 100);
  g_assert_cmpuint (stat_of (h->element, "frames") + stat_of (h->element, "failed"), ==, 500);
  g_assert_cmpint (recorder_messages (bus, GST_MESSAGE_WARNING, "recording continues"), ==, 1);
  recorder_push_range (h, frame, frame + 1);
  g_assert_cmpuint (recorder_file_lines (path), ==, stat_of (h->element, "frames"));
  text = text_file_read (path);
  {
    g_autofree gchar *marker =
        g_strdup_printf ("{\"timestamp\":50000000000,\"dropped\":%" G_GUINT64_FORMAT ",",
            stat_of (h->element, "failed"));
    if (strstr (text, marker) == NULL)
      g_error ("no %s", marker);
  }
  g_assert_cmpint (recorder_messages (bus, GST_MESSAGE_ERROR, ""), ==, 0);
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

/* Plays a pipeline to its end or its first error. Fails unless that error contains `refused`, or
 * there is none if that is NULL. */
static void
play (const gchar *refused, const gchar *format, ...)
{
  g_autoptr (GstElement) pipeline = NULL;
  g_autoptr (GstMessage) message = NULL;
  GError *error = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autofree gchar *launch = NULL;
  va_list args;

  va_start (args, format);
  launch = g_strdup_vprintf (format, args);
  va_end (args);
  pipeline = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  if ((error != NULL) != (refused != NULL))
    g_error ("%s: %s", launch, error ? error->message : "no error");
  if (!(error == NULL || strstr (error->message, refused) != NULL))
    g_error ("%s: %s", launch, error ? error->message : "");
  g_clear_error (&error);
}

#define SOURCE "videotestsrc num-buffers=3 ! video/x-raw,width=16,height=16,framerate=10/1"
#define RECORDING \
  "{\"timestamp\":0,\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4}]}\n" \
  "{\"timestamp\":100000000,\"objects\":[]}\n"

/* A file is not emptied while a boxreplay of the process reads it, whatever its name and
 * whichever of the two starts first. */
static void
a_recording_is_not_recorded_onto_itself (void)
{
  g_autofree gchar *path = text_file_new ("self1.jsonl", RECORDING, -1),
                   *folder = g_path_get_dirname (path);
  g_autofree gchar *linked = text_file_path ("symlink.jsonl"),
                   *hard = text_file_path ("hard.jsonl");
  const gchar *const names[] = { path, linked, hard, "self1.jsonl" };

  g_assert_true (symlink (path, linked) == 0 && link (path, hard) == 0);
  g_assert_cmpint (g_chdir (folder), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    play ("record replaces this file, so replay cannot read it",
        SOURCE
        " ! boxreplay name=replay location=%s ! boxrecord name=record location=%s ! fakesink",
        path, names[i]);
    text_file_must_be (path, RECORDING);
    play ("replay reads this file, so record cannot replace it",
        SOURCE " ! boxrecord name=record on-error=continue location=%s"
               " ! boxreplay name=replay on-error=skip follow=true location=%s ! fakesink",
        names[i], path);
    text_file_must_be (path, RECORDING);
  }
  /* what loses no line is allowed */
  play (NULL, SOURCE " ! boxreplay location=%s ! boxreplay location=%s ! fakesink", path, linked);
  play (NULL, SOURCE " ! boxreplay location=%s ! boxrecord location=%s append=true ! fakesink",
      path, path);
  g_assert_cmpint (recorder_file_lines (path), ==, 5);
  play (NULL, SOURCE " ! boxrecord location=%s ! fakesink", path);
  g_assert_cmpint (recorder_file_lines (path), ==, 3);
  g_assert_cmpint (g_chdir ("/"), ==, 0);
}

/* An element of another pipeline is refused, too; one that follows the new lines is not. */
static void
a_recorder_and_a_replay_may_share_a_new_file (void)
{
  g_autofree gchar *path = text_file_new ("shared.jsonl", RECORDING, -1);
  g_autoptr (GstElement) replay = gst_element_factory_make ("boxreplay", "replay");
  GstHarness *h;

  g_object_set (replay, "location", path, "follow", TRUE, NULL);
  h = recorder_new (NULL, path, "");
  g_assert_cmpint (gst_element_set_state (replay, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (replay, GST_STATE_NULL);
  text_file_must_be (path, RECORDING);
  recorder_push_range (h, 0, 1);
  g_assert_true (gst_element_set_state (replay, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
  recorder_push_range (h, 1, 4);
  g_assert_cmpint (recorder_file_lines (path), ==, 4);
  gst_harness_teardown (h);
  h = recorder_new (NULL, path, "append=true");
  recorder_push_range (h, 4, 5);
  g_assert_cmpint (recorder_file_lines (path), ==, 5);
  gst_harness_teardown (h);
  gst_element_set_state (replay, GST_STATE_NULL);
}

/* A stream that ends without a frame is an empty recording; one that does not end is none. */
static void
a_file_is_emptied_by_a_line_or_the_end (void)
{
  gchar *path = text_file_new ("old.jsonl", RECORDING, -1);
  g_autofree gchar *moved = text_file_path ("old.1");
  GstHarness *h = recorder_new (NULL, path, "flush=buffer");

  gst_harness_teardown (h);
  text_file_must_be (path, RECORDING);
  h = recorder_new (NULL, path, "flush=buffer");
  g_assert_true (gst_harness_push_event (h, gst_event_new_eos ()));
  g_assert_cmpint (recorder_file_lines (path), ==, 0);
  gst_harness_teardown (h);
  g_free (path);
  /* a file that was moved away meanwhile is not replaced */
  path = text_file_new ("old.jsonl", RECORDING, -1);
  h = recorder_new (NULL, path, "");
  g_assert_cmpint (g_rename (path, moved), ==, 0);
  g_assert_true (gst_harness_push_event (h, gst_event_new_eos ()));
  text_file_must_be (moved, RECORDING);
  g_assert_cmpint (recorder_file_lines (path), ==, 0);
  gst_harness_teardown (h);
  g_free (path);
}

static void
lines_are_handed_on_as_set (void)
{
  g_autofree gchar *path = text_file_path ("flush.jsonl");
  GstHarness *h = recorder_new (NULL, path, "flush=buffer");

  recorder_push_range (h, 0, 100);
  g_assert_cmpint (recorder_file_lines (path), ==, 0);
  recorder_push_range (h, 100, 2000);
  g_assert_true (recorder_file_lines (path) > 1000);
  g_assert_true (gst_harness_push_event (h, gst_event_new_eos ()));
  g_assert_cmpint (recorder_file_lines (path), ==, 2000);
  gst_harness_teardown (h);

  h = recorder_new (NULL, path, "flush=buffer");
  recorder_push_range (h, 0, 5);
  gst_harness_teardown (h);
  g_assert_cmpint (recorder_file_lines (path), ==, 5);

  h = recorder_new (NULL, path, "flush=disk");
  recorder_push_range (h, 0, 1);
  g_assert_cmpint (recorder_file_lines (path), ==, 1);
  gst_harness_teardown (h);
}

static void
lines_have_the_id_of_their_stream (void)
{
  g_autofree gchar *path = text_file_path ("id.jsonl"), *text = NULL;
  GstHarness *h = recorder_new (NULL, path, "add-stream-id=true");

  g_assert_true (gst_harness_push_event (h, gst_event_new_stream_start ("a \"camera\"")));
  g_assert_cmpint (recorder_push (h, 0, 0), ==, GST_FLOW_OK);
  gst_harness_teardown (h);
  text = text_file_read (path);
  g_assert_cmpstr (text, ==,
      "{\"timestamp\":0,\"stream-id\":\"a \\\"camera\\\"\",\"objects\":[]}\n");
}

static const TestCase cases[] = { CASE (a_full_disk_leaves_whole_lines),
  CASE (a_full_disk_is_one_error), CASE (a_full_disk_need_not_end_the_stream),
  CASE (a_path_may_be_good_for_one_opening), CASE (a_file_that_cannot_be_appended_to_is_refused),
  CASE (two_recorders_of_one_file_are_refused), CASE (a_recording_is_not_recorded_onto_itself),
  CASE (a_recorder_and_a_replay_may_share_a_new_file),
  CASE (a_file_is_emptied_by_a_line_or_the_end), CASE (lines_are_handed_on_as_set),
  CASE (lines_have_the_id_of_their_stream), { NULL } };

GST_TEST_PROGRAM (cases);
