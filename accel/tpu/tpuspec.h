/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tpuspec: what a module for TPUs is compiled for, and the numbers that each of
 * its runs takes. */
#ifndef NMS_TPUSPEC_H
#define NMS_TPUSPEC_H

#include "accel/lazy/nmslazy.h"

#include <stddef.h>
#include <stdint.h>

#define NMS__TPU_LANES 128

/* The key of a box that takes no part. */
#define NMS__TPU_ABSENT INT32_MIN

/* The vector memory that every generation of TPUs grants a kernel, in bytes. v5e, v5p and v6e
 * grant 64 MiB if asked. The form of tiles reads boxes in chunks of 128, so only picks take
 * memory. */
#define NMS__TPU_MEMORY ((size_t) 16 << 20)

typedef enum nms__tpu_form { NMS__TPU_TILES = 0, NMS__TPU_PICKS = 1 } nms__tpu_form;

/* What a module is compiled for; everything else is an argument of each run. */
typedef struct nms__tpu_spec {
  int32_t boxes;  /* N, 1 or more; `memory` limits it */
  int32_t picks;  /* K, 1..N */
  int32_t images; /* B, images that a run decides one after another; 0 stands for 1 */
  size_t memory;  /* bytes of vector memory to use; 0 for NMS__TPU_MEMORY */
  nms__tpu_form form;
  uint8_t classes;        /* nonzero for the argument `class`: boxes of different classes
                       * never suppress each other, unless `class_agnostic`
                       * is set */
  uint8_t class_agnostic; /* nonzero if boxes of all classes suppress each other; only
                           * caps use `class` */
  uint8_t box_limits;     /* nonzero if each box has a limit of its own */
  uint8_t class_caps;     /* nonzero for the argument `class_most`; needs `classes` */
  uint8_t parents;        /* nonzero for the argument `parent`: a box and its parent never
                       * suppress each other */
} nms__tpu_spec;

/* The arguments of a module as tensors; NMS_LAZY_NONE for those that the spec does not have. */
typedef struct nms__tpu_columns {
  nms_lazy_tensor x1, y1, x2, y2, key, parameters, class_id, limit[3], class_most, parent;
} nms__tpu_columns;

/* Returns the number of images, 1 or more for a spec that was checked. */
int32_t nms__tpu_images (const nms__tpu_spec *spec);

/* Returns whether the kernel takes the boxes' classes. */
int nms__tpu_uses_class (const nms__tpu_spec *spec);

/* Writes to `limit` the numbers that decide about overlaps: IoU > threshold, or >=
 * if `inclusive`; the threshold is in 0..1. limit[0] + limit[1] is the midpoint
 * between the threshold and the next float, limit[0] has 12 bits; limit[2]
 * multiplies intersections and is 1 except for threshold 0. */
void nms__tpu_threshold_limit (float threshold, int inclusive, float limit[3]);

/* Writes the same for a limit of nms_frame. */
void nms__tpu_limit_of (double middle, float limit[3]);

/* Fills the argument `parameters` of a run, 8 rows of 128 equal numbers. Rows 0..2 hold
 * `limit`, the limit of all boxes, which is used unless the spec has `box_limits`. Row
 * NMS__TPU_MOST holds the maximum number of picks of this run, `most`, 1..K. */
#define NMS__TPU_PARAMETERS (8 * NMS__TPU_LANES)
#define NMS__TPU_MOST 3
void nms__tpu_parameters (const float limit[3], int32_t most,
    float parameters[NMS__TPU_PARAMETERS]);

#endif
