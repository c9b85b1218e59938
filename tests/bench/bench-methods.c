/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-methods: times each method with scores, corners and suppressors as outputs, on each
 * instruction set. Prints medians of processor time in milliseconds.
 *
 *     bench-methods [BOXES ...]        default: 1000 10000
 *
 * BOXES is a number of detector-like boxes, or random:N for N large boxes at random places.
 */
#include "points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_CALLS 51
#define TURN 0.7 /* seconds after which no call begins */

static const char *const sets[] = { "scalar", "sse2", "avx2", "avx512", "neon" };

#define SETS (sizeof sets / sizeof *sets)

static double
now (void)
{
  struct timespec t;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static int
ascending (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

/* Returns the median time of a call in milliseconds. */
static double
time_call (nms_context *ctx, const nms_boxes *boxes, const nms_options *options, size_t *kept)
{
  const double end = now () + TURN;
  double times[MOST_CALLS];
  int calls = 0;

  for (int i = -1; i < MOST_CALLS && (calls == 0 || now () < end); i++) {
    nms_result result = { .size = sizeof result };
    const double start = now ();
    if (nms_run (ctx, boxes, options, &result)) {
      fprintf (stderr, "bench-methods: %s\n", nms_context_error (ctx));
      exit (2);
    }
    if (i >= 0) /* the first call allocates */
      times[calls++] = (now () - start) * 1e3;
    *kept = result.kept_count;
  }
  qsort (times, (size_t) calls, sizeof *times, ascending);
  return times[calls / 2];
}

static void
print_method (nms_context *ctx, const char *name, const nms_boxes *boxes, nms_options *options)
{
  size_t kept = 0;

  printf ("%12s %-16s %-4s", name, nms_method_name ((int) options->method),
      nms_metric_name ((int) options->metric));
  for (size_t s = 0; s < SETS; s++) {
    if (nms_context_set_isa (ctx, sets[s]) == NMS_OK)
      printf (" %9.4f", time_call (ctx, boxes, options, &kept));
    else
      printf (" %9s", "-");
    fflush (stdout);
  }
  printf (" %7zu\n", kept);
}

/* Times every pair of method and metric that the library takes. */
static void
time_methods (const char *argument)
{
  const int random = !strncmp (argument, "random:", 7);
  const size_t count = strtoull (argument + (random ? 7 : 0), NULL, 10);
  const Point point = { .layout = random ? RANDOM : DETECTOR,
    .count = count,
    .density = 8,
    .iou = 0.5f };
  Boxes arrays = { malloc (count * 16), malloc (count * 4), malloc (count * 4) };
  nms_context *ctx = nms_context_new ();
  nms_options options;
  nms_boxes boxes;

  if (!ctx || !arrays.rows || !arrays.scores || !arrays.classes)
    exit (2);
  seed_points (1);
  fill_point (&point, &arrays);
  call_point (&point, &arrays, &boxes, &options);
  options.outputs = NMS_OUTPUT_SCORE | NMS_OUTPUT_BOX | NMS_OUTPUT_SUPPRESSED_BY;
  for (int method = 0; nms_method_name (method); method++)
    for (int metric = 0; nms_metric_name (metric); metric++)
      if (!nms_method_reason (method, metric)) {
        options.method = (uint32_t) method;
        options.metric = (uint32_t) metric;
        print_method (ctx, argument, &boxes, &options);
      }
  nms_context_free (&ctx);
  free (arrays.rows);
  free (arrays.scores);
  free (arrays.classes);
}

int
main (int argc, char **argv)
{
  printf ("%12s %-16s %-4s", "boxes", "method", "");
  for (size_t s = 0; s < SETS; s++)
    printf (" %9s", sets[s]);
  printf (" %7s\n", "kept");
  for (int i = 1; i < argc; i++)
    time_methods (argv[i]);
  if (argc == 1) {
    time_methods ("1000");
    time_methods ("10000");
  }
  return 0;
}
