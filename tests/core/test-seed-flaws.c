/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The known flaws of the programs from which the sequential engine descends: the numpy,
 * JAX and Pallas versions of "Implementing Sequential Algorithms on TPU". They pack the
 * index into a score in which 0 means that no box is left, so that one box cannot be
 * chosen; choose a box without area again and again; hold at most 4096 boxes; and lose
 * bits of indices above 2^24 in a float.
 */
#include "enginecheck.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <math.h>
#include <string.h>

#define MOST 8200

static float rows[MOST][4], score[MOST];

/* Makes `n` boxes of 1 x 1 side by side, all with score 0. */
static nms_boxes
make_boxes (size_t n)
{
  nms_boxes boxes = { .size = sizeof boxes, .count = n, .score = { score, 0 } };

  for (size_t i = 0; i < n; i++) {
    const float x = (float) (i % 1024) * 2, y = (float) (i / 1024) * 2;
    memcpy (rows[i], (float[4]) { x, y, x + 1, y + 1 }, sizeof rows[i]);
    score[i] = 0;
  }
  nms_boxes_set_rows (&boxes, rows[0]);
  return boxes;
}

/* Every engine must keep `kept` boxes, box `first` first and box `last` last. */
static void
check (const nms_boxes *boxes, const nms_options *options, size_t kept, size_t first, size_t last)
{
  nms_result result = { .size = sizeof result };

  g_assert_cmpint (nms_run (context, boxes, options, &result), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, kept);
  g_assert_cmpint (result.kept[0], ==, (int) first);
  g_assert_cmpint (result.kept[kept - 1], ==, (int) last);
  g_assert_cmpstr (enginecheck_run (context, boxes, options, ENGINECHECK_OUTPUTS), ==, NULL);
}

/* The lowest possible score at index 0, where a packed key could be 0, and in all boxes. */
static void
test_lowest_key (void)
{
  static const float lowest[] = { -INFINITY, -0.0f, 0.0f, -0x1.fffffep+127f, 0x1p-149f };
  nms_options options;

  nms_options_init (&options, sizeof options);
  for (size_t n = 1; n <= 193; n += n < 4 ? 1 : 63)
    for (size_t s = 0; s < G_N_ELEMENTS (lowest); s++) {
      const nms_boxes boxes = make_boxes (n);
      for (size_t i = 0; i < n; i++)
        score[i] = lowest[s];
      check (&boxes, &options, n, 0, n - 1);
      for (size_t i = 1; i < n; i++)
        score[i] = 1;
      check (&boxes, &options, n, n > 1, 0);
    }
}

/* A box without area overlaps no box, not even itself. Once it is chosen, it must not be
 * chosen again. */
static void
test_no_area (void)
{
  const nms_boxes boxes = make_boxes (150);
  nms_options options;

  for (size_t i = 0; i < 150; i++)
    rows[i][2] = rows[i][0];
  score[77] = 9;
  nms_options_init (&options, sizeof options);
  options.iou_threshold = 0;
  for (options.inclusive = 0; options.inclusive < 2; options.inclusive++)
    check (&boxes, &options, 150, 77, 149);
}

/* A cap of K keeps exactly K boxes, for any K. */
static void
test_exactly_k (void)
{
  static const size_t caps[] = { 1, 2, 63, 64, 65, 128, 255, 299, 300, 301 };
  const nms_boxes boxes = make_boxes (300);
  nms_options options;

  for (size_t i = 0; i < 300; i++)
    score[i] = (float) (i * 7 % 300);
  nms_options_init (&options, sizeof options);
  for (size_t c = 0; c < G_N_ELEMENTS (caps); c++) {
    const size_t must = MIN (caps[c], 300); /* box i * 43 has score i, as 7 * 43 = 301 */
    options.max_detections = caps[c];
    check (&boxes, &options, must, 299 * 43 % 300, (300 - must) * 43 % 300);
  }
}

/* More than 4096 boxes, and more than the 13 bits of index that those programs pack. Half of the
 * boxes are copies of the box before, and the last pair is the best. */
static void
test_more_than_4096 (void)
{
  static const size_t counts[] = { 4096, 4097, 5000, 8192, 8193 };
  nms_options options;

  nms_options_init (&options, sizeof options);
  for (size_t c = 0; c < G_N_ELEMENTS (counts); c++) {
    const size_t n = counts[c], pairs = (n + 1) / 2;
    const nms_boxes boxes = make_boxes (n);
    for (size_t i = 0; i < n; i++) {
      memcpy (rows[i], rows[i / 2 * 2], sizeof rows[i]);
      score[i] = (float) (i / 2 * 2);
    }
    options.max_detections = n == 8193 ? 100 : 0;
    check (&boxes, &options, n == 8193 ? 100 : pairs, pairs * 2 - 2,
        n == 8193 ? (pairs - 100) * 2 : 0);
  }
}

/* Indices above 2^24, which a float cannot hold. By default all boxes but the last ones
 * are excluded, which takes little memory; with -m slow none are. */
static void
test_more_than_2_24 (void)
{
  const size_t n = (1u << 24) + 70;
  static const float far = 1e6f;
  g_autofree float *x = g_malloc_n (n, sizeof *x), *end = g_malloc_n (n, sizeof *end);
  g_autofree float *own = g_malloc_n (n, sizeof *own);
  g_autofree uint8_t *exclude = g_malloc0 (n);
  nms_boxes boxes = { .size = sizeof boxes, .count = n };
  nms_options options;

  for (size_t i = 0; i < n; i++) {
    x[i] = 0;
    end[i] = 1;
    own[i] = -1;
    exclude[i] = !g_test_slow () && i < n - 70;
  }
  /* two groups apart; the best box of each has an odd index above 2^24 */
  for (size_t i = n - 40; i < n; i++) {
    x[i] = far;
    end[i] = far + 1;
  }
  own[n - 3] = 2;
  own[n - 63] = 1;
  boxes.x1.data = x;
  boxes.y1.data = x;
  boxes.x2.data = end;
  boxes.y2.data = end;
  boxes.score.data = own;
  boxes.exclude.data = exclude;
  nms_options_init (&options, sizeof options);
  /* engine xla refuses frames of this size */
  for (int e = 0; e < ENGINECHECK_ENGINES; e++) {
    nms_result result = { .size = sizeof result };
    int error;
    options.engine = enginecheck_engines[e];
    error = nms_run (context, &boxes, &options, &result);
    if (error == NMS_ERROR_MEMORY) {
      g_test_skip ("this machine does not lend the scratch for 2^24 boxes");
      break;
    }
    g_assert_cmpint (error, ==, NMS_OK);
    g_assert_cmpuint (result.kept_count, ==, 2);
    g_assert_cmpint (result.kept[0], ==, (int32_t) (n - 3));
    g_assert_cmpint (result.kept[1], ==, (int32_t) (n - 63));
    g_assert_cmpuint (result.suppressed_count + result.filtered_count, ==, n - 2);
  }
  nms_context_trim (context);
}

/* Those programs disagree at IoU == threshold; here the option `inclusive` decides, in
 * all engines: see the rows with 1/3 in hardrows.c. */

static const TestCase cases[] = { CASE (test_lowest_key), CASE (test_no_area),
  CASE (test_exactly_k), CASE (test_more_than_4096), CASE (test_more_than_2_24), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
