/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * engine: the table of engines, and the run of a frame by one of them. A frame that
 * an engine leaves is run by the one that auto chooses.
 */
#include "engine.h"

#include "accel/accel.h"

typedef struct engine {
  const char *name;
  int (*run) (nms_context *ctx); /* NULL: auto */
  int takes_rotated; /* frames with rotated boxes; else nms__sorted runs them */
} engine;

static const engine engines[] = {
  [NMS_ENGINE_AUTO] = { "auto", NULL, 0 },
  [NMS_ENGINE_SEQUENTIAL] = { "sequential", nms__sequential, 0 },
  [NMS_ENGINE_SORTED] = { "sorted", nms__sorted, 1 },
  [NMS_ENGINE_SPATIAL] = { "spatial", nms__spatial, 0 },
#ifdef NMS__HAVE_XLA
  /* xla refuses rotated boxes itself, which under xla_strict is an error */
  [NMS_ENGINE_XLA] = { "xla", nms__xla, 1 },
#endif
};

const char *
nms_engine_name (int number)
{
  if (number < 0 || (size_t) number >= sizeof engines / sizeof engines[0])
    return NULL;
  return engines[number].name;
}

static int
choose (const nms__frame *f, int asked)
{
  if (f->turned && !engines[asked].takes_rotated)
    return NMS_ENGINE_SORTED;
  return asked == NMS_ENGINE_AUTO ? nms__auto_choose (f) : asked;
}

int
nms__engine_run (nms_context *ctx, int *used)
{
  *used = choose (&ctx->frame, (int) ctx->settings.options.engine);
  int error = engines[*used].run (ctx);

  if (error == NMS__NOT_RUN) {
    *used = choose (&ctx->frame, NMS_ENGINE_AUTO);
    error = engines[*used].run (ctx);
  }
  return error;
}
