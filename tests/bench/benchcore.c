/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * benchcore: times calls of nms_run in C, for peers.py. Each call gets the
 * next frame and does all that an application asks for: it reads rows of x1 y1 x2 y2, makes all
 * checks, and writes the kept list and the outcome of each box. The caller owns the arrays.
 */
#include <nmscore.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_FRAMES 64

typedef struct benchcore {
  nms_context *ctx;
  nms_options options;
  nms_result result;
  nms_boxes frames[MAX_FRAMES];
  int frame_count, next; /* next: frame of the next call */
} benchcore;

/* Returns NULL if there is no memory. */
benchcore *
benchcore_new (void)
{
  benchcore *b = calloc (1, sizeof *b);

  if (!b || !(b->ctx = nms_context_new ()))
    return NULL;
  b->result.size = sizeof b->result;
  nms_options_init (&b->options, sizeof b->options);
  b->options.outputs = NMS_OUTPUT_OUTCOME;
  return b;
}

/* Forgets the frames, and the scratch memory, so that its size is that of the next ones. */
void
benchcore_clear (benchcore *b, float threshold, uint64_t cap)
{
  nms_context_trim (b->ctx);
  b->options.iou_threshold = threshold;
  b->options.max_detections = cap;
  b->frame_count = b->next = 0;
}

void
benchcore_add (benchcore *b, const float *rows, const float *scores, const int32_t *classes,
    size_t count)
{
  nms_boxes *boxes = &b->frames[b->frame_count++];

  *boxes = (nms_boxes) { .size = sizeof *boxes, .count = count };
  nms_boxes_set_rows (boxes, rows);
  boxes->score.data = scores;
  boxes->class_id.data = classes;
}

static uint64_t
now (clockid_t clock)
{
  struct timespec t;
  clock_gettime (clock, &t);
  return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

/* Stores the times of `count` calls in nanoseconds. Returns 0 or the error of a call. */
int
benchcore_run (benchcore *b, size_t count, int clock, uint64_t *times)
{
  for (size_t i = 0; i < count; i++) {
    const uint64_t start = now ((clockid_t) clock);
    const int error = nms_run (b->ctx, &b->frames[b->next], &b->options, &b->result);
    times[i] = now ((clockid_t) clock) - start;
    if (error)
      return error;
    b->next = (b->next + 1) % b->frame_count;
  }
  return 0;
}

/* Runs the first frame. Returns the number of kept boxes. */
size_t
benchcore_kept (benchcore *b, const int32_t **kept)
{
  nms_run (b->ctx, &b->frames[0], &b->options, &b->result);
  *kept = b->result.kept;
  return b->result.kept_count;
}

/* Returns an error, the engine or the instruction set of the last call, or the compiler. */
const char *
benchcore_about (const benchcore *b, char what)
{
  switch (what) {
    case 'x':
      return nms_context_error (b->ctx);
    case 'e':
      return nms_engine_name (nms_context_engine (b->ctx));
    case 'i':
      return nms_context_isa (b->ctx);
    default:
      return BENCH_COMPILER;
  }
}
