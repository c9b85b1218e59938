/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scoreloss: compares two counters per frame until the first loss of a stream, and one
 * flag after it. It looks at the elements upstream once in a stream, at its first frame whose boxes
 * all lack a confidence.
 */
#include "scoreloss.h"

#include <string.h>

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
  loss->looked = FALSE;
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

/* Whether an element of this class can convert video. In GStreamer 1.26 videoscale is no converter,
 * but a scaler. */
static gboolean
is_converter (const gchar *klass)
{
  return strstr (klass, "Converter/Video") || strstr (klass, "Video/Scaler");
}

/* Whether an element converts video from one format or size to another: a converter whose
 * caps differ on both sides. */
static gboolean
converts (GstElement *element, GstPad *src, const gchar *klass)
{
  GstPad *sink = gst_element_get_static_pad (element, "sink");
  GstCaps *from = sink ? gst_pad_get_current_caps (sink) : NULL;
  GstCaps *to = gst_pad_get_current_caps (src);
  const gboolean differ = from && to && !gst_caps_is_equal (from, to);

  gst_clear_caps (&from);
  gst_clear_caps (&to);
  gst_clear_object (&sink);
  return differ && is_converter (klass);
}

/* Returns whether an element upstream converts video, and so drops confidences, and all elements
 * after it attach no boxes: other converters, queue, capsfilter, identity, tee. */
static gboolean
converter_is_upstream (GstElement *element)
{
  GstPad *pad = gst_element_get_static_pad (element, "sink");
  gboolean found = FALSE;

  while (pad && !found) {
    GstPad *src = gst_pad_get_peer (pad);
    GstElement *parent = src ? gst_pad_get_parent_element (src) : NULL;
    const gchar *const klass = parent
        ? gst_element_get_metadata (parent, GST_ELEMENT_METADATA_KLASS)
        : NULL;

    gst_object_unref (pad);
    pad = NULL;
    if (klass && (g_str_equal (klass, "Generic") || is_converter (klass))) {
      found = converts (parent, src, klass);
      pad = gst_element_get_static_pad (parent, "sink");
    }
    gst_clear_object (&parent);
    gst_clear_object (&src);
  }
  gst_clear_object (&pad);
  return found;
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
  else if (!loss->looked && counts->unscored == boxes->len) {
    loss->looked = TRUE;
    if (converter_is_upstream (element))
      reason =
          "The boxes arrive without a confidence, and a converter is upstream: if the detector "
          "gives confidences, they were lost there.";
  }
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
