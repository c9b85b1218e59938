/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tpugraph: calls a kernel from lazy tensors, including the packing and unpacking of its arrays. */
#ifndef NMS_TPUGRAPH_H
#define NMS_TPUGRAPH_H

#include "tpukernel.h"

/* Records the columns as the kernel's inputs, its call and the cut of its result, which it
 * returns. `kernel` is the kernel's text, which uses `memory` bytes of vector memory. */
nms_lazy_tensor nms__tpu_graph (nms_lazy *lz, const nms__tpu_spec *spec,
    const nms__tpu_layout *layout, const nms__tpu_columns *columns, const char *kernel,
    size_t memory);

#endif
