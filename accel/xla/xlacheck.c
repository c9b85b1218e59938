/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlacheck: compares a device with the native engine sorted. A compiler may contract a
 * product and the sum that uses it and so omit a rounding; a device may flush
 * subnormals or divide approximately. Each of these changes an overlap by a unit in
 * the last place, which only one random frame in a million would show. So the frames
 * here are searched for: pairs of boxes, with a threshold at or just below their
 * overlap, whose decision changes if one of the roundings is omitted.
 */
#include "xlacheck.h"
#include "xlaerror.h"
#include "xlaframe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BOXES 96
#define PAIRS_PER_FAULT 10
#define PREFIX "engine xla: " /* an error of the added engine begins with this */

/* Arithmetic faults of a device: the area of box A or B is not rounded before the sum, the
 * intersection is not rounded in the union, or a quotient is one unit in the last place too large
 * or too small. */
enum { AREA_A, AREA_B, UNION, ABOVE, BELOW, FAULTS };

/* The results of a run that are compared. The library derives the suppressors from the kept
 * boxes. */
typedef struct answers {
  size_t kept_count;
  int32_t *kept;
  uint8_t *outcome;
} answers;

typedef struct checker {
  nms_context *ctx;
  nms_lazy *lz;
  nms__xla_store *store;
  nms__xla_kind kind;
  uint32_t random;
  size_t boxes; /* number of boxes that the arrays hold */
  float *rows, *scores;
  int32_t *class_id, *parent;
  answers native, device;
} checker;

static uint32_t
bits (checker *c)
{
  c->random = c->random * 1664525u + 1013904223u;
  return c->random >> 8;
}

static float
number (checker *c, float scale)
{
  return (float) bits (c) / 16777216.0f * scale;
}

/* Makes two boxes with a large overlap. */
static void
random_pair (checker *c, float *a, float *b)
{
  a[0] = number (c, 300.0f);
  a[1] = number (c, 300.0f);
  a[2] = a[0] + 20.0f + number (c, 200.0f);
  a[3] = a[1] + 20.0f + number (c, 200.0f);
  for (int i = 0; i < 4; i++)
    b[i] = a[i] + number (c, 16.0f) - 8.0f;
}

/* Returns 1 and a threshold if the fault changes the decision about this pair at that
 * threshold. */
static int
shows_fault (const float *a, const float *b, int fault, float *threshold)
{
  const double aw = (double) (a[2] - a[0]), ah = (double) (a[3] - a[1]);
  const double bw = (double) (b[2] - b[0]), bh = (double) (b[3] - b[1]);
  const double w = (double) ((a[2] < b[2] ? a[2] : b[2]) - (a[0] > b[0] ? a[0] : b[0]));
  const double h = (double) ((a[3] < b[3] ? a[3] : b[3]) - (a[1] > b[1] ? a[1] : b[1]));
  const float area_a = (float) (aw * ah), area_b = (float) (bw * bh), inter = (float) (w * h);
  const float overlap = inter / ((area_a + area_b) - inter);
  float uni = (area_a + area_b) - inter, wrong;

  *threshold = overlap;
  switch (fault) {
    case AREA_A:
      uni = (float) (aw * ah + (double) area_b) - inter;
      break;
    case AREA_B:
      uni = (float) (bw * bh + (double) area_a) - inter;
      break;
    case UNION:
      uni = (float) ((double) (area_a + area_b) - w * h);
      break;
    case ABOVE:
      return 1;
    default:
      *threshold = nextafterf (overlap, 0.0f);
      return 1;
  }
  wrong = inter / uni;
  if (wrong < overlap)
    *threshold = nextafterf (overlap, 0.0f);
  return wrong != overlap;
}

/* The functions of the engine in the checker's context: run () runs the program to be checked. */
static const char *
name (void *data)
{
  (void) data;
  return "xla";
}

static int
run (void *data, const nms_frame *frame, int32_t *kept, size_t *kept_count, char *why,
    size_t why_size)
{
  const checker *c = data;

  return nms__xla_frame_run (c->lz, c->store, frame, c->kind, kept, kept_count, why, why_size);
}

/* Runs a frame with an engine and keeps a copy of its results at `into`, which has a place for each
 * box. */
static int
run_with (checker *c, const nms_boxes *boxes, nms_options *options, uint32_t engine, answers *into,
    char *error, size_t error_size)
{
  nms_result result = { .size = sizeof result };

  options->engine = engine;
  const int code = nms_run (c->ctx, boxes, options, &result);
  if (code) {
    const char *text = nms_context_error (c->ctx);
    return nms__xla_error_set (code, error, error_size, "%s",
        text + (strncmp (text, PREFIX, sizeof PREFIX - 1) ? 0 : sizeof PREFIX - 1));
  }
  into->kept_count = result.kept_count;
  memcpy (into->kept, result.kept, result.kept_count * sizeof *into->kept);
  memcpy (into->outcome, result.outcome, boxes->count * sizeof *into->outcome);
  return NMS_OK;
}

/* Runs a frame with the native engine and on the device, and compares all results. */
static int
compare (checker *c, size_t count, nms_options *options, const char *about, char *error,
    size_t error_size)
{
  nms_boxes boxes = { .size = sizeof boxes, .count = count };
  const answers *native = &c->native, *device = &c->device;
  int code;

  nms_boxes_set_rows (&boxes, c->rows);
  boxes.score.data = c->scores;
  /* give only the columns that the program's variant has */
  if (c->kind.variant & (NMS__XLA_CLASSES | NMS__XLA_CLASS_CAPS))
    boxes.class_id.data = c->class_id;
  options->class_agnostic = !(c->kind.variant & NMS__XLA_CLASSES);
  if (!(c->kind.variant & NMS__XLA_CLASS_CAPS))
    options->max_per_class = 0;
  else if (!options->max_per_class)
    options->max_per_class = 1000;
  if (c->kind.variant & NMS__XLA_PARENTS)
    boxes.parent.data = c->parent;
  options->outputs = NMS_OUTPUT_OUTCOME;
  code = run_with (c, &boxes, options, NMS_ENGINE_SORTED, &c->native, error, error_size);
  if (!code)
    code = run_with (c, &boxes, options, NMS_ENGINE_ADDED, &c->device, error, error_size);
  if (code)
    return code;
  if (device->kept_count == native->kept_count
      && !memcmp (device->kept, native->kept, native->kept_count * sizeof *native->kept)
      && !memcmp (device->outcome, native->outcome, count * sizeof *native->outcome))
    return NMS_OK;
  return nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
      "the device does not compute as IEEE binary32 requires (%s)", about);
}

/* Puts pairs of boxes that reveal a fault into a frame of small boxes far from them, at random
 * positions and in both orders, and compares the results of the device and the CPU. */
static int
check_roundings (checker *c, char *error, size_t error_size)
{
  static const char *const names[FAULTS] = { "it contracts a product and a sum, in an area",
    "it contracts a product and a sum, in an area", "it contracts a product and a sum, in a union",
    "an overlap at its threshold", "an overlap just above its threshold" };

  for (size_t i = 0; i < BOXES; i++)
    c->parent[i] = -1;
  for (int fault = 0; fault < FAULTS; fault++)
    for (int pair = 0; pair < PAIRS_PER_FAULT; pair++) {
      const size_t at = bits (c) % (BOXES - 1), other = at + 1 + bits (c) % (BOXES - 1 - at);
      nms_options options;
      float a[4], b[4];
      for (size_t i = 0; i < BOXES; i++) {
        float corner = 1e4f + 4.0f * (float) i;
        float *row = &c->rows[4 * i];
        row[0] = row[1] = corner;
        row[2] = row[3] = corner + 1.0f;
        c->scores[i] = 0.5f;
        c->class_id[i] = 7;
      }
      nms_options_init (&options, sizeof options);
      do
        random_pair (c, a, b);
      while (!shows_fault (a, b, fault, &options.iou_threshold));
      memcpy (&c->rows[4 * at], pair & 1 ? b : a, sizeof a);
      memcpy (&c->rows[4 * other], pair & 1 ? a : b, sizeof b);
      options.inclusive = pair & 2;
      if (options.inclusive)
        options.iou_threshold = nextafterf (options.iou_threshold, 2.0f);
      int code = compare (c, BOXES, &options, names[fault], error, error_size);
      if (code)
        return code;
    }
  return NMS_OK;
}

/* Checks frames with ties, both zeros, infinite scores, flat and tiny boxes,
 * subnormal and huge coordinates, classes and caps. */
static int
check_frames (checker *c, char *error, size_t error_size)
{
  static const float scales[] = { 64.0f, 0x1p-49f, 0x1p-140f, 0x1p59f, 1.0f };
  static const float special[] = { 0.0f, -0.0f, -INFINITY, INFINITY, 0x1p-149f, -0x1p-149f };
  nms_options options;

  for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
    for (size_t i = 0; i < BOXES; i++) {
      for (int k = 0; k < 4; k++)
        c->rows[4 * i + (size_t) k] = (float) (bits (c) % 24) / 24.0f * scales[s];
      c->scores[i] = i % 8 ? (float) (bits (c) % 16) : special[i / 8 % 6];
      c->class_id[i] = (int32_t) (bits (c) % 3) - 1;
      c->parent[i] = (int32_t) (bits (c) % (4 * BOXES)) - 2 * BOXES;
    }
    nms_options_init (&options, sizeof options);
    options.iou_threshold = s == 4 ? 0.0f : 0.3f;
    options.max_detections = s == 1 ? 7 : 0;
    options.max_per_class = s == 3 ? 5 : 20;
    int code = compare (c, BOXES, &options, "a frame of mixed boxes", error, error_size);
    if (code)
      return code;
  }
  return NMS_OK;
}

/* Checks a frame of as many boxes as the program takes, with 12 picks. */
static int
check_largest (checker *c, char *error, size_t error_size)
{
  nms_options options;

  for (size_t i = 0; i < c->boxes; i++) {
    random_pair (c, &c->rows[4 * i], &c->rows[4 * i]);
    c->scores[i] = (float) (bits (c) % 4096);
    c->class_id[i] = 0;
    c->parent[i] = -1;
  }
  nms_options_init (&options, sizeof options);
  options.max_detections = 12;
  return compare (c, c->boxes, &options, "a full frame", error, error_size);
}

/* Allocates the columns and the context with its engine. Returns 0 when out of memory. */
static int
allocate (checker *c)
{
  const nms_added_engine engine = { .size = sizeof engine,
    .data = c,
    .required = 1,
    .name = name,
    .run = run };

  c->ctx = nms_context_new ();
  c->lz = nms_lazy_new (c->store->cache);
  c->rows = calloc (c->boxes, 4 * sizeof *c->rows);
  c->scores = calloc (c->boxes, sizeof *c->scores);
  c->class_id = calloc (c->boxes, sizeof *c->class_id);
  c->parent = calloc (c->boxes, sizeof *c->parent);
  c->native.kept = calloc (c->boxes, sizeof *c->native.kept);
  c->native.outcome = calloc (c->boxes, sizeof *c->native.outcome);
  c->device.kept = calloc (c->boxes, sizeof *c->device.kept);
  c->device.outcome = calloc (c->boxes, sizeof *c->device.outcome);
  return c->lz && c->rows && c->scores && c->class_id && c->parent && c->native.kept
      && c->native.outcome && c->device.kept && c->device.outcome
      && !nms_context_add_engine (c->ctx, &engine);
}

int
nms__xla_check (nms__xla_store *store, nms__xla_kind kind, char *error, size_t error_size)
{
  checker c = { .store = store,
    .kind = kind,
    .random = 12345,
    .boxes = (size_t) 1 << kind.log2_boxes };
  int code = allocate (&c)
      ? NMS_OK
      : nms__xla_error_set (NMS_ERROR_MEMORY, error, error_size, "out of memory");

  if (!code)
    code = check_roundings (&c, error, error_size);
  if (!code)
    code = check_frames (&c, error, error_size);
  if (!code)
    code = check_largest (&c, error, error_size);
  nms_context_free (&c.ctx);
  nms_lazy_free (&c.lz);
  free (c.rows);
  free (c.scores);
  free (c.class_id);
  free (c.parent);
  free (c.native.kept);
  free (c.native.outcome);
  free (c.device.kept);
  free (c.device.outcome);
  return code;
}
