/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * hostile: makes the inputs. Each hostile input uses a weakness found by reading the engines. A
 * name in brackets is the engine that the input was made for, if auto does not run that engine.
 */
#include "hostile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state;

static uint64_t
next_number (void)
{
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* Returns a number in 0..1. */
static double
unit (void)
{
  return (double) (next_number () >> 11) * 0x1p-53;
}

static void
put (Frame *f, size_t i, double x, double y, double w, double h)
{
  f->rows[4 * i] = (float) x;
  f->rows[4 * i + 1] = (float) y;
  f->rows[4 * i + 2] = (float) (x + w);
  f->rows[4 * i + 3] = (float) (y + h);
}

/* Puts boxes of 4 x 4 side by side in a square. */
static void
put_in_square (Frame *f, size_t i, size_t number)
{
  const size_t side = (size_t) sqrt ((double) f->count) + 1;
  put (f, i, (double) (number % side) * 4, (double) (number / side) * 4, 4, 4);
}

/* ---------------------------------------------------------------- natural */

/* About five boxes for each object, as from a detector, in random order. */
static void
natural (Frame *f)
{
  const size_t objects = f->count / 5 + 1;
  const double width = 60 * sqrt ((double) objects);

  for (size_t i = 0; i < f->count; i++) {
    const uint64_t object = next_number () % objects, after = state;
    state = object * 0x632be59bd9b4e019u; /* so that boxes of an object share place and size */
    const double x = unit () * width, y = unit () * width, w = 20 + unit () * 40;
    const double h = 20 + unit () * 40, angle = unit () * 3;
    state = after;
    put (f, i, x + unit () * 4, y + unit () * 4, w + unit () * 4, h + unit () * 4);
    f->angles[i] = (float) (angle + unit () * 0.1);
  }
}

static void
natural_rotated (Frame *f)
{
  natural (f);
  f->with_angles = 1;
}

static void
natural_sorted (Frame *f)
{
  natural (f);
  f->options.engine = NMS_ENGINE_SORTED;
}

static void
natural_spatial (Frame *f)
{
  natural (f);
  f->options.engine = NMS_ENGINE_SPATIAL;
}

static void
natural_low (Frame *f)
{
  natural (f);
  f->options.iou_threshold = 1e-5f;
}

static void
natural_classes (Frame *f)
{
  natural (f);
  f->with_classes = 1;
  for (size_t i = 0; i < f->count; i++)
    f->class_ids[i] = (int32_t) (next_number () % 80);
}

/* ---------------------------------------------------------------- hostile */

/* Parallel bars at 45 degrees. Their upright bounding boxes overlap, the bars do not. */
static void
thin (Frame *f)
{
  f->with_angles = 1;
  for (size_t i = 0; i < f->count; i++) {
    f->angles[i] = 0.7853982f;
    put (f, i, (double) i * 2, 0, (double) f->count * 10, 1);
  }
}

/* Bars that all cross in one point. */
static void
crossing (Frame *f)
{
  const double w = 1e6, h = w / (double) f->count / 4;

  f->with_angles = 1;
  for (size_t i = 0; i < f->count; i++) {
    f->angles[i] = (float) (unit () * 3.14159265);
    put (f, i, -w / 2, -h / 2, w, h);
  }
}

/* Different boxes of one object: every pair overlaps by more than the threshold. */
static void
one_object (Frame *f)
{
  for (size_t i = 0; i < f->count; i++)
    put (f, i, 100 + unit () * 5, 100 + unit () * 5, 100 + unit () * 5, 100 + unit () * 5);
}

/* Boxes on a diagonal, which would share a cell of a grid that wraps around by a known rule, and
 * 64 boxes elsewhere. */
static void
one_cell (Frame *f)
{
  f->options.engine = NMS_ENGINE_SPATIAL;
  for (size_t i = 0; i < f->count; i++)
    put (f, i, -3.0 * (double) i, 6.0 * (double) i, 4, 4);
  for (size_t i = 0; i < f->count; i += f->count / 64 + 1)
    put (f, i, 1000, -1000, 4, 4);
}

/* Wide and tall bars that all cross. Each query of engine spatial reaches half of the boxes. */
static void
bars (Frame *f)
{
  f->options.iou_threshold = 1e-5f;
  for (size_t i = 0; i < f->count; i++) {
    const double at = unit () * (double) f->count, length = (double) f->count;
    if (i % 2)
      put (f, i, 0, at, length, 0.9);
    else
      put (f, i, at, 0, 0.9, length);
  }
}

static size_t
greatest_common_divisor (size_t a, size_t b)
{
  return b ? greatest_common_divisor (b, a % b) : a;
}

/* Boxes side by side, except those at the positions where an estimate that always takes the same
 * positions would sample: these 16 boxes and the blocks of 64 that they are compared with overlap
 * each other. */
static void
crowd_at_samples (Frame *f)
{
  const size_t n = f->count, blocks = (n + 63) / 64;
  size_t stride = blocks * 5 / 8 + 1;

  for (size_t i = 0; i < n; i++)
    put_in_square (f, i, i);
  while (greatest_common_divisor (blocks, stride) > 1)
    stride++;
  for (size_t k = 0; k < 16; k++) {
    const size_t sample = (2 * k + 1) * n / 32, block = (sample / 64 + stride) % blocks;
    for (size_t i = sample - 40; i < sample + 40; i++)
      put (f, i, -500, -500, 4, 4);
    for (size_t i = block * 64; i < block * 64 + 64 && i < n; i++)
      put (f, i, -500, -500, 4, 4);
  }
}

/* Three objects, so that a cap of 20 is never filled. Detectors report such boxes. */
static void
three_objects (Frame *f)
{
  f->options.max_detections = 20;
  for (size_t i = 0; i < f->count; i++)
    put (f, i, (double) (i % 3) * 500 + unit () * 10, unit () * 10, 100 + unit () * 10,
        100 + unit () * 10);
}

/* Boxes around one centre, down to a width of about 2^-95 of the largest. */
static void
concentric (Frame *f)
{
  f->options.iou_threshold = 0.999f;
  for (size_t i = 0; i < f->count; i++) {
    const double w = 1e6 * exp (-80.0 * (double) i / (double) f->count);
    put (f, i, -w / 2, -w / 2, w, w);
  }
}

static void
concentric_sorted (Frame *f)
{
  concentric (f);
  f->options.engine = NMS_ENGINE_SORTED;
}

#define COLLIDING 4096

/* Half of the boxes side by side in class 7; the others, in heaps, have class ids that a well
 * known multiplier maps to products with 16 equal bits. */
static void
colliding_ids (Frame *f)
{
  int32_t ids[COLLIDING];
  size_t found = 0;

  f->with_classes = 1;
  for (uint64_t id = 0; found < COLLIDING; id++)
    if (((id * 0x9e3779b97f4a7c15u) >> 32 & 0xffff) == 0)
      ids[found++] = (int32_t) (uint32_t) id;
  for (size_t i = 0; i < f->count; i++) {
    f->class_ids[i] = i % 2 ? ids[i / 2 % COLLIDING] : 7;
    if (i % 2)
      put (f, i, unit () * 2, unit () * 2, 4, 4);
    else
      put_in_square (f, i, i / 2);
  }
}

/* The boxes of several images in one call, with the number of the image as class id. Programs make
 * such calls. */
static void
images (Frame *f)
{
  const size_t count = f->count;
  const Frame all = *f;

  for (f->count = IMAGE_BOXES; f->rows < all.rows + 4 * count; f->rows += 4 * IMAGE_BOXES)
    natural (f);
  *f = all;
  f->with_classes = 1;
  for (size_t i = 0; i < count; i++)
    f->class_ids[i] = (int32_t) (i / IMAGE_BOXES);
}

const HostileInput hostile_inputs[] = { { "rotated, thin", 10000, RUN, 0.1, thin, natural_rotated },
  { "rotated, thin", 100000, RUN, 2, thin, natural_rotated },
  { "rotated, crossing", 10000, RUN, 0.1, crossing, natural_rotated },
  { "rotated, crossing", 100000, RUN, 2, crossing, natural_rotated },
  { "neighbors, one object", 30000, NEIGHBORS, 0.03, one_object, natural },
  { "neighbors, one object", 100000, NEIGHBORS, 0.3, one_object, natural },
  { "one grid cell (spatial)", 100000, RUN, 0.02, one_cell, natural_spatial },
  { "crossing bars", 10000, RUN, 0.002, bars, natural_low },
  { "crossing bars", 30000, RUN, 0.0065, bars, natural_low },
  { "crowd at samples", 300000, RUN, 0.06, crowd_at_samples, natural },
  { "cap never filled", 2500, BEST_ENGINE, 2, three_objects, natural },
  { "cap never filled", 30000, BEST_ENGINE, 2, three_objects, natural },
  { "concentric (sorted)", 100000, RUN, 0.1, concentric_sorted, natural_sorted },
  { "concentric", 1000000, RUN, 1.5, concentric, natural },
  { "colliding class ids", 100000, OTHER_IDS, 1.2, colliding_ids, natural_classes },
  { "images as classes", 64 * IMAGE_BOXES, SINGLE_IMAGES, 1.2, images, natural }, { NULL } };

/* ------------------------------------------------------------------ frames */

void
frame_init (Frame *f, size_t most)
{
  *f = (Frame) { .rows = malloc (most * 4 * sizeof *f->rows),
    .scores = malloc (most * sizeof *f->scores),
    .angles = malloc (most * sizeof *f->angles),
    .class_ids = malloc (most * sizeof *f->class_ids) };
  if (!f->rows || !f->scores || !f->angles || !f->class_ids) {
    fprintf (stderr, "bench-hostile: out of memory\n");
    exit (1);
  }
}

void
frame_clear (Frame *f)
{
  free (f->rows);
  free (f->scores);
  free (f->angles);
  free (f->class_ids);
}

void
frame_fill (Frame *f, size_t count, void (*fill) (Frame *frame))
{
  state = count;
  f->count = count;
  f->with_angles = f->with_classes = 0;
  nms_options_init (&f->options, sizeof f->options);
  for (size_t i = 0; i < count; i++)
    f->scores[i] = (float) unit ();
  fill (f);
}

void
frame_change_ids (Frame *f)
{
  for (size_t i = 0; i < f->count; i++)
    f->class_ids[i] = (int32_t) ((uint32_t) f->class_ids[i] * 0x85ebca6bu);
}
