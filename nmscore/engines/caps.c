/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * caps: marks the boxes that are over a cap. Under a low cap these are nearly all boxes, so the
 * loops copy what they need of the frame to local variables: the compiler cannot exclude that a
 * write to the byte array of outcomes changes the frame.
 */
#include "engine.h"

void
nms__over_cap_keys (nms__frame *f, const int32_t *index, const uint64_t *keys, size_t count)
{
  uint8_t *const outcome = f->outcome;
  int32_t *const suppressed_by = f->suppressed_by;

  f->over_cap_count += count;
  for (size_t i = 0; outcome && i < count; i++)
    outcome[index[nms__packed_position (keys[i])]] = NMS_OUTCOME_OVER_CAP;
  for (size_t i = 0; suppressed_by && i < count; i++)
    suppressed_by[index[nms__packed_position (keys[i])]] = -1;
}

void
nms__mark_over_cap (nms__frame *f, uint64_t last)
{
  const int32_t *const index = f->index;
  const uint64_t *const packed = f->packed;
  const uint32_t *const class_entry = f->class_entry;
  const nms__class *const entry = f->classes.entry;
  uint8_t *const outcome = f->outcome;
  int32_t *const suppressed_by = f->suppressed_by;
  const size_t count = f->count;
  size_t over = 0;

  for (size_t pos = 0; pos < count; pos++) {
    const nms__class *class = class_entry ? &entry[class_entry[pos]] : NULL;
    if (packed[pos] >= last && !(class && class->kept >= class->cap && packed[pos] < class->last))
      continue;
    over++;
    if (outcome)
      outcome[index[pos]] = NMS_OUTCOME_OVER_CAP;
    if (suppressed_by)
      suppressed_by[index[pos]] = -1;
  }
  f->over_cap_count += over;
}
