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

/* Returns whether box i overlaps `other`, by box i's threshold and the metric of the options. */
bool ref_joins (const RefCall *call, size_t i, const RefBox *other);

/* Returns the score of a member as a weight: from 2^-64 to 2^32. */
float ref_weight_of (float score);

/* Replaces the box of `head` by that around it and the other boxes i of which of[i] is the head,
 * along its sides. */
void ref_merge (const RefCall *call, int32_t head, const int32_t *of, float box[4]);

/* Returns a member in the coordinates that are rotated about the origin by the angle of its head.
 * `around`: the box around the member; otherwise the member about its centre with the nearest sides
 * that are parallel to those of the head. Its score is that of the member. */
RefBox ref_turn (const RefBox *head, const RefBox *member, bool around);

/* Rotates the centre of a box in these coordinates back. */
void ref_turn_back (const RefBox *head, float box[4]);

/* Enters `count` clusters, in the order in which they are kept while the caps allow it. `of` has
 * the number of each box's head, or -1. */
void ref_enter_clusters (const RefCall *call, const RefCluster *clusters, size_t count,
    const int32_t *of, RefResult *result);
