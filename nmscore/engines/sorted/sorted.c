/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sorted: one sort, then each box in order against the boxes kept so far of its
 * group; the first suppressor ends the test. Work follows boxes times kept
 * boxes; the caps end it early. For frames with more than a few boxes.
 */
#include "sorted.h"
#include "sweep.h"

#include "engines/suppressor.h"

/* A cap far below the number of boxes makes most of the sorting idle: only the
 * boxes above a pivot, which a sample of keys gives, are sorted at first, and
 * more if those were not enough. */

/* Sorted keys, best first, of the next boxes; `left` unsorted ones remain at
 * the start of f->packed. */
typedef struct wave {
  const uint64_t *order;
  size_t count;
  size_t left;
} wave;

uint64_t
nms__wave_pivot (const nms__frame *f, size_t count, size_t wanted)
{
  uint64_t sample[NMS__WAVE_SAMPLES], scratch[NMS__WAVE_SAMPLES];
  const size_t rank = nms__wave_rank (count, wanted);

  for (size_t i = 0; i < NMS__WAVE_SAMPLES; i++)
    sample[i] = f->packed[i * count / NMS__WAVE_SAMPLES];
  /* equal scores stay together, or their order would be lost */
  return nms__sort (f->kernels, sample, scratch, NMS__WAVE_SAMPLES)[rank] >> 32 << 32;
}

/* About so many. */
static void
next_wave (nms__frame *f, wave *w, size_t wanted)
{
  if (wanted < w->left / 2) {
    const uint64_t pivot = nms__wave_pivot (f, w->left, wanted);
    w->count = f->kernels->partition (f->packed, w->left, pivot, f->packed2);
    w->left -= w->count;
    w->order = nms__sort (f->kernels, f->packed2, f->packed + w->left, w->count);
  } else {
    w->count = w->left;
    w->left = 0;
    w->order = nms__sort (f->kernels, f->packed, f->packed2, w->count);
  }
}

int
nms__sorted_take (nms__frame *f, size_t pos, size_t n, const int32_t *who, double limit)
{
  const nms__columns columns = { f->wx1, f->wy1, f->wx2, f->wy2, f->wshare, NULL };
  const nms__box box = nms__frame_box (f, pos);
  const size_t by = nms__first_suppressor (f, &columns, n, &box, f->index[pos], who, limit);

  if (by < n) {
    if (f->suppressed_by)
      f->suppressed_by[f->index[pos]] = who[by];
    return 0;
  }
  f->wx1[n] = box.x1;
  f->wy1[n] = box.y1;
  f->wx2[n] = box.x2;
  f->wy2[n] = box.y2;
  f->wshare[n] = box.share;
  return 1;
}

/* One group; classes may have caps and limits nevertheless. */
static void
sorted_all (nms__frame *f)
{
  const uint64_t cap = nms__total_cap (f);
  size_t wanted = nms__sorts_in_waves (f) ? nms__first_wave (f) : f->count, rank = 0;
  wave w = { NULL, 0, f->count };

  for (; f->kept_count < cap; rank++) {
    if (rank == w.count) {
      if (!w.left)
        break;
      next_wave (f, &w, wanted);
      wanted *= NMS__WAVE_GROWTH;
      rank = 0;
    }
    size_t pos = nms__packed_position (w.order[rank]);
    nms__class *class = nms__frame_class (f, pos);
    if (class && class->kept >= class->cap) {
      nms__over_cap (f, pos);
      continue;
    }
    if (!nms__sorted_take (f, pos, f->kept_count, f->kept,
            class ? class->limit : f->settings->limit))
      continue;
    nms__keep (f, pos);
    if (class)
      class->kept++;
  }
  /* what is left has not been looked at */
  nms__over_cap_keys (f, f->index, w.order + rank, w.count - rank);
  nms__over_cap_keys (f, f->index, f->packed, w.left);
}

/* Few boxes, and none of a class that differs. */
static void
sorted_few (nms__frame *f)
{
  const uint64_t cap = nms__total_cap (f);
  const uint64_t *keys = nms__sort (f->kernels, f->packed, f->packed2, f->count);
  uint32_t *kept = (uint32_t *) f->wgroup;
  const size_t n = nms__sweep_keys (f, keys, f->count, f->settings->limit, cap, kept);

  for (size_t k = 0; k < n; k++)
    nms__keep (f, nms__packed_position (keys[kept[k]]));
  if (n == cap)
    nms__over_cap_keys (f, f->index, keys + kept[n - 1] + 1, f->count - kept[n - 1] - 1);
}

int
nms__sorted (nms_context *ctx)
{
  nms__frame *f = &ctx->frame;
  if (!f->count)
    return NMS_OK;
  if (f->group)
    nms__sorted_groups (f);
  else if (f->count <= NMS__SWEEP_MOST && !f->slot)
    sorted_few (f);
  else
    sorted_all (f);
  return NMS_OK;
}
