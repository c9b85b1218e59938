/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* auto: which engine suits a frame. */
#include "engine.h"

/* Below this many boxes there is nothing to gain from sorting first; and a few
 * picks of a large frame are cheaper found one by one. */
#define FEW_BOXES 128
#define STEPS_WORTH_A_SORT 4

/* From this many on, finding neighbours beats testing against all kept boxes,
 * unless a cap leaves few of those. */
#define MANY_BOXES 8192
#define MANY_KEPT 1024

static int
choose (const nms__frame *f)
{
  if (f->count <= FEW_BOXES || nms__total_cap (f) <= STEPS_WORTH_A_SORT)
    return NMS_ENGINE_SEQUENTIAL;
  if (f->count >= MANY_BOXES && nms__total_cap (f) >= MANY_KEPT)
    return NMS_ENGINE_SPATIAL;
  return NMS_ENGINE_SORTED;
}

int
nms__engine_run (nms__frame *frame, int engine)
{
  if (engine == NMS_ENGINE_AUTO)
    engine = choose (frame);
  if (engine == NMS_ENGINE_SEQUENTIAL)
    nms__sequential (frame);
  else if (engine == NMS_ENGINE_SPATIAL)
    nms__spatial (frame);
  else
    nms__sorted (frame);
  return engine;
}
