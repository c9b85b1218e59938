/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wrappedpjrt: the functions of the wrapped plugin that tests call through dlsym. */
#pragma once

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

void wrappedpjrt_become (int what);

/* Makes clients that are opened from now on a TPU, or not. A kernel (accel/tpu/tpu.h) is recognized
 * by printing it again, and compiled as the graph of nmsgraph.h with the same arguments and picks.
 * tests/tpu runs the kernels themselves. */
void wrappedpjrt_be_tpu (int tpu);

/* Returns the number of kernels compiled, and of other modules with a division since the last
 * wrappedpjrt_be_tpu (). */
long wrappedpjrt_kernels (void);
long wrappedpjrt_divisions (void);

/* Return the calls of compile and of execute since the plugin was loaded. */
long wrappedpjrt_compiled (void);
long wrappedpjrt_executed (void);

/* Return the arrays copied to the device and from it since the plugin was loaded. */
long wrappedpjrt_sent (void);
long wrappedpjrt_received (void);
