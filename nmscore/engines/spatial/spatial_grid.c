/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spatial_grid: plans the cells of the grid, so that the boxes that may exceed the limit with
 * a given box lie in a few short runs of cells. It is made for ten thousand to ten million
 * boxes in any layout.
 *
 * For boxes whose IoU exceeds t, in real numbers:
 *   area     the smaller area is more than t times the greater one
 *   sides    on each axis the smaller side is more than t times the greater one
 *   aspect   width / height differs by a factor of less than ((1 + t) / 2t)^2; crossed
 *            boxes are the worst case
 *   centres  their distance on each axis is less than (1-t) / (1+t) times half the sum of
 *            the sides; boxes with equal extents on the other axis are the worst case
 * Rounding changes a computed IoU by less than 1e-6; t is taken 1e-5 lower. With t = 0 only
 * the rule of the centres remains: less than half the sum.
 *
 * Therefore the grid has levels by area and aspect. The cells of a level are as large as the
 * reach of its boxes, and a query needs two or three rows of cells in one or two levels.
 * Cells are numbered row by row, and the numbers wrap around at the number of boxes or
 * before. So memory is bounded whatever the coordinates, and boxes that share a cell only by
 * wrapping cost tests but change no result. The boxes of a cell and of the next cells in its
 * row are consecutive in memory. Boxes without area are in no cell.
 *
 * Coordinates could be chosen so that all boxes share one cell by wrapping. Therefore cells are
 * numbered consecutively only within a tile, whose numbers wrap around at most WRAPS times, and
 * each tile begins at a number that depends on the secret of the context. The boxes of usual
 * frames lie in one tile.
 */
#include "spatial_grid.h"

#include <math.h>

#define SAMPLE 64          /* boxes that are sampled to choose levels and rows */
#define MEAN_SAMPLE 4096   /* boxes that are sampled to choose the size of cells */
#define STEPS_PER_OCTAVE 8 /* entries of nms__grid.size_of for each factor of two */
#define WRAPS 16.0
#define LEAST_COLUMNS 16.0 /* more than most queries need, so that few extend over two tiles */
#define LITTLE 0.25f       /* below this, the limit bounds the sides too loosely */

static void
set_reach (nms__reach *r, const nms__bounds *bounds)
{
  /* the factor of the lowest limit, rounded down; 0 if any intersection exceeds the limit */
  const double factor = bounds->factor;
  const double t = factor / (1.0 - factor) * (1.0 - 1e-5);
  const double aspect = 2.0 * t / (1.0 + t) * (2.0 * t / (1.0 + t)) * (1.0 - 1e-5);

  r->least_area = (float) t;
  r->most_area = t > 0.0 ? (float) (1.0 / t) : INFINITY;
  r->least_aspect = (float) aspect;
  r->most_aspect = aspect > 0.0 ? (float) (1.0 / aspect) : INFINITY;
  r->most_side = r->most_area;
  r->distance = 0.5 * (t < 1.0 ? (1.0 - t) / (1.0 + t) : 0.0) * (1.0 + 1e-5);
}

static inline int
has_area (float w, float h)
{
  return w > NMS__LEAST_EXTENT && h > NMS__LEAST_EXTENT;
}

/* Least, middle and greatest area of the sampled boxes, in steps of size_of. take_sample also
 * sets the rectangle that holds all but the outermost centres. */
typedef struct sample {
  int least, middle, most;
} sample;

static sample
take_sample (nms__grid *g, const nms__frame *f)
{
  double size[SAMPLE], x[SAMPLE], y[SAMPLE];
  size_t n = 0;
  const size_t stride = f->count / SAMPLE + 1;

  for (size_t i = f->secret % stride; i < f->count; i += stride) {
    if (!has_area (f->x2[i] - f->x1[i], f->y2[i] - f->y1[i]))
      continue;
    nms__insert_sorted (size, n,
        nms__float_bits (nms__area (f->x1[i], f->y1[i], f->x2[i], f->y2[i])) >> 20);
    nms__insert_sorted (x, n, 0.5 * ((double) f->x1[i] + f->x2[i]));
    nms__insert_sorted (y, n, 0.5 * ((double) f->y1[i] + f->y2[i]));
    n++;
  }
  memset (g->span, 0, sizeof g->span);
  memset (g->middle, 0, sizeof g->middle);
  if (!n)
    return (sample) { 0, 0, 0 };
  const size_t out = n / 32;
  g->span[0] = (x[n - 1 - out] - x[out]) * 1.1;
  g->span[1] = (y[n - 1 - out] - y[out]) * 1.1;
  g->middle[0] = 0.5 * (x[n - 1 - out] + x[out]);
  g->middle[1] = 0.5 * (y[n - 1 - out] + y[out]);
  return (sample) { (int) size[0], (int) (size[n - 1 - out] + size[out]) / 2, (int) size[n - 1] };
}

/* Sets the size classes. They are eight times as wide as the reach, so that most queries need
 * one class. Where that is too wide, because the limit is low, they are narrow, which bounds
 * the sides. The middle of the sample is in the middle of a class. */
static void
set_size_classes (nms__grid *g, sample s)
{
  const float t = g->reach.least_area;
  int width = 6 * STEPS_PER_OCTAVE;

  if (t > LITTLE)
    width = (int) ((nms__float_bits (1.0f) - nms__float_bits (t)) >> 20) * STEPS_PER_OCTAVE;
  if (width < (s.most - s.least) / (NMS__SIZES - 4) + 1)
    width = (s.most - s.least) / (NMS__SIZES - 4) + 1;
  if (width < 2)
    width = 2;
  /* the first and the last class hold the areas outside of the sample */
  int begin = s.middle - width / 2;
  while (begin > s.least)
    begin -= width;
  begin -= width * ((NMS__SIZES - (s.most - begin) / width) / 2);
  g->size_begin = begin;
  g->size_width = width;
  for (int i = 0; i < 2048; i++) {
    int class = i < begin ? 0 : (i - begin) / width;
    g->size_of[i] = (uint8_t) (class < NMS__SIZES ? class : NMS__SIZES - 1);
  }
}

/* Sets the aspect classes. The middle one holds 2^-3 .. 2^3. */
static void
set_aspect_classes (nms__grid *g)
{
  for (int i = 0; i < 256; i++) {
    int octave = i - 127 + NMS__ASPECT_OCTAVES / 2 + NMS__ASPECT_OCTAVES * (NMS__ASPECTS / 2);
    int class = octave < 0 ? 0 : octave / NMS__ASPECT_OCTAVES;
    g->aspect_of[i] = (uint8_t) (class < NMS__ASPECTS ? class : NMS__ASPECTS - 1);
  }
}

/* Returns whether this box and no other suppress each other: within its class the limit is above
 * 1. */
static inline int
stands_apart (const nms__frame *f, size_t i)
{
  return f->class_entry && f->class_id && !f->grouped && nms__candidate_limit (f, i) > 1.0;
}

/* Writes the level of each box and counts the boxes of each level. */
static void
count_levels (nms__grid *g, const nms__frame *f, uint16_t *level_of)
{
  const size_t stride_mask = f->count / MEAN_SAMPLE;
  size_t next_sample = 0;

  if (!f->class_entry && f->limit > 1.0) { /* no IoU exceeds the limit */
    memset (level_of, 0xff, f->count * sizeof *level_of);
    return;
  }
  for (size_t i = 0; i < f->count; i++) {
    float w = f->x2[i] - f->x1[i], h = f->y2[i] - f->y1[i];
    if (!has_area (w, h) || stands_apart (f, i)) {
      level_of[i] = NMS__NO_LEVEL;
      continue;
    }
    unsigned size = nms__size_class (g, w * h);
    unsigned aspect = nms__aspect_class (g, w / h);
    unsigned number = size * NMS__ASPECTS + aspect;
    nms__level *l = &g->level[number];
    level_of[i] = (uint16_t) number;
    if (i >= next_sample || !(g->occupied[size] >> aspect & 1)) {
      g->occupied[size] |= (uint16_t) (1u << aspect);
      l->mean_w += w; /* sums, which set_level divides */
      l->mean_h += h;
      l->most_w += 1.0f;
      next_sample = i + stride_mask + 1;
    }
    l->count[i & 1]++;
  }
}

/* Sets the largest sides that a level's area and aspect allow. */
static void
set_most_sides (const nms__grid *g, nms__level *l, unsigned size, unsigned aspect)
{
  const double slack = 1.0 + 1e-5;
  const double area = (double) nms__least_area_of (g, size + 1) * slack;
  const double wide = (double) nms__least_aspect_of (aspect + 1) * slack;
  const double high = 1.0 / (double) nms__least_aspect_of (aspect) * slack;

  l->most_w = (float) sqrt (area * wide);
  l->most_h = (float) sqrt (area * high);
}

/* Finds the largest sides of each level's boxes. This pass saves time only if the limit is so low
 * that just the sides bound the distance of boxes that may exceed it. */
static void
find_most_sides (nms__grid *g, const nms__frame *f, const uint16_t *level_of)
{
  for (size_t i = 0; i < f->count; i++) {
    if (level_of[i] == NMS__NO_LEVEL)
      continue;
    nms__level *l = &g->level[level_of[i]];
    float w = f->x2[i] - f->x1[i], h = f->y2[i] - f->y1[i];
    l->most_w = w > l->most_w ? w : l->most_w;
    l->most_h = h > l->most_h ? h : l->most_h;
  }
}

/* Returns the least b with 2^b >= n. */
static unsigned
bits_for (double n)
{
  unsigned b = 0;
  while (b < 63 && (double) (UINT64_C (1) << b) < n)
    b++;
  return b;
}

/* Returns the number of cells of a level: the cells of its span, at least a 16th and at most
 * all of the number of boxes, because the sample may miss boxes outside. If boxes have class
 * ids it is the number of boxes, because each class has cells of its own. */
static uint32_t
cells_for (uint32_t boxes, double span, int by_class)
{
  if (by_class || span >= boxes)
    return boxes;
  return span > boxes / 16 ? (uint32_t) span : boxes / 16;
}

/* Sets the size and the origin of the tiles of a level with 2^bits cells. The first tile has at
 * least twice the columns and rows of the rectangle that holds most centres, or fewer so that its
 * cell numbers wrap around at most WRAPS times. `rows`: number of rows of the rectangle. */
static void
set_tiles (const nms__grid *g, nms__level *l, unsigned bits, double rows)
{
  const unsigned columns = bits_for (2.0 * (double) l->columns);
  const double fit = WRAPS * (double) (l->mask + UINT64_C (1)) / (double) l->columns;

  l->tile_bits[0] = (uint8_t) (columns < bits ? columns : bits);
  l->tile_bits[1] = (uint8_t) bits_for (2.0 * rows < fit ? 2.0 * rows : 0.5 * fit);
  l->shift = (uint8_t) (bits ? 64 - bits : 63);
  for (int axis = 0; axis < 2; axis++) {
    const uint64_t cells = UINT64_C (1) << l->tile_bits[axis];
    const double middle = g->middle[axis] * l->per[axis];
    l->tile_mask[axis] = cells - 1;
    l->origin[axis] = fabs (middle) < 0x1p50 ? rint (middle) - (double) (cells / 2) : 0.0;
  }
}

static void
set_level (nms__grid *g, nms__level *l, int by_class)
{
  const uint32_t count = l->count[0] + l->count[1];
  const double samples = l->most_w;
  const double both = nms__mean_reach (g->reach.distance, (double) g->reach.least_area);

  l->mean_w = (float) (l->mean_w / samples);
  l->mean_h = (float) (l->mean_h / samples);
  l->per[0] = 1.0 / (NMS__CELL_X * both * (double) l->mean_w);
  l->per[1] = 1.0 / (NMS__CELL_Y * both * (double) l->mean_h);
  double columns = g->span[0] * l->per[0] + 3.0;
  columns = columns > LEAST_COLUMNS ? columns : LEAST_COLUMNS;
  l->columns = (uint64_t) (columns < 0x1p40 ? columns : 0x1p40);
  const double rows = g->span[1] * l->per[1] + 3.0;
  const unsigned bits = bits_for (cells_for (count, (double) l->columns * rows, by_class));
  l->mask = (UINT32_C (1) << bits) - 1;
  set_tiles (g, l, bits, rows);
  l->first = g->cells;
  g->cells += l->mask + 1;
}

static void
set_levels (nms__grid *g, int by_class)
{
  g->cells = 0;
  for (unsigned size = 0; size < NMS__SIZES; size++)
    for (unsigned a = 0; a < NMS__ASPECTS; a++)
      if (g->occupied[size] >> a & 1) {
        nms__level *l = &g->level[size * NMS__ASPECTS + a];
        set_level (g, l, by_class);
        if (g->reach.least_area < LITTLE)
          l->most_w = l->most_h = 0.0f; /* find_most_sides sets them */
        else
          set_most_sides (g, l, size, a);
      }
}

void
nms__grid_plan (nms__grid *g, const nms__frame *f, uint16_t *level)
{
  memset (g->occupied, 0, sizeof g->occupied);
  memset (g->level, 0, sizeof g->level);
  set_reach (&g->reach, &f->bounds);
  set_size_classes (g, take_sample (g, f));
  set_aspect_classes (g);
  g->factor[0] = nms__secret_factor (f->secret, 1);
  g->factor[1] = nms__secret_factor (f->secret, 2);
  g->class_factor = f->class_id ? nms__secret_factor (f->secret, 3) : 0;
  count_levels (g, f, level);
  set_levels (g, f->class_id != NULL);
  if (g->reach.least_area < LITTLE)
    find_most_sides (g, f, level);
}
