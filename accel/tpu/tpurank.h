/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpurank: prints the sort of all boxes by rank inside a kernel, for few boxes.
 *
 * The rank of a box is the number of boxes before it, so a kernel compares all pairs
 * of keys and counts. A move on the matrix unit (tpumove.h) then permutes the boxes.
 * Time grows with the square of the boxes, but no data leaves the chip: up to about 1024
 * boxes this takes fewer cycles than a sort by XLA.
 */
#ifndef NMS_TPURANK_H
#define NMS_TPURANK_H

#include "tpumove.h"

typedef struct nms__tpu_ranking {
  int tiles;               /* number of tiles of 128 boxes */
  int fields;              /* number of fields of a box */
  int key;                 /* number of the field that holds keys */
  nms__array given;        /* fields * tiles rows: `tiles` rows for each field */
  nms__array sorted;       /* block * tiles rows: one block for each tile, by rank. Field
                      * `key` holds indices of boxes, -1 for a box that takes no part */
  nms__array ranks, bytes; /* scratch: 128 rows and 4 * block rows for each tile */
  nms__tpu_mover mover;
} nms__tpu_ranking;

/* Prints the sort of `given` to `sorted`: keys descending, equal keys by index. */
void nms__tpu_rank_print (nms__tpu *m, const nms__tpu_ranking *r);

#endif
