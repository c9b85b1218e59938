/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-batch: compares nms_run_batch, on one thread and on two, with a loop of nms_run.
 *
 *   bench-batch [ROUNDS]    prints a row for each size of image
 *
 * Each round runs the three in turn; a row has the medians. The loop and the batch on one thread
 * are measured in processor time, which other load on the machine hardly changes. The batch on two
 * threads is measured in wall-clock time and needs two idle processors.
 */
#include "points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BOXES 100000 /* in a batch; all images have the same number */
#define ROUNDS 51

enum { LOOP, ONE_THREAD, TWO_THREADS, WAYS };

typedef struct {
  Boxes boxes;
  nms_boxes columns;
  nms_options options;
  size_t images, *offsets, *kept_offsets;
  int32_t *kept;
  nms_context *context[WAYS];
} Bench;

static void *
allocate (size_t count, size_t size)
{
  void *memory = calloc (count, size);

  if (!memory)
    abort ();
  return memory;
}

static void
make (Bench *b, size_t count)
{
  const Point point = { .layout = DETECTOR,
    .count = count,
    .density = 5,
    .iou = 0.5f,
    .classes = 80,
    .score = 0 };

  b->images = BOXES / count;
  b->boxes = (Boxes) { allocate (BOXES * 4, sizeof (float)), allocate (BOXES, sizeof (float)),
    allocate (BOXES, sizeof (int32_t)) };
  b->offsets = allocate (b->images + 1, sizeof *b->offsets);
  b->kept_offsets = allocate (b->images + 1, sizeof *b->kept_offsets);
  b->kept = allocate (BOXES, sizeof *b->kept);
  for (size_t i = 0; i < b->images; i++) {
    Boxes part = { b->boxes.rows + i * count * 4, b->boxes.scores + i * count,
      b->boxes.classes + i * count };
    fill_point (&point, &part);
    b->offsets[i + 1] = (i + 1) * count;
  }
  call_point (&point, &b->boxes, &b->columns, &b->options);
}

static void
clear (Bench *b)
{
  free (b->boxes.rows);
  free (b->boxes.scores);
  free (b->boxes.classes);
  free (b->offsets);
  free (b->kept_offsets);
  free (b->kept);
}

static size_t
run_loop (Bench *b, nms_context *context)
{
  size_t kept = 0;

  for (size_t i = 0; i < b->images; i++) {
    const size_t first = b->offsets[i];
    nms_boxes boxes = b->columns;
    nms_result result = { .size = sizeof result };
    boxes.count = b->offsets[i + 1] - first;
    nms_boxes_set_rows (&boxes, b->boxes.rows + first * 4);
    boxes.score.data = b->boxes.scores + first;
    boxes.class_id.data = b->boxes.classes + first;
    if (nms_run (context, &boxes, &b->options, &result))
      abort ();
    kept += result.kept_count;
  }
  return kept;
}

static size_t
run_batch (Bench *b, nms_context *context)
{
  const nms_batch_arrays arrays = { .size = sizeof arrays,
    .kept = b->kept,
    .kept_capacity = BOXES,
    .kept_offsets = b->kept_offsets };
  nms_result result = { .size = sizeof result };

  b->columns.count = b->offsets[b->images];
  if (nms_run_batch (context, &b->columns, b->offsets, b->images, &b->options, &arrays, &result))
    abort ();
  return result.kept_count;
}

/* Returns the time of one variant, divided by the number of images, in microseconds. */
static double
time_way (Bench *b, int way, clockid_t clock)
{
  struct timespec start, end;

  clock_gettime (clock, &start);
  const size_t kept = way == LOOP ? run_loop (b, b->context[way]) : run_batch (b, b->context[way]);
  clock_gettime (clock, &end);
  if (!kept)
    abort ();
  return ((double) (end.tv_sec - start.tv_sec) * 1e6
             + (double) (end.tv_nsec - start.tv_nsec) * 1e-3)
      / (double) b->images;
}

static int
ascending (const void *a, const void *b)
{
  return (*(const double *) a > *(const double *) b) - (*(const double *) a < *(const double *) b);
}

static double
median (double *values, int count)
{
  qsort (values, (size_t) count, sizeof *values, ascending);
  return values[count / 2];
}

static void
print_row (Bench *b, size_t count, int rounds)
{
  const clockid_t clocks[WAYS] = { CLOCK_PROCESS_CPUTIME_ID, CLOCK_PROCESS_CPUTIME_ID,
    CLOCK_MONOTONIC };
  double *times[WAYS], *ratios[WAYS];

  for (int w = 0; w < WAYS; w++) {
    times[w] = allocate ((size_t) rounds, sizeof **times);
    ratios[w] = allocate ((size_t) rounds, sizeof **ratios);
    time_way (b, w, clocks[w]); /* allocates the scratch */
  }
  for (int r = 0; r < rounds; r++) {
    for (int w = 0; w < WAYS; w++)
      times[w][r] = time_way (b, w, clocks[w]);
    ratios[ONE_THREAD][r] = times[ONE_THREAD][r] / times[LOOP][r];
    ratios[TWO_THREADS][r] = times[ONE_THREAD][r] / times[TWO_THREADS][r];
  }
  printf ("%8zu %8zu %12.3f %12.3f %8.3f %12.3f %8.3f\n", count, b->images,
      median (times[LOOP], rounds), median (times[ONE_THREAD], rounds),
      median (ratios[ONE_THREAD], rounds), median (times[TWO_THREADS], rounds),
      median (ratios[TWO_THREADS], rounds));
  for (int w = 0; w < WAYS; w++) {
    free (times[w]);
    free (ratios[w]);
  }
}

int
main (int argc, char **argv)
{
  static const size_t counts[] = { 10, 100, 300, 1000, 10000 };
  const int rounds = argc > 1 ? atoi (argv[1]) : ROUNDS;
  Bench b;

  if (rounds < 1)
    return 2;
  for (int w = 0; w < WAYS; w++)
    b.context[w] = nms_context_new ();
  if (nms_context_set_threads (b.context[TWO_THREADS], 2))
    return 1;
  seed_points (1);
  printf ("%8s %8s %12s %12s %8s %12s %8s\n", "boxes", "images", "loop us", "1 thread us", "ratio",
      "2 threads us", "faster");
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    make (&b, counts[i]);
    print_row (&b, counts[i], rounds);
    clear (&b);
  }
  for (int w = 0; w < WAYS; w++)
    nms_context_free (&b.context[w]);
  return 0;
}
