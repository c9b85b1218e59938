/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Properties of NMS on thousands of random and hostile calls: every engine equals the
 * reference, and results depend on their input as the definition promises.
 *
 * Each call comes from one seed, which a failure reports. NMS_TEST_SEED=<seed>
 * NMS_TEST_ROUNDS=1 runs it alone.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "rounds.h"
#include "scoped.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <math.h>
#include <stdlib.h>

/* Random calls of `rounds` seeds, whose sizes are from `least` to `most` boxes, and whose tempers
 * are those from `first` to `end` - 1. */
typedef struct {
  const char *name;
  uint64_t seed, rounds;
  size_t least, most;
  int first, end, how;
} Draw;

#define TEMPERS 0, BOXGEN_TEMPERS
#define LAYOUTS BOXGEN_TEMPERS, BOXGEN_LAYOUTS

static const Draw draws[] = { { "small", 1000000, 20000, 0, 11, TEMPERS, ENGINECHECK_FULL },
  { "some", 0, 1500, 0, 300, TEMPERS, ENGINECHECK_FULL },
  { "many", 2000000, 24, 700, 3200, TEMPERS, ENGINECHECK_QUICK },
  /* so many that caps are filled by batches, and engine auto parts them by class */
  { "more", 3000000, 40, 1024, 7000, BOXGEN_UNIFORM, BOXGEN_EQUAL, ENGINECHECK_OUTPUTS },
  { "classes", 4000000, 400, 1, 1200, BOXGEN_UNIFORM, BOXGEN_EQUAL, ENGINECHECK_OUTPUTS },
  { "layouts of few", 5000000, 4000, 1, 12, LAYOUTS, ENGINECHECK_OUTPUTS },
  { "layouts of some", 6000000, 2000, 13, 300, LAYOUTS, ENGINECHECK_OUTPUTS },
  { "layouts of many", 7000000, 24, 2000, 6000, LAYOUTS, ENGINECHECK_OUTPUTS }, { NULL } };

static void
test_equals_reference (gconstpointer row)
{
  const Draw *d = row;
  const uint64_t first = rounds_from_environment ("NMS_TEST_SEED", d->seed);
  const uint64_t rounds = MIN (d->rounds, rounds_from_environment ("NMS_TEST_ROUNDS", d->rounds));

  for (uint64_t seed = first; seed < first + rounds; seed++) {
    BoxRandom random = { seed };
    g_auto (BoxCall) call = { 0 };
    const int temper = d->first + (int) (seed % (uint64_t) (d->end - d->first));
    const uint32_t range = (uint32_t) (d->most - d->least + 1);
    boxcall_random (&call, &random, temper, d->least + boxrandom_below (&random, range));
    char *difference = enginecheck_run (context, &call.boxes, &call.options, d->how);
    if (difference)
      g_error ("seed %" G_GUINT64_FORMAT ", %zu boxes: %s", seed, call.boxes.count, difference);
  }
}

/* Lets a column run from the last element to the first. */
static void
reverse (nms_column *column, size_t count, ptrdiff_t size)
{
  const ptrdiff_t stride = column->stride ? column->stride : size;

  if (column->data && count)
    column->data = (const char *) column->data + (ptrdiff_t) (count - 1) * stride;
  column->stride = -stride;
}

static void
exchange (nms_column *a, nms_column *b, uint32_t wanted)
{
  const nms_column before = *a;

  if (wanted) {
    *a = *b;
    *b = before;
  }
}

/* Reverses the order of the boxes, exchanges some of their corners and x and y, and multiplies all
 * coordinates by a power of two. */
static void
transform (BoxCall *call, BoxRandom *random)
{
  nms_boxes *boxes = &call->boxes;
  nms_column *const words[] = { &boxes->x1, &boxes->y1, &boxes->x2, &boxes->y2, &boxes->score,
    &boxes->class_id, &boxes->parent };
  const float scale = ldexpf (1.0f, (int) boxrandom_below (random, 40) - 20);
  const size_t n = boxes->count;

  for (size_t i = 0; i < 4 * n; i++)
    call->corners[i] *= scale;
  for (size_t i = 0; call->parent && i < n; i++)
    if (call->parent[i] >= 0 && (size_t) call->parent[i] < n)
      call->parent[i] = (int32_t) n - 1 - call->parent[i];
  for (size_t c = 0; c < G_N_ELEMENTS (words); c++)
    reverse (words[c], n, 4);
  reverse (&boxes->exclude, n, 1);
  exchange (&boxes->x1, &boxes->x2, boxrandom_below (random, 2));
  exchange (&boxes->y1, &boxes->y2, boxrandom_below (random, 2));
  exchange (&boxes->x1, &boxes->y1, 1);
  exchange (&boxes->x2, &boxes->y2, 1);
}

/* The order of the input matters only if scores are equal. An overlap keeps every bit if x and y
 * are exchanged, or two corners, or if all coordinates are multiplied by a power of two. */
static void
test_symmetric (void)
{
  static const int tempers[] = { BOXGEN_UNIFORM, BOXGEN_GRID, BOXGEN_CROWD, BOXGEN_EQUAL };
  const uint64_t rounds = MIN (1500, rounds_from_environment ("NMS_TEST_ROUNDS", 1500));

  for (uint64_t seed = 0; seed < rounds; seed++) {
    BoxRandom random = { 5000000 + seed };
    g_auto (BoxCall) call = { 0 };
    g_auto (RefResult) expected = { 0 };
    nms_result result = { .size = sizeof result };
    const int32_t n = (int32_t) boxrandom_below (&random, 200);

    boxcall_random (&call, &random, tempers[seed % G_N_ELEMENTS (tempers)], (size_t) n);
    boxcall_distinct_scores (&call, &random);
    ref_run (&call.boxes, &call.options, &expected);
    transform (&call, &random);
    call.options.outputs = NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY;
    g_assert_cmpint (nms_run (context, &call.boxes, &call.options, &result), ==, NMS_OK);
    g_assert_cmpuint (result.kept_count, ==, expected.kept_count);
    for (size_t k = 0; k < result.kept_count; k++)
      g_assert_cmpint (n - 1 - result.kept[k], ==, expected.kept[k]);
    for (int32_t i = 0; i < n; i++) {
      const int32_t by = result.suppressed_by[n - 1 - i];
      g_assert_cmpint (result.outcome[n - 1 - i], ==, expected.outcome[i]);
      g_assert_cmpint (by < 0 ? by : n - 1 - by, ==, expected.suppressed_by[i]);
    }
  }
}

/* nms_iou equals the division of the definition, to the bit. */
static void
test_iou (void)
{
  const uint64_t rounds = rounds_from_environment ("NMS_TEST_ROUNDS", 50000);

  for (uint64_t seed = 9000000; seed < 9000000 + rounds; seed++) {
    BoxRandom random = { seed };
    g_auto (BoxCall) call = { 0 };
    float rows[2][4];

    boxcall_random (&call, &random, (int) (seed % BOXGEN_TEMPERS), 2);
    for (size_t i = 0; i < 2; i++)
      boxcall_corners (&call, i, rows[i]);
    const float is = nms_iou (rows[0], rows[1]), must = ref_iou (rows[0], rows[1]);
    g_assert_cmpmem (&is, sizeof is, &must, sizeof must);
  }
}

/* Each of these layouts would take minutes if the time grew with the square of the number of
 * boxes. */
static void
test_layouts_end (void)
{
  const size_t count = rounds_from_environment ("NMS_TEST_ROUNDS", 400) < 400 ? 20000 : 100000;

  for (int layout = BOXGEN_TEMPERS; layout < BOXGEN_LAYOUTS; layout++) {
    BoxRandom random = { 1 };
    g_auto (BoxCall) call = { 0 };
    nms_result result = { .size = sizeof result };

    boxcall_random (&call, &random, layout, count);
    nms_options_init (&call.options, sizeof call.options);
    call.options.engine = NMS_ENGINE_SPATIAL;
    call.boxes.class_id.data = call.boxes.exclude.data = call.boxes.parent.data = NULL;
    g_assert_cmpint (nms_run (context, &call.boxes, &call.options, &result), ==, NMS_OK);
    g_assert_cmpuint (result.kept_count + result.suppressed_count, ==, count);
  }
}

static const TestCase cases[] = { TEST_ROWS ("/properties/equals-reference/%s",
                                      test_equals_reference, draws),
  CASE (test_symmetric), CASE (test_iou), CASE (test_layouts_end), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
