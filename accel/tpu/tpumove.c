/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpumove: prints the move of boxes to other positions (tpumove.h).
 */
#include "tpumove.h"

#define LANES 128

static nms__value
shifted (nms__tpu *m, const char *op, nms__value a, int bits)
{
  return bits ? nms__tpu_op (m, op, a, nms__tpu_s32 (m, a.rows, a.cols, bits)) : a;
}

void
nms__tpu_store_bytes (nms__tpu *m, nms__value block, nms__array bytes, int col)
{
  for (int i = 0; i < 4; i++) {
    nms__value byte = nms__tpu_op (m, "arith.andi", shifted (m, "arith.shrui", block, 8 * i),
        nms__tpu_s32 (m, block.rows, block.cols, 255));
    nms__tpu_store (m, nms__tpu_to_f32 (m, byte), bytes, nms__tpu_index (m, i * block.rows),
        nms__tpu_index (m, col));
  }
}

nms__value
nms__tpu_move (nms__tpu *m, nms__value bytes, nms__value position, nms__value first, nms__value sum)
{
  nms__value lane = nms__tpu_op (m, "arith.addi", nms__tpu_iota (m, position.rows, LANES, 1),
      nms__tpu_spread (m, first, position.rows, LANES));
  nms__value moves = nms__tpu_compare (m, "eq", position, lane);
  nms__value matrix = nms__tpu_select (m, moves, nms__tpu_f32 (m, position.rows, LANES, 1.0f),
      nms__tpu_f32 (m, position.rows, LANES, 0.0f));

  return nms__tpu_product (m, nms__tpu_to_bf16 (m, bytes), nms__tpu_to_bf16 (m, matrix), sum);
}

nms__value
nms__tpu_join_bytes (nms__tpu *m, const nms__tpu_mover *mover, nms__value sum)
{
  nms__value zero = nms__tpu_index (m, 0), whole = { "", 0, 0, 0 };

  nms__tpu_store (m, sum, mover->sums, zero, zero);
  for (int i = 0; i < 4; i++) {
    nms__value byte = nms__tpu_to_s32 (m,
        nms__tpu_load (m, mover->sums, nms__tpu_index (m, i * mover->block), zero, mover->block,
            LANES));
    byte = shifted (m, "arith.shli", byte, 8 * i);
    whole = i ? nms__tpu_op (m, "arith.ori", whole, byte) : byte;
  }
  return whole;
}
