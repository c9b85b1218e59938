/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * merge: methods merge, greedy-merge and average. The boxes are visited in rank order. A box that
 * no better one has claimed is the head of a cluster. With method merge every box, with the other
 * two every kept head claims the boxes below it that it overlaps and that are unclaimed. A claimed
 * box joins its cluster when its turn comes, because the sums are in rank order.
 */
#include "box_blocks.h"
#include "fused_box.h"
#include "method.h"
#include "frame/order.h"

#include <string.h>

#define NO_CLUSTER UINT32_MAX

typedef struct merge {
  nms__frame *frame;
  nms__box_blocks blocks;
  uint64_t *order, *order2; /* packed keys, for sorting */
  uint64_t *unclaimed;      /* a bit for each place: the boxes whose turn has not come and that are
                             * in no cluster */
  uint32_t *head;           /* frame position of the cluster's head, by frame position */
  uint32_t *cluster;        /* number in `kept`, by frame position of the head; NO_CLUSTER if the
                             * head is over-cap */
  float *weights;           /* of method average: sum of the weights of a cluster, by number; 0: one
                             * member */
} merge;

static merge
merge_layout (nms__arena *a, size_t boxes)
{
  merge m = { NULL };

  nms__box_blocks_take (a, &m.blocks, boxes);
  m.order = nms__take (a, boxes + NMS__KEY_PADDING, sizeof *m.order);
  m.order2 = nms__take (a, boxes + NMS__KEY_PADDING, sizeof *m.order2);
  m.unclaimed = nms__take (a, boxes / NMS__BLOCK + 1, sizeof *m.unclaimed);
  m.head = nms__take (a, boxes, sizeof *m.head);
  m.cluster = nms__take (a, boxes, sizeof *m.cluster);
  m.weights = nms__take (a, boxes, sizeof *m.weights);
  return m;
}

size_t
nms__merge_scratch_size (size_t boxes)
{
  nms__arena arena = { NULL, 0 };
  merge_layout (&arena, boxes);
  return arena.used;
}

/* Lets the box at `pos` claim the boxes that it overlaps for the cluster of `head`, except parts of
 * the head and its parent. */
static void
claim (const merge *m, size_t pos, uint32_t head)
{
  const nms__frame *f = m->frame;
  nms__row row;

  nms__row_begin (&row, f, &m->blocks, m->blocks.place[pos], m->unclaimed);
  while (nms__row_next (&row))
    for (uint64_t left = row.mask; left; left &= left - 1) {
      const unsigned i = nms__lowest_bit (left);
      const uint32_t other = m->blocks.position[row.first + i];
      if (!nms__overlaps (f, other, row.value[i])
          || nms__related (f, f->index[head], f->index[other]))
        continue;
      m->head[other] = head;
      nms__place_clear (m->unclaimed, row.first + i);
    }
}

/* Makes the box at `pos` the head of a cluster if the caps allow it. Returns whether they do. */
static int
start_cluster (const merge *m, size_t pos)
{
  nms__frame *f = m->frame;
  const size_t k = f->kept_count;

  m->head[pos] = (uint32_t) pos;
  nms__place_clear (m->unclaimed, m->blocks.place[pos]);
  m->cluster[pos] = NO_CLUSTER;
  if (!nms__take_next (f, pos, nms__method_score (f, pos)))
    return 0;
  m->cluster[pos] = (uint32_t) k;
  m->weights[k] = 0.0f;
  if (f->kept_box)
    nms__fused_corners (f, pos, &f->kept_box[4 * k]);
  return 1;
}

/* Adds the box at `pos` to the sums of cluster k, whose box holds the sum of the weighted corners
 * from its second member on. */
static void
add (const merge *m, size_t pos, const float corners[4], uint32_t k, float box[4])
{
  const nms__frame *f = m->frame;
  const float weight = nms__fused_weight (nms__method_score (f, pos));

  if (m->weights[k] == 0.0f) {
    m->weights[k] = nms__fused_weight (nms__method_score (f, m->head[pos]));
    nms__fused_start (box, box, m->weights[k]);
  }
  m->weights[k] += weight;
  nms__fused_add (box, corners, weight);
}

/* Adds the claimed box at `pos` to its cluster. */
static void
join (const merge *m, size_t pos, uint32_t k)
{
  nms__frame *f = m->frame;
  const float corners[4] = { f->x1[pos], f->y1[pos], f->x2[pos], f->y2[pos] };

  nms__suppress (f, pos, m->head[pos]);
  if (!f->kept_box)
    return;
  if (f->method.method == NMS_METHOD_AVERAGE)
    add (m, pos, corners, k, &f->kept_box[4 * (size_t) k]);
  else
    nms__fused_widen (&f->kept_box[4 * (size_t) k], corners);
}

/* Decides the box at `pos`. Returns whether it claims others. */
static int
decide (const merge *m, size_t pos, int transitive)
{
  nms__frame *f = m->frame;

  if (nms__place_is_set (m->unclaimed, m->blocks.place[pos]))
    return start_cluster (m, pos) || transitive;
  const uint32_t k = m->cluster[m->head[pos]];
  if (k == NO_CLUSTER || (!transitive && nms__cap_is_full (f, pos)))
    nms__over_cap (f, pos);
  else
    join (m, pos, k);
  return transitive;
}

static void
divide_sums (const merge *m)
{
  const nms__frame *f = m->frame;

  for (size_t k = 0; f->kept_box && k < f->kept_count; k++)
    if (m->weights[k] > 0.0f)
      nms__fused_mean (&f->kept_box[4 * k], m->weights[k], &f->kept_box[4 * k]);
}

void
nms__merge (nms__frame *f)
{
  nms__arena arena = { f->method_scratch, 0 };
  merge m = merge_layout (&arena, f->capacity);
  const int transitive = f->method.method == NMS_METHOD_MERGE;

  m.frame = f;
  nms__box_blocks_fill (f, &m.blocks);
  memset (m.unclaimed, 0xff, (f->capacity / NMS__BLOCK + 1) * sizeof *m.unclaimed);
  memcpy (m.order, f->packed, f->count * sizeof *m.order);
  const uint64_t *order = nms__sort (f->kernels, m.order, m.order2, f->count);
  for (size_t n = 0; n < f->count; n++) {
    const uint32_t pos = nms__packed_position (order[n]);
    if (decide (&m, pos, transitive))
      claim (&m, pos, m.head[pos]);
  }
  if (f->method.method == NMS_METHOD_AVERAGE)
    divide_sums (&m);
}
