/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mergequery: what boxmerge answers to its neighbors and to applications. */
#pragma once

#include <gst/base/gstaggregator.h>

G_BEGIN_DECLS

/* Answers an ALLOCATION query of the main stream as the peer of `src` does, because the main
 * stream's memory leaves unchanged. Returns FALSE for other queries. */
gboolean merge_query_answer_main (GstPad *src, GstQuery *query);

/* Answers ALLOCATION and DRAIN queries of a branch, of whose buffers only the boxes are used.
 * Returns FALSE for other queries. */
gboolean merge_query_answer_branch (GstQuery *query);

/* Returns a sample with this buffer of a pad, or NULL if that is NULL. Takes the buffer. */
GstSample *merge_query_sample (GstAggregatorPad *pad, GstBuffer *buffer);

G_END_DECLS
