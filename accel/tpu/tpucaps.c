/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpucaps: prints the caps per class of the tiles kernel (tpucaps.h).
 */
#include "tpucaps.h"

#define TILE 128
#define WORD NMS__TPU_WORD

/* Prints the number of bits that two words have in common. */
static nms__value
count_common (nms__tpu *m, nms__value a, nms__value b)
{
  return nms__tpu_count_bits (m, nms__tpu_op (m, "arith.andi", a, b));
}

/* Returns the row of word `v` of the candidates of word `w`. */
static int
row_of (int v, int w)
{
  return v * TILE + w * WORD;
}

nms__value
nms__tpu_caps_add (nms__tpu *m, nms__value sum, nms__value same, nms__value kept)
{
  nms__value counts = nms__tpu_op (m, "arith.andi", same, kept);
  nms__value one = nms__tpu_f32 (m, sum.rows, sum.cols, 1.0f);

  return nms__tpu_select (m, counts, nms__tpu_op (m, "arith.addf", sum, one), sum);
}

void
nms__tpu_caps_start (nms__tpu *m, const nms__tpu_caps *caps, int w, nms__value most, nms__value sum)
{
  nms__value total = nms__tpu_spread (m, nms__tpu_reduce (m, "add", "0x00000000", sum, 1), WORD,
      TILE);
  nms__value room = nms__tpu_op (m, "arith.subi", most, nms__tpu_to_s32 (m, total));
  nms__value unlimited = nms__tpu_compare (m, "sle", most, nms__tpu_s32 (m, WORD, TILE, 0));

  nms__tpu_store_rows (m,
      nms__tpu_select (m, unlimited, nms__tpu_s32 (m, WORD, TILE, INT32_MAX), room), caps->room,
      w * WORD);
}

void
nms__tpu_caps_advance (nms__tpu *m, const nms__tpu_caps *caps, int w, const nms__value *kept)
{
  nms__value room = nms__tpu_load_rows (m, caps->room, w * WORD, WORD);
  nms__value own = nms__tpu_load_rows (m, caps->words, row_of (w, w), WORD);

  for (int v = 0; v < w; v++)
    room = nms__tpu_op (m, "arith.subi", room,
        count_common (m, nms__tpu_load_rows (m, caps->words, row_of (v, w), WORD),
            nms__tpu_spread (m, kept[v], WORD, TILE)));
  nms__tpu_store_rows (m, room, caps->room, w * WORD);
  nms__tpu_store_rows (m,
      nms__tpu_op (m, "arith.andi", own, nms__tpu_s32 (m, WORD, TILE, INT32_MAX)), caps->words,
      row_of (w, w));
}

nms__value
nms__tpu_caps_allow (nms__tpu *m, const nms__tpu_caps *caps, int row, nms__value state)
{
  nms__value word = nms__tpu_load_rows (m, caps->words, row / WORD * TILE + row, 1);

  return nms__tpu_compare (m, "slt", count_common (m, word, state),
      nms__tpu_load_rows (m, caps->room, row, 1));
}
