/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlaerror: error texts of engine xla. Messages of compilers have many lines; the
 * first one names the cause, and callers show one line.
 */
#include "xlaerror.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int
nms__xla_error_set (int code, char *error, size_t error_size, const char *format, ...)
{
  va_list args;

  if (error_size > 0) {
    va_start (args, format);
    vsnprintf (error, error_size, format, args);
    va_end (args);
    error[strcspn (error, "\r\n")] = '\0';
  }
  return code;
}

int
nms__xla_error_take (const pjrt_api *api, pjrt_error *failure, const char *what, char *error,
    size_t error_size)
{
  PJRT_ARGS (pjrt_error_message_args, message);
  PJRT_ARGS (pjrt_error_args, gone);
  size_t start = 0;

  message.error = failure;
  api->error_message (&message);
  while (start < message.message_size && strchr (" \n", message.message[start]))
    start++;
  size_t length = message.message_size - start;
  nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size, "%s: %.*s", what,
      length < 1000 ? (int) length : 1000, message.message ? message.message + start : "");
  gone.error = failure;
  api->error_destroy (&gone);
  return NMS_ERROR_DEVICE;
}
