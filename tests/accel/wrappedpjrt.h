/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wrappedpjrt: the functions of the wrapped plugin that tests call through dlsym. */
#pragma once

enum {
  WRAPPED_AS_IT_IS,
  WRAPPED_CONTRACTS, /* programs contract products and sums */
  WRAPPED_COMPILE_FAILS,
  WRAPPED_EXECUTE_FAILS,
  WRAPPED_SPOILS_1, /* a run's first array, copied from the device, begins with 2^30 */
  WRAPPED_SPOILS_2  /* its second array does */
};

void wrappedpjrt_become (int what);

/* Return the calls of compile and of execute since the plugin was loaded. */
long wrappedpjrt_compiled (void);
long wrappedpjrt_executed (void);

/* Return the arrays copied to the device and from it since the plugin was loaded. */
long wrappedpjrt_sent (void);
long wrappedpjrt_received (void);
