/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzzfile: writes the input to a file in memory and reads it through recordreader. */
#define _GNU_SOURCE /* memfd_create */
#include "fuzzfile.h"

#include "fuzzbytes.h"

#include <sys/mman.h>
#include <unistd.h>

#define MAX_LINE 4096

LabelTable fuzz_labels = { .max = 1000 };

void
fuzz_file (const guint8 *data, gsize size, RecordFormat format, FuzzFrame check)
{
  gint fd = memfd_create ("fuzz", 0);
  gchar *location = g_strdup_printf ("/proc/self/fd/%d", fd);
  GError *error = NULL;
  RecordReaderResult result;
  RecordedFrame frame;
  RecordReader *reader;
  LineReader *lines;
  guint64 index = 0, frames = 0;

  g_assert (fd >= 0 && write (fd, data, size) == (gssize) size);
  lines = line_reader_new (location, MAX_LINE, NULL, &error);
  g_assert_no_error (error);
  reader = record_reader_new (lines, format, MAX_LINE, &fuzz_labels);
  recorded_frame_init (&frame);
  do {
    result = record_reader_next (reader, &frame, &error);
    g_assert ((error != NULL)
        == (result == RECORD_READER_MALFORMED || result == RECORD_READER_UNFINISHED
            || result == RECORD_READER_FAILED));
    g_clear_error (&error);
    if (result == RECORD_READER_FRAME) {
      g_assert (frames++ == 0 || frame.index > index);
      index = frame.index;
      fuzz_count (frame.boxes->len);
      check (&frame);
    }
  } while (result == RECORD_READER_FRAME || result == RECORD_READER_MALFORMED
      || result == RECORD_READER_UNFINISHED);
  g_assert (record_reader_rewind (reader, NULL));
  recorded_frame_clear (&frame);
  record_reader_free (reader);
  close (fd);
  g_free (location);
}
