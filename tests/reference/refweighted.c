/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* refweighted: method weighted, with the words of ensemble-boxes's source. */
#include "refclusters.h"
#include "refoverlap.h"

#include <stdlib.h>

/* A cluster while boxes join it. */
typedef struct {
  RefCluster cluster;
  RefBox fused;
  size_t members;
  float conf;                /* sum of the scores */
  float best;                /* greatest score */
  float sum[4];              /* of the corners times the scores */
  float weights;             /* sum of the members' source weights */
  bool has[NMS_MAX_SOURCES]; /* sources of the members */
} Fusion;

static size_t
source_count (const nms_options *o)
{
  return o->source_count ? o->source_count : 1;
}

static float
weight_of (const nms_options *o, size_t source)
{
  return o->source_weights ? o->source_weights[source] : 1.0f;
}

/* Sums the weights of the sources from which the fusion has a box, or of the others. */
static float
weights_of (const nms_options *o, const Fusion *f, bool has)
{
  float sum = 0.0f;

  for (size_t s = 0; s < source_count (o); s++)
    if (f->has[s] == has)
      sum += weight_of (o, s);
  return sum;
}

static float
all_weights (const nms_options *o)
{
  float sum = 0.0f;

  for (size_t s = 0; s < source_count (o); s++)
    sum += weight_of (o, s);
  return sum;
}

static float
greatest_weight (const nms_options *o)
{
  float most = weight_of (o, 0);

  for (size_t s = 1; s < source_count (o); s++)
    most = weight_of (o, s) > most ? weight_of (o, s) : most;
  return most;
}

static float
fused_score (const nms_options *o, const Fusion *f)
{
  float n = (float) f->members, mean = f->conf / n;
  size_t least = f->members < source_count (o) ? f->members : source_count (o);

  switch (o->fused_score) {
    case NMS_FUSED_MAX:
      return f->best / greatest_weight (o);
    case NMS_FUSED_BOX_AND_MODEL_AVG:
      return mean * n / f->weights * weights_of (o, f, true) / all_weights (o);
    case NMS_FUSED_ABSENT_MODEL_AWARE_AVG:
      return mean * n / (f->weights + weights_of (o, f, false));
    default:
      return mean * (float) least / all_weights (o);
  }
}

/* Adds box i to a fusion, whose first member it may be. */
static void
join (const RefCall *call, int32_t i, Fusion *f)
{
  const RefBox *box = &call->list[i];

  if (f->members == 0) {
    f->cluster.head = i;
    f->fused = *box;
    f->best = box->score;
  }
  f->members++;
  f->conf += box->score;
  f->weights += weight_of (call->options, (size_t) box->source);
  f->has[box->source] = true;
  const RefBox turned = ref_turn (&f->fused, box, false);
  const float corners[4] = { turned.x1, turned.y1, turned.x2, turned.y2 };
  float mean[4];
  for (int c = 0; c < 4; c++) {
    f->sum[c] += box->score * corners[c];
    mean[c] = f->sum[c] / f->conf;
  }
  if (f->members > 1) {
    ref_turn_back (&f->fused, mean);
    f->fused.x1 = mean[0];
    f->fused.y1 = mean[1];
    f->fused.x2 = mean[2];
    f->fused.y2 = mean[3];
  }
}

/* Returns the fusion that box i joins: of those that it overlaps the one with the greatest
 * metric; the new one behind the last if there is none. */
static Fusion *
find (const RefCall *call, int32_t i, Fusion *fusions, size_t count)
{
  Fusion *best = &fusions[count];
  float most = 0.0f;

  for (size_t c = 0; c < count; c++) {
    const RefBox *fused = &fusions[c].fused;
    float value = ref_metric (&call->list[i], fused, call->options->metric);
    if (ref_comparable (call, (size_t) i, (size_t) fusions[c].cluster.head)
        && ref_joins (call, (size_t) i, fused) && (best == &fusions[count] || value > most)) {
      best = &fusions[c];
      most = value;
    }
  }
  return best;
}

/* Completes the fusions to clusters by descending score; of equal scores the lower head is
 * first. */
static void
complete (const nms_options *o, Fusion *fusions, size_t count, RefCluster *clusters)
{
  for (size_t n = 0; n < count; n++) {
    const RefBox *fused = &fusions[n].fused;
    RefCluster c = { fusions[n].cluster.head, fused_score (o, &fusions[n]),
      { fused->x1, fused->y1, fused->x2, fused->y2 } };
    size_t place = n;

    for (; place
         && (clusters[place - 1].score < c.score
             || (clusters[place - 1].score == c.score && clusters[place - 1].head > c.head));
         place--)
      clusters[place] = clusters[place - 1];
    clusters[place] = c;
  }
}

/* Multiplies the scores by the weights of their sources. */
static void
weigh (RefCall *call)
{
  for (size_t i = 0; i < call->count; i++)
    if (ref_takes_part (call, i))
      call->list[i].score = ref_weight_of (
          call->list[i].score * weight_of (call->options, (size_t) call->list[i].source));
}

void
ref_run_weighted (const RefCall *given, RefResult *result)
{
  RefCall call = *given;
  size_t length, count = 0;
  int32_t *of = ref_allocate (call.count, sizeof *of);
  RefCluster *clusters = ref_allocate (call.count, sizeof *clusters);
  Fusion *fusions = ref_allocate (call.count + 1, sizeof *fusions);

  weigh (&call);
  int32_t *order = ref_order (&call, &length);
  for (size_t i = 0; i < call.count; i++)
    of[i] = -1;
  for (size_t n = 0; n < length; n++) {
    Fusion *f = find (&call, order[n], fusions, count);
    join (&call, order[n], f);
    of[order[n]] = f->cluster.head;
    count += f == &fusions[count];
  }
  complete (call.options, fusions, count, clusters);
  ref_enter_clusters (&call, clusters, count, of, result);
  free (order);
  free (fusions);
  free (clusters);
  free (of);
}
