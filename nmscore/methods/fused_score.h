/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fused_score: the score of a cluster of method weighted, and the weights of its sources. */
#ifndef NMS_FUSED_SCORE_H
#define NMS_FUSED_SCORE_H

#include "frame/frame.h"

/* Members of a cluster, added up in the order of joining. */
typedef struct nms__cluster_sums {
  uint32_t members;
  float scores;        /* sum of the members' scores */
  float best;          /* greatest of them */
  float weights;       /* sum of the weights of the members' sources */
  float found, absent; /* sums of the weights of the sources that have a member, and of the others;
                        * only for the two scores that use them */
} nms__cluster_sums;

/* Returns the number of sources. */
static inline size_t
nms__source_count (const nms__method *o)
{
  return o->source_count ? o->source_count : 1;
}

static inline float
nms__source_weight (const nms__method *o, size_t source)
{
  return o->source_weights ? o->source_weights[source] : 1.0f;
}

/* Returns the score of a cluster, an nms_fused_score. `all` is the sum of the weights of all
 * sources, `greatest` the greatest of them. */
float nms__fused_score (const nms__method *options, const nms__cluster_sums *sums, float all,
    float greatest);

#endif
