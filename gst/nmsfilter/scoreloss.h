/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* scoreloss: notices that boxes arrive without a confidence where that matters. */
#pragma once

#include <gst/gst.h>

#include "boxsuppress.h"
#include "filterstats.h"

G_BEGIN_DECLS

typedef struct
{
  gboolean seen;       /* a box of the stream had a confidence */
  gboolean noticed;    /* a loss was noticed in this stream */
  gchar *stream;       /* its id; NULL: no stream has begun */
  GHashTable *streams; /* set of the ids of streams with a loss */
} ScoreLoss;

void score_loss_init (ScoreLoss *loss);
void score_loss_clear (ScoreLoss *loss);

/* Forgets all streams. */
void score_loss_reset (ScoreLoss *loss);

/* Begins a stream. An element that interleaves streams sends a stream-start with
 * each of their buffers, so the losses of other streams are remembered. */
void score_loss_begin_stream (ScoreLoss *loss, const gchar *stream);

/* Posts a warning of `element` if the loss matters, at most once in a stream: if a score
 * threshold, the global one or that of a class, is set for a box without a confidence, or if no
 * box of the frame has a confidence and earlier boxes of the stream had one. Takes boxes with the
 * states that box_suppress_run wrote, and their counters. */
void score_loss_warn (ScoreLoss *loss, GstElement *element, const FilterStats *frame,
    const GArray *boxes, const BoxSuppressRules *rules);

G_END_DECLS
