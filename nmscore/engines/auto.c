/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * auto: which engine suits a frame. All give the same result, so this is about
 * time only: how many others a box suppresses is estimated from a sample of
 * pairs, and from that what each engine would have to do.
 */
#include "sorted.h"

#define SAMPLES 16

/* What a unit of work costs, in nanoseconds of the machine this was tuned on;
 * only the ratios matter. */
#define PAIR_COST 0.11       /* one box of sequential tested */
#define STEP_COST 14.0       /* one kept box of sequential */
#define SORT_COST 7.0        /* sorting, a box */
#define CANDIDATE_COST 12.0  /* one candidate of sorted, its pairs aside */
#define SORTED_PAIR_COST 0.13 /* its pairs */
#define GRID_COST 20.0       /* spatial, a box: into its cell, and its turn */
#define LOOK_COST 40.0       /* and a kept box, which looks around */
#define SEEN_COST 0.4        /* and each box that it sees, as estimated below */
#define GRID_LEAST 1024      /* boxes for which a grid is thought of */
#define SPLIT_COST 1.0       /* sorted, a box that its first wave leaves out */
#define PILE_COST 15.0       /* sorted by classes, a box */
#define SWEEP_COST 0.15      /* and a pair of a kept box with a box of its class */

/* Beyond this share of pairs that overlap too much, single blocks show well
 * how few boxes will be kept; below it they do not, since a few large boxes
 * hide many small ones. */
#define CROWDED 0.2

/* How many boxes would be kept without caps, estimated: boxes spread over the
 * frame, each against a block elsewhere. In a random order a box with d
 * partners is kept with probability 1 / (1 + d), about; where partners are too
 * few to show in single blocks, their mean has to do. `crowd`: the share of
 * pairs that overlap too much; `same`: of pairs of one class. */
static double
estimate_kept (const nms__frame *f, double *crowd, double *same)
{
  const nms__columns columns = { f->x1, f->y1, f->x2, f->y2, f->share, f->group };
  const size_t blocks = (f->count + NMS__BLOCK - 1) / NMS__BLOCK;
  const size_t wanted = f->count / 32 + 1;
  /* where a cap leaves little to do, there is little to lose */
  const size_t most = nms__sorts_in_waves (f) ? SAMPLES / 4 : SAMPLES;
  const size_t samples = wanted < most ? wanted : most;
  const double n = (double) f->count;
  double chances = 0.0, hits = 0.0, pairs = 0.0, twins = 0.0;

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
    for (size_t i = 0; f->group && i < others; i++)
      twins += f->group[first + i] == box.group;
  }
  *same = f->group ? (twins + 1.0) / pairs : 1.0;
  *crowd = hits / pairs;
  if (hits >= (double) samples || blocks == 1)
    return n * chances / (double) samples;
  return n / (1.0 + hits * n / pairs);
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

static int
choose (const nms__frame *f)
{
  const double n = (double) f->count;
  double all_kept, kept, share, crowd, same, pile, examined, sequential, sorted, spatial;

  if (f->count <= 8)
    return NMS_ENGINE_SORTED;
  all_kept = estimate_kept (f, &crowd, &same);
  if (nms__sorts_in_waves (f) && crowd < CROWDED && all_kept < 2.0 * (double) nms__total_cap (f))
    all_kept = 2.0 * (double) nms__total_cap (f);
  kept = (double) nms__total_cap (f) < all_kept ? (double) nms__total_cap (f) : all_kept;
  share = kept / all_kept;      /* of the way to the end */
  examined = kept * (1.0 + (n / all_kept - 1.0) * share); /* at first most are kept */
  sequential = kept * STEP_COST + PAIR_COST * kept * n * (1.0 - share / 2.0);
  sorted = n * SORT_COST;
  if (nms__sorts_in_waves (f) && examined < (double) nms__total_cap (f) * NMS__WAVE_CANDIDATES)
    sorted = n * SPLIT_COST + examined * SORT_COST;
  pile = examined * same;
  if (f->group && pile <= NMS__SWEEP_MOST)
    sorted += examined * (PILE_COST - SORT_COST) + SWEEP_COST * kept * pile / 2.0;
  else
    sorted += examined * (CANDIDATE_COST + SORTED_PAIR_COST * kept * same / 2.0);
  if (f->count >= GRID_LEAST) {
    spatial = n * (SORT_COST + GRID_COST) + kept * LOOK_COST;
    if (spatial < sorted && spatial < sequential)
      spatial += kept * SEEN_COST * estimate_seen (f);
    if (spatial < sorted && spatial < sequential)
      return NMS_ENGINE_SPATIAL;
  }
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
