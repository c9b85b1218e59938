/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The helpers of nmscore.h that convert boxes from other forms, to the last bit. test-reference and
 * test-properties check nms_iou. */
#include "nmscore.h"
#include "testrunner.h"

#include <math.h>
#include <string.h>

static void
test_set_rows (void)
{
  static const float rows[2][4] = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } };
  nms_boxes boxes = { .size = sizeof boxes, .count = 2 }, before = boxes;
  const nms_column *columns[4] = { &boxes.x1, &boxes.y1, &boxes.x2, &boxes.y2 };

  nms_boxes_set_rows (&boxes, rows[0]);
  for (size_t k = 0; k < 4; k++) {
    g_assert_true (columns[k]->data == &rows[0][k]);
    g_assert_cmpint (columns[k]->stride, ==, 16);
  }
  before.x1 = boxes.x1; /* nothing else was written */
  before.y1 = boxes.y1;
  before.x2 = boxes.x2;
  before.y2 = boxes.y2;
  g_assert_cmpmem (&boxes, sizeof boxes, &before, sizeof before);
}

/* Runs a conversion into another array and in its place. */
static void
check_form (void (*convert) (const float *, size_t, float *), const float (*in)[4],
    const float (*must)[4], size_t count)
{
  float out[4][4], same[4][4];

  convert (in[0], count, out[0]);
  g_assert_cmpmem (out, count * sizeof *out, must, count * sizeof *must);
  memcpy (same, in, count * sizeof *same);
  convert (same[0], count, same[0]);
  g_assert_cmpmem (same, count * sizeof *same, must, count * sizeof *must);
  convert (NULL, 0, NULL);
}

static void
test_forms (void)
{
  static const float center[][4] = { { 0.5f, 10.5f, 1, 1 }, { 0, 0, -2, 4 },
    { 0.1f, 0.2f, 0.3f, 0.7f }, { 16777216, 0, 3, 0 } };
  /* 0.1f - 0.15f and so on, each rounded once */
  static const float from_center[][4] = { { 0, 10, 1, 11 }, { 1, -2, -1, 2 },
    { (float) (0.1f - 0.5 * 0.3f), (float) (0.2f - 0.5 * 0.7f), (float) (0.1f + 0.5 * 0.3f),
        (float) (0.2f + 0.5 * 0.7f) },
    { 16777214, 0, 16777218, 0 } };
  static const float corner[][4] = { { 1, 2, 3, 4 }, { -5, 6, 0, -1 }, { 0.1f, 0.2f, 0.3f, 0.7f },
    { 16777216, 16777216, 1, 3 } };
  static const float from_corner[][4] = { { 1, 2, 4, 6 }, { -5, 6, -5, 5 },
    { 0.1f, 0.2f, (float) (0.1f + (double) 0.3f), (float) (0.2f + (double) 0.7f) },
    { 16777216, 16777216, 16777216, 16777220 } }; /* ties go to even */

  check_form (nms_rows_from_cxcywh, center, from_center, G_N_ELEMENTS (center));
  check_form (nms_rows_from_xywh, corner, from_corner, G_N_ELEMENTS (corner));
}

/* NaN and infinities remain, and nms_run finds the box invalid: see hardrows.c. */
static void
test_hostile (void)
{
  static const float rows[][4] = { { NAN, INFINITY, 1, 1 }, { 1, 1, NAN, INFINITY } };

  for (size_t i = 0; i < 2 * G_N_ELEMENTS (rows); i++) {
    float out[4];
    (i % 2 ? nms_rows_from_xywh : nms_rows_from_cxcywh) (rows[i / 2], 1, out);
    g_assert_true (isnan (out[2]) && out[3] == INFINITY);
  }
}

/* All 65,536 numbers: the float with these upper bits, and 0 below them. */
static void
test_bfloat16 (void)
{
  uint16_t *in = g_new (uint16_t, 0x10000);
  g_autofree float *out = g_new (float, 0x10000);

  for (uint32_t i = 0; i < 0x10000; i++)
    in[i] = (uint16_t) i;
  nms_floats_from_bfloat16 (in, 0x10000, out);
  for (uint32_t i = 0; i < 0x10000; i++) {
    uint32_t bits;
    memcpy (&bits, &out[i], sizeof bits);
    g_assert_cmphex (bits, ==, i << 16);
  }
  g_assert_cmpfloat (out[0x3fc0], ==, 1.5f);
  g_assert_cmpfloat (out[0xc2c9], ==, -100.5f);
  g_assert_cmpfloat (out[1], ==, 0x1p-133f);
  g_assert_true (isnan (out[0x7fc0]) && out[0xff80] == -INFINITY);
  nms_floats_from_bfloat16 (NULL, 0, NULL);
  g_free (in);
}

static const TestCase cases[] = { CASE (test_set_rows), CASE (test_forms), CASE (test_hostile),
  CASE (test_bfloat16), { NULL } };

TEST_PROGRAM (cases);
