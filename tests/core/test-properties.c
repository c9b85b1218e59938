/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Thousands of random and hostile calls: every engine, method and instruction set equals the
 * reference, and results have the properties that the definition promises.
 *
 * Each call comes from one seed, which a failure reports. NMS_TEST_SEED=<seed>
 * NMS_TEST_ROUNDS=1 runs it alone.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "scoped.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <math.h>
#include <string.h>

#define MOST 200 /* boxes of test_consistent */
#define PI 3.14159265358979f

/* Rotates the boxes. */
static void
rotate (BoxCall *call, BoxRandom *random, int temper)
{
  static const float special[] = { 0, 0, -0.0f, PI / 2, PI, 0.1f, 1e-6f, -7, 1e5f };
  float *angle = boxcall_add_angles (call);

  for (size_t i = 0; i < call->boxes.count; i++) {
    const uint32_t choice = boxrandom_below (random, 8);
    /* binary64 cannot represent the rotated corners of a box of 1e18 beside one of 10 */
    if (temper == BOXGEN_HOSTILE)
      angle[i] = choice < 6 ? 0 : choice < 7 ? NAN : -INFINITY;
    else
      angle[i] = choice < 4 ? special[boxrandom_below (random, G_N_ELEMENTS (special))]
                            : 8 * boxrandom_unit (random) - 4;
  }
}

/* Makes thin boxes of one object: parallel or crossing, along one line or side by side. Their
 * upright bounding boxes nearly all overlap, so most pairs are excluded by the screen of rotated
 * boxes. */
static void
make_thin (BoxCall *call, BoxRandom *random, int temper)
{
  static const float thresholds[] = { 0, 1e-6f, 0.01f, 0.3f, 0.5f, 0.9f };
  const int crossing = boxrandom_below (random, 2) == 0;
  const float thickness = ldexpf (40, -(int) boxrandom_below (random, 16));
  const float step = thickness * 4 * boxrandom_unit (random), turn = boxrandom_unit (random);
  float *angle = boxcall_add_angles (call);

  for (size_t i = 0; i < call->boxes.count; i++) {
    const int tall = boxrandom_below (random, 4) == 0;
    const float extent[] = { 40 + 10 * boxrandom_unit (random),
      thickness * (1 + boxrandom_unit (random)) };
    const float w = extent[tall], h = extent[!tall];
    const float x = boxrandom_unit (random), y = step * (float) boxrandom_below (random, 20);
    boxcall_set_corners (call, i, (float[4]) { x - w / 2, y - h / 2, x + w / 2, y + h / 2 });
    angle[i] = turn + (tall ? PI / 2 : 0)
        + (crossing ? 4 * boxrandom_unit (random) : thickness / 40 * boxrandom_unit (random));
  }
  nms_options_init (&call->options, sizeof call->options);
  call->options.iou_threshold = thresholds[boxrandom_below (random, G_N_ELEMENTS (thresholds))];
}

/* Replaces a part of the boxes, in every third call, by copies of others, and rotates some calls a
 * little: the screen of rotated boxes sees their upright bounding boxes, which prove no overlap. */
static void
make_neighbors (BoxCall *call, BoxRandom *random, int temper)
{
  static const float thresholds[] = { 0, 1e-6f, 0.5f, 0.8f, 0.9f, 0.97f, 1 };
  const uint32_t equal_percent = boxrandom_below (random, 3) * 45;
  float box[4];

  for (size_t i = 1; i < call->boxes.count; i++)
    if (boxrandom_below (random, 100) < equal_percent) {
      boxcall_corners (call, boxrandom_below (random, (uint32_t) i), box);
      boxcall_set_corners (call, i, box);
    }
  call->options.iou_threshold = thresholds[boxrandom_below (random, G_N_ELEMENTS (thresholds))];
  call->options.min_size_ratio = 0;
  if (boxrandom_below (random, 5) || call->boxes.count > 100)
    return;
  float *angle = boxcall_add_angles (call);
  for (size_t i = 0; i < call->boxes.count; i++)
    angle[i] = boxrandom_below (random, 2) ? 0.2f * boxrandom_unit (random) : 0.0f;
  call->options.iou_threshold = 0.1f * (float) boxrandom_below (random, 10) + 0.03f;
}

/* Random calls of `rounds` seeds, whose sizes are from `least` to `most` boxes, and whose tempers
 * are those from `first` to `end` - 1. */
typedef struct {
  const char *name;
  uint64_t seed, rounds;
  size_t least, most;
  int first, end, how;
  void (*change) (BoxCall *call, BoxRandom *random, int temper); /* may be NULL */
} Draw;

#define TEMPERS 0, BOXGEN_TEMPERS
#define LAYOUTS BOXGEN_TEMPERS, BOXGEN_LAYOUTS
#define OUTPUTS ENGINECHECK_OUTPUTS
#define METHODS ENGINECHECK_ISAS, boxcall_random_method
#define NEIGHBORS ENGINECHECK_NEIGHBORS, make_neighbors

static const Draw draws[] = { { "small", 1000000, 20000, 0, 11, TEMPERS, ENGINECHECK_FULL },
  { "some", 0, 3000, 0, 300, TEMPERS, ENGINECHECK_FULL },
  { "many", 2000000, 24, 700, 3200, TEMPERS, ENGINECHECK_QUICK },
  /* so many that caps are filled by batches, and engine auto parts them by class */
  { "more", 3000000, 40, 1024, 7000, BOXGEN_UNIFORM, BOXGEN_EQUAL, OUTPUTS },
  { "classes", 4000000, 400, 1, 1200, BOXGEN_UNIFORM, BOXGEN_EQUAL, OUTPUTS },
  { "layouts of few", 5000000, 4000, 1, 12, LAYOUTS, OUTPUTS },
  { "layouts of some", 6000000, 2000, 13, 300, LAYOUTS, OUTPUTS },
  { "layouts of many", 7000000, 24, 2000, 6000, LAYOUTS, OUTPUTS },
  { "methods", 0, 4000, 0, 79, TEMPERS, METHODS },
  { "methods of some", 10000, 250, 80, 399, TEMPERS, METHODS },
  /* these have more than 64 blocks */
  { "methods of many", 20000, 8, 4100, 5000, BOXGEN_GRID, BOXGEN_CROWD, METHODS },
  { "rotated", 30000, 540, 0, 39, TEMPERS, ENGINECHECK_FULL, rotate },
  { "rotated some", 40000, 60, 0, 199, TEMPERS, ENGINECHECK_FULL, rotate },
  { "thin", 50000, 54, 0, 59, TEMPERS, ENGINECHECK_FULL, make_thin },
  { "thin some", 60000, 6, 60, 399, TEMPERS, ENGINECHECK_FULL, make_thin },
  { "neighbors", 70000, 200, 1, 100, BOXGEN_CROWD, BOXGEN_EQUAL, NEIGHBORS },
  { "neighbors of one object", 80000, 400, 1, 500, BOXGEN_ONE_SPOT, BOXGEN_ALL_SIZES, NEIGHBORS },
  { "neighbors of outliers", 90000, 100, 1, 500, BOXGEN_OUTLIERS, BOXGEN_CONCENTRIC, NEIGHBORS },
  { "many neighbors", 100000, 10, 3000, 3000, BOXGEN_EQUAL, BOXGEN_SCALED, NEIGHBORS }, { NULL } };

static void
must_equal (uint64_t seed, const BoxCall *call, const char *difference)
{
  if (difference)
    g_error ("seed %" G_GUINT64_FORMAT ", %zu boxes: %s", seed, call->boxes.count, difference);
}

/* nms_iou equals the division of the definition, to the bit. */
static void
check_iou (uint64_t seed, const BoxCall *call)
{
  float a[4], b[4];

  boxcall_corners (call, 0, a);
  boxcall_corners (call, call->boxes.count - 1, b);
  const float is = nms_iou (a, b), must = ref_iou (a, b);
  if (memcmp (&is, &must, sizeof is) != 0)
    g_error ("seed %" G_GUINT64_FORMAT ": nms_iou is %a, must be %a", seed, (double) is,
        (double) must);
}

/* The calls run on the instruction sets of this machine in turn. */
static void
test_equals_reference (gconstpointer row)
{
  const Draw *d = row;
  const uint64_t first = testrunner_number ("NMS_TEST_SEED", d->seed);
  const uint64_t rounds = testrunner_rounds (d->rounds);
  const char *const *isa = enginecheck_isas;

  for (uint64_t seed = first; seed < first + rounds; seed++) {
    BoxRandom random = { seed };
    g_auto (BoxCall) call = { 0 };
    const int temper = d->first + (int) (seed % (uint64_t) (d->end - d->first));
    const uint32_t range = (uint32_t) (d->most - d->least + 1);
    boxcall_random (&call, &random, temper, d->least + boxrandom_below (&random, range));
    if (d->change)
      d->change (&call, &random, temper);
    do
      isa = *isa ? isa + 1 : enginecheck_isas;
    while (!*isa || nms_context_set_isa (context, *isa) != NMS_OK);
    must_equal (seed, &call, enginecheck_run (context, &call.boxes, &call.options, d->how));
    if (call.boxes.count)
      check_iou (seed, &call);
  }
  g_assert_cmpint (nms_context_set_isa (context, NULL), ==, NMS_OK);
}

static float
overlap (const BoxCall *call, int32_t i, int32_t j)
{
  float a[4], b[4];

  boxcall_corners (call, (size_t) i, a);
  boxcall_corners (call, (size_t) j, b);
  return nms_iou (a, b);
}

static int
ranks_above (const BoxCall *call, int32_t i, int32_t j)
{
  const float a = call->score ? call->score[i] : 0, b = call->score ? call->score[j] : 0;

  return a > b || (a == b && i < j);
}

/* Without the reference: no kept box overlaps another one by more than the threshold, and each
 * suppressed box overlaps a kept one that ranks above it. */
static void
test_consistent (void)
{
  static const float thresholds[] = { 0, 0.3f, 0.5f, 1 };
  const uint64_t first = testrunner_number ("NMS_TEST_SEED", 8500000);
  const uint64_t rounds = testrunner_rounds (400);

  for (uint64_t seed = first; seed < first + rounds; seed++) {
    BoxRandom random = { seed };
    g_auto (BoxCall) call = { 0 };
    nms_result r = { .size = sizeof r };
    const float threshold = thresholds[seed % G_N_ELEMENTS (thresholds)];

    boxcall_random (&call, &random, (int) (seed % BOXGEN_HOSTILE), boxrandom_below (&random, MOST));
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
          && (r.suppressed_by[by] >= 0 || !ranks_above (&call, by, i)
              || !(overlap (&call, by, i) > threshold)))
        must_equal (seed, &call, "a box is suppressed without a reason");
    }
  }
}

/* Each of these layouts would take minutes if the time grew with the square of the number of
 * boxes. */
static void
test_layouts_end (void)
{
  const size_t count = testrunner_rounds (400) < 400 ? 20000 : 100000;

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
  CASE (test_consistent), CASE (test_layouts_end), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
