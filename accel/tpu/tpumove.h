/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpumove: prints the move of boxes to other positions on the matrix unit.
 *
 * A block holds up to 128 boxes, one in each lane, with one field of 32 bits in each
 * sublane. The matrix unit multiplies a block with a matrix that has a single 1 for each
 * box. Its factors are bfloat16, which holds whole numbers of 8 bits exactly. So a block is
 * split in bytes, and every sum has one term that is not 0: the move is exact for any
 * bits, NaN and infinities included.
 */
#ifndef NMS_TPUMOVE_H
#define NMS_TPUMOVE_H

#include "tputext.h"

/* Scratch memory for the bytes of moved blocks: 4 times the rows of a block. */
typedef struct nms__tpu_mover {
  nms__array sums;
  int block; /* rows of a block, a multiple of 8 */
} nms__tpu_mover;

/* Prints the split of a block in bytes: four blocks of floats, the lowest bytes first, which
 * are stored in the lanes of `bytes` from `col` on. */
void nms__tpu_store_bytes (nms__tpu *m, nms__value block, nms__array bytes, int col);

/* Prints the addition of the moved boxes to `sum`, 4 * block rows of floats: box i moves
 * to lane position[i] - first, or nowhere if that is not in 0..127. `bytes` is what
 * nms__tpu_store_bytes stored, `position` integers down the sublanes, the same in
 * all lanes, `first` a scalar. */
nms__value nms__tpu_move (nms__tpu *m, nms__value bytes, nms__value position, nms__value first,
    nms__value sum);

/* Prints the block that the bytes of `sum` form. */
nms__value nms__tpu_join_bytes (nms__tpu *m, const nms__tpu_mover *mover, nms__value sum);

#endif
