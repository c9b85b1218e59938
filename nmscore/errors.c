/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* strings: names, error texts and the version. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>

const char *
nms_strerror (int error)
{
#define CASE(name, value, text)                                                                    \
  case name:                                                                                       \
    return text;
  switch (error) {
    NMS_ERROR_LIST (CASE)
    default:
      return "unknown error";
  }
#undef CASE
}

const char *
nms_engine_name (int engine)
{
  switch (engine) {
    case NMS_ENGINE_AUTO:
      return "auto";
    case NMS_ENGINE_SEQUENTIAL:
      return "sequential";
    case NMS_ENGINE_SORTED:
      return "sorted";
    case NMS_ENGINE_SPATIAL:
      return "spatial";
#ifdef NMS__HAVE_XLA
    case NMS_ENGINE_XLA:
      return "xla";
#endif
    default:
      return NULL;
  }
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
