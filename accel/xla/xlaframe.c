/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlaframe: copies the columns of a prepared frame, padded, to the inputs of the graph
 * and the outputs to the frame's results. Every frame of a kind records the same few
 * hundred operations, so the cache finds their program.
 */
#include "xlaframe.h"
#include "nmsgraph.h"
#include "xlakernel.h"
#include "xlaerror.h"

#include <math.h>
#include <stdlib.h>

/* The columns of the inputs. The variant determines which columns of integers a program
 * has. */
enum { X1, Y1, X2, Y2, LIMIT, FLOATS };
enum { KEY, GROUP, CLASS, CLASS_CAP, INDEX, PARENT, INTEGERS };

static const unsigned char in_variant[INTEGERS] = { [GROUP] = NMS__XLA_CLASSES,
  [CLASS] = NMS__XLA_CLASS_CAPS,
  [CLASS_CAP] = NMS__XLA_CLASS_CAPS,
  [INDEX] = NMS__XLA_PARENTS,
  [PARENT] = NMS__XLA_PARENTS };

int
nms__xla_frame_kind (const nms__frame *f, nms__xla_kind *kind, char *why_not, size_t size)
{
  kind->log2_boxes = NMS__XLA_LEAST;
  kind->variant = 0;
  if (f->rotated) {
    nms__xla_error_set (0, why_not, size, "it does not take rotated boxes");
    return 0;
  }
  if (f->count > NMS_XLA_MAX_BOXES) {
    nms__xla_error_set (0, why_not, size, "%zu boxes take part, it takes at most %d", f->count,
        NMS_XLA_MAX_BOXES);
    return 0;
  }
  while (f->count > (size_t) 1 << kind->log2_boxes)
    kind->log2_boxes++;
  if (f->class_id)
    kind->variant |= NMS__XLA_CLASSES;
  if (f->class_entry)
    kind->variant |= NMS__XLA_CLASS_CAPS;
  if (f->parent.data)
    kind->variant |= NMS__XLA_PARENTS;
  kind->log2_picks = nms__xla_kernel_picks (*kind, f->settings->options.max_detections);
  return 1;
}

/* Returns the greatest float that is not above `limit`. A quotient rounded to binary32
 * exceeds it if and only if it exceeds the limit. */
static float
threshold_of (double limit)
{
  float t = (float) limit;
  return (double) t > limit ? nextafterf (t, -INFINITY) : t;
}

static void
fill_floats (const nms__frame *f, float *rows, size_t n)
{
  const float *const from[] = { f->x1, f->y1, f->x2, f->y2 };
  const float common = threshold_of (f->settings->limit);
  float *limit = rows + LIMIT * n;

  for (size_t k = 0; k < 4; k++)
    memcpy (rows + k * n, from[k], f->count * sizeof *rows);
  for (size_t i = 0; i < f->count; i++)
    limit[i] = common;
  if (f->class_entry)
    for (size_t i = 0; i < f->count; i++)
      limit[i] = threshold_of (f->classes.entry[f->class_entry[i]].limit);
}

static void
fill_integers (const nms__frame *f, unsigned variant, int32_t *rows, size_t n)
{
  int32_t *key = rows + KEY * n;

  /* `packed` is in input order until an engine sorts it */
  for (size_t i = 0; i < n; i++)
    key[i] = i < f->count ? (int32_t) ((uint32_t) (f->packed[i] >> 32) ^ 0x80000000u)
                          : INT32_MIN; /* filtered: below `least` */
  if (variant & NMS__XLA_CLASSES)
    memcpy (rows + GROUP * n, f->class_id, f->count * sizeof *rows);
  if (variant & NMS__XLA_CLASS_CAPS)
    for (size_t i = 0; i < f->count; i++) {
      uint64_t cap = f->classes.entry[f->class_entry[i]].cap;
      rows[CLASS * n + i] = (int32_t) f->class_entry[i];
      rows[CLASS_CAP * n + i] = cap < INT32_MAX ? (int32_t) cap : 0;
    }
  if (variant & NMS__XLA_PARENTS)
    for (size_t i = 0; i < f->count; i++) {
      rows[INDEX * n + i] = f->index[i];
      rows[PARENT * n + i] = nms__parent (f, f->index[i]);
    }
}

/* Checks that all outputs are positions of boxes of the frame, because a faulty device
 * must not cause writes outside of arrays. */
static int
is_in_range (const nms__frame *f, const int32_t *kept, int32_t count, const int32_t *state)
{
  if (count < 0 || (size_t) count > f->count)
    return 0;
  for (int32_t k = 0; k < count; k++)
    if (kept[k] < 0 || (size_t) kept[k] >= f->count)
      return 0;
  for (size_t i = 0; i < f->count; i++)
    if (state[i] < NMS_LAZY_OVER_CAP || state[i] >= (int32_t) f->count)
      return 0;
  return 1;
}

static void
take_results (nms__frame *f, const int32_t *kept, int32_t count, const int32_t *state)
{
  for (int32_t k = 0; k < count; k++) {
    const int32_t index = f->index[kept[k]];
    f->kept[f->kept_count++] = index;
    if (f->outcome)
      f->outcome[index] = NMS_KEPT;
  }
  for (size_t i = 0; i < f->count; i++) {
    if (state[i] == NMS_LAZY_OVER_CAP) {
      f->over_cap_count++;
      if (f->outcome)
        f->outcome[f->index[i]] = NMS_OVER_CAP;
    } else if (state[i] >= 0 && f->suppressed_by)
      f->suppressed_by[f->index[i]] = f->index[state[i]];
  }
}

/* Records the inputs. */
static nms_lazy_boxes
record_inputs (nms_lazy *lz, const nms__frame *f, unsigned variant, const float *floats,
    const int32_t *integers, size_t n)
{
  const int32_t dims[] = { (int32_t) n };
  const uint64_t most = f->settings->options.max_detections;
  nms_lazy_boxes b = { .least = nms_lazy_input_s32 (lz, INT32_MIN + 1),
    .cap = nms_lazy_input_s32 (lz, most < n ? (int32_t) most : 0) };
  nms_lazy_tensor *const to_float[FLOATS] = { &b.x1, &b.y1, &b.x2, &b.y2, &b.limit };
  nms_lazy_tensor *const to_integer[INTEGERS] = { &b.key, &b.class_id, &b.cap_class, &b.class_cap,
    &b.index, &b.parent };

  for (size_t k = 0; k < FLOATS; k++)
    *to_float[k] = nms_lazy_input (lz, NMS_LAZY_F32, 1, dims, floats + k * n);
  for (size_t k = 0; k < INTEGERS; k++)
    if (!in_variant[k] || (in_variant[k] & variant))
      *to_integer[k] = nms_lazy_input (lz, NMS_LAZY_S32, 1, dims, integers + k * n);
  return b;
}

static int
run_graph (nms_lazy *lz, unsigned flags, nms__frame *f, nms__xla_kind kind, char *error,
    size_t error_size)
{
  const size_t n = (size_t) 1 << kind.log2_boxes;
  int32_t count, code;
  char *memory = calloc (n, (FLOATS + INTEGERS + 2) * 4);
  float *floats = (float *) memory;
  int32_t *integers = (int32_t *) (memory + n * FLOATS * 4);
  int32_t *kept = integers + n * INTEGERS, *state = kept + n;

  if (!memory)
    return nms__xla_error_set (NMS_ERROR_MEMORY, error, error_size, "out of memory");
  fill_floats (f, floats, n);
  fill_integers (f, kind.variant, integers, n);
  nms_lazy_boxes boxes = record_inputs (lz, f, kind.variant, floats, integers, n);
  nms_lazy_kept t = nms_lazy_nms (lz, &boxes, flags);
  const nms_lazy_tensor wanted[] = { t.picks, t.count, t.state };
  void *const into[] = { kept, &count, state };

  code = nms_lazy_read (lz, 3, wanted, into);
  if (code)
    nms__xla_error_set (0, error, error_size, "%s", nms_lazy_error (lz));
  else if (!is_in_range (f, kept, count, state))
    code = nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
        "the device gives impossible results");
  else
    take_results (f, kept, count, state);
  nms_lazy_clear (lz);
  free (memory);
  return code;
}

int
nms__xla_frame_run (nms_lazy *lz, nms__xla_store *store, nms__frame *f, nms__xla_kind kind,
    char *error, size_t error_size)
{
  void *kernel = nms__xla_store_kernel (store, kind);

  return kernel ? nms__xla_kernel_run (store, kernel, f, kind, error, error_size)
                : run_graph (lz, store->flags, f, kind, error, error_size);
}
