/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sorted: one sort, then each box in order against the boxes kept so far,
 * first block with a suppressor ends the test. Work follows boxes times kept
 * boxes; the caps end it early. For frames with more than a few boxes.
 */
#include "engine.h"

/* The position among the kept columns of the first one that suppresses the
 * candidate, or `kept`. Forward, so that it is the highest-ranked one. */
static size_t
first_suppressor (const nms__frame *f, const nms__columns *columns, size_t kept,
    const nms__box *box, int32_t index, double limit)
{
  uint64_t mask;
  size_t k = 0;

  for (size_t first = 0; first < kept; first = k + 1) {
    first = f->kernels->find_overlap (columns, first, kept, box, &mask);
    if (first >= kept)
      break;
    for (; mask; mask &= mask - 1) {
      k = first + nms__lowest_bit (mask);
      if (nms__column_exceeds (columns, k, box, limit) && !nms__related (f, index, f->kept[k]))
        return k;
    }
  }
  return kept;
}

void
nms__sorted (nms__frame *f)
{
  const uint64_t cap = nms__total_cap (f);
  const nms__columns columns = { f->wx1, f->wy1, f->wx2, f->wy2, f->wshare,
    f->group ? f->wgroup : NULL };
  uint64_t *order;
  size_t rank = 0;

  order = nms__sort (f->packed, f->packed2, f->count);

  for (; rank < f->count && f->kept_count < cap; rank++) {
    size_t pos = nms__packed_position (order[rank]);
    nms__class *class = nms__frame_class (f, pos);
    if (class && class->kept >= class->cap) {
      nms__over_cap (f, pos);
      continue;
    }
    nms__box box = nms__frame_box (f, pos);
    size_t kept = f->kept_count;
    size_t by = first_suppressor (f, &columns, kept, &box, f->index[pos],
        class ? class->limit : f->settings->limit);
    if (by < kept) {
      if (f->suppressed_by)
        f->suppressed_by[f->index[pos]] = f->kept[by];
      continue;
    }
    f->wx1[kept] = box.x1;
    f->wy1[kept] = box.y1;
    f->wx2[kept] = box.x2;
    f->wy2[kept] = box.y2;
    f->wshare[kept] = box.share;
    if (f->group)
      f->wgroup[kept] = box.group;
    nms__keep (f, pos);
    if (class)
      class->kept++;
  }
  if (!f->outcome && !f->suppressed_by) {
    f->over_cap_count += f->count - rank;
    return;
  }
  for (; rank < f->count; rank++)
    nms__over_cap (f, nms__packed_position (order[rank]));
}
