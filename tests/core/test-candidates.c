/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * max_candidates on large hostile frames: for every engine the result is that of a frame of the
 * best boxes alone, and the time is bounded for all frames.
 */
#include "enginecheck.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT 60000
#define CANDIDATES 1000
#define SAMPLES 64 /* number of keys from which the selection takes its pivot */

typedef struct {
  float rows[COUNT][4], score[COUNT], angle[COUNT];
  int rotated;
} Frame;

static Frame frame;

static void
put (size_t i, double x, double y, double w, double h)
{
  const float row[4] = { (float) x, (float) y, (float) (x + w), (float) (y + h) };

  memcpy (frame.rows[i], row, sizeof row);
}

/* Returns a pseudorandom number from 0 to 1. */
static double
noise (size_t i)
{
  uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  return (double) ((z ^ z >> 27) >> 40) * 0x1p-24;
}

/* Boxes without overlap, for which engines that test pairs make the most tests. */
static void
put_apart (size_t i)
{
  put (i, (double) (i % 300) * 5, (double) (i / 300) * 5, 4, 4);
}

static void
put_one_object (size_t i)
{
  put (i, 100 + noise (4 * i) * 5, 100 + noise (4 * i + 1) * 5, 100 + noise (4 * i + 2) * 5, 100);
}

static void
put_equal (size_t i)
{
  put (i, 10, 10, 50, 50);
  frame.score[i] = 0.5f;
}

/* Boxes around one centre, down to extents whose products are subnormal. */
static void
put_concentric (size_t i)
{
  const double w = 1e6 * exp (-(double) i * (80.0 / COUNT));

  put (i, -w / 2, -w / 2, w, w);
}

/* Boxes in different cells of engine spatial whose numbers may wrap to the same one. */
static void
put_diagonal (size_t i)
{
  put (i, -(double) i * 3, (double) i * 6, 4, 4);
}

/* Thin boxes at 45 degrees, whose upright bounding boxes all overlap. */
static void
put_thin (size_t i)
{
  put (i, (double) i * 2, 0, COUNT * 10.0, 1);
  frame.angle[i] = 0.7853982f;
  frame.rotated = 1;
}

/* Gives the boxes from whose keys the pivot is taken the best scores, or the worst. */
static void
put_bad_pivot_high (size_t i)
{
  put_apart (i);
  frame.score[i] = i % (COUNT / SAMPLES) < 2 ? 2 + (float) noise (i) : (float) noise (i);
}

static void
put_bad_pivot_low (size_t i)
{
  put_apart (i);
  frame.score[i] = i % (COUNT / SAMPLES) < 2 ? -2 + (float) noise (i) : (float) noise (i);
}

static const struct {
  const char *name;
  void (*put) (size_t i);
} kinds[] = {
  { "apart", put_apart }, /* first, because the times of the others are compared with its time */
  { "one object", put_one_object },
  { "equal", put_equal },
  { "concentric", put_concentric },
  { "diagonal", put_diagonal },
  { "thin", put_thin },
  { "bad pivot, high", put_bad_pivot_high },
  { "bad pivot, low", put_bad_pivot_low },
};

static nms_boxes
make_frame (size_t kind)
{
  nms_boxes boxes = { .size = sizeof boxes, .count = COUNT };

  memset (&frame, 0, sizeof frame);
  for (size_t i = 0; i < COUNT; i++) {
    frame.score[i] = (float) noise (i + COUNT);
    kinds[kind].put (i);
  }
  nms_boxes_set_rows (&boxes, frame.rows[0]);
  boxes.score.data = frame.score;
  boxes.angle.data = frame.rotated ? frame.angle : NULL;
  return boxes;
}

static int
by_rank (const void *a, const void *b)
{
  const int32_t i = *(const int32_t *) a, k = *(const int32_t *) b;

  if (frame.score[i] != frame.score[k])
    return frame.score[i] > frame.score[k] ? -1 : 1;
  return i < k ? -1 : 1;
}

static int
by_index (const void *a, const void *b)
{
  return *(const int32_t *) a < *(const int32_t *) b ? -1 : 1;
}

/* Runs the best boxes alone. Writes the indices of the kept ones and returns their number. */
static size_t
run_best (const nms_boxes *boxes, const nms_options *options, int32_t *kept)
{
  g_autofree int32_t *best = g_new (int32_t, COUNT);
  g_autofree float (*rows)[4] = g_malloc (sizeof *rows * CANDIDATES);
  g_autofree float *score = g_new (float, CANDIDATES);
  g_autofree float *angle = g_new (float, CANDIDATES);
  nms_boxes few = { .size = sizeof few, .count = CANDIDATES, .score = { score, 0 } };
  nms_options all = *options;
  nms_result result = { .size = sizeof result };

  for (int32_t i = 0; i < COUNT; i++)
    best[i] = i;
  qsort (best, COUNT, sizeof *best, by_rank);
  qsort (best, CANDIDATES, sizeof *best, by_index);
  for (size_t k = 0; k < CANDIDATES; k++) {
    memcpy (rows[k], frame.rows[best[k]], sizeof *rows);
    score[k] = frame.score[best[k]];
    angle[k] = frame.angle[best[k]];
  }
  nms_boxes_set_rows (&few, rows[0]);
  few.angle.data = boxes->angle.data ? angle : NULL;
  all.max_candidates = 0;
  g_assert_cmpint (nms_run (context, &few, &all, &result), ==, NMS_OK);
  for (size_t k = 0; k < result.kept_count; k++)
    kept[k] = best[result.kept[k]];
  return result.kept_count;
}

static void
test_results (void)
{
  static int32_t kept[CANDIDATES];
  nms_options options;

  nms_options_init (&options, sizeof options);
  options.max_candidates = CANDIDATES;
  options.outputs = NMS_OUTPUT_OUTCOME;
  for (size_t kind = 0; kind < G_N_ELEMENTS (kinds); kind++) {
    const nms_boxes boxes = make_frame (kind);
    const size_t kept_count = run_best (&boxes, &options, kept);
    for (int e = 0; e < ENGINECHECK_ENGINES; e++) {
      nms_result result = { .size = sizeof result };
      size_t others = 0;
      options.engine = enginecheck_engines[e];
      g_assert_cmpint (nms_run (context, &boxes, &options, &result), ==, NMS_OK);
      g_assert_cmpmem (result.kept, result.kept_count * sizeof *kept, kept,
          kept_count * sizeof *kept);
      g_assert_cmpuint (result.not_candidate_count, ==, COUNT - CANDIDATES);
      g_assert_cmpuint (result.suppressed_count, ==, CANDIDATES - kept_count);
      for (size_t i = 0; i < COUNT; i++)
        others += result.outcome[i] == NMS_OUTCOME_NOT_CANDIDATE;
      g_assert_cmpuint (others, ==, COUNT - CANDIDATES);
    }
    options.engine = NMS_ENGINE_AUTO;
  }
}

static double
seconds (void)
{
  struct timespec t;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

/* Returns the time of one call: of nms_run if `neighbors` is NULL, else of
 * nms_count_neighbors. */
static double
time_call (const nms_boxes *boxes, const nms_options *options, uint32_t *neighbors)
{
  nms_result result = { .size = sizeof result };
  const double start = seconds ();
  const int error = neighbors ? nms_count_neighbors (context, boxes, options, neighbors)
                              : nms_run (context, boxes, options, &result);

  g_assert_cmpint (error, ==, NMS_OK);
  return seconds () - start;
}

/* The bound is 160 times the time of the first frame: 16 times its pair tests, of which those of
 * rotated boxes take about ten times as long. Without max_candidates the slowest of these calls
 * takes more than 700 times as long. */
static void
test_time (void)
{
  g_autofree uint32_t *neighbors = g_new (uint32_t, COUNT);
  nms_options options;
  double usual = 0;

  nms_options_init (&options, sizeof options);
  options.max_candidates = CANDIDATES;
  g_assert_cmpint (nms_context_reserve (context, COUNT, 0), ==, NMS_OK);
  for (size_t kind = 0; kind < G_N_ELEMENTS (kinds); kind++) {
    const nms_boxes boxes = make_frame (kind);
    for (int e = 0; e <= ENGINECHECK_ENGINES; e++) {
      const int counts = e == ENGINECHECK_ENGINES;
      options.engine = counts ? NMS_ENGINE_AUTO : enginecheck_engines[e];
      /* the first call is not measured, because the system supplies the memory in it */
      time_call (&boxes, &options, counts ? neighbors : NULL);
      const double time = time_call (&boxes, &options, counts ? neighbors : NULL);
      if (kind == 0)
        usual = MAX (usual, time);
      else if (time > 160 * usual)
        g_error ("%s, engine %d: %g s, boxes that are apart %g s", kinds[kind].name, e, time,
            usual);
    }
  }
}

static const TestCase cases[] = { CASE (test_results), CASE (test_time), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
