/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordappend: reads the last line of the file only, so the time does not depend on its size: a
 * block at the end, and a block of twice the size while the line is longer. */
#define _GNU_SOURCE /* memrchr () */
#include "recordappend.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fileerror.h"
#include "jsonl.h"
#include "mottext.h"

#define FIRST_BLOCK (64 * 1024)
#define LARGEST_BLOCK (64 * 1024 * 1024)

/* The end of a text file. */
typedef struct
{
  gchar *line;       /* the last line that has an end and is not blank, or NULL */
  gchar *unfinished; /* what is behind the last end of line, or NULL */
} Tail;

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
split (Tail *self, const gchar *block, gsize size, gboolean whole_file)
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

static gboolean
read_tail (Tail *self, int fd, GError **error)
{
  gboolean done = FALSE;
  gchar *block = NULL;
  gsize want, got;
  struct stat st;

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

/* Parses a line. Sets *next_index behind its frame and *columns if it is MOT text. */
static gboolean
parse (const gchar *text, RecordFormat format, guint64 *next_index, guint *columns, GError **error)
{
  RecordedFrame frame;
  JsonlParser *parser;
  MotTextLine line;
  gboolean valid;

  if (format == RECORD_FORMAT_MOT) {
    valid = mot_text_parse_line (text, &line, error);
    if (valid) {
      *next_index = line.frame + 1;
      *columns = line.columns;
    }
    return valid;
  }
  parser = jsonl_parser_new ();
  recorded_frame_init (&frame);
  valid = jsonl_parse (parser, text, strlen (text), &frame, error);
  recorded_frame_clear (&frame);
  jsonl_parser_free (parser);
  return valid;
}

/* Returns whether the text begins like a record of that format. */
static gboolean
looks_right (const gchar *text, RecordFormat format)
{
  text += strspn (text, " \t");
  return format == RECORD_FORMAT_MOT ? g_ascii_isdigit (*text) : *text == '{';
}

/* Removes what is behind the last end of line. */
static gboolean
remove_unfinished (int fd, gsize length, guint64 *removed, GError **error)
{
  struct stat st;

  if (fstat (fd, &st) < 0 || ftruncate (fd, st.st_size - (off_t) length) < 0)
    return file_error_set (error, errno);
  *removed = length;
  return TRUE;
}

static gboolean
prepare (int fd, const Tail *tail, RecordFormat format, guint64 *next_index, guint64 *removed,
    GError **error)
{
  gchar *rest = tail->unfinished ? g_strchomp (g_strdup (tail->unfinished)) : NULL;
  gboolean complete = FALSE, ok = tail->line == NULL;
  guint columns = 0, rest_columns = 0;
  GError *reason = NULL;
  guint64 rest_index;

  if (tail->line)
    ok = parse (tail->line, format, next_index, &columns, &reason);
  /* a line of MOT text that was cut may be one of fewer columns */
  if (ok && rest && *rest)
    complete = parse (rest, format, &rest_index, &rest_columns, NULL)
        && (tail->line == NULL || rest_columns == columns);
  if (ok && rest && *rest && !complete && !looks_right (rest, format))
    g_set_error_literal (&reason, RECORD_ERROR, RECORD_ERROR_MALFORMED, "it is not a record");
  if (reason) {
    g_propagate_prefixed_error (error, reason, "the file does not end with a line of %s: ",
        format == RECORD_FORMAT_MOT ? "MOT text" : "JSON Lines");
    ok = FALSE;
  } else if (complete) {
    *next_index = format == RECORD_FORMAT_MOT ? rest_index : 0;
    ok = write (fd, "\n", 1) == 1 || file_error_set (error, errno);
  } else if (rest) {
    ok = remove_unfinished (fd, strlen (tail->unfinished), removed, error);
  }
  g_free (rest);
  return ok;
}

gboolean
record_append_prepare (const gchar *path, RecordFormat format, guint64 *next_index,
    guint64 *removed, GError **error)
{
  Tail tail = { NULL, NULL };
  gboolean ok;
  int fd;

  *next_index = *removed = 0;
  fd = g_open (path, O_RDWR | O_APPEND | O_CLOEXEC, 0);
  if (fd < 0)
    return file_error_set (error, errno);
  ok = read_tail (&tail, fd, error) && prepare (fd, &tail, format, next_index, removed, error);
  g_free (tail.line);
  g_free (tail.unfinished);
  close (fd);
  return ok;
}
