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

typedef struct {
  nms_boxes boxes;
  nms_options options;
  float (*rows)[4];
  float *score;
} Frame;

/* Makes `n` boxes of 1 x 1 side by side, all with score 0. */
static void
frame_init (Frame *f, size_t n)
{
  *f = (Frame) { .boxes = { .size = sizeof f->boxes, .count = n } };
  f->rows = g_malloc0_n (n, sizeof *f->rows);
  f->score = g_malloc0_n (n, sizeof *f->score);
  for (size_t i = 0; i < n; i++) {
    float x = (float) (i % 1024) * 2, y = (float) (i / 1024) * 2;
    f->rows[i][0] = x;
    f->rows[i][1] = y;
    f->rows[i][2] = x + 1;
    f->rows[i][3] = y + 1;
  }
  nms_boxes_set_rows (&f->boxes, f->rows[0]);
  f->boxes.score.data = f->score;
  nms_options_init (&f->options, sizeof f->options);
}

static void
frame_clear (Frame *f)
{
  g_free (f->rows);
  g_free (f->score);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Frame, frame_clear)

static void
run (Frame *f, int engine, nms_result *result)
{
  *result = (nms_result) { .size = sizeof *result };
  enginecheck_use (context, &f->options, engine);
  f->options.outputs = NMS_OUTPUT_OUTCOME;
  g_assert_cmpint (nms_run (context, &f->boxes, &f->options, result), ==, NMS_OK);
}

/* The lowest possible score at index 0, where a packed key could be 0. */
static void
test_lowest_key (void)
{
  static const float lowest[] = { -INFINITY, -0.0f, 0.0f, -0x1.fffffep+127f, 0x1p-149f };

  for (size_t n = 1; n <= 130; n += n < 4 ? 1 : 63)
    for (size_t s = 0; s < G_N_ELEMENTS (lowest); s++)
      for (int e = 0; e < enginecheck_count (); e++) {
        g_auto (Frame) f = { 0 };
        nms_result result;
        frame_init (&f, n);
        for (size_t i = 0; i < n; i++)
          f.score[i] = i ? 1 : lowest[s];
        run (&f, e, &result);
        g_assert_cmpuint (result.kept_count, ==, n);
        g_assert_cmpint (result.kept[n - 1], ==, 0);
      }
}

/* All boxes have the lowest possible key. */
static void
test_all_lowest (void)
{
  for (int e = 0; e < enginecheck_count (); e++) {
    g_auto (Frame) f = { 0 };
    nms_result result;
    frame_init (&f, 200);
    for (size_t i = 0; i < 200; i++)
      f.score[i] = -INFINITY;
    run (&f, e, &result);
    g_assert_cmpuint (result.kept_count, ==, 200);
    for (int32_t i = 0; i < 200; i++)
      g_assert_cmpint (result.kept[i], ==, i);
  }
}

/* A box without area overlaps no box, not even itself. Once it is chosen, it must not be
 * chosen again. */
static void
test_no_area (void)
{
  for (uint8_t inclusive = 0; inclusive < 2; inclusive++)
    for (int e = 0; e < enginecheck_count (); e++) {
      g_auto (Frame) f = { 0 };
      nms_result result;
      frame_init (&f, 150);
      for (size_t i = 0; i < 150; i++)
        f.rows[i][2] = f.rows[i][0];
      f.score[77] = 9;
      f.options.iou_threshold = 0;
      f.options.inclusive = inclusive;
      run (&f, e, &result);
      g_assert_cmpuint (result.kept_count, ==, 150);
      g_assert_cmpint (result.kept[0], ==, 77);
      for (int32_t k = 1; k < 150; k++)
        g_assert_cmpint (result.kept[k], ==, k - (k <= 77));
    }
}

/* A cap of K keeps exactly K boxes, for any K. */
static void
test_exactly_k (void)
{
  static const size_t caps[] = { 1, 2, 63, 64, 65, 128, 255, 299, 300, 301 };

  for (size_t c = 0; c < G_N_ELEMENTS (caps); c++)
    for (int e = 0; e < enginecheck_count (); e++) {
      size_t must = MIN (caps[c], 300);
      g_auto (Frame) f = { 0 };
      nms_result result;
      frame_init (&f, 300);
      for (size_t i = 0; i < 300; i++)
        f.score[i] = (float) ((i * 7) % 300);
      f.options.max_detections = caps[c];
      run (&f, e, &result);
      g_assert_cmpuint (result.kept_count, ==, must);
      g_assert_cmpuint (result.over_cap_count, ==, 300 - must);
      for (size_t k = 0; k < must; k++)
        g_assert_cmpfloat (f.score[result.kept[k]], ==, (float) (299 - k));
    }
}

/* More than 4096 boxes, and more than the 13 bits of index that those programs pack.
 * Half of the boxes are copies of the box before. */
static void
check_many (size_t n, int engine, uint64_t cap)
{
  g_auto (Frame) f = { 0 };
  nms_result result;

  frame_init (&f, n);
  for (size_t i = 1; i < n; i += 2)
    for (int d = 0; d < 4; d++)
      f.rows[i][d] = f.rows[i - 1][d];
  /* the best box is the last one, so that the first chosen indices are above 4096 */
  for (size_t i = 0; i < n; i++)
    f.score[i] = (float) (i / 2 * 2);
  f.options.max_detections = cap;
  run (&f, engine, &result);

  size_t pairs = (n + 1) / 2, must = cap ? MIN ((size_t) cap, pairs) : pairs;
  g_assert_cmpuint (result.kept_count, ==, must);
  for (size_t k = 0; k < must; k++)
    g_assert_cmpint (result.kept[k], ==, (int32_t) ((pairs - 1 - k) * 2));
}

static void
test_more_than_4096 (void)
{
  for (int e = 0; e < enginecheck_count (); e++) {
    check_many (4096, e, 0);
    check_many (4097, e, 0);
    check_many (5000, e, 0);
    check_many (8192, e, 0);
    check_many (8193, e, 100);
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
  g_autofree float *score = g_malloc_n (n, sizeof *score);
  g_autofree uint8_t *exclude = g_malloc0 (n);
  nms_boxes boxes = { .size = sizeof boxes, .count = n };
  nms_options options;

  for (size_t i = 0; i < n; i++) {
    x[i] = 0;
    end[i] = 1;
    score[i] = -1;
    exclude[i] = !g_test_slow () && i < n - 70;
  }
  /* two groups apart; the best box of each has an odd index above 2^24 */
  for (size_t i = n - 40; i < n; i++) {
    x[i] = far;
    end[i] = far + 1;
  }
  score[n - 3] = 2;
  score[n - 63] = 1;
  boxes.x1.data = x;
  boxes.y1.data = x;
  boxes.x2.data = end;
  boxes.y2.data = end;
  boxes.score.data = score;
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

static const TestCase cases[] = { CASE (test_lowest_key), CASE (test_all_lowest),
  CASE (test_no_area), CASE (test_exactly_k), CASE (test_more_than_4096),
  CASE (test_more_than_2_24), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
