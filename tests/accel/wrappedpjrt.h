/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wrappedpjrt: what tests set and read in the wrapped plugin, whose variable they find by dlsym. */
#pragma once

#include <stdatomic.h>

enum {
  WRAPPED_AS_IT_IS,
  WRAPPED_CONTRACTS, /* programs contract products and sums */
  WRAPPED_COMPILE_FAILS,
  WRAPPED_EXECUTE_FAILS,
  WRAPPED_SPOILS_1, /* a run's first array, copied from the device, begins with 2^30 */
  WRAPPED_SPOILS_2, /* its second array does */
  /* faults of a kernel: */
  WRAPPED_TIES,     /* ranks equal keys from the last to the first */
  WRAPPED_EQUAL,    /* an overlap at the limit exceeds it */
  WRAPPED_CAPS,     /* caps per class are ignored */
  WRAPPED_MOST,     /* the cap of the run is ignored */
  WRAPPED_CLASSES,  /* boxes of different classes suppress each other */
  WRAPPED_TWICE,    /* the first pick is returned twice */
  WRAPPED_BEYOND,   /* a pick is a position of the padding */
  WRAPPED_AFTER_END /* a pick follows the end of the list */
};

typedef struct {
  atomic_int fault; /* one of the enum above */
  /* Whether clients that are opened from now on are a TPU. A kernel (accel/tpu/tpu.h) is recognized
   * by printing it again, and compiled as the graph of nmsgraph.h with the same arguments and
   * picks. tests/tpu runs the kernels themselves. */
  atomic_int is_tpu;
  /* counts since the plugin was loaded: calls of compile and execute, and arrays copied to the
   * device and from it */
  atomic_long compiled, executed, sent, received;
  atomic_long kernels, divisions; /* kernels, and other modules for a TPU with a division */
} WrappedPjrt;

extern WrappedPjrt wrappedpjrt;
