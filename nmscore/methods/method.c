/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* method: the table of methods, and the kept boxes' values. */
#include "method.h"

#include "geometry/overlap.h"

/* Engine sorted decides frames with rotated boxes in which at most this many can be kept. */
#define ROTATED_FEW 2048

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
  const unsigned changes = methods[f->method.method].changes;

  if (f->kept_score && !(changes & NMS_OUTPUT_SCORE))
    fill_scores (f, boxes);
  if (f->kept_box && !(changes & NMS_OUTPUT_BOX))
    fill_boxes (f, boxes);
}
