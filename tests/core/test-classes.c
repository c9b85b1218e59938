/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Many classes. Every engine equals the reference for any ids (small, negative, far
 * apart, or such that they collide in a hash table), for any distribution of boxes over
 * classes, and for any caps and options of classes; also if the best boxes alone do not
 * fill a cap.
 *
 * NMS_TEST_SEED=<seed> NMS_TEST_ROUNDS=1 runs one round alone.
 */
#include "enginecheck.h"
#include "rounds.h"
#include "scoped.h"
#include "testrunner.h"

#include <math.h>
#include <stdlib.h>

#define OPTIONS 4
#define ROUNDS 400

typedef struct {
  GRand *random;
  size_t count;
  int classes;
  float *rows, *score;
  int32_t *class_id, *parent;
  nms_boxes boxes;
  nms_class_options class_options[OPTIONS];
  nms_options options;
} Call;

static int
one_in (Call *c, int n)
{
  return g_rand_int_range (c->random, 0, n) == 0;
}

/* Returns the id of class number k, for this kind of ids. */
static int32_t
class_id (int kind, int k)
{
  switch (kind) {
    case 0:
      return k;
    case 1:
      return -1 - k;
    case 2:
      return (int32_t) (0x80000000u + (uint32_t) k * 4000037u); /* spread over all 32-bit numbers */
    case 3:
      return (int32_t) ((uint32_t) k << 20); /* equal in their lower bits */
    case 4:
      return k == 0 ? INT32_MAX : k == 1 ? INT32_MIN : k;
    default: /* equal in the upper bits of the product with 2654435769 */
      return (int32_t) ((uint32_t) k * 0x10000u * 0x144cbc89u);
  }
}

static void
draw_boxes (Call *c)
{
  const int kind = g_rand_int_range (c->random, 0, 6), skewed = one_in (c, 3);
  const int equal_best = one_in (c, 3), few_scores = one_in (c, 4), crowd = one_in (c, 2);
  const double side = crowd ? 300.0 : 2000.0;

  for (size_t i = 0; i < c->count; i++) {
    float *row = c->rows + 4 * i;
    int k = g_rand_int_range (c->random, 0, c->classes);
    c->score[i] = (float) (few_scores ? g_rand_int_range (c->random, 0, 9)
                                      : g_rand_double (c->random));
    row[0] = (float) g_rand_double_range (c->random, 0.0, side);
    row[1] = (float) g_rand_double_range (c->random, 0.0, side);
    row[2] = row[0] + (float) g_rand_double_range (c->random, 5.0, 60.0);
    row[3] = row[1] + (float) g_rand_double_range (c->random, 5.0, 60.0);
    if (skewed && one_in (c, 2))
      k = 0;
    if (equal_best && one_in (c, 2)) { /* the best half is one box a class */
      row[0] = row[1] = 0.0f;
      row[2] = row[3] = 50.0f;
      c->score[i] += 10.0f;
    }
    if (one_in (c, 300))
      row[2] = NAN;
    c->class_id[i] = class_id (kind, k);
    c->parent[i] = one_in (c, 2) ? -1 : g_rand_int_range (c->random, 0, (int) c->count);
  }
}

static void
draw_options (Call *c)
{
  nms_options *o = &c->options;
  nms_options_init (o, sizeof *o);
  o->iou_threshold = (float) g_rand_double (c->random);
  if (one_in (c, 4))
    o->iou_threshold = 0.0f;
  o->inclusive = (uint8_t) one_in (c, 4);
  o->class_agnostic = (uint8_t) one_in (c, 6);
  if (one_in (c, 2)) /* often far below the number of boxes */
    o->max_detections = (uint64_t) g_rand_int_range (c->random, 1, 2 + (int) c->count / 8);
  if (one_in (c, 3))
    o->max_per_class = (uint64_t) g_rand_int_range (c->random, 1, 40);
  if (!one_in (c, 3) || c->class_id[0] > INT32_MAX - OPTIONS)
    return;
  for (size_t i = 0; i < OPTIONS; i++)
    c->class_options[i] = (nms_class_options) { .size = sizeof c->class_options[i],
      .class_id = c->class_id[0] + (int32_t) i,
      .set = (uint32_t) g_rand_int_range (c->random, 0, 16),
      .iou_threshold = (float) g_rand_double (c->random),
      .score_threshold = (float) g_rand_double (c->random),
      .max_detections = (uint64_t) g_rand_int_range (c->random, 0, 9),
      .group = c->class_id[g_rand_int_range (c->random, 0, (int) c->count)] };
  o->class_options = c->class_options;
  o->class_option_count = OPTIONS;
}

static void
check_round (nms_context *ctx, guint32 seed)
{
  static const int class_counts[] = { 1, 2, 3, 10, 80, 1000 };
  Call c = { .random = g_rand_new_with_seed (seed) };
  char *difference;

  c.count = (size_t) g_rand_int_range (c.random, 1, seed % 4 ? 1200 : 2600);
  c.classes = class_counts[g_rand_int_range (c.random, 0, (int) G_N_ELEMENTS (class_counts))];
  c.rows = g_new (float, 4 * c.count);
  c.score = g_new (float, c.count);
  c.class_id = g_new (int32_t, c.count);
  c.parent = g_new (int32_t, c.count);
  draw_boxes (&c);
  draw_options (&c);
  c.boxes = (nms_boxes) { .size = sizeof c.boxes, .count = c.count };
  nms_boxes_set_rows (&c.boxes, c.rows);
  c.boxes.score.data = c.score;
  c.boxes.class_id.data = c.class_id;
  if (one_in (&c, 5))
    c.boxes.parent.data = c.parent;
  difference = enginecheck_run (ctx, &c.boxes, &c.options, ENGINECHECK_OUTPUTS);
  if (difference) {
    g_test_message ("seed %u, %zu boxes, %d classes: %s", seed, c.count, c.classes, difference);
    g_test_fail ();
  }
  free (difference);
  g_free (c.rows);
  g_free (c.score);
  g_free (c.class_id);
  g_free (c.parent);
  g_rand_free (c.random);
}

static void
test_equal_reference (void)
{
  const uint64_t seed = rounds_from_environment ("NMS_TEST_SEED", 1);
  const uint64_t count = rounds_from_environment ("NMS_TEST_ROUNDS", ROUNDS);
  g_autoptr (nms_context) ctx = nms_context_new ();

  for (uint64_t i = 0; i < count && !g_test_failed (); i++)
    check_round (ctx, (guint32) (seed + i));
}

static const TestCase cases[] = { CASE (test_equal_reference), { NULL } };

TEST_PROGRAM (cases);
