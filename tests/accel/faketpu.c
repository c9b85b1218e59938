/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* faketpu: recognizes modules by printing them again, and asks the reference for the picks. */
#include "accel/tpu/tpu.h"
#include "faketpu.h"
#include "reference.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__ ((visibility ("default")))

struct FakeKernel {
  nms__tpu_spec spec;
};

/* The buffers of a run; NULL if the module does not take the argument. */
typedef struct {
  const float *x1, *y1, *x2, *y2, *parameters, *limit[3];
  const int32_t *key, *class_id, *most;
  int32_t count; /* number of boxes, padding included */
} Arguments;

static atomic_int as, divides;
static atomic_long compiled, ran, others;

VISIBLE void
faketpu_become (int what)
{
  as = what;
}

VISIBLE long
faketpu_compiled (void)
{
  return compiled;
}

VISIBLE long
faketpu_ran (void)
{
  return ran;
}

VISIBLE long
faketpu_others (void)
{
  return others;
}

VISIBLE int
faketpu_other_divides (void)
{
  return divides;
}

/* -------------------------------------------------------------------- compile */

static int
writes (const nms__tpu_spec *spec, const char *text, size_t length)
{
  char why[100];
  size_t own_length;
  char *own = nms__tpu_module (spec, &own_length, why, sizeof why);
  int same = own && own_length == length && !memcmp (own, text, length);

  free (own);
  return same;
}

/* Finds the spec of a module: reads the sizes from the text and tries all combinations of
 * the other fields. */
static int
find_spec (const char *text, size_t length, nms__tpu_spec *spec)
{
  char head[2048] = "";
  const char *result;
  int boxes, picks;

  memcpy (head, text, length < sizeof head ? length : sizeof head - 1);
  result = strstr (head, "-> (tensor<");
  if (sscanf (head, "module @nms {\nfunc.func @main(%%a0: tensor<%dx", &boxes) != 1 || !result
      || sscanf (result, "-> (tensor<%dxi32>) {", &picks) != 1)
    return 0;
  for (unsigned way = 0; way < 16; way++) {
    *spec = (nms__tpu_spec) { .boxes = boxes,
      .picks = picks,
      .classes = way & 1,
      .class_agnostic = way >> 1 & 1,
      .box_limits = way >> 2 & 1,
      .class_caps = way >> 3 & 1 };
    if ((spec->classes || !(spec->class_agnostic || spec->class_caps))
        && writes (spec, text, length))
      return 1;
  }
  return 0;
}

FakeKernel *
faketpu_compile (const char *text, size_t length, char *why, size_t size)
{
  FakeKernel *kernel = calloc (1, sizeof *kernel);

  if (!kernel)
    abort ();
  if (as == FAKETPU_REFUSES) {
    snprintf (why, size, "has no room for it");
  } else if (find_spec (text, length, &kernel->spec)) {
    compiled++;
    return kernel;
  } else {
    char *copy = calloc (1, length + 1);
    if (!copy)
      abort ();
    memcpy (copy, text, length);
    divides = strstr (copy, "stablehlo.divide") != NULL;
    free (copy);
    others++;
    snprintf (why, size, "takes the kernel alone");
  }
  free (kernel);
  return NULL;
}

/* ------------------------------------------------------------------------ run */

size_t
faketpu_result_size (const FakeKernel *kernel)
{
  return (size_t) kernel->spec.picks * sizeof (int32_t);
}

/* Returns the threshold, inclusive, of the three numbers of a limit (tpuspec.h). */
static float
threshold_of (float high, float low, float scale)
{
  const double middle = ((double) high + (double) low) / (double) scale;
  float threshold = (float) middle;

  if (middle > 0.0 && (double) threshold <= middle)
    threshold = nextafterf (threshold, 2.0f);
  return as == FAKETPU_EQUAL ? nextafterf (threshold, 0.0f) : threshold;
}

/* Returns the score that has a key. */
static float
score_of (int32_t key)
{
  const int32_t bits = key < 0 ? key ^ INT32_MAX : key;
  float score;

  memcpy (&score, &bits, sizeof score);
  return score;
}

static int
by_class_id (const void *a, const void *b)
{
  const int32_t x = ((const nms_class_options *) a)->class_id;
  const int32_t y = ((const nms_class_options *) b)->class_id;

  return (x > y) - (x < y);
}

/* Returns the limits and caps of the classes that the boxes have, for free (). */
static nms_class_options *
classes_of (const Arguments *a, size_t n, uint64_t *count)
{
  nms_class_options *list = calloc (n + 1, sizeof *list);
  size_t last = 0;

  if (!list)
    abort ();
  for (size_t i = 0; i < n; i++)
    list[i] = (nms_class_options) { .size = sizeof *list,
      .class_id = a->class_id[i],
      .set = NMS_CLASS_IOU_THRESHOLD | NMS_CLASS_MAX_DETECTIONS,
      .iou_threshold = threshold_of (a->limit[0][i], a->limit[1][i], a->limit[2][i]),
      .max_detections = as == FAKETPU_CAPS ? 0 : (uint64_t) a->most[i] };
  qsort (list, n, sizeof *list, by_class_id);
  for (size_t i = 1; i < n; i++)
    if (list[i].class_id != list[last].class_id)
      list[++last] = list[i];
  *count = n ? last + 1 : 0;
  return list;
}

static void
misbehave (const Arguments *a, int32_t *picks, int32_t capacity, int32_t count)
{
  if (as == FAKETPU_TWICE && count > 0 && count < capacity)
    picks[count] = picks[0];
  if (as == FAKETPU_AFTER_END && count > 0 && count + 1 < capacity)
    picks[count + 1] = picks[0];
  if (as == FAKETPU_BEYOND && count > 0 && a->key[a->count - 1] == NMS__TPU_ABSENT)
    picks[0] = a->count - 1;
}

/* Gives the reference the boxes that take part, backwards for FAKETPU_TIES. */
static void
pick (const FakeKernel *kernel, const Arguments *a, int32_t *picks)
{
  const nms__tpu_spec *spec = &kernel->spec;
  const float *const from[] = { a->x1, a->y1, a->x2, a->y2 };
  size_t n = (size_t) a->count;

  while (n > 0 && a->key[n - 1] == NMS__TPU_ABSENT)
    n--;
  const ptrdiff_t step = as == FAKETPU_TIES ? -4 : 4;
  const size_t first = n && step < 0 ? n - 1 : 0;
  float *score = calloc (n + 1, sizeof *score);
  nms_boxes boxes = { .size = sizeof boxes, .count = n };
  nms_column *const columns[] = { &boxes.x1, &boxes.y1, &boxes.x2, &boxes.y2 };
  nms_options options = { .size = sizeof options,
    .iou_threshold = threshold_of (a->parameters[0], a->parameters[128], a->parameters[256]),
    .inclusive = 1,
    .score_threshold = -INFINITY,
    .class_agnostic = spec->class_agnostic || as == FAKETPU_CLASSES,
    .max_detections = (uint64_t) (as == FAKETPU_MOST ? (float) spec->picks
                                                     : a->parameters[3 * 128]) };
  nms_class_options *classes = NULL;
  RefResult result;

  if (!score)
    abort ();
  for (size_t i = 0; i < n; i++)
    score[i] = score_of (a->key[i]);
  for (int k = 0; k < 4; k++)
    *columns[k] = (nms_column) { .data = from[k] + first, .stride = step };
  boxes.score = (nms_column) { .data = score + first, .stride = step };
  if (spec->classes)
    boxes.class_id = (nms_column) { .data = a->class_id + first, .stride = step };
  if (a->limit[0])
    options.class_options = classes = classes_of (a, n, &options.class_option_count);
  ref_run (&boxes, &options, &result);
  for (int32_t k = 0; k < spec->picks; k++)
    picks[k] = (size_t) k >= result.kept_count ? -1
        : step < 0                             ? (int32_t) first - result.kept[k]
                                               : result.kept[k];
  misbehave (a, picks, spec->picks, (int32_t) result.kept_count);
  ref_result_clear (&result);
  free (classes);
  free (score);
}

int
faketpu_run (const FakeKernel *kernel, const void *const *data, const size_t *sizes, size_t count,
    void *result, char *why, size_t size)
{
  const nms__tpu_spec *spec = &kernel->spec;
  const size_t n = (size_t) spec->boxes * 4;
  Arguments a = { .count = spec->boxes };
  const struct {
    const void **at;
    size_t size;
  } all[] = {
    { (const void **) &a.x1, n },
    { (const void **) &a.y1, n },
    { (const void **) &a.x2, n },
    { (const void **) &a.y2, n },
    { (const void **) &a.key, n },
    { (const void **) &a.parameters, NMS__TPU_PARAMETERS * sizeof (float) },
    { (const void **) &a.class_id, nms__tpu_uses_class (spec) ? n : 0 },
    { (const void **) &a.limit[0], spec->box_limits ? n : 0 },
    { (const void **) &a.limit[1], spec->box_limits ? n : 0 },
    { (const void **) &a.limit[2], spec->box_limits ? n : 0 },
    { (const void **) &a.most, spec->class_caps ? n : 0 },
  };
  size_t given = 0;

  if (as == FAKETPU_FAILS) {
    snprintf (why, size, "is out of order");
    return 0;
  }
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    if (all[k].size) {
      if (given == count || sizes[given] != all[k].size) {
        snprintf (why, size, "was given something else as argument %zu", given);
        return 0;
      }
      *all[k].at = data[given++];
    }
  if (given != count) {
    snprintf (why, size, "was given %zu arguments, takes %zu", count, given);
    return 0;
  }
  ran++;
  pick (kernel, &a, result);
  return 1;
}
