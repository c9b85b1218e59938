/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlaframe: copies the columns of a frame, padded, to the inputs of the graph. Every frame of a
 * kind records the same few hundred operations, so the cache finds their program.
 */
#include "xlaframe.h"
#include "nmsgraph.h"
#include "xlacolumns.h"
#include "xlaerror.h"
#include "xlakernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
nms__xla_frame_kind (const nms_frame *f, nms__xla_kind *kind, char *why_not, size_t size)
{
  kind->log2_boxes = NMS__XLA_LEAST;
  kind->variant = 0;
  if (f->count > NMS_XLA_MAX_BOXES) {
    nms__xla_error_set (0, why_not, size, "%zu boxes take part, it takes at most %d", f->count,
        NMS_XLA_MAX_BOXES);
    return 0;
  }
  while (f->count > (size_t) 1 << kind->log2_boxes)
    kind->log2_boxes++;
  if (f->class_id)
    kind->variant |= NMS__XLA_CLASSES;
  if (f->cap_class)
    kind->variant |= NMS__XLA_CLASS_CAPS;
  if (f->parent)
    kind->variant |= NMS__XLA_PARENTS;
  kind->log2_picks = nms__xla_kernel_picks (*kind, f->cap);
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

/* Fills the columns of floats and of integers with `n` places each. */
static void
fill (const nms_frame *f, float *floats, int32_t *integers, size_t n)
{
  const nms__xla_columns columns = { .corner = { floats + X1 * n, floats + Y1 * n, floats + X2 * n,
                                         floats + Y2 * n },
    .key = integers + KEY * n,
    .class_id = f->class_id ? integers + GROUP * n : NULL,
    .cap_class = f->cap_class ? integers + CLASS * n : NULL,
    .class_cap = f->cap_class ? integers + CLASS_CAP * n : NULL };

  nms__xla_columns_fill (&columns, f, n);
  for (size_t i = 0; i < f->count; i++)
    floats[LIMIT * n + i] = threshold_of (f->limits ? f->limits[i] : f->limit);
  if (f->parent) {
    memcpy (integers + INDEX * n, f->index, f->count * sizeof *integers);
    memcpy (integers + PARENT * n, f->parent, f->count * sizeof *integers);
  }
}

/* Records the inputs. */
static nms_lazy_boxes
record_inputs (nms_lazy *lz, const nms_frame *f, unsigned variant, const float *floats,
    const int32_t *integers, size_t n)
{
  const int32_t dims[] = { (int32_t) n };
  nms_lazy_boxes b = { .least = nms_lazy_input_s32 (lz, INT32_MIN + 1),
    .cap = nms_lazy_input_s32 (lz, f->cap < n ? (int32_t) f->cap : 0) };
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
run_graph (nms_lazy *lz, unsigned flags, const nms_frame *f, nms__xla_kind kind, int32_t *kept,
    size_t *kept_count, char *error, size_t error_size)
{
  const size_t n = (size_t) 1 << kind.log2_boxes;
  int32_t count, code;
  char *memory = calloc (n, (FLOATS + INTEGERS + 1) * 4);
  float *floats = (float *) memory;
  int32_t *integers = (int32_t *) (memory + n * FLOATS * 4);
  int32_t *picks = integers + n * INTEGERS;

  if (!memory)
    return nms__xla_error_set (NMS_ERROR_MEMORY, error, error_size, "out of memory");
  fill (f, floats, integers, n);
  nms_lazy_boxes boxes = record_inputs (lz, f, kind.variant, floats, integers, n);
  nms_lazy_kept t = nms_lazy_nms (lz, &boxes, flags);
  const nms_lazy_tensor wanted[] = { t.picks, t.count };
  void *const into[] = { picks, &count };

  code = nms_lazy_read (lz, 2, wanted, into);
  if (code)
    nms__xla_error_set (0, error, error_size, "%s", nms_lazy_error (lz));
  else if (count < 0 || (size_t) count > f->count)
    code = nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
        "the device gives impossible results");
  else {
    memcpy (kept, picks, (size_t) count * sizeof *kept);
    *kept_count = (size_t) count;
  }
  nms_lazy_clear (lz);
  free (memory);
  return code;
}

int
nms__xla_frame_run (nms_lazy *lz, nms__xla_store *store, const nms_frame *f, nms__xla_kind kind,
    int32_t *kept, size_t *kept_count, char *error, size_t error_size)
{
  void *kernel = nms__xla_store_kernel (store, kind);

  return kernel ? nms__xla_kernel_run (store, kernel, f, kind, kept, kept_count, error, error_size)
                : run_graph (lz, store->flags, f, kind, kept, kept_count, error, error_size);
}
