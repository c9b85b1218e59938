/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nms_context_add_engine: an engine of this test, which compares all pairs, gives the results of
 * the reference; frames that it leaves are decided by auto; impossible results are noticed.
 */
#include "boxgen.h"
#include "enginecheck.h"
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

/* An engine with the results of decide, or with those in `kept`. */
typedef struct {
  int code;        /* that `run` returns */
  const char *why; /* may be NULL */
  const int32_t *kept;
  size_t count;
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
  if (e->kept) {
    memcpy (kept, e->kept, f->count * sizeof *kept);
    *count = e->count;
  }
  if (e->why)
    g_snprintf (why, why_size, "%s", e->why);
  g_atomic_int_add (&e->busy, -1);
  return e->code;
}

static const char *
engine_reason (void *data)
{
  const Engine *e = data;

  return e->code == NMS_ENGINE_LEFT ? e->why : NULL;
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

static void
add (nms_context *ctx, Engine *e, int required)
{
  const nms_added_engine engine = { .size = sizeof engine,
    .data = e,
    .required = required,
    .name = engine_name,
    .run = engine_run,
    .reason = engine_reason,
    .interrupt = engine_interrupt,
    .free = engine_free };

  g_assert_cmpint (nms_context_add_engine (ctx, &engine), ==, NMS_OK);
}

static Engine shared; /* the engine that enginecheck adds to its contexts */

int
enginecheck_add_engine (nms_context *ctx)
{
  if (ctx)
    add (ctx, &shared, 1);
  return NMS_OK;
}

/* --------------------------------------------------------------------- tests */

/* Five boxes, of which three are kept. */
static const float rows[] = { 0, 0, 10, 10, 1, 1, 11, 11, 20, 20, 30, 30, 21, 21, 31, 31, 50, 50,
  60, 60 };
static const float scores[] = { 0.9f, 0.8f, 0.7f, 0.6f, 0.5f };

/* Frames of five boxes, twice. An engine that is required fails with the error, others leave the
 * frame to another engine. `runs` is how often the engine was asked. */
static const struct {
  const char *name;
  int32_t kept[5]; /* returned by the engine if `count` is not 0 */
  size_t count;
  int code; /* that it returns */
  uint64_t max;
  float min_size_ratio;
  uint32_t method;
  int error, runs;
  const char *reason;
} frames[] = {
#define IMPOSSIBLE NMS_ERROR_ENGINE, 1, "it returned impossible results"
  { "twice", { 0, 0, 4 }, 3, NMS_OK, 0, 0, 0, IMPOSSIBLE },
  { "beyond", { 0, 2, 5 }, 3, NMS_OK, 0, 0, 0, IMPOSSIBLE },
  { "negative", { 0, 2, -1 }, 3, NMS_OK, 0, 0, 0, IMPOSSIBLE },
  { "unordered", { 2, 0, 4 }, 3, NMS_OK, 0, 0, 0, IMPOSSIBLE },
  { "too many", { 0, 1, 2, 3, 4 }, 6, NMS_OK, 0, 0, 0, IMPOSSIBLE },
  { "more than the cap", { 0, 2, 4 }, 3, NMS_OK, 2, 0, 0, IMPOSSIBLE },
  { "leaves", { -1, -1, -1, -1, -1 }, 5, NMS_ENGINE_LEFT, 0, 0, 0, NMS_ERROR_ENGINE, 2,
      "it is tired" },
  { "sizes", { 0 }, 0, NMS_OK, 0, 0.5f, 0, NMS_ERROR_UNSUPPORTED, 0,
      "it does not take min_size_ratio" },
  { "method", { 0 }, 0, NMS_OK, 0, 0, NMS_METHOD_GREEDY_MERGE, NMS_ERROR_UNSUPPORTED, 0,
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

/* The threads of a batch share the engine, which runs one image at a time. */
static void
test_random (void)
{
  const uint64_t rounds = testrunner_rounds (600);
  nms_context *ctx = nms_context_new ();
  nms_options options = { .size = sizeof options, .engine = NMS_ENGINE_ADDED };
  nms_result result;

  g_assert_cmpint (nms_context_set_threads (ctx, 4), ==, NMS_OK);
  for (uint64_t seed = 1; seed <= rounds; seed++) {
    BoxRandom random = { seed };
    g_auto (BoxCall) call = { 0 };
    boxcall_random (&call, &random, (int) (seed % BOXGEN_TEMPERS), seed % 90);
    g_assert_cmpstr (enginecheck_run (ctx, &call.boxes, &call.options, ENGINECHECK_FULL), ==, NULL);
  }
  g_assert_cmpint (shared.runs, >, rounds);
  g_assert_cmpint (run_five (ctx, &options, &result), ==, NMS_OK);
  g_assert_cmpint (nms_context_engine (ctx), ==, NMS_ENGINE_ADDED);
  g_assert_cmpstr (nms_context_engine_in_use (ctx), ==, "naive");
  g_assert_null (nms_context_engine_reason (ctx));
  nms_context_interrupt (ctx);
  g_assert_cmpint (shared.interrupts, ==, 1);
  g_assert_cmpint (shared.frees, ==, 0);
  nms_context_free (&ctx);
  g_assert_cmpint (shared.frees, ==, 1);
}

static void
test_frame (gconstpointer row)
{
  const typeof (*frames) *f = row;
  g_autofree char *text = g_strdup_printf ("engine naive: %s", f->reason);

  for (int required = 0; required < 2; required++) {
    Engine e = { f->code, f->code ? f->reason : NULL, f->count ? f->kept : NULL, f->count };
    nms_context *ctx = nms_context_new ();
    nms_options options;
    nms_result result;

    add (ctx, &e, required);
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
  Engine e = { NMS_ERROR_ENGINE, "it broke" };
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

static const TestCase cases[] = { { "/added-engine/random", test_random },
  TEST_ROWS ("/added-engine/frame/%s", test_frame, frames), { "/added-engine/errors", test_errors },
  { NULL } };

TEST_PROGRAM (cases);
