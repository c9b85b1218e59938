/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlacolumns: copies a frame, and pads it with boxes that take no part. */
#include "xlacolumns.h"

#include <string.h>

static void
copy (void *to, const void *from, size_t count)
{
  if (to && count)
    memcpy (to, from, count * 4);
}

void
nms__xla_columns_fill (const nms__xla_columns *c, const nms_frame *f, size_t n)
{
  const float *const corner[] = { f->x1, f->y1, f->x2, f->y2 };

  for (size_t k = 0; k < 4; k++)
    copy (c->corner[k], corner[k], f->count);
  for (size_t i = 0; i < f->count; i++)
    c->key[i] = (int32_t) ((uint32_t) (f->key[i] >> 32) ^ 0x80000000u);
  for (size_t i = f->count; i < n; i++)
    c->key[i] = INT32_MIN;
  copy (c->class_id, f->class_id, f->count);
  copy (c->cap_class, f->cap_class, f->count);
  for (size_t i = 0; c->class_cap && i < f->count; i++)
    c->class_cap[i] = f->class_cap[i] < f->count ? (int32_t) f->class_cap[i] : 0;
}
