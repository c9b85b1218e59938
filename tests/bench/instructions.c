/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * instructions: runs nms_run once on a fixed workload, for instructions.py to count
 * under valgrind. It counts only `counted` and what that calls; an earlier run has
 * allocated the scratch memory.
 *
 *   bench-instructions WORKLOAD    prints the kept count, the engine and the isa
 *   bench-instructions             prints the names of the workloads
 *
 * The boxes are computed from integers, so that they are the same with every compiler
 * and C library. A changed workload invalidates its records.
 */
#include <nmscore.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct workload {
  const char *name;
  size_t count, objects; /* with 0 objects the boxes lie anywhere */
  int classes;           /* 0: no classes */
  float iou;
  uint64_t cap;
} workload;

static const workload workloads[] = {
  { "frame", 100, 8, 0, 0.5f, 0 },      /* the output of a detector for an image */
  { "article", 1024, 0, 0, 0.1f, 128 }, /* the size of the TPU article */
  { "crowd", 8400, 700, 80, 0.5f, 0 },  /* every anchor of a detector, classes */
};

enum { WORKLOADS = sizeof workloads / sizeof *workloads, IMAGE = 1024 };

/* splitmix64: returns the next number of a fixed sequence. */
static uint64_t
next (uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Returns an integer in [low, high). */
static int
between (uint64_t *state, int low, int high)
{
  return low + (int) (next (state) % (uint64_t) (high - low));
}

static void
random_box (uint64_t *state, float row[4])
{
  for (int axis = 0; axis < 2; axis++) {
    const int low = between (state, 0, IMAGE - 1), size = between (state, 1, IMAGE);
    row[axis] = (float) low;
    row[axis + 2] = (float) (low + size < IMAGE ? low + size : IMAGE - 1);
  }
}

/* Makes a box around object `object`: its centre and size, changed by up to a fifth, in
 * units of 1/16 pixel, which floats hold exactly. */
static void
object_box (uint64_t *state, size_t object, float row[4])
{
  uint64_t of = object * 1000003u;
  for (int axis = 0; axis < 2; axis++) {
    const int centre = between (&of, 0, IMAGE * 16), size = between (&of, 256, 1024);
    const int moved = centre + between (state, -size / 5, size / 5 + 1);
    const int half = (size + between (state, -size / 5, size / 5 + 1)) / 2;
    row[axis] = (float) (moved - half) / 16.0f;
    row[axis + 2] = (float) (moved + half) / 16.0f;
  }
}

static void
fill (const workload *w, float *rows, float *scores, int32_t *classes)
{
  uint64_t state = w->count;
  for (size_t i = 0; i < w->count; i++) {
    const size_t object = w->objects ? next (&state) % w->objects : 0;
    if (w->objects)
      object_box (&state, object, rows + 4 * i);
    else
      random_box (&state, rows + 4 * i);
    scores[i] = (float) between (&state, 0, 1 << 20) / (float) (1 << 20);
    classes[i] = w->classes ? (int32_t) (object % (size_t) w->classes) : 0;
  }
}

int counted (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    nms_result *result);

int
counted (nms_context *ctx, const nms_boxes *boxes, const nms_options *options, nms_result *result)
{
  const int error = nms_run (ctx, boxes, options, result);
  __asm__ volatile("" ::: "memory"); /* no tail call, because the count ends on return */
  return error;
}

/* The compiler does not know the target, so it neither inlines nor clones it. */
static int (*volatile count) (nms_context *, const nms_boxes *, const nms_options *,
    nms_result *) = counted;

static int
run (const workload *w)
{
  nms_context *ctx = nms_context_new ();
  float *rows = malloc (w->count * 4 * sizeof *rows);
  float *scores = malloc (w->count * sizeof *scores);
  int32_t *classes = malloc (w->count * sizeof *classes);
  nms_boxes boxes = { .size = sizeof boxes, .count = w->count };
  nms_options options;
  nms_result result = { .size = sizeof result };
  int error = NMS_ERROR_MEMORY;

  if (ctx && rows && scores && classes) {
    fill (w, rows, scores, classes);
    nms_boxes_set_rows (&boxes, rows);
    boxes.score.data = scores;
    boxes.class_id.data = w->classes ? classes : NULL;
    nms_options_init (&options, sizeof options);
    options.iou_threshold = w->iou;
    options.max_detections = w->cap;
    options.outputs = NMS_OUTPUT_OUTCOME;
    error = nms_run (ctx, &boxes, &options, &result);
    if (error == NMS_OK)
      error = count (ctx, &boxes, &options, &result);
  }
  if (error == NMS_OK)
    printf ("%zu %s %s\n", result.kept_count, nms_engine_name (nms_context_engine (ctx)),
        nms_context_isa (ctx));
  else
    fprintf (stderr, "%s: %s\n", w->name, nms_strerror (error));
  free (rows);
  free (scores);
  free (classes);
  nms_context_free (&ctx);
  return error == NMS_OK ? 0 : 1;
}

int
main (int argc, char **argv)
{
  for (int i = 0; i < WORKLOADS; i++) {
    if (argc < 2)
      puts (workloads[i].name);
    else if (strcmp (argv[1], workloads[i].name) == 0)
      return run (&workloads[i]);
  }
  return argc < 2 ? 0 : 2;
}
