/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* blockfilter: parses a frame, decides its boxes with boxsuppress, and writes it. */
#include "blockfilter.h"

#include <string.h>

#include "meta/parentlinks.h"
#include "records/cocotext.h"
#include "records/jsonl.h"
#include "records/mottext.h"

struct _BlockFilter
{
  TextFormat from, to;
  const CsvColumns *columns; /* of the input; not owned */
  gboolean tag;
  BoxSuppressRules rules;
  nms_context *context;
  BoxSuppress *suppress;
  JsonlParser *parser;
  CocoParser *coco;
  RecordedFrame frame;
  gboolean open; /* not JSON Lines: `frame` has lines */
  GArray *kept;  /* Box */
};

BlockFilter *
block_filter_new (const FilterSettings *settings, const TextBlocks *blocks, TextFormat to)
{
  BlockFilter *self = g_new0 (BlockFilter, 1);

  self->from = text_blocks_format (blocks);
  self->columns = text_blocks_columns (blocks);
  self->to = to;
  self->tag = settings->action == GST_NMS_ACTION_TAG;
  filter_settings_get_rules (settings, &self->rules);
  self->context = nms_context_new ();
  g_assert (self->context != NULL); /* as every allocation of GLib */
  self->suppress = box_suppress_new (self->context);
  self->parser = jsonl_parser_new ();
  self->coco = coco_parser_new ();
  recorded_frame_init (&self->frame);
  self->kept = g_array_new (FALSE, FALSE, sizeof (Box));
  return self;
}

void
block_filter_free (BlockFilter *self)
{
  if (self == NULL)
    return;
  box_suppress_rules_clear (&self->rules);
  box_suppress_free (self->suppress);
  nms_context_free (&self->context);
  jsonl_parser_free (self->parser);
  coco_parser_free (self->coco);
  recorded_frame_clear (&self->frame);
  g_array_unref (self->kept);
  g_free (self);
}

/* Sets the parent of each box, as reading metadata does. */
static void
link_parents (GArray *boxes)
{
  gboolean parents = FALSE;

  for (guint i = 0; i < boxes->len; i++) {
    Box *box = &g_array_index (boxes, Box, i);

    box->parent = -1;
    parents |= box->parent_id != 0;
  }
  if (parents) {
    parent_links_find (boxes);
    parent_links_break_rings (boxes);
  }
}

/* Replaces the boxes of the frame by those that are not dropped. A part whose parent is dropped
 * has no parent afterwards, as box_remove leaves it. */
static void
remove_dropped (BlockFilter *self)
{
  GArray *boxes = self->frame.boxes;

  g_array_set_size (self->kept, 0);
  for (guint i = 0; i < boxes->len; i++) {
    Box box = g_array_index (boxes, Box, i);

    if (box_state_is_drop (box.state))
      continue;
    box.state = BOX_STATE_NONE;
    if (box.parent >= 0 && box_state_is_drop (g_array_index (boxes, Box, box.parent).state))
      box.parent_id = 0;
    g_array_append_val (self->kept, box);
  }
  self->frame.boxes = self->kept;
  self->kept = boxes;
}

/* Appends the frame to the output. */
static gboolean
format_frame (const BlockFilter *self, GString *out, GError **error)
{
  switch (self->to) {
    case TEXT_FORMAT_COCO:
      return coco_text_format (&self->frame, out, error);
    case TEXT_FORMAT_CSV:
      return csv_text_format (&self->frame, out, error);
    case TEXT_FORMAT_MOT:
      mot_text_format (&self->frame, out);
      return TRUE;
    default:
      jsonl_format (&self->frame, out);
      return TRUE;
  }
}

/* Decides the boxes of the frame and writes it to the block. */
static gboolean
filter_frame (BlockFilter *self, Block *block, GError **error)
{
  RecordedFrame *frame = &self->frame;
  BoxSuppressCounts counts;
  gint res;

  if (!recorded_frame_fit (frame, frame->width, frame->height, error))
    return FALSE;
  link_parents (frame->boxes);
  self->rules.width = frame->width;
  self->rules.height = frame->height;
  res = box_suppress_run (self->suppress, frame->boxes, &self->rules, self->tag, &counts);
  if (res < 0) {
    g_set_error_literal (error, RECORD_ERROR, RECORD_ERROR_UNUSABLE,
        nms_context_error (self->context));
    return FALSE;
  }
  block->counts.frames++;
  block->counts.boxes += frame->boxes->len;
  block->counts.kept += frame->boxes->len - counts.dropped;
  for (guint i = 0; i < frame->boxes->len && counts.rewritten > 0; i++) {
    Box *box = &g_array_index (frame->boxes, Box, i);

    if (box->flags & BOX_MOVED)
      box_place (box, frame->width, frame->height);
  }
  if (!self->tag)
    remove_dropped (self);
  return format_frame (self, block->out, error);
}

/* Filters a line of JSON, which is a frame. In other formats its number is that of the line. */
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

/* Refuses a frame that does not come after the one before. */
static gboolean
refuse_order (const BlockFilter *self, guint64 frame, GError **error)
{
  static const struct
  {
    const gchar *frame, *advice;
    guint first;
  } words[] = {
    [TEXT_FORMAT_MOT] = { "frame", "\"sort -s -t, -k1,1n\" puts them in order", 1 },
    [TEXT_FORMAT_COCO] = { "image_id", "\"jq 'sort_by (.image_id)'\" puts them in order", 0 },
    [TEXT_FORMAT_CSV] = { "frame", "sort the lines by frame", 0 },
  };

  g_set_error (error, RECORD_ERROR, RECORD_ERROR_UNUSABLE,
      "%s %" G_GUINT64_FORMAT " comes after %s %" G_GUINT64_FORMAT "; %s", words[self->from].frame,
      frame + words[self->from].first, words[self->from].frame,
      self->frame.index + words[self->from].first, words[self->from].advice);
  return FALSE;
}

/* Parses a line with one box. *ignored: it is one that ground truth ignores. */
static gboolean
parse_box (BlockFilter *self, gchar *line, gsize length, guint64 *frame, Box *box,
    gboolean *ignored, GError **error)
{
  MotTextLine parsed;

  *ignored = FALSE;
  if (self->from == TEXT_FORMAT_COCO)
    return coco_text_parse (self->coco, line, length, frame, box, error);
  if (self->from == TEXT_FORMAT_CSV)
    return csv_text_parse (self->columns, line, NULL, frame, box, error);
  if (!mot_text_parse_line (line, &parsed, error))
    return FALSE;
  *frame = parsed.frame;
  *box = parsed.box;
  *ignored = parsed.ignored;
  return TRUE;
}

/* Adds a line with one box to its frame. Boxes that ground truth ignores are left out. */
static gboolean
filter_box (BlockFilter *self, Block *block, gchar *line, gsize length, GError **error)
{
  const guint64 index = self->frame.index;
  gboolean ignored;
  guint64 frame;
  Box box;

  if (!parse_box (self, line, length, &frame, &box, &ignored, error))
    return FALSE;
  if (index != G_MAXUINT64 && frame < index)
    return refuse_order (self, frame, error);
  if (frame != index && !finish_frame (self, block, frame, error))
    return FALSE;
  self->open = TRUE;
  if (!ignored)
    g_array_append_val (self->frame.boxes, box);
  return TRUE;
}

/* Sets the error of the block, with the number of the line, and returns FALSE. */
static gboolean
fail (const BlockFilter *self, Block *block, guint64 number, GError *error)
{
  g_set_error (&block->error, error->domain, error->code, "%s%" G_GUINT64_FORMAT ": %s",
      self->from == TEXT_FORMAT_COCO ? " entry " : "", number, error->message);
  g_error_free (error);
  return FALSE;
}

static gboolean
filter_line (BlockFilter *self, Block *block, gchar *line, gsize length, guint64 number)
{
  GError *error = NULL;
  gboolean good;

  if (strspn (line, " \t\r") == length)
    return TRUE;
  good = self->from == TEXT_FORMAT_JSONL ? filter_json (self, block, line, length, number, &error)
                                         : filter_box (self, block, line, length, &error);
  return good || fail (self, block, number, error);
}

void
block_filter_run (BlockFilter *self, Block *block)
{
  gchar *line = block->text->str, *end = line + block->text->len;
  guint64 number = block->begin.line;
  GError *error = NULL;

  recorded_frame_reset (&self->frame);
  self->frame.index = block->begin.frame - 1; /* of the frame before */
  self->open = FALSE;
  while (line < end) {
    gchar *newline = memchr (line, '\n', end - line);
    gchar *line_end = newline ? newline : end;

    *line_end = '\0';
    if (!filter_line (self, block, line, line_end - line, ++number))
      return;
    line = line_end + 1;
  }
  if (self->from != TEXT_FORMAT_JSONL && !finish_frame (self, block, block->end.frame, &error))
    fail (self, block, number, error);
}
