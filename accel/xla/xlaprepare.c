/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlaprepare: compiles and checks a program once in a process. The graph's program
 * is compiled by its first run, which the check makes.
 */
#include "xlaprepare.h"
#include "xlacheck.h"
#include "xlakernel.h"

int
nms__xla_prepare (nms__xla_store *store, nms__xla_kind kind, char *error, size_t error_size)
{
  int code = NMS_OK;

  if (!nms__xla_store_begin (store, kind))
    return NMS_OK;
  if (nms__xla_store_wants_kernel (store, kind)) {
    void *kernel = NULL;
    code = nms__xla_kernel_compile (store, kind, &kernel, error, error_size);
    nms__xla_store_set_kernel (store, kind, kernel);
  }
  if (!code)
    code = nms__xla_check (store, kind, error, error_size);
  nms__xla_store_finish (store, kind, !code);
  return code;
}
