/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tputilearrays: the fields of a box and the arrays of the tiles kernel.
 */
#ifndef NMS_TPUTILEARRAYS_H
#define NMS_TPUTILEARRAYS_H

#include "tpucaps.h"
#include "tpukernel.h"
#include "tpurank.h"

#define NMS__TPU_WORDS (NMS__TPU_LANES / NMS__TPU_WORD) /* words of bits in a tile */

typedef struct nms__tpu_tiles {
  nms__tpu *m;
  const nms__tpu_spec *spec;
  const nms__tpu_layout *layout;
  int class_field, limit_field, most_field, parent_field; /* numbers of fields; 0 if absent */
  nms__array parameters;
  nms__array first;       /* the first tile's block, or all blocks */
  nms__array next;        /* the next tile's block, or all blocks */
  nms__array kept;        /* blocks of kept boxes */
  nms__array turned;      /* the tile's block, transposed */
  nms__array column;      /* 128 rows for each field: down the sublanes, the same in all lanes */
  nms__array weights;     /* 128 rows for each half word: 1 << bit in its lanes, else 0 */
  nms__array hits;        /* 1 where a box would suppress a candidate, else 0 */
  nms__array words;       /* 128 rows for each word */
  nms__array blocked;     /* words of the candidates, one in each sublane */
  nms__array position;    /* rank of each candidate among the kept boxes, -1 if it is not kept */
  nms__array count, most; /* number of kept boxes and its maximum, in all lanes */
  nms__array bytes;       /* the candidates as bytes */
  nms__tpu_ranking ranking;
  nms__tpu_caps caps;
  nms__value zero; /* 0 of type index */
} nms__tpu_tiles;

/* Sets the arrays and the steps of the kernel for a spec that was checked. */
void nms__tpu_tiles_layout (const nms__tpu_spec *spec, nms__tpu_layout *layout);

/* Sets all but `m` and `zero` from `spec` and `layout`. */
void nms__tpu_tiles_assign (nms__tpu_tiles *t);

#endif
