/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-hostile: times each method and metric on the kinds of boxes of benchboxes.c, beside natural
 * boxes of the same number, columns and thresholds. Prints for each method, metric and number of
 * boxes the time of natural boxes, and the worst kinds with their ratio to it.
 *
 *     bench-hostile [--boxes N,...] [--method NAME] [--kind NAME] [--candidates N] [--most RATIO]
 *                   [--all]
 *     bench-hostile --sets natural|random [--boxes N,...] [--method NAME]
 *     bench-hostile --regret FRAMES [--seed S]
 *
 * --boxes: default 1000,10000. --method and --kind select those whose names contain NAME; a method
 * is called "hard iou", for example, and "neighbors" counts the neighbors. --candidates sets the
 * option max_candidates. A call that takes --most times as long as natural boxes (default 100), and
 * half a second, is ended; its ratio has ">". --all prints every kind. Times are the least of some
 * calls, in processor time, because other programs only add to it.
 *
 * --sets prints the times in milliseconds on each instruction set, with scores, corners and
 * suppressors as outputs, of natural boxes or of large ones at random places.
 *
 * --regret times engine auto and each other engine on random frames, and prints by how much auto
 * takes longer than the best engine.
 */
#include "benchboxes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ENOUGH 0.03 /* seconds after which no call begins */
#define WORST 3     /* kinds that a line names */

/* A line has, for each of these limits, the number of kinds whose ratio is above it. */
#define GOAL_HARD 4
#define GOAL 10

typedef struct {
  const char *method, *kind, *sets; /* sets: NULL for the worst kinds */
  uint64_t candidates;
  double most;
  int all;
} Selection;

typedef struct {
  double natural, hostile; /* seconds; 0 if the call was ended */
} Times;

typedef struct {
  const char *kind;
  double ratio;
  int ended;
} Ratio;

static double
now (void)
{
  struct timespec t;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

/* Returns the least processor time of calls, in seconds: at least one, and no further one after
 * `enough` seconds. With `neighbors`, which has an element for each box, of nms_count_neighbors. */
static double
frame_time (nms_context *ctx, const Frame *f, uint32_t *neighbors, double enough)
{
  nms_boxes boxes = { .size = sizeof boxes, .count = f->count };
  const double end = now () + enough;
  double least = INFINITY, start;

  nms_boxes_set_rows (&boxes, f->rows);
  boxes.score.data = f->scores;
  boxes.angle.data = f->with_angles ? f->angles : NULL;
  boxes.class_id.data = f->with_classes ? f->class_ids : NULL;
  do {
    nms_result result = { .size = sizeof result };
    start = now ();
    if (neighbors ? nms_count_neighbors (ctx, &boxes, &f->options, neighbors)
                  : nms_run (ctx, &boxes, &f->options, &result)) {
      fprintf (stderr, "%s\n", nms_context_error (ctx));
      exit (2);
    }
    const double spent = now () - start;
    least = spent > 0 ? fmin (least, spent) : least; /* the clock may stand still for a moment */
  } while (now () < end || isinf (least));
  return least;
}

/* Measures a kind in a child process, which a signal ends. `method` is -1 for neighbors. */
static Times
measure (const Selection *select, void (*fill) (Frame *), size_t count, int method, int metric)
{
  Times times = { 0, 0 };
  int ends[2];

  if (pipe (ends) != 0 || fflush (stdout) != 0)
    exit (2);
  const pid_t child = fork ();
  if (child < 0)
    exit (2);
  if (child == 0) {
    nms_context *ctx = nms_context_new ();
    uint32_t *neighbors = method < 0 ? malloc (count * sizeof *neighbors) : NULL;
    Frame f;
    frame_init (&f, count);
    for (int natural = 1; natural >= 0; natural--) {
      frame_fill (&f, count, fill);
      if (natural)
        frame_make_natural (&f);
      f.options.method = method < 0 ? NMS_METHOD_HARD : (uint32_t) method;
      f.options.metric = (uint32_t) metric;
      f.options.max_candidates = select->candidates;
      *(natural ? &times.natural : &times.hostile) = frame_time (ctx, &f, neighbors, ENOUGH);
      if (write (ends[1], &times, sizeof times) != sizeof times)
        _exit (2);
      const double limit = fmax (.5, select->most * times.natural);
      setitimer (ITIMER_PROF,
          &(struct itimerval) {
              .it_value = { (time_t) limit, (suseconds_t) (fmod (limit, 1) * 1e6) } },
          NULL);
    }
    _exit (0);
  }
  close (ends[1]);
  while (read (ends[0], &times, sizeof times) == sizeof times)
    ;
  close (ends[0]);
  waitpid (child, NULL, 0);
  return times;
}

static int
descending (const void *a, const void *b)
{
  const double x = ((const Ratio *) a)->ratio, y = ((const Ratio *) b)->ratio;
  return (x < y) - (x > y);
}

/* Returns whether the name of a method and metric is selected, and stores it. */
static int
is_selected (const Selection *select, int method, int metric, char name[64])
{
  snprintf (name, 64, "%s %s", method < 0 ? "neighbors" : nms_method_name (method),
      nms_metric_name (metric));
  return strstr (name, select->method)
      && (method < 0 ? metric == 0 : !nms_method_reason (method, metric));
}

/* Prints the line of a method: natural boxes, and the worst kinds. */
static void
print_method (const Selection *select, size_t count, int method, int metric, const char *name)
{
  Ratio ratios[64];
  size_t n = 0;
  double natural = 0;

  for (const FrameKind *kind = frame_kinds; kind->name; kind++) {
    if (kind != frame_kinds && !strstr (kind->name, select->kind))
      continue;
    const Times t = measure (select, kind->fill, count, method, metric);
    if (kind == frame_kinds)
      natural = t.natural;
    else
      ratios[n++] = (Ratio) { kind->name,
        t.hostile > 0 ? t.hostile / t.natural : fmax (select->most, .5 / t.natural),
        t.hostile <= 0 };
  }
  qsort (ratios, n, sizeof *ratios, descending);
  const double goal = strcmp (name, "hard iou") == 0 ? GOAL_HARD : GOAL;
  size_t above = 0;
  while (above < n && ratios[above].ratio > goal)
    above++;
  printf ("%8zu  %-20s %10.3f ms  %2zu of %zu above %.0f:", count, name, natural * 1e3, above, n,
      goal);
  for (size_t i = 0; i < n && (select->all || i < WORST); i++)
    printf ("  %s%.1f %s", ratios[i].ended ? ">" : "", ratios[i].ratio, ratios[i].kind);
  printf ("\n");
  fflush (stdout);
}

/* Prints the line of a method: its time on each instruction set. */
static void
print_sets (const Selection *select, size_t count, int method, int metric, const char *name)
{
  static const char *const sets[] = { "scalar", "sse2", "avx2", "avx512", "neon" };
  nms_context *ctx = nms_context_new ();
  Frame f;

  frame_init (&f, count);
  frame_fill (&f, count, strcmp (select->sets, "random") ? frame_kinds[0].fill : frame_random);
  f.options.method = (uint32_t) method;
  f.options.metric = (uint32_t) metric;
  f.options.outputs = NMS_OUTPUT_SCORE | NMS_OUTPUT_BOX | NMS_OUTPUT_SUPPRESSED_BY;
  printf ("%8zu  %-20s", count, name);
  for (size_t s = 0; s < sizeof sets / sizeof *sets; s++)
    if (nms_context_set_isa (ctx, sets[s]) == NMS_OK)
      printf ("  %s %.4f", sets[s], frame_time (ctx, &f, NULL, .7) * 1e3);
  printf ("\n");
  fflush (stdout);
  nms_context_free (&ctx);
  frame_clear (&f);
}

static void
print_methods (const Selection *select, const char *counts)
{
  char name[64];

  for (char *end; *counts; counts = *end ? end + 1 : end) {
    const size_t count = strtoull (counts, &end, 10);
    for (int method = select->sets ? 0 : -1; method < 0 || nms_method_name (method); method++)
      for (int metric = 0; nms_metric_name (metric); metric++)
        if (is_selected (select, method, metric, name))
          (select->sets ? print_sets : print_method) (select, count, method, metric, name);
  }
}

static int
ascending (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

/* Prints the quotients of the times of auto and the best engine, on random frames. */
static void
print_regret (size_t frames, uint64_t seed)
{
  nms_context *ctx = nms_context_new ();
  double *quotients = malloc (frames * sizeof *quotients), logs = 0;
  Frame f;

  frame_init (&f, 20000);
  frame_seed (seed);
  for (size_t i = 0; i < frames; i++) {
    double best = INFINITY;
    frame_draw (&f, 300, 20000);
    for (f.options.engine = NMS_ENGINE_SEQUENTIAL; f.options.engine <= NMS_ENGINE_SPATIAL;
         f.options.engine++)
      best = fmin (best, frame_time (ctx, &f, NULL, .004));
    f.options.engine = NMS_ENGINE_AUTO;
    quotients[i] = frame_time (ctx, &f, NULL, .004) / best;
    logs += log (quotients[i]);
  }
  qsort (quotients, frames, sizeof *quotients, ascending);
  printf ("%zu frames: auto takes %.2f times as long as the best engine (geometric mean), 99 of "
          "100 at most %.2f, all at most %.2f\n",
      frames, exp (logs / (double) frames), quotients[frames * 99 / 100], quotients[frames - 1]);
  nms_context_free (&ctx);
  frame_clear (&f);
  free (quotients);
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
  const size_t frames = strtoull (text_after (argc, argv, "--regret", "0"), NULL, 10);
  const Selection select = { .method = text_after (argc, argv, "--method", ""),
    .kind = text_after (argc, argv, "--kind", ""),
    .sets = text_after (argc, argv, "--sets", NULL),
    .candidates = strtoull (text_after (argc, argv, "--candidates", "0"), NULL, 10),
    .most = atof (text_after (argc, argv, "--most", "100")),
    .all = argc > 1 && strcmp (argv[argc - 1], "--all") == 0 };

  if (frames)
    print_regret (frames, strtoull (text_after (argc, argv, "--seed", "1"), NULL, 10));
  else
    print_methods (&select, text_after (argc, argv, "--boxes", "1000,10000"));
  return 0;
}
