/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* method: the table of methods, the names that belong to them, and the kept boxes' values. */
#include "method.h"

#include "overlap.h"

#define IOU (1u << NMS_METRIC_IOU)
#define IOS (1u << NMS_METRIC_IOS)
#define DIOU (1u << NMS_METRIC_DIOU)
#define GIOU (1u << NMS_METRIC_GIOU)

/* Values of the kept boxes that a method leaves to nms__method_fill. */
enum { SCORES = 1, BOXES = 2 };

typedef struct method {
  const char *name;
  void (*run) (nms__frame *frame);
  size_t (*scratch) (size_t boxes);
  unsigned metrics; /* those that the method takes, a bit each */
  unsigned fill;
} method;

static const method methods[] = {
  [NMS_METHOD_HARD] = { "hard", nms__hard_metric, nms__hard_metric_scratch_size,
      IOU | IOS | DIOU | GIOU, SCORES | BOXES },
  [NMS_METHOD_SOFT_LINEAR] = { "soft-linear", nms__soft, nms__soft_scratch_size, IOU | IOS, BOXES },
  [NMS_METHOD_SOFT_GAUSSIAN] = { "soft-gaussian", nms__soft, nms__soft_scratch_size, IOU | IOS,
      BOXES },
  [NMS_METHOD_MATRIX_LINEAR] = { "matrix-linear", nms__matrix, nms__matrix_scratch_size, IOU | IOS,
      BOXES },
  [NMS_METHOD_MATRIX_GAUSSIAN] = { "matrix-gaussian", nms__matrix, nms__matrix_scratch_size,
      IOU | IOS, BOXES },
  [NMS_METHOD_WEIGHTED] = { "weighted", nms__weighted, nms__weighted_scratch_size, IOU | IOS, 0 },
  [NMS_METHOD_MERGE] = { "merge", nms__merge, nms__merge_scratch_size, IOU | IOS, SCORES },
  [NMS_METHOD_GREEDY_MERGE] = { "greedy-merge", nms__merge, nms__merge_scratch_size, IOU | IOS,
      SCORES },
  [NMS_METHOD_AVERAGE] = { "average", nms__merge, nms__merge_scratch_size, IOU | IOS, SCORES },
};

#define METHODS (sizeof methods / sizeof methods[0])

static const method *
method_of (int number)
{
  return number >= 0 && (size_t) number < METHODS && methods[number].name ? &methods[number] : NULL;
}

const char *
nms_method_name (int number)
{
  const method *m = method_of (number);
  return m ? m->name : NULL;
}

const char *
nms_metric_name (int metric)
{
  static const char *const names[] = { "iou", "ios", "diou", "giou" };
  return metric >= 0 && metric <= NMS_METRIC_GIOU ? names[metric] : NULL;
}

const char *
nms_fused_score_name (int fused_score)
{
  static const char *const names[] = { "avg", "max", "box-and-model-avg",
    "absent-model-aware-avg" };
  return fused_score >= 0 && fused_score <= NMS_FUSED_ABSENT_MODEL_AWARE_AVG ? names[fused_score]
                                                                             : NULL;
}

const char *
nms_method_refusal (int number, int metric)
{
  const method *m = method_of (number);

  if (!m)
    return "the method is unknown";
  if (!nms_metric_name (metric))
    return "the metric is unknown";
  if (m->metrics & 1u << metric)
    return NULL;
  return "metrics diou and giou may be negative; only method hard takes them";
}

size_t
nms__methods_scratch_size (size_t boxes)
{
  size_t most = 0;

  for (size_t i = 0; i < METHODS; i++)
    if (methods[i].scratch && methods[i].scratch (boxes) > most)
      most = methods[i].scratch (boxes);
  return most;
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
