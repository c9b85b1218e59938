/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * autofit: what engine `auto` would estimate of a frame is replaced by what came
 * out, as far as results tell; then the prices are those that make the terms of
 * all frames come closest to the times, none negative. Errors count by their
 * ratio to the time, and large ones less than by their square.
 */
#include "autofit.h"

#include "engines/auto/auto_statistics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CURIOUS 4.0 /* times the best: what takes longer need not be known well */
#define LARGE 0.15  /* errors */

typedef struct {
  double (*terms)[NMS__TERMS]; /* over the time */
  size_t count, room;
} Rows;

static Rows rows[NMS__WAYS];

static void
add_row (nms__way way, const nms__facts *facts, double time)
{
  Rows *r = &rows[way];

  if (r->count == r->room) {
    r->room = 2 * r->room + 64;
    r->terms = realloc (r->terms, r->room * sizeof *r->terms);
    if (!r->terms)
      abort ();
  }
  nms__terms_of (facts, way, r->terms[r->count]);
  for (int i = 0; i < NMS__TERMS; i++)
    r->terms[r->count][i] /= time;
  r->count++;
}

/* How many boxes each kept one suppresses, of the first `examined` ranks. */
static double
sum_alive (const nms_result *all, size_t count, size_t kept, double boxes)
{
  size_t *rank = calloc (count + 1, sizeof *rank), *gone = calloc (count + 1, sizeof *gone);
  double sum = 0.0;

  if (!rank || !gone)
    abort ();
  for (size_t k = 0; k < all->kept_count; k++)
    rank[all->kept[k]] = k;
  for (size_t i = 0; i < count; i++)
    if (all->outcome[i] == NMS_SUPPRESSED)
      gone[rank[all->suppressed_by[i]]]++;
  for (size_t k = 0; k < kept && k < all->kept_count; k++) {
    sum += boxes;
    boxes -= (double) gone[k] + 1.0;
  }
  free (rank);
  free (gone);
  return sum;
}

static int
ascending (const void *a, const void *b)
{
  const int32_t x = *(const int32_t *) a, y = *(const int32_t *) b;
  return (x > y) - (x < y);
}

/* The share of boxes that are of a box's class. */
static double
share_of_class (const nms__frame *f)
{
  int32_t *group = malloc (f->count * sizeof *group);
  double sum = 0.0;

  if (!group)
    abort ();
  memcpy (group, f->class_id, f->count * sizeof *group);
  qsort (group, f->count, sizeof *group, ascending);
  for (size_t i = 0, end; i < f->count; i = end) {
    for (end = i; end < f->count && group[end] == group[i];)
      end++;
    sum += (double) (end - i) * (double) (end - i);
  }
  free (group);
  return sum / ((double) f->count * (double) f->count);
}

/* The pairs that a walk down the ranks tests. */
static double
sum_pairs (const nms_result *r, size_t count)
{
  size_t *rank = calloc (count + 1, sizeof *rank);
  double sum = 0.0;

  if (!rank)
    abort ();
  for (size_t k = 0; k < r->kept_count; k++) {
    rank[r->kept[k]] = k;
    sum += (double) k;
  }
  for (size_t i = 0; i < count; i++)
    if (r->outcome[i] == NMS_SUPPRESSED)
      sum += (double) rank[r->suppressed_by[i]] + 1.0;
  free (rank);
  return sum;
}

void
autofit_add (nms_context *ctx, const nms_boxes *boxes, const nms_options *asked,
    const double us[ENGINES])
{
  nms_options options = *asked;
  nms_result result = { .size = sizeof result };
  nms__facts facts;
  double best = us[1], alive;

  for (int e = 2; e < ENGINES; e++)
    best = us[e] < best ? us[e] : best;
  options.outputs = NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY;
  options.max_detections = options.max_per_class = 0;
  nms_run (ctx, boxes, &options, &result);
  const double all = (double) result.kept_count;
  if (result.filtered_count || boxes->count <= 8)
    return; /* what filtering takes is no engine's */
  options.max_detections = asked->max_detections;
  options.max_per_class = asked->max_per_class;
  {
    nms_context *other = nms_context_new ();
    nms_result capped = { .size = sizeof capped };
    nms_run (other, boxes, &options, &capped);
    alive = sum_alive (&result, boxes->count, capped.kept_count, (double) boxes->count);
    nms_context_free (&other);
  }
  nms_run (ctx, boxes, &options, &result);
  const double pairs = sum_pairs (&result, boxes->count);
  const double kept = (double) result.kept_count;
  const double examined = (double) (boxes->count - result.over_cap_count);

  /* engine sorted leaves the columns as they were */
  options.outputs = asked->outputs;
  options.engine = NMS_ENGINE_SORTED;
  nms_run (ctx, boxes, &options, &result);
  const nms__frame *f = &ctx->frame;
  nms__facts_start (&facts, f);
  if (f->class_id)
    facts.same = share_of_class (f);
  facts.all = all;
  facts.kept = kept;
  facts.examined = examined;
  facts.alive = alive;
  facts.pairs = pairs;
  if (facts.slots && asked->max_detections > 0 && kept >= (double) asked->max_detections)
    return; /* no telling which cap boxes are over */
  if (facts.slots)
    nms__facts_of_all_ranks (&facts);
  if (us[1] < CURIOUS * best)
    add_row (nms__auto_sequential_way (f), &facts, us[1] * 1e3);
  if (us[2] < CURIOUS * best)
    add_row (nms__auto_sorted_way (f, &facts), &facts, us[2] * 1e3);
  if (us[3] < CURIOUS * best) {
    nms__facts_of_places (&facts, f);
    add_row (nms__auto_spatial_way (f), &facts, us[3] * 1e3);
  }
}

/* Of all prices that are not negative, those with the least sum of squares, one
 * after the other until nothing moves. */
static void
solve (const Rows *r, const double *weight, double *price)
{
  double square[NMS__TERMS][NMS__TERMS] = { { 0.0 } }, one[NMS__TERMS] = { 0.0 };

  for (size_t k = 0; k < r->count; k++)
    for (int i = 0; i < NMS__TERMS; i++) {
      one[i] += weight[k] * r->terms[k][i];
      for (int j = 0; j < NMS__TERMS; j++)
        square[i][j] += weight[k] * r->terms[k][i] * r->terms[k][j];
    }
  for (int turn = 0; turn < 5000; turn++)
    for (int i = 0; i < NMS__TERMS; i++) {
      double rest = one[i];
      for (int j = 0; j < NMS__TERMS; j++)
        rest -= square[i][j] * price[j];
      if (square[i][i] > 0.0)
        price[i] = fmax (0.0, price[i] + rest / square[i][i]);
    }
}

/* Returns the deviation. */
static double
fit (const Rows *r, double *price)
{
  double *weight = malloc (r->count * sizeof *weight), sum = 0.0;

  if (!weight)
    abort ();
  for (size_t k = 0; k < r->count; k++)
    weight[k] = 1.0;
  for (int turn = 0; turn < 6; turn++) {
    solve (r, weight, price);
    sum = 0.0;
    for (size_t k = 0; k < r->count; k++) {
      double ratio = 0.0;
      for (int i = 0; i < NMS__TERMS; i++)
        ratio += r->terms[k][i] * price[i];
      sum += (ratio - 1.0) * (ratio - 1.0);
      weight[k] = 1.0 / fmax (1.0, fabs (ratio - 1.0) / LARGE);
    }
  }
  free (weight);
  return sqrt (sum / (double) r->count);
}

void
autofit_print (const nms_context *ctx)
{
  static const char *const names[] = { "SEQUENTIAL", "SEQUENTIAL_SMALL", "FEW", "LIST", "PILES",
    "PILES_SMALL", "PILES_LIST", "PLACES", "SCORES" };

  printf ("  { /* %s */\n", nms_context_isa (ctx));
  for (int way = 0; way < NMS__WAYS; way++) {
    double price[NMS__TERMS] = { 0.0 };
    if (!rows[way].count)
      continue;
    const double deviation = fit (&rows[way], price);
    printf ("    [NMS__WAY_%s] = { /* %.2f of %zu */\n     ", names[way], deviation,
        rows[way].count);
    for (int i = 0; i < NMS__TERMS; i++)
      printf (" %.3g%s", price[i], i + 1 < NMS__TERMS ? "," : "\n    },\n");
    free (rows[way].terms);
    rows[way] = (Rows) { NULL, 0, 0 };
  }
  printf ("  },\n");
}
