/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* scoreloss: warns once in a stream that boxes arrive without the confidence that they need. */
#pragma once

#include <gst/gst.h>

#include "boxsuppress.h"

G_BEGIN_DECLS

typedef struct
{
  gboolean seen;       /* a box of the stream had a confidence */
  gboolean noticed;    /* a loss was noticed in this stream */
  gboolean looked;     /* the elements upstream were searched for a converter */
  gchar *stream;       /* id of the current stream; NULL before the first stream */
  GHashTable *streams; /* set of the ids of streams with a loss */
} ScoreLoss;

/* Allocate and free the state, a ScoreLoss. */
gpointer score_loss_new (void);
void score_loss_free (gpointer loss);

/* Begins a stream. An element that interleaves streams sends a stream-start with
 * each of their buffers, so the losses of other streams are remembered. */
void score_loss_begin_stream (gpointer loss, const gchar *stream);

/* Posts the warning, see score_loss_warn. */
void score_loss_check (ScoreLoss *loss, GstElement *element, const BoxCounts *counts,
    const GArray *boxes, const BoxSuppressRules *rules);

/* Posts a warning of `element` if the loss matters, at most once in a stream: if a score
 * threshold, the global one or that of a class, is set for a box without a confidence, or if no
 * box of the frame has a confidence and earlier boxes of the stream had one, or a converter is
 * upstream with nothing between that could have attached boxes. Takes boxes with the
 * states that box_suppress_run wrote, and their numbers. */
static inline void
score_loss_warn (ScoreLoss *loss, GstElement *element, const BoxCounts *counts, const GArray *boxes,
    const BoxSuppressRules *rules)
{
  loss->seen |= counts->unscored < boxes->len;
  if (G_UNLIKELY (counts->unscored > 0 && !loss->noticed))
    score_loss_check (loss, element, counts, boxes, rules);
}

G_END_DECLS
