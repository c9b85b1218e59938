/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * frame: the boxes of one image that take part, as engines and methods get them.
 *
 * Words used in nmscore:
 *   batch            in an engine: the boxes that it sorts or decides together before the next
 *                    ones; in batch.c and threads.c: the images of one call
 *   block            NMS__BLOCK boxes, one for each bit of a mask
 *   candidate        a box of the frame, which takes part, as the one that may be suppressed
 *   cell             an element of engine spatial's grid; it holds the boxes whose centres
 *                    lie in it
 *   frame            the boxes of one image that take part
 *   kernel           a function that is compiled once per instruction set (simd/kernels.h)
 *   limit            the number that a threshold is replaced with for the exact test
 *                    (geometry/overlap.h)
 *   neighbors        two boxes whose overlap is above the threshold, as nms_count_neighbors
 *                    counts them
 *   packed key       a box's score key and frame position in 64 bits (order.h)
 *   partition        the boxes of one class (class partition)
 *   probe            the test of one box against the boxes in a run of grid cells
 *   query            the cells that may hold boxes which a given box suppresses
 *   run              in engine spatial: consecutive cells; in neighbors.c and neighbor_pairs.c:
 *                    equal boxes, counted as one box with a weight
 *   scaled area      a box's area times a factor of the threshold: two boxes whose
 *                    intersection is at most the sum of their scaled areas do not exceed it
 *   screen           the test by scaled areas, in binary32, before the exact test
 *   sequential grid  the algorithm of engine sequential: each step takes the best boxes and
 *                    removes what they suppress in one pass over the undecided candidates
 *   sweep            in engine sorted: deciding up to NMS__SWEEP_MOST boxes with bit masks; in
 *                    engine spatial: deciding all boxes cell by cell
 *   undecided candidates   the boxes that are neither kept nor suppressed yet
 */
#ifndef NMS_FRAME_H
#define NMS_FRAME_H

#include "scratch.h"

#include "geometry/overlap.h"
#include "nmscore.h"
#include "simd/bits.h"
#include "simd/kernels.h"

#include <float.h>
#include <string.h>

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#error "nmscore needs float expressions evaluated as float (FLT_EVAL_METHOD 0)"
#endif

/* Counts the boxes that do not take part in a run, by reason. */
typedef struct nms__drops {
  size_t invalid, filtered, not_candidate;
} nms__drops;

/* One class that has options or a cap of its own. */
typedef struct nms__class {
  int32_t id;
  float score_threshold;
  double limit;
  uint64_t cap;       /* most kept boxes; UINT64_MAX if unlimited */
  uint64_t last;      /* key of the box that filled the cap, set by the engine; 0 until then */
  uint32_t kept;      /* number of kept boxes, counted by the engine */
  uint32_t partition; /* number of the entry of the class whose id is its group */
} nms__class;

/* Maps a class id to its entry, by open addressing. Entry 0 belongs to no class: it has the
 * values that classes without options start with. */
typedef struct nms__classes {
  nms__class *entry;
  uint32_t *bucket; /* number of the entry; 0 if the bucket is free */
  uint32_t bucket_mask;
  int shift;       /* the product of id and factor, shifted by this, gives the bucket */
  int direct;      /* nonzero if an id is the number of its bucket */
  uint64_t factor; /* secret factor of the context */
  uint32_t count;  /* number of entries, including entry 0 */
} nms__classes;

/* The options that methods use; the members have the names and meanings of nms_options. */
typedef struct nms__method {
  uint32_t method, metric;
  float sigma, min_score, min_size_ratio;
  uint32_t fused_score;
  const float *source_weights;
  size_t source_count;
} nms__method;

/* The boxes that take part in a run, in input order, and the arrays of the result: all that an
 * engine or a method gets. Columns are aligned and padded to whole blocks of NMS__BLOCK boxes. */
typedef struct nms__frame {
  /* columns, and what holds for all boxes */
  size_t count;
  float *x1, *y1, *x2, *y2, *scaled;
  int32_t *class_id;     /* class id; NULL if boxes suppress across classes */
  uint32_t *class_entry; /* number of the class's entry; NULL if no class has options or a cap */
  int grouped;           /* nonzero if the options set a group for a class; class_id then has the
                          * entry number of each box's group */
  int32_t *index;        /* position in the caller's columns */
  uint64_t *packed;      /* score key and frame position (order.h) */
  float side;            /* longest side of all boxes */
  nms__bounds bounds;    /* for the limits of all classes and for `side` */
  nms__classes classes;

  /* the caller's columns */
  const nms_boxes *boxes;
  size_t parent_count; /* number of the caller's boxes */
  nms_column parent;
  const nms_boxes *rotated;       /* the caller's boxes; NULL if no box is rotated */
  struct nms__rotated *rotations; /* rotations of the boxes that take part, by position in the
                                   * caller's columns; filled if `rotated` is not NULL
                                   * (geometry/rotated.h) */

  /* values of the options and of the context */
  double limit; /* limit of the common threshold (geometry/overlap.h) */
  uint64_t cap; /* most kept boxes; UINT64_MAX if unlimited */
  nms__method method;
  const nms__kernels *kernels;
  uint64_t secret; /* random number, so that a caller cannot predict which boxes engine spatial
                    * samples and which hash values collide; the result does not depend on it */

  /* scratch */
  char *scratch;        /* scratch of the engine: nms__engines_scratch_size (capacity) bytes */
  char *method_scratch; /* scratch of the method: nms__methods_scratch_size (capacity) bytes */
  size_t capacity;      /* number of boxes for which columns and scratch have space */
  uint64_t pairs;       /* pair tests so far, counted by engines sequential and sorted */
  uint64_t pair_budget; /* pair tests after which these engines give up (NMS__OVER_BUDGET);
                         * UINT64_MAX unless engine auto set it */

  /* results, by position in the caller's columns */
  int32_t *kept;
  size_t kept_count;
  size_t over_cap_count;
  uint8_t *outcome;       /* NULL if not requested */
  int32_t *suppressed_by; /* NULL if not requested */
  float *kept_score;      /* score of each kept box; NULL if not requested */
  float *kept_box;        /* four corners of each kept box; NULL if not requested */
} nms__frame;

/* classes.c: empties the table for up to `boxes` classes. */
void nms__classes_start (nms__classes *classes, size_t boxes);

/* classes.c: returns the number of a class's entry, which it adds if necessary. */
uint32_t nms__class_entry (nms__classes *classes, int32_t id);

/* classes.c: returns the number of buckets that a table of `entries` needs. */
uint32_t nms__class_buckets (size_t entries);

/* candidates.c: removes all but the best `most` boxes from a frame, 1 <= most < frame->count, and
 * closes the gaps. Returns the number of boxes removed. nms__candidates_scratch_size returns the
 * bytes of scratch that this needs. */
size_t nms__candidates_select (nms__frame *frame, uint64_t most);
size_t nms__candidates_scratch_size (size_t boxes);

/* Derives factor number `part` from a secret or another seed: an odd number, the multiplier of a
 * hash function. */
static inline uint64_t
nms__secret_factor (uint64_t secret, unsigned part)
{
  uint64_t z = secret + part * UINT64_C (0x9e3779b97f4a7c15);

  z = (z ^ z >> 30) * UINT64_C (0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C (0x94d049bb133111eb);
  return (z ^ z >> 31) | 1;
}

static inline void
nms__load (void *value, const nms_column *column, size_t i, size_t size)
{
  ptrdiff_t stride = column->stride ? column->stride : (ptrdiff_t) size;
  memcpy (value, (const char *) column->data + (ptrdiff_t) i * stride, size);
}

/* Returns the parent of box `index`, -1 if it has none. */
static inline int32_t
nms__parent (const nms__frame *frame, int32_t index)
{
  int32_t parent;
  if (!frame->parent.data)
    return -1;
  nms__load (&parent, &frame->parent, (size_t) index, sizeof parent);
  if (parent < 0 || (size_t) parent >= frame->parent_count)
    return -1;
  return parent;
}

/* Returns whether one of two boxes is a part of the other. */
static inline int
nms__related (const nms__frame *frame, int32_t a, int32_t b)
{
  return frame->parent.data && (nms__parent (frame, a) == b || nms__parent (frame, b) == a);
}

/* Returns the limit that applies when the box at `pos` is the one to be suppressed. */
static inline double
nms__candidate_limit (const nms__frame *frame, size_t pos)
{
  return frame->class_entry ? frame->classes.entry[frame->class_entry[pos]].limit : frame->limit;
}

static inline nms__box
nms__frame_box (const nms__frame *f, size_t pos)
{
  return (nms__box) { f->x1[pos], f->y1[pos], f->x2[pos], f->y2[pos], f->scaled[pos],
    f->class_id ? f->class_id[pos] : 0 };
}

/* Returns the class entry of the box at `pos`, or NULL if no class has options or a cap. */
static inline nms__class *
nms__frame_class (const nms__frame *f, size_t pos)
{
  return f->class_entry ? &f->classes.entry[f->class_entry[pos]] : NULL;
}

#endif
