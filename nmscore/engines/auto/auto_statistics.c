/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * auto_facts: how many boxes of a frame will be kept, and after how many looks,
 * estimated from the partners of some of them. Partners are counted among as
 * many boxes as show a few, or all: a box of a crowd shows them soon, and where
 * a box has five partners among ten thousand only ten thousand tell.
 */
#include "auto_statistics.h"

#define ENOUGH 8     /* partners of a box */
#define STEPS 6      /* of the integral over ranks */
#define WALK_LEAST 2048 /* boxes for which the integral is worth its time */
#define TWINS 16     /* pairs of one class */
#define PLACES 16    /* boxes looked at for the grid */

static size_t
greatest_divisor (size_t a, size_t b)
{
  while (b) {
    size_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

void
nms__sample_judge (nms__sample *s, const nms__frame *f, double prior, double factor)
{
  const double rest = (double) f->count - (double) NMS__BLOCK;
  size_t seen = 0, found = 0;

  for (size_t k = 0; k < s->count; k++) {
    found += s->box[k].found;
    seen += s->box[k].seen;
  }
  /* so many boxes to a partner */
  const double usual = (double) seen / ((double) found + 0.5);
  for (size_t k = 0; k < s->count; k++) {
    const nms__sampled *b = &s->box[k];
    s->degree[k] = (double) b->found_around;
    if (rest > 0.0 && seen)
      s->degree[k] += rest * ((double) b->found + prior)
          / ((double) (b->seen ? b->seen : 1) + prior * usual);
    s->degree[k] *= factor;
  }
  for (size_t k = 0; k < s->count; k++)
    found += s->box[k].found_around;
  s->hits = found;
}

/* Of the block from `first` on. */
static size_t
count_partners (const nms__frame *f, size_t first, size_t pos, size_t *others)
{
  const nms__columns columns = { f->x1, f->y1, f->x2, f->y2, f->scaled, f->class_id };
  const nms__box box = nms__frame_box (f, pos);

  *others = f->count - first < NMS__BLOCK ? f->count - first : NMS__BLOCK;
  uint64_t mask = f->kernels->overlap_block (&columns, first, *others, &box,
      &f->bounds, NULL);
  if (pos - first < *others) /* unsigned: not before it either */
    mask &= ~((uint64_t) 1 << (pos - first));
  return nms__count_bits (mask);
}

void
nms__sample_start (nms__sample *s, const nms__frame *f, size_t count)
{
  size_t others;

  s->count = count;
  s->blocks = (f->count + NMS__BLOCK - 1) / NMS__BLOCK;
  s->stride = s->blocks * 5 / 8 + 1; /* all over the frame */
  while (s->blocks > 2 && greatest_divisor (s->blocks, s->stride) > 1)
    s->stride++;
  for (size_t k = 0; k < count; k++) {
    const size_t pos = (2 * k + 1) * f->count / (2 * count);
    size_t first = pos < NMS__BLOCK / 2 ? 0 : pos - NMS__BLOCK / 2;
    if (f->count < NMS__BLOCK)
      first = 0;
    else if (first > f->count - NMS__BLOCK)
      first = f->count - NMS__BLOCK;
    s->box[k] = (nms__sampled) { .pos = pos, .next = pos / NMS__BLOCK };
    s->box[k].found_around = count_partners (f, first, pos, &others);
  }
}

size_t
nms__sample_more (nms__sample *s, const nms__frame *f, size_t blocks)
{
  size_t looks = 0, others;

  for (size_t k = 0; k < s->count; k++) {
    nms__sampled *b = &s->box[k];
    const size_t end = b->blocks + blocks < s->blocks ? b->blocks + blocks : s->blocks;
    for (; b->blocks < end && b->found < ENOUGH; b->blocks++, looks++) {
      b->next += b->next + s->stride < s->blocks ? s->stride : s->stride - s->blocks;
      if (b->next == b->pos / NMS__BLOCK)
        continue; /* has been seen */
      b->found += count_partners (f, b->next * NMS__BLOCK, b->pos, &others);
      b->seen += others;
    }
  }
  return looks;
}

/* value^(-1/8), to some percent: of the bits, which are much like a logarithm. */
static double
eighth_root_under (double value)
{
  const uint32_t one = nms__float_bits (1.0f);
  return (double) nms__float_of_bits (one + (one - nms__float_bits ((float) value)) / 8);
}

/* Of the best m boxes so many are kept, and the next one is with a chance that
 * goes to *chance. In a random order a box with d partners is kept with a
 * probability of 1 / (1 + d) if they are each other's partners, and more the
 * less they are: between detectors' clusters and boxes all over the place,
 * (1 + d)^(-7/8) is off by less than a half for both. */
static double
kept_of (const nms__sample *s, double n, double m, double *chance)
{
  double sum = s->loners, next = s->loners;

  for (size_t i = 0; i < s->count; i++) {
    const double part = 1.0 / (1.0 + s->degree[i] * (m / n));
    sum += part;
    next += part * part;
  }
  sum /= (double) s->count + s->loners;
  next /= (double) s->count + s->loners;
  const double more = eighth_root_under (sum);
  *chance = more * (0.125 * sum + 0.875 * next);
  return m * sum * more;
}

/* Boxes that all have the same number of partners: the cap is full at a rank
 * that can be told, about. */
static void
rank_of_alike (nms__facts *facts, double partners, double cap)
{
  const double n = facts->n, part = partners * cap / n;

  facts->kept = cap;
  facts->examined = cap + part * cap < n ? cap + part * cap : n;
  /* of the boxes that remain when all are kept */
  facts->alive = n * cap * (1.0 + 0.25 * part) / (1.0 + part);
  facts->pairs = 0.5 * facts->examined * cap;
}

/* Walks down the ranks until the cap is full: the higher, the finer. */
static void
walk_ranks (nms__facts *facts, const nms__sample *s, double cap)
{
  const double n = facts->n;
  double chance, rank = 0.0, kept = 0.0, square = 1.0, ends = 0.0, sum = 0.0;

  for (int i = 1; i <= STEPS && kept < cap; i++) {
    const double u = (double) i / STEPS, next = i < STEPS ? n * u * u * u * u : n;
    const double then = kept_of (s, n, next, &chance);
    const double part = then > cap ? (cap - kept) / (then - kept) : 1.0;
    const double step = (next - rank) * part;
    const double squares = square + (chance * chance - square) * part;
    sum += 0.5 * step * (square + squares);
    ends += 0.5 * step * (square * rank + squares * (rank + step));
    rank += step;
    kept = part < 1.0 ? cap : then;
    square = squares;
  }
  facts->kept = kept;
  facts->examined = rank;
  facts->alive = n * sum - ends;
  facts->pairs = rank * sum - ends;
}

void
nms__facts_estimate (nms__facts *facts, nms__sample *s, double cap)
{
  const double n = facts->n;
  double chance;

  /* Boxes with many partners hide those few without that fill a low cap: as many
   * are taken for granted as a sample of this size can well have missed. */
  s->loners = s->count > 1 && facts->wave < n ? 0.5 : 0.0;
  facts->all = kept_of (s, n, n, &chance);
  facts->all = facts->all < 1.0 ? 1.0 : facts->all > n ? n : facts->all;
  if (s->count == 1 && cap < facts->all && cap <= facts->room) {
    rank_of_alike (facts, s->degree[0], cap);
    return;
  }
  if ((cap < facts->all && cap <= facts->room) || (n >= WALK_LEAST && !facts->slots)) {
    walk_ranks (facts, s, cap);
    return;
  }
  facts->kept = facts->all < facts->room ? facts->all : facts->room;
  nms__facts_of_all_ranks (facts);
}

/* How many boxes the caps of the classes let be kept at most. */
static double
class_room (const nms__frame *f)
{
  double room = 0.0;

  for (uint32_t i = 1; f->class_entry && i < f->classes.count; i++) {
    room += (double) f->classes.entry[i].cap;
    if (room >= (double) f->count)
      break;
  }
  return f->class_entry && room < (double) f->count ? room : (double) f->count;
}

/* The share of boxes that are of a box's class, itself included: of so many boxes
 * all over the frame that some pairs of them are of one class. */
void
nms__facts_of_classes (nms__facts *facts, const nms__frame *f)
{
  const size_t most = f->count < 450 ? f->count * 7 / 16 : 200;
  uint8_t count[512] = { 0 };
  uint32_t twins = 0, at = 0, n = 0;

  for (; n < most && twins < TWINS; n++, at += 0x9e3779b9u) { /* of one period with no frame */
    const size_t pos = (size_t) ((uint64_t) at * f->count >> 32);
    const uint32_t id = (uint32_t) f->class_id[pos];
    twins += count[(id ^ id >> 9 ^ id >> 18) % 512]++;
  }
  const double pairs = 0.5 * (double) n * ((double) n - 1.0), all = (double) f->count;
  const double same = ((double) twins + 0.5) / (pairs + 1.0);
  facts->same = (1.0 + (all - 1.0) * same) / all;
}

void
nms__facts_start (nms__facts *facts, const nms__frame *f)
{
  const double n = (double) f->count;

  *facts = (nms__facts) { .n = n, .grouped = f->class_id != NULL, .slots = f->class_entry != NULL,
    .noting = f->suppressed_by != NULL, .few = (double) f->kernels->few, .wave = n,
    .room = class_room (f), .same = f->class_id ? 1.0 / n : 1.0, .levels = 1.0, .near = 0.0 };
  if (nms__sorts_in_batches (f))
    facts->wave = n * (1.0 + (double) nms__batch_rank (f->count, nms__first_batch (f)))
        / NMS__BATCH_SAMPLES;
}

/* How wide the classes of area are, and in how many of those that there are a
 * box looks: see set_size_classes. */
static double
level_width (double reach, double range)
{
  const double width = reach < 2.0 ? 8.0 * reach : 6.0, least = range / (NMS__SIZES - 4) + 0.125;
  return width > least ? width : least;
}

/* The whole number below one that is more than -NMS__SIZES. (floor is of libm.) */
static double
whole (double a)
{
  return (double) (int) (a + NMS__SIZES) - NMS__SIZES;
}

static double
levels_asked (double area, double reach, double width, double least, double most)
{
  const double begin = 0.5 * (least + most - width);
  const double low = area - reach > least ? area - reach : least;
  const double high = area + reach < most ? area + reach : most;
  return 1.0 + whole ((high - begin) / width) - whole ((low - begin) / width);
}

static double
lesser (double a, double b)
{
  return a < b ? a : b;
}

/* The binary logarithm, about. */
static double
octaves (float a)
{
  return (double) nms__float_bits (a) * 0x1p-23;
}

void
nms__facts_of_places (nms__facts *facts, const nms__frame *f)
{
  /* as in spatial_grid.c, set_reach */
  const double factor = f->bounds.factor, limit = factor / (1.0 - factor);
  const double distance = 0.5 * (limit < 1.0 ? (1.0 - limit) / (1.0 + limit) : 0.0);
  const double sides = limit > 0.0 ? 1.0 / limit : INFINITY;
  const double reach = limit > 0.0 ? -octaves ((float) limit) + octaves (1.0f) : 64.0;
  const double aspect = 2.0 * (reach - 1.0 + octaves ((float) (1.0 + limit)) - octaves (1.0f));
  double x[PLACES], y[PLACES], area[PLACES], w[PLACES], h[PLACES], area_of[PLACES];
  double most_w = 0.0, most_h = 0.0, sum_w = 0.0, sum_h = 0.0;
  double near = 0.0, tested = 0.0, levels = 0.0, unusual = 0.0;
  size_t n = 0;

  for (size_t k = 0; k < PLACES; k++) {
    const size_t pos = (2 * k + 1) * f->count / (2 * PLACES);
    w[n] = (double) f->x2[pos] - (double) f->x1[pos];
    h[n] = (double) f->y2[pos] - (double) f->y1[pos];
    if (!(w[n] > 0.0 && h[n] > 0.0))
      continue;
    area_of[n] = octaves ((float) (w[n] * h[n]));
    sum_w += w[n];
    sum_h += h[n];
    most_w = w[n] > most_w ? w[n] : most_w;
    most_h = h[n] > most_h ? h[n] : most_h;
    nms__insert_sorted (x, n, 0.5 * ((double) f->x1[pos] + (double) f->x2[pos]));
    nms__insert_sorted (y, n, 0.5 * ((double) f->y1[pos] + (double) f->y2[pos]));
    nms__insert_sorted (area, n, area_of[n]);
    n++;
  }
  facts->near = facts->around = 0.0;
  facts->levels = 1.0;
  facts->unusual = 0.0;
  facts->flat = (double) (PLACES - n) / PLACES;
  if (n < 4)
    return;
  const double wide = x[n - 2] - x[1], high = y[n - 2] - y[1];
  const double width = level_width (reach, area[n - 1] - area[0]);
  const double both = nms__mean_reach (distance, limit);
  const double cell_x = NMS__CELL_X * both * sum_w / (double) n;
  const double cell_y = NMS__CELL_Y * both * sum_h / (double) n;
  for (size_t i = 0; i < n; i++) {
    const double far_x = 2.0 * distance * (w[i] + lesser (w[i] * sides, most_w));
    const double far_y = 2.0 * distance * (h[i] + lesser (h[i] * sides, most_h));
    size_t alike = 0;
    for (size_t j = 0; j < n; j++)
      alike += fabs (area[j] - area_of[i]) <= reach + 0.5 * width;
    near += (double) alike * lesser (far_x / wide, 1.0) * lesser (far_y / high, 1.0);
    tested += (double) alike * lesser ((far_x + cell_x) / wide, 1.0)
        * lesser ((far_y + cell_y) / high, 1.0);
    const double asked = levels_asked (area_of[i], reach, width, area[0], area[n - 1]);
    levels += asked;
    unusual += asked > 1.0
        || fabs (octaves ((float) (w[i] / h[i])) - octaves (1.0f)) + aspect
        > NMS__ASPECT_OCTAVES / 2.0; /* so far the usual level reaches each way */
  }
  facts->near = facts->n * near / (double) (n * n);
  facts->around = facts->n * (tested - near) / (double) (n * n);
  facts->levels = levels / (double) n;
  facts->unusual = unusual / (double) n;
}
