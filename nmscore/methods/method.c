/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* method: the table of methods, and the kept boxes' values. */
#include "method.h"

#include "geometry/overlap.h"

/* Engine sorted decides frames with rotated boxes in which at most this many can be kept. */
#define ROTATED_FEW 2048

#define SAMPLES 8 /* boxes that are compared with all others */

typedef struct method {
  void (*run) (nms__frame *frame);
  size_t (*scratch) (size_t boxes);
  unsigned changes; /* NMS_OUTPUT_...: nms__method_fill writes the others */
} method;

#define ROW(constant, number, family, by_score, changes, name, text) \
  [number] = { nms__##family, nms__##family##_scratch_size, changes },
static const method methods[] = { NMS_METHOD_LIST (ROW) };

#define METHODS (sizeof methods / sizeof methods[0])

size_t
nms__methods_scratch_size (size_t boxes)
{
  size_t most = 0;

  for (size_t i = 0; i < METHODS; i++) {
    const size_t size = methods[i].scratch (boxes);
    most = size > most ? size : most;
  }
  return most;
}

/* Returns whether the upright bounding box of a box intersects a quarter of the boxes, as those of
 * thin bars do. Blocks in spatial order then exclude few pairs, and engine sorted tests a pair in
 * half the time. */
static int
is_crowded (const nms__frame *f)
{
  const nms__columns columns = { f->x1, f->y1, f->x2, f->y2, f->scaled, f->class_id };
  size_t hits = 0;

  for (size_t k = 0; k < SAMPLES; k++) {
    nms__box box = nms__frame_box (f, k * f->count / SAMPLES);
    box.scaled = 0.0f;
    for (size_t first = 0; first < f->count; first += NMS__BLOCK) {
      const size_t left = f->count - first;
      hits += nms__count_bits (f->kernels->overlap_block (&columns, first,
          left < NMS__BLOCK ? left : NMS__BLOCK, &box, &f->bounds, NULL));
    }
  }
  return hits > SAMPLES * f->count / 4;
}

int
nms__method_decides (const nms__frame *f)
{
  const uint64_t most = f->cap < f->count ? f->cap : f->count;

  return f->method.method != NMS_METHOD_HARD || f->method.metric != NMS_METRIC_IOU
      || f->method.min_size_ratio > 0.0f || (f->rotated && most > ROTATED_FEW && !is_crowded (f));
}

void
nms__method_run (nms__frame *f)
{
  methods[f->method.method].run (f);
}

static void
fill_scores (nms__frame *f, const nms_boxes *boxes)
{
  for (size_t k = 0; k < f->kept_count; k++) {
    f->kept_score[k] = 0.0f;
    if (boxes->score.data)
      nms__load (&f->kept_score[k], &boxes->score, (size_t) f->kept[k], sizeof (float));
  }
}

static void
fill_boxes (nms__frame *f, const nms_boxes *boxes)
{
  for (size_t k = 0; k < f->kept_count; k++)
    nms__caller_corners (boxes, (size_t) f->kept[k], &f->kept_box[4 * k]);
}

void
nms__method_fill (nms__frame *f, const nms_boxes *boxes)
{
  const unsigned changes = methods[f->method.method].changes;

  if (f->kept_score && !(changes & NMS_OUTPUT_SCORE))
    fill_scores (f, boxes);
  if (f->kept_box && !(changes & NMS_OUTPUT_BOX))
    fill_boxes (f, boxes);
}
