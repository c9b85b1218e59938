/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fused_box: the operations on the corners x1 y1 x2 y2 of a box that is made from several boxes.
 * Every operation is rounded to binary32, in the order that docs/methods.md defines.
 */
#ifndef NMS_FUSED_BOX_H
#define NMS_FUSED_BOX_H

/* Returns a score as a weight, so that sums of weights and of weighted corners stay finite. */
static inline float
nms__fused_weight (float score)
{
  return score < 0x1p-64f ? 0x1p-64f : score > 0x1p32f ? 0x1p32f : score;
}

/* Widens `box` to the common bounding box of it and `member`. */
static inline void
nms__fused_widen (float box[4], const float member[4])
{
  for (int i = 0; i < 2; i++)
    box[i] = member[i] < box[i] ? member[i] : box[i];
  for (int i = 2; i < 4; i++)
    box[i] = member[i] > box[i] ? member[i] : box[i];
}

/* Sets `sum` to the first member's corners times its weight. */
static inline void
nms__fused_start (float sum[4], const float member[4], float weight)
{
  for (int i = 0; i < 4; i++)
    sum[i] = weight * member[i];
}

static inline void
nms__fused_add (float sum[4], const float member[4], float weight)
{
  for (int i = 0; i < 4; i++)
    sum[i] += weight * member[i];
}

/* Writes the mean to `box`, which may be `sum`. */
static inline void
nms__fused_mean (const float sum[4], float weights, float box[4])
{
  for (int i = 0; i < 4; i++)
    box[i] = sum[i] / weights;
}

#endif
