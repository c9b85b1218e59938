/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "replaytext.h"

#include "boxpads.h"

void
replay_text_init (ReplayText *self)
{
  *self = (ReplayText) { .parser = jsonl_parser_new (), .line = g_string_new (NULL) };
  recorded_frame_init (&self->frame);
}

void
replay_text_clear (ReplayText *self)
{
  jsonl_parser_free (self->parser);
  recorded_frame_clear (&self->frame);
  g_string_free (self->line, TRUE);
  g_free (self->first_skipped);
}

void
replay_text_start (ReplayText *self, gboolean skip_errors, gsize max_line, LabelTable *labels)
{
  self->skip_errors = skip_errors;
  self->max_line = max_line;
  self->frame.labels = labels;
  self->counts = (RecordMatchCounts) { 0 };
  g_clear_pointer (&self->first_skipped, g_free);
}

void
replay_text_prefix_error (ReplayText *self, GError **error)
{
  g_prefix_error (error, " text at %" GST_TIME_FORMAT ": ", GST_TIME_ARGS (self->time));
}

/* Counts the line parsed last, which cannot be used. */
static void
skip_line (ReplayText *self, const gchar *reason)
{
  self->counts.skipped++;
  if (self->first_skipped == NULL)
    self->first_skipped = g_strdup (reason);
}

/* Counts the line parsed last as skipped, or returns RECORD_MATCH_FAILED. */
static RecordMatchResult
refuse (ReplayText *self, GError *reason, GError **error)
{
  replay_text_prefix_error (self, &reason);
  if (!self->skip_errors) {
    g_propagate_error (error, reason);
    return RECORD_MATCH_FAILED;
  }
  skip_line (self, reason->message);
  g_error_free (reason);
  return RECORD_MATCH_NONE;
}

RecordMatchResult
replay_text_parse (ReplayText *self, const gchar *line, gsize size, GstClockTime time,
    RecordedFrame **frame, GError **error)
{
  GError *reason = NULL;

  self->time = time;
  if (size > self->max_line) {
    g_set_error (&reason, RECORD_ERROR, RECORD_ERROR_MALFORMED,
        "a line of more than %" G_GSIZE_FORMAT " bytes (max-line)", self->max_line);
    return refuse (self, reason, error);
  }
  g_string_truncate (self->line, 0);
  g_string_append_len (self->line, line, size);
  box_pads_restore (self->line);
  if (self->line->len == 0)
    return RECORD_MATCH_NONE;
  if (!jsonl_parse (self->parser, self->line->str, self->line->len, &self->frame, &reason))
    return refuse (self, reason, error);
  self->counts.matched++;
  *frame = &self->frame;
  return RECORD_MATCH_FOUND;
}

void
replay_text_skip_found (ReplayText *self, const gchar *reason)
{
  self->counts.matched--;
  skip_line (self, reason);
}
