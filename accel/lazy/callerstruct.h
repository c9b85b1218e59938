/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* callerstruct: checks the caller's structs, which grow as nmscore.h says. */
#ifndef NMS_CALLERSTRUCT_H
#define NMS_CALLERSTRUCT_H

#include <stddef.h>
#include <string.h>

/* Returns whether a struct that begins with its size has at least `known` bytes, those of this
 * version's struct, and no further byte but zeros. Accepts NULL, for which it returns 0. */
static inline int
nms__caller_struct_fits (const void *data, size_t known)
{
  size_t size;

  if (!data)
    return 0;
  memcpy (&size, data, sizeof size);
  for (size_t i = known; i < size; i++)
    if (((const unsigned char *) data)[i])
      return 0;
  return size >= known;
}

#endif
