/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tpustack: the array of all fields of all boxes that the tiles kernel takes. */
#ifndef NMS_TPUSTACK_H
#define NMS_TPUSTACK_H

#include "tpukernel.h"

/* Argument %a<number> of the module: `fields` fields of 32 bits of each box,
 * tensor<Nx`type`>, or tensor<fields x N x `type`> for more than one. */
typedef struct nms__tpu_column {
  int number, fields;
  const char *type;
} nms__tpu_column;

/* Prints %k0, the kernel's first input. If the kernel ranks the boxes
 * or searches them, it is the fields one after another, padded with absent boxes.
 * Otherwise XLA sorts the boxes by rank, and the value is one block of fields for each
 * tile. */
void nms__tpu_stack_print (nms__tpu *m, const nms__tpu_layout *layout, int boxes,
    const nms__tpu_column *columns, int count);

#endif
