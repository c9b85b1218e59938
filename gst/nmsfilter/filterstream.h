/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filterstream: what nmsfilter keeps of each stream of the batches, in BatchStream.data. */
#pragma once

#include <gst/gst.h>

#include "filterstats.h"
#include "meta/batchmeta.h"
#include "scoreloss.h"

G_BEGIN_DECLS

typedef struct
{
  FilterStats stats;    /* since READY; under the object lock */
  ScoreLoss score_loss; /* used by the streaming thread only */
} FilterStream;

/* Allocate and free it, as BatchFuncs wants it. */
gpointer filter_stream_new (GstObject *element);
void filter_stream_free (gpointer stream);

/* Handles an event of a stream, as BatchFuncs wants it. */
void filter_stream_event (GstObject *element, BatchStream *stream, GstEvent *event);

/* Sets for each stream a field stream-INDEX: a structure of that name with stream-id (string, if
 * it is known) and the fields of filter_stats_to_structure. Call with the object lock. */
void filter_streams_to_structure (BatchMeta *batch, GstStructure *structure);

G_END_DECLS
