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
  double over;      /* boxes whose class was full */
  double same;      /* share of the boxes that are of a box's class */
  double near;      /* boxes of all classes that lie where a kept one looks, in a grid */
  double levels;    /* levels of the grid in which it looks */
} nms__facts;

/* Up to so many boxes are swept (sweep.h); where they are more, it pays to stop
 * at the first suppressor of each. */
#define NMS__SWEEP_MOST 400

#define NMS__TERMS 10

/* The ways that engines go; some have prices of their own in frames of fewer than
 * NMS__SMALL boxes, where what a step costs by itself counts for more. */
typedef enum nms__way {
  NMS__WAY_SEQUENTIAL, NMS__WAY_SEQUENTIAL_SMALL, NMS__WAY_FEW, NMS__WAY_LIST, NMS__WAY_PILES,
  NMS__WAY_PILES_SMALL, NMS__WAY_PLACES, NMS__WAY_SCORES, NMS__WAYS
} nms__way;

#define NMS__SMALL 300

typedef double nms__terms[NMS__TERMS];

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

static inline void
nms__terms_of (const nms__facts *f, nms__way way, nms__terms t)
{
  const double n = f->n, kept = f->kept, gone = f->examined - kept;
  const double list = f->examined <= f->wave ? f->wave : n;

  for (int i = 0; i < NMS__TERMS; i++)
    t[i] = 0.0;
  t[0] = 1.0;
  switch (way) {
    case NMS__WAY_SEQUENTIAL:
    case NMS__WAY_SEQUENTIAL_SMALL:
      t[1] = n;
      t[2] = kept;
      t[3] = f->alive;
      t[4] = f->grouped ? f->alive : 0.0;
      t[5] = f->noting ? f->alive : 0.0;
      t[6] = f->noting ? gone : 0.0;
      t[7] = f->slots ? n : 0.0;
      t[8] = f->over * n; /* each is stepped over */
      t[9] = f->grouped ? kept : 0.0;
      break;
    case NMS__WAY_FEW:
      t[1] = n;
      t[2] = n <= f->few ? n * n : 0.0;
      t[3] = n > f->few ? n * nms__octaves (n) : 0.0; /* merging */
      t[4] = kept;
      t[5] = kept * f->examined;
      t[6] = f->noting ? kept * f->examined : 0.0;
      t[7] = f->noting ? gone : 0.0;
      break;
    case NMS__WAY_LIST:
      t[1] = f->wave < n ? n : 0.0;
      t[2] = list;
      t[3] = f->examined;
      t[4] = f->pairs;
      t[5] = f->slots ? n : 0.0;
      break;
    case NMS__WAY_PILES:
    case NMS__WAY_PILES_SMALL: {
      /* caps of all do not end a pile early */
      const double part = list / n, pile = list * f->same;
      const double most = f->all * nms__three_quarters (part), of = f->room < most ? f->room : most;
      const double tests = of * pile;
      t[1] = f->wave < n ? n : 0.0;
      t[2] = list;
      t[3] = of;
      t[4] = pile <= NMS__SWEEP_MOST ? tests : 0.0;
      t[5] = pile > NMS__SWEEP_MOST ? tests : 0.0;
      t[6] = f->slots ? n : 0.0;
      t[7] = pile <= f->few ? list * pile : 0.0;
      /* piles of two boxes and more, if they are all of one size, about */
      t[8] = pile * pile / (2.0 + 0.6 * pile + pile * pile) / f->same;
      t[9] = pile > NMS__SWEEP_MOST ? list : 0.0;
      break;
    }
    case NMS__WAY_PLACES:
    case NMS__WAY_SCORES:
      t[1] = n;
      t[2] = kept;
      t[3] = kept * gone / n; /* boxes that look and find a better one, about */
      t[4] = kept * (f->levels - 1.0);
      t[5] = kept * nms__three_quarters (f->near * f->same);
      t[6] = f->grouped ? n : 0.0;
      t[7] = f->noting ? gone : 0.0;
      t[8] = f->slots ? n : 0.0;
      break;
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
