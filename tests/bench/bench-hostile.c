/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-hostile: times the inputs of hostile.c and natural boxes of the same number. Prints both
 * times, their ratio and the goal of each input, and the worst ratio.
 *
 *     bench-hostile [--only NAME] [--most BOXES] [--limit SECONDS]
 *
 * --only runs the inputs whose names contain NAME, --most those of up to BOXES boxes. An input
 * that takes longer than --limit seconds (default 20) is ended. Times are medians of up to 21
 * calls, in processor time, because other programs disturb it less. The first call is not counted
 * if it takes less than 0.1 s. Returns 1 if a goal is missed.
 */
#include "hostile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALLS 21
#define TURN 0.5 /* seconds after which no call begins */

typedef struct {
  double natural, compared, hostile; /* seconds; `compared` only for goals that are ratios */
  char engine[80];
} Figures;

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

static void
check (nms_context *ctx, int error)
{
  if (!error)
    return;
  fprintf (stderr, "bench-hostile: %s\n", nms_context_error (ctx));
  _exit (2);
}

/* Makes the call for the boxes first .. first+count-1 of the frame. */
static void
call_part (nms_context *ctx, const Frame *f, HostileCall call, size_t first, size_t count)
{
  nms_boxes boxes = { .size = sizeof boxes, .count = count };
  nms_result result = { .size = sizeof result };

  nms_boxes_set_rows (&boxes, f->rows + 4 * first);
  boxes.score.data = f->scores + first;
  boxes.angle.data = f->with_angles ? f->angles + first : NULL;
  boxes.class_id.data = f->with_classes ? f->class_ids + first : NULL;
  if (call == NEIGHBORS) {
    static uint32_t *neighbors;
    neighbors = neighbors ? neighbors : malloc (count * sizeof *neighbors);
    check (ctx, neighbors ? nms_count_neighbors (ctx, &boxes, &f->options, neighbors) : -1);
  } else
    check (ctx, nms_run (ctx, &boxes, &f->options, &result));
}

/* Divides the frame into parts of `part` boxes, and returns the median time of one call for each
 * part. */
static double
time_parts (nms_context *ctx, const Frame *f, HostileCall call, size_t part)
{
  double times[CALLS];
  const double end = now () + TURN;
  int calls = 0;

  for (int i = 0; i < CALLS && (calls == 0 || now () < end); i++) {
    const double start = now ();
    for (size_t first = 0; first < f->count; first += part)
      call_part (ctx, f, call, first, part);
    times[calls] = now () - start;
    calls += i > 0 || times[0] > 0.1;
  }
  qsort (times, (size_t) calls, sizeof *times, ascending);
  return times[calls / 2];
}

static double
time_frame (nms_context *ctx, const Frame *f, HostileCall call)
{
  return time_parts (ctx, f, call, f->count);
}

/* Returns the time with which the time of the frame is compared. Replaces the class ids for
 * OTHER_IDS. */
static double
time_compared (nms_context *ctx, Frame *f, HostileCall call)
{
  double least = 1e9;

  switch (call) {
    case BEST_ENGINE:
      for (f->options.engine = NMS_ENGINE_SEQUENTIAL; f->options.engine <= NMS_ENGINE_SPATIAL;
           f->options.engine++) {
        const double time = time_frame (ctx, f, RUN);
        least = time < least ? time : least;
      }
      f->options.engine = NMS_ENGINE_AUTO;
      return least;
    case OTHER_IDS:
      frame_change_ids (f);
      return time_frame (ctx, f, RUN);
    case SINGLE_IMAGES: {
      const int with_classes = f->with_classes;
      f->with_classes = 0;
      const double time = time_parts (ctx, f, RUN, IMAGE_BOXES);
      f->with_classes = with_classes;
      return time;
    }
    default:
      return 0;
  }
}

/* Measures an input in a child process, which a signal ends after `limit` seconds. Figures that
 * were not measured by then are 0. */
static Figures
measure (const HostileInput *input, int limit)
{
  Figures figures = { 0 };
  int pipe_ends[2];

  if (pipe (pipe_ends) != 0 || fflush (stdout) != 0)
    exit (2);
  const pid_t child = fork ();
  if (child < 0)
    exit (2);
  if (child == 0) {
    nms_context *ctx = nms_context_new ();
    Frame f;
    frame_init (&f, input->count);
    frame_fill (&f, input->count, input->natural);
    figures.natural = time_frame (ctx, &f, input->call);
    setitimer (ITIMER_PROF, &(struct itimerval) { .it_value = { limit, 0 } }, NULL);
    frame_fill (&f, input->count, input->hostile);
    figures.compared = time_compared (ctx, &f, input->call);
    if (write (pipe_ends[1], &figures, sizeof figures) != sizeof figures)
      _exit (2);
    frame_fill (&f, input->count, input->hostile);
    figures.hostile = time_frame (ctx, &f, input->call);
    snprintf (figures.engine, sizeof figures.engine, "%s",
        input->call == NEIGHBORS ? "" : nms_context_engine_in_use (ctx));
    if (write (pipe_ends[1], &figures, sizeof figures) != sizeof figures)
      _exit (2);
    _exit (0);
  }
  close (pipe_ends[1]);
  while (read (pipe_ends[0], &figures, sizeof figures) == sizeof figures)
    ;
  close (pipe_ends[0]);
  waitpid (child, NULL, 0);
  return figures;
}

/* Prints the line of an input. Returns whether it met its goal. */
static int
print_input (const HostileInput *input, const Figures *f)
{
  const int is_ratio = input->call >= BEST_ENGINE;
  const double reached = is_ratio ? f->hostile / f->compared : f->hostile;
  const int met = f->hostile > 0 && reached <= input->goal;

  printf ("%-24s %8zu  %-18s %10.3f ", input->name, input->count, f->engine, f->natural * 1e3);
  if (f->hostile > 0)
    printf ("%10.3f %7.1f", f->hostile * 1e3, f->hostile / f->natural);
  else
    printf ("%10s %7s", "ended", "-");
  if (is_ratio)
    printf ("   %4.1f x %8.3f  %s\n", input->goal, f->compared * 1e3, met ? "met" : "MISSED");
  else
    printf ("  %15.3f  %s\n", input->goal * 1e3, met ? "met" : "MISSED");
  return met;
}

static const char *
text_after (int argc, char **argv, const char *name, const char *otherwise)
{
  for (int i = 1; i + 1 < argc; i++)
    if (strcmp (argv[i], name) == 0)
      return argv[i + 1];
  return otherwise;
}

int
main (int argc, char **argv)
{
  const char *only = text_after (argc, argv, "--only", "");
  const size_t most = strtoull (text_after (argc, argv, "--most", "1000000000"), NULL, 10);
  const int limit = atoi (text_after (argc, argv, "--limit", "20"));
  const HostileInput *worst = NULL;
  double worst_ratio = 0;
  int missed = 0;

  printf ("%-24s %8s  %-18s %10s %10s %7s  %15s\n", "input", "boxes", "engine", "natural ms",
      "hostile ms", "ratio", "goal ms");
  for (const HostileInput *input = hostile_inputs; input->name; input++) {
    if (!strstr (input->name, only) || input->count > most)
      continue;
    const Figures f = measure (input, limit);
    missed += !print_input (input, &f);
    const double ratio = (f.hostile > 0 ? f.hostile : limit) / f.natural;
    if (ratio > worst_ratio) {
      worst_ratio = ratio;
      worst = input;
    }
  }
  if (worst)
    printf ("%d goals missed; worst ratio to natural boxes of the same number: %.1f (%s, %zu)\n",
        missed, worst_ratio, worst->name, worst->count);
  return missed > 0;
}
