/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxfile: lines in, frames out; MOT needs the first line of the next frame to
 * know that a frame is complete, and keeps it until then. */
#include "recordreader.h"

#include <string.h>

#include "jsonl.h"
#include "linereader.h"
#include "mottext.h"

struct _BoxFile
{
  LineReader *reader;
  BoxFormat asked, format;
  BoxLinesParser *parser;
  gsize max_line;
  guint64 next_index;           /* JSON Lines */

  /* MOT */
  BoxFrame mot;                 /* the frame under way */
  gboolean mot_open;
  guint64 mot_frames;           /* up to the one under way */
  guint columns;                /* of the first line; 0: not known yet */
  guint64 last_line;            /* the last one of the frame before or under way */
  guint64 ignored;
};

BoxFile *
box_file_new (const gchar * location, BoxFormat format, gsize max_line, GError ** error)
{
  LineReader *reader = line_reader_new (location, max_line, error);
  BoxFile *self;

  if (reader == NULL)
    return NULL;
  self = g_new0 (BoxFile, 1);
  self->reader = reader;
  self->asked = self->format = format;
  self->max_line = max_line;
  self->parser = box_lines_parser_new ();
  box_frame_init (&self->mot);
  return self;
}

void
box_file_free (BoxFile * self)
{
  if (self == NULL)
    return;
  line_reader_free (self->reader);
  box_lines_parser_free (self->parser);
  box_frame_clear (&self->mot);
  g_free (self);
}

static BoxFileResult
malformed (BoxFile * self, GError ** error, const GError * reason)
{
  g_set_error (error, BOX_FILE_ERROR, BOX_FILE_ERROR_MALFORMED, "%" G_GUINT64_FORMAT ": %s",
      line_reader_number (self->reader), reason->message);
  return BOX_FILE_MALFORMED;
}

static BoxFileResult G_GNUC_PRINTF (3, 4)
unusable (BoxFile * self, GError ** error, const gchar * format, ...)
{
  va_list args;
  gchar *reason;

  va_start (args, format);
  reason = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, BOX_FILE_ERROR, BOX_FILE_ERROR_UNUSABLE, "%" G_GUINT64_FORMAT ": %s",
      line_reader_number (self->reader), reason);
  g_free (reason);
  return BOX_FILE_FAILED;
}

/* The next line that is not blank; BOX_FILE_FRAME stands for having one. */
static BoxFileResult
next_line (BoxFile * self, gchar ** line, gsize * length, GError ** error)
{
  do {
    switch (line_reader_next (self->reader, line, length, error)) {
      case LINE_READER_LINE:
        break;
      case LINE_READER_EOF:
        return BOX_FILE_END;
      case LINE_READER_TOO_LONG:
        g_set_error (error, BOX_FILE_ERROR, BOX_FILE_ERROR_MALFORMED,
            "%" G_GUINT64_FORMAT ": the line is longer than max-line (%" G_GSIZE_FORMAT " bytes)",
            line_reader_number (self->reader), self->max_line);
        return BOX_FILE_MALFORMED;
      case LINE_READER_FLUSHING:
        return BOX_FILE_FLUSHING;
      case LINE_READER_FAILED:
        return BOX_FILE_FAILED;
    }
  } while (strspn (*line, " \t\r") == *length);
  return BOX_FILE_FRAME;
}

static BoxFileResult
next_jsonl (BoxFile * self, gchar * line, gsize length, BoxFrame * frame, GError ** error)
{
  GError *reason = NULL;

  frame->index = self->next_index - 1;
  frame->line = line_reader_number (self->reader);
  if (!box_lines_parse (self->parser, line, length, frame, &reason)) {
    malformed (self, error, reason);
    g_error_free (reason);
    return BOX_FILE_MALFORMED;
  }
  return BOX_FILE_FRAME;
}

/* Takes one line into the frame under way. *complete: the line begins another
 * frame, and `frame` now is the one before. */
static BoxFileResult
next_mot (BoxFile * self, gchar * text, gsize length, BoxFrame * frame, gboolean * complete,
    GError ** error)
{
  GError *reason = NULL;
  MotLine line;

  *complete = FALSE;
  if (strlen (text) < length)
    g_set_error (&reason, BOX_FILE_ERROR, BOX_FILE_ERROR_MALFORMED, "NUL byte");
  else if (mot_line_parse (text, &line, &reason) && self->columns > 0
      && line.columns != self->columns)
    g_set_error (&reason, BOX_FILE_ERROR, BOX_FILE_ERROR_MALFORMED,
        "%u columns, but the lines before have %u", line.columns, self->columns);
  if (reason) {
    malformed (self, error, reason);
    g_error_free (reason);
    return BOX_FILE_MALFORMED;
  }
  self->columns = line.columns;
  if (line.frame + 1 < self->mot_frames)
    return unusable (self, error, "frame %" G_GUINT64_FORMAT " comes after frame %"
        G_GUINT64_FORMAT " of line %" G_GUINT64_FORMAT ": the file is not in order of frames; "
        "\"sort -s -t, -k1,1n\" mends it", line.frame + 1, self->mot_frames, self->last_line);

  if (!self->mot_open || line.frame > self->mot.index) {
    *complete = self->mot_open;
    if (*complete) {
      BoxFrame swap = *frame;
      *frame = self->mot;
      self->mot = swap;
    }
    box_frame_reset (&self->mot);
    self->mot.index = line.frame;
    self->mot.line = line_reader_number (self->reader);
    self->mot_frames = line.frame + 1;
    self->mot_open = TRUE;
  }
  self->last_line = line_reader_number (self->reader);
  if (line.ignored)
    self->ignored++;
  else
    g_array_append_val (self->mot.boxes, line.box);
  return BOX_FILE_FRAME;
}

/* At the end of the file the frame under way is complete. */
static BoxFileResult
last_mot (BoxFile * self, BoxFrame * frame)
{
  BoxFrame swap = *frame;

  if (!self->mot_open)
    return BOX_FILE_END;
  *frame = self->mot;
  self->mot = swap;
  self->mot_open = FALSE;
  return BOX_FILE_FRAME;
}

static gboolean
detect (BoxFile * self, const gchar * line)
{
  gchar first = line[strspn (line, " \t")];

  if (first == '{')
    self->format = BOX_FORMAT_JSONL;
  else if (g_ascii_isdigit (first))
    self->format = BOX_FORMAT_MOT;
  return self->format != BOX_FORMAT_AUTO;
}

BoxFileResult
box_file_next (BoxFile * self, BoxFrame * frame, GError ** error)
{
  for (;;) {
    gboolean complete;
    gchar *line;
    gsize length;
    BoxFileResult result = next_line (self, &line, &length, error);

    if (result == BOX_FILE_FRAME || result == BOX_FILE_MALFORMED)
      self->next_index++;
    if (result == BOX_FILE_END)
      return last_mot (self, frame);
    if (result != BOX_FILE_FRAME)
      return result;
    if (self->format == BOX_FORMAT_AUTO && !detect (self, line))
      return unusable (self, error, "neither JSON Lines (which begins with '{') nor MOT text "
          "(which begins with a digit)");
    if (self->format == BOX_FORMAT_JSONL)
      return next_jsonl (self, line, length, frame, error);
    result = next_mot (self, line, length, frame, &complete, error);
    if (result != BOX_FILE_FRAME || complete)
      return result;
  }
}

BoxFormat
box_file_format (BoxFile * self)
{
  return self->format;
}

guint64
box_file_frames (BoxFile * self)
{
  if (self->format == BOX_FORMAT_MOT)
    return self->mot_frames;
  return self->next_index;
}

guint64
box_file_ignored (BoxFile * self)
{
  return self->ignored;
}

gboolean
box_file_can_rewind (BoxFile * self)
{
  return line_reader_can_rewind (self->reader);
}

gboolean
box_file_rewind (BoxFile * self, GError ** error)
{
  if (!line_reader_rewind (self->reader, error))
    return FALSE;
  self->format = self->asked;
  self->next_index = 0;
  self->mot_open = FALSE;
  self->mot_frames = 0;
  self->columns = 0;
  return TRUE;
}

guint64
box_file_count_rest (BoxFile * self)
{
  guint64 count = 0;

  if (self->format == BOX_FORMAT_MOT && box_file_can_rewind (self)) {
    BoxFileResult result;
    BoxFrame frame;

    box_frame_init (&frame);
    do {
      result = box_file_next (self, &frame, NULL);
      count += result == BOX_FILE_FRAME;
    } while (result == BOX_FILE_FRAME || result == BOX_FILE_MALFORMED);
    box_frame_clear (&frame);
    return count;
  }
  return line_reader_count_rest (self->reader);
}

void
box_file_set_flushing (BoxFile * self, gboolean flushing)
{
  line_reader_set_flushing (self->reader, flushing);
}
