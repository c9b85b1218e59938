/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares the reference with cases worked out by hand. This program does not link
 * nmscore, so that the two cannot agree on a wrong result.
 */
#include "describe.h"
#include "handrows.h"
#include "methodrows.h"
#include "reference.h"
#include "scoped.h"
#include "testrunner.h"

#include <math.h>
#include <stdlib.h>

static void
test_row (gconstpointer data)
{
  const HandRow *row = data;
  HandCall call;
  g_auto (RefResult) result = { 0 };
  char *is;

  handrow_call (row, &call);
  ref_run (&call.boxes, &call.options, &result);
  is = describe_reference (&result);
  g_assert_cmpstr (is, ==, row->expect);
  g_assert_cmpuint (result.kept_count + result.suppressed_count + result.over_cap_count
          + result.filtered_count + result.invalid_count + result.not_candidate_count,
      ==, row->count);
  free (is);
}

static void
test_method_row (gconstpointer data)
{
  const MethodRow *row = data;
  MethodCall call;
  g_auto (RefResult) result = { 0 };

  methodrow_call (row, &call);
  ref_run (&call.boxes, &call.options, &result);
  char *is = describe_reference (&result);
  char *kept = methodrow_describe (result.kept_count, result.kept_score, result.kept_box);
  g_assert_cmpstr (is, ==, row->expect);
  g_assert_cmpstr (kept, ==, row->kept);
  g_assert_cmpuint (result.kept_count + result.suppressed_count + result.over_cap_count
          + result.filtered_count + result.invalid_count + result.not_candidate_count,
      ==, row->count);
  free (kept);
  free (is);
}

static void
test_iou (void)
{
  static const struct {
    float a[4], b[4], iou;
  } rows[] = {
    { { 0, 0, 4, 4 }, { 0, 0, 4, 4 }, 1.0f },
    { { 0, 0, 4, 4 }, { 0, 0, 4, 2 }, 0.5f },
    { { 0, 0, 4, 4 }, { 2, 0, 6, 4 }, 0x1.555556p-2f }, /* 8 / 24 */
    { { 0, 0, 4, 4 }, { 6, 4, 2, 0 }, 0x1.555556p-2f }, /* the same, flipped */
    { { 0, 0, 2, 2 }, { 1, 1, 3, 3 }, 0x1.24924ap-3f }, /* 1 / 7 */
    { { 0, 0, 4, 4 }, { 4, 0, 8, 4 }, 0.0f },
    { { 0, 0, 4, 4 }, { 9, 9, 9, 9 }, 0.0f },
    { { 0, 0, 0, 4 }, { 0, 0, 0, 4 }, 0.0f },
    { { 0, 0, 0x1p-50f, 1 }, { 0, 0, 0x1p-50f, 1 }, 0.0f },
    { { 0, 0, 4096, 4096 }, { 0, 0, 1, 1 }, 0x1.000002p-24f }, /* 1 / 16777215 */
    { { 0, 0, NAN, 4 }, { 0, 0, 4, 4 }, 0.0f },
    { { 0, 0, 4, 4 }, { 0, 0, 4, INFINITY }, 0.0f },
    { { -1e18f, -1e18f, 1e18f, 1e18f }, { -1e18f, -1e18f, 1e18f, 1e18f }, 1.0f },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_assert_cmpfloat (ref_iou (rows[i].a, rows[i].b), ==, rows[i].iou);
    g_assert_cmpfloat (ref_iou (rows[i].b, rows[i].a), ==, rows[i].iou);
  }
}

/* WHOLE, HALF and QUARTER of handrows.c, and a box far away. */
static const float overlapping[][4] = { { 0, 0, 4, 4 }, { 0, 0, 4, 2 }, { 0, 0, 4, 1 },
  { 9, 9, 13, 13 } };

static void
test_neighbors (void)
{
  nms_boxes boxes = { .size = sizeof boxes, .count = G_N_ELEMENTS (overlapping) };
  uint32_t n[G_N_ELEMENTS (overlapping)];
  const ptrdiff_t stride = sizeof overlapping[0];

  boxes.x1 = (nms_column) { &overlapping[0][0], stride };
  boxes.y1 = (nms_column) { &overlapping[0][1], stride };
  boxes.x2 = (nms_column) { &overlapping[0][2], stride };
  boxes.y2 = (nms_column) { &overlapping[0][3], stride };

  /* overlaps 0-1: 1/2, 0-2: 1/4, 1-2: 1/2; the default threshold is 1/2 */
  ref_count_neighbors (&boxes, NULL, n);
  g_assert_cmpuint (n[0] + n[1] + n[2] + n[3], ==, 0);

  nms_options options = { .size = sizeof options,
    .iou_threshold = 0.5f,
    .score_threshold = -INFINITY,
    .inclusive = 1 };
  ref_count_neighbors (&boxes, &options, n);
  g_assert_cmpuint (n[0], ==, 1);
  g_assert_cmpuint (n[1], ==, 2);
  g_assert_cmpuint (n[2], ==, 1);
  g_assert_cmpuint (n[3], ==, 0);
}

/* Without options and optional columns: threshold 1/2, not inclusive, no class, no score
 * threshold, no cap, input order. */
static void
test_defaults (void)
{
  static const float rows[][4] = { { 0, 0, 4, 2 }, { 0, 0, 4, 4 }, { 0, 0, 4, 3 },
    { 0, 0, 4, 3.5f } };
  const ptrdiff_t stride = sizeof rows[0];
  nms_boxes boxes = { .size = sizeof boxes, .count = G_N_ELEMENTS (rows) };
  g_auto (RefResult) result = { 0 };

  boxes.x1 = (nms_column) { &rows[0][0], stride };
  boxes.y1 = (nms_column) { &rows[0][1], stride };
  boxes.x2 = (nms_column) { &rows[0][2], stride };
  boxes.y2 = (nms_column) { &rows[0][3], stride };
  ref_run (&boxes, NULL, &result);
  char *is = describe_reference (&result);
  /* 0-1: 8/16; 0-2: 8/12; 0-3: 8/14 */
  g_assert_cmpstr (is, ==, "K K S0 S0 | 0 1");
  free (is);
}

static const TestCase cases[] = { CASE (test_iou), CASE (test_neighbors), CASE (test_defaults),
  TEST_ROWS ("/reference/row/%s", test_row, handrows),
  TEST_ROWS ("/reference/method/%s", test_method_row, methodrows),
  TEST_ROWS ("/reference/scores/%s", test_method_row, scorerows), { NULL } };

TEST_PROGRAM (cases);
