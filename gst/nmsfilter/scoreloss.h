/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scoreloss: notices that boxes arrive without a confidence where that matters,
 * and names the element upstream that most likely dropped it.
 */
#pragma once

#include <gst/gst.h>

#include "boxsuppress.h"
#include "filterstats.h"

G_BEGIN_DECLS

typedef struct
{
  gboolean seen;                /* a box of the stream had a confidence */
  gboolean noticed;             /* a loss was noticed in this stream */
  gchar *stream;                /* its id; NULL: no stream has begun */
  GHashTable *streams;          /* set of the ids of streams with a loss */
} ScoreLoss;

void score_loss_init (ScoreLoss * loss);
void score_loss_clear (ScoreLoss * loss);

/* Forgets all streams. */
void score_loss_reset (ScoreLoss * loss);

/* Begins a stream. An element that interleaves streams sends a stream-start with
 * each of their buffers, so the losses of other streams are remembered. */
void score_loss_begin_stream (ScoreLoss * loss, const gchar * stream);

/* Returns why the loss matters, as the first sentence of a warning (static), or NULL.
 * It matters if a score threshold, the global one or that of a class, is set for a box
 * without a confidence, or if no box of the frame has a confidence and earlier boxes of
 * the stream had one. After one loss it returns NULL for the rest of the stream. Takes
 * boxes with the states that box_suppress_run wrote, and their counters. */
const gchar *score_loss_notice (ScoreLoss * loss, const FilterStats * frame,
    const GArray * boxes, const BoxSuppressRules * rules);

/* Returns the second sentence of the warning, which names the element that most likely
 * dropped the confidences of the boxes that arrive at `sinkpad`. Free it. */
gchar *score_loss_advice (GstPad * sinkpad);

G_END_DECLS
