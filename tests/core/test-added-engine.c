/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nms_context_add_engine: an engine of this test, which compares all pairs, gives the results of
 * the reference; frames that it leaves are decided by auto; impossible results are noticed.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "rounds.h"
#include "scoped.h"
#include "testrunner.h"

#include <glib.h>
#include <string.h>

/* ------------------------------------------------------------ a naive engine */

#define LEAST_EXTENT 0x1p-50f

static float
extent (float from, float to)
{
  return to - from > LEAST_EXTENT ? to - from : 0.0f;
}

static int
exceeds (const nms_frame *f, size_t kept, size_t box)
{
  const float w = extent (MAX (f->x1[kept], f->x1[box]), MIN (f->x2[kept], f->x2[box]));
  const float h = extent (MAX (f->y1[kept], f->y1[box]), MIN (f->y2[kept], f->y2[box]));
  const float area_kept = (f->x2[kept] - f->x1[kept]) * (f->y2[kept] - f->y1[kept]);
  const float area_box = (f->x2[box] - f->x1[box]) * (f->y2[box] - f->y1[box]);
  const float inter = w * h, all = (area_kept + area_box) - inter;

  return inter > 0.0f && (double) inter > (f->limits ? f->limits[box] : f->limit) * (double) all;
}

static int
suppresses (const nms_frame *f, size_t kept, size_t box)
{
  const int related = f->parent
      && (f->parent[kept] == f->index[box] || f->parent[box] == f->index[kept]);

  return !related && (!f->class_id || f->class_id[kept] == f->class_id[box])
      && exceeds (f, kept, box);
}

/* Returns the undecided box that ranks highest, SIZE_MAX if there is none. */
static size_t
best_of (const nms_frame *f, const uint8_t *decided)
{
  size_t best = SIZE_MAX;

  for (size_t i = 0; i < f->count; i++)
    if (!decided[i] && (best == SIZE_MAX || f->key[i] > f->key[best]))
      best = i;
  return best;
}

static int
is_over_class_cap (const nms_frame *f, size_t box, const int32_t *kept, size_t count)
{
  uint64_t of_class = 0;

  for (size_t k = 0; f->cap_class && k < count; k++)
    of_class += f->cap_class[kept[k]] == f->cap_class[box];
  return f->cap_class && of_class >= f->class_cap[box];
}

static void
decide (const nms_frame *f, int32_t *kept, size_t *count)
{
  uint8_t *decided = g_malloc0 (f->count + 1);
  size_t best;

  *count = 0;
  while (*count < f->cap && (best = best_of (f, decided)) != SIZE_MAX) {
    int keep = !is_over_class_cap (f, best, kept, *count);
    for (size_t k = 0; k < *count && keep; k++)
      keep = !suppresses (f, (size_t) kept[k], best);
    decided[best] = 1;
    if (keep)
      kept[(*count)++] = (int32_t) best;
  }
  g_free (decided);
}

/* ------------------------------------------------------------------ the hook */

typedef enum { RIGHT, LEAVES, FAILS, TWICE, BEYOND, NEGATIVE, UNORDERED, TOO_MANY } Way;

typedef struct {
  Way way;
  int runs, busy, interrupts, frees;
} Engine;

static const char *
engine_name (void *data)
{
  return "naive";
}

static int
engine_run (void *data, const nms_frame *f, int32_t *kept, size_t *count, char *why,
    size_t why_size)
{
  Engine *e = data;

  g_assert_cmpint (g_atomic_int_add (&e->busy, 1), ==, 0);
  g_assert_cmpuint (f->size, ==, sizeof *f);
  e->runs++;
  decide (f, kept, count);
  switch (e->way) {
    case LEAVES:
      memset (kept, 255, f->count * sizeof *kept);
      g_snprintf (why, why_size, "it is tired");
      break;
    case TWICE:
      kept[1] = kept[0];
      break;
    case BEYOND:
      kept[*count - 1] = (int32_t) f->count;
      break;
    case NEGATIVE:
      kept[*count - 1] = -1;
      break;
    case UNORDERED:
      kept[0] = kept[*count - 1];
      break;
    case TOO_MANY:
      *count = f->count + 1;
      break;
    default:
      g_snprintf (why, why_size, "it broke");
  }
  g_atomic_int_add (&e->busy, -1);
  return e->way == LEAVES ? NMS_ENGINE_LEFT : e->way == FAILS ? NMS_ERROR_ENGINE : NMS_OK;
}

static const char *
engine_reason (void *data)
{
  const Engine *e = data;

  return e->way == LEAVES ? "it is tired" : NULL;
}

static void
engine_interrupt (void *data)
{
  ((Engine *) data)->interrupts++;
}

static void
engine_free (void *data)
{
  ((Engine *) data)->frees++;
}

static nms_context *
context_with (Engine *e, int required)
{
  const nms_added_engine engine = { .size = sizeof engine,
    .data = e,
    .required = required,
    .name = engine_name,
    .run = engine_run,
    .reason = engine_reason,
    .interrupt = engine_interrupt,
    .free = engine_free };
  nms_context *ctx = nms_context_new ();

  g_assert_cmpint (nms_context_add_engine (ctx, &engine), ==, NMS_OK);
  return ctx;
}

/* --------------------------------------------------------------------- tests */

static void
test_random (void)
{
  const uint64_t rounds = rounds_from_environment ("NMS_TEST_ROUNDS", 600);
  Engine e = { .way = RIGHT };
  nms_context *ctx = context_with (&e, 0);

  for (uint64_t seed = 1; seed <= rounds; seed++) {
    BoxRandom random = { seed };
    g_auto (BoxCall) call = { 0 };
    g_auto (RefResult) expected = { 0 };
    nms_result result = { .size = sizeof result };
    const int before = e.runs, leaves = seed % 5 == 0;

    boxcall_random (&call, &random, (int) (seed % BOXGEN_TEMPERS), seed % 90);
    const int asked = !boxcall_is_native_only (&call);
    call.options.engine = NMS_ENGINE_ADDED;
    call.options.outputs = ENGINECHECK_ALL_OUTPUTS;
    e.way = leaves ? LEAVES : RIGHT;
    g_assert_cmpint (nms_run (ctx, &call.boxes, &call.options, &result), ==, NMS_OK);
    ref_run (&call.boxes, &call.options, &expected);
    g_assert_cmpstr (enginecheck_difference_of (&result, &expected, ENGINECHECK_ALL_OUTPUTS), ==,
        NULL);
    g_assert_cmpint (e.runs, ==, before + asked);
    if (!asked)
      continue;
    g_assert_true ((nms_context_engine (ctx) == NMS_ENGINE_ADDED) == !leaves);
    g_assert_cmpstr (nms_context_engine_reason (ctx), ==, leaves ? "it is tired" : NULL);
    if (!leaves)
      g_assert_cmpstr (nms_context_engine_in_use (ctx), ==, "naive");
  }
  nms_context_interrupt (ctx);
  g_assert_cmpint (e.interrupts, ==, 1);
  g_assert_cmpint (e.frees, ==, 0);
  nms_context_free (&ctx);
  g_assert_cmpint (e.frees, ==, 1);
}

/* Five boxes, of which three are kept. */
static const float rows[] = { 0, 0, 10, 10, 1, 1, 11, 11, 20, 20, 30, 30, 21, 21, 31, 31, 50, 50,
  60, 60 };
static const float scores[] = { 0.9f, 0.8f, 0.7f, 0.6f, 0.5f };

/* Frames of five boxes, twice. An engine that is required fails with the code, others leave the
 * frame to another engine. `runs` is how often the engine was asked. */
static const struct {
  const char *name;
  Way way;
  uint64_t max;
  float min_size_ratio;
  uint32_t method;
  int error, runs;
  const char *reason;
} frames[] = {
#define IMPOSSIBLE "it returned impossible results"
  { "twice", TWICE, 0, 0, 0, NMS_ERROR_ENGINE, 1, IMPOSSIBLE },
  { "beyond", BEYOND, 0, 0, 0, NMS_ERROR_ENGINE, 1, IMPOSSIBLE },
  { "negative", NEGATIVE, 0, 0, 0, NMS_ERROR_ENGINE, 1, IMPOSSIBLE },
  { "unordered", UNORDERED, 0, 0, 0, NMS_ERROR_ENGINE, 1, IMPOSSIBLE },
  { "too many", TOO_MANY, 0, 0, 0, NMS_ERROR_ENGINE, 1, IMPOSSIBLE },
  { "more than the cap", TOO_MANY, 2, 0, 0, NMS_ERROR_ENGINE, 1, IMPOSSIBLE },
  { "leaves", LEAVES, 0, 0, 0, NMS_ERROR_ENGINE, 2, "it is tired" },
  { "sizes", RIGHT, 0, 0.5f, 0, NMS_ERROR_UNSUPPORTED, 0, "it does not take min_size_ratio" },
  { "method", RIGHT, 0, 0, NMS_METHOD_GREEDY_MERGE, NMS_ERROR_UNSUPPORTED, 0,
      "it runs method hard with metric iou only" },
  { NULL }
};

static int
run_five (nms_context *ctx, nms_options *options, nms_result *result)
{
  nms_boxes boxes = { .size = sizeof boxes, .count = 5 };

  nms_boxes_set_rows (&boxes, rows);
  boxes.score.data = scores;
  *result = (nms_result) { .size = sizeof *result };
  return nms_run (ctx, &boxes, options, result);
}

static void
test_frame (gconstpointer row)
{
  const typeof (*frames) *f = row;
  g_autofree char *text = g_strdup_printf ("engine naive: %s", f->reason);

  for (int required = 0; required < 2; required++) {
    Engine e = { .way = f->way };
    nms_context *ctx = context_with (&e, required);
    nms_options options;
    nms_result result;

    nms_options_init (&options, sizeof options);
    options.engine = NMS_ENGINE_ADDED;
    options.max_detections = f->max;
    options.min_size_ratio = f->min_size_ratio;
    options.method = f->method;
    for (int i = 0; i < 2; i++) {
      g_assert_cmpint (run_five (ctx, &options, &result), ==, required ? f->error : NMS_OK);
      g_assert_cmpstr (nms_context_error (ctx), ==, required ? text : "");
      g_assert_cmpuint (result.kept_count, ==, required ? 0 : f->max ? 2 : 3);
      g_assert_cmpstr (nms_context_engine_reason (ctx), ==, f->reason);
      if (!required)
        g_assert_cmpint (nms_context_engine (ctx), !=, NMS_ENGINE_ADDED);
    }
    g_assert_cmpint (e.runs, ==, f->runs);
    options = (nms_options) { .size = sizeof options, .iou_threshold = 0.5f };
    g_assert_cmpint (run_five (ctx, &options, &result), ==, NMS_OK);
    g_assert_null (nms_context_engine_reason (ctx));
    nms_context_free (&ctx);
    g_assert_cmpint (e.frees, ==, 1);
  }
}

static void
test_errors (void)
{
  Engine e = { .way = FAILS };
  nms_context *ctx = nms_context_new ();
  nms_added_engine engine = { .size = sizeof engine, .data = &e, .name = engine_name };
  nms_options options;
  nms_result result;

  nms_options_init (&options, sizeof options);
  options.engine = NMS_ENGINE_ADDED;
  g_assert_cmpint (run_five (ctx, &options, &result), ==, NMS_ERROR_UNSUPPORTED);
  g_assert_cmpstr (nms_context_error (ctx), ==, "no engine was added to the context");
  g_assert_cmpint (nms_context_add_engine (NULL, &engine), ==, NMS_ERROR_ARGUMENT);
  g_assert_cmpint (nms_context_add_engine (ctx, NULL), ==, NMS_ERROR_ARGUMENT);
  g_assert_cmpint (nms_context_add_engine (ctx, &engine), ==, NMS_ERROR_ARGUMENT);
  g_assert_cmpstr (nms_context_error (ctx), ==, "engine: name or run is NULL");
  engine.run = engine_run;
  engine.size = 8;
  g_assert_cmpint (nms_context_add_engine (ctx, &engine), ==, NMS_ERROR_ARGUMENT);
  engine.size = sizeof engine;
  g_assert_cmpint (nms_context_add_engine (ctx, &engine), ==, NMS_OK);
  g_assert_cmpint (run_five (ctx, &options, &result), ==, NMS_ERROR_ENGINE);
  g_assert_cmpstr (nms_context_error (ctx), ==, "engine naive: it broke");
  /* another engine in its place */
  engine.free = engine_free;
  for (int frees = 0; frees < 2; frees++) {
    g_assert_cmpint (nms_context_add_engine (ctx, &engine), ==, NMS_OK);
    g_assert_cmpint (e.frees, ==, frees);
  }
  nms_context_free (&ctx);
  g_assert_cmpint (e.frees, ==, 2);
}

/* The threads of a batch share the engine, which runs one image at a time. */
static void
test_batch (void)
{
  enum { IMAGES = 400 };
  Engine e = { .way = RIGHT };
  nms_context *ctx = context_with (&e, 1);
  float *many = g_new (float, IMAGES *G_N_ELEMENTS (rows));
  size_t offsets[IMAGES + 1], kept_offsets[IMAGES + 1];
  int32_t *kept = g_new (int32_t, IMAGES * 5);
  nms_boxes boxes = { .size = sizeof boxes, .count = IMAGES * 5 };
  const nms_batch_arrays arrays = { .size = sizeof arrays,
    .kept = kept,
    .kept_capacity = IMAGES * 5,
    .kept_offsets = kept_offsets };
  nms_result result = { .size = sizeof result };
  nms_options options;

  for (size_t i = 0; i <= IMAGES; i++)
    offsets[i] = 5 * i;
  for (size_t i = 0; i < IMAGES; i++)
    memcpy (many + i * G_N_ELEMENTS (rows), rows, sizeof rows);
  nms_boxes_set_rows (&boxes, many);
  nms_options_init (&options, sizeof options);
  options.engine = NMS_ENGINE_ADDED;
  g_assert_cmpint (nms_context_set_threads (ctx, 4), ==, NMS_OK);
  g_assert_cmpint (nms_run_batch (ctx, &boxes, offsets, IMAGES, &options, &arrays, &result), ==,
      NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, 3 * IMAGES);
  g_assert_cmpint (e.runs, ==, IMAGES);
  g_assert_cmpstr (nms_context_engine_in_use (ctx), ==, "naive");
  nms_context_free (&ctx);
  g_assert_cmpint (e.frees, ==, 1);
  g_free (many);
  g_free (kept);
}

static const TestCase cases[] = { { "/added-engine/random", test_random },
  TEST_ROWS ("/added-engine/frame/%s", test_frame, frames), { "/added-engine/errors", test_errors },
  { "/added-engine/batch", test_batch }, { NULL } };

TEST_PROGRAM (cases);
