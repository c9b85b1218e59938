/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpucaps: prints the caps per class of the tiles kernel.
 *
 * A candidate is kept if its class has room: if fewer boxes of its class are kept before
 * it than the cap allows. The kept boxes of earlier tiles are counted over the lanes. Those
 * of the tile are bits of words (tputiles.c): a candidate has words of its own that
 * tell which candidates have its class, and the bits that these have in common with the
 * words of kept candidates are counted.
 */
#ifndef NMS_TPUCAPS_H
#define NMS_TPUCAPS_H

#include "tputext.h"

#define NMS__TPU_WORD 32 /* candidates of a word */

typedef struct nms__tpu_caps {
  nms__array members; /* 128 rows: 1 where two candidates have the same class, else 0 */
  nms__array words;   /* 128 rows for each word: `members` as bits */
  nms__array room;    /* 128 rows: number of boxes of the class that the cap still allows */
} nms__tpu_caps;

/* Prints the addition to `sum`, floats, of 1 in the lanes that hold a kept box of the
 * candidate's class: `same` tests the class, `kept` whether the lane holds a box. */
nms__value nms__tpu_caps_add (nms__tpu *m, nms__value sum, nms__value same, nms__value kept);

/* Prints the store of how many more boxes the caps allow to the classes of the candidates of word
 * `w`, before their tile. `most` has the caps (0 or less: no cap); `sum` is that of
 * nms__tpu_caps_add (). */
void nms__tpu_caps_start (nms__tpu *m, const nms__tpu_caps *caps, int w, nms__value most,
    nms__value sum);

/* Prints the subtraction of the boxes that earlier words keep, rows of `kept`, from what the
 * caps allow to word `w`. Each candidate's own word loses bit 31, which states use for
 * something else. */
void nms__tpu_caps_advance (nms__tpu *m, const nms__tpu_caps *caps, int w, const nms__value *kept);

/* Prints the test whether the cap of its class allows the candidate in sublane `row` of the tile.
 * `state` is the word of the candidates that are kept before it. */
nms__value nms__tpu_caps_allow (nms__tpu *m, const nms__tpu_caps *caps, int row, nms__value state);

#endif
