/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxrecord: numbered files of limited size and time. */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "checkrunner.h"
#include "recorder.h"
#include "textfiles.h"

static gchar *
numbered (const gchar *pattern, guint number)
{
  gchar *name = g_strdup_printf (strstr (pattern, "%03d") ? "%s%03u.jsonl" : "%s%u.jsonl",
      strstr (pattern, "%03d") ? "w" : "n", number);
  gchar *path = text_file_path (name);

  g_free (name);
  return path;
}

/* Returns the number of lines in file `number`, and removes it; -1 if it does not exist. */
static gint
lines_of (const gchar *pattern, guint number)
{
  gchar *path = numbered (pattern, number);
  gint lines = -1;

  if (g_file_test (path, G_FILE_TEST_EXISTS)) {
    lines = (gint) recorder_file_lines (path);
    g_remove (path);
  }
  g_free (path);
  return lines;
}

static goffset
size_of (const gchar *pattern, guint number)
{
  gchar *path = numbered (pattern, number);
  GStatBuf st;

  fail_unless (g_stat (path, &st) == 0);
  g_free (path);
  return st.st_size;
}

GST_START_TEST (files_are_no_larger_than_the_limit)
{
  static const gchar *const flush[] = { "line", "buffer" };
  guint i, number, lines;

  for (i = 0; i < G_N_ELEMENTS (flush); i++) {
    gchar *location = text_file_path ("w%03d.jsonl");
    gchar *properties = g_strdup_printf ("max-file-size=1000 flush=%s", flush[i]);
    GstHarness *h = recorder_new (NULL, location, properties);
    gint count;

    recorder_push_range (h, 0, 100);
    /* a line larger than the limit has a file of its own */
    fail_unless_equals_int (recorder_push (h, 100, BIG), GST_FLOW_OK);
    recorder_push_range (h, 101, 102);
    gst_harness_teardown (h);
    for (number = lines = 0; lines < 100; number++) {
      fail_unless (size_of (location, number) <= 1000);
      count = lines_of (location, number);
      fail_unless (count > 3, "file %u has %d lines", number, count);
      lines += (guint) count;
    }
    fail_unless_equals_int (lines, 100);
    fail_unless (size_of (location, number) > 1000);
    fail_unless_equals_int (lines_of (location, number), 1);
    fail_unless_equals_int (lines_of (location, number + 1), 1);
    fail_unless_equals_int (lines_of (location, number + 2), -1);
    g_free (properties);
    g_free (location);
  }
}

GST_END_TEST;

GST_START_TEST (files_are_no_longer_than_the_limit)
{
  gchar *location = text_file_path ("n%d.jsonl");
  GstHarness *h = recorder_new (NULL, location, "max-file-time=1000000000");
  guint i;

  recorder_push_range (h, 0, 35);
  gst_harness_teardown (h);
  for (i = 0; i < 3; i++)
    fail_unless_equals_int (lines_of (location, i), 10);
  fail_unless_equals_int (lines_of (location, 3), 5);
  fail_unless_equals_int (lines_of (location, 4), -1);
  g_free (location);
}

GST_END_TEST;

GST_START_TEST (the_oldest_files_are_removed)
{
  gchar *location = text_file_path ("n%d.jsonl");
  GstHarness *h = recorder_new (NULL, location, "max-file-time=500000000 max-files=2");
  guint i;

  recorder_push_range (h, 0, 23);
  gst_harness_teardown (h);
  for (i = 0; i < 3; i++)
    fail_unless_equals_int (lines_of (location, i), -1);
  fail_unless_equals_int (lines_of (location, 3), 5);
  fail_unless_equals_int (lines_of (location, 4), 3);
  g_free (location);
}

GST_END_TEST;

GST_START_TEST (appending_continues_the_last_file)
{
  gchar *location = text_file_path ("w%03d.jsonl");
  gchar *other = text_file_new ("w12.jsonl", "not one of them, it lacks a zero\n", -1);
  GstHarness *h = recorder_new (NULL, location, "max-file-time=500000000");

  recorder_push_range (h, 0, 8);
  gst_harness_teardown (h);
  h = recorder_new (NULL, location, "max-file-time=500000000 append=true");
  recorder_push_range (h, 8, 16);
  gst_harness_teardown (h);
  fail_unless_equals_int (lines_of (location, 0), 5);
  fail_unless_equals_int (lines_of (location, 1), 3 + 5);
  fail_unless_equals_int (lines_of (location, 2), 3);
  g_remove (other);
  g_free (other);
  g_free (location);
}

GST_END_TEST;

/* Fails unless starting with that file name is an error that contains the text. */
static void
must_not_start (const gchar *name, const gchar *what)
{
  gchar *location = text_file_path (name);

  recorder_must_refuse (location, "max-file-size=1000", what);
  g_free (location);
}

GST_START_TEST (other_patterns_are_refused)
{
  static const gchar *const names[] = { "none.jsonl", "two%d%d.jsonl", "%s", "%n%d", "%", "%5d",
    "%099d", "%0", "%%d", "%-05d", "%ld" };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (names); i++)
    must_not_start (names[i], "numbered files need a location with one %d");
}

GST_END_TEST;

/* Without a limit, a percent sign is an ordinary character. */
GST_START_TEST (a_percent_sign_needs_a_limit)
{
  gchar *location = text_file_path ("100%d.jsonl");
  GstHarness *h = recorder_new (NULL, location, "");

  recorder_push_range (h, 0, 1);
  gst_harness_teardown (h);
  fail_unless_equals_int (recorder_file_lines (location), 1);
  g_remove (location);
  g_free (location);
}

GST_END_TEST;

static const CheckCase cases[] = { CHECK_CASE (files_are_no_larger_than_the_limit),
  CHECK_CASE (files_are_no_longer_than_the_limit), CHECK_CASE (the_oldest_files_are_removed),
  CHECK_CASE (appending_continues_the_last_file), CHECK_CASE (other_patterns_are_refused),
  CHECK_CASE (a_percent_sign_needs_a_limit), { NULL } };

CHECK_PROGRAM (cases);
