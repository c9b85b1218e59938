/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernels: the functions that are compiled once per instruction set: a table of those that several
 * folders use, which leads to the tables of single users. All sets compute the same bits. Columns
 * are padded to whole blocks: kernels may read, but do not use, the elements after the last box up
 * to the end of its block.
 */
#ifndef NMS_KERNELS_H
#define NMS_KERNELS_H

#include "geometry/overlap.h"

/* Most keys that sort_few sorts. */
#define NMS__FEW 512

struct nms__rotated_box;
struct nms__rotated_columns;

typedef struct nms__kernels {
  const char *name;
  int lanes; /* floats in a vector */

  /* Returns which of the boxes first .. first+n-1 of the box's class may exceed the limit: bit
   * i for box first+i. n is at most NMS__BLOCK and `first` a multiple of it. Sets *certain to
   * those that certainly exceed, unless `certain` is NULL. */
  uint64_t (*overlap_block) (const nms__columns *columns, size_t first, size_t n,
      const nms__box *box, const nms__bounds *bounds, uint64_t *certain);

  /* Searches first .. end-1 in groups of up to NMS__BLOCK boxes for a group with a box that
   * may exceed the limit. Returns the start of the first such group and sets a bit of *mask for
   * each of its boxes that may exceed the limit. Returns `end` if there is no such group.
   * `least_area` is that of nms__bounds. */
  size_t (*find_overlap) (const nms__columns *columns, size_t first, size_t end,
      const nms__box *box, float least_area, uint64_t *mask);

  /* Does the same as find_overlap for columns of rotated boxes (geometry/rotated_screen.h). A group
   * has at most `lanes` boxes. */
  size_t (*find_rotated) (const struct nms__rotated_columns *columns, size_t first, size_t end,
      const struct nms__rotated_box *box, uint64_t *mask);

  /* Moves those of `count` keys that are at least `pivot` to `top` and closes the gaps in
   * `keys`. Both keep their order. Returns the number of keys moved. `top` has space for count
   * + NMS__KEY_PADDING keys. */
  size_t (*split) (uint64_t *keys, size_t count, uint64_t pivot, uint64_t *top);

  /* Sorts up to NMS__FEW packed keys by their upper 32 bits, in descending order, into
   * `sorted`; equal ones stay in the given order. Returns 0 and does not sort if the upper 32
   * bits of a key are 0. It is faster than other sorts up to `few` keys. */
  int (*sort_few) (const uint64_t *packed, size_t count, uint64_t *sorted);
  size_t few;

  const struct nms__prepare_kernels *prepare;       /* prepare_kernels.h */
  const struct nms__sequential_kernels *sequential; /* engines/sequential/sequential_state.h */
  const struct nms__sorted_kernels *sorted;         /* engines/sorted/sweep.h */
  const struct nms__spatial_kernels *spatial;       /* engines/spatial/spatial_scatter.h */
  const struct nms__method_kernels *method;         /* methods/box_blocks.h */
} nms__kernels;

/* dispatch.c: returns the table for a new context. */
const nms__kernels *nms__kernels_default (void);

/* dispatch.c: returns the table with this name, or NULL if it is unknown or cannot run here;
 * *why_not is then the reason, a static string. */
const nms__kernels *nms__kernels_named (const char *name, const char **why_not);

#endif
