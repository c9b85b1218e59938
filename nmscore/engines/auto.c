/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * auto: which engine suits a frame. All give the same result, so this is about
 * time only: how many others a box suppresses is estimated from a sample of
 * pairs, and from that what each engine would have to do.
 */
#include "engine.h"

#define SAMPLES 16

/* What a unit of work costs, in nanoseconds of the machine this was tuned on;
 * only the ratios matter. */
#define PAIR_COST 0.17       /* one box of a block tested */
#define STEP_COST 30.0       /* one step of sequential */
#define SORT_COST 7.0        /* sorting, a box */
#define CANDIDATE_COST 12.0  /* one candidate of sorted, its pairs aside */
#define SORTED_PAIR_COST 0.13 /* its pairs */

/* How many boxes would be kept without caps, estimated: boxes spread over the
 * frame, each against a block elsewhere. In a random order a box with d
 * partners is kept with probability 1 / (1 + d), about; where partners are too
 * few to show in single blocks, their mean has to do. */
static double
estimate_kept (const nms__frame *f)
{
  const nms__columns columns = { f->x1, f->y1, f->x2, f->y2, f->share, f->group };
  const size_t blocks = (f->count + NMS__BLOCK - 1) / NMS__BLOCK;
  const size_t wanted = f->count / 32 + 1;
  const size_t samples = wanted < SAMPLES ? wanted : SAMPLES;
  const double n = (double) f->count;
  double chances = 0.0, hits = 0.0, pairs = 0.0;

  for (size_t k = 0; k < samples; k++) {
    size_t pos = (2 * k + 1) * f->count / (2 * samples);
    size_t first = (k * blocks / samples + blocks / 2) % blocks * NMS__BLOCK;
    size_t others = f->count - first < NMS__BLOCK ? f->count - first : NMS__BLOCK;
    nms__box box = nms__frame_box (f, pos);
    uint64_t certain;
    uint64_t mask = f->kernels->overlap_block (&columns, first, others, &box,
        &f->settings->bounds, &certain);
    if (pos - first < others)
      mask &= ~((uint64_t) 1 << (pos - first));
    double found = __builtin_popcountll (mask);
    chances += 1.0 / (1.0 + found * n / (double) others);
    hits += found;
    pairs += (double) others;
  }
  if (hits >= (double) samples || blocks == 1)
    return n * chances / (double) samples;
  return n / (1.0 + hits * n / pairs);
}

static int
choose (const nms__frame *f)
{
  const double n = (double) f->count;
  double all_kept, kept, share, examined, sequential, sorted;

  if (f->count <= 8)
    return NMS_ENGINE_SORTED;
  all_kept = estimate_kept (f);
  kept = (double) nms__total_cap (f) < all_kept ? (double) nms__total_cap (f) : all_kept;
  share = kept / all_kept;      /* of the way to the end */
  examined = kept * (1.0 + (n / all_kept - 1.0) * share); /* at first most are kept */
  sequential = kept * STEP_COST + PAIR_COST * kept * n * (1.0 - share / 2.0);
  sorted = n * SORT_COST + examined * (CANDIDATE_COST + SORTED_PAIR_COST * kept / 2.0);
  return sequential < sorted ? NMS_ENGINE_SEQUENTIAL : NMS_ENGINE_SORTED;
}

int
nms__engine_run (nms__frame *frame, int engine)
{
  if (engine == NMS_ENGINE_AUTO)
    engine = choose (frame);
  if (engine == NMS_ENGINE_SEQUENTIAL)
    nms__sequential (frame);
  else
    nms__sorted (frame);
  return engine;
}
