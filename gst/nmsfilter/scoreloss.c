/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scoreloss: compares two counters per frame until the first loss of a stream, and one
 * flag after it.
 */
#include "scoreloss.h"

void
score_loss_init (ScoreLoss *loss)
{
  *loss = (ScoreLoss) {
    .streams = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
  };
}

void
score_loss_clear (ScoreLoss *loss)
{
  g_free (loss->stream);
  g_hash_table_unref (loss->streams);
}

void
score_loss_reset (ScoreLoss *loss)
{
  score_loss_clear (loss);
  score_loss_init (loss);
}

void
score_loss_begin_stream (ScoreLoss *loss, const gchar *stream)
{
  g_free (loss->stream);
  loss->stream = g_strdup (stream);
  loss->seen = FALSE;
  loss->noticed = g_hash_table_contains (loss->streams, stream);
}

static gboolean
threshold_is_set_for_unscored (const GArray *boxes, const BoxSuppressRules *rules)
{
  guint i;

  for (i = 0; i < boxes->len; i++) {
    const Box *box = &g_array_index (boxes, Box, i);

    if (box->state != BOX_STATE_NONE && !(box->flags & BOX_HAS_CONFIDENCE)
        && class_options_score_threshold (rules->options, CLASS_ID_OF_LABEL (box->label),
               rules->core.score_threshold)
            > -INFINITY)
      return TRUE;
  }
  return FALSE;
}

/* Returns why the loss matters, as the first sentence of a warning (static), or NULL. After one
 * loss it returns NULL for the rest of the stream. */
static const gchar *
notice (ScoreLoss *loss, const FilterStats *frame, const GArray *boxes,
    const BoxSuppressRules *rules)
{
  const gchar *reason = NULL;

  if (loss->noticed)
    return NULL;
  if (frame->unscored < frame->boxes_in)
    loss->seen = TRUE;
  if (frame->unscored == 0)
    return NULL;
  if (threshold_is_set_for_unscored (boxes, rules))
    reason = "Boxes arrive without a confidence, so the score threshold does not apply to them.";
  else if (loss->seen && frame->unscored == frame->boxes_in)
    reason = "The boxes arrive without a confidence; earlier boxes of this stream had one.";
  if (reason) {
    loss->noticed = TRUE;
    if (loss->stream)
      g_hash_table_add (loss->streams, g_strdup (loss->stream));
  }
  return reason;
}

void
score_loss_warn (ScoreLoss *loss, GstElement *element, const FilterStats *frame,
    const GArray *boxes, const BoxSuppressRules *rules)
{
  const gchar *reason = notice (loss, frame, boxes, rules);

  if (G_UNLIKELY (reason != NULL))
    GST_ELEMENT_WARNING (element, STREAM, FORMAT,
        ("%s Put nmsfilter before videoconvert, videoscale, videocrop and the like, because they "
         "drop confidences.",
            reason),
        ("%" G_GUINT64_FORMAT " of the %" G_GUINT64_FORMAT " boxes on this buffer have none",
            frame->unscored, frame->boxes_in));
}
