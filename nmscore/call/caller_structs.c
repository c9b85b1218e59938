/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * caller_structs: reads and writes the caller's structs. They begin with their size, and the caller
 * may have been built with a newer header than the library. A struct that grows after version 1.0
 * keeps the size of 1.0 as its least.
 */
#include "call.h"

int
nms__struct_read (nms_context *ctx, const char *name, const void *data, size_t known, void *copy)
{
  size_t size;

  if (!data)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "%s is NULL", name);
  memcpy (&size, data, sizeof size);
  if (size < known)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "%s: size is %zu, must be at least %zu", name, size,
        known);
  for (size_t i = known; i < size; i++)
    if (((const unsigned char *) data)[i])
      return nms__fail (ctx, NMS_ERROR_ARGUMENT,
          "%s: a field this version does not know is set, at byte %zu", name, i);
  if (copy)
    memcpy (copy, data, known);
  return NMS_OK;
}

int
nms__boxes_read (nms_context *ctx, const nms_boxes *boxes, size_t most, nms_boxes *copy)
{
  int error = nms__struct_read (ctx, "boxes", boxes, sizeof *boxes, copy);

  if (error)
    return error;
  if (copy->count > most)
    return nms__fail (ctx, NMS_ERROR_TOO_MANY_BOXES, "%zu boxes, at most %zu are possible",
        copy->count, most);
  if (copy->count && !(copy->x1.data && copy->y1.data && copy->x2.data && copy->y2.data))
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "a corner column of boxes is NULL");
  return NMS_OK;
}

int
nms__result_check (nms_context *ctx, const nms_result *result)
{
  return nms__struct_read (ctx, "result", result, sizeof *result, NULL);
}

void
nms__result_write (nms_result *result, const nms_result *full)
{
  const size_t size = result->size;

  *result = *full;
  result->size = size;
}
