/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernels: the table of the functions that are compiled once per instruction set. All tables
 * compute the same bits. Columns are padded to whole blocks: kernels may read, but do not use,
 * the elements behind the last box up to the end of its block.
 */
#ifndef NMS_KERNELS_H
#define NMS_KERNELS_H

#include "overlap.h"

struct nms__undecided;
struct nms__picks;
struct nms__rotated_box;
struct nms__rotated_columns;
struct nms__sweep;
struct nms__frame;
struct nms__cell_boxes;
struct nms_boxes;
struct nms_options;

/* Most keys that sort_few sorts. */
#define NMS__FEW 512

typedef struct nms__kernels {
  const char *name;
  int lanes; /* floats in a vector */

  /* Returns which of the boxes first .. first+n-1 of the box's class may exceed the limit: bit
   * i for box first+i. n is at most NMS__BLOCK and `first` a multiple of it. Sets *certain to
   * those that surely exceed, unless `certain` is NULL. */
  uint64_t (*overlap_block) (const nms__columns *columns, size_t first, size_t n,
      const nms__box *box, const nms__bounds *bounds, uint64_t *certain);

  /* Searches first .. end-1 in groups of up to NMS__BLOCK boxes for a group with a box that
   * may exceed the limit. Returns the start of the first such group and sets a bit of *mask for
   * each of its boxes that may exceed the limit. Returns `end` if there is no such group.
   * `least_area` is that of nms__bounds. */
  size_t (*find_overlap) (const nms__columns *columns, size_t first, size_t end,
      const nms__box *box, float least_area, uint64_t *mask);

  /* As find_overlap, for the columns of a frame with rotated boxes
   * (engines/sorted/rotated_screen.h). */
  size_t (*find_rotated) (const struct nms__rotated_columns *columns, size_t first, size_t end,
      const struct nms__rotated_box *box, uint64_t *mask);

  /* engines/sequential: `begin` fills `key` and `pos` from the frame's keys. `pick` writes the
   * positions of the best boxes, about `wanted` (of 16) or more, to `positions` in ascending
   * order and returns their number. `rows` sets, for each i < n <= NMS__BLOCK, which of the
   * boxes i+1 .. n-1 may exceed the limit with box i, and which of those surely do; it returns
   * those i with any. `step` removes the boxes that the picks suppress and closes the gaps, in
   * one pass. */
  void (*begin) (struct nms__undecided *a);
  size_t (*pick) (const struct nms__undecided *a, int wanted, uint32_t *positions);
  uint64_t (*rows) (const struct nms__undecided *a, size_t n, uint64_t *may, uint64_t *surely);
  void (*step) (struct nms__undecided *a, const struct nms__picks *picks);

  /* Moves those of `count` keys that are at least `pivot` to `top` and closes the gaps in
   * `keys`. Both keep their order. Returns the number of keys moved. `top` has space for count
   * + NMS__KEY_PADDING keys. */
  size_t (*split) (uint64_t *keys, size_t count, uint64_t pivot, uint64_t *top);

  /* Sorts up to NMS__FEW packed keys by their upper 32 bits, in descending order, into
   * `sorted`; equal ones stay in the given order. Returns 0 and does not sort if the upper 32
   * bits of a key are 0. It is faster than other sorts up to `few` keys. */
  int (*sort_few) (const uint64_t *packed, size_t count, uint64_t *sorted);
  size_t few;

  /* engines/sorted/sweep.h: fills sweep->kept and returns the number of kept boxes. */
  size_t (*sweep) (const struct nms__sweep *sweep);

  /* prepare.c: copies those of the caller's boxes first .. first+n-1 (n <= NMS__BLOCK) that
   * take part to the frame. `thresholds`: a score threshold for each box, or NULL if classes
   * have none of their own. f->class_entry is filled for all of these boxes. Sets the bits of
   * invalid and of filtered boxes. */
  void (*take_block) (struct nms__frame *frame, const struct nms_options *options,
      const struct nms_boxes *boxes, size_t first, size_t n, const float *thresholds,
      uint64_t *invalid, uint64_t *filtered);

  /* methods/metric_tmpl.h: computes the metric, an nms_metric, of the box and each box of the
   * block that starts at `first`. Returns the boxes whose intersection with it has both extents
   * above `least_extent`: bit i for box first+i. Sets value[i] for these; the other values are
   * undefined. The columns' `scaled`, and the box's, is the area. All NMS__BLOCK boxes are
   * read. */
  uint64_t (*metric_block) (const nms__columns *columns, size_t first, const nms__box *box,
      int metric, float least_extent, float *value);

  /* engines/spatial/spatial_tmpl.c: decides the boxes of a grid, without caps. */
  void (*decide_cells) (struct nms__cell_boxes *boxes);
} nms__kernels;

/* dispatch.c: returns the table for a new context. */
const nms__kernels *nms__kernels_default (void);

/* dispatch.c: returns the table with this name, or NULL if it is unknown or cannot run here;
 * *why_not is then the reason, a static string. */
const nms__kernels *nms__kernels_named (const char *name, const char **why_not);

#endif
