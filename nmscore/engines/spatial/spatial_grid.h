/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spatial_grid: the grid of engine spatial. A grid position is the position of a box in the
 * order of the grid's cells.
 */
#ifndef NMS_SPATIAL_GRID_H
#define NMS_SPATIAL_GRID_H

#include "frame/frame.h"
#include "frame/order.h"

#include <math.h>

#define NMS__SIZES 32         /* size classes: levels of the grid by the boxes' area */
#define NMS__ASPECT_OCTAVES 6 /* octaves of width / height in an aspect class */
#define NMS__ASPECTS 16       /* aspect classes: levels by width / height */
#define NMS__LEVELS (NMS__SIZES * NMS__ASPECTS)

/* Sides of a cell, in units of nms__mean_reach times the mean side of the level's boxes. Cells
 * are narrow and high, because a query visits each row of cells but reads the cells of a row as
 * one run. */
#define NMS__CELL_X 0.25
#define NMS__CELL_Y 1.5

/* Returns how far a box of mean size reaches to both sides, in units of its side. */
static inline double
nms__mean_reach (double distance, double limit)
{
  const double reach = distance * (1.0 + 1.0 / limit);
  /* at least 2^-17 sides, so that cells have an extent; at most 4 */
  return reach > 0x1p-18 ? (reach < 2.0 ? 2.0 * reach : 4.0) : 0x1p-17;
}

/* Bounds that another box must meet for its IoU with a box to exceed a limit. */
typedef struct nms__reach {
  float least_area, most_area;     /* bounds of the other box's area, divided by the box's */
  float least_aspect, most_aspect; /* bounds of the other's width / height, divided by the box's */
  float most_side;                 /* the other box's sides are less than this times the box's */
  double distance; /* on each axis the distance of the centres is less than this times
                                * the sum of both sides */
} nms__reach;

/* The grid of the boxes of one size class and one aspect class. The plane is divided into tiles
 * of cells, the first of which holds most boxes. The cells of a tile are numbered row by row. The
 * first number is a hash, with secret factors, of the tile's position and the class id; it is 0
 * in the first tile if boxes suppress across classes. */
typedef struct nms__level {
  double per[2];         /* cells in a unit of length, along x and y */
  double origin[2];      /* column and row of the first tile's first cell; whole numbers */
  uint64_t columns;      /* number of cells from one row to the next */
  uint64_t tile_mask[2]; /* number of a tile's columns - 1, and of its rows - 1 */
  uint8_t tile_bits[2];  /* binary logarithms of a tile's numbers of columns and rows */
  uint8_t shift;         /* bits by which a hash is shifted right to give a tile's first number */
  uint32_t mask;         /* number of cells - 1; cell numbers wrap around */
  uint32_t first;        /* number of its first cell in nms__grid.begin */
  float most_w, most_h;  /* upper bounds of the boxes' sides */
  float mean_w, mean_h;
  uint32_t count[2]; /* two counters whose sum is the number of boxes */
} nms__level;

typedef struct nms__grid {
  nms__reach reach;
  uint32_t *begin;   /* first grid position of each cell, and the end of the last cell */
  int32_t *class_id; /* indexed by grid position; NULL if boxes suppress across classes */
  uint32_t in_cells; /* number of grid positions in cells; boxes without area follow */
  uint32_t cells;
  uint64_t factor[2], class_factor; /* secret factors for columns, rows and classes */
  double span[2], middle[2];     /* extents and centre of the rectangle that holds most centres */
  int size_begin, size_width;    /* of size classes, in indices of size_of */
  uint8_t size_of[2048];         /* size class, from the upper bits of a float */
  uint8_t aspect_of[256];        /* aspect class, from the exponent of a float */
  uint16_t occupied[NMS__SIZES]; /* a bit for each aspect class that has boxes */
  nms__level level[NMS__LEVELS];

  /* indexed by grid position, for the walk in score order only */
  struct nms__box4 *box4;
  int32_t *index;        /* position in the caller's columns */
  uint32_t *class_entry; /* NULL if no class has options or a cap */
  uint8_t *undecided;    /* one element per box4, a bit for each of its undecided boxes */
} nms__grid;

#define NMS__NO_LEVEL UINT16_MAX /* the box cannot suppress or be suppressed */

/* spatial_grid.c: plans the levels of the grid, and writes the level of each box to `level`. */
void nms__grid_plan (nms__grid *grid, const nms__frame *frame, uint16_t *level);

static inline unsigned
nms__size_class (const nms__grid *g, float area)
{
  return g->size_of[nms__float_bits (area) >> 20];
}

static inline unsigned
nms__aspect_class (const nms__grid *g, float aspect)
{
  return g->aspect_of[nms__float_bits (aspect) >> 23];
}

/* Return the least area, or the least width / height, of a class; 0 for the first class,
 * infinity after the last. */
#define NMS__INFINITE_STEP 2040 /* in steps of size_of; no area reaches it */

static inline float
nms__least_area_of (const nms__grid *g, unsigned size)
{
  const int step = g->size_begin + g->size_width * (int) size;
  if (size == 0 || step <= 0)
    return 0.0f;
  return size == NMS__SIZES || step >= NMS__INFINITE_STEP
      ? (float) INFINITY
      : nms__float_of_bits ((uint32_t) step << 20);
}

static inline float
nms__least_aspect_of (unsigned aspect)
{
  const int octave = NMS__ASPECT_OCTAVES * ((int) aspect - NMS__ASPECTS / 2)
      - NMS__ASPECT_OCTAVES / 2;
  if (aspect == 0)
    return 0.0f;
  return aspect == NMS__ASPECTS ? (float) INFINITY
                                : nms__float_of_bits ((uint32_t) (127 + octave) << 23);
}

/* Adding it rounds -2^51 <= v < 2^51 to a whole number in the lower bits. */
#define NMS__CELL_MAGIC 0x1.8p52
#define NMS__CELL_ZERO UINT64_C (0x4338000000000000) /* bits of NMS__CELL_MAGIC */

/* Returns v rounded to a whole number, in two's complement. The result is 2^51 or more if v is
 * negative or out of range. */
static inline uint64_t
nms__cell_bits (double v)
{
  uint64_t bits;
  v += NMS__CELL_MAGIC;
  memcpy (&bits, &v, sizeof bits);
  return bits - NMS__CELL_ZERO;
}

/* Returns nms__cell_bits for any v: the outermost cell if v is too large for it. */
static inline uint64_t
nms__cell_along (double v)
{
  return nms__cell_bits (v < -0x1p51 ? -0x1p51 : v > 0x1p51 - 1.0 ? 0x1p51 - 1.0 : v);
}

/* Returns the summand of a class id in the hash of nms__cell_number. */
static inline uint64_t
nms__class_hash (const nms__grid *g, int32_t class_id)
{
  return (uint32_t) class_id * g->class_factor;
}

/* Returns the number of a cell in its level. `column` and `row` count from the level's origin. */
static inline uint32_t
nms__cell_number (const nms__grid *g, const nms__level *l, uint64_t column, uint64_t row,
    uint64_t class_hash)
{
  const uint64_t hash = (column >> l->tile_bits[0]) * g->factor[0]
      + (row >> l->tile_bits[1]) * g->factor[1] + class_hash;

  return (uint32_t) ((row & l->tile_mask[1]) * l->columns + (column & l->tile_mask[0])
             + (hash >> l->shift))
      & l->mask;
}

/* Returns whether a cell lies in another tile than the first. */
static inline int
nms__other_tile (const nms__level *l, uint64_t column, uint64_t row)
{
  return ((column & ~l->tile_mask[0]) | (row & ~l->tile_mask[1])) != 0;
}

/* Returns nms__cell_number of a cell of the first tile. `start`: class_hash >> level->shift */
static inline uint32_t
nms__first_tile_number (const nms__level *l, uint64_t column, uint64_t row, uint64_t start)
{
  return (uint32_t) (row * l->columns + column + start) & l->mask;
}

#endif
