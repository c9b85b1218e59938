/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* errors: the text of a failure. */
#include "call.h"

#include <stdarg.h>
#include <stdio.h>

int
nms__fail (nms_context *ctx, int error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  vsnprintf (ctx->error, sizeof ctx->error, format, args);
  va_end (args);
  return error;
}
