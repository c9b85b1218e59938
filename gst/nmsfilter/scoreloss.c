/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scoreloss: compares two counters per frame until the first loss of a stream, and one
 * flag after it.
 */
#include "scoreloss.h"

gpointer
score_loss_new (void)
{
  ScoreLoss *loss = g_new0 (ScoreLoss, 1);

  loss->streams = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return loss;
}

void
score_loss_free (gpointer data)
{
  ScoreLoss *loss = data;

  g_free (loss->stream);
  g_hash_table_unref (loss->streams);
  g_free (loss);
}

void
score_loss_begin_stream (gpointer data, const gchar *stream)
{
  ScoreLoss *loss = data;

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

void
score_loss_check (ScoreLoss *loss, GstElement *element, const BoxCounts *counts,
    const GArray *boxes, const BoxSuppressRules *rules)
{
  const gchar *reason = NULL;

  if (threshold_is_set_for_unscored (boxes, rules))
    reason = "Boxes arrive without a confidence, so the score threshold does not apply to them.";
  else if (loss->seen && counts->unscored == boxes->len)
    reason = "The boxes arrive without a confidence; earlier boxes of this stream had one.";
  if (reason == NULL)
    return;
  loss->noticed = TRUE;
  if (loss->stream)
    g_hash_table_add (loss->streams, g_strdup (loss->stream));
  GST_ELEMENT_WARNING (element, STREAM, FORMAT,
      ("%s Put nmsfilter before videoconvert, videoscale, videocrop and the like, because they "
       "drop confidences.",
          reason),
      ("%u of the %u boxes on this buffer have none", counts->unscored, boxes->len));
}
