/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Engine spatial, which finds neighbors in a grid, gives the result of engine sorted,
 * bit for bit, on layouts that are hard for a grid: all sizes and aspects at once,
 * crowds, stacks of thin boxes, coordinates at the limits, many classes at one position,
 * parts, caps, thresholds from 0 to 1.
 */
#include "nmscore.h"
#include "scoped.h"
#include "testrunner.h"

#include <math.h>
#include <string.h>

#define SEED 20240917
#define CLASS_OPTIONS 3

typedef enum {
  UNIFORM,
  INTEGERS,
  ONE_SPOT,
  EQUAL,
  ALL_SIZES,
  THIN,
  GIANT_AND_TINY,
  HUGE_COORDINATES,
  CROWDS,
  ROW,
  COLUMN,
  SMALL_EXTENTS,
  OUTLIERS,
  LAYOUTS
} Layout;

typedef struct {
  size_t count;
  float *rows;
  float *score;
  int32_t *class_id;
  int32_t *parent;
  nms_boxes boxes;
  nms_class_options class_options[CLASS_OPTIONS];
  nms_options options;
} Call;

static float
uniform (GRand *random, double least, double most)
{
  return (float) g_rand_double_range (random, least, most);
}

static int
one_in (GRand *random, int n)
{
  return g_rand_int_range (random, 0, n) == 0;
}

/* Draws left, top, width and height of box i. */
static void
draw_box (GRand *r, Layout layout, size_t i, size_t count, float box[4])
{
  const double side = 4.0 * sqrt ((double) count);
  box[0] = uniform (r, 0.0, side);
  box[1] = uniform (r, 0.0, side);
  box[2] = uniform (r, 1.0, 12.0);
  box[3] = uniform (r, 1.0, 12.0);

  switch (layout) {
    case INTEGERS:
      for (int c = 0; c < 4; c++)
        box[c] = (float) g_rand_int_range (r, 0, 8);
      break;
    case ONE_SPOT:
      for (int c = 0; c < 4; c++)
        box[c] = uniform (r, 0.0, 1.0) + (c < 2 ? 0.0f : 20.0f);
      break;
    case EQUAL:
      box[0] = box[1] = 5.0f;
      box[2] = box[3] = 10.0f;
      break;
    case ALL_SIZES:
      box[2] = expf (uniform (r, -10.0, 10.0));
      box[3] = expf (uniform (r, -10.0, 10.0));
      break;
    case THIN:
      box[2] = uniform (r, 900.0, 1000.0);
      box[3] = uniform (r, 0.5, 1.0);
      if (one_in (r, 2)) {
        box[2] = box[3];
        box[3] = 1000.0f;
      }
      break;
    case GIANT_AND_TINY:
      if (i == count / 2) {
        box[0] = box[1] = -1e17f;
        box[2] = box[3] = 2e17f;
      }
      break;
    case HUGE_COORDINATES:
      box[0] = uniform (r, -1e18, 9e17);
      box[1] = uniform (r, -1e18, 9e17);
      box[2] = uniform (r, 0.0, 1e17);
      box[3] = uniform (r, 0.0, 1e17);
      break;
    case CROWDS: {
      float at = (float) g_rand_int_range (r, 0, 1 + (int) count / 20) * 37.0f;
      box[0] = at + uniform (r, 0.0, 3.0);
      box[1] = at + uniform (r, 0.0, 3.0);
      box[2] = uniform (r, 20.0, 26.0);
      box[3] = uniform (r, 30.0, 36.0);
      break;
    }
    case ROW:
      box[0] = (float) i;
      box[1] = 0.0f;
      break;
    case COLUMN:
      box[0] = 0.0f;
      box[1] = (float) i * 0.5f;
      break;
    case SMALL_EXTENTS: /* around 2^-50, the smallest extent that can overlap */
      for (int c = 0; c < 4; c++)
        box[c] = ldexpf (uniform (r, c < 2 ? -1.0 : 0.0, 1.0), -g_rand_int_range (r, 40, 53));
      break;
    case OUTLIERS:
      if (one_in (r, 20)) {
        box[0] = uniform (r, -1e18, 1e18);
        box[1] = uniform (r, -1e9, 1e9);
      }
      if (one_in (r, 10))
        box[2] = 0.0f;
      break;
    default:
      break;
  }
}

static float
draw_threshold (GRand *r)
{
  switch (g_rand_int_range (r, 0, 7)) {
    case 0:
      return 0.0f;
    case 1:
      return 1.0f;
    case 2:
      return (float) g_rand_int_range (r, 1, 7) / (float) g_rand_int_range (r, 7, 14);
    case 3:
      return ldexpf (uniform (r, 0.5, 1.0), -g_rand_int_range (r, 0, 30));
    case 4:
      return 1.0f - ldexpf (uniform (r, 0.5, 1.0), -g_rand_int_range (r, 0, 24));
    default:
      return uniform (r, 0.2, 0.8);
  }
}

static void
draw_options (GRand *r, Call *call)
{
  nms_options *o = &call->options;
  size_t n = 0;

  nms_options_init (o, sizeof *o);
  o->iou_threshold = draw_threshold (r);
  o->inclusive = (uint8_t) one_in (r, 3);
  o->class_agnostic = (uint8_t) one_in (r, 4);
  if (one_in (r, 4))
    o->max_detections = (uint64_t) g_rand_int_range (r, 1, (int) call->count + 2);
  if (one_in (r, 4))
    o->max_per_class = (uint64_t) g_rand_int_range (r, 1, 6);
  if (one_in (r, 5))
    o->score_threshold = 0.2f;
  if (!one_in (r, 3))
    return;
  for (int32_t id = 0; id < CLASS_OPTIONS; id++)
    if (one_in (r, 2))
      call->class_options[n++] = (nms_class_options) { .size = sizeof *call->class_options,
        .class_id = id,
        .set = (uint32_t) g_rand_int_range (r, 0, 16),
        .iou_threshold = draw_threshold (r),
        .score_threshold = 0.1f,
        .max_detections = (uint64_t) g_rand_int_range (r, 0, 5),
        .group = g_rand_int_range (r, 0, 3) };
  o->class_options = call->class_options;
  o->class_option_count = n;
}

static void
draw_call (GRand *r, Call *call, Layout layout, size_t count)
{
  const int classes = one_in (r, 2) ? 3 : 1000;
  const int ties = one_in (r, 3);

  call->count = count;
  call->rows = g_new (float, 4 * count);
  call->score = g_new (float, count);
  call->class_id = g_new (int32_t, count);
  call->parent = g_new (int32_t, count);
  for (size_t i = 0; i < count; i++) {
    float box[4];
    draw_box (r, layout, i, count, box);
    for (int c = 0; c < 4; c++) {
      float value = c < 2 ? box[c] : box[c - 2] + box[c];
      call->rows[4 * i + (size_t) c] = CLAMP (value, -1e18f, 1e18f);
    }
    call->score[i] = ties ? (float) g_rand_int_range (r, 0, 4) : uniform (r, 0.0, 1.0);
    call->class_id[i] = g_rand_int_range (r, 0, classes);
    call->parent[i] = one_in (r, 3) ? g_rand_int_range (r, 0, (int) count) : -1;
  }
  call->boxes = (nms_boxes) { .size = sizeof call->boxes, .count = count };
  nms_boxes_set_rows (&call->boxes, call->rows);
  call->boxes.score.data = call->score;
  if (one_in (r, 2))
    call->boxes.class_id.data = call->class_id;
  if (one_in (r, 4))
    call->boxes.parent.data = call->parent;
  draw_options (r, call);
}

static void
clear_call (Call *call)
{
  g_free (call->rows);
  g_free (call->score);
  g_free (call->class_id);
  g_free (call->parent);
}

/* Compares both engines with one set of outputs; a failure reports `what`. */
static void
compare (nms_context *sorted, nms_context *spatial, Call *call, uint32_t outputs, const char *what)
{
  nms_result a = { .size = sizeof a }, b = { .size = sizeof b };
  const size_t n = call->count;

  call->options.outputs = outputs;
  call->options.engine = NMS_ENGINE_SORTED;
  g_assert_cmpint (nms_run (sorted, &call->boxes, &call->options, &a), ==, 0);
  call->options.engine = NMS_ENGINE_SPATIAL;
  g_assert_cmpint (nms_run (spatial, &call->boxes, &call->options, &b), ==, 0);
  g_assert_cmpint (nms_context_engine (spatial), ==, NMS_ENGINE_SPATIAL);
  if (a.kept_count != b.kept_count || a.suppressed_count != b.suppressed_count
      || a.over_cap_count != b.over_cap_count
      || memcmp (a.kept, b.kept, a.kept_count * sizeof *a.kept) != 0)
    g_error ("%s, outputs %u: other boxes kept", what, outputs);
  if ((outputs & NMS_OUTPUT_OUTCOME) && memcmp (a.outcome, b.outcome, n) != 0)
    g_error ("%s, outputs %u: other outcomes", what, outputs);
  if ((outputs & NMS_OUTPUT_SUPPRESSED_BY)
      && memcmp (a.suppressed_by, b.suppressed_by, n * sizeof *a.suppressed_by) != 0)
    g_error ("%s, outputs %u: other suppressors", what, outputs);
}

/* Per cent of the rounds to run; less than 100 if instructions are emulated. */
static int
share_of_rounds (void)
{
  const char *fewer = g_getenv ("NMS_TEST_ROUNDS");

  return fewer ? CLAMP (atoi (fewer) / 4, 1, 100) : 100;
}

static void
compare_many (size_t least, size_t most, int rounds)
{
  g_autoptr (nms_context) sorted = nms_context_new (), spatial = nms_context_new ();

  rounds = MAX (1, rounds * share_of_rounds () / 100);
  for (int round = 0; round < rounds; round++) {
    for (int layout = 0; layout < LAYOUTS; layout++) {
      const guint32 seed = SEED + (guint32) (round * LAYOUTS + layout);
      g_autoptr (GRand) random = g_rand_new_with_seed (seed);
      Call call;
      char *what;

      draw_call (random, &call, (Layout) layout,
          (size_t) g_rand_int_range (random, (int) least, (int) most + 1));
      what = g_strdup_printf ("layout %d, seed %u, %zu boxes", layout, seed, call.count);
      for (uint32_t outputs = 0; outputs < 4; outputs++)
        compare (sorted, spatial, &call, outputs, what);
      g_free (what);
      clear_call (&call);
    }
  }
}

static void
test_few_boxes (void)
{
  compare_many (1, 12, 400);
}

static void
test_some_boxes (void)
{
  compare_many (13, 300, 200);
}

static void
test_many_boxes (void)
{
  compare_many (2000, 6000, 4);
}

/* If the time grew with the square of the number of boxes, each of these frames would
 * take minutes. */
static void
test_hostile_layouts_end (void)
{
  const Layout layouts[] = { ONE_SPOT, EQUAL, ALL_SIZES, THIN, GIANT_AND_TINY, HUGE_COORDINATES,
    CROWDS, ROW, COLUMN, OUTLIERS };
  g_autoptr (nms_context) ctx = nms_context_new ();

  for (size_t l = 0; l < G_N_ELEMENTS (layouts); l++) {
    g_autoptr (GRand) random = g_rand_new_with_seed (SEED);
    Call call;
    nms_result result = { .size = sizeof result };

    draw_call (random, &call, layouts[l], share_of_rounds () < 100 ? 20000 : 100000);
    call.boxes.class_id.data = NULL;
    call.boxes.parent.data = NULL;
    nms_options_init (&call.options, sizeof call.options);
    call.options.engine = NMS_ENGINE_SPATIAL;
    g_assert_cmpint (nms_run (ctx, &call.boxes, &call.options, &result), ==, 0);
    g_assert_cmpuint (result.kept_count + result.suppressed_count, ==, call.count);
    clear_call (&call);
  }
}

/* Thousands of classes at one position; boxes of different classes do not suppress each
 * other. */
static void
test_classes_in_one_place (void)
{
  g_autoptr (nms_context) sorted = nms_context_new (), spatial = nms_context_new ();
  g_autoptr (GRand) random = g_rand_new_with_seed (SEED);
  Call call;

  draw_call (random, &call, ONE_SPOT, 8000);
  for (size_t i = 0; i < call.count; i++)
    call.class_id[i] = (int32_t) (i % 4000 * 2654435761u);
  call.boxes.class_id.data = call.class_id;
  nms_options_init (&call.options, sizeof call.options);
  compare (sorted, spatial, &call, NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY, "classes");
  clear_call (&call);
}

static const TestCase cases[] = { CASE (test_few_boxes), CASE (test_some_boxes),
  CASE (test_many_boxes), CASE (test_hostile_layouts_end), CASE (test_classes_in_one_place),
  { NULL } };

TEST_PROGRAM (cases);
