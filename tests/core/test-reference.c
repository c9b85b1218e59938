/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares the reference with cases worked out by hand. This program does not link
 * nmscore, so that the two cannot agree on a wrong result.
 */
#include "handrows.h"
#include "reference.h"
#include "scoped.h"
#include "testrunner.h"

#include <math.h>

static void
test_row (gconstpointer data)
{
  const HandRow *row = data;
  HandCall call;
  g_auto (RefResult) r = { 0 };

  handrow_call (row, &call);
  ref_run (&call.boxes, &call.options, &r);
  const nms_result result = { .kept_count = r.kept_count,
    .kept = r.kept,
    .outcome = r.outcome,
    .suppressed_by = r.suppressed_by,
    .kept_score = r.kept_score,
    .kept_box = r.kept_box };
  g_autofree char *is = handrow_describe (row, &result, call.boxes.count);
  g_assert_cmpstr (is, ==, row->expect);
  g_assert_cmpuint (r.kept_count + r.suppressed_count + r.over_cap_count + r.filtered_count
          + r.invalid_count + r.not_candidate_count,
      ==, call.boxes.count);
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

static const TestCase cases[] = { CASE (test_iou),
  TEST_ROWS ("/reference/row/%s", test_row, hardrows),
  TEST_ROWS ("/reference/method/%s", test_row, methodrows), { NULL } };

TEST_PROGRAM (cases);
