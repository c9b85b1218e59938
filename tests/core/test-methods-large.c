/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Methods and metrics with more boxes than the random calls have, so that a row crosses groups of
 * blocks: 3,000 boxes and 400 rotated ones are compared with the reference, and 135,000 or 270,000
 * boxes in equal parts, which are not visited in rank order, with one part.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "scoped.h"
#include "testrunner.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define ONE(...) +1
#define LAST_METHOD ((NMS_METHOD_LIST (ONE)) - 1)

/* Number k of the calls: each method with metric iou, method hard with each metric, then method
 * matrix with IoS and ProbIoU. */
#define CALLS (LAST_METHOD + (NMS_METRIC_LIST (ONE)))
#define ALL_CALLS (CALLS + 2)

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
  if (k >= CALLS) {
    o->method = k == CALLS ? NMS_METHOD_MATRIX_LINEAR : NMS_METHOD_MATRIX_GAUSSIAN;
    o->metric = k == CALLS ? NMS_METRIC_IOS : NMS_METRIC_PROBIOU;
  }
  if (o->metric == NMS_METRIC_PROBIOU)
    o->iou_threshold = 0.8f; /* where the bound that screens pairs is close */
}

#define MANY 3000
#define COPIES 64 /* as many as a block has */

typedef struct Frame Frame;
struct Frame {
  const char *name;
  void (*make) (const Frame *f, BoxRandom *random);
  size_t count;
  int classes, angles;
  float sizes;     /* min_size_ratio */
  float threshold; /* IoU threshold of bars and copies, which meet across classes */
  float far;       /* one box is at this coordinate, unless it is 0 */
  float offset;    /* added to coordinates of bars, so that metrics are rounded */
  float sigma;     /* sigma of soft-gaussian, with which many factors are nearly 1 */
};

#define PARTS 45
#define PARTS_WEIGHTED 90
#define PART_BOXES 3000
#define MOST (PARTS_WEIGHTED * PART_BOXES)

static float rows[MOST][4], scores[MOST], angles[MOST];
static int32_t class_ids[MOST], parents[MOST];

/* Makes boxes of objects of which each has some. */
static void
make_objects (const Frame *f, BoxRandom *random)
{
  for (size_t i = 0; i < MANY; i++) {
    const uint32_t object = boxrandom_below (random, MANY / 5);
    for (int k = 0; k < 4; k++)
      rows[i][k] = (float) (k % 2 ? object : object % 40 * 40) + (k / 2 ? 30 : 0)
          + 6 * boxrandom_unit (random);
    angles[i] = object % 7 ? (float) (object % 10) * 0.3f + 0.1f * boxrandom_unit (random) : 0;
    class_ids[i] = (int32_t) (object % 3);
  }
  for (size_t k = 0; k < 4 && f->far > 0; k++)
    rows[0][k] = k < 2 ? f->far : 2 * f->far;
}

/* Each bar crosses half of the others, so that rows screen the boxes. Coordinates are small
 * integers, so that many metrics equal the threshold, or with `offset` differ from it by a rounding
 * error. */
static void
make_bars (const Frame *f, BoxRandom *random)
{
  for (size_t i = 0; i < f->count; i++) {
    const size_t along = i % 2; /* 0: a wide bar, 1: a tall one */
    float *c = rows[i];
    c[along] = f->offset * (float) boxrandom_below (random, 4);
    c[along + 2] = c[along] + (float) (300 + boxrandom_below (random, 300));
    c[1 - along] = f->offset + (float) boxrandom_below (random, 600);
    c[3 - along] = c[1 - along] + (float) (1 + boxrandom_below (random, 4));
    class_ids[i] = (int32_t) boxrandom_below (random, 3);
    angles[i] = (float) (i % 7) / 128;
  }
}

/* Copies of boxes of two sizes fill blocks, so that the bounding box of a block is a box, and the
 * bound that leaves out blocks is close. */
static void
make_copies (const Frame *f, BoxRandom *random)
{
  for (size_t i = 0; i < f->count; i++) {
    const float side = i / COPIES % 3 ? 60 : 100;
    for (int k = 0; k < 4; k++)
      rows[i][k] = i % COPIES ? rows[i - 1][k]
          : k < 2             ? (float) boxrandom_below (random, k ? 20 : 100)
                              : rows[i][k - 2] + side;
  }
}

/* There are fewer rotated boxes because the reference clips all pairs. */
static const Frame frames[] = { { "boxes", make_objects, MANY, 0, 0, 0 },
  { "boxes of three classes", make_objects, MANY, 1, 0, 0 },
  { "one box far from the others, sizes", make_objects, MANY, 0, 0, 0.8f, 0, 0x1p56f },
  { "rotated boxes of three classes, and one far from them", make_objects, 400, 1, 1, 0, 0,
      0x1p56f },
  { "rotated boxes, sizes", make_objects, 400, 0, 1, 0.8f },
  { "bars, threshold 0.5, sigma 64", make_bars, 1024, 0, 0, 0, 0.5f, 0, 0, 64 },
  { "bars, threshold 0.25, rounded extents", make_bars, 1024, 0, 0, 0, 0.25f, 0, 0.3f },
  { "bars, thresholds by class", make_bars, 1024, 1, 0, 0, 0.5f, 0, 0.1f },
  { "bars, threshold 1e-3", make_bars, 1024, 0, 0, 0, 1e-3f },
  { "bars, threshold 0", make_bars, 1024, 0, 0, 0, 0, 0, 0.1f },
  { "rotated bars, sigma 64", make_bars, 400, 0, 1, 0, 0.25f, 0, 0, 64 },
  { "copies, threshold 0.3", make_copies, 1024, 0, 0, 0, 0.3f },
  { "copies, threshold 0.5", make_copies, 1024, 0, 0, 0, 0.5f },
  { "copies, threshold 0.7", make_copies, 1024, 0, 0, 0, 0.7f }, { NULL } };

/* Runs all calls with the boxes of a frame. */
static void
test_frame (gconstpointer row)
{
  const Frame *f = row;
  const nms_class_options one = { .size = sizeof one,
    .class_id = 1,
    .set = NMS_CLASS_IOU_THRESHOLD,
    .iou_threshold = f->threshold / 2 };
  nms_boxes boxes = { .size = sizeof boxes, .count = f->count, .score = { scores, 0 } };
  g_autoptr (nms_context) ctx = nms_context_new ();
  BoxRandom random = { 7 };

  f->make (f, &random);
  for (size_t i = 0; i < f->count; i++)
    scores[i] = boxrandom_unit (&random);
  nms_boxes_set_rows (&boxes, rows[0]);
  boxes.class_id.data = f->classes ? class_ids : NULL;
  boxes.angle.data = f->angles ? angles : NULL;
  for (uint32_t k = 0; k < ALL_CALLS; k++) {
    nms_options options;
    set_call (&options, k, f->sizes);
    if (f->make != make_objects) {
      options.iou_threshold = f->threshold;
      options.class_agnostic = 1;
      options.sigma = options.method == NMS_METHOD_SOFT_GAUSSIAN ? f->sigma : 0;
      options.class_options = f->classes ? &one : NULL;
      options.class_option_count = f->classes ? 1 : 0;
    }
    g_assert_cmpstr (enginecheck_run (ctx, &boxes, &options, ENGINECHECK_ISAS), ==, NULL);
  }
}

static nms_result
run (nms_context *ctx, const nms_boxes *boxes, const nms_options *options)
{
  nms_result result = { .size = sizeof result };

  g_assert_cmpint (nms_run (ctx, boxes, options, &result), ==, NMS_OK);
  return result;
}

/* All boxes lie around one place, those of a size in blocks of their own. The fused box of the best
 * large box becomes smaller than all boxes of its block and of the group of blocks, so that the
 * small boxes overlap it, and no longer only those of the middle size. */
static void
test_shrinking_cluster (void)
{
  enum { LARGE = 8192, OTHERS = 64, ALL = LARGE + 2 * OTHERS };
  nms_boxes boxes = { .size = sizeof boxes, .count = ALL, .score = { scores, 0 } };
  g_autoptr (nms_context) ctx = nms_context_new ();
  nms_options options;

  nms_boxes_set_rows (&boxes, rows[0]);
  for (size_t i = 0; i < ALL; i++) {
    const int kind = i < LARGE ? 0 : i < LARGE + OTHERS ? 1 : 2;
    for (size_t k = 0; k < 4; k++)
      rows[i][k] = (float[]) { 50, 30, 25 }[kind] * (k < 2 ? -1 : 1);
    scores[i] = i ? (float[]) { 0.1f, 0.9f, 0.3f }[kind] : 1;
  }
  nms_options_init (&options, sizeof options);
  options.method = NMS_METHOD_WEIGHTED;
  options.iou_threshold = 0.3f;
  g_assert_cmpuint (run (ctx, &boxes, &options).kept_count, ==, 1);
}

/* Small boxes inside a wide one have the same metric with it and do not touch each other. The one
 * that ranks highest decides how method matrix lowers the wide box. */
static void
test_equal_losses (void)
{
  enum { BEST = 700, ALL = 1000 };
  nms_boxes boxes = { .size = sizeof boxes, .count = ALL, .score = { scores, 0 } };
  g_autoptr (nms_context) ctx = nms_context_new ();
  nms_options options;

  nms_boxes_set_rows (&boxes, rows[0]);
  for (size_t i = 0; i < ALL; i++) {
    const float x = 8 * (float) i;
    memcpy (rows[i], (float[4]) { x, 0, x + 4, 4 }, sizeof rows[i]);
    scores[i] = i == BEST ? 0.9f : 0.8f;
  }
  memcpy (rows[0], (float[4]) { 0, 0, 8 * ALL, 4 }, sizeof rows[0]);
  scores[0] = 0.5f;
  nms_options_init (&options, sizeof options);
  options.outputs = ENGINECHECK_ALL_OUTPUTS;
  options.min_score = 0.5f;
  for (uint32_t m = NMS_METHOD_MATRIX_LINEAR; m <= NMS_METHOD_MATRIX_GAUSSIAN; m++) {
    options.method = m;
    options.metric = m == NMS_METHOD_MATRIX_LINEAR ? NMS_METRIC_IOU : NMS_METRIC_IOS;
    g_assert_cmpint (run (ctx, &boxes, &options).suppressed_by[0], ==, BEST);
  }
}

/* The boxes lie along one line in their direction. Each box of a chain overlaps the one before it
 * by 0.9, so that none but the first may decide how method matrix lowers the last box. One box of
 * a later block, whose metric with the last box is less, decides it. */
static void
test_later_block (void)
{
  enum { CHAIN = 8, LATER = 1, FILLING = 200, ALL = CHAIN + LATER + FILLING };
  const float angle = 0.3f;
  nms_boxes boxes = { .size = sizeof boxes,
    .count = ALL,
    .score = { scores, 0 },
    .angle = { angles, 0 } };
  g_autoptr (nms_context) ctx = nms_context_new ();
  nms_options options;

  nms_boxes_set_rows (&boxes, rows[0]);
  for (size_t i = 0; i < ALL; i++) {
    const int fills = i >= CHAIN + LATER;
    const float along = i < CHAIN ? 4.75f * (float) i : fills ? 34 + 0.02f * (float) i : 39.25f;
    const float x = -along * cosf (angle), y = -along * sinf (angle);
    const float w = fills ? 0.01f : 100, h = fills ? 0.01f : 10;
    memcpy (rows[i], (float[4]) { x - w / 2, y - h / 2, x + w / 2, y + h / 2 }, sizeof rows[i]);
    scores[i] = i == CHAIN ? 0.95f : fills ? 0.05f : 1 - (float) i / 10;
    angles[i] = angle;
  }
  for (uint32_t m = NMS_METHOD_MATRIX_LINEAR; m <= NMS_METHOD_MATRIX_GAUSSIAN; m++) {
    nms_options_init (&options, sizeof options);
    options.outputs = ENGINECHECK_ALL_OUTPUTS;
    options.method = m;
    g_assert_cmpstr (enginecheck_run (ctx, &boxes, &options, ENGINECHECK_ISAS), ==, NULL);
    options.min_score = 0.1f;
    g_assert_cmpint (run (ctx, &boxes, &options).suppressed_by[CHAIN - 1], ==, CHAIN);
  }
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

/* Compares the results of part number `part`, run alone, with those of all parts; the boxes only if
 * the part ran where it lies. */
static void
compare_part (const nms_result *one, const nms_result *all, size_t part, int boxes)
{
  const int32_t first = (int32_t) (part * PART_BOXES);
  size_t k = 0;

  for (size_t i = 0; i < PART_BOXES; i++) {
    const int32_t by = one->suppressed_by[i];
    g_assert_cmpint (all->outcome[first + (int32_t) i], ==, one->outcome[i]);
    g_assert_cmpint (all->suppressed_by[first + (int32_t) i], ==, by < 0 ? by : by + first);
  }
  for (size_t n = 0; n < all->kept_count; n++) {
    if (all->kept[n] / PART_BOXES != (int32_t) part)
      continue;
    g_assert_cmpuint (k, <, one->kept_count);
    g_assert_cmpint (all->kept[n] - first, ==, one->kept[k]);
    g_assert_cmpfloat (all->kept_score[n], ==, one->kept_score[k]);
    if (boxes)
      g_assert_cmpmem (&all->kept_box[4 * n], 16, &one->kept_box[4 * k], 16);
    k++;
  }
  g_assert_cmpuint (k, ==, one->kept_count);
}

static const struct {
  const char *name;
  uint32_t field;   /* the boxes begin in a square of this side */
  int with_classes; /* 2 if every second box is the only one of its class */
  int with_parents;
  float min_size_ratio;
  int uneven; /* every second box is small */
  float far;  /* added to coordinates; the means of clusters are then rounded by whole numbers */
  int angles;
  int weighted; /* nonzero if only method weighted runs, by ProbIoU and by IoS (by IoU if boxes are
                 * rotated), on PARTS_WEIGHTED parts: frames of fewer are visited in rank order */
  int dense; /* nonzero if each box of part 1 depends on all before it, and the first one, which is
              * visited first, on all others: they do not fit on the stack of the visits */
} parts[] = { { "boxes", 600, 0, 0, 0, 0, 0 }, { "classes and parents", 600, 1, 1, 0, 0, 0 },
  { "sizes", 600, 0, 0, 0.75f, 0, 0 }, { "uneven boxes of three classes", 600, 1, 0, 0, 1, 0 },
  { "more classes than tiles", 600, 2, 0, 0, 0, 0 },
  { "boxes far from the origin", 600, 0, 0, 0, 0, 0x1p22f },
  { "rotated boxes", 600, 0, 1, 0.75f, 0, 0, 1 },
  { "weighted by other metrics", 600, 0, 0, 0, 0, 0, 0, 1 },
  { "weighted, rotated", 600, 0, 0, 0, 0, 0, 1, 1 },
  { "weighted, rotated, in rank order", 40, 0, 0, 0, 0, 0, 1, 1 },
  { "weighted, again in rank order", 600, 0, 0, 0, 0, 0, 0, 1, 1 },
  { "so many that methods begin again in rank order", 200, 0, 0, 0, 0, 0 }, { NULL } };

/* Coordinates are small integers, so that the metrics of a pair are the same in each part. The
 * means of method weighted are not, and so it runs each part. */
static void
test_parts (gconstpointer data)
{
  const typeof (*parts) *row = data;
  g_autoptr (nms_context) ctx = nms_context_new (), alone = nms_context_new (),
                          capped = nms_context_new ();
  BoxRandom random = { 7 };
  const size_t part_count = row->weighted ? PARTS_WEIGHTED : PARTS;
  nms_boxes all = { .size = sizeof all,
    .count = part_count * PART_BOXES,
    .score = { scores, 0 },
    .class_id = { row->with_classes ? class_ids : NULL, 0 },
    .parent = { row->with_parents ? parents : NULL, 0 },
    .angle = { row->angles ? angles : NULL, 0 } };

  nms_boxes_set_rows (&all, rows[0]);
  nms_boxes one = all;
  one.count = PART_BOXES;
  for (size_t i = 0; i < all.count; i++) {
    const size_t part = i / PART_BOXES, same = i % PART_BOXES;
    float *c = rows[i];
    if (part == 0)
      scores[i] = !row->dense ? boxrandom_unit (&random) : same ? 1.0f - (float) i / 4096 : 0.1f;
    const int small = row->uneven && same % 2;
    for (size_t k = 0; k < 4; k++)
      c[k] = part ? rows[same][k] + (float) (1024 * (k % 2 ? part / 10 : part % 10))
          : k < 2
          ? row->far + (float) (boxrandom_below (&random, row->field) / (small ? 8 : 1))
          : c[k - 2] + (float) (8 + boxrandom_below (&random, 200) / 20) / (small ? 512 : 1);
    if (row->dense && part == 1) {
      c[0] = same ? 1222.0f : 1230.0f;
      c[1] = 300.0f;
      c[2] = c[0] + (float) (10 + boxrandom_below (&random, 4));
      c[3] = c[1] + (float) (10 + boxrandom_below (&random, 4));
    }
    scores[i] = scores[same];
    angles[i] = (float) (same % 4);
    class_ids[i] = (int32_t) (row->with_classes == 2 && same % 2 ? i + 3 : same % 3);
    parents[i] = same % 4 == 1 ? (int32_t) i - 1 : -1;
  }
  for (uint32_t k = 0; k < (row->weighted ? 2 : CALLS); k++) {
    const int weighted = row->weighted || k + 1 == NMS_METHOD_WEIGHTED;
    nms_options options;
    set_call (&options, k, row->min_size_ratio);
    if (row->weighted) {
      options.method = NMS_METHOD_WEIGHTED;
      options.metric = k ? NMS_METRIC_PROBIOU : row->angles ? NMS_METRIC_IOU : NMS_METRIC_IOS;
      options.iou_threshold = 0.45f;
    }
    nms_result a;
    const nms_result b = run (ctx, &all, &options);
    for (size_t part = 0; part < part_count; part++) {
      nms_boxes_set_rows (&one, rows[weighted ? part * PART_BOXES : 0]);
      if (weighted || part == 0)
        a = run (alone, &one, &options);
      compare_part (&a, &b, part, weighted);
    }
    if (!row->weighted && (k + 1 == NMS_METHOD_MATRIX_LINEAR || k + 1 == NMS_METHOD_MERGE)) {
      options.max_detections = b.kept_count / 3;
      const nms_result c = run (capped, &all, &options);
      g_assert_cmpuint (c.kept_count, ==, b.kept_count / 3);
      compare_cap (&b, &c, all.count, k + 1 == NMS_METHOD_MERGE);
    }
  }
}

static const TestCase cases[] = { TEST_ROWS ("/methods-large/%s", test_frame, frames),
  CASE (test_shrinking_cluster), CASE (test_equal_losses), CASE (test_later_block),
  TEST_ROWS ("/methods-large/parts/%s", test_parts, parts), { NULL } };

TEST_PROGRAM (cases);
