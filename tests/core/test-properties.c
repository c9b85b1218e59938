/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Properties of NMS on thousands of random and hostile calls: every engine equals the
 * reference, and results depend on their input as the definition promises.
 *
 * Each call comes from one seed, which a failure reports. NMS_TEST_SEED=<seed>
 * NMS_TEST_ROUNDS=1 runs it alone; a larger number of rounds makes a soak test.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "rounds.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ one random call */

typedef struct {
  uint64_t seed;
  BoxRandom random;
  BoxCall call;
} Round;

/* Calls `function` with `rounds` seeds, from `first` on. Stops at the first failure. */
static void
each_round (uint64_t first, uint64_t rounds, void (*function) (Round *))
{
  first = rounds_from_environment ("NMS_TEST_SEED", first);
  rounds = rounds_from_environment ("NMS_TEST_ROUNDS", rounds);
  for (uint64_t i = 0; i < rounds && !g_test_failed (); i++) {
    Round round = { .seed = first + i, .random = { first + i } };
    function (&round);
  }
}

static void
start_round (Round *round, int temper, size_t count)
{
  boxcall_random (&round->call, &round->random, temper, count);
}

/* Fails with `difference`, unless it is NULL, and frees it. */
static void
end_round (Round *round, char *difference)
{
  if (difference) {
    g_test_message ("seed %" G_GUINT64_FORMAT ", %zu boxes: %s", round->seed,
        round->call.boxes.count, difference);
    g_test_fail ();
  }
  free (difference);
  boxcall_clear (&round->call);
}

/* A copy of the outputs of one nms_run. */
typedef struct {
  size_t count, kept_count;
  int32_t *kept;
  uint8_t *outcome;
  int32_t *suppressed_by;
} Outputs;

static void
run (const nms_boxes *boxes, const nms_options *options, uint32_t engine, Outputs *outputs)
{
  nms_options own = *options;
  nms_result result = { .size = sizeof result };

  own.engine = engine;
  own.outputs = NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY;
  g_assert_cmpint (nms_run (context, boxes, &own, &result), ==, NMS_OK);
  outputs->count = boxes->count;
  outputs->kept_count = result.kept_count;
  outputs->kept = g_memdup2 (result.kept, result.kept_count * sizeof *result.kept);
  outputs->outcome = g_memdup2 (result.outcome, boxes->count);
  outputs->suppressed_by = g_memdup2 (result.suppressed_by,
      boxes->count * sizeof *result.suppressed_by);
}

static void
outputs_clear (Outputs *outputs)
{
  g_free (outputs->kept);
  g_free (outputs->outcome);
  g_free (outputs->suppressed_by);
}

/* Compares `outputs` with `mapped`, the result for the same boxes in another order: box
 * i of `mapped` is box to[i] of `outputs`, or box i if `to` is NULL. Boxes of `mapped`
 * from `count` on are not compared. */
static char *
compare_mapped (const Outputs *outputs, const Outputs *mapped, const size_t *to)
{
  if (mapped->kept_count != outputs->kept_count)
    return g_strdup_printf ("kept %zu, then %zu", outputs->kept_count, mapped->kept_count);
  for (size_t k = 0; k < outputs->kept_count; k++) {
    size_t i = (size_t) mapped->kept[k];
    if ((int32_t) (to ? to[i] : i) != outputs->kept[k])
      return g_strdup_printf ("kept[%zu] is another box", k);
  }
  for (size_t i = 0; i < outputs->count; i++) {
    size_t j = to ? to[i] : i;
    int32_t by = mapped->suppressed_by[i];
    if (mapped->outcome[i] != outputs->outcome[j])
      return g_strdup_printf ("the outcome of box %zu changed", j);
    if ((by < 0 ? -1 : (int32_t) (to ? to[by] : (size_t) by)) != outputs->suppressed_by[j])
      return g_strdup_printf ("suppressed_by of box %zu changed", j);
  }
  return NULL;
}

/* ------------------------------------------------------------ equal to reference */

static void
equals_reference (Round *round)
{
  /* seeds run through all tempers and the sizes 0 to 300 */
  start_round (round, (int) (round->seed % BOXGEN_TEMPERS),
      (size_t) (round->seed / BOXGEN_TEMPERS % 301));
  end_round (round,
      enginecheck_run (context, &round->call.boxes, &round->call.options, ENGINECHECK_FULL));
}

static void
test_equals_reference (void)
{
  each_round (0, 301 * BOXGEN_TEMPERS, equals_reference);
}

static void
equals_reference_small (Round *round)
{
  start_round (round, (int) (round->seed % BOXGEN_TEMPERS), boxrandom_below (&round->random, 12));
  end_round (round,
      enginecheck_run (context, &round->call.boxes, &round->call.options, ENGINECHECK_FULL));
}

static void
test_equals_reference_small (void)
{
  each_round (1000000, 20000, equals_reference_small);
}

static void
equals_reference_large (Round *round)
{
  start_round (round, (int) (round->seed % BOXGEN_TEMPERS),
      700 + boxrandom_below (&round->random, 2500));
  end_round (round,
      enginecheck_run (context, &round->call.boxes, &round->call.options, ENGINECHECK_QUICK));
}

static void
test_equals_reference_large (void)
{
  each_round (2000000, 24, equals_reference_large);
}

/* ------------------------------------------------- properties of one result */

static int
is_kept (const Outputs *outputs, int32_t box)
{
  for (size_t k = 0; k < outputs->kept_count; k++)
    if (outputs->kept[k] == box)
      return 1;
  return 0;
}

/* Returns the group of a class, by default the class itself. */
static int32_t
group_of (const BoxCall *call, int32_t class_id)
{
  for (size_t k = 0; k < call->options.class_option_count; k++)
    if (call->class_options[k].class_id == class_id
        && (call->class_options[k].set & NMS_CLASS_GROUP))
      return call->class_options[k].group;
  return class_id;
}

/* No box is kept twice, scores are in order, outcomes agree with the lists, and a
 * suppressor is kept, ranks no lower and overlaps by more than the threshold. */
static char *
consistent (const BoxCall *call, const Outputs *o)
{
  for (size_t k = 1; k < o->kept_count; k++) {
    int32_t a = o->kept[k - 1], b = o->kept[k];
    float score_a = call->score ? call->score[a] : 0, score_b = call->score ? call->score[b] : 0;
    if (!(score_a > score_b || (score_a == score_b && a < b)))
      return g_strdup_printf ("kept[%zu] does not rank above its successor", k - 1);
  }
  for (size_t i = 0; i < o->count; i++) {
    int32_t by = o->suppressed_by[i];
    if ((o->outcome[i] == NMS_OUTCOME_KEPT) != is_kept (o, (int32_t) i))
      return g_strdup_printf ("outcome and kept list disagree on box %zu", i);
    if ((o->outcome[i] == NMS_OUTCOME_SUPPRESSED) != (by >= 0))
      return g_strdup_printf ("outcome and suppressed_by disagree on box %zu", i);
    if (by < 0)
      continue;
    if (!is_kept (o, by))
      return g_strdup_printf ("box %zu is suppressed by one that is not kept", i);
    if (call->score && call->score[by] < call->score[i])
      return g_strdup_printf ("box %zu is suppressed by one of a lower score", i);
    if (!call->options.class_agnostic && call->class_id
        && group_of (call, call->class_id[by]) != group_of (call, call->class_id[i]))
      return g_strdup_printf ("box %zu is suppressed by one of another group", i);
  }
  return NULL;
}

static void
is_consistent (Round *round)
{
  Outputs outputs;
  char *difference = NULL;

  start_round (round, (int) (round->seed % BOXGEN_TEMPERS), boxrandom_below (&round->random, 200));
  for (int e = 0; e < ENGINECHECK_ENGINES && !difference; e++) {
    run (&round->call.boxes, &round->call.options, enginecheck_engines[e], &outputs);
    difference = consistent (&round->call, &outputs);
    outputs_clear (&outputs);
  }
  end_round (round, difference);
}

static void
test_consistent (void)
{
  each_round (3000000, 1500, is_consistent);
}

/* ------------------------------------------------ properties of two results */

/* Copies rows x1 y1 x2 y2 of `call` in the order of `from`. */
static void
gather (const BoxCall *call, const int32_t *from, size_t n, float (*rows)[4])
{
  const nms_column *columns[4] = { &call->boxes.x1, &call->boxes.y1, &call->boxes.x2,
    &call->boxes.y2 };

  for (size_t k = 0; k < n; k++)
    for (size_t d = 0; d < 4; d++) {
      ptrdiff_t stride = columns[d]->stride ? columns[d]->stride : (ptrdiff_t) sizeof (float);
      size_t i = from ? (size_t) from[k] : k;
      memcpy (&rows[k][d], (const char *) columns[d]->data + (ptrdiff_t) i * stride,
          sizeof rows[k][d]);
    }
}

/* NMS of the kept boxes keeps them all. */
static void
is_idempotent (Round *round)
{
  BoxCall *call = &round->call;
  Outputs first, second;
  char *difference = NULL;

  start_round (round, (int) (round->seed % BOXGEN_TEMPERS), boxrandom_below (&round->random, 200));
  call->boxes.parent.data = NULL; /* its indices would name other boxes */
  run (&call->boxes, &call->options, NMS_ENGINE_AUTO, &first);

  float (*rows)[4] = g_malloc0_n (first.kept_count + 1, sizeof *rows);
  float *score = g_new (float, first.kept_count + 1);
  int32_t *class_id = g_new (int32_t, first.kept_count + 1);
  nms_boxes boxes = { .size = sizeof boxes, .count = first.kept_count };
  gather (call, first.kept, first.kept_count, rows);
  nms_boxes_set_rows (&boxes, rows[0]);
  for (size_t k = 0; k < first.kept_count; k++) {
    score[k] = call->score ? call->score[first.kept[k]] : 0;
    class_id[k] = call->class_id ? call->class_id[first.kept[k]] : 0;
  }
  if (call->score)
    boxes.score.data = score;
  if (call->class_id)
    boxes.class_id.data = class_id;

  for (int e = 0; e < ENGINECHECK_ENGINES && !difference; e++) {
    run (&boxes, &call->options, enginecheck_engines[e], &second);
    if (second.kept_count != first.kept_count)
      difference = g_strdup_printf ("engine %d kept %zu of the %zu kept", e, second.kept_count,
          first.kept_count);
    for (size_t k = 0; k < second.kept_count && !difference; k++)
      if (second.kept[k] != (int32_t) k)
        difference = g_strdup_printf ("engine %d changed the order of the kept", e);
    outputs_clear (&second);
  }
  g_free (rows);
  g_free (score);
  g_free (class_id);
  outputs_clear (&first);
  end_round (round, difference);
}

static void
test_idempotent (void)
{
  each_round (4000000, 1500, is_idempotent);
}

/* The order of the input matters only if scores are equal. */
static void
is_blind_to_order (Round *round)
{
  BoxCall *call = &round->call;
  size_t n = boxrandom_below (&round->random, 200);
  char *difference = NULL;
  Outputs first, second;

  start_round (round, (int) (round->seed % BOXGEN_TEMPERS), n);
  boxcall_distinct_scores (call, &round->random);
  run (&call->boxes, &call->options, NMS_ENGINE_AUTO, &first);

  size_t *from = g_new (size_t, n + 1), *at = g_new (size_t, n + 1);
  int32_t *from32 = g_new (int32_t, n + 1);
  for (size_t i = 0; i < n; i++) {
    size_t j = boxrandom_below (&round->random, (uint32_t) i + 1);
    from[i] = from[j];
    from[j] = i;
  }
  for (size_t i = 0; i < n; i++) {
    from32[i] = (int32_t) from[i];
    at[from[i]] = i;
  }
  float (*rows)[4] = g_malloc0_n (n + 1, sizeof *rows);
  float *score = g_new (float, n + 1);
  int32_t *class_id = g_new (int32_t, n + 1), *parent = g_new (int32_t, n + 1);
  uint8_t *exclude = g_new (uint8_t, n + 1);
  nms_boxes boxes = { .size = sizeof boxes, .count = n, .score = { score, 0 } };
  gather (call, from32, n, rows);
  nms_boxes_set_rows (&boxes, rows[0]);
  for (size_t i = 0; i < n; i++) {
    score[i] = call->score[from[i]];
    class_id[i] = call->class_id ? call->class_id[from[i]] : 0;
    exclude[i] = call->exclude ? call->exclude[from[i]] : 0;
    parent[i] = call->parent ? call->parent[from[i]] : -1;
    if (parent[i] >= 0 && (size_t) parent[i] < n)
      parent[i] = (int32_t) at[parent[i]];
  }
  boxes.class_id.data = call->class_id ? class_id : NULL;
  boxes.exclude.data = call->exclude ? exclude : NULL;
  boxes.parent.data = call->parent ? parent : NULL;

  for (int e = 0; e < ENGINECHECK_ENGINES && !difference; e++) {
    run (&boxes, &call->options, enginecheck_engines[e], &second);
    difference = compare_mapped (&first, &second, from);
    outputs_clear (&second);
  }
  g_free (rows);
  g_free (score);
  g_free (class_id);
  g_free (parent);
  g_free (exclude);
  g_free (from32);
  g_free (from);
  g_free (at);
  outputs_clear (&first);
  end_round (round, difference);
}

static void
test_blind_to_order (void)
{
  each_round (5000000, 1500, is_blind_to_order);
}

/* An overlap keeps every bit if x and y are exchanged, or two corners, or if all
 * coordinates are multiplied by a power of two (without overflow and underflow). */
static void
is_symmetric (Round *round)
{
  static const int tempers[] = { BOXGEN_UNIFORM, BOXGEN_GRID, BOXGEN_CROWD, BOXGEN_EQUAL };
  BoxCall *call = &round->call;
  size_t n = boxrandom_below (&round->random, 200);
  float scale = ldexpf (1.0f, (int) boxrandom_below (&round->random, 40) - 20);
  char *difference = NULL;
  Outputs first, second;

  start_round (round, tempers[round->seed % G_N_ELEMENTS (tempers)], n);
  run (&call->boxes, &call->options, NMS_ENGINE_AUTO, &first);

  nms_boxes boxes = call->boxes;
  float (*rows)[4] = g_malloc0_n (n + 1, sizeof *rows);
  gather (call, NULL, n, rows);
  for (size_t i = 0; i < n; i++) {
    float x1 = rows[i][0], y1 = rows[i][1], x2 = rows[i][2], y2 = rows[i][3];
    uint32_t flip = boxrandom_below (&round->random, 4);
    rows[i][0] = scale * (flip & 1 ? y2 : y1);
    rows[i][1] = scale * (flip & 2 ? x2 : x1);
    rows[i][2] = scale * (flip & 1 ? y1 : y2);
    rows[i][3] = scale * (flip & 2 ? x1 : x2);
  }
  nms_boxes_set_rows (&boxes, rows[0]);
  for (int e = 0; e < ENGINECHECK_ENGINES && !difference; e++) {
    run (&boxes, &call->options, enginecheck_engines[e], &second);
    difference = compare_mapped (&first, &second, NULL);
    outputs_clear (&second);
  }
  g_free (rows);
  outputs_clear (&first);
  end_round (round, difference);
}

static void
test_symmetric (void)
{
  each_round (6000000, 1500, is_symmetric);
}

/* With threshold 1, not inclusive, no box is suppressed. With threshold 0, no two kept
 * boxes that are compared intersect. */
static void
obeys_extreme_thresholds (Round *round)
{
  static const int tempers[] = { BOXGEN_UNIFORM, BOXGEN_GRID, BOXGEN_CROWD, BOXGEN_EQUAL };
  BoxCall *call = &round->call;
  nms_options options;
  char *difference = NULL;
  Outputs o;

  start_round (round, tempers[round->seed % G_N_ELEMENTS (tempers)],
      boxrandom_below (&round->random, 120));
  call->boxes.parent.data = NULL;
  nms_options_init (&options, sizeof options);
  options.class_agnostic = call->options.class_agnostic;
  for (int e = 0; e < ENGINECHECK_ENGINES && !difference; e++) {
    options.iou_threshold = 1;
    run (&call->boxes, &options, enginecheck_engines[e], &o);
    for (size_t i = 0; i < o.count && !difference; i++)
      if (o.outcome[i] == NMS_OUTCOME_SUPPRESSED)
        difference = g_strdup_printf ("box %zu is suppressed under threshold 1", i);
    outputs_clear (&o);

    options.iou_threshold = 0;
    run (&call->boxes, &options, enginecheck_engines[e], &o);
    float (*rows)[4] = g_malloc0_n (o.kept_count + 1, sizeof *rows);
    gather (call, o.kept, o.kept_count, rows);
    for (size_t a = 0; a < o.kept_count && !difference; a++)
      for (size_t b = a + 1; b < o.kept_count && !difference; b++)
        if ((options.class_agnostic || !call->class_id
                || call->class_id[o.kept[a]] == call->class_id[o.kept[b]])
            && nms_iou (rows[a], rows[b]) > 0)
          difference = g_strdup_printf ("kept boxes %d and %d intersect", o.kept[a], o.kept[b]);
    g_free (rows);
    outputs_clear (&o);
  }
  end_round (round, difference);
}

static void
test_extreme_thresholds (void)
{
  each_round (7000000, 500, obeys_extreme_thresholds);
}

/* The result does not depend on earlier calls with the context. */
static void
is_blind_to_history (Round *round)
{
  nms_context *fresh = nms_context_new ();
  char *difference;

  start_round (round, (int) (round->seed % BOXGEN_TEMPERS), boxrandom_below (&round->random, 300));
  g_assert_nonnull (fresh);
  difference = enginecheck_run (fresh, &round->call.boxes, &round->call.options, ENGINECHECK_FULL);
  if (!difference)
    nms_context_trim (fresh);
  if (!difference)
    difference = enginecheck_run (fresh, &round->call.boxes, &round->call.options,
        ENGINECHECK_QUICK);
  nms_context_free (&fresh);
  end_round (round, difference);
}

static void
test_blind_to_history (void)
{
  each_round (8000000, 300, is_blind_to_history);
}

/* nms_iou equals the division of the definition, to the bit. */
static void
equals_reference_iou (Round *round)
{
  float rows[2][4];
  char *difference = NULL;

  start_round (round, (int) (round->seed % BOXGEN_TEMPERS), 2);
  gather (&round->call, NULL, 2, rows);
  float is = nms_iou (rows[0], rows[1]), must = ref_iou (rows[0], rows[1]);
  if (memcmp (&is, &must, sizeof is) != 0)
    difference = g_strdup_printf ("nms_iou is %a, must be %a", (double) is, (double) must);
  end_round (round, difference);
}

static void
test_iou (void)
{
  each_round (9000000, 50000, equals_reference_iou);
}

static const TestCase cases[] = { CASE (test_equals_reference), CASE (test_equals_reference_small),
  CASE (test_equals_reference_large), CASE (test_consistent), CASE (test_idempotent),
  CASE (test_blind_to_order), CASE (test_symmetric), CASE (test_extreme_thresholds),
  CASE (test_blind_to_history), CASE (test_iou), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
