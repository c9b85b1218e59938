/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* faketpu: recognizes modules by printing them again, and computes picks in plain C. */
#include "accel/tpu/tpu.h"
#include "faketpu.h"

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
  const float *x1, *y1, *x2, *y2, *parameters, *limit;
  const int32_t *key, *class_id, *most;
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
  result = strstr (head, "-> tensor<");
  if (sscanf (head, "module @nms {\nfunc.func public @main(%%a0: tensor<%dx", &boxes) != 1
      || !result || sscanf (result, "-> tensor<%dxi32> {", &picks) != 1)
    return 0;
  for (unsigned way = 0; way < 32; way++) {
    *spec = (nms__tpu_spec) { .boxes = boxes,
      .picks = picks,
      .classes = way & 1,
      .class_agnostic = way >> 1 & 1,
      .box_limits = way >> 2 & 1,
      .class_caps = way >> 3 & 1,
      .form = way & 16 ? NMS__TPU_TILES : NMS__TPU_PICKS };
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
    if (as != FAKETPU_OLD || kernel->spec.form == NMS__TPU_PICKS) {
      compiled++;
      return kernel;
    }
    snprintf (why, size, "has no bfloat16 matrices");
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

/* Returns whether the overlap of the kept box i with box j exceeds the limit of j. */
static int
overlaps (const Arguments *a, int32_t n, int32_t i, int32_t j)
{
  const float least = 0x1p-50f;
  const float w = fminf (a->x2[i], a->x2[j]) - fmaxf (a->x1[i], a->x1[j]);
  const float h = fminf (a->y2[i], a->y2[j]) - fmaxf (a->y1[i], a->y1[j]);
  const float area_i = (a->x2[i] - a->x1[i]) * (a->y2[i] - a->y1[i]);
  const float area_j = (a->x2[j] - a->x1[j]) * (a->y2[j] - a->y1[j]);
  const float inter = w > least && h > least ? w * h : 0.0f;
  const float *limit = a->limit ? a->limit + j : a->parameters;
  const size_t next = a->limit ? (size_t) n : 128;
  /* exact, because binary64 holds all bits of the sum */
  const double middle = (double) limit[0] + (double) limit[next];
  float both = (area_i + area_j) - inter;

  if (as == FAKETPU_CONTRACTS && inter > 0.0f)
    both = fmaf (-w, h, area_i + area_j);
  double bound = middle * (double) both;
  if (as == FAKETPU_EQUAL)
    bound *= 1.0 - 0x1p-23;
  return inter > 0.0f && (double) inter * (double) limit[2 * next] > bound;
}

/* Returns the best undecided box, -1 if there is none. */
static int32_t
best (const Arguments *a, int32_t n, const char *undecided)
{
  int32_t found = -1;

  for (int32_t i = 0; i < n; i++)
    if (undecided[i]
        && (found < 0 || a->key[i] > a->key[found]
            || (as == FAKETPU_TIES && a->key[i] == a->key[found])))
      found = i;
  return found;
}

/* Returns whether the class of box i has all its picks. */
static int
class_is_full (const Arguments *a, int32_t i, const int32_t *picks, int32_t count)
{
  int32_t of_class = 0;

  if (!a->most || a->most[i] == 0 || as == FAKETPU_CAPS)
    return 0;
  for (int32_t k = 0; k < count; k++)
    of_class += a->class_id[picks[k]] == a->class_id[i];
  return of_class >= a->most[i];
}

static void
misbehave (const Arguments *a, int32_t n, int32_t *picks, int32_t capacity, int32_t count)
{
  if (as == FAKETPU_TWICE && count > 0 && count < capacity)
    picks[count] = picks[0];
  if (as == FAKETPU_AFTER_END && count > 0 && count + 1 < capacity)
    picks[count + 1] = picks[0];
  if (as == FAKETPU_BEYOND && count > 0 && a->key[n - 1] == NMS__TPU_ABSENT)
    picks[0] = n - 1;
}

static void
pick (const FakeKernel *kernel, const Arguments *a, int32_t *picks)
{
  const nms__tpu_spec *spec = &kernel->spec;
  const int32_t all = spec->boxes, capacity = spec->picks;
  const int by_class = spec->classes && !spec->class_agnostic && as != FAKETPU_CLASSES;
  const int32_t most = as == FAKETPU_MOST ? capacity : (int32_t) a->parameters[3 * 128];
  char *undecided = calloc (1, (size_t) all);
  int32_t n = all, count = 0, i;

  if (!undecided)
    abort ();
  for (i = 0; i < all; i++)
    undecided[i] = a->key[i] != NMS__TPU_ABSENT;
  while (n > 0 && !undecided[n - 1]) /* skip the padding, to save time */
    n--;
  while (count < most && (i = best (a, n, undecided)) >= 0) {
    undecided[i] = 0;
    if (class_is_full (a, i, picks, count))
      continue;
    picks[count++] = i;
    for (int32_t j = 0; j < n; j++)
      if (undecided[j] && (!by_class || a->class_id[i] == a->class_id[j])
          && overlaps (a, all, i, j))
        undecided[j] = 0;
  }
  for (int32_t k = count; k < capacity; k++)
    picks[k] = -1;
  misbehave (a, all, picks, capacity, count);
  free (undecided);
}

int
faketpu_run (const FakeKernel *kernel, const void *const *data, const size_t *sizes, size_t count,
    void *result, char *why, size_t size)
{
  const nms__tpu_spec *spec = &kernel->spec;
  const size_t n = (size_t) spec->boxes * 4;
  Arguments a = { .x1 = NULL };
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
    { (const void **) &a.class_id, spec->classes ? n : 0 },
    { (const void **) &a.limit, spec->box_limits ? 3 * n : 0 },
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
