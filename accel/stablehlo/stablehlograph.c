/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stablehlograph: records decoding, the order keys and the selection. The results of a
 * dumped module are in the order in which they were recorded. So each is recorded last, by a
 * reshape that changes nothing.
 */
#include "stablehlograph.h"
#include "stablehlocandidates.h"
#include "stablehloclasses.h"
#include "stablehlotpu.h"
#include "nmsgraph.h"

#include <float.h>
#include <math.h>

typedef nms_lazy_tensor tensor;

/* The results of the module. */
typedef struct {
  tensor tensor[NMS_STABLEHLO_MAX_ARRAYS];
  size_t count;
} Results;

static void
note (nms_stablehlo_array *arrays, size_t *count, const char *name, nms_lazy_shape shape)
{
  nms_stablehlo_array *a = &arrays[(*count)++];

  *a = (nms_stablehlo_array) { .shape = shape };
  for (size_t i = 0; name[i] && i < sizeof a->name - 1; i++)
    a->name[i] = name[i];
}

/* Records an input, which has no value because the program is not run here. */
static tensor
input (nms_lazy *lz, const nms__stablehlo_job *job, const char *name, nms_lazy_type type,
    int32_t rows, int32_t columns)
{
  const nms_lazy_shape shape = { .type = type, .rank = columns ? 2 : 1, .dims = { rows, columns } };

  note (job->program->input, &job->program->input_count, name, shape);
  return nms__append (lz, NMS__INPUT, shape, 0, NULL, 0, 0);
}

/* Records an input of floats, which is f32 or bf16, and returns it as F32. */
static tensor
float_input (nms_lazy *lz, const nms__stablehlo_job *job, const char *name, int32_t rows,
    int32_t columns)
{
  if (!job->spec->bfloat16)
    return input (lz, job, name, NMS_LAZY_F32, rows, columns);
  return nms_lazy_unary (lz, NMS_LAZY_TO_F32, input (lz, job, name, NMS_LAZY_BF16, rows, columns));
}

/* Adds an output of the program. */
static void
add_output (nms_lazy *lz, const nms__stablehlo_job *job, Results *r, const char *name, tensor x)
{
  const nms_lazy_shape shape = nms_lazy_shape_of (lz, x);

  r->tensor[r->count++] = nms_lazy_reshape (lz, x, shape.rank, shape.dims);
  note (job->program->output, &job->program->output_count, name, shape);
}

static tensor
column (nms_lazy *lz, const nms__stablehlo_job *job, tensor scalar)
{
  return nms_lazy_broadcast (lz, scalar, 1, &job->columns, 0);
}

/* Replaces the input `floor` (nmslazy.h) by -inf or, if the bits of a score have one special
 * value, -FLT_MAX. Both leave a product unchanged, and no compiler can know which it is. The value
 * is one that a widened bf16 can have. */
static void
compute_floor (nms_lazy *lz, tensor score)
{
  tensor bits = nms_lazy_unary (lz, NMS_LAZY_AS_S32, score);
  tensor special = nms_lazy_binary (lz, NMS_LAZY_EQ, bits, nms_lazy_s32 (lz, 0x7fff0000));

  lz->floor = nms_lazy_select (lz, special, nms_lazy_f32 (lz, -FLT_MAX),
      nms_lazy_f32 (lz, -INFINITY));
}

/* Takes one element of a vector or, at column 0, of a matrix. */
static tensor
element (nms_lazy *lz, tensor x, int32_t at)
{
  const tensor from[] = { nms_lazy_s32 (lz, at), nms_lazy_s32 (lz, 0) };
  const int32_t one[] = { 1, 1 };

  return nms_lazy_reshape (lz, nms_lazy_slice (lz, x, from, one), 0, NULL);
}

static nms_lazy_boxes
read_head (nms_lazy *lz, const nms__stablehlo_job *job, tensor *score)
{
  const nms_stablehlo_spec *s = job->spec;
  tensor head = float_input (lz, job, "head", 4 + s->head_classes, s->boxes);

  compute_floor (lz, element (lz, head, 4));
  return nms_lazy_decode_head (lz, head, score);
}

static nms_lazy_boxes
read_rows (nms_lazy *lz, const nms__stablehlo_job *job)
{
  const int32_t n = job->columns, one_row[] = { 1, n };
  tensor rows = nms_lazy_transpose (lz, float_input (lz, job, "boxes", n, 4));
  tensor score = float_input (lz, job, "scores", n, 0);
  nms_lazy_boxes b = { 0 };
  tensor *const corners[] = { &b.x1, &b.y1, &b.x2, &b.y2 };

  if (job->spec->classes && (job->uses_classes || job->uses_caps || job->class_count))
    b.class_id = input (lz, job, "classes", NMS_LAZY_S32, n, 0);
  else if (job->class_count) /* all boxes have class 0 */
    b.class_id = column (lz, job, nms_lazy_s32 (lz, 0));
  if (job->spec->parents)
    b.parent = input (lz, job, "parents", NMS_LAZY_S32, n, 0);
  compute_floor (lz, element (lz, score, 0));
  for (int k = 0; k < 4; k++) {
    const tensor from[] = { nms_lazy_s32 (lz, k), nms_lazy_s32 (lz, 0) };
    *corners[k] = nms_lazy_reshape (lz, nms_lazy_slice (lz, rows, from, one_row), 1, &n);
  }
  b.valid = nms_lazy_clean_boxes (lz, &b);
  b.key = nms_lazy_order_key (lz, score, &b.valid);
  return b;
}

static nms_lazy_boxes
read_boxes (nms_lazy *lz, const nms__stablehlo_job *job, tensor *score)
{
  const nms_options *o = job->options;
  nms_lazy_boxes b = job->spec->head_classes ? read_head (lz, job, score) : read_rows (lz, job);

  if (nms__stablehlo_classes_set (job, NMS_CLASS_SCORE_THRESHOLD))
    b.least = nms__stablehlo_classes_least (lz, job, b.class_id);
  else if (o->score_threshold > -INFINITY || o->score_strict)
    b.least = nms_lazy_s32 (lz, nms_lazy_order_key_of (o->score_threshold) + !!o->score_strict);
  b.valid = nms__stablehlo_candidates (lz, job, &b);
  return b;
}

/* Adds the decoded boxes of a head to the outputs. */
static void
add_decoded (nms_lazy *lz, const nms__stablehlo_job *job, Results *results, const nms_lazy_boxes *b,
    tensor score)
{
  const int32_t one_row[] = { 1, job->spec->boxes };
  tensor rows[] = { b->x1, b->y1, b->x2, b->y2 };

  if (!job->spec->head_classes)
    return;
  for (int k = 0; k < 4; k++)
    rows[k] = nms_lazy_reshape (lz, rows[k], 2, one_row);
  add_output (lz, job, results, "boxes",
      nms_lazy_transpose (lz, nms_lazy_concatenate (lz, 4, rows, 0)));
  add_output (lz, job, results, "scores", score);
  add_output (lz, job, results, "classes", b->class_id);
}

/* Gives the columns of several images the shape B x N. */
static void
split_images (nms_lazy *lz, const nms__stablehlo_job *job, nms_lazy_boxes *b)
{
  tensor *const columns[] = { &b->x1, &b->y1, &b->x2, &b->y2, &b->key, &b->valid, &b->least,
    &b->limit, &b->class_id, &b->cap_class, &b->class_cap, &b->parent };
  const int32_t dims[] = { job->images, job->spec->boxes };

  for (size_t i = 0; i < sizeof columns / sizeof *columns && job->images > 1; i++)
    if (*columns[i] && nms_lazy_shape_of (lz, *columns[i]).rank)
      *columns[i] = nms_lazy_reshape (lz, *columns[i], 2, dims);
}

/* Returns the first K picks of each image. */
static tensor
first_picks (nms_lazy *lz, const nms__stablehlo_job *job, tensor picks)
{
  const tensor from[] = { nms_lazy_s32 (lz, 0), nms_lazy_s32 (lz, 0) };
  const int32_t dims[] = { job->images, job->picks };

  return nms_lazy_slice (lz, picks, from, job->images > 1 ? dims : dims + 1);
}

/* Records the selection for CPUs and GPUs as a loop. */
static nms_lazy_kept
loop (nms_lazy *lz, const nms__stablehlo_job *job, const nms_lazy_boxes *decoded)
{
  const unsigned flags = job->spec->platform == NMS_STABLEHLO_CPU ? 0 : NMS_LAZY_NO_DIVISION;
  nms_lazy_boxes b = *decoded;

  b.class_id = job->uses_classes ? decoded->class_id : NMS_LAZY_NONE;
  b.limit = job->uses_limits
      ? nms__stablehlo_classes_limit (lz, job, decoded->class_id)
      : nms_lazy_f32 (lz, nms_lazy_limit_of (job->options->iou_threshold, job->options->inclusive));
  b.cap = nms_lazy_s32 (lz, job->picks);
  if (job->uses_caps) {
    b.cap_class = decoded->class_id;
    b.class_cap = nms__stablehlo_classes_cap (lz, job, decoded->class_id);
  }
  split_images (lz, job, &b);
  nms_lazy_kept kept = nms_lazy_nms (lz, &b, flags);
  kept.picks = first_picks (lz, job, kept.picks);
  return kept;
}

char *
nms__stablehlo_graph (nms_lazy *lz, const nms__stablehlo_job *job)
{
  Results results = { .count = 0 };
  tensor score = NMS_LAZY_NONE;
  const nms_lazy_boxes b = read_boxes (lz, job, &score);
  const nms_lazy_kept kept = job->spec->platform == NMS_STABLEHLO_TPU
      ? nms__stablehlo_tpu (lz, job, &b)
      : loop (lz, job, &b);

  add_output (lz, job, &results, "picks", kept.picks);
  add_output (lz, job, &results, "count", kept.count);
  add_decoded (lz, job, &results, &b, score);
  return nms_lazy_dump (lz, results.count, results.tensor);
}
