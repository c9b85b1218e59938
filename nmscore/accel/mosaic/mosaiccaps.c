/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mosaiccaps: prints the caps per class of the tiles kernel (mosaiccaps.h).
 */
#include "mosaiccaps.h"

#define TILE 128
#define WORD NMS__MOSAIC_WORD

/* Prints the number of bits that two words have in common. */
static nms__value
count_common (nms__mosaic *m, nms__value a, nms__value b)
{
  return nms__mosaic_count_bits (m, nms__mosaic_op (m, "arith.andi", a, b));
}

/* Returns the row of word `v` of the candidates of word `w`. */
static int
row_of (int v, int w)
{
  return v * TILE + w * WORD;
}

nms__value
nms__mosaic_caps_add (nms__mosaic *m, nms__value sum, nms__value same, nms__value kept)
{
  nms__value counts = nms__mosaic_op (m, "arith.andi", same, kept);
  nms__value one = nms__mosaic_f32 (m, sum.rows, sum.cols, 1.0f);

  return nms__mosaic_select (m, counts, nms__mosaic_op (m, "arith.addf", sum, one), sum);
}

void
nms__mosaic_caps_start (nms__mosaic *m, const nms__mosaic_caps *caps, int w, nms__value most,
    nms__value sum)
{
  nms__value total = nms__mosaic_spread (m, nms__mosaic_reduce (m, "add", "0x00000000", sum, 1),
      WORD, TILE);
  nms__value room = nms__mosaic_op (m, "arith.subi", most, nms__mosaic_to_s32 (m, total));
  nms__value unlimited = nms__mosaic_compare (m, "sle", most, nms__mosaic_s32 (m, WORD, TILE, 0));

  nms__mosaic_store_rows (m,
      nms__mosaic_select (m, unlimited, nms__mosaic_s32 (m, WORD, TILE, INT32_MAX), room),
      caps->room, w * WORD);
}

void
nms__mosaic_caps_advance (nms__mosaic *m, const nms__mosaic_caps *caps, int w,
    const nms__value *kept)
{
  nms__value room = nms__mosaic_load_rows (m, caps->room, w * WORD, WORD);
  nms__value own = nms__mosaic_load_rows (m, caps->words, row_of (w, w), WORD);

  for (int v = 0; v < w; v++)
    room = nms__mosaic_op (m, "arith.subi", room,
        count_common (m, nms__mosaic_load_rows (m, caps->words, row_of (v, w), WORD),
            nms__mosaic_spread (m, kept[v], WORD, TILE)));
  nms__mosaic_store_rows (m, room, caps->room, w * WORD);
  nms__mosaic_store_rows (m,
      nms__mosaic_op (m, "arith.andi", own, nms__mosaic_s32 (m, WORD, TILE, INT32_MAX)),
      caps->words, row_of (w, w));
}

nms__value
nms__mosaic_caps_allow (nms__mosaic *m, const nms__mosaic_caps *caps, int row, nms__value state)
{
  nms__value word = nms__mosaic_load_rows (m, caps->words, row / WORD * TILE + row, 1);

  return nms__mosaic_compare (m, "slt", count_common (m, word, state),
      nms__mosaic_load_rows (m, caps->room, row, 1));
}
