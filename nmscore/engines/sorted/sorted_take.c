/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sorted_take: the test of one box against the kept boxes. */
#include "sorted.h"

#include "engines/suppressor.h"

int
nms__sorted_take (nms__frame *f, const nms__sorted_scratch *s, const nms__ranked *ranked,
    size_t rank, size_t *n, double limit)
{
  const size_t pos = nms__packed_position (ranked->keys[rank]);
  const nms__box box = nms__frame_box (f, pos);

  if (!f->rotated && !nms__has_area (&box))
    return 1;
  const size_t by = f->rotated
      ? nms__rotated_suppressor (f, s->unit, ranked, rank, *n, s->kept_index)
      : nms__first_suppressor (f, &s->view, *n, &box, f->index[pos], s->kept_index, limit);
  f->pairs += by;
  if (by < *n) {
    if (f->suppressed_by)
      f->suppressed_by[f->index[pos]] = s->kept_index[by];
    return 0;
  }
  if (f->rotated)
    nms__rotated_append (s->unit, rank, *n);
  else
    nms__put_box (&s->columns, *n, &box, 0);
  s->kept_index[(*n)++] = f->index[pos];
  return 1;
}
