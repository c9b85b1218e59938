/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzzfile: a file in memory. */
#define _GNU_SOURCE              /* memfd_create */
#include "fuzzfile.h"

#include <sys/mman.h>
#include <unistd.h>

#define MAX_LINE 4096

void
fuzz_file (const guint8 * data, gsize size, BoxFormat format, FuzzFrame check)
{
  gint fd = memfd_create ("fuzz", 0);
  gchar *location = g_strdup_printf ("/proc/self/fd/%d", fd);
  GError *error = NULL;
  BoxFileResult result;
  BoxFrame frame;
  BoxFile *file;
  guint64 index = 0, frames = 0;

  g_assert (fd >= 0 && write (fd, data, size) == (gssize) size);
  file = box_file_new (location, format, MAX_LINE, &error);
  g_assert_no_error (error);
  box_frame_init (&frame);
  do {
    result = box_file_next (file, &frame, &error);
    g_assert ((error != NULL) == (result == BOX_FILE_MALFORMED || result == BOX_FILE_FAILED));
    g_clear_error (&error);
    if (result == BOX_FILE_FRAME) {
      g_assert (frames == 0 || frame.index > index);
      index = frame.index;
      frames++;
      check (&frame);
    }
  } while (result == BOX_FILE_FRAME || result == BOX_FILE_MALFORMED);
  g_assert (box_file_rewind (file, NULL));
  box_frame_clear (&frame);
  box_file_free (file);
  close (fd);
  g_free (location);
}
