/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * auto: which engine suits a frame. All give the same result, so this is about
 * time only. The partners of a few boxes tell how many boxes will be kept
 * (auto_facts.c), that and the classes of some what each engine has to do, and
 * that what it takes (auto.h). They look further as long as it might change the
 * choice, for a small share of the time that the best engine will take.
 */
#include "auto_statistics.h"

#define TINY 16        /* boxes: any engine would do */
#define SHORT 1024     /* boxes, whose engines take so little that each look tells */
#define SURER 0.95     /* in small frames, of what sorted is said to take: two samples show
                        * too few kept boxes rather than too many, and the fewer there
                        * are, the better sequential looks */
#define BUDGET 0.035   /* of what the best engine takes, for finding out */
#define WEIGH 200.0    /* nanoseconds, of what the looks of a round show */
#define LOOK 3.0       /* a pair of the sample, times one of engine sequential */

nms__way
nms__auto_sequential_way (const nms__frame *f)
{
  return f->count < NMS__SMALL ? NMS__WAY_SEQUENTIAL_SMALL : NMS__WAY_SEQUENTIAL;
}

nms__way
nms__auto_sorted_way (const nms__frame *f, const nms__facts *facts)
{
  if (f->class_id && facts->same * facts->wave > NMS__SWEEP_MOST)
    return NMS__WAY_PILES_LIST;
  if (f->class_id)
    return f->count < NMS__SMALL ? NMS__WAY_PILES_SMALL : NMS__WAY_PILES;
  return f->count <= NMS__SWEEP_MOST && !f->class_entry ? NMS__WAY_FEW : NMS__WAY_LIST;
}

nms__way
nms__auto_spatial_way (const nms__frame *f)
{
  return f->class_entry || f->parent.data || f->suppressed_by || nms__total_cap (f) < f->count
      ? NMS__WAY_SCORES : NMS__WAY_PLACES;
}

typedef struct verdict {
  int engine;
  double cost;
} verdict;

static void
consider (verdict *v, int engine, double cost)
{
  if (cost < v->cost)
    *v = (verdict) { engine, cost };
}

static verdict
weigh (const nms__frame *f, nms__facts *facts)
{
  const double (*prices)[NMS__TERMS] = nms__auto_prices (f->kernels->lanes);
  const nms__way steps = nms__auto_sequential_way (f), way = nms__auto_sorted_way (f, facts);
  const nms__way grid = nms__auto_spatial_way (f);
  verdict v = { NMS_ENGINE_SORTED, nms__cost_of (facts, way, prices[way]) };

  if (f->count < NMS__SMALL)
    v.cost *= SURER;
  consider (&v, NMS_ENGINE_SEQUENTIAL, nms__cost_of (facts, steps, prices[steps]));
  /* what a grid takes at least, without any box that looks into it */
  if (f->count < NMS__SMALL || prices[grid][0] + prices[grid][1] * facts->n > v.cost)
    return v;
  double spatial = nms__cost_of (facts, grid, prices[grid]);
  if (facts->near == 0.0 && spatial < 1.5 * v.cost) { /* if nobody is near */
    nms__facts_of_places (facts, f);
    spatial = nms__cost_of (facts, grid, prices[grid]);
  }
  consider (&v, NMS_ENGINE_SPATIAL, spatial);
  return v;
}

/* With so many partners. */
static verdict
weigh_sample (const nms__frame *f, nms__facts *facts, nms__sample *s, double prior, double factor)
{
  nms__sample_judge (s, f, prior, factor);
  nms__facts_estimate (facts, s, (double) nms__total_cap (f));
  return weigh (f, facts);
}

/* Whether the sample leaves no doubt: with fewer partners than it shows, and
 * with more, the engine is the best one too. */
static int
is_clear (const nms__frame *f, nms__facts *facts, nms__sample *s, int engine)
{
  const double doubt = 1.0 + 3.0 / sqrt (1.0 + (double) s->hits);

  return weigh_sample (f, facts, s, 0.0, 1.0 / doubt).engine == engine
      && weigh_sample (f, facts, s, 1.0, doubt).engine == engine;
}

/* Boxes that all have so many partners. */
static verdict
weigh_alike (const nms__frame *f, nms__facts *facts, double partners)
{
  nms__sample sample;

  sample.count = 1;
  sample.degree[0] = partners;
  nms__facts_estimate (facts, &sample, (double) nms__total_cap (f));
  return weigh (f, facts);
}

/* Two boxes and what lies next to them are all that small frames have time for. */
static int
choose_small (const nms__frame *f, nms__facts *facts)
{
  nms__sample sample;

  if (f->class_id)
    nms__facts_of_classes (facts, f);
  double partners = 0.2 * facts->same; /* none found is not none */
  nms__sample_start (&sample, f, 2);
  for (size_t k = 0; k < sample.count; k++)
    partners += (double) sample.box[k].found_around;
  if (f->count > NMS__BLOCK)
    partners *= facts->n / NMS__BLOCK;
  return weigh_alike (f, facts, partners / (double) sample.count).engine;
}

static int
choose_by_sample (const nms__frame *f, nms__facts *facts)
{
  const double look = LOOK * NMS__BLOCK
      * nms__auto_prices (f->kernels->lanes)[NMS__WAY_SEQUENTIAL][3];
  nms__sample sample;

  nms__sample_start (&sample, f, f->count < 2048 ? 6 : f->count < 4096 ? 8 : 16);
  /* short frames: if those that are found next to a box are enough, that was it */
  if (f->count < SHORT
      && weigh_sample (f, facts, &sample, 0.0, 1.0).engine == NMS_ENGINE_SEQUENTIAL)
    return NMS_ENGINE_SEQUENTIAL;
  double spent = look * (double) sample.count;
  for (size_t blocks = 1;; blocks *= 3) {
    const size_t looks = nms__sample_more (&sample, f, blocks);
    const verdict v = weigh_sample (f, facts, &sample, 0.25, 1.0);
    spent += look * (double) looks + WEIGH;
    /* the next round has up to three times as many */
    const double next = spent + 2.7 * look * (double) looks + WEIGH;
    if (!looks || next > BUDGET * v.cost || is_clear (f, facts, &sample, v.engine))
      return v.engine;
  }
}

int
nms__auto_choose (const nms__frame *f)
{
  const int capped = nms__total_cap (f) < f->count && !f->class_entry;
  nms__facts facts;

  if (f->count <= TINY)
    return f->class_id ? NMS_ENGINE_SEQUENTIAL : NMS_ENGINE_SORTED;
  nms__facts_start (&facts, f);
  if (f->count < NMS__SMALL)
    return choose_small (f, &facts);
  /* Under a low cap it may not matter how many partners boxes have: the best
   * engine for none is also that for many. Sequential is, even if no two boxes
   * are of a class: the others come to the cap at once then. */
  int engine = capped ? weigh_alike (f, &facts, 0.0).engine : NMS_ENGINE_AUTO;
  if (engine == NMS_ENGINE_SEQUENTIAL)
    return engine;
  if (f->class_id) {
    nms__facts_of_classes (&facts, f);
    engine = capped ? weigh_alike (f, &facts, 0.0).engine : NMS_ENGINE_AUTO;
  }
  if (capped && weigh_alike (f, &facts, facts.n / 16.0).engine == engine)
    return engine;
  return choose_by_sample (f, &facts);
}
