/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* errors: the texts of error codes, the detail of a failure, and the version. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>

const char *
nms_strerror (int error)
{
#define CASE(name, value, text) \
  case name: \
    return text;
  switch (error) {
    NMS_ERROR_LIST (CASE)
    default:
      return "unknown error";
  }
#undef CASE
}

int
nms_version (void)
{
  return NMS_VERSION_NUMBER;
}

int
nms__fail (nms_context *ctx, int error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  vsnprintf (ctx->error, sizeof ctx->error, format, args);
  va_end (args);
  return error;
}
