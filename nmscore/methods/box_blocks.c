/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* box_blocks: sorts boxes into blocks along a Z-order curve. */
#include "box_blocks.h"

#include "method.h"
#include "engines/partitions.h"
#include "frame/order.h"
#include "geometry/probiou.h"

#include <math.h>

/* The screen of a row lowers the limit by this: larger than the sum of all rounding errors. */
#define MARGIN 0x1p-19

/* If in an eighth of the blocks the greatest area is more than EVEN_AREAS times the least, the
 * boxes are sorted by classes of their extents, of EXTENT_OCTAVES powers of two, before their
 * places: otherwise a block has boxes of all sizes, and a large bounding box. Keys have no bits for
 * that if there are more than 2^PARTITION_BITS class partitions. */
#define EVEN_AREAS 0x1p16f
#define EXTENT_OCTAVES 4
#define PARTITION_BITS 8

/* The least quotient of the sides of a rotated box with which bounds of ProbIoU are computed. */
#define LEAST_SHAPE 0x1p-30f

/* The columns of up to this many boxes stay in the cache. */
#define CACHED_MOST 131072

/* Boxes whose pairs show whether the boxes of the frame lie in rank order. */
#define SAMPLES 16

/* Returns a number above `count` that is a multiple of NMS__BLOCK. */
static size_t
whole_blocks (size_t count)
{
  return (count / NMS__BLOCK + 1) * NMS__BLOCK;
}

/* Returns the columns without the first n elements. */
static nms__box_columns
columns_behind (const nms__box_columns *c, size_t n)
{
  if (!c->x1)
    return *c;
  return (nms__box_columns) { c->x1 + n, c->y1 + n, c->x2 + n, c->y2 + n, c->scaled + n, NULL };
}

void
nms__box_blocks_take (nms__arena *a, nms__box_blocks *b, size_t boxes)
{
  const size_t padded = boxes + NMS__BLOCK;
  const size_t groups = whole_blocks (padded / NMS__BLOCK);
  const size_t supers = groups + whole_blocks (padded / NMS__GROUP);
  const size_t tiles = supers + padded / NMS__GROUP / NMS__BLOCK + 1;

  nms__take_columns (a, &b->box, padded);
  b->position = nms__take (a, padded, sizeof *b->position);
  b->place = nms__take (a, boxes, sizeof *b->place);
  b->begin = nms__take (a, boxes, sizeof *b->begin);
  b->end = nms__take (a, boxes, sizeof *b->end);
  nms__take_columns (a, &b->bounds, tiles + nms__tiles_most (boxes));
  b->least = nms__take (a, supers, sizeof *b->least);
  b->group_least = b->least ? b->least + groups : NULL;
  b->group_bounds = columns_behind (&b->bounds, groups);
  b->super_bounds = columns_behind (&b->bounds, supers);
  b->tile_bounds = columns_behind (&b->bounds, tiles);
  b->tile = nms__take (a, nms__tiles_most (boxes) + 1, sizeof *b->tile);
  b->box_view = nms__columns_of (&b->box, 0);
  b->bounds_view = b->bounds_by_area = nms__columns_of (&b->bounds, 0);
  b->group_view = b->group_by_area = nms__columns_of (&b->group_bounds, 0);
  b->bounds_by_area.scaled = b->least;
  b->group_by_area.scaled = b->group_least;
  b->keys = nms__take (a, boxes + NMS__KEY_PADDING, sizeof *b->keys);
  b->keys2 = nms__take (a, boxes + NMS__KEY_PADDING, sizeof *b->keys2);
  b->number = nms__take (a, boxes, sizeof *b->number);
}

/* Returns the bits of two numbers below 2^16 in turn, beginning with the lowest bit of x. */
static uint32_t
interleave (uint32_t x, uint32_t y)
{
  uint64_t n = x | (uint64_t) y << 32; /* spreads the bits of both at once */

  n = (n | n << 8) & UINT64_C (0x00ff00ff00ff00ff);
  n = (n | n << 4) & UINT64_C (0x0f0f0f0f0f0f0f0f);
  n = (n | n << 2) & UINT64_C (0x3333333333333333);
  n = (n | n << 1) & UINT64_C (0x5555555555555555);
  return (uint32_t) n | (uint32_t) (n >> 31);
}

/* Writes the sums of two columns, scaled to numbers of `bits` bits, to `cell`. */
static void
scale_sums (const float *low, const float *high, size_t count, unsigned bits, uint32_t *cell)
{
  float least = low[0] + high[0], most = least;

  for (size_t i = 0; i < count; i++) {
    const float sum = low[i] + high[i];
    least = sum < least ? sum : least;
    most = sum > most ? sum : most;
  }
  const float range = most - least;
  const float factor = range > 0x1p-100f ? (float) (((uint32_t) 1 << bits) - 1) / range : 0.0f;
  for (size_t i = 0; i < count; i++)
    cell[i] = (uint32_t) ((low[i] + high[i] - least) * factor);
}

/* Returns whether a quarter of the pairs of SAMPLES boxes of the frame meet. */
static int
many_meet (const nms__frame *f)
{
  unsigned meeting = 0;

  for (size_t i = 1; i < SAMPLES; i++)
    for (size_t k = 0; k < i; k++) {
      const size_t a = i * f->count / SAMPLES, b = k * f->count / SAMPLES;
      meeting += nms__inter (f->x1[a], f->y1[a], f->x2[a], f->y2[a], f->x1[b], f->y1[b], f->x2[b],
                     f->y2[b])
          > 0.0f;
    }
  return meeting > SAMPLES * (SAMPLES - 1) / 8;
}

/* Writes the ranks of the sums, scaled to numbers of `bits` bits. This takes longer, but does not
 * depend on how far the boxes are from each other. */
static void
rank_sums (const nms__frame *f, const nms__box_blocks *b, const float *low, const float *high,
    unsigned bits, uint32_t *cell)
{
  for (size_t i = 0; i < f->count; i++)
    b->keys[i] = nms__pack (nms__order_key (low[i] + high[i]), (uint32_t) i);
  const uint64_t *ranked = nms__sort (f->kernels, b->keys, b->keys2, f->count);
  for (size_t rank = 0; rank < f->count; rank++)
    cell[nms__packed_position (ranked[rank])] = (uint32_t) (((uint64_t) rank << bits) / f->count);
}

/* Returns the number of bits in which `count` different numbers fit. */
static unsigned
bits_of (size_t count)
{
  unsigned bits = 0;
  while ((size_t) 1 << bits < count)
    bits++;
  return bits;
}

/* The class partitions, as sort needs them. */
typedef struct numbering {
  const uint32_t *number; /* the partition of each box; NULL without classes */
  unsigned bits;          /* bits of these numbers */
  size_t mean;            /* size of the partition of a box, averaged over all boxes */
} numbering;

static size_t
mean_partition (const nms__partitions *p, size_t count)
{
  size_t pairs = 0;

  memset (p->end, 0, p->count * sizeof *p->end);
  for (size_t i = 0; i < count; i++)
    pairs += p->end[p->number[i]]++;
  return 2 * pairs / count + 1;
}

/* Returns the number of bits of a coordinate in the keys: enough for as many cells of the Z-order
 * curve as a class partition has boxes. Further bits make sorting slower, but blocks hardly
 * smaller. The keys have `other_bits` other bits. */
static unsigned
coordinate_bits (size_t partition, unsigned other_bits)
{
  const unsigned wanted = (bits_of (partition) + 1) / 2, most = (32 - other_bits) / 2;
  return wanted < most ? wanted : most;
}

static inline uint32_t
octave_of (float extent)
{
  return nms__float_bits (extent) >> 23;
}

/* Appends the class of each box's extent to its number, which has `bits` bits. Returns the new
 * number of bits. */
static unsigned
append_extents (const float *low, const float *high, size_t count, uint32_t *number, unsigned bits)
{
  uint32_t least = UINT32_MAX, most = 0;

  for (size_t i = 0; i < count; i++) {
    const uint32_t octave = octave_of (high[i] - low[i]);
    least = octave < least ? octave : least;
    most = octave > most ? octave : most;
  }
  const unsigned added = bits_of ((most - least) / EXTENT_OCTAVES + 1);
  for (size_t i = 0; i < count; i++)
    number[i] = number[i] << added | (octave_of (high[i] - low[i]) - least) / EXTENT_OCTAVES;
  return bits + added;
}

/* Keys of up to this many bits are sorted by counting. */
#define COUNTED_BITS 12

/* Sorts packed keys, whose upper 32 bits are below 2^bits. Returns `to`. */
static const uint64_t *
sort_by_counting (const uint64_t *from, uint64_t *to, size_t count, unsigned bits)
{
  uint32_t begin[1 << COUNTED_BITS];
  uint32_t sum = 0;

  memset (begin, 0, sizeof *begin << bits);
  for (size_t i = 0; i < count; i++)
    begin[from[i] >> 32]++;
  for (size_t k = 0; k < (size_t) 1 << bits; k++) {
    const uint32_t n = begin[k];
    begin[k] = sum;
    sum += n;
  }
  for (size_t i = 0; i < count; i++)
    to[begin[from[i] >> 32]++] = from[i];
  return to;
}

/* Returns the sorted keys of the class partitions and of the cells (x, y) on a Z-order curve. */
static const uint64_t *
sort_cells (const nms__frame *f, const nms__box_blocks *b, const uint32_t *number,
    unsigned number_bits, unsigned bits, const uint32_t *x, const uint32_t *y)
{
  const unsigned all = number_bits + 2 * bits;

  for (size_t i = 0; i < f->count; i++)
    b->keys[i] = nms__pack ((number ? number[i] << 2 * bits : 0) | interleave (x[i], y[i]),
        (uint32_t) i);
  if (f->count > f->kernels->few && all <= COUNTED_BITS)
    return sort_by_counting (b->keys, b->keys2, f->count, all);
  return nms__sort (f->kernels, b->keys, b->keys2, f->count);
}

/* Returns the keys of the class partitions in descending order; those of a partition lie in rank
 * order. */
static const uint64_t *
sort_ranks (const nms__frame *f, const nms__box_blocks *b, const uint32_t *number, unsigned bits)
{
  memcpy (b->keys, f->packed, f->count * sizeof *b->keys);
  uint64_t *keys = nms__sort (f->kernels, b->keys, b->keys2, f->count);
  for (size_t k = 0; k < f->count; k++) {
    const uint32_t pos = nms__packed_position (keys[k]);
    keys[k] = nms__pack (number ? number[pos] << 2 * bits : 0, pos);
  }
  if (!number)
    return keys;
  return nms__sort (f->kernels, keys, keys == b->keys ? b->keys2 : b->keys, f->count);
}

/* Returns the logarithm of the usual number of boxes of a tile. The tiles of method weighted are
 * larger, because a box depends on boxes that are farther away. */
static unsigned
tile_bits (const nms__frame *f)
{
  return NMS__TILE_BITS + (f->method.method == NMS_METHOD_WEIGHTED ? 2 : 0);
}

/* Returns whether an eighth of the blocks have all boxes in one cell. */
static int
is_crowded (const uint64_t *keys, size_t count)
{
  size_t crowded = 0;

  for (size_t i = NMS__BLOCK; i < count; i += NMS__BLOCK)
    crowded += keys[i] >> 32 == keys[i - NMS__BLOCK] >> 32;
  return crowded > count / NMS__BLOCK / 8;
}

/* Returns the sorted keys: the class partition, the classes of both extents if `uneven`, then the
 * place on a Z-order curve through the centres. If a few boxes are so far from the others that
 * scaled coordinates cannot tell these apart, the curve goes through their ranks. If most boxes
 * meet each other, so that rows exclude few blocks, rank order replaces the curve: rows then need
 * the boxes of most blocks all or none. */
static const uint64_t *
sort (const nms__frame *f, nms__box_blocks *b, const numbering *classes, int uneven)
{
  const uint32_t *number = classes->number;
  unsigned all_bits = classes->bits;
  uint32_t *x = b->place, *y = b->position; /* unused until the boxes are sorted */

  if (uneven) {
    for (size_t i = 0; i < f->count; i++)
      b->begin[i] = number ? number[i] : 0; /* unused until then, too */
    number = b->begin;
    all_bits = append_extents (f->x1, f->x2, f->count, b->begin, all_bits);
    all_bits = append_extents (f->y1, f->y2, f->count, b->begin, all_bits);
  }
  const unsigned bits = coordinate_bits (classes->mean, all_bits);
  const unsigned used = classes->bits + 2 * bits, needed = bits_of (f->count);
  const unsigned spare = used > needed ? used - needed : 0; /* would only make tiles smaller */
  b->tile_bits = tile_bits (f) + all_bits - classes->bits + spare;
  if (!b->screens && many_meet (f))
    return sort_ranks (f, b, number, bits);
  scale_sums (f->x1, f->x2, f->count, bits, x);
  scale_sums (f->y1, f->y2, f->count, bits, y);
  const uint64_t *keys = sort_cells (f, b, number, all_bits, bits, x, y);
  if (!is_crowded (keys, f->count))
    return keys;
  rank_sums (f, b, f->x1, f->x2, bits, x);
  rank_sums (f, b, f->y1, f->y2, bits, y);
  return sort_cells (f, b, number, all_bits, bits, x, y);
}

/* Writes the places of each class partition, whose boxes are consecutive. */
static void
find_partitions (const nms__box_blocks *b, const uint32_t *number)
{
  size_t begin = 0, end;

  for (; begin < b->count; begin = end) {
    for (end = begin + 1; end < b->count; end++)
      if (number[b->position[end]] != number[b->position[begin]])
        break;
    for (size_t place = begin; place < end; place++) {
      b->begin[place] = (uint32_t) begin;
      b->end[place] = (uint32_t) end;
    }
  }
}

/* Writes the first place of each tile: its keys have the same leading bits. */
static void
find_tiles (const nms__frame *f, nms__box_blocks *b, const uint64_t *keys)
{
  const size_t most = (size_t) 2 << tile_bits (f);

  b->tile_count = 0;
  for (size_t place = 0; place < b->count; place++)
    if (!place || (keys[place] ^ keys[place - 1]) >> (32 + b->tile_bits)
        || place - b->tile[b->tile_count - 1] == most)
      b->tile[b->tile_count++] = (uint32_t) place;
  b->tile[b->tile_count] = (uint32_t) b->count;
}

nms__box
nms__bounding_box (const nms__box_columns *boxes, size_t first, size_t end)
{
  nms__box all = nms__corners_at (boxes, first);

  for (size_t i = first + 1; i < end; i++) {
    const nms__box box = nms__corners_at (boxes, i);
    nms__widen (&all, &box);
  }
  return all;
}

/* Writes the bounding box of each NMS__BLOCK boxes. */
static void
find_bounds (const nms__box_columns *boxes, size_t count, nms__box_columns *bounds)
{
  for (size_t first = 0; first < count; first += NMS__BLOCK) {
    const size_t end = count - first < NMS__BLOCK ? count : first + NMS__BLOCK;
    const nms__box all = nms__bounding_box (boxes, first, end);
    nms__put_box (bounds, first / NMS__BLOCK, &all, 0);
  }
}

/* Writes `factor` times the least value of each NMS__BLOCK values. Returns the number of blocks
 * whose greatest value is more than EVEN_AREAS times the least. */
static size_t
find_least (const float *values, size_t count, float factor, float *least)
{
  size_t uneven = 0;

  for (size_t first = 0; first < count; first += NMS__BLOCK) {
    const size_t end = count - first < NMS__BLOCK ? count : first + NMS__BLOCK;
    float low = values[first], high = low;
    for (size_t i = first + 1; i < end; i++) {
      low = values[i] < low ? values[i] : low;
      high = values[i] > high ? values[i] : high;
    }
    least[first / NMS__BLOCK] = low * factor;
    uneven += high > EVEN_AREAS * low;
  }
  return uneven;
}

static int
is_matrix (const nms__frame *f)
{
  return f->method.method == NMS_METHOD_MATRIX_LINEAR
      || f->method.method == NMS_METHOD_MATRIX_GAUSSIAN;
}

/* Returns what the screen, or the bounds for method matrix, need as `scaled`. DIoU and GIoU are at
 * most IoU. Thinner boxes count as LEAST_SHAPE, which only raises the bounds of ProbIoU, so that no
 * product of these numbers is rounded to 0. */
static float
scaled_of (const nms__frame *f, const nms__rotated *r)
{
  const float w = r->corners[2] - r->corners[0], h = r->corners[3] - r->corners[1];
  const float longer = w > h ? w : h, shorter = w < h ? w : h;

  if (f->method.metric == NMS_METRIC_PROBIOU)
    return shorter > LEAST_SHAPE * longer ? shorter / longer : LEAST_SHAPE;
  return is_matrix (f) ? nms__rotated_area (r) : f->bounds.factor * nms__rotated_area (r);
}

/* Writes the box at `place` to the screen of rotated boxes, which excludes pairs that do not
 * intersect, and those whose metric does not exceed the limit if these have no effect. The corners
 * are those of the fused box if it has replaced the caller's. */
static void
put_rotated (const nms__frame *f, const nms__box_blocks *b, size_t place)
{
  const nms__rotated *r = &b->rotation[place];
  const nms__rotated_box box = nms__rotated_box_of (r, b->origin, scaled_of (f, r));

  nms__rotated_put (&b->rotated, place, &box);
}

/* Sorts the rotations by place, so that those of near boxes are near in memory. `space` has the
 * size of the frame's rotations. */
static void
sort_rotations (nms__frame *f, nms__box_blocks *b, nms__rotated *space)
{
  for (size_t place = 0; place < f->count; place++) {
    const size_t next = place + NMS__NEXT_BOXES < f->count ? place + NMS__NEXT_BOXES : place;
    __builtin_prefetch (&f->rotations[f->index[b->position[next]]]);
    space[place] = f->rotations[f->index[b->position[place]]];
  }
  b->rotation = f->rotations;
  f->rotations = NULL;
  memcpy (b->rotation, space, f->count * sizeof *space);
}

/* Reads the rotations from the caller's columns again, because the method has moved boxes. */
static void
read_rotations (const nms__frame *f, const nms__box_blocks *b)
{
  for (size_t place = 0; place < f->count; place++) {
    const size_t index = (size_t) f->index[b->position[place]];
    float angle, c[4];
    nms__caller_corners (f->rotated, index, c);
    nms__load (&angle, &f->rotated->angle, index, sizeof angle);
    b->rotation[place] = nms__rotated_of (c, angle);
  }
}

static void
fill_rotated (nms__frame *f, nms__box_blocks *b)
{
  nms__arena arena = { f->scratch, 0 };

  nms__rotated_take (&arena, f->capacity);
  if (f->rotations)
    sort_rotations (f, b, (nms__rotated *) (void *) (arena.base + arena.used));
  else
    read_rotations (f, b);
  nms__rotated_take_columns (&arena, &b->rotated, f->capacity); /* takes more than `space` */
  if (f->method.metric == NMS_METRIC_IOS)
    b->rotated.limit = NMS__BY_SMALLER;
  else if (f->method.metric == NMS_METRIC_PROBIOU)
    b->rotated.limit = NMS__BY_SHAPE;
  b->rotated.alike = (float) b->pair.alike;
  nms__rotated_origin (&b->rotation[f->count / 2], b->origin);
  for (size_t place = 0; place < f->count; place++)
    put_rotated (f, b, place);
}

/* Sets the bounds of pairs. For rotated boxes kernels do not apply the bounds that depend on the
 * limit, because refine computes their metrics. */
static void
set_pair_bounds (const nms__frame *f, nms__box_blocks *b)
{
  const double lowest = f->bounds.lowest, limit = lowest > MARGIN ? lowest - MARGIN : 0.0;

  b->screens = f->count > NMS__CROWD * NMS__BLOCK && !is_matrix (f) && !f->rotated;
  b->by_area = b->screens && f->method.metric != NMS_METRIC_PROBIOU
      && f->method.metric != NMS_METRIC_IOS;
  b->pair = (nms__pair_bounds) { .metric = (int) f->method.metric,
    .extent = f->rotated ? 0.0f : NMS__LEAST_EXTENT, /* refine decides if rotated */
    .share = (float) (f->method.metric == NMS_METRIC_IOS ? limit : limit / (1.0 + limit)),
    .value = lowest > 0.0 ? (float) lowest : 0.0f,
    .alike = is_matrix (f) ? 0.0 : nms__probiou_least_square (limit) };
}

/* Puts the box at frame position `pos` at its place. */
static inline void
put_box (nms__box_blocks *b, size_t place, uint32_t pos, nms__box box)
{
  box.scaled = nms__area (box.x1, box.y1, box.x2, box.y2);
  b->least_area = box.scaled < b->least_area ? box.scaled : b->least_area;
  nms__put_box (&b->box, place, &box, 0);
  b->position[place] = pos;
  b->place[pos] = (uint32_t) place;
}

/* Puts the boxes of a large frame into the blocks in the order of the keys. It first copies the
 * corners to rows, in the memory that the screen of rotated boxes uses later: reading a box then
 * misses the cache once, not once per column. It prefetches what lies by frame position, because
 * the processor cannot predict it. */
static void
put_rows (const nms__frame *f, nms__box_blocks *b, const uint64_t *keys)
{
  nms__arena arena = { f->scratch, 0 };

  nms__rotated_take (&arena, f->capacity);
  float (*row)[4] = nms__take (&arena, f->count, sizeof *row);
  for (size_t pos = 0; pos < f->count; pos++) {
    row[pos][0] = f->x1[pos];
    row[pos][1] = f->y1[pos];
    row[pos][2] = f->x2[pos];
    row[pos][3] = f->y2[pos];
  }
  for (size_t place = 0; place < f->count; place++) {
    const size_t next = place + NMS__NEXT_BOXES < f->count ? place + NMS__NEXT_BOXES : place;
    const uint32_t pos = nms__packed_position (keys[place]),
                   next_pos = nms__packed_position (keys[next]);
    const float *c = row[pos];
    __builtin_prefetch (row[next_pos]);
    __builtin_prefetch (&b->place[next_pos], 1);
    put_box (b, place, pos, (nms__box) { c[0], c[1], c[2], c[3], 0.0f, 0 });
  }
}

/* Puts the boxes into the blocks in the order of the keys. */
static void
put_boxes (const nms__frame *f, nms__box_blocks *b, const uint64_t *keys)
{
  b->least_area = INFINITY;
  if (f->count > CACHED_MOST)
    put_rows (f, b, keys);
  else
    for (size_t place = 0; place < f->count; place++) {
      const uint32_t pos = nms__packed_position (keys[place]);
      put_box (b, place, pos, nms__frame_box (f, pos));
    }
  for (size_t place = f->count; place % NMS__BLOCK; place++)
    nms__put_box (&b->box, place, &(nms__box) { 0 }, 0);
}

void
nms__box_blocks_fill (nms__frame *f, nms__box_blocks *b)
{
  numbering classes = { NULL, 0, f->count };

  b->count = f->count;
  set_pair_bounds (f, b);
  if (!f->count)
    return;
  if (f->class_id) {
    const nms__partitions p = nms__partitions_of (f, b->number);
    classes = (numbering) { p.number, bits_of (p.count), mean_partition (&p, f->count) };
  }
  const uint64_t *keys = sort (f, b, &classes, 0);
  put_boxes (f, b, keys);
  if (f->count > NMS__CROWD * NMS__BLOCK
      && find_least (b->box.scaled, f->count, b->pair.share, b->least)
          > nms__box_blocks_count (b) / 8
      && classes.bits <= PARTITION_BITS) {
    keys = sort (f, b, &classes, 1);
    put_boxes (f, b, keys);
    find_least (b->box.scaled, f->count, b->pair.share, b->least);
  }
  b->partitioned = classes.number != NULL;
  if (b->partitioned)
    find_partitions (b, classes.number);
  if (b->count > NMS__TILE_MOST)
    find_tiles (f, b, keys);
  find_bounds (&b->box, b->count, &b->bounds);
  if (b->count > NMS__GROUP) { /* a row does not read the bounds of a single group */
    find_bounds (&b->bounds, nms__box_blocks_count (b), &b->group_bounds);
    find_least (b->least, nms__box_blocks_count (b), 1.0f, b->group_least);
    find_bounds (&b->group_bounds, (b->count + NMS__GROUP - 1) / NMS__GROUP, &b->super_bounds);
  }
  if (f->rotated)
    fill_rotated (f, b);
}

static void
lower_at (float *least, size_t i, float value)
{
  least[i] = value < least[i] ? value : least[i];
}

static void
widen_at (const nms__box_columns *c, size_t i, const nms__box *box)
{
  nms__box bounds = nms__corners_at (c, i);

  nms__widen (&bounds, box);
  nms__put_box (c, i, &bounds, 0);
}

/* Replaces the corners of the box at `place`, which are those without its rotation, and writes the
 * corners of its upright bounding box to `bounds`. */
static void
move_rotated (const nms__frame *f, const nms__box_blocks *b, size_t place, const float corners[4],
    float bounds[4])
{
  nms__rotated *rotated = &b->rotation[place];

  memcpy (rotated->corners, corners, sizeof rotated->corners);
  memcpy (bounds, corners, sizeof rotated->corners);
  if (rotated->sin != 0.0)
    nms__rotated_bounds (rotated, bounds);
  put_rotated (f, b, place);
}

void
nms__box_blocks_move (const nms__frame *f, nms__box_blocks *b, size_t place, const float corners[4])
{
  float c[4] = { corners[0], corners[1], corners[2], corners[3] };

  if (f->rotated)
    move_rotated (f, b, place, corners, c);
  const nms__box box = { c[0], c[1], c[2], c[3], nms__area (c[0], c[1], c[2], c[3]), 0 };
  b->least_area = box.scaled < b->least_area ? box.scaled : b->least_area;
  nms__put_box (&b->box, place, &box, 0);
  widen_at (&b->bounds, place / NMS__BLOCK, &box);
  if (b->by_area)
    lower_at (b->least, place / NMS__BLOCK, box.scaled * b->pair.share);
  if (b->count <= NMS__GROUP)
    return; /* a row does not read the bounds of a single group */
  widen_at (&b->group_bounds, place / NMS__GROUP, &box);
  lower_at (b->group_least, place / NMS__GROUP, box.scaled * b->pair.share);
  widen_at (&b->super_bounds, place / NMS__GROUP / NMS__BLOCK, &box);
}

static void
swap_values (float *column, size_t a, size_t b)
{
  const float value = column[a];

  column[a] = column[b];
  column[b] = value;
}

void
nms__box_blocks_swap (const nms__frame *f, const nms__box_blocks *b, size_t place, size_t other)
{
  const uint32_t pos = b->position[place];

  swap_values (b->box.x1, place, other);
  swap_values (b->box.y1, place, other);
  swap_values (b->box.x2, place, other);
  swap_values (b->box.y2, place, other);
  swap_values (b->box.scaled, place, other);
  b->position[place] = b->position[other];
  b->position[other] = pos;
  b->place[b->position[place]] = (uint32_t) place;
  b->place[pos] = (uint32_t) other;
  if (f->rotated) {
    const nms__rotated rotated = b->rotation[place];
    const nms__rotated_box box = nms__rotated_get (&b->rotated, place),
                           other_box = nms__rotated_get (&b->rotated, other);
    b->rotation[place] = b->rotation[other];
    b->rotation[other] = rotated;
    nms__rotated_put (&b->rotated, place, &other_box);
    nms__rotated_put (&b->rotated, other, &box);
  }
}
