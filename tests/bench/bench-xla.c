/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-xla: measures engine xla on a stream. Reads the boxes of a recording in MOT
 * challenge text (boxrecord format=mot) from standard input and runs one frame after the
 * other. Prints how many frames each engine ran, how many programs were compiled and
 * found in the cache, and the time of a frame. NMS_XLA_PLUGIN names the plugin.
 *
 *   bench-xla [--strict] [--fps N] < boxes.mot.txt
 *
 * --strict waits for programs; --fps sets the rate of frames (default 0: no pause, so
 * that a short recording may end before its program is compiled).
 */
#include "nmscore.h"
#include "nmsxla.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct frames {
  float *rows, *scores;
  size_t boxes, room;
  size_t *first; /* start of each frame, and the end of the last */
  size_t count;
} frames;

static void *
grown (void *memory, size_t size)
{
  memory = realloc (memory, size);
  if (!memory) {
    fputs ("bench-xla: out of memory\n", stderr);
    exit (1);
  }
  return memory;
}

static void
read_frames (frames *f)
{
  char line[512];
  long last = 0;

  while (fgets (line, sizeof line, stdin)) {
    long number, id;
    float x, y, w, h, confidence;
    if (sscanf (line, "%ld,%ld,%f,%f,%f,%f,%f", &number, &id, &x, &y, &w, &h, &confidence) != 7
        || number < last || number > 10000000) {
      fprintf (stderr, "bench-xla: not MOT text in order: %s", line);
      exit (1);
    }
    for (; last < number; last++) {
      f->first = grown (f->first, (f->count + 2) * sizeof *f->first);
      f->first[f->count++] = f->boxes;
    }
    if (f->boxes == f->room) {
      f->room = 2 * f->room + 256;
      f->rows = grown (f->rows, 4 * f->room * sizeof *f->rows);
      f->scores = grown (f->scores, f->room * sizeof *f->scores);
    }
    const float row[] = { x, y, x + w, y + h };
    memcpy (&f->rows[4 * f->boxes], row, sizeof row);
    f->scores[f->boxes++] = confidence;
  }
  if (f->count)
    f->first[f->count] = f->boxes;
}

static double
seconds (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static int
compare (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

static void
print_times (const char *what, double *times, size_t n)
{
  if (!n)
    return;
  qsort (times, n, sizeof *times, compare);
  printf ("%s: %zu frames, median %.1f us, 99 of 100 below %.1f us, longest %.1f us\n", what, n,
      1e6 * times[n / 2], 1e6 * times[n * 99 / 100], 1e6 * times[n - 1]);
}

static int
run (const frames *f, int strict, double fps)
{
  const char *plugin = getenv ("NMS_XLA_PLUGIN");
  nms_context *ctx = nms_context_new ();
  nms_options options;
  double *times[2], start;
  size_t ran[2] = { 0, 0 };
  nms_lazy_counters c = { .size = sizeof c };

  nms_options_init (&options, sizeof options);
  nms_added_engine engine = { .size = sizeof engine };
  options.engine = NMS_ENGINE_ADDED;
  if (nms_xla_engine (plugin, strict ? NMS_XLA_STRICT : 0, &engine)
      || nms_context_add_engine (ctx, &engine)) {
    fprintf (stderr, "bench-xla: cannot add the engine\n");
    return 1;
  }
  for (int i = 0; i < 2; i++)
    times[i] = grown (NULL, (f->count + 1) * sizeof *times[i]);
  start = seconds ();
  for (size_t k = 0; k < f->count; k++) {
    nms_boxes boxes = { .size = sizeof boxes, .count = f->first[k + 1] - f->first[k] };
    nms_result result = { .size = sizeof result };
    nms_boxes_set_rows (&boxes, &f->rows[4 * f->first[k]]);
    boxes.score.data = &f->scores[f->first[k]];
    double begin = seconds ();
    if (nms_run (ctx, &boxes, &options, &result) < 0) {
      fprintf (stderr, "bench-xla: %s\n", nms_context_error (ctx));
      return 1;
    }
    double end = seconds ();
    int on_device = nms_context_engine (ctx) == NMS_ENGINE_ADDED;
    times[on_device][ran[on_device]++] = end - begin;
    if (fps > 0 && start + (double) (k + 1) / fps > end) {
      double pause = start + (double) (k + 1) / fps - end;
      nanosleep (&(struct timespec) { (time_t) pause, (long) (1e9 * (pause - (long) pause)) },
          NULL);
    }
  }
  if (nms_context_engine_reason (ctx))
    printf ("refused: %s\n", nms_context_engine_reason (ctx));
  printf ("%zu frames, %zu boxes\n", f->count, f->boxes);
  print_times ("on the device", times[1], ran[1]);
  print_times ("natively", times[0], ran[0]);
  if (plugin && nms_xla_engine_counters (plugin, &c) == NMS_OK && c.traces)
    printf ("programs: %llu looked up, %llu found (%.2f %%), %llu compiled in %.0f ms, "
            "%llu runs, known answers included\n",
        (unsigned long long) c.traces, (unsigned long long) c.hits,
        100 * (double) c.hits / (double) c.traces, (unsigned long long) c.misses,
        (double) c.compile_ns / 1e6, (unsigned long long) c.runs);
  nms_context_free (&ctx);
  free (times[0]);
  free (times[1]);
  return 0;
}

int
main (int argc, char **argv)
{
  frames f = { 0 };
  int strict = 0, status;
  double fps = 0;

  for (int i = 1; i < argc; i++)
    if (!strcmp (argv[i], "--strict"))
      strict = 1;
    else if (!strcmp (argv[i], "--fps") && i + 1 < argc)
      fps = strtod (argv[++i], NULL);
    else {
      fputs ("usage: bench-xla [--strict] [--fps N] < boxes.mot.txt\n", stderr);
      return 2;
    }
  read_frames (&f);
  if (!f.count) {
    fputs ("bench-xla: no frame on standard input\n", stderr);
    return 1;
  }
  status = run (&f, strict, fps);
  free (f.rows);
  free (f.scores);
  free (f.first);
  return status;
}
