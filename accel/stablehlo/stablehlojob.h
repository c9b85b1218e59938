/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stablehlojob: the checked inputs from which a program is made. */
#ifndef NMS_STABLEHLOJOB_H
#define NMS_STABLEHLOJOB_H

#include "accel/lazy/lazynodes.h"
#include "nmsstablehlo.h"

/* A program that is being made. */
typedef struct nms__stablehlo_job {
  const nms_stablehlo_spec *spec;
  const nms_options *options;       /* checked, with all fields */
  const nms_class_options *classes; /* class_count entries, checked, with all fields */
  size_t class_count;
  int32_t picks;          /* K */
  int32_t images;         /* B, 1 or more */
  int32_t columns;        /* B * N, the boxes of all images */
  int uses_classes;       /* boxes of different classes do not suppress each other */
  int uses_caps;          /* a cap of a class has an effect */
  int uses_limits;        /* classes have IoU thresholds of their own */
  nms_stablehlo *program; /* receives inputs and outputs */
} nms__stablehlo_job;

#endif
