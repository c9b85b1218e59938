/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Caps far below the number of boxes. Every engine equals the reference if the best
 * boxes fill a cap at once, and if the best boxes suppress each other, so that engine
 * sorted has to take batch after batch. Scores, classes and caps of classes vary; all
 * caps may be full long before the last box.
 *
 * NMS_TEST_SEED=<seed> NMS_TEST_ROUNDS=1 runs one round alone.
 */
#include "enginecheck.h"
#include "rounds.h"
#include "scoped.h"
#include "testrunner.h"

#include <stdlib.h>

#define ROUNDS 60
#define LEAST 1024 /* boxes; engine sorted does not use batches for fewer */
#define MOST 5000

typedef struct {
  float rows[4 * MOST], score[MOST];
  int32_t class_id[MOST];
  nms_boxes boxes;
  nms_options options;
} Call;

static double
between (GRand *random, double least, double most)
{
  return g_rand_double_range (random, least, most);
}

/* The share `piled` of the boxes, those with the best scores, lies at few positions; the
 * others lie anywhere. */
static void
draw_boxes (Call *c, GRand *random)
{
  const size_t count = (size_t) g_rand_int_range (random, LEAST, MOST);
  const double piled = between (random, 0.0, 1.0) * between (random, 0.0, 1.0);
  const int spots = g_rand_int_range (random, 1, 40), classes = g_rand_int_range (random, 1, 30);
  const int levels = g_rand_int_range (random, 0, 3) ? 1 << 24 : g_rand_int_range (random, 2, 300);

  for (size_t i = 0; i < count; i++) {
    const double score = g_rand_int_range (random, 0, levels) / (double) levels;
    const int spot = score > 1.0 - piled ? g_rand_int_range (random, 0, spots) : -1;
    const double x = spot < 0 ? between (random, 0.0, 3000.0) : 100.0 * (spot % 8);
    const double y = spot < 0 ? between (random, 0.0, 3000.0) : 100.0 * (spot / 8);
    c->score[i] = (float) score;
    c->rows[4 * i] = (float) (x + between (random, 0.0, 2.0));
    c->rows[4 * i + 1] = (float) (y + between (random, 0.0, 2.0));
    c->rows[4 * i + 2] = (float) (x + between (random, 40.0, 60.0));
    c->rows[4 * i + 3] = (float) (y + between (random, 40.0, 60.0));
    c->class_id[i] = g_rand_int_range (random, 0, classes);
  }
  c->boxes = (nms_boxes) { .size = sizeof c->boxes, .count = count };
  nms_boxes_set_rows (&c->boxes, c->rows);
  c->boxes.score.data = c->score;
  if (g_rand_boolean (random))
    c->boxes.class_id.data = c->class_id;
}

static void
draw_options (Call *c, GRand *random)
{
  nms_options *o = &c->options;

  nms_options_init (o, sizeof *o);
  o->iou_threshold = (float) between (random, 0.1, 0.9);
  o->class_agnostic = (uint8_t) g_rand_boolean (random);
  if (g_rand_int_range (random, 0, 4))
    o->max_detections = (uint64_t) g_rand_int_range (random, 1, (int) c->boxes.count / 8);
  if (!o->max_detections || g_rand_boolean (random))
    o->max_per_class = (uint64_t) g_rand_int_range (random, 1, 60);
}

static void
test_equal_reference (void)
{
  const uint64_t seed = rounds_from_environment ("NMS_TEST_SEED", 1);
  const uint64_t count = rounds_from_environment ("NMS_TEST_ROUNDS", ROUNDS);
  g_autoptr (nms_context) ctx = nms_context_new ();
  Call *call = g_new (Call, 1);

  for (uint64_t i = 0; i < count && !g_test_failed (); i++) {
    g_autoptr (GRand) random = g_rand_new_with_seed ((guint32) (seed + i));
    draw_boxes (call, random);
    draw_options (call, random);
    char *difference = enginecheck_run (ctx, &call->boxes, &call->options, ENGINECHECK_QUICK);
    if (difference) {
      g_test_message ("seed %u, %zu boxes: %s", (guint) (seed + i), call->boxes.count, difference);
      g_test_fail ();
    }
    free (difference);
  }
  g_free (call);
}

static const TestCase cases[] = { CASE (test_equal_reference), { NULL } };

TEST_PROGRAM (cases);
