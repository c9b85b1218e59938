/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames of a few large classes, which engine auto decides class by class: they equal the
 * reference with boxes grouped by class or mixed, classes of very different sizes, equal
 * scores, limits and caps of classes, parts, and class ids of any size.
 *
 * NMS_TEST_SEED=<seed> NMS_TEST_ROUNDS=1 runs one round alone.
 */
#include "enginecheck.h"
#include "rounds.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <stdlib.h>

#define ROUNDS 24
#define MOST 7000
#define CLASSES 12

typedef struct {
  float rows[4 * MOST], score[MOST];
  int32_t class_id[MOST], parent[MOST];
  nms_boxes boxes;
  nms_class_options class_options[2];
  nms_options options;
} Call;

static int
one_in (GRand *random, int n)
{
  return g_rand_int_range (random, 0, n) == 0;
}

/* Draws box i near one of `objects` objects, with one of `levels` scores. */
static void
draw_box (Call *c, GRand *random, size_t i, int objects, int levels)
{
  const int object = g_rand_int_range (random, 0, objects);
  const double x = object % 40 * 50.0, y = object / 40 * 50.0;

  c->rows[4 * i] = (float) (x + g_rand_double_range (random, 0.0, 8.0));
  c->rows[4 * i + 1] = (float) (y + g_rand_double_range (random, 0.0, 8.0));
  c->rows[4 * i + 2] = (float) (x + g_rand_double_range (random, 30.0, 40.0));
  c->rows[4 * i + 3] = (float) (y + g_rand_double_range (random, 30.0, 40.0));
  c->score[i] = (float) g_rand_int_range (random, 0, levels) / (float) levels;
  c->parent[i] = one_in (random, 4) ? g_rand_int_range (random, 0, MOST) : -1;
}

static void
draw_options (Call *c, GRand *random, int32_t factor)
{
  nms_options *o = &c->options;

  nms_options_init (o, sizeof *o);
  o->iou_threshold = (float) g_rand_double_range (random, 0.3, 0.8);
  if (one_in (random, 3))
    o->max_per_class = (uint64_t) g_rand_int_range (random, 1, 400);
  if (one_in (random, 4))
    o->score_threshold = 0.2f;
  if (one_in (random, 3))
    return;
  for (int k = 0; k < 2; k++)
    c->class_options[k] = (nms_class_options) { .size = sizeof *c->class_options,
      .class_id = k * factor,
      .set = (uint32_t) g_rand_int_range (random, 0, 16),
      .iou_threshold = 0.4f,
      .score_threshold = 0.1f,
      .max_detections = (uint64_t) g_rand_int_range (random, 0, 300),
      .group = g_rand_int_range (random, 0, 4) * factor };
  o->class_options = c->class_options;
  o->class_option_count = 2;
}

static void
draw_call (Call *c, GRand *random)
{
  const size_t count = (size_t) g_rand_int_range (random, 3000, MOST);
  const int classes = g_rand_int_range (random, 1, CLASSES), grouped = one_in (random, 2);
  const int32_t factor = one_in (random, 2) ? 1 : -1000003;
  const int objects = g_rand_int_range (random, 1, 800);
  const int levels = one_in (random, 2) ? 1 << 24 : 50;

  for (size_t i = 0; i < count; i++) {
    /* squared, so that the first classes are the largest */
    const double at = grouped ? (double) i / (double) count : g_rand_double (random);
    c->class_id[i] = (int32_t) (at * at * classes) * factor;
    draw_box (c, random, i, objects, levels);
  }
  c->boxes = (nms_boxes) { .size = sizeof c->boxes, .count = count };
  nms_boxes_set_rows (&c->boxes, c->rows);
  c->boxes.score.data = c->score;
  c->boxes.class_id.data = c->class_id;
  if (one_in (random, 3))
    c->boxes.parent.data = c->parent;
  draw_options (c, random, factor);
}

static void
check_round (guint32 seed)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  Call *c = g_new0 (Call, 1);

  draw_call (c, random);
  char *difference = enginecheck_run (context, &c->boxes, &c->options, ENGINECHECK_OUTPUTS);
  if (difference) {
    g_test_message ("seed %u, %zu boxes: %s", seed, c->boxes.count, difference);
    g_test_fail ();
  }
  free (difference);
  g_free (c);
}

static void
test_equal_reference (void)
{
  const uint64_t seed = rounds_from_environment ("NMS_TEST_SEED", 20261122);
  const uint64_t count = rounds_from_environment ("NMS_TEST_ROUNDS", ROUNDS);

  for (uint64_t i = 0; i < count && !g_test_failed (); i++)
    check_round ((guint32) (seed + i));
}

/* nms_context_engine returns the engine of the largest class, never auto. */
static void
test_engine_in_use (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  Call *c = g_new0 (Call, 1);
  nms_result result = { .size = sizeof result };

  for (size_t i = 0; i < MOST; i++) {
    draw_box (c, random, i, 10, 1 << 24);
    c->class_id[i] = (int32_t) (i / 700);
  }
  c->boxes = (nms_boxes) { .size = sizeof c->boxes, .count = MOST };
  nms_boxes_set_rows (&c->boxes, c->rows);
  c->boxes.score.data = c->score;
  c->boxes.class_id.data = c->class_id;
  nms_options_init (&c->options, sizeof c->options);
  g_assert_cmpint (nms_run (context, &c->boxes, &c->options, &result), ==, 0);
  g_assert_cmpint (nms_context_engine (context), !=, NMS_ENGINE_AUTO);
  g_assert_cmpstr (nms_context_engine_in_use (context), !=, "");
  g_free (c);
}

static const TestCase cases[] = { CASE (test_equal_reference), CASE (test_engine_in_use),
  { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
