/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * auto: which engine suits a frame. All give the same result, so this is about
 * time only: how many others a box suppresses is estimated from a sample of
 * pairs, and from that what each engine would have to do.
 */
#include "sorted.h"

#include <math.h>

/* Boxes that the sample looks at: so many, more of a large frame, never more
 * than most. */
#define SAMPLES 16
#define MANY 128 /* one of so many */
#define MOST 64

/* What a unit of work costs, in nanoseconds of the machine this was tuned on;
 * only the ratios matter. */
#define SEQUENTIAL_COST 324.0 /* sequential: a call, */
#define SCAN_COST 3.3        /* a box, */
#define CAPS_COST 11.8       /* a box where classes have entries, */
#define STEP_COST 16.0       /* a kept box, */
#define PAIR_COST 0.082      /* a pair */
#define FEW_COST 260.0       /* sorted, few boxes: a call, */
#define FEW_BOX_COST 2.3     /* a box, */
#define FEW_RANK_COST 0.042  /* a pair of all, when sorted, */
#define FEW_KEPT_COST 7.4    /* a kept box, */
#define SWEEP_COST 0.084     /* and a pair with a kept one */
#define SORT_COST 9.0        /* sorted, many: sorting, a box, */
#define SPLIT_COST 3.9       /* or a box that its first wave looks through, */
#define CANDIDATE_COST 3.6   /* a candidate, its pairs aside, */
#define LIST_COST 0.12       /* its pairs */
#define PILES_COST 570.0     /* sorted by classes: a call, */
#define PILE_COST 15.9       /* a box, */
#define PILE_KEPT_COST 7.2   /* a kept box; and pairs as above */
#define GRID_COST 20.0       /* spatial, a box: into its cell, and its turn */
#define LOOK_COST 60.0       /* and a kept box, which looks around */
#define SEEN_COST 0.68       /* and each box that it sees, as estimated below */
#define GRID_LEAST 1024      /* boxes for which a grid is thought of */

/* Beyond this share of pairs that overlap too much, single blocks show well
 * how few boxes will be kept; below it they do not, since a few large boxes
 * hide many small ones. */
#define CROWDED 0.2

/* How many boxes would be kept without caps, estimated: boxes spread over the
 * frame, each against a block elsewhere. In a random order a box with d
 * partners is kept with probability 1 / (1 + d), about. `crowd`: the share of
 * pairs that overlap too much; `same`: of pairs of one class. */
static double
estimate_kept (const nms__frame *f, double *crowd, double *same)
{
  const nms__columns columns = { f->x1, f->y1, f->x2, f->y2, f->share, f->group };
  const size_t blocks = (f->count + NMS__BLOCK - 1) / NMS__BLOCK;
  const size_t wanted = f->count / 48 + 1;
  const size_t many = f->count / MANY < SAMPLES ? SAMPLES : f->count / MANY;
  /* where a cap leaves little to do, there is little to lose */
  const size_t most = nms__sorts_in_waves (f) ? SAMPLES / 4 : many < MOST ? many : MOST;
  const size_t samples = wanted < most ? wanted : most;
  const double n = (double) f->count;
  double chances = 0.0, hits = 0.0, pairs = 0.0, twins = 0.0, of = 0.0;
  double mean, middle;

  for (size_t k = 0; k < samples; k++) {
    size_t pos = (2 * k + 1) * f->count / (2 * samples);
    size_t first = (k * blocks / samples + blocks / 2) % blocks * NMS__BLOCK;
    size_t others = f->count - first < NMS__BLOCK ? f->count - first : NMS__BLOCK;
    nms__box box = nms__frame_box (f, pos);
    uint64_t mask = f->kernels->overlap_block (&columns, first, others, &box,
        &f->settings->bounds, NULL);
    if (pos - first < others)
      mask &= ~((uint64_t) 1 << (pos - first));
    double found = __builtin_popcountll (mask);
    chances += 1.0 / (1.0 + found * n / (double) others);
    hits += found;
    pairs += (double) others;
    if (f->group && k % 4 == 0) {
      unsigned equal = 0;
      for (size_t i = 0; i < others; i++)
        equal += f->group[first + i] == box.group;
      twins += equal;
      of += (double) others;
    }
  }
  *same = f->group ? (twins + 1.0) / of : 1.0;
  *crowd = hits / pairs;
  chances *= n / (double) samples;
  if (blocks == 1)
    return chances;
  /* The sum of chances is too high, since partners that a block does not show
   * are not counted; what their mean gives is too low, since a few boxes have
   * most of them. The truth lies at about 5/8 between the logarithms. */
  mean = n / (1.0 + hits * n / pairs);
  middle = sqrt (chances * mean);
  return sqrt (middle * sqrt (chances * middle));
}

/* How many boxes the caps of the classes let be kept at most. */
static double
class_room (const nms__frame *f)
{
  double room = 0.0;

  for (uint32_t i = 1; f->slot && i < f->classes.count; i++) {
    room += (double) f->classes.entry[i].cap;
    if (room >= (double) f->count)
      break;
  }
  return f->slot && room < (double) f->count ? room : (double) f->count;
}

static void
insert_sorted (double *values, size_t n, double value)
{
  size_t i = n;
  for (; i > 0 && values[i - 1] > value; i--)
    values[i] = values[i - 1];
  values[i] = value;
}

/* The chance that a box is near enough along one axis to be looked at, from
 * the mean of sorted centres' span, the outermost left out, and of the sides. */
static double
chance_near (const double *centers, double side, double reach)
{
  const double span = centers[2 * SAMPLES - 3] - centers[2];
  const double near = 2.5 * reach * side;
  return near < span ? near / span : 1.0;
}

/* How many boxes a kept one would look at, if they lay evenly and were of much
 * the same size: too many where sizes differ much, which says no to the grid
 * where it is slow anyway. */
static double
estimate_seen (const nms__frame *f)
{
  const double factor = f->settings->bounds.factor; /* limit / (1 + limit) */
  const double reach = factor < 0.5 ? (1.0 - 2.0 * factor) / (2.0 * factor + 0.1) : 0.0;
  double x[2 * SAMPLES], y[2 * SAMPLES], w = 0.0, h = 0.0;

  for (size_t k = 0; k < 2 * SAMPLES; k++) {
    size_t pos = (2 * k + 1) * f->count / (4 * SAMPLES);
    insert_sorted (x, k, 0.5 * ((double) f->x1[pos] + (double) f->x2[pos]));
    insert_sorted (y, k, 0.5 * ((double) f->y1[pos] + (double) f->y2[pos]));
    w += (double) f->x2[pos] - (double) f->x1[pos];
    h += (double) f->y2[pos] - (double) f->y1[pos];
  }
  return (double) f->count * chance_near (x, w / (2 * SAMPLES), reach)
      * chance_near (y, h / (2 * SAMPLES), reach);
}

/* What is known of a frame before it is run. */
typedef struct guess {
  double n, cap;
  double all_kept; /* without any cap */
  double kept, examined;
  double same; /* the share of boxes that a box meets */
} guess;

/* Of the best m boxes so many are kept: at first most are. */
static double
kept_of (const guess *g, double m)
{
  return m / (1.0 + (g->n / g->all_kept - 1.0) * m / g->n);
}

static double
cost_sequential (const nms__frame *f, const guess *g)
{
  return SEQUENTIAL_COST + g->n * (SCAN_COST + (f->slot ? CAPS_COST : 0.0))
      + g->kept * (STEP_COST + PAIR_COST * g->n * (1.0 - g->kept / g->all_kept / 2.0));
}

static double
cost_piles (const nms__frame *f, const guess *g)
{
  const int waves = nms__sorts_in_waves (f);
  const double wave = waves ? g->cap * NMS__WAVE_CANDIDATES : g->n;
  const double first = wave > g->examined && wave < g->n ? wave : g->n;
  const double room = class_room (f), all = kept_of (g, first);
  const double kept = room < all ? room : all, pile = first * g->same;
  const double pairs = pile <= NMS__SWEEP_MOST ? SWEEP_COST * pile : LIST_COST * pile / 2.0;

  return PILES_COST + first * PILE_COST + (waves ? g->n * SPLIT_COST : 0.0)
      + (pile > NMS__SWEEP_MOST ? first * CANDIDATE_COST : 0.0) + kept * (PILE_KEPT_COST + pairs);
}

static double
cost_sorted (const nms__frame *f, const guess *g)
{
  if (f->group)
    return cost_piles (f, g);
  if (f->count <= NMS__SWEEP_MOST && !f->slot)
    return FEW_COST + g->n * (FEW_BOX_COST + FEW_RANK_COST * g->n)
        + g->kept * (FEW_KEPT_COST + SWEEP_COST * g->n);
  const double sort = nms__sorts_in_waves (f) && g->examined < g->cap * NMS__WAVE_CANDIDATES
      ? g->n * SPLIT_COST + g->examined * SORT_COST : g->n * SORT_COST;
  return sort + g->examined * (CANDIDATE_COST + LIST_COST * g->kept / 2.0);
}

/* What sorted costs where nothing is kept. */
static double
cost_least (const nms__frame *f, double n)
{
  if (f->group)
    return PILES_COST + n * PILE_COST;
  return f->count <= NMS__SWEEP_MOST ? FEW_COST + n * (FEW_BOX_COST + FEW_RANK_COST * n)
      : n * SORT_COST;
}

/* A cap so low that no sample is needed. */
static int
surely_sequential (const nms__frame *f, double cap)
{
  const double n = (double) f->count;
  const guess most = { .n = n, .cap = cap, .all_kept = n, .kept = cap, .same = 0.0 };

  return cap < n && !nms__sorts_in_waves (f) && cost_sequential (f, &most) < cost_least (f, n);
}

static int
choose (const nms__frame *f)
{
  guess g = { .n = (double) f->count, .cap = (double) nms__total_cap (f) };
  double crowd;

  if (f->count <= 8)
    return NMS_ENGINE_SORTED;
  if (surely_sequential (f, g.cap))
    return NMS_ENGINE_SEQUENTIAL;
  g.all_kept = estimate_kept (f, &crowd, &g.same);
  if (nms__sorts_in_waves (f) && crowd < CROWDED && g.all_kept < 2.0 * g.cap)
    g.all_kept = 2.0 * g.cap;
  g.kept = g.cap < g.all_kept ? g.cap : g.all_kept;
  g.examined = g.kept * (1.0 + (g.n / g.all_kept - 1.0) * g.kept / g.all_kept);

  const double sequential = cost_sequential (f, &g), sorted = cost_sorted (f, &g);
  const double others = sequential < sorted ? sequential : sorted;
  const double spatial = g.n * GRID_COST + g.kept * LOOK_COST;
  if (f->count >= GRID_LEAST && spatial < others
      && spatial + g.kept * SEEN_COST * estimate_seen (f) < others)
    return NMS_ENGINE_SPATIAL;
  return sequential < sorted ? NMS_ENGINE_SEQUENTIAL : NMS_ENGINE_SORTED;
}

int
nms__engine_run (nms__frame *frame, int engine)
{
  if (frame->turned)
    engine = NMS_ENGINE_SORTED; /* the others take upright boxes at their word */
  else if (engine == NMS_ENGINE_AUTO)
    engine = choose (frame);
  if (engine == NMS_ENGINE_SEQUENTIAL)
    nms__sequential (frame);
  else if (engine == NMS_ENGINE_SPATIAL)
    nms__spatial (frame);
  else
    nms__sorted (frame);
  return engine;
}
