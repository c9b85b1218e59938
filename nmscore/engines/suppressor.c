/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* suppressor: a vector screen over the kept boxes, then the exact test of each box
 * that passes it. */
#include "suppressor.h"

size_t
nms__first_suppressor (const nms__frame *f, const nms__columns *kept, size_t end,
    const nms__box *box, int32_t index, const int32_t *kept_index, double limit)
{
  uint64_t mask;
  size_t k = 0;

  for (size_t first = 0; first < end; first = k + 1) {
    first = f->kernels->find_overlap (kept, first, end, box, f->bounds.least_area, &mask);
    if (first >= end)
      break;
    for (; mask; mask &= mask - 1) {
      k = first + nms__lowest_bit (mask);
      if (nms__column_exceeds (kept, k, box, limit) && !nms__related (f, index, kept_index[k]))
        return k;
    }
  }
  return end;
}
