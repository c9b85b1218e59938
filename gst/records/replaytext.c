/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "replaytext.h"

#include <string.h>

void
replay_text_init (ReplayText *self, RecordMatchCounts *counts)
{
  *self = (ReplayText) {
    .counts = counts,
    .parser = jsonl_parser_new (),
    .line = g_string_new (NULL),
  };
  recorded_frame_init (&self->frame);
}

void
replay_text_clear (ReplayText *self)
{
  jsonl_parser_free (self->parser);
  recorded_frame_clear (&self->frame);
  g_string_free (self->line, TRUE);
}

void
replay_text_start (ReplayText *self, gboolean skip_errors, gsize max_line, LabelTable *labels)
{
  self->skip_errors = skip_errors;
  self->max_line = max_line;
  self->frame.labels = labels;
}

/* Removes the end of line and the NULs that a demuxer adds behind it, and replaces the
 * entities of markup (&quot; ...) if the demuxer has escaped the quotes. */
static void
restore (GString *line)
{
  g_string_truncate (line, strlen (g_strchomp (line->str)));
  /* a line has quotes, unless they were escaped as &quot; */
  if (strchr (line->str, '"') != NULL)
    return;
  g_string_replace (line, "&quot;", "\"", 0);
  g_string_replace (line, "&apos;", "'", 0);
  g_string_replace (line, "&#39;", "'", 0);
  g_string_replace (line, "&lt;", "<", 0);
  g_string_replace (line, "&gt;", ">", 0);
  g_string_replace (line, "&amp;", "&", 0);
}

RecordMatchResult
replay_text_parse (ReplayText *self, const RecordSearch *search, GstClockTime time,
    const GstMapInfo *line, RecordedFrame **frame, GError **error)
{
  GError *reason = NULL;

  g_string_truncate (self->line, 0);
  if (line->size > self->max_line) {
    g_set_error (&reason, RECORD_ERROR, RECORD_ERROR_MALFORMED,
        "a line of more than %" G_GSIZE_FORMAT " bytes (max-line)", self->max_line);
  } else {
    g_string_append_len (self->line, (const gchar *) line->data, (gssize) line->size);
    restore (self->line);
    if (self->line->len == 0)
      return RECORD_MATCH_NONE;
  }
  if (reason == NULL
      && jsonl_parse (self->parser, self->line->str, self->line->len, &self->frame, &reason)
      && recorded_frame_fit (&self->frame, search->width, search->height, &reason)) {
    self->counts->matched++;
    *frame = &self->frame;
    return RECORD_MATCH_FOUND;
  }
  g_prefix_error (&reason, " text at %" GST_TIME_FORMAT ": ", GST_TIME_ARGS (time));
  return record_match_refuse (self->counts, self->skip_errors, reason, error);
}
