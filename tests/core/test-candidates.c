/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * max_candidates on large hostile frames: every engine equals the reference, and the time is
 * bounded for all frames.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "scoped.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <string.h>
#include <time.h>

#define COUNT 60000
#define CANDIDATES 1000
#define SAMPLES 64 /* number of keys from which the selection takes its pivot */

static float rows[COUNT][4], score[COUNT], angle[COUNT];

/* Kinds of frames; the others are layouts of boxgen. */
typedef enum { EQUAL, THIN, BAD_PIVOT_HIGH, BAD_PIVOT_LOW, OTHER } Kind;

static const struct {
  const char *name;
  int layout;
  Kind kind;
} kinds[] = {
  /* first, because the times of the others are compared with its time */
  { "apart", BOXGEN_APART, OTHER },
  { "one object", BOXGEN_ONE_SPOT, OTHER },
  { "concentric", BOXGEN_CONCENTRIC, OTHER },
  { "diagonal", BOXGEN_DIAGONAL, OTHER },
  { "equal", BOXGEN_APART, EQUAL },
  /* thin boxes at 45 degrees, whose upright bounding boxes all overlap */
  { "thin", BOXGEN_APART, THIN },
  /* the boxes from whose keys the selection takes its pivot have the best scores, or the worst */
  { "bad pivot, high", BOXGEN_APART, BAD_PIVOT_HIGH },
  { "bad pivot, low", BOXGEN_APART, BAD_PIVOT_LOW },
};

static nms_boxes
make_frame (size_t number)
{
  const Kind kind = kinds[number].kind;
  nms_boxes boxes = { .size = sizeof boxes, .count = COUNT, .score = { score, 0 } };
  BoxRandom random = { number };
  g_auto (BoxCall) call = { 0 };

  boxcall_random (&call, &random, kinds[number].layout, COUNT);
  for (size_t i = 0; i < COUNT; i++) {
    boxcall_corners (&call, i, rows[i]);
    score[i] = kind == EQUAL ? 0.5f : boxrandom_unit (&random);
    angle[i] = 0.7853982f;
    if (i % (COUNT / SAMPLES) < 2)
      score[i] += kind == BAD_PIVOT_HIGH ? 2.0f : kind == BAD_PIVOT_LOW ? -2.0f : 0.0f;
    if (kind == EQUAL)
      memcpy (rows[i], (float[4]) { 10, 10, 60, 60 }, sizeof rows[i]);
    if (kind == THIN)
      memcpy (rows[i], (float[4]) { (float) i * 2, 0, (float) i * 2 + COUNT * 10.0f, 1 },
          sizeof rows[i]);
  }
  nms_boxes_set_rows (&boxes, rows[0]);
  boxes.angle.data = kind == THIN ? angle : NULL;
  return boxes;
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
test_frames (void)
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
    /* (the reference clips thin boxes slowly) */
    if (kinds[kind].kind != THIN)
      g_assert_cmpstr (enginecheck_run (context, &boxes, &options, ENGINECHECK_QUICK), ==, NULL);
  }
}

static const TestCase cases[] = { CASE (test_frames), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
