/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordappend: reads the last line of the file only, so the time does not depend on its size. */
#include "recordappend.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fileerror.h"
#include "filetail.h"
#include "jsonl.h"
#include "mottext.h"

static gboolean
parse (const gchar *text, RecordFormat format, RecordedFrame *frame, GError **error)
{
  JsonlParser *parser;
  MotTextLine line;
  gboolean valid;

  if (format == RECORD_FORMAT_MOT) {
    valid = mot_text_parse_line (text, &line, error);
    frame->index = valid ? line.frame : 0;
    return valid;
  }
  parser = jsonl_parser_new ();
  valid = jsonl_parse (parser, text, strlen (text), frame, error);
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

/* Makes the file end with a complete line. */
static gboolean
mend (RecordAppend *self, int fd, const gchar *unfinished, gboolean complete, GError **error)
{
  gsize length = strlen (unfinished);
  struct stat st;

  if (complete)
    return write (fd, "\n", 1) == 1 || file_error_set (error, errno);
  if (fstat (fd, &st) < 0 || ftruncate (fd, st.st_size - (off_t) length) < 0)
    return file_error_set (error, errno);
  self->removed = length;
  return TRUE;
}

static gboolean
prepare (RecordAppend *self, int fd, const FileTail *tail, RecordFormat format, GError **error)
{
  gchar *rest = tail->unfinished ? g_strchomp (g_strdup (tail->unfinished)) : NULL;
  gboolean complete = rest && *rest && parse (rest, format, &self->last, NULL), ok = TRUE;

  self->empty = !complete && tail->line == NULL;
  if (!complete && tail->line)
    ok = parse (tail->line, format, &self->last, error);
  if (ok && rest && *rest && !complete && !looks_right (rest, format)) {
    g_set_error_literal (error, RECORD_ERROR, RECORD_ERROR_MALFORMED, "it is not a record");
    ok = FALSE;
  }
  if (ok && rest)
    ok = mend (self, fd, tail->unfinished, complete, error);
  g_free (rest);
  return ok;
}

gboolean
record_append_prepare (RecordAppend *self, const gchar *location, RecordFormat format,
    GError **error)
{
  struct stat st;
  FileTail tail;
  gboolean ok;
  int fd;

  *self = (RecordAppend) { .empty = TRUE };
  recorded_frame_init (&self->last);
  if (g_stat (location, &st) < 0 || !S_ISREG (st.st_mode))
    return TRUE;
  fd = g_open (location, O_RDWR | O_APPEND | O_CLOEXEC, 0);
  if (fd < 0)
    return file_error_set (error, errno);
  ok = file_tail_read (&tail, fd, error) && prepare (self, fd, &tail, format, error);
  file_tail_clear (&tail);
  close (fd);
  return ok;
}

void
record_append_clear (RecordAppend *self)
{
  recorded_frame_clear (&self->last);
}
