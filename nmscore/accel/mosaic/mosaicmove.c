/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mosaicmove: prints the move of boxes to other positions (mosaicmove.h).
 */
#include "mosaicmove.h"

#define LANES 128

static nms__value
shifted (nms__mosaic *m, const char *op, nms__value a, int bits)
{
  return bits ? nms__mosaic_op (m, op, a, nms__mosaic_s32 (m, a.rows, a.cols, bits)) : a;
}

void
nms__mosaic_store_bytes (nms__mosaic *m, nms__value block, nms__array bytes, int col)
{
  for (int i = 0; i < 4; i++) {
    nms__value byte = nms__mosaic_op (m, "arith.andi", shifted (m, "arith.shrui", block, 8 * i),
        nms__mosaic_s32 (m, block.rows, block.cols, 255));
    nms__mosaic_store (m, nms__mosaic_to_f32 (m, byte), bytes,
        nms__mosaic_index (m, i * block.rows), nms__mosaic_index (m, col));
  }
}

nms__value
nms__mosaic_move (nms__mosaic *m, nms__value bytes, nms__value position, nms__value first,
    nms__value sum)
{
  nms__value lane = nms__mosaic_op (m, "arith.addi", nms__mosaic_iota (m, position.rows, LANES, 1),
      nms__mosaic_spread (m, first, position.rows, LANES));
  nms__value moves = nms__mosaic_compare (m, "eq", position, lane);
  nms__value matrix = nms__mosaic_select (m, moves, nms__mosaic_f32 (m, position.rows, LANES, 1.0f),
      nms__mosaic_f32 (m, position.rows, LANES, 0.0f));

  return nms__mosaic_product (m, nms__mosaic_to_bf16 (m, bytes), nms__mosaic_to_bf16 (m, matrix),
      sum);
}

nms__value
nms__mosaic_join_bytes (nms__mosaic *m, const nms__mosaic_mover *mover, nms__value sum)
{
  nms__value zero = nms__mosaic_index (m, 0), whole = { "", 0, 0, 0 };

  nms__mosaic_store (m, sum, mover->sums, zero, zero);
  for (int i = 0; i < 4; i++) {
    nms__value byte = nms__mosaic_to_s32 (m,
        nms__mosaic_load (m, mover->sums, nms__mosaic_index (m, i * mover->block), zero,
            mover->block, LANES));
    byte = shifted (m, "arith.shli", byte, 8 * i);
    whole = i ? nms__mosaic_op (m, "arith.ori", whole, byte) : byte;
  }
  return whole;
}
