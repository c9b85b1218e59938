/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-auto: does engine `auto` pick well? Draws points at random - number of
 * boxes, layout, density, order, threshold, classes, caps, outputs - and times
 * every engine and `auto` on each, in turn. A point is missed when `auto`, its
 * estimate included, takes over 15 % and over 0.3 us more than the best engine.
 *
 *     bench-auto [--points N] [--seed S] [--most BOXES] [--all]
 *
 * The points are those of the seed; none is a workload of workloads.py. Times
 * are medians over rounds, in microseconds of this thread's processor time; the
 * ratio is the median of the rounds' ratios.
 */
#include <nmscore.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ENGINES 4 /* auto first */
#define ROUNDS 11
#define TURN 20e3        /* nanoseconds that the calls of a turn take, at least */
#define HOPELESS 2.5     /* times the best: an engine that slow takes few turns */
#define MISS_RATIO 1.15
#define MISS_TIME 0.3    /* microseconds */

typedef enum { DETECTOR, SPARSE, RANDOM, MIXED, LAYOUTS } Layout;

static const char *const layout_names[] = { "detector", "sparse", "random", "mixed" };

typedef struct {
  Layout layout;
  size_t count;
  double density; /* boxes an object, or how full the field is */
  float iou;
  int classes;    /* 0: no column */
  uint64_t cap, class_cap;
  int in_rows;    /* boxes come in the order of the image, as anchors do */
  double empty;   /* share of boxes without area */
  float score;    /* threshold */
  int suppressors; /* are asked for */
} Point;

typedef struct {
  float *rows, *scores;
  int32_t *classes;
} Boxes;

/* ------------------------------------------------------------------- boxes */

static uint64_t state;

/* splitmix64 */
static uint64_t
bits (void)
{
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static double
uniform (double low, double high)
{
  return low + (high - low) * (double) (bits () >> 11) * 0x1p-53;
}

/* Even on a logarithmic scale. */
static double
spread (double low, double high)
{
  return exp (uniform (log (low), log (high)));
}

static double
normal (void)
{
  return sqrt (-2.0 * log (uniform (1e-12, 1.0))) * cos (uniform (0.0, 6.283185307179586));
}

static Point
draw_point (size_t most)
{
  Point p = { .layout = (Layout) (bits () % LAYOUTS) };

  p.count = (size_t) spread (1.0, (double) most + 1.0);
  p.density = p.layout == DETECTOR ? spread (2.0, 60.0) : spread (0.2, 20.0);
  p.iou = (float) uniform (.05, .95);
  if (bits () % 2)
    p.classes = (int) spread (2.0, 200.0);
  if (bits () % 3 == 0)
    p.cap = (uint64_t) spread (1.0, (double) p.count);
  if (p.classes && bits () % 4 == 0)
    p.class_cap = (uint64_t) spread (1.0, 100.0);
  p.in_rows = bits () % 3 == 0;
  p.empty = bits () % 8 == 0 ? uniform (0.0, .3) : 0.0;
  p.score = bits () % 5 == 0 ? (float) spread (.01, .9) : 0.0f;
  p.suppressors = bits () % 5 == 0;
  return p;
}

/* Scores as a detector has them: most are low, or they are even. */
static void
fill (const Point *p, Boxes *b)
{
  const double n = (double) p->count;
  const size_t objects = (size_t) (n / p->density) + 1;
  const double field = p->layout == DETECTOR ? 64.0 * sqrt ((double) objects)
      : p->layout == RANDOM ? 1024.0 : 60.0 * sqrt (n / p->density);
  const int low_scores = bits () % 2;
  const uint64_t seed = bits ();

  for (size_t i = 0; i < p->count; i++) {
    double w = 0.0, h = 0.0, x = uniform (0.0, field), y = uniform (0.0, field);
    size_t object = p->in_rows ? i * objects / p->count : bits () % objects;
    if (p->in_rows)
      y = ((double) i + .5) / n * field;
    if (p->layout == DETECTOR) {
      const uint64_t back = state;
      state = seed + object * 1000003u; /* the same numbers for all of an object */
      x = uniform (0.0, field);
      y = p->in_rows ? ((double) object + .5) / (double) objects * field : uniform (0.0, field);
      double ow = uniform (16.0, 64.0), oh = uniform (16.0, 64.0);
      state = back;
      x += normal () * .12 * ow;
      y += normal () * .12 * oh;
      w = ow * exp (.15 * normal ());
      h = oh * exp (.15 * normal ());
    } else if (p->layout == SPARSE) {
      w = uniform (20.0, 100.0);
      h = uniform (20.0, 100.0);
    } else if (p->layout == RANDOM) {
      w = uniform (1.0, 1024.0);
      h = uniform (1.0, 1024.0);
    } else {
      w = spread (4.0, 400.0);
      h = w * spread (.4, 2.5);
    }
    if (p->empty > 0.0 && uniform (0.0, 1.0) < p->empty)
      w = 0.0;
    b->rows[4 * i] = (float) (x - w / 2);
    b->rows[4 * i + 1] = (float) (y - h / 2);
    b->rows[4 * i + 2] = (float) (x + w / 2);
    b->rows[4 * i + 3] = (float) (y + h / 2);
    b->scores[i] = (float) (low_scores ? spread (.001, 1.0) : uniform (0.0, 1.0));
    b->classes[i] = p->classes ? (int32_t) (object % (size_t) p->classes) : 0;
  }
}

/* ------------------------------------------------------------------ timing */

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

/* Times all engines; returns auto's ratio to the best. */
static double
measure (nms_context *ctx, const nms_boxes *boxes, nms_options *options, double us[ENGINES],
    int *best, int *picked)
{
  double time[ENGINES][ROUNDS], first[ENGINES], ratio[ROUNDS];
  int rounds[ENGINES], calls[ENGINES];

  for (int e = 0; e < ENGINES; e++) {
    options->engine = (uint32_t) e;
    first[e] = turn (ctx, boxes, options, 1);
    rounds[e] = first[e] > 2.0 * HOPELESS * first[0] ? 1 : ROUNDS;
    time[e][0] = first[e];
    if (rounds[e] > 1)
      first[e] = turn (ctx, boxes, options, 2);
    calls[e] = 2 + (int) (TURN / first[e]);
  }
  for (int e = 0; e < ENGINES; e++)
    rounds[e] = first[e] > HOPELESS * first[0] ? 1 : ROUNDS;
  for (int r = 0; r < ROUNDS; r++)
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
  for (int r = 0; r < ROUNDS; r++)
    ratio[r] = time[0][r] / time[*best][r < rounds[*best] ? r : 0];
  return median (ratio, ROUNDS);
}

/* -------------------------------------------------------------------- main */

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
  const int all = argc > 1 && strcmp (argv[argc - 1], "--all") == 0;
  nms_context *ctx = nms_context_new ();
  Boxes b = { malloc (most * 4 * sizeof (float)), malloc (most * sizeof (float)),
    malloc (most * sizeof (int32_t)) };
  long missed = 0;
  double worst = 0.0;

  if (!ctx || !b.rows || !b.scores || !b.classes || points < 1 || most < 9)
    return 2;
  state = (uint64_t) number_after (argc, argv, "--seed", 1);
  printf ("layout      boxes dens. empty scor iou cls.    cap  /cl   kept |      auto sequential"
      "    sorted   spatial | picked     best       ratio (%s)\n", nms_context_cpu (ctx));
  for (long i = 0; i < points; i++) {
    const Point p = draw_point (most);
    nms_boxes boxes = { .size = sizeof boxes, .count = p.count };
    nms_options options;
    nms_result result = { .size = sizeof result };
    double us[ENGINES];
    int best, picked;

    fill (&p, &b);
    nms_boxes_set_rows (&boxes, b.rows);
    boxes.score.data = b.scores;
    boxes.class_id.data = p.classes ? b.classes : NULL;
    nms_options_init (&options, sizeof options);
    options.iou_threshold = p.iou;
    options.max_detections = p.cap;
    options.max_per_class = p.class_cap;
    options.score_threshold = p.score;
    options.outputs = NMS_OUTPUT_OUTCOME | (p.suppressors ? NMS_OUTPUT_SUPPRESSED_BY : 0);
    double ratio = measure (ctx, &boxes, &options, us, &best, &picked);
    const int miss = ratio > MISS_RATIO && us[0] - us[best] > MISS_TIME;
    nms_run (ctx, &boxes, &options, &result);
    missed += miss;
    worst = miss && ratio > worst ? ratio : worst;
    if (all || miss)
      print_point (&p, us, best, picked, ratio, result.kept_count);
  }
  printf ("%ld points, %ld missed, the worst by %.2f\n", points, missed, worst);
  free (b.rows);
  free (b.scores);
  free (b.classes);
  nms_context_free (&ctx);
  return 0;
}
