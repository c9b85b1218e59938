/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpurank: prints the sort of all boxes by rank (tpurank.h).
 */
#include "tpurank.h"
#include "tpuspec.h"

#define TILE NMS__TPU_LANES

static nms__value
load_key (nms__tpu *m, const nms__tpu_ranking *r, int tile)
{
  return nms__tpu_load_rows (m, r->given, r->key * r->tiles + tile, 1);
}

/* Prints the indices of a tile's boxes, -1 for a box that takes no part. */
static nms__value
print_index (nms__tpu *m, const nms__tpu_ranking *r, int tile)
{
  nms__value absent = nms__tpu_compare (m, "eq", load_key (m, r, tile),
      nms__tpu_s32 (m, 1, TILE, NMS__TPU_ABSENT));
  nms__value index = nms__tpu_op (m, "arith.addi", nms__tpu_iota (m, 1, TILE, 1),
      nms__tpu_s32 (m, 1, TILE, tile * TILE));

  return nms__tpu_select (m, absent, nms__tpu_s32 (m, 1, TILE, -1), index);
}

/* Prints the split in bytes of a tile's boxes; `sorted` is used as scratch memory. */
static void
print_bytes (nms__tpu *m, const nms__tpu_ranking *r, int tile)
{
  int block = r->mover.block;

  for (int f = 0; f < r->fields; f++)
    nms__tpu_store_rows (m,
        f == r->key ? print_index (m, r, tile)
                    : nms__tpu_load_rows (m, r->given, f * r->tiles + tile, 1),
        r->sorted, tile * block + f);
  nms__tpu_store_bytes (m, nms__tpu_load_rows (m, r->sorted, tile * block, block), r->bytes,
      tile * TILE);
}

/* Prints the tests whether a box of tile `other` (lanes) is before a box of tile `tile`
 * (sublanes), whose keys are `key`. */
static nms__value
print_before (nms__tpu *m, const nms__tpu_ranking *r, int other, int tile, nms__value key)
{
  nms__value before = nms__tpu_spread (m, load_key (m, r, other), TILE, TILE);

  if (other != tile)
    return nms__tpu_compare (m, other < tile ? "sge" : "sgt", before, key);
  nms__value lower = nms__tpu_compare (m, "slt", nms__tpu_iota (m, TILE, TILE, 1),
      nms__tpu_iota (m, TILE, TILE, 0));
  nms__value tie = nms__tpu_op (m, "arith.andi", lower, nms__tpu_compare (m, "eq", before, key));
  nms__value greater = nms__tpu_compare (m, "sgt", before, key);
  return nms__tpu_op (m, "arith.ori", tie, greater);
}

/* Prints the ranks of a tile's boxes. Each lane counts one box of each tile, so the
 * counts are whole numbers that BF16 holds, and a product with ones adds the lanes. */
static void
print_ranks (nms__tpu *m, const nms__tpu_ranking *r, int tile)
{
  nms__value key = nms__tpu_transpose (m, nms__tpu_spread (m, load_key (m, r, tile), TILE, TILE));
  nms__value one = nms__tpu_f32 (m, TILE, TILE, 1.0f);
  nms__value none = nms__tpu_f32 (m, TILE, TILE, 0.0f), count = none;

  for (int other = 0; other < r->tiles; other++)
    count = nms__tpu_op (m, "arith.addf", count,
        nms__tpu_select (m, print_before (m, r, other, tile, key), one, none));
  nms__tpu_store_rows (m,
      nms__tpu_to_s32 (m,
          nms__tpu_product (m, nms__tpu_to_bf16 (m, count), nms__tpu_to_bf16 (m, one), none)),
      r->ranks, tile * TILE);
}

void
nms__tpu_rank_print (nms__tpu *m, const nms__tpu_ranking *r)
{
  int rows = 4 * r->mover.block;
  nms__value zero = nms__tpu_index (m, 0);

  for (int tile = 0; tile < r->tiles; tile++) {
    print_bytes (m, r, tile);
    print_ranks (m, r, tile);
  }

  for (int tile = 0; tile < r->tiles; tile++) {
    nms__value first = nms__tpu_s32 (m, 0, 0, tile * TILE);
    nms__value bytes = nms__tpu_load (m, r->bytes, zero, zero, rows, r->tiles * TILE);
    nms__value sum = nms__tpu_move (m, bytes, nms__tpu_load_rows (m, r->ranks, 0, r->tiles * TILE),
        first, nms__tpu_f32 (m, rows, TILE, 0.0f));
    nms__tpu_store_rows (m, nms__tpu_join_bytes (m, &r->mover, sum), r->sorted,
        tile * r->mover.block);
  }
}
