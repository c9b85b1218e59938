/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* method: the table of methods, and the kept boxes' values. */
#include "method.h"

#include "geometry/overlap.h"

/* Engine sorted decides frames with rotated boxes in which at most this many can be kept. */
#define ROTATED_FEW 2048

/* Values of the kept boxes that a method leaves to nms__method_fill. */
enum { SCORES = 1, BOXES = 2 };

typedef struct method {
  void (*run) (nms__frame *frame);
  size_t (*scratch) (size_t boxes);
  unsigned fill;
} method;

static size_t
no_scratch (size_t boxes)
{
  (void) boxes;
  return 0;
}

static const method methods[] = {
  [NMS_METHOD_HARD] = { nms__hard_metric, no_scratch, SCORES | BOXES },
  [NMS_METHOD_SOFT_LINEAR] = { nms__soft, nms__soft_scratch_size, BOXES },
  [NMS_METHOD_SOFT_GAUSSIAN] = { nms__soft, nms__soft_scratch_size, BOXES },
  [NMS_METHOD_MATRIX_LINEAR] = { nms__matrix, nms__matrix_scratch_size, BOXES },
  [NMS_METHOD_MATRIX_GAUSSIAN] = { nms__matrix, nms__matrix_scratch_size, BOXES },
  [NMS_METHOD_WEIGHTED] = { nms__weighted, nms__weighted_scratch_size, 0 },
  [NMS_METHOD_MERGE] = { nms__merge, nms__merge_scratch_size, SCORES },
  [NMS_METHOD_GREEDY_MERGE] = { nms__merge, nms__merge_scratch_size, SCORES },
  [NMS_METHOD_AVERAGE] = { nms__merge, nms__merge_scratch_size, SCORES },
};

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

int
nms__method_decides (const nms__frame *f)
{
  const uint64_t most = f->cap < f->count ? f->cap : f->count;

  return f->method.method != NMS_METHOD_HARD || f->method.metric != NMS_METRIC_IOU
      || (f->rotated && most > ROTATED_FEW);
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
  const unsigned fill = methods[f->method.method].fill;

  if (f->kept_score && fill & SCORES)
    fill_scores (f, boxes);
  if (f->kept_box && fill & BOXES)
    fill_boxes (f, boxes);
}
