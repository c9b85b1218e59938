/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The helpers of nmscore.h that convert boxes from other forms, and nms_iou, to the last
 * bit. */
#include "enginecheck.h"
#include "scoped.h"
#include "testrunner.h"

#include <math.h>
#include <string.h>

#define assert_rows(is, must) g_assert_cmpmem (is, sizeof is, must, sizeof must)

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

static void
test_center (void)
{
  static const float in[][4] = { { 0.5f, 10.5f, 1, 1 }, { 0, 0, -2, 4 }, { 0.1f, 0.2f, 0.3f, 0.7f },
    { 16777216, 0, 3, 0 } };
  /* 0.1f - 0.15f and so on, each rounded once */
  static const float must[][4] = { { 0, 10, 1, 11 }, { 1, -2, -1, 2 },
    { (float) (0.1f - 0.5 * 0.3f), (float) (0.2f - 0.5 * 0.7f), (float) (0.1f + 0.5 * 0.3f),
        (float) (0.2f + 0.5 * 0.7f) },
    { 16777214, 0, 16777218, 0 } };
  float out[G_N_ELEMENTS (in)][4], same[G_N_ELEMENTS (in)][4];

  nms_rows_from_cxcywh (in[0], G_N_ELEMENTS (in), out[0]);
  assert_rows (out, must);
  memcpy (same, in, sizeof same);
  nms_rows_from_cxcywh (same[0], G_N_ELEMENTS (in), same[0]);
  assert_rows (same, must);
  nms_rows_from_cxcywh (NULL, 0, NULL);
}

static void
test_corner_size (void)
{
  static const float in[][4] = { { 1, 2, 3, 4 }, { -5, 6, 0, -1 }, { 0.1f, 0.2f, 0.3f, 0.7f },
    { 16777216, 16777216, 1, 3 } };
  static const float must[][4] = { { 1, 2, 4, 6 }, { -5, 6, -5, 5 },
    { 0.1f, 0.2f, (float) (0.1f + (double) 0.3f), (float) (0.2f + (double) 0.7f) },
    { 16777216, 16777216, 16777216, 16777220 } }; /* ties go to even */
  float out[G_N_ELEMENTS (in)][4], same[G_N_ELEMENTS (in)][4];

  nms_rows_from_xywh (in[0], G_N_ELEMENTS (in), out[0]);
  assert_rows (out, must);
  memcpy (same, in, sizeof same);
  nms_rows_from_xywh (same[0], G_N_ELEMENTS (in), same[0]);
  assert_rows (same, must);
  nms_rows_from_xywh (NULL, 0, NULL);
}

/* Both helpers pass NaN and infinities on, and nms_run counts the box as invalid. */
static void
test_hostile (void)
{
  static const float hostile[] = { NAN, INFINITY, -INFINITY, 2e18f };
  g_autoptr (nms_context) context = nms_context_new ();

  for (size_t h = 0; h < G_N_ELEMENTS (hostile); h++)
    for (int at = 0; at < 4; at++)
      for (int form = 0; form < 2; form++) {
        float row[4] = { 1, 1, 2, 2 };
        nms_boxes boxes = { .size = sizeof boxes, .count = 1 };
        nms_result result = { .size = sizeof result };
        row[at] = hostile[h] * (at < 2 || form ? 1 : 2);
        if (form)
          nms_rows_from_xywh (row, 1, row);
        else
          nms_rows_from_cxcywh (row, 1, row);
        nms_boxes_set_rows (&boxes, row);
        g_assert_cmpint (nms_run (context, &boxes, NULL, &result), ==, NMS_OK);
        g_assert_cmpuint (result.invalid_count, ==, 1);
      }
}

static void
test_iou (void)
{
  static const struct {
    float a[4], b[4], iou;
  } rows[] = {
    { { 0, 0, 4, 4 }, { 0, 0, 4, 4 }, 1.0f },
    { { 0, 0, 4, 4 }, { 0, 0, 4, 2 }, 0.5f },
    { { 0, 0, 4, 4 }, { 6, 4, 2, 0 }, 0x1.555556p-2f }, /* 1/3, flipped */
    { { 0, 0, 4, 4 }, { 4, 0, 8, 4 }, 0.0f },
    { { 0, 0, 0x1p-50f, 1 }, { 0, 0, 0x1p-50f, 1 }, 0.0f },
    { { 0, 0, 4096, 4096 }, { 0, 0, 1, 1 }, 0x1.000002p-24f }, /* hardrows.c says why */
    { { 0, 0, NAN, 4 }, { 0, 0, 4, 4 }, 0.0f },
    { { 0, 0, 4, 4 }, { 0, 0, 4, INFINITY }, 0.0f },
    { { 0, 0, 4, 4 }, { 0, 0, 4, 0x1.bc16d8p+59f }, 0.0f },
    { { -1e18f, -1e18f, 1e18f, 1e18f }, { -1e18f, -1e18f, 1e18f, 1e18f }, 1.0f },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_assert_cmpfloat (nms_iou (rows[i].a, rows[i].b), ==, rows[i].iou);
    g_assert_cmpfloat (nms_iou (rows[i].b, rows[i].a), ==, rows[i].iou);
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

/* Boxes of bfloat16, at thresholds that equal their overlaps and at others. */
static void
test_bfloat16_boxes (void)
{
  /* 0 0 3 1, 0 0 1 1 and 2 0 4 1, with scores 1, 0.5 and 0.25: overlaps of 1/3 and 1/4 */
  static const uint16_t rows[] = { 0, 0, 0x4040, 0x3f80, 0, 0, 0x3f80, 0x3f80, 0x4000, 0, 0x4080,
    0x3f80 };
  static const uint16_t scores[] = { 0x3f80, 0x3f00, 0x3e80 };
  static const struct {
    float threshold;
    size_t kept;
  } must[] = { { 0.2f, 1 }, { 0.25f, 2 }, { 0.3f, 2 }, { 0x1.555556p-2f, 3 } };
  float corners[12], score[3];
  g_autoptr (nms_context) context = nms_context_new ();
  nms_boxes boxes = { .size = sizeof boxes, .count = 3, .score = { score, 0 } };
  nms_options options;

  nms_floats_from_bfloat16 (rows, 12, corners);
  nms_floats_from_bfloat16 (scores, 3, score);
  nms_boxes_set_rows (&boxes, corners);
  nms_options_init (&options, sizeof options);
  for (size_t i = 0; i < G_N_ELEMENTS (must); i++) {
    nms_result result = { .size = sizeof result };
    options.iou_threshold = must[i].threshold;
    g_assert_cmpint (nms_run (context, &boxes, &options, &result), ==, NMS_OK);
    g_assert_cmpuint (result.kept_count, ==, must[i].kept);
  }
}

static const TestCase cases[] = { CASE (test_set_rows), CASE (test_center), CASE (test_corner_size),
  CASE (test_hostile), CASE (test_iou), CASE (test_bfloat16), CASE (test_bfloat16_boxes),
  { NULL } };

TEST_PROGRAM (cases);
