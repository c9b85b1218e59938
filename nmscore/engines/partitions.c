/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* partitions: numbers the class partitions of a frame, by the table of classes or, if the class
 * ids are small, by the ids themselves. */
#include "partitions.h"

nms__partitions
nms__partitions_of (nms__frame *f, uint32_t *number)
{
  nms__classes *c = &f->classes;
  uint32_t bits = 0;

  /* `end` uses the memory of the buckets, which are not needed after the numbering. */
  if (f->class_entry)
    return (nms__partitions) { f->grouped ? (const uint32_t *) f->class_id : f->class_entry,
      c->count, c->bucket };
  for (size_t pos = 0; pos < f->count; pos++)
    bits |= (uint32_t) f->class_id[pos];
  if (bits < nms__class_buckets (f->count)) { /* the class ids are small and serve as numbers */
    size_t count = 1;
    while (count <= bits)
      count *= 2;
    return (nms__partitions) { (const uint32_t *) f->class_id, count, c->bucket };
  }
  nms__classes_start (c, f->count);
  for (size_t pos = 0; pos < f->count; pos++)
    number[pos] = nms__class_entry (c, f->class_id[pos]);
  return (nms__partitions) { number, c->count, c->bucket };
}
