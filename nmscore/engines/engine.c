/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * engine: the table of engines. Runs the requested engine on a frame; if it returns NMS__NOT_RUN,
 * runs the engine that auto chooses.
 */
#include "engine.h"

#include "accel/accel.h"

typedef struct engine {
  const char *name;
  int (*run) (nms_context *ctx); /* decides ctx->frame; NULL for auto */
  size_t (*scratch) (size_t boxes);
  int takes_rotated; /* 0: engine sorted runs frames with rotated boxes in its place */
} engine;

static const engine engines[] = {
  [NMS_ENGINE_AUTO] = { "auto", NULL, NULL, 0 },
  [NMS_ENGINE_SEQUENTIAL] = { "sequential", nms__sequential, nms__sequential_scratch_size, 0 },
  [NMS_ENGINE_SORTED] = { "sorted", nms__sorted, nms__sorted_scratch_size, 1 },
  [NMS_ENGINE_SPATIAL] = { "spatial", nms__spatial, nms__spatial_scratch_size, 0 },
#ifdef NMS__HAVE_XLA
  /* xla refuses frames with rotated boxes itself, because under xla_strict they are an error. */
  [NMS_ENGINE_XLA] = { "xla", nms__xla, nms__xla_scratch_size, 1 },
#endif
};

#define ENGINES (sizeof engines / sizeof engines[0])

const char *
nms_engine_name (int number)
{
  if (number < 0 || (size_t) number >= ENGINES)
    return NULL;
  return engines[number].name;
}

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

static int
run (nms_context *ctx, int asked, int *used)
{
  *used = choose (&ctx->frame, asked);
  return *used == NMS_ENGINE_AUTO ? nms__by_class (ctx, used) : engines[*used].run (ctx);
}

int
nms__engine_run (nms_context *ctx, int asked, int *used)
{
  const int error = run (ctx, asked, used);

  return error == NMS__NOT_RUN ? run (ctx, NMS_ENGINE_AUTO, used) : error;
}
