/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * caller_structs: reads and writes the caller's structs. They begin with their size, and the caller
 * may have been built with an older or newer header than the library.
 */
#include "call.h"

static size_t
lesser (size_t a, size_t b)
{
  return a < b ? a : b;
}

int
nms__struct_read (nms_context *ctx, const char *name, const void *data, const size_t *ends,
    size_t end_count, void *copy)
{
  const size_t least = ends[0], known = ends[end_count - 1];
  size_t size, end = 0;

  if (!data)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "%s is NULL", name);
  memcpy (&size, data, sizeof size);
  if (size < least)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "%s: size is %zu, must be at least %zu", name, size,
        least);
  while (size < known && ends[end] < size)
    end++;
  if (size < known && ends[end] != size)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "%s: size is %zu, which ends inside a field", name,
        size);
  for (size_t i = known; i < size; i++)
    if (((const unsigned char *) data)[i])
      return nms__fail (ctx, NMS_ERROR_ARGUMENT,
          "%s: a field this version does not know is set, at byte %zu", name, i);
  if (copy)
    memcpy (copy, data, lesser (size, known));
  return NMS_OK;
}

int
nms__boxes_read (nms_context *ctx, const nms_boxes *boxes, size_t most, nms_boxes *copy)
{
  static const size_t ends[] = { offsetof (nms_boxes, score), offsetof (nms_boxes, class_id),
    offsetof (nms_boxes, exclude), offsetof (nms_boxes, parent), offsetof (nms_boxes, angle),
    offsetof (nms_boxes, source), sizeof *boxes };

  memset (copy, 0, sizeof *copy);
  int error = nms__struct_read (ctx, "boxes", boxes, ends, sizeof ends / sizeof *ends, copy);
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
nms__arrays_read (nms_context *ctx, const nms_arrays *arrays, nms_arrays *copy)
{
  static const size_t ends[] = { offsetof (nms_arrays, outcome),
    offsetof (nms_arrays, suppressed_by), offsetof (nms_arrays, kept_score),
    offsetof (nms_arrays, kept_box), sizeof *copy };

  memset (copy, 0, sizeof *copy);
  return nms__struct_read (ctx, "arrays", arrays, ends, sizeof ends / sizeof *ends, copy);
}

int
nms__result_check (nms_context *ctx, const nms_result *result)
{
  static const size_t ends[] = { offsetof (nms_result, not_candidate_count),
    offsetof (nms_result, kept_score), offsetof (nms_result, kept_box), sizeof *result };

  return nms__struct_read (ctx, "result", result, ends, sizeof ends / sizeof *ends, NULL);
}

void
nms__result_write (nms_result *result, const nms_result *full)
{
  const size_t size = lesser (result->size, sizeof *full);

  memcpy ((char *) result + sizeof size, (const char *) full + sizeof size, size - sizeof size);
}
