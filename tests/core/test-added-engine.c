/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nms_context_add_engine: an engine of this test, which compares all pairs, gives the results of
 * the reference; frames that it leaves are decided by auto; impossible results are noticed.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "rounds.h"
#include "testrunner.h"

#include <glib.h>
#include <stdlib.h>
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

/* Runs the call with the added engine and compares the result with the reference. */
static void
check (nms_context *ctx, BoxCall *call)
{
  nms_result result = { .size = sizeof result };
  RefResult expected;

  call->options.engine = NMS_ENGINE_ADDED;
  call->options.outputs = ENGINECHECK_ALL_OUTPUTS;
  int error = nms_run (ctx, &call->boxes, &call->options, &result);
  if (error)
    g_error ("%s: %s", nms_strerror (error), nms_context_error (ctx));
  ref_run (&call->boxes, &call->options, &expected);
  char *difference = enginecheck_difference_of (&result, &expected, ENGINECHECK_ALL_OUTPUTS);
  g_assert_cmpstr (difference, ==, NULL);
  ref_result_clear (&expected);
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
    BoxCall call;
    boxcall_random (&call, &random, (int) (seed % BOXGEN_TEMPERS), seed % 90);
    e.way = seed % 5 ? RIGHT : LEAVES;
    const int runs = e.runs;
    check (ctx, &call);
    const int asked = !call.boxes.angle.data && call.options.method == NMS_METHOD_HARD
        && call.options.metric == NMS_METRIC_IOU && !boxcall_is_native_only (&call);
    if (asked) {
      g_assert_cmpint (e.runs, ==, runs + 1);
      g_assert_true ((nms_context_engine (ctx) == NMS_ENGINE_ADDED) == (e.way == RIGHT));
      g_assert_cmpstr (nms_context_engine_reason (ctx), ==, e.way == RIGHT ? NULL : "it is tired");
    } else
      g_assert_cmpint (e.runs, ==, runs);
    if (asked && e.way == RIGHT)
      g_assert_cmpstr (nms_context_engine_in_use (ctx), ==, "naive");
    boxcall_clear (&call);
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

static int
run_five (nms_context *ctx, nms_options *options, nms_result *result)
{
  nms_boxes boxes = { .size = sizeof boxes, .count = 5 };

  nms_boxes_set_rows (&boxes, rows);
  boxes.score.data = scores;
  *result = (nms_result) { .size = sizeof *result };
  return nms_run (ctx, &boxes, options, result);
}

/* Impossible results are not used, and the engine is not asked again. */
static void
test_impossible (void)
{
  for (Way way = TWICE; way <= TOO_MANY; way++)
    for (int required = 0; required < 2; required++) {
      Engine e = { .way = way };
      nms_context *ctx = context_with (&e, required);
      nms_options options;
      nms_result result;
      nms_options_init (&options, sizeof options);
      options.engine = NMS_ENGINE_ADDED;
      for (int i = 0; i < 2; i++) {
        int error = run_five (ctx, &options, &result);
        g_assert_cmpint (error, ==, required ? NMS_ERROR_ENGINE : NMS_OK);
        g_assert_cmpstr (nms_context_error (ctx), ==,
            required ? "engine naive: it returned impossible results" : "");
        g_assert_cmpuint (result.kept_count, ==, required ? 0 : 3);
        g_assert_cmpstr (nms_context_engine_reason (ctx), ==, "it returned impossible results");
      }
      g_assert_cmpint (e.runs, ==, 1);
      nms_context_free (&ctx);
    }
}

/* More boxes than a cap allows are impossible, too. */
static void
test_caps (void)
{
  Engine e = { .way = TOO_MANY };
  nms_context *ctx = context_with (&e, 0);
  nms_options options;
  nms_result result;

  nms_options_init (&options, sizeof options);
  options.engine = NMS_ENGINE_ADDED;
  options.max_detections = 2;
  g_assert_cmpint (run_five (ctx, &options, &result), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, 2);
  g_assert_cmpint (nms_context_engine (ctx), !=, NMS_ENGINE_ADDED);
  nms_context_free (&ctx);
}

/* Frames with an option that no added engine gets go to another engine, or fail. */
static void
test_sizes (void)
{
  for (int required = 0; required < 2; required++) {
    Engine e = { .way = RIGHT };
    nms_context *ctx = context_with (&e, required);
    nms_options options;
    nms_result result;

    nms_options_init (&options, sizeof options);
    options.engine = NMS_ENGINE_ADDED;
    options.min_size_ratio = 0.5f;
    g_assert_cmpint (run_five (ctx, &options, &result), ==,
        required ? NMS_ERROR_UNSUPPORTED : NMS_OK);
    g_assert_cmpstr (nms_context_error (ctx), ==,
        required ? "engine naive: it does not take min_size_ratio" : "");
    g_assert_cmpstr (nms_context_engine_reason (ctx), ==, "it does not take min_size_ratio");
    g_assert_cmpint (e.runs, ==, 0);
    nms_context_free (&ctx);
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

  /* another engine in its place, which has to run */
  e.way = LEAVES;
  engine.required = 1;
  engine.free = engine_free;
  g_assert_cmpint (nms_context_add_engine (ctx, &engine), ==, NMS_OK);
  g_assert_cmpint (e.frees, ==, 0);
  g_assert_cmpint (run_five (ctx, &options, &result), ==, NMS_ERROR_ENGINE);
  g_assert_cmpstr (nms_context_error (ctx), ==, "engine naive: it is tired");
  options.method = NMS_METHOD_SOFT_LINEAR;
  g_assert_cmpint (run_five (ctx, &options, &result), ==, NMS_ERROR_UNSUPPORTED);
  g_assert_cmpstr (nms_context_error (ctx), ==,
      "engine naive: it runs method hard with metric iou only");
  g_assert_cmpstr (nms_context_engine_reason (ctx), ==, "it runs method hard with metric iou only");
  options.method = NMS_METHOD_HARD;
  options.engine = NMS_ENGINE_AUTO;
  g_assert_cmpint (run_five (ctx, &options, &result), ==, NMS_OK);
  g_assert_null (nms_context_engine_reason (ctx));
  nms_context_free (&ctx);
  g_assert_cmpint (e.frees, ==, 1);
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
  { "/added-engine/impossible", test_impossible }, { "/added-engine/caps", test_caps },
  { "/added-engine/sizes", test_sizes }, { "/added-engine/errors", test_errors },
  { "/added-engine/batch", test_batch }, { NULL } };

TEST_PROGRAM (cases);
