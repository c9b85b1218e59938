/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stablehlograph: records the parts of a program as operations on lazy tensors. */
#ifndef NMS_STABLEHLOGRAPH_H
#define NMS_STABLEHLOGRAPH_H

#include "stablehlojob.h"

/* Results of a module, at most. */
#define NMS__PROGRAM_RESULTS 16

/* Returns the text of the program for CPUs and GPUs, for free (); NULL after an error that is
 * latched in `lz`. Adds its inputs and outputs to job->program. */
char *nms__stablehlo_graph_loop (nms_lazy *lz, const nms__stablehlo_job *job);

/* The results of a module: the first `argument_count` are the kernel's arguments, and
 * output i of job->program, from the third on, is the result number at[i]. */
typedef struct nms__stablehlo_results {
  nms_lazy_tensor tensor[NMS__PROGRAM_RESULTS];
  nms_lazy_shape shape[NMS__PROGRAM_RESULTS];
  size_t count, argument_count, at[NMS_STABLEHLO_MAX_ARRAYS];
} nms__stablehlo_results;

/* Returns in the same way the text of a module that computes the kernel's arguments, and adds
 * job->program's inputs and outputs. */
char *nms__stablehlo_graph_arguments (nms_lazy *lz, const nms__stablehlo_job *job,
    nms__stablehlo_results *results);

/* Returns in the same way the text of a module that counts the picks of the kernel. */
char *nms__stablehlo_graph_count (nms_lazy *lz, const nms__stablehlo_job *job);

#endif
