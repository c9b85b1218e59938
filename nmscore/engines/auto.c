/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * auto: chooses the engine with the least estimated time. All engines return the same result, so
 * a wrong estimate costs time only. Frames of up to TABLE_MOST boxes are assigned by a table. For
 * larger ones the neighbors of a sample of boxes are counted, the number of kept boxes is
 * estimated from them, and a formula for each engine estimates its time. The constants are
 * nanoseconds of one core at 3 GHz; the work of pair tests is divided by the number of lanes.
 *
 * The sample may not represent the frame. Therefore engines sequential and sorted, whose time may
 * grow with the square of the number of boxes, get a budget: the number of pair tests that take
 * BUDGET times the estimated time of engine spatial. run.c runs spatial on frames that exceed it.
 */
#include "engine.h"
#include "tuning.h"

#include <math.h>

#define TABLE_MOST 512
#define SWEEP_BEST 64  /* without classes, sorted is fastest up to this number of boxes */
#define SAMPLE_LEAST 5 /* boxes whose neighbors are counted; frames with many to keep have more */
#define SAMPLE_MOST 32
#define SAMPLE_OF 256.0 /* the sample has one more box for each 256 boxes of the frame */
#define CLASS_SAMPLE 64
#define USUAL_NEIGHBORS 5.0 /* typical number of neighbors of a box in a detector's output */
#define BUDGET 1.5
#define PAIR_TEST 3.2 /* time of one pair test with one lane, for the budget */

typedef struct estimate {
  double n;
  double cap;  /* total cap; at most n */
  double most; /* boxes that the total cap and the caps of classes allow */
  double all;  /* boxes that would be kept without caps */
  double kept;
  double ranked; /* boxes that rank above the one that fills the caps; n if none does */
  double same;   /* share of all boxes that have the class of a given box; 1 without classes */
  double first;  /* boxes in the first batch of engine sorted; n if it sorts all at once */
  int classes, score_order, lanes; /* lanes: floats in a vector */
  int entries;                     /* nonzero if classes have options or caps */
  int grouped;                     /* nonzero if boxes of different classes suppress each other */
  size_t samples;
  double neighbors[SAMPLE_MOST], mean_neighbors;
} estimate;

/* Returns position number k of a sample of `count` boxes. It depends on numbers of boxes alone, so
 * that the same frame gets the same engine in every process. */
static size_t
sample_position (const nms__frame *f, size_t k, size_t count)
{
  return (size_t) ((nms__secret_factor (f->count, (unsigned) k) >> 32) * count >> 32);
}

static size_t
count_neighbors (const nms__frame *f, size_t block, size_t pos)
{
  const nms__columns columns = { f->x1, f->y1, f->x2, f->y2, f->scaled, f->class_id };
  const nms__box box = nms__frame_box (f, pos);
  const size_t first = block * NMS__BLOCK, left = f->count - first;
  uint64_t mask = f->kernels->overlap_block (&columns, first, left < NMS__BLOCK ? left : NMS__BLOCK,
      &box, &f->bounds, NULL);
  if (pos / NMS__BLOCK == block)
    mask &= ~((uint64_t) 1 << pos % NMS__BLOCK);
  return nms__count_bits (mask);
}

/* Estimates the number of neighbors of box `pos` from its own block and from others at growing
 * distances, each of which counts for all blocks up to the next one: boxes of one object are often
 * consecutive. */
static double
estimate_neighbors (const nms__frame *f, size_t pos)
{
  const size_t blocks = f->count / NMS__BLOCK, own = pos / NMS__BLOCK; /* whole blocks */
  size_t sum = count_neighbors (f, own, pos);

  for (size_t away = 1, next; away < blocks; away = next) {
    next = away + away / 4 + 1;
    next = next < blocks ? next : blocks;
    sum += count_neighbors (f, (own + away) % blocks, pos) * (next - away);
  }
  return (double) sum;
}

/* Estimates which share of the best boxes will be kept; these are the part `part` of all boxes. It
 * is the mean of 1 / (1 + neighbors * part) if neighbors of a box are neighbors of each other. */
static double
share_of_clusters (const estimate *e, double part)
{
  double sum = 0.0;
  for (size_t k = 0; k < e->samples; k++)
    sum += 1.0 / (1.0 + e->neighbors[k] * part);
  return sum / (double) e->samples;
}

/* Estimates the probability that two boxes have the same class, from all pairs of a sample. */
static double
estimate_same_class (const nms__frame *f)
{
  uint32_t id[CLASS_SAMPLE];
  unsigned equal = 0;
  for (size_t k = 0; k < CLASS_SAMPLE; k++) {
    const size_t pos = sample_position (f, k, f->count);
    id[k] = f->class_id ? (uint32_t) f->class_id[pos] : f->class_entry[pos];
    for (size_t j = 0; j < k; j++)
      equal += id[j] == id[k];
  }
  return ((double) equal + 0.5) / (0.5 * CLASS_SAMPLE * (CLASS_SAMPLE - 1));
}

static double
lesser (double a, double b)
{
  return a < b ? a : b;
}

/* Estimates how many boxes the caps of all classes allow, from the cap of each box of a sample. */
static double
estimate_class_caps (const nms__frame *f)
{
  double sum = 0.0;
  for (size_t k = 0; k < CLASS_SAMPLE; k++) {
    const size_t pos = sample_position (f, k, f->count);
    sum += lesser ((double) f->classes.entry[f->class_entry[pos]].cap, (double) f->count);
  }
  return sum / CLASS_SAMPLE / estimate_same_class (f);
}

static estimate
estimate_frame (const nms__frame *f)
{
  estimate e = { .n = (double) f->count,
    .lanes = f->kernels->lanes,
    .classes = f->class_id != NULL,
    .entries = f->class_entry != NULL,
    .grouped = f->grouped,
    .score_order = nms__takes_score_order (f) };

  e.first = nms__sorts_in_batches (f) ? (double) nms__first_batch (f) : e.n;
  e.cap = lesser ((double) f->cap, e.n);
  e.most = f->class_entry ? lesser (e.cap, estimate_class_caps (f)) : e.cap;
  e.same = f->class_id ? estimate_same_class (f) : 1.0;
  e.samples = (size_t) lesser (SAMPLE_MOST, SAMPLE_LEAST + lesser (e.n, 8.0 * e.most) / SAMPLE_OF);
  const size_t stride = f->count / e.samples;
  for (size_t k = 0; k < e.samples; k++) {
    e.neighbors[k] = estimate_neighbors (f, k * stride + sample_position (f, k, stride));
    e.mean_neighbors += e.neighbors[k] / (double) e.samples;
  }
  e.all = e.n * share_of_clusters (&e, 1.0);
  e.all *= sqrt (sqrt (sqrt (e.n / e.all))); /* because not all boxes lie in clusters */
  e.kept = lesser (e.all, e.most);
  e.ranked = e.most;
  while (e.ranked < e.n && e.ranked * share_of_clusters (&e, e.ranked / e.n) < e.most)
    e.ranked = lesser (1.5 * e.ranked, e.n);
  return e;
}

/* Returns the share of all boxes that are undecided, on average from the first to the last of the
 * `kept` boxes. Each kept box suppresses a box with d neighbors with a probability of d / n. */
static double
share_undecided (const estimate *e)
{
  return lesser (share_of_clusters (e, 0.5 * e->kept / e->n), 1.0 - 0.5 * e->kept / e->all);
}

/* Each step finds the best boxes and compares them with the undecided ones. */
static double
time_sequential (const estimate *e)
{
  return 400.0 + (e->entries ? 6.5 : 3.0) * e->n + 12.0 * e->kept
      + 2.6 / e->lanes * e->n * e->kept * share_undecided (e);
}

/* Sorts once, only the best boxes if the cap is low, and compares each box with the boxes kept so
 * far. `unfilled` is the probability that the cap is not filled against the estimate; all boxes are
 * then sorted. */
static double
time_sorted (const estimate *e)
{
  const int in_batches = e->first < e->n;
  const double more = e->classes ? lesser (2.0 * e->ranked, e->n) : e->ranked;
  const double boxes = e->ranked <= e->first ? e->first : more;
  const double tested = lesser (boxes, more);
  const double sort = boxes * e->same > NMS__SWEEP_MOST ? 32.0 : 20.0;
  if (e->classes)
    return 400.0 + (in_batches ? 4.0 : 2.0) * e->n + 10.0 * boxes + (sort - 10.0) * tested
        + 1.2 / e->lanes * tested * lesser (e->kept, boxes) * e->same;
  const double unfilled = in_batches ? 0.5 * lesser (e->cap / e->all, 1.0) : 0.0;
  return (boxes < e->n ? 0.0 : 3000.0) + 2.0 * e->n + 10.0 * boxes + 12.0 * (e->ranked - e->kept)
      + 1.0 / e->lanes * e->ranked * e->kept + unfilled * 24.0 * e->n;
}

/* Boxes are scattered to the cells of a grid, and the kept ones probe cells. */
static double
time_uncrowded_spatial (const estimate *e)
{
  return e->score_order ? 10000.0 + 50.0 * e->n + 40.0 * e->kept
                        : 6000.0 + 36.0 * e->n + (e->classes ? 60.0 : 30.0) * e->kept;
}

/* The cells that a box probes have its neighbors and, in a crowded frame of boxes of many sizes,
 * many others. */
static double
time_spatial (const estimate *e)
{
  const double crowd = e->mean_neighbors > USUAL_NEIGHBORS ? e->mean_neighbors - USUAL_NEIGHBORS
                                                           : 0.0;
  return time_uncrowded_spatial (e) + lesser (4.0 * crowd, 200.0) * e->n;
}

/* Moves the boxes together by class, decides each class as a frame of its own, and sorts the kept
 * boxes. The estimate assumes that all classes have the same number of boxes. */
static double
time_by_class (const estimate *e)
{
  estimate part = *e;

  if (!e->classes || e->grouped || e->cap < e->n)
    return INFINITY;
  part.classes = 0;
  part.n = part.cap = part.first = e->n * e->same;
  part.ranked = e->ranked * e->same;
  part.all = e->all * e->same;
  part.kept = e->kept * e->same;
  return 1000.0 + 6.0 * e->n + 12.0 * e->kept
      + lesser (time_sequential (&part), time_spatial (&part)) / e->same;
}

int
nms__auto_choose (nms__frame *f)
{
  size_t best = 0;
  if (f->count <= TABLE_MOST)
    return f->count <= SWEEP_BEST && !f->class_id ? NMS_ENGINE_SORTED : NMS_ENGINE_SEQUENTIAL;
  const estimate e = estimate_frame (f);
  const double time[] = { [NMS_ENGINE_AUTO] = time_by_class (&e),
    [NMS_ENGINE_SEQUENTIAL] = time_sequential (&e),
    [NMS_ENGINE_SORTED] = time_sorted (&e),
    [NMS_ENGINE_SPATIAL] = time_spatial (&e) };
  for (size_t i = 1; i < sizeof time / sizeof *time; i++)
    best = time[i] < time[best] ? i : best;
  f->pair_budget = (uint64_t) (BUDGET * time_uncrowded_spatial (&e) * e.lanes / PAIR_TEST);
  return (int) best;
}
