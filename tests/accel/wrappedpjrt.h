/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wrappedpjrt: what a test asks of the wrapped plugin, by dlsym. */
#pragma once

enum {
  WRAPPED_AS_IT_IS,
  WRAPPED_CONTRACTS,     /* programs lose what keeps a product and a sum apart */
  WRAPPED_COMPILE_FAILS,
  WRAPPED_EXECUTE_FAILS
};

void wrappedpjrt_become (int what);

/* Calls of compile since the plugin was loaded, and of execute. */
long wrappedpjrt_compiled (void);
long wrappedpjrt_executed (void);
