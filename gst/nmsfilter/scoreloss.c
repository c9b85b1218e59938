/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scoreloss: compares two counters per frame until the first loss of a stream, and one
 * flag after it. The pipeline is searched once for a stream.
 *
 * The search goes upstream through elements that hand buffers on unchanged. It ends at
 * the first other element. If that is not a converter, it may be the detector, and
 * converters in front of a detector drop nothing.
 */
#include "scoreloss.h"

#include <string.h>

#include <gst/base/gstbasetransform.h>

/* ------------------------------------------------------------------- noticing */

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

/* ------------------------------------------------------------------ the search */

/* Returns the source pad of the element that feeds `sinkpad`, or NULL. Ghost pads, of
 * bins entered and of bins left, are followed to the pads inside and outside. */
static GstPad *
find_source (GstPad *sinkpad)
{
  GstPad *pad = gst_pad_get_peer (sinkpad);

  while (pad) {
    GstPad *next = NULL;

    if (GST_IS_GHOST_PAD (pad)) {
      next = gst_ghost_pad_get_target (GST_GHOST_PAD (pad));
    } else if (GST_IS_PROXY_PAD (pad)) {
      GstProxyPad *outside = gst_proxy_pad_get_internal (GST_PROXY_PAD (pad));

      if (outside)
        next = gst_pad_get_peer (GST_PAD (outside));
      g_clear_object (&outside);
    } else {
      return pad;
    }
    gst_object_unref (pad);
    pad = next;
  }
  return NULL;
}

/* Returns the only sink pad that `srcpad` gets its buffers from, or NULL if there is no
 * such pad, or more than one. */
static GstPad *
find_sink (GstPad *srcpad)
{
  GstIterator *links = gst_pad_iterate_internal_links (srcpad);
  GValue item = G_VALUE_INIT;
  GstPad *found = NULL;
  guint count = 0;

  while (links && gst_iterator_next (links, &item) == GST_ITERATOR_OK) {
    if (count++ == 0)
      found = g_value_dup_object (&item);
    g_value_reset (&item);
  }
  g_value_unset (&item);
  if (links)
    gst_iterator_free (links);
  if (count > 1)
    g_clear_object (&found);
  return found;
}

static const gchar *
factory_name (GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory (element);

  return factory ? GST_OBJECT_NAME (factory) : G_OBJECT_TYPE_NAME (element);
}

/* Returns whether the element moves or cuts the pixels. */
static gboolean
moves_pixels (GstElement *element)
{
  static const gchar *const names[] = { "videobox", "videocrop", "videoflip", NULL };

  return g_strv_contains (names, factory_name (element));
}

/* Returns whether the element converts or scales video, or moves or cuts its
 * pixels: such elements copy at most the rectangle of a region. Since GStreamer 1.26
 * the class of videoscale is Scaler without Converter. */
static gboolean
drops_confidences (GstElement *element)
{
  const gchar *klass = gst_element_get_metadata (element, GST_ELEMENT_METADATA_KLASS);

  return (klass && strstr (klass, "Video")
             && (strstr (klass, "Converter") || strstr (klass, "Scaler")))
      || moves_pixels (element);
}

static gboolean
hands_buffers_on (GstElement *element)
{
  static const gchar *const names[] = { "boxoverlay", "boxrecord", "boxtransform", "nmsfilter",
    NULL };
  GstElementFactory *factory = gst_element_get_factory (element);
  const gchar *plugin = factory ? gst_plugin_feature_get_plugin_name (GST_PLUGIN_FEATURE (factory))
                                : NULL;

  if (drops_confidences (element))
    return GST_IS_BASE_TRANSFORM (element)
        && gst_base_transform_is_passthrough (GST_BASE_TRANSFORM (element));
  return g_strcmp0 (plugin, "coreelements") == 0 || g_strv_contains (names, factory_name (element));
}

/* Returns the nearest element upstream that does more than hand buffers on, the first
 * element of the pipeline if each only hands them on, or NULL if the pad is not linked. */
static GstElement *
find_suspect (GstPad *sinkpad)
{
  GstElement *element = NULL;
  GstPad *sink = gst_object_ref (sinkpad), *source;

  while (sink && (source = find_source (sink)) != NULL) {
    GstElement *next = gst_pad_get_parent_element (source);

    gst_clear_object (&sink);
    if (next) {
      gst_clear_object (&element);
      element = next;
      if (hands_buffers_on (element))
        sink = find_sink (source);
    }
    gst_object_unref (source);
  }
  gst_clear_object (&sink);
  return element;
}

/* Returns the second sentence of the warning. Free it. */
static gchar *
advise (GstPad *sinkpad)
{
  GstElement *suspect = find_suspect (sinkpad);
  gchar *advice;

  if (suspect == NULL)
    return g_strdup ("Put nmsfilter before videoconvert, videoscale and the like: they drop "
                     "confidences.");
  if (drops_confidences (suspect))
    advice = g_strdup_printf ("%s (%s) probably dropped it: put nmsfilter before that element%s.",
        GST_OBJECT_NAME (suspect), factory_name (suspect),
        moves_pixels (suspect)
            ? ", or send the boxes around it and move them with boxtransform (docs/geometry.md)"
            : "");
  else
    advice = g_strdup_printf ("They come from %s (%s), which attached or received them "
                              "without one, or dropped it.",
        GST_OBJECT_NAME (suspect), factory_name (suspect));
  gst_object_unref (suspect);
  return advice;
}

void
score_loss_warn (ScoreLoss *loss, GstBaseTransform *element, const FilterStats *frame,
    const GArray *boxes, const BoxSuppressRules *rules)
{
  const gchar *reason = notice (loss, frame, boxes, rules);
  gchar *advice;

  if (G_LIKELY (reason == NULL))
    return;
  advice = advise (GST_BASE_TRANSFORM_SINK_PAD (element));
  GST_ELEMENT_WARNING (element, STREAM, FORMAT, ("%s %s", reason, advice),
      ("%" G_GUINT64_FORMAT " of the %" G_GUINT64_FORMAT " boxes on this buffer have none",
          frame->unscored, frame->boxes_in));
  g_free (advice);
}
