/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-auto: does engine `auto` pick well? Draws points at random - number of
 * boxes, layout, density, order, threshold, classes, caps, outputs - and times
 * every engine and `auto` on each, in turn. A point is missed when `auto`, its
 * estimate included, takes over 15 % and over 0.3 us more than the best engine.
 *
 *     bench-auto [--points N] [--seed S] [--most BOXES] [--seconds N] [--all]
 *
 * The points are those of the seed; none is a workload of workloads.py. Times
 * are medians over rounds, in microseconds of this thread's processor time; the
 * ratio is the median of the rounds' ratios. --all prints every point.
 */
#include "points.h"
#include "rivals.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MISS_RATIO 1.15
#define MISS_TIME 0.3 /* microseconds */

static void
print_point (const Point *p, const double us[ENGINES], int best, int picked, double ratio,
    size_t kept)
{
  printf ("%-8s %c%c %6zu %5.1f %.2f %.2f %.2f %4d %6llu %4llu %6zu |", layout_names[p->layout],
      p->in_rows ? 'r' : '-', p->suppressors ? 'b' : '-', p->count, p->density, p->empty,
      (double) p->score, (double) p->iou, p->classes, (unsigned long long) p->cap,
      (unsigned long long) p->class_cap, kept);
  for (int e = 0; e < ENGINES; e++)
    printf (" %9.2f", us[e]);
  printf (" | %-10s %-10s %.2f%s\n", nms_engine_name (picked), nms_engine_name (best), ratio,
      ratio > MISS_RATIO && us[0] - us[best] > MISS_TIME ? " MISS" : "");
}

static int
is_given (int argc, char **argv, const char *name)
{
  for (int i = 1; i < argc; i++)
    if (strcmp (argv[i], name) == 0)
      return 1;
  return 0;
}

static long
number_after (int argc, char **argv, const char *name, long otherwise)
{
  for (int i = 1; i + 1 < argc; i++)
    if (strcmp (argv[i], name) == 0)
      return strtol (argv[i + 1], NULL, 10);
  return otherwise;
}

int
main (int argc, char **argv)
{
  const long points = number_after (argc, argv, "--points", 200);
  const size_t most = (size_t) number_after (argc, argv, "--most", 30000);
  const long seconds = number_after (argc, argv, "--seconds", LONG_MAX);
  const int all = is_given (argc, argv, "--all");
  const time_t start = time (NULL);
  nms_context *ctx = nms_context_new ();
  Boxes b = { malloc (most * 4 * sizeof (float)), malloc (most * sizeof (float)),
    malloc (most * sizeof (int32_t)) };
  long missed = 0, i = 0;
  double worst = 0.0;

  if (!ctx || !b.rows || !b.scores || !b.classes || points < 1 || most < 9)
    return 2;
  seed_points ((uint64_t) number_after (argc, argv, "--seed", 1));
  printf ("layout      boxes dens. empty scor iou cls.    cap  /cl   kept |      auto sequential"
          "    sorted   spatial | picked     best       ratio (%s)\n",
      nms_context_isa (ctx));
  for (; i < points && time (NULL) - start < seconds; i++) {
    const Point p = draw_point (most);
    nms_boxes boxes;
    nms_options options;
    nms_result result = { .size = sizeof result };
    double us[ENGINES];
    int best, picked;

    fill_point (&p, &b);
    call_point (&p, &b, &boxes, &options);
    const double ratio = measure_engines (ctx, &boxes, &options, us, &best, &picked);
    const int miss = ratio > MISS_RATIO && us[0] - us[best] > MISS_TIME;
    nms_run (ctx, &boxes, &options, &result);
    missed += miss;
    worst = miss && ratio > worst ? ratio : worst;
    if (all || miss)
      print_point (&p, us, best, picked, ratio, result.kept_count);
  }
  printf ("%ld points, %ld missed, the worst by %.2f\n", i, missed, worst);
  free (b.rows);
  free (b.scores);
  free (b.classes);
  nms_context_free (&ctx);
  return 0;
}
