/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * auto: what engine `auto` knows of a frame before it is run, and how that makes
 * the time each engine takes: a sum of terms, which are amounts of work, times
 * what a unit of each takes. The terms follow from how the engines work and
 * hold for any machine; the prices (auto_costs.c) are fitted to measurements,
 * by `bench-auto --fit`, which is why this is a header.
 */
#ifndef NMS_AUTO_H
#define NMS_AUTO_H

#include "engines/tuning.h"
#include "order.h"

#include <math.h>
#include <stddef.h>

typedef struct nms__facts {
  double n;         /* boxes */
  int grouped, slots; /* classes never meet; classes have caps or options */
  int noting;       /* suppressors are asked for */
  double few;       /* up to so many boxes are sorted by counting */
  double wave;      /* boxes that sorted looks at first, at most n */
  double room;      /* what the caps of the classes let be kept */

  double all;       /* boxes that would be kept without any cap */
  double kept;
  double examined;  /* boxes that rank before the one that fills the cap */
  double alive;     /* sum over the kept boxes: undecided ones when it is kept */
  double pairs;     /* the same of the examined ones alone */
  double same;      /* share of the boxes that are of a box's class */
  double near;      /* boxes of all classes that lie where a kept one looks, in a grid */
  double around;    /* and how many more are tested since they share the cells */
  double flat;      /* share of boxes without area, which are kept for nothing */
  double levels;    /* levels of the grid in which it looks, by size */
  double unusual;   /* share of boxes that look in several, or might have to */
} nms__facts;

#define NMS__TERMS 10

/* The ways that engines go; some have prices of their own in frames of fewer than
 * NMS__SMALL boxes, where what a step costs by itself counts for more. PILES_LIST:
 * of more than NMS__SWEEP_MOST boxes. */
typedef enum nms__way {
  NMS__WAY_SEQUENTIAL, NMS__WAY_SEQUENTIAL_SMALL, NMS__WAY_FEW, NMS__WAY_LIST, NMS__WAY_PILES,
  NMS__WAY_PILES_SMALL, NMS__WAY_PILES_LIST, NMS__WAY_PLACES, NMS__WAY_SCORES, NMS__WAYS
} nms__way;

#define NMS__SMALL 300

typedef double nms__terms[NMS__TERMS];

/* With n, all and kept known: the sum over the kept boxes if all ranks are seen. Each
 * meets half of all, or less; but where classes are full early, most are alive then. */
static inline void
nms__facts_of_all_ranks (nms__facts *f)
{
  const double share = 0.45 + 0.05 * f->kept / f->n + 0.45 * (1.0 - f->kept / f->all);

  f->examined = f->n;
  f->alive = f->pairs = f->n * f->kept * share;
}

/* How often n, at least 1, can be halved. */
static inline double
nms__octaves (double n)
{
  return (double) (63 - __builtin_clzll ((unsigned long long) n));
}

/* To the power of 3/4. */
static inline double
nms__three_quarters (double a)
{
  const double root = sqrt (a);
  return root * sqrt (root);
}

/* What it takes to sort n boxes, so many times; three terms. See order.c. */
static inline void
nms__sort_terms (const nms__facts *f, double n, double times, double *t)
{
  if (n <= f->few)
    t[0] += times * n * n;
  else if (n <= NMS__MERGE_MOST)
    t[1] += times * n * nms__octaves (n);
  else
    t[2] += times;
}

static inline void
nms__terms_of (const nms__facts *f, nms__way way, nms__terms t)
{
  const double n = f->n, kept = f->kept, gone = f->examined - kept;
  /* those that fill the cap are compared with none */
  const double last = f->examined == n ? 0.0 : kept < 9.0 ? kept : 9.0;
  const double next = NMS__BATCH_GROWTH * f->wave;
  const double list = f->examined <= f->wave ? f->wave
      : f->grouped || f->examined > next || next > n ? n : next;

  for (int i = 0; i < NMS__TERMS; i++)
    t[i] = 0.0;
  t[0] = 1.0;
  switch (way) {
    case NMS__WAY_SEQUENTIAL:
    case NMS__WAY_SEQUENTIAL_SMALL:
      t[1] = n;
      t[2] = kept;
      t[f->grouped ? 4 : 3] = f->alive - last * f->alive / kept;
      t[5] = f->noting ? f->alive : 0.0;
      t[6] = f->noting ? gone : 0.0;
      t[7] = f->slots ? n : 0.0;
      t[8] = f->grouped ? kept : 0.0;
      break;
    case NMS__WAY_FEW:
      t[1] = n;
      t[2] = kept;
      t[3] = kept * f->examined;
      t[4] = f->noting ? kept * f->examined : 0.0;
      t[5] = f->noting ? gone : 0.0;
      nms__sort_terms (f, n, 1.0, t + 6);
      break;
    case NMS__WAY_LIST:
      t[1] = f->wave < n ? n : 0.0;
      t[2] = list;
      t[3] = kept;
      t[4] = f->pairs;
      t[5] = f->slots ? n : 0.0;
      nms__sort_terms (f, list, 1.0, t + 6);
      t[9] = gone;
      break;
    case NMS__WAY_PILES:
    case NMS__WAY_PILES_SMALL:
    case NMS__WAY_PILES_LIST: {
      /* caps of all do not end a pile early, those of a class do */
      const double part = list / n, pile = list * f->same > 1.0 ? list * f->same : 1.0;
      const double most = f->all * nms__three_quarters (part), of = f->room < most ? f->room : most;
      const double seen = of / most;
      /* piles of two boxes and more, if they are all of one size, about */
      const double more = pile - 1.0, many = more / (2.0 + 0.6 * more + more * more) * list;
      t[1] = f->wave < n ? n : 0.0;
      t[2] = list;
      t[3] = of;
      t[4] = seen * of * pile;
      t[5] = f->slots ? n : 0.0;
      nms__sort_terms (f, pile, list / pile, t + 6);
      nms__sort_terms (f, of, 1.0, t + 6);
      t[9] = way == NMS__WAY_PILES_LIST ? seen * list - of : many;
      break;
    }
    case NMS__WAY_PLACES:
    case NMS__WAY_SCORES: {
      const double look = kept > 2.0 * f->flat * n ? kept - f->flat * n : 0.5 * kept;
      /* those of other classes share cells with them, however few are near */
      const double near = f->near * f->same + (f->grouped ? 20.0 : 0.0);
      t[1] = n;
      t[2] = look;
      t[3] = look * gone / n; /* boxes that look and find a better one, about */
      t[4] = look * (f->levels - 1.0);
      t[5] = look * near;
      t[6] = look * f->unusual;
      t[7] = f->noting ? gone : 0.0;
      t[8] = f->slots ? n : 0.0;
      t[9] = look * f->around;
      break;
    }
    default:
      break;
  }
}

/* auto_costs.c: what a unit of each term of each way takes, in nanoseconds of the
 * machine that they were measured on, with vectors of `lanes` floats. Only their
 * ratios matter. */
const double (*nms__auto_prices (int lanes))[NMS__TERMS];

/* What a way takes at those prices. */
static inline double
nms__cost_of (const nms__facts *f, nms__way way, const double *price)
{
  nms__terms t;
  double sum = 0.0;

  nms__terms_of (f, way, t);
  for (int i = 0; i < NMS__TERMS; i++)
    sum += t[i] * price[i];
  return sum;
}

#endif
