/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nms_count_neighbors on cases worked out by hand. test-properties compares it with the
 * reference on random ones.
 */
#include "enginecheck.h"
#include "handrows.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE 0, 0, 4, 4   /* 16 */
#define HALF 0, 0, 4, 2    /* 8 */
#define QUARTER 0, 0, 4, 1 /* 4 */
#define FAR 9, 9, 13, 13

#define ALL -INFINITY
#define BY_IOU NMS_CLASS_IOU_THRESHOLD

/* `expect` lists the number of neighbors of each box. */
static const HandRow rows[] = {
  { "no box", "", .iou = 0.5f, .least = ALL },
  { "one box is not its own neighbor", "0", .iou = 0, .least = ALL, .inclusive = 1, .count = 1,
      .boxes = { { WHOLE } } },
  { "equal boxes", "2 2 2 0", .iou = 0.5f, .least = ALL, .count = 4,
      .boxes = { { WHOLE }, { WHOLE }, { WHOLE }, { FAR } } },
  { "equal boxes under threshold 1", "0 0", .iou = 1, .least = ALL, .count = 2,
      .boxes = { { WHOLE }, { WHOLE } } },
  { "equal boxes reach threshold 1", "1 1", .iou = 1, .least = ALL, .inclusive = 1, .count = 2,
      .boxes = { { WHOLE }, { WHOLE } } },
  { "equal boxes without area", "0 0", .iou = 0, .least = ALL, .inclusive = 1, .count = 2,
      .boxes = { { 1, 1, 1, 3 }, { 1, 1, 1, 3 } } },
  /* whole-half 1/2, whole-quarter 1/4, half-quarter 1/2 */
  { "overlap equal to the threshold", "0 0 0", .iou = 0.5f, .least = ALL, .count = 3,
      .boxes = { { WHOLE }, { HALF }, { QUARTER } } },
  { "overlap equal to the threshold, inclusive", "1 2 1", .iou = 0.5f, .least = ALL,
      .inclusive = 1, .count = 3, .boxes = { { WHOLE }, { HALF }, { QUARTER } } },
  { "touching", "0 0", .iou = 0, .least = ALL, .inclusive = 1, .count = 2,
      .boxes = { { WHOLE }, { 4, 0, 8, 4 } } },
  { "scores do not matter", "1 2 1", .iou = 0.4f, .least = ALL, .count = 3,
      .boxes = { { WHOLE, 0.1f }, { HALF, 0.9f }, { QUARTER, -3 } } },
  { "filtered ones have none and are none", "0 1 0 1", .iou = 0.25f, .least = 0.5f, .count = 4,
      .boxes = { { WHOLE, 0.4f }, { WHOLE, 0.5f }, { WHOLE, 0.9f, .exclude = 1 },
          { HALF, 0.9f } } },
  { "invalid ones have none and are none", "0 1 0 1", .iou = 0.25f, .least = ALL, .count = 4,
      .boxes = { { 0, 0, 4, NAN }, { WHOLE }, { WHOLE, NAN }, { HALF } } },
  { "caps do not matter", "2 2 2", .iou = 0.5f, .least = ALL, .max = 1, .max_per_class = 1,
      .count = 3, .boxes = { { WHOLE }, { WHOLE }, { WHOLE } } },
  { "classes do not meet", "1 0 1", .iou = 0.5f, .least = ALL, .count = 3,
      .boxes = { { WHOLE, 0, 1 }, { WHOLE, 0, 2 }, { WHOLE, 0, 1 } } },
  { "classes meet when agnostic", "2 2 2", .iou = 0.5f, .least = ALL, .agnostic = 1, .count = 3,
      .boxes = { { WHOLE, 0, 1 }, { WHOLE, 0, 2 }, { WHOLE, 0, 1 } } },
  { "a class's own threshold", "1 1 0 0", .iou = 0.5f, .least = ALL, .class_count = 1,
      .classes = { { .class_id = 7, .set = BY_IOU, .iou_threshold = 0.25f } }, .count = 4,
      .boxes = { { WHOLE, 0, 7 }, { HALF, 0, 7 }, { WHOLE, 0, 8 }, { HALF, 0, 8 } } },
  /* 1/2 is above the threshold of class 2 only, 1/4. The boxes are neighbors if the
   * overlap is above one of the two thresholds, no matter which box has it. */
  { "when agnostic, either threshold counts", "1 1", .iou = 0.5f, .least = ALL, .agnostic = 1,
      .class_count = 2,
      .classes = { { .class_id = 1, .set = BY_IOU, .iou_threshold = 0.75f },
          { .class_id = 2, .set = BY_IOU, .iou_threshold = 0.25f } },
      .count = 2, .boxes = { { WHOLE, 0.9f, 1 }, { HALF, 0.8f, 2 } } },
  { "and the other way round", "1 1", .iou = 0.5f, .least = ALL, .agnostic = 1, .class_count = 2,
      .classes = { { .class_id = 1, .set = BY_IOU, .iou_threshold = 0.75f },
          { .class_id = 2, .set = BY_IOU, .iou_threshold = 0.25f } },
      .count = 2, .boxes = { { WHOLE, 0.9f, 2 }, { HALF, 0.8f, 1 } } },
  /* equal boxes of two classes with different thresholds are not counted as one */
  { "equal boxes of different thresholds", "1 1 2", .iou = 0.25f, .least = ALL, .agnostic = 1,
      .class_count = 1, .classes = { { .class_id = 1, .set = BY_IOU, .iou_threshold = 1 } },
      .count = 3, .boxes = { { WHOLE, 0, 1 }, { WHOLE, 0, 1 }, { HALF, 0, 2 } } },
  { "a part and its parent do not count each other", "1 1 2", .iou = 0.25f, .least = ALL,
      .count = 3, .boxes = { { WHOLE }, { HALF, .part_of = 1 }, { HALF } } },
  { "parts of each other", "0 0", .iou = 0, .least = ALL, .count = 2,
      .boxes = { { WHOLE, .part_of = 2 }, { WHOLE, .part_of = 1 } } },
  { "its own parent", "1 1", .iou = 0, .least = ALL, .count = 2,
      .boxes = { { WHOLE, .part_of = 1 }, { WHOLE } } },
  { "two parts of one parent", "0 1 1", .iou = 0.25f, .least = ALL, .count = 3,
      .boxes = { { WHOLE }, { HALF, .part_of = 1 }, { HALF, .part_of = 1 } } },
  { .name = NULL }
};

static void
test_row (gconstpointer data)
{
  const HandRow *row = data;
  uint32_t is[HANDROW_BOXES], must[HANDROW_BOXES];
  GString *text = g_string_new (NULL);
  HandCall call;

  handrow_call (row, &call);
  memset (is, 0x3c, sizeof is);
  g_assert_cmpint (nms_count_neighbors (context, &call.boxes, &call.options, is), ==, NMS_OK);
  ref_count_neighbors (&call.boxes, &call.options, must);
  for (size_t i = 0; i < row->count; i++)
    g_string_append_printf (text, "%s%u", i ? " " : "", is[i]);
  g_assert_cmpstr (text->str, ==, row->expect);
  g_assert_cmpmem (is, row->count * sizeof *is, must, row->count * sizeof *must);
  if (row->count < HANDROW_BOXES)
    g_assert_cmphex (is[row->count], ==, 0x3c3c3c3c);
  g_string_free (text, TRUE);
}

/* A large frame of n equal boxes, each with n - 1 neighbors. */
static void
test_equal_boxes (void)
{
  enum { N = 3000 };
  static const float one[4] = { WHOLE };
  float (*corners)[4] = g_malloc_n (N, sizeof *corners);
  uint32_t *is = g_new (uint32_t, N);
  nms_boxes boxes = { .size = sizeof boxes, .count = N };

  for (size_t i = 0; i < N; i++)
    memcpy (corners[i], one, sizeof one);
  nms_boxes_set_rows (&boxes, corners[0]);
  g_assert_cmpint (nms_count_neighbors (context, &boxes, NULL, is), ==, NMS_OK);
  for (size_t i = 0; i < N; i++)
    g_assert_cmpuint (is[i], ==, N - 1);
  g_free (corners);
  g_free (is);
}

static const TestCase cases[] = {
  TEST_ROWS ("/neighbors/%s", test_row, rows),
  { "/neighbors/equal-boxes", test_equal_boxes },
  { NULL }
};

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
