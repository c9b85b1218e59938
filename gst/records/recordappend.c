/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordappend: reads only the last lines of the file, so the time does not depend on its size. It
 * reads a block at the end, and a block of twice the size as long as that has no whole line. */
#include "recordappend.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fileerror.h"
#include "jsonl.h"
#include "linereader.h"
#include "mottext.h"

#define FIRST_BLOCK (64 * 1024)
#define LARGEST_BLOCK (64 * 1024 * 1024)

/* The end of a text file. */
typedef struct
{
  gchar *line;       /* the last line that has an end and is not blank, or NULL */
  gchar *unfinished; /* text after the last end of line, or NULL */
  off_t end;         /* offset of `unfinished` in the file */
} Tail;

/* Reads the lines that begin behind `offset`. Returns FALSE and an error if that fails. */
static gboolean
read_block (Tail *self, LineReader *lines, guint64 offset, GError **error)
{
  LineReaderResult result = LINE_READER_LINE;
  gboolean first = offset > 0; /* it may begin before the block */
  gsize length;
  gchar *line;

  if (!line_reader_seek (lines, offset, error))
    return FALSE;
  while ((result = line_reader_next (lines, &line, &length, error)) == LINE_READER_LINE) {
    const gboolean unfinished = line_reader_is_unfinished (lines);
    gchar **keep = unfinished ? &self->unfinished : &self->line;

    if (!first && (unfinished || strspn (line, " \t\r") < length)) {
      g_free (*keep);
      *keep = g_strdup (line);
    }
    if (unfinished)
      self->end = (off_t) line_reader_offset (lines);
    first = FALSE;
  }
  if (result == LINE_READER_TOO_LONG)
    file_error_set (error, EFBIG);
  return result == LINE_READER_EOF;
}

static gboolean
read_tail (Tail *self, const gchar *path, guint64 size, GError **error)
{
  LineReader *lines = line_reader_new (path, LARGEST_BLOCK, NULL, error);
  gboolean ok = lines != NULL;
  guint64 offset = size;

  for (guint64 want = FIRST_BLOCK; ok && offset > 0 && self->line == NULL; want *= 2) {
    offset = size > want ? size - want : 0;
    g_clear_pointer (&self->unfinished, g_free);
    ok = read_block (self, lines, offset, error);
  }
  line_reader_free (lines);
  return ok;
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

/* Completes the unfinished line, or removes it. */
static gboolean
prepare (int fd, const Tail *tail, RecordFormat format, guint64 *next_index, GError **error)
{
  gchar *rest = tail->unfinished ? g_strchomp (g_strdup (tail->unfinished)) : NULL;
  gboolean complete = FALSE, ok = tail->line == NULL;
  guint columns = 0, rest_columns = 0;
  GError *reason = NULL;
  guint64 rest_index = 0;

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
    ok = ftruncate (fd, tail->end) == 0 || file_error_set (error, errno);
  }
  g_free (rest);
  return ok;
}

gboolean
record_append_prepare (const gchar *path, RecordFormat format, guint64 *next_index,
    guint64 *removed, GError **error)
{
  Tail tail = { NULL, NULL, 0 };
  struct stat before, after;
  gboolean ok;
  int fd;

  *next_index = *removed = 0;
  fd = g_open (path, O_RDWR | O_APPEND | O_CLOEXEC, 0);
  if (fd < 0)
    return file_error_set (error, errno);
  ok = fstat (fd, &before) == 0 || file_error_set (error, errno);
  ok = ok && read_tail (&tail, path, (guint64) before.st_size, error)
      && prepare (fd, &tail, format, next_index, error);
  if (ok && fstat (fd, &after) == 0 && after.st_size < before.st_size)
    *removed = (guint64) (before.st_size - after.st_size);
  g_free (tail.line);
  g_free (tail.unfinished);
  close (fd);
  return ok;
}
