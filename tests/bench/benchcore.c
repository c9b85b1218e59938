/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * benchcore: times calls of nms_run in C, for peers.py. Each call gets the next frame and does all
 * that an application asks for: it reads rows of x1 y1 x2 y2, makes all checks, and writes the kept
 * list and the outcome of each box.
 */
#include <nmscore.h>

#include <string.h>
#include <time.h>

typedef struct benchcore_frame {
  const float *rows, *scores;
  const int32_t *classes; /* NULL: one class */
} benchcore_frame;

const char *const benchcore_compiler = BENCH_COMPILER;

static uint64_t
now (clockid_t clock)
{
  struct timespec t;
  clock_gettime (clock, &t);
  return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

/* Calls nms_run for one frame after the other, from `first` on, each of `box_count` boxes. Stores
 * the times of the calls in nanoseconds, and what the last call kept. Returns the number of kept
 * boxes, or -1 if a call failed. */
int64_t
benchcore_run (const benchcore_frame *frames, size_t frame_count, size_t box_count, float threshold,
    uint64_t cap, size_t first, size_t calls, int clock, uint64_t *times, int32_t *kept)
{
  nms_context *ctx = nms_context_new ();
  nms_options options;
  nms_result result = { .size = sizeof result };
  int error = 0;

  nms_options_init (&options, sizeof options);
  options.outputs = NMS_OUTPUT_OUTCOME;
  options.iou_threshold = threshold;
  options.max_detections = cap;
  for (size_t i = 0; i < calls && !error; i++) {
    const benchcore_frame *frame = &frames[(first + i) % frame_count];
    nms_boxes boxes = { .size = sizeof boxes, .count = box_count };

    nms_boxes_set_rows (&boxes, frame->rows);
    boxes.score.data = frame->scores;
    boxes.class_id.data = frame->classes;
    const uint64_t start = now ((clockid_t) clock);
    error = nms_run (ctx, &boxes, &options, &result);
    times[i] = now ((clockid_t) clock) - start;
  }
  if (!error)
    memcpy (kept, result.kept, result.kept_count * sizeof *kept);
  nms_context_free (&ctx);
  return error ? -1 : (int64_t) result.kept_count;
}
