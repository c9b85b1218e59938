/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wholewrite: calls write (2) once, and truncates the file if not all was written. */
#define _GNU_SOURCE /* memrchr () */
#include "wholewrite.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fileerror.h"

/* Removes the last `length` bytes before the position of the file, unless another
 * program has appended something after them. */
static gboolean
remove_behind (int fd, gsize length)
{
  off_t end = lseek (fd, 0, SEEK_CUR);
  struct stat st;

  return end >= (off_t) length && fstat (fd, &st) == 0 && st.st_size == end
      && ftruncate (fd, end - (off_t) length) == 0
      && lseek (fd, end - (off_t) length, SEEK_SET) >= 0;
}

gboolean
whole_write_lines (int fd, const gchar *text, gsize length, gsize *done, GError **error)
{
  const gchar *end;
  int number = 0;
  gsize whole;

  *done = 0;
  while (*done < length && number == 0) {
    gssize written = write (fd, text + *done, length - *done);

    if (written == 0 || (written < 0 && errno != EINTR))
      number = written == 0 ? ENOSPC : errno;
    *done += MAX (written, 0);
  }
  if (number == 0)
    return TRUE;
  end = memrchr (text, '\n', *done);
  whole = end ? (gsize) (end + 1 - text) : 0;
  if (whole < *done && remove_behind (fd, *done - whole))
    *done = whole;
  return file_error_set (error, number);
}
