/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filetail: reads a block at the end, and a block of twice the size while the line is longer. */
#define _GNU_SOURCE /* memrchr () */
#include "filetail.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fileerror.h"

#define FIRST_BLOCK (64 * 1024)
#define LARGEST_BLOCK (64 * 1024 * 1024)

/* Reads `size` bytes at `offset`, or fewer at the end of the file. */
static gboolean
read_block (int fd, gchar *block, gsize size, goffset offset, gsize *got, GError **error)
{
  *got = 0;
  while (*got < size) {
    gssize count = pread (fd, block + *got, size - *got, offset + (goffset) *got);

    if (count == 0)
      break;
    if (count < 0 && errno != EINTR)
      return file_error_set (error, errno);
    *got += MAX (count, 0);
  }
  return TRUE;
}

/* Sets the lines from a block at the end of the file. Returns FALSE if the last
 * complete line begins before the block. */
static gboolean
split (FileTail *self, const gchar *block, gsize size, gboolean whole_file)
{
  const gchar *end = memrchr (block, '\n', size), *start;
  gsize length = end ? (gsize) (end - block) : 0;

  if (end == NULL && !whole_file)
    return FALSE;
  while (length > 0 && g_ascii_isspace (block[length - 1]))
    length--;
  start = memrchr (block, '\n', length);
  if (start == NULL && !whole_file)
    return FALSE;
  start = start ? start + 1 : block;
  if (length > 0)
    self->line = g_strndup (start, (gsize) (block + length - start));
  end = end ? end + 1 : block;
  if (end < block + size)
    self->unfinished = g_strndup (end, (gsize) (block + size - end));
  return TRUE;
}

gboolean
file_tail_read (FileTail *self, int fd, GError **error)
{
  gboolean done = FALSE;
  gchar *block = NULL;
  gsize want, got;
  struct stat st;

  *self = (FileTail) { NULL, NULL };
  if (fstat (fd, &st) < 0)
    return file_error_set (error, errno);
  for (want = FIRST_BLOCK; !done && want <= LARGEST_BLOCK; want *= 2) {
    goffset offset = MAX (0, (goffset) st.st_size - (goffset) want);

    block = g_realloc (block, want);
    if (!read_block (fd, block, want, offset, &got, error)) {
      g_free (block);
      return FALSE;
    }
    done = split (self, block, got, offset == 0);
  }
  g_free (block);
  return done || file_error_set (error, EFBIG);
}

void
file_tail_clear (FileTail *self)
{
  g_clear_pointer (&self->line, g_free);
  g_clear_pointer (&self->unfinished, g_free);
}
