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
#include <string.h>

/* Random calls of `rounds` seeds, whose sizes are from `least` to `most` boxes, and whose tempers
 * are those from `first` to `end` - 1. */
typedef struct {
  const char *name;
  uint64_t seed, rounds;
  size_t least, most;
  int first, end, how;
} Draw;

#define MOST 200 /* boxes of the properties below */
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
must_equal (uint64_t seed, const BoxCall *call, const char *difference)
{
  if (difference)
    g_error ("seed %" G_GUINT64_FORMAT ", %zu boxes: %s", seed, call->boxes.count, difference);
}

static void
test_equals_reference (gconstpointer row)
{
  const Draw *d = row;
  const uint64_t first = rounds_from_environment ("NMS_TEST_SEED", d->seed);
  const uint64_t rounds = rounds_from_environment ("NMS_TEST_ROUNDS", d->rounds);

  for (uint64_t seed = first; seed < first + rounds; seed++) {
    BoxRandom random = { seed };
    g_auto (BoxCall) call = { 0 };
    const int temper = d->first + (int) (seed % (uint64_t) (d->end - d->first));
    const uint32_t range = (uint32_t) (d->most - d->least + 1);
    boxcall_random (&call, &random, temper, d->least + boxrandom_below (&random, range));
    must_equal (seed, &call, enginecheck_run (context, &call.boxes, &call.options, d->how));
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
  const uint64_t first = rounds_from_environment ("NMS_TEST_SEED", 5000000);
  const uint64_t rounds = rounds_from_environment ("NMS_TEST_ROUNDS", 1500);
  int32_t kept[MOST] = { 0 }, by[MOST] = { 0 };
  uint8_t outcome[MOST] = { 0 };

  for (uint64_t seed = first; seed < first + rounds; seed++) {
    BoxRandom random = { seed };
    g_auto (BoxCall) call = { 0 };
    g_auto (RefResult) expected = { 0 };
    nms_result result = { .size = sizeof result };
    const int32_t n = (int32_t) boxrandom_below (&random, MOST);

    boxcall_random (&call, &random, tempers[seed % G_N_ELEMENTS (tempers)], (size_t) n);
    boxcall_distinct_scores (&call, &random);
    ref_run (&call.boxes, &call.options, &expected);
    transform (&call, &random);
    call.options.outputs = NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY;
    g_assert_cmpint (nms_run (context, &call.boxes, &call.options, &result), ==, NMS_OK);
    for (size_t k = 0; k < result.kept_count; k++)
      kept[k] = n - 1 - result.kept[k];
    for (int32_t i = 0; i < n; i++) {
      const int32_t other = result.suppressed_by[n - 1 - i];
      by[i] = other < 0 ? other : n - 1 - other;
      outcome[i] = result.outcome[n - 1 - i];
    }
    result.kept = kept;
    result.outcome = outcome;
    result.suppressed_by = by;
    must_equal (seed, &call, enginecheck_difference (&result, &expected));
  }
}

/* A frame of the kept boxes alone keeps all of them, in the same order. */
static void
test_again (void)
{
  const uint64_t first = rounds_from_environment ("NMS_TEST_SEED", 8000000);
  const uint64_t rounds = rounds_from_environment ("NMS_TEST_ROUNDS", 1500);

  for (uint64_t seed = first; seed < first + rounds; seed++) {
    BoxRandom random = { seed };
    g_auto (BoxCall) call = { 0 };
    nms_result result = { .size = sizeof result };
    int32_t kept[MOST];
    uint8_t exclude[MOST];

    boxcall_random (&call, &random, (int) (seed % BOXGEN_TEMPERS),
        1 + boxrandom_below (&random, MOST));
    call.options.outputs = NMS_OUTPUT_OUTCOME;
    g_assert_cmpint (nms_run (context, &call.boxes, &call.options, &result), ==, NMS_OK);
    const size_t count = result.kept_count;
    for (size_t k = 0; k < count; k++)
      kept[k] = result.kept[k];
    for (size_t i = 0; i < call.boxes.count; i++)
      exclude[i] = result.outcome[i] != NMS_OUTCOME_KEPT;
    call.boxes.exclude = (nms_column) { exclude, 0 };
    g_assert_cmpint (nms_run (context, &call.boxes, &call.options, &result), ==, NMS_OK);
    if (result.kept_count != count || (count && memcmp (result.kept, kept, count * 4) != 0))
      must_equal (seed, &call, "a second run of the kept boxes keeps others");
  }
}

static float
overlap (const BoxCall *call, int32_t i, int32_t j)
{
  float a[4], b[4];

  boxcall_corners (call, (size_t) i, a);
  boxcall_corners (call, (size_t) j, b);
  return nms_iou (a, b);
}

/* Without the reference: no kept box overlaps another one by more than the threshold, and each
 * suppressed box overlaps a kept one with a higher score. */
static void
test_consistent (void)
{
  static const float thresholds[] = { 0, 0.3f, 0.5f, 1 };
  const uint64_t first = rounds_from_environment ("NMS_TEST_SEED", 8500000);
  const uint64_t rounds = rounds_from_environment ("NMS_TEST_ROUNDS", 400);

  for (uint64_t seed = first; seed < first + rounds; seed++) {
    BoxRandom random = { seed };
    g_auto (BoxCall) call = { 0 };
    nms_result r = { .size = sizeof r };
    const float threshold = thresholds[seed % G_N_ELEMENTS (thresholds)];

    boxcall_random (&call, &random, (int) (seed % BOXGEN_HOSTILE), boxrandom_below (&random, MOST));
    boxcall_distinct_scores (&call, &random);
    call.boxes.class_id.data = call.boxes.exclude.data = call.boxes.parent.data = NULL;
    nms_options_init (&call.options, sizeof call.options);
    call.options.iou_threshold = threshold;
    call.options.outputs = NMS_OUTPUT_SUPPRESSED_BY;
    g_assert_cmpint (nms_run (context, &call.boxes, &call.options, &r), ==, NMS_OK);
    if (r.kept_count + r.suppressed_count != call.boxes.count)
      must_equal (seed, &call, "a box is neither kept nor suppressed");
    for (size_t k = 0; k < r.kept_count; k++)
      for (size_t m = 0; m < k; m++)
        if (overlap (&call, r.kept[m], r.kept[k]) > threshold)
          must_equal (seed, &call, "two kept boxes overlap");
    for (int32_t i = 0; i < (int32_t) call.boxes.count; i++) {
      const int32_t by = r.suppressed_by[i];
      if (by >= 0
          && (r.suppressed_by[by] >= 0 || call.score[by] <= call.score[i]
              || !(overlap (&call, by, i) > threshold)))
        must_equal (seed, &call, "a box is suppressed without a reason");
    }
  }
}

/* nms_iou equals the division of the definition, to the bit. */
static void
test_iou (void)
{
  const uint64_t first = rounds_from_environment ("NMS_TEST_SEED", 9000000);
  const uint64_t rounds = rounds_from_environment ("NMS_TEST_ROUNDS", 50000);

  for (uint64_t seed = first; seed < first + rounds; seed++) {
    BoxRandom random = { seed };
    g_auto (BoxCall) call = { 0 };
    float rows[2][4];

    boxcall_random (&call, &random, (int) (seed % BOXGEN_TEMPERS), 2);
    for (size_t i = 0; i < 2; i++)
      boxcall_corners (&call, i, rows[i]);
    const float is = nms_iou (rows[0], rows[1]), must = ref_iou (rows[0], rows[1]);
    if (memcmp (&is, &must, sizeof is) != 0)
      g_error ("seed %" G_GUINT64_FORMAT ": nms_iou is %a, must be %a", seed, (double) is,
          (double) must);
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
  CASE (test_symmetric), CASE (test_again), CASE (test_consistent), CASE (test_iou),
  CASE (test_layouts_end), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
