/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * batches: buffers with a GstAnalyticsBatchMeta, as analyticscombiner of GStreamer 1.28 makes
 * them, for the tests of each element. Streams are counted from 0, and so are the objects
 * (buffers, buffer lists, events) of a stream.
 */
#pragma once

#include <gst/analytics/analytics.h>

#include "gstboxes.h"

#define BATCH_CAPS "multistream/x-analytics-batch(meta:GstAnalyticsBatchMeta)"

/* Returns a batch of 100 ms with streams that have neither events nor objects. */
GstBuffer *batches_new (GstClockTime pts, guint n_streams);

/* Adds an event that holds at the begin of the batch, and takes it. */
void batches_add_sticky (GstBuffer *batch, guint stream, GstEvent *event);

/* Adds a stream-start with this id, caps, and a segment in time that begins at `start`, with
 * stream time 0 there. Each may be left out: id and caps are NULL, start is
 * GST_CLOCK_TIME_NONE. */
void batches_begin_stream (GstBuffer *batch, guint stream, const gchar *id, const gchar *caps,
    GstClockTime start);

/* Adds a buffer, a buffer list or an event, and takes it. */
void batches_add (GstBuffer *batch, guint stream, gpointer object);

/* Returns an object, which the batch owns. */
gpointer batches_get (GstBuffer *batch, guint stream, guint object);

/* Fails unless the buffer `object` of a stream has exactly the regions with these ids. */
#define batches_assert_ids(batch, stream, object, expected) \
  assert_ids (GST_BUFFER (batches_get (batch, stream, object)), expected)

/* Returns a frame with the overlapping regions 1 (score 0.9) and 2 (0.8), 40 x 40 pixels at
 * x, 0. */
GstBuffer *batches_pair_new (GstClockTime pts, gint x);

/* Returns a frame with the region 1, 40 x 40 pixels at x, 0. */
GstBuffer *batches_single_new (GstClockTime pts, gint x);

/* Returns a counter of a stream in the property "stats". Fails if there is none. */
guint64 batches_stat_of (GstElement *element, guint stream, const gchar *name);
