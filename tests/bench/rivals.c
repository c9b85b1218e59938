/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rivals: times are medians over rounds, of the least of some calls each: what
 * disturbs a call only ever adds. The ratio is the median of the rounds' ratios.
 */
#include "rivals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 11
#define FEW_ROUNDS 5 /* where a call takes longer than LONG nanoseconds */
#define LONG 3e5
#define TURN 20e3    /* nanoseconds that the calls of a turn take, at least */
#define HOPELESS 2.5 /* times the best: an engine that slow takes few turns */

static double
now (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

static int
ascending (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

static double
median (const double *values, int count)
{
  double sorted[ROUNDS];
  memcpy (sorted, values, (size_t) count * sizeof *values);
  qsort (sorted, (size_t) count, sizeof *sorted, ascending);
  return sorted[count / 2];
}

/* The least time of `calls` calls: what disturbs one only ever adds. */
static double
turn (nms_context *ctx, const nms_boxes *boxes, const nms_options *options, int calls)
{
  nms_result result = { .size = sizeof result };
  double least = INFINITY;

  for (int i = 0; i < calls; i++) {
    double start = now ();
    if (nms_run (ctx, boxes, options, &result) < 0) {
      fprintf (stderr, "bench-auto: %s\n", nms_context_error (ctx));
      exit (1);
    }
    double time = now () - start;
    least = time < least ? time : least;
  }
  return least;
}

double
measure_engines (nms_context *ctx, const nms_boxes *boxes, nms_options *options, double us[ENGINES],
    int *best, int *picked)
{
  double time[ENGINES][ROUNDS], first[ENGINES], ratio[ROUNDS];
  int rounds[ENGINES], calls[ENGINES], most = ROUNDS;

  for (int e = 0; e < ENGINES; e++) {
    options->engine = (uint32_t) e;
    first[e] = turn (ctx, boxes, options, e && first[0] > LONG ? 1 : 2); /* not from a cold start */
    if (e == 0 && first[0] > LONG)
      most = FEW_ROUNDS;
    rounds[e] = first[e] > 2.0 * HOPELESS * first[0] ? 1 : most;
    time[e][0] = first[e];
    if (rounds[e] > 1)
      first[e] = turn (ctx, boxes, options, 2);
    calls[e] = 2 + (int) (TURN / first[e]);
  }
  for (int e = 0; e < ENGINES; e++)
    rounds[e] = first[e] > HOPELESS * first[0] ? 1 : most;
  for (int r = 0; r < most; r++)
    for (int e = 0; e < ENGINES; e++) {
      options->engine = (uint32_t) e;
      if (r < rounds[e] && rounds[e] > 1)
        time[e][r] = turn (ctx, boxes, options, calls[e]);
    }
  options->engine = NMS_ENGINE_AUTO;
  turn (ctx, boxes, options, 1);
  *picked = nms_context_engine (ctx);
  *best = 1;
  for (int e = 0; e < ENGINES; e++) {
    us[e] = median (time[e], rounds[e]) / 1e3;
    if (e && us[e] < us[*best])
      *best = e;
  }
  for (int r = 0; r < most; r++)
    ratio[r] = time[0][r] / time[*best][r < rounds[*best] ? r : 0];
  return median (ratio, most);
}
