/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* blockfilter: parses a frame, filters its boxes with boxlist, and writes it. */
#include "blockfilter.h"

#include <string.h>

#include "records/jsonl.h"
#include "records/mottext.h"

struct _BlockFilter
{
  RecordFormat from, to;
  BoxList *list;
  JsonlParser *parser;
  RecordedFrame frame;
  gboolean open; /* MOT text: `frame` has lines */
};

BlockFilter *
block_filter_new (BoxListSettings *settings, RecordFormat from, RecordFormat to)
{
  BlockFilter *self = g_new0 (BlockFilter, 1);

  self->from = from;
  self->to = to;
  self->list = box_list_new (settings);
  self->parser = jsonl_parser_new ();
  recorded_frame_init (&self->frame);
  return self;
}

void
block_filter_free (BlockFilter *self)
{
  if (self == NULL)
    return;
  box_list_free (self->list);
  jsonl_parser_free (self->parser);
  recorded_frame_clear (&self->frame);
  g_free (self);
}

/* Filters the boxes of the frame and writes it to the block. */
static gboolean
filter_frame (BlockFilter *self, Block *block, GError **error)
{
  RecordedFrame *frame = &self->frame;
  const guint read = frame->boxes->len;
  gint kept;

  if (!recorded_frame_fit (frame, frame->width, frame->height, error))
    return FALSE;
  kept = box_list_filter (self->list, frame->boxes, frame->width, frame->height, error);
  if (kept < 0)
    return FALSE;
  block->counts.frames++;
  block->counts.boxes += read;
  block->counts.kept += (guint) kept;
  if (self->to == RECORD_FORMAT_MOT)
    mot_text_format (frame, block->out);
  else
    jsonl_format (frame, block->out);
  return TRUE;
}

/* Filters a line of JSON, which is a frame. In MOT text its number is that of the line. */
static gboolean
filter_json (BlockFilter *self, Block *block, const gchar *line, gsize length, guint64 number,
    GError **error)
{
  if (!jsonl_parse (self->parser, line, length, &self->frame, error))
    return FALSE;
  self->frame.index = number - 1;
  return filter_frame (self, block, error);
}

/* Filters the frame that is complete, and begins the one with index `next`. */
static gboolean
finish_frame (BlockFilter *self, Block *block, guint64 next, GError **error)
{
  const guint64 index = self->frame.index;

  if (self->open && !filter_frame (self, block, error))
    return FALSE;
  recorded_frame_reset (&self->frame);
  self->frame.index = next;
  self->frame.dropped = next - index - 1;
  self->open = FALSE;
  return TRUE;
}

/* Adds a line of MOT text to its frame. Boxes that ground truth ignores are left out. */
static gboolean
filter_mot (BlockFilter *self, Block *block, const gchar *line, GError **error)
{
  const guint64 index = self->frame.index;
  MotTextLine parsed;

  if (!mot_text_parse_line (line, &parsed, error))
    return FALSE;
  if (index != G_MAXUINT64 && parsed.frame < index) {
    g_set_error (error, RECORD_ERROR, RECORD_ERROR_UNUSABLE,
        "frame %" G_GUINT64_FORMAT " comes after frame %" G_GUINT64_FORMAT
        "; \"sort -s -t, -k1,1n\" puts them in order",
        parsed.frame + 1, index + 1);
    return FALSE;
  }
  if (parsed.frame != index && !finish_frame (self, block, parsed.frame, error))
    return FALSE;
  self->open = TRUE;
  if (!parsed.ignored)
    g_array_append_val (self->frame.boxes, parsed.box);
  return TRUE;
}

/* Sets the error of the block, with the number of the line, and returns FALSE. */
static gboolean
fail (Block *block, guint64 number, GError *error)
{
  g_set_error (&block->error, error->domain, error->code, "%" G_GUINT64_FORMAT ": %s", number,
      error->message);
  g_error_free (error);
  return FALSE;
}

static gboolean
filter_line (BlockFilter *self, Block *block, const gchar *line, gsize length, guint64 number)
{
  GError *error = NULL;
  gboolean good;

  if (strspn (line, " \t\r") == length)
    return TRUE;
  good = self->from == RECORD_FORMAT_MOT ? filter_mot (self, block, line, &error)
                                         : filter_json (self, block, line, length, number, &error);
  return good || fail (block, number, error);
}

void
block_filter_run (BlockFilter *self, Block *block)
{
  gchar *line = block->text->str, *end = line + block->text->len;
  guint64 number = block->lines_before;
  GError *error = NULL;

  recorded_frame_reset (&self->frame);
  self->frame.index = block->frames_before - 1; /* the index of the frame before */
  self->open = FALSE;
  while (line < end) {
    gchar *newline = memchr (line, '\n', end - line);
    gchar *line_end = newline ? newline : end;

    *line_end = '\0';
    if (!filter_line (self, block, line, line_end - line, ++number))
      return;
    line = line_end + 1;
  }
  if (self->open && !filter_frame (self, block, &error))
    fail (block, number, error);
}
