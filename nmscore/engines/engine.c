/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* engine: the table of engines. */
#include "engine.h"

typedef struct engine {
  int (*run) (nms__frame *frame); /* NULL for auto */
  size_t (*scratch) (size_t boxes);
  int takes_rotated; /* 0 if engine sorted runs frames with rotated boxes in its place */
} engine;

static const engine engines[] = {
  [NMS_ENGINE_AUTO] = { NULL, NULL, 0 },
  [NMS_ENGINE_SEQUENTIAL] = { nms__sequential, nms__sequential_scratch_size, 0 },
  [NMS_ENGINE_SORTED] = { nms__sorted, nms__sorted_scratch_size, 1 },
  [NMS_ENGINE_SPATIAL] = { nms__spatial, nms__spatial_scratch_size, 0 },
};

#define ENGINES (sizeof engines / sizeof engines[0])

size_t
nms__engines_scratch_size (size_t boxes)
{
  size_t most = 0;

  for (size_t i = 0; i < ENGINES; i++)
    if (engines[i].scratch && engines[i].scratch (boxes) > most)
      most = engines[i].scratch (boxes);
  return nms__by_class_scratch_size (boxes, most);
}

static int
choose (nms__frame *f, int asked)
{
  if (f->rotated && !engines[asked].takes_rotated)
    return NMS_ENGINE_SORTED;
  return asked == NMS_ENGINE_AUTO ? nms__auto_choose (f) : asked;
}

int
nms__engine_run (nms__frame *f, int asked, int *used)
{
  *used = choose (f, asked);
  return *used == NMS_ENGINE_AUTO ? nms__by_class (f, used) : engines[*used].run (f);
}
