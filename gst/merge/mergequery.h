/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mergequery: what boxmerge answers to its neighbors and to applications. */
#pragma once

#include <gst/base/gstaggregator.h>

G_BEGIN_DECLS

/* Answers a query of a sink pad. Returns FALSE if it has no answer of its own. An ALLOCATION
 * query of the main stream is answered by the peer of `src`, because the main stream's memory
 * leaves unchanged; a branch may have any memory and its boxes are welcome. */
gboolean merge_query_answer (GstPad *src, gboolean is_main, GstQuery *query);

/* Returns a sample with this buffer of a pad, or NULL if that is NULL. Takes the buffer. */
GstSample *merge_query_sample (GstAggregatorPad *pad, GstBuffer *buffer);

G_END_DECLS
