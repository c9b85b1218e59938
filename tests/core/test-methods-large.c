/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Methods and metrics with more boxes than the random calls have, so that a row crosses groups of
 * blocks: 3,000 boxes and 400 rotated ones are compared with the reference, and 108,000 boxes in
 * equal tiles, which are not visited in rank order, with one tile.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "testrunner.h"

#include <glib.h>

#define ONE(...) +1
#define LAST_METHOD ((NMS_METHOD_LIST (ONE)) - 1)

/* Number k of the calls: each method with metric iou, then method hard with each metric. */
#define CALLS (LAST_METHOD + (NMS_METRIC_LIST (ONE)))

static void
set_call (nms_options *o, uint32_t k, float min_size_ratio)
{
  nms_options_init (o, sizeof *o);
  o->outputs = ENGINECHECK_ALL_OUTPUTS;
  o->iou_threshold = 0.4f;
  o->min_score = 0.05f;
  o->min_size_ratio = min_size_ratio;
  o->method = k < LAST_METHOD ? k + 1 : NMS_METHOD_HARD;
  o->metric = k < LAST_METHOD ? NMS_METRIC_IOU : k - LAST_METHOD;
}

#define MANY 3000
#define ROTATED 400 /* because the reference clips all pairs */

/* Boxes of objects of which each has some; with `far` one box is far from all others. `angles`: the
 * boxes are rotated. */
static void
compare_many (const char *name, int classes, int angles, float far, float min_size_ratio)
{
  nms_context *ctx = nms_context_new ();
  BoxRandom random = { 7 };
  float *corners = g_new (float, 4 * MANY), *score = g_new (float, MANY);
  float *angle = g_new (float, MANY);
  int32_t *class_id = g_new (int32_t, MANY);

  g_test_message ("%s", name);
  for (size_t i = 0; i < MANY; i++) {
    const uint32_t object = boxrandom_below (&random, MANY / 5);
    const float x = (float) (object % 40) * 40, y = (float) object;
    for (int k = 0; k < 4; k++)
      corners[4 * i + (size_t) k] = (k % 2 ? y : x) + (k / 2 ? 30 : 0)
          + 6 * boxrandom_unit (&random);
    score[i] = boxrandom_unit (&random);
    angle[i] = object % 7 ? (float) (object % 10) * 0.3f + 0.1f * boxrandom_unit (&random) : 0;
    class_id[i] = (int32_t) (object % 3);
  }
  if (far > 0)
    for (size_t k = 0; k < 4; k++)
      corners[k] = k < 2 ? far : 2 * far;
  for (uint32_t k = 0; k < CALLS; k++) {
    BoxCall call = { .boxes = { .size = sizeof call.boxes,
                         .count = angles ? ROTATED : MANY,
                         .score = { score, 0 } } };
    nms_boxes_set_rows (&call.boxes, corners);
    if (classes)
      call.boxes.class_id = (nms_column) { class_id, 0 };
    if (angles)
      call.boxes.angle = (nms_column) { angle, 0 };
    set_call (&call.options, k, min_size_ratio);
    g_assert_cmpstr (enginecheck_isas_difference (ctx, &call.boxes, &call.options), ==, NULL);
  }
  g_free (corners);
  g_free (score);
  g_free (angle);
  g_free (class_id);
  nms_context_free (&ctx);
}

#define CROSSING 1000

/* Each bar crosses half of the others, so that rows screen the boxes. Coordinates are small
 * integers, so that many metrics equal the threshold, or with `offset` differ from it by a rounding
 * error. */
static void
compare_crossing (const char *name, float threshold, float offset, int with_classes)
{
  nms_context *ctx = nms_context_new ();
  BoxRandom random = { 7 };
  float *corners = g_new (float, 4 * CROSSING), *score = g_new (float, CROSSING);
  int32_t *class_id = g_new (int32_t, CROSSING);
  const nms_class_options class_options = { .size = sizeof class_options,
    .class_id = 1,
    .set = NMS_CLASS_IOU_THRESHOLD,
    .iou_threshold = threshold / 2 };

  g_test_message ("%s", name);
  for (size_t i = 0; i < CROSSING; i++) {
    const size_t along = i % 2; /* 0: a wide bar, 1: a tall one */
    float *c = &corners[4 * i];
    c[along] = offset * (float) boxrandom_below (&random, 4);
    c[along + 2] = c[along] + (float) (300 + boxrandom_below (&random, 300));
    c[1 - along] = offset + (float) boxrandom_below (&random, 600);
    c[3 - along] = c[1 - along] + (float) (1 + boxrandom_below (&random, 4));
    score[i] = boxrandom_unit (&random);
    class_id[i] = (int32_t) boxrandom_below (&random, 3);
  }
  for (uint32_t k = 0; k < CALLS; k++) {
    BoxCall call = {
      .boxes = { .size = sizeof call.boxes, .count = CROSSING, .score = { score, 0 } }
    };
    nms_boxes_set_rows (&call.boxes, corners);
    set_call (&call.options, k, 0);
    call.options.iou_threshold = threshold;
    if (with_classes) {
      call.boxes.class_id = (nms_column) { class_id, 0 };
      call.options.class_agnostic = 1;
      call.options.class_options = &class_options;
      call.options.class_option_count = 1;
    }
    g_assert_cmpstr (enginecheck_isas_difference (ctx, &call.boxes, &call.options), ==, NULL);
  }
  g_free (corners);
  g_free (score);
  g_free (class_id);
  nms_context_free (&ctx);
}

static void
test_crossing (void)
{
  compare_crossing ("threshold 0.5", 0.5f, 0, 0);
  compare_crossing ("threshold 0.25, rounded extents", 0.25f, 0.3f, 0);
  compare_crossing ("thresholds by class", 0.5f, 0.1f, 1);
  compare_crossing ("threshold 1e-3", 1e-3f, 0, 0);
  compare_crossing ("threshold 0", 0, 0.1f, 0);
}

static void
test_reference (void)
{
  compare_many ("boxes", 0, 0, 0, 0);
  compare_many ("three classes", 1, 0, 0, 0);
  compare_many ("one box far from the others, sizes", 0, 0, 0x1p56f, 0.8f);
  compare_many ("rotated boxes of three classes, and one far from them", 1, 1, 0x1p56f, 0);
  compare_many ("rotated boxes, sizes", 0, 1, 0, 0.8f);
}

#define TILES 36
#define TILE_BOXES 3000

static nms_result
run_tiles (nms_context *ctx, const float *corners, const float *score, const int32_t *class_id,
    const int32_t *parent, size_t count, uint32_t k, uint64_t cap, float min_size_ratio)
{
  nms_boxes boxes = { .size = sizeof boxes,
    .count = count,
    .score = { score, 0 },
    .class_id = { class_id, 0 },
    .parent = { parent, 0 } };
  nms_result result = { .size = sizeof result };
  nms_options options;

  nms_boxes_set_rows (&boxes, corners);
  set_call (&options, k, min_size_ratio);
  options.max_detections = cap;
  g_assert_cmpint (nms_run (ctx, &boxes, &options, &result), ==, NMS_OK);
  return result;
}

/* Compares the results of a call without and with a total cap. A box over the cap lowers the scores
 * of others as before, and with method merge it takes its cluster with it. */
static void
compare_cap (const nms_result *all, const nms_result *capped, size_t count, int merge)
{
  for (size_t n = 0; n < capped->kept_count; n++)
    g_assert_cmpint (capped->kept[n], ==, all->kept[n]);
  for (size_t i = 0; i < count; i++) {
    const int32_t by = all->suppressed_by[i];
    const int over = all->outcome[i] == NMS_OUTCOME_SUPPRESSED
        ? merge && capped->outcome[by] != NMS_OUTCOME_KEPT
        : all->outcome[i] == NMS_OUTCOME_KEPT && capped->outcome[i] != NMS_OUTCOME_KEPT;
    g_assert_cmpint (capped->outcome[i], ==, over ? NMS_OUTCOME_OVER_CAP : all->outcome[i]);
    g_assert_cmpint (capped->suppressed_by[i], ==, over ? -1 : by);
  }
}

/* Coordinates are small integers, so that the metrics of a pair are the same in each tile. The
 * means of method weighted are not, and so it is left out. */
static void
compare_tiles (int with_classes, int with_parents, float min_size_ratio)
{
  nms_context *ctx = nms_context_new (), *one = nms_context_new (), *capped = nms_context_new ();
  BoxRandom random = { 7 };
  float *corners = g_new (float, (size_t) 4 * TILES * TILE_BOXES);
  float *score = g_new (float, (size_t) TILES *TILE_BOXES);
  int32_t *class_id = g_new (int32_t, (size_t) TILES * TILE_BOXES);
  int32_t *parent = g_new (int32_t, (size_t) TILES * TILE_BOXES);

  for (size_t i = 0; i < (size_t) TILES * TILE_BOXES; i++) {
    class_id[i] = (int32_t) (i % TILE_BOXES % 3);
    parent[i] = i % TILE_BOXES % 4 == 1 ? (int32_t) i - 1 : -1;
  }
  for (size_t i = 0; i < TILE_BOXES; i++) {
    for (size_t k = 0; k < 4; k++)
      corners[4 * i + k] = (float) (boxrandom_below (&random, 200) / (k < 2 ? 1 : 20))
          + (k < 2 ? 0.0f : corners[4 * i + k - 2] + 8);
    score[i] = boxrandom_unit (&random);
  }
  for (size_t i = TILE_BOXES; i < (size_t) TILES * TILE_BOXES; i++) {
    const size_t tile = i / TILE_BOXES, same = i % TILE_BOXES;
    for (size_t k = 0; k < 4; k++)
      corners[4 * i + k] = corners[4 * same + k] + (float) (256 * (k % 2 ? tile / 10 : tile % 10));
    score[i] = score[same];
  }
  for (uint32_t k = 0; k < CALLS; k++) {
    if (k + 1 == NMS_METHOD_WEIGHTED)
      continue;
    const int32_t *classes = with_classes ? class_id : NULL,
                  *parents = with_parents ? parent : NULL;
    const nms_result a = run_tiles (one, corners, score, classes, parents, TILE_BOXES, k, 0,
        min_size_ratio);
    const nms_result b = run_tiles (ctx, corners, score, classes, parents,
        (size_t) TILES * TILE_BOXES, k, 0, min_size_ratio);
    g_assert_cmpuint (b.kept_count, ==, TILES * a.kept_count);
    for (size_t i = 0; i < (size_t) TILES * TILE_BOXES; i++) {
      const size_t same = i % TILE_BOXES;
      const int32_t by = a.suppressed_by[same];
      g_assert_cmpint (b.outcome[i], ==, a.outcome[same]);
      g_assert_cmpint (b.suppressed_by[i], ==, by < 0 ? by : by + (int32_t) (i - same));
    }
    for (size_t n = 0; n < b.kept_count; n++)
      g_assert_cmpfloat (b.kept_score[n], ==, a.kept_score[n / TILES]);
    if (k + 1 == NMS_METHOD_MATRIX_LINEAR || k + 1 == NMS_METHOD_MERGE) {
      const size_t cap = b.kept_count / 3;
      const nms_result c = run_tiles (capped, corners, score, classes, parents,
          (size_t) TILES * TILE_BOXES, k, cap, min_size_ratio);
      g_assert_cmpuint (c.kept_count, ==, cap);
      compare_cap (&b, &c, (size_t) TILES * TILE_BOXES, k + 1 == NMS_METHOD_MERGE);
    }
  }
  g_free (corners);
  g_free (score);
  g_free (class_id);
  g_free (parent);
  nms_context_free (&ctx);
  nms_context_free (&one);
  nms_context_free (&capped);
}

static void
test_tiles (void)
{
  compare_tiles (0, 0, 0);
}

static void
test_tiles_with_parents (void)
{
  compare_tiles (1, 1, 0);
}

static void
test_tiles_with_sizes (void)
{
  compare_tiles (0, 0, 0.75f);
}

static const TestCase cases[] = { { "/methods-large/reference", test_reference },
  { "/methods-large/crossing", test_crossing }, { "/methods-large/tiles", test_tiles },
  { "/methods-large/parents", test_tiles_with_parents },
  { "/methods-large/sizes", test_tiles_with_sizes }, { NULL } };

TEST_PROGRAM (cases);
