/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * refclusters: clusters of boxes, of which each becomes one box, for the files of the reference.
 */
#pragma once

#include "refmethods.h"

typedef struct {
  int32_t head; /* its best-ranked member */
  float score, box[4];
} RefCluster;

/* Returns the numbers of the boxes that take part, by descending score; of equal scores the lower
 * number is first. Sets *length. The caller frees the list. */
int32_t *ref_order (const RefCall *call, size_t *length);

/* Returns whether box i overlaps `other`, by box i's threshold and the metric of the options. */
bool ref_joins (const RefCall *call, size_t i, const RefBox *other);

/* Returns the score of a member as a weight: from 2^-64 to 2^32. */
float ref_weight_of (float score);

/* Widens the box x1 y1 x2 y2 to the common bounding box of it and a member. */
void ref_widen (float box[4], const RefBox *member);

/* Replaces all boxes by their upright bounding boxes. */
void ref_make_upright (RefCall *call);

/* Enters `count` clusters, in the order in which they are kept while the caps allow it. `of` has
 * the number of each box's head, or -1. */
void ref_enter_clusters (const RefCall *call, const RefCluster *clusters, size_t count,
    const int32_t *of, RefResult *result);
