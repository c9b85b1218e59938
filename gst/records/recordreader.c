/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordreader: reads lines and returns frames. A frame of MOT text is complete
 * only when the first line of the next frame has been read, so that line is kept in
 * `mot` until the next call. */
#include "recordreader.h"

#include <string.h>

#include "jsonl.h"
#include "mottext.h"

struct _RecordReader
{
  LineReader *lines;
  RecordFormat requested_format, format; /* format: AUTO until detected */
  JsonlParser *parser;
  gsize max_line;
  LabelTable *labels; /* not owned; NULL for no limit */
  guint64 next_index; /* used for JSON Lines */
  gboolean take_all;  /* set by record_reader_continue () */
  guint64 base;       /* position of the start of the file read last */
  guint64 base_index; /* index of the first record of that file */

  /* used for MOT text */
  RecordedFrame mot;  /* the incomplete frame */
  gboolean mot_open;  /* `mot` holds a frame */
  guint64 mot_frames; /* number of the incomplete frame, from 1; 0 before the first */
  guint columns;      /* number of columns in the first line; 0 before the first line */
  guint64 last_line;  /* line number of the last valid line */
  guint64 ignored;    /* boxes with flag 0 */
};

RecordReader *
record_reader_new (LineReader *lines, RecordFormat format, gsize max_line, LabelTable *labels)
{
  RecordReader *self = g_new0 (RecordReader, 1);

  self->lines = lines;
  self->requested_format = self->format = format;
  self->max_line = max_line;
  self->labels = labels;
  self->parser = jsonl_parser_new ();
  recorded_frame_init (&self->mot);
  return self;
}

void
record_reader_free (RecordReader *self)
{
  if (self == NULL)
    return;
  line_reader_free (self->lines);
  jsonl_parser_free (self->parser);
  recorded_frame_clear (&self->mot);
  g_free (self);
}

/* Sets *error to `reason`, which it takes, with the number of the current line in front. */
static RecordReaderResult
refuse (RecordReader *self, GError **error, GError *reason)
{
  const gboolean malformed = reason->code == RECORD_ERROR_MALFORMED;

  g_prefix_error (&reason, "%" G_GUINT64_FORMAT ": ", line_reader_count (self->lines));
  g_propagate_error (error, reason);
  return malformed ? RECORD_READER_MALFORMED : RECORD_READER_FAILED;
}

/* Sets base and base_index after a followed file was replaced. */
static void
note_base (RecordReader *self)
{
  if (line_reader_base (self->lines) == self->base)
    return;
  self->base = line_reader_base (self->lines);
  self->base_index = self->next_index;
}

/* Reads the next line that is not blank; returns RECORD_READER_FRAME if there is one. */
static RecordReaderResult
next_line (RecordReader *self, gchar **line, gsize *length, GError **error)
{
  do {
    switch (line_reader_next (self->lines, line, length, error)) {
      case LINE_READER_LINE:
        break;
      case LINE_READER_EOF:
        return RECORD_READER_END;
      case LINE_READER_TOO_LONG:
        return refuse (self, error,
            g_error_new (RECORD_ERROR, RECORD_ERROR_MALFORMED,
                "the line is longer than max-line (%" G_GSIZE_FORMAT " bytes)", self->max_line));
      case LINE_READER_FLUSHING:
        return RECORD_READER_FLUSHING;
      case LINE_READER_FAILED:
        return RECORD_READER_FAILED;
    }
  } while (strspn (*line, " \t\r") == *length);
  return RECORD_READER_FRAME;
}

/* Parses one line; sets *shown to FALSE if its frame is outside of its segment. */
static RecordReaderResult
next_jsonl (RecordReader *self, gchar *line, gsize length, gboolean boxes, RecordedFrame *frame,
    gboolean *shown, GError **error)
{
  GError *reason = NULL;

  frame->labels = self->labels;
  if (!(boxes ? jsonl_parse : jsonl_parse_header) (self->parser, line, length, frame, &reason))
    return refuse (self, error, reason);
  *shown = !frame->outside_segment || self->take_all;
  if (*shown)
    self->next_index += frame->dropped;
  else
    self->next_index--;
  frame->index = self->next_index - 1;
  frame->line = line_reader_number (self->lines);
  frame->offset = line_reader_offset (self->lines);
  return RECORD_READER_FRAME;
}

/* Adds one line to the incomplete frame. If the line begins another frame, sets
 * *complete and moves the completed frame to `frame`. */
static RecordReaderResult
next_mot (RecordReader *self, gchar *text, gsize length, RecordedFrame *frame, gboolean *complete,
    GError **error)
{
  GError *reason = NULL;
  MotTextLine line;

  *complete = FALSE;
  if (strlen (text) < length)
    g_set_error (&reason, RECORD_ERROR, RECORD_ERROR_MALFORMED, "NUL byte");
  else if (mot_text_parse_line (text, &line, &reason) && self->columns > 0 && !self->take_all
      && line.columns != self->columns)
    g_set_error (&reason, RECORD_ERROR, RECORD_ERROR_MALFORMED,
        "%u columns, but the lines before have %u", line.columns, self->columns);
  if (reason == NULL && line.frame + 1 < self->mot_frames)
    g_set_error (&reason, RECORD_ERROR, RECORD_ERROR_UNUSABLE,
        "frame %" G_GUINT64_FORMAT " comes after frame %" G_GUINT64_FORMAT
        " of line %" G_GUINT64_FORMAT ": the file is not in order of frames; "
        "\"sort -s -t, -k1,1n\" mends it",
        line.frame + 1, self->mot_frames, self->last_line);
  if (reason)
    return refuse (self, error, reason);
  self->columns = line.columns;
  if (!self->mot_open || line.frame > self->mot.index) {
    *complete = self->mot_open;
    if (*complete) {
      RecordedFrame swap = *frame;
      *frame = self->mot;
      self->mot = swap;
    }
    recorded_frame_reset (&self->mot);
    self->mot.index = line.frame;
    self->mot.line = line_reader_number (self->lines);
    self->mot.offset = line_reader_offset (self->lines);
    self->mot_frames = line.frame + 1;
    self->mot_open = TRUE;
  }
  self->last_line = line_reader_number (self->lines);
  if (line.ignored)
    self->ignored++;
  else
    g_array_append_val (self->mot.boxes, line.box);
  return RECORD_READER_FRAME;
}

/* Returns the last frame, which the end of the file completes. */
static RecordReaderResult
last_mot (RecordReader *self, RecordedFrame *frame)
{
  RecordedFrame swap = *frame;

  if (!self->mot_open)
    return RECORD_READER_END;
  *frame = self->mot;
  self->mot = swap;
  self->mot_open = FALSE;
  return RECORD_READER_FRAME;
}

/* Sets the format by the first character of a line. Returns FALSE if it fits none. */
const gchar *
record_reader_guess (const gchar *text)
{
  if (g_str_has_prefix (text, "\x1f\x8b"))
    return "compressed by gzip; zcat FILE | nms-filter - unpacks it";
  if (g_str_has_prefix (text,
          "\xfd"
          "7zXZ")
      || g_str_has_prefix (text, "\x28\xb5\x2f\xfd"))
    return "compressed; unpack it with xzcat or zstdcat";
  if (text[strspn (text, " \t\r\n")] == '[')
    return "a JSON array, such as COCO results; docs/nms-filter.md converts them";
  return "neither JSON Lines (which begins with '{') nor MOT text (which begins with a digit)";
}

static gboolean
detect (RecordReader *self, const gchar *line)
{
  gchar first = line[strspn (line, " \t")];

  if (first == '{')
    self->format = RECORD_FORMAT_JSONL;
  else if (g_ascii_isdigit (first))
    self->format = RECORD_FORMAT_MOT;
  return self->format != RECORD_FORMAT_AUTO;
}

/* Returns whether the last line may be the beginning of a record. */
static gboolean
may_grow (RecordReader *self, const gchar *line, gsize length)
{
  if (!line_reader_is_unfinished (self->lines))
    return FALSE;
  if (self->format == RECORD_FORMAT_MOT)
    return strspn (line, "0123456789+-.eE, \t\r") == length;
  return line[strspn (line, " \t")] == '{';
}

/* Adds the probable reason to the message about the last line. */
static RecordReaderResult
unfinished (GError **error)
{
  GError *reason = g_steal_pointer (error);

  g_set_error (error, reason->domain, reason->code,
      "%s; the line has no end: the file is incomplete or still growing", reason->message);
  g_error_free (reason);
  return RECORD_READER_UNFINISHED;
}

static RecordReaderResult
next_frame (RecordReader *self, gboolean boxes, RecordedFrame *frame, GError **error)
{
  for (;;) {
    gboolean complete = TRUE, growing;
    gchar *line;
    gsize length;
    RecordReaderResult result = next_line (self, &line, &length, error);

    note_base (self);
    if (result == RECORD_READER_FRAME || result == RECORD_READER_MALFORMED)
      self->next_index++;
    if (result == RECORD_READER_END)
      return last_mot (self, frame);
    if (result != RECORD_READER_FRAME)
      return result;
    if (self->format == RECORD_FORMAT_AUTO && !detect (self, line))
      return refuse (self, error,
          g_error_new_literal (RECORD_ERROR, RECORD_ERROR_UNUSABLE, record_reader_guess (line)));
    growing = may_grow (self, line, length);
    if (self->format == RECORD_FORMAT_JSONL)
      result = next_jsonl (self, line, length, boxes, frame, &complete, error);
    else
      result = next_mot (self, line, length, frame, &complete, error);
    if (result == RECORD_READER_MALFORMED && growing)
      return unfinished (error);
    if (result != RECORD_READER_FRAME || complete)
      return result;
  }
}

RecordReaderResult
record_reader_next (RecordReader *self, RecordedFrame *frame, GError **error)
{
  return next_frame (self, TRUE, frame, error);
}

RecordReaderResult
record_reader_next_header (RecordReader *self, RecordedFrame *frame, GError **error)
{
  return next_frame (self, FALSE, frame, error);
}

RecordFormat
record_reader_format (RecordReader *self)
{
  return self->format;
}

guint64
record_reader_ignored (RecordReader *self)
{
  return self->ignored;
}

void
record_reader_continue (RecordReader *self, guint64 frame)
{
  self->take_all = TRUE;
  self->mot_frames = frame;
  self->last_line = line_reader_number (self->lines);
}

LineReader *
record_reader_lines (RecordReader *self)
{
  return self->lines;
}

gboolean
record_reader_seek (RecordReader *self, guint64 offset, GError **error)
{
  self->mot_open = FALSE;
  self->mot_frames = 0;
  return line_reader_seek (self->lines, offset, error);
}

gboolean
record_reader_rewind (RecordReader *self, GError **error)
{
  note_base (self);
  if (!record_reader_seek (self, self->base, error))
    return FALSE;
  self->next_index = self->base_index;
  self->format = self->requested_format;
  self->columns = 0;
  return TRUE;
}
