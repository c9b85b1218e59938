/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* benchboxes: makes boxes. Each kind uses a weakness that was found by reading or by timing. */
#include "benchboxes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PI 3.14159265

static uint64_t state;

/* splitmix64 */
static uint64_t
bits (void)
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
  return (double) (bits () >> 11) * 0x1p-53;
}

/* Returns a number in low..high, even on a logarithmic scale. */
static double
spread (double low, double high)
{
  return low * exp (unit () * log (high / low));
}

/* Defines a kind: the boxes of `same` with an IoU threshold of its own. */
#define AT(name, threshold, same) \
  static void name (Frame *f) \
  { \
    f->options.iou_threshold = threshold; \
    same (f); \
  }

static void
put (Frame *f, size_t i, double x, double y, double w, double h)
{
  f->rows[4 * i] = (float) x;
  f->rows[4 * i + 1] = (float) y;
  f->rows[4 * i + 2] = (float) (x + w);
  f->rows[4 * i + 3] = (float) (y + h);
}

static double
count_of (const Frame *f)
{
  return (double) f->count;
}

/* Sides of the square that natural boxes lie in. */
static double
field (const Frame *f)
{
  return 60 * sqrt (count_of (f) / 5 + 1);
}

/* About five boxes for each object, as from a detector, in random order. */
static void
natural (Frame *f)
{
  const size_t objects = f->count / 5 + 1;
  const double width = field (f);

  for (size_t i = 0; i < f->count; i++) {
    const uint64_t object = bits () % objects, after = state;
    state = object * 0x632be59bd9b4e019u; /* so that boxes of an object share place and size */
    const double x = unit () * width, y = unit () * width, w = 20 + unit () * 40;
    const double h = 20 + unit () * 40, angle = unit () * 3;
    state = after;
    put (f, i, x + unit () * 4, y + unit () * 4, w + unit () * 4, h + unit () * 4);
    f->angles[i] = (float) (angle + unit () * 0.1);
  }
}

void
frame_random (Frame *f)
{
  for (size_t i = 0; i < f->count; i++) {
    const double w = 1 + unit () * 1023, h = 1 + unit () * 1023;
    put (f, i, unit () * 1024 - w / 2, unit () * 1024 - h / 2, w, h);
  }
}

/* ------------------------------------------------ a few boxes among natural ones */

static void
far_box (Frame *f)
{
  natural (f);
  put (f, f->count / 2, 1e17, 1e17, 10, 10);
}

static void
farther_half (Frame *f)
{
  natural (f);
  for (size_t i = 1; i < f->count; i += 2)
    put (f, i, 1e12 + unit () * 1e7, 1e12 + unit () * 1e7, 1e5, 1e5);
}

/* One box of 64 covers all. */
static void
covering (Frame *f)
{
  natural (f);
  for (size_t i = bits () % 64; i < f->count; i += 64)
    put (f, i, -unit (), -unit (), field (f) + unit (), field (f) + unit ());
}

/* One box of 16 covers a part of the others. */
static void
large_of_16 (Frame *f)
{
  const double w = field (f);

  natural (f);
  for (size_t i = 0; i < f->count; i += 16)
    put (f, i, unit () * w, unit () * w, w * (.2 + unit ()), w * (.2 + unit ()));
}

static void
equal_scores (Frame *f)
{
  natural (f);
  for (size_t i = 0; i < f->count; i++)
    f->scores[i] = .5f;
}

/* Scores that differ in their last two bits. */
static void
close_scores (Frame *f)
{
  natural (f);
  for (size_t i = 0; i < f->count; i++)
    f->scores[i] = 1 - (float) (bits () & 3) * 0x1p-24f;
}

/* ------------------------------------------------------------------ grids */

/* Puts boxes of 8 x 8 into a square, at places of `pitch`, in random order. */
static void
put_grid (Frame *f, double pitch)
{
  const size_t side = (size_t) sqrt (count_of (f)) + 1;

  for (size_t i = 0; i < f->count; i++)
    put (f, i, (double) (i % side) * pitch, (double) (i / side) * pitch, 8, 8);
  for (size_t i = f->count - 1; i > 0; i--)
    for (size_t j = bits () % (i + 1), k = 0; k < 4; k++) {
      const float corner = f->rows[4 * i + k];
      f->rows[4 * i + k] = f->rows[4 * j + k];
      f->rows[4 * j + k] = corner;
    }
}

static void
separate (Frame *f)
{
  put_grid (f, 9);
}

/* Neighbors overlap by less than the threshold, so that no box is suppressed. */
static void
overlapping (Frame *f)
{
  put_grid (f, 5);
}

static void
separate_ascending (Frame *f)
{
  put_grid (f, 9);
  for (size_t i = 0; i < f->count; i++)
    f->scores[i] = (float) i;
}

/* Boxes side by side, but those where an estimate that takes fixed places would sample. */
static void
crowd_at_samples (Frame *f)
{
  const size_t side = (size_t) sqrt (count_of (f)) + 1;

  for (size_t i = 0; i < f->count; i++)
    put (f, i, (double) (i % side) * 8, (double) (i / side) * 8, 8, 8);
  for (size_t k = 0; k < 16; k++)
    for (size_t i = (2 * k + 1) * f->count / 32, end = i + 40; i < end && i < f->count; i++)
      put (f, i, -500, -500, 4, 4);
}

/* ------------------------------------------------------------------- heaps */

static void
identical (Frame *f)
{
  for (size_t i = 0; i < f->count; i++)
    put (f, i, 5, 5, 50, 50);
}

/* Different boxes of one object: every pair overlaps by more than the threshold. */
static void
one_object (Frame *f)
{
  for (size_t i = 0; i < f->count; i++)
    put (f, i, 100 + unit () * 5, 100 + unit () * 5, 100 + unit () * 5, 100 + unit () * 5);
}

static void
large (Frame *f)
{
  for (size_t i = 0; i < f->count; i++)
    put (f, i, unit () * 640, unit () * 640, unit () * 300, unit () * 300);
}

static void
large_squares (Frame *f)
{
  for (size_t i = 0; i < f->count; i++)
    put (f, i, unit () * 100, unit () * 100, 500, 500);
}

AT (large_squares_high, .97f, large_squares)

static void
one_object_high (Frame *f)
{
  f->options.iou_threshold = .9999f;
  for (size_t i = 0; i < f->count; i++)
    put (f, i, unit (), unit (), 500 + unit (), 500 + unit ());
}

/* ---------------------------------------------------- lines, chains and nests */

static void
stripes (Frame *f)
{
  for (size_t i = 0; i < f->count; i++)
    put (f, i, unit (), unit () * .6 * count_of (f), 1e5, 1);
}

/* Wide and tall bars that all cross. */
static void
bars (Frame *f)
{
  for (size_t i = 0; i < f->count; i++) {
    const double at = unit () * count_of (f);
    if (i % 2)
      put (f, i, 0, at, count_of (f), .9);
    else
      put (f, i, at, 0, .9, count_of (f));
  }
}

AT (bars_low, 1e-7f, bars)

/* Bars of many widths. */
static void
broad_bars (Frame *f)
{
  for (size_t i = 0; i < f->count; i++) {
    const double at = unit () * count_of (f), width = unit () * 40;
    if (i % 2)
      put (f, i, 0, at, count_of (f), width);
    else
      put (f, i, at, 0, width, count_of (f));
  }
}

static void
diagonal (Frame *f)
{
  for (size_t i = 0; i < f->count; i++) {
    const double at = unit () * .4 * count_of (f);
    put (f, i, at, at, 1, 1);
  }
}

static void
long_diagonal (Frame *f)
{
  for (size_t i = 0; i < f->count; i++) {
    const double at = unit () * .4 * count_of (f);
    put (f, i, at, at, .3 * count_of (f), .3 * count_of (f));
  }
}

/* Each box overlaps the next ones, so that all are one cluster of overlapping boxes. */
static void
chain (Frame *f)
{
  for (size_t i = 0; i < f->count; i++)
    put (f, i, unit () * .34 * count_of (f), 0, 1, 1);
}

/* Boxes around one centre, down to a width of about 2^-43 of the largest. */
static void
nest (Frame *f)
{
  for (size_t i = 0; i < f->count; i++) {
    const double w = 1e6 * exp (-30 * unit ());
    put (f, i, -w / 2, -w / 2, w, w);
  }
}

AT (nest_high, .99f, nest)
AT (nest_highest, .9999f, nest)

/* ---------------------------------------------------------------- many sizes */

static void
all_sizes (Frame *f)
{
  for (size_t i = 0; i < f->count; i++) {
    const double w = spread (1e-3, 1e6), h = w * spread (.3, 3);
    put (f, i, unit () * 1e6 - w / 2, unit () * 1e6 - h / 2, w, h);
  }
}

AT (all_sizes_low, .001f, all_sizes)

/* Boxes of all widths and heights around one place. */
static void
all_shapes (Frame *f)
{
  for (size_t i = 0; i < f->count; i++) {
    const double w = spread (1e-3, 1e6), h = spread (1e-3, 1e6);
    put (f, i, unit () - w / 2, unit () - h / 2, w, h);
  }
}

/* Objects with few and with very many boxes. */
static void
uneven_objects (Frame *f)
{
  for (size_t i = 0; i < f->count; i++) {
    const double object = floor (fmin (count_of (f), pow (1 - unit (), -1.5)));
    put (f, i, fmod (object * 7919.3, field (f)) + unit () * 4,
        fmod (object * 104729.7, field (f)) + unit () * 4, 30 + unit () * 4, 30 + unit () * 4);
  }
}

/* ---------------------------------------------------------- thresholds and caps */

AT (large_at_0, 0, large)
AT (natural_at_0, 0, natural)
AT (large_high, .95f, large)

/* Three objects, so that the cap is never filled. Detectors report such boxes. */
static void
cap_never_filled (Frame *f)
{
  f->options.max_detections = 20;
  for (size_t i = 0; i < f->count; i++)
    put (f, i, (double) (i % 3) * 500 + unit () * 10, unit () * 10, 100 + unit () * 10,
        100 + unit () * 10);
}

static void
cap_at_the_end (Frame *f)
{
  f->options.max_detections = f->count - 1;
  separate (f);
}

static void
cap_late (Frame *f)
{
  f->options.max_detections = f->count * 10 / 47 + 1;
  natural (f);
}

/* ----------------------------------------------------------------- classes */

static void
classes (Frame *f)
{
  natural (f);
  f->with_classes = 1;
  for (size_t i = 0; i < f->count; i++)
    f->class_ids[i] = (int32_t) (bits () % 80);
}

static void
cap_of_classes (Frame *f)
{
  classes (f);
  for (size_t i = 0; i < f->count; i++)
    f->class_ids[i] %= 3;
  f->options.max_per_class = 20;
}

static void
a_class_each (Frame *f)
{
  natural (f);
  f->with_classes = 1;
  for (size_t i = 0; i < f->count; i++)
    f->class_ids[i] = (int32_t) (uint32_t) bits ();
}

static void
uneven_classes (Frame *f)
{
  natural (f);
  f->with_classes = 1;
  for (size_t i = 0; i < f->count; i++)
    f->class_ids[i] = (int32_t) fmin (1e9, 1 / (1 - unit ()));
}

/* Half of the boxes in a class; the others have class ids that a well known multiplier maps to
 * products with 16 equal bits. */
static void
colliding_ids (Frame *f)
{
  uint64_t id = 0;

  separate (f);
  f->with_classes = 1;
  for (size_t i = 0; i < f->count; i++)
    if (i % 2 || i / 2 >= 4096)
      f->class_ids[i] = 7;
    else {
      while (((++id * 0x9e3779b97f4a7c15u) >> 32 & 0xffff) != 0)
        ;
      f->class_ids[i] = (int32_t) (uint32_t) id;
    }
}

/* In each class a box that covers all. */
static void
covering_of_classes (Frame *f)
{
  classes (f);
  for (size_t i = 0; i < 80 && i < f->count; i++) {
    f->class_ids[i] = (int32_t) i;
    put (f, i, 0, 0, field (f), field (f));
  }
}

/* Images of 1,000 boxes in one call, with the number of the image as class id. */
static void
images_as_classes (Frame *f)
{
  const Frame all = *f;

  for (size_t first = 0; first < all.count; first += 1000, f->rows += 4000) {
    f->count = all.count - first < 1000 ? all.count - first : 1000;
    natural (f);
  }
  *f = all;
  f->with_classes = 1;
  for (size_t i = 0; i < f->count; i++)
    f->class_ids[i] = (int32_t) (i / 1000);
}

/* ------------------------------------------------------------------ rotated */

static void
rotated (Frame *f)
{
  natural (f);
  f->with_angles = 1;
}

static void
rotated_separate (Frame *f)
{
  separate (f);
  f->with_angles = 1;
  for (size_t i = 0; i < f->count; i++)
    f->angles[i] = .3f;
}

/* Parallel bars at 45 degrees. Their upright bounding boxes overlap, the bars do not. */
static void
rotated_thin (Frame *f)
{
  f->with_angles = 1;
  for (size_t i = 0; i < f->count; i++) {
    f->angles[i] = .7853982f;
    put (f, i, (double) i * 2, 0, count_of (f) * 10, 1);
  }
}

/* Bars that all cross in one point. */
static void
rotated_crossing (Frame *f)
{
  const double w = 1e6, h = w / count_of (f) / 4;

  f->with_angles = 1;
  for (size_t i = 0; i < f->count; i++) {
    f->angles[i] = (float) (unit () * PI);
    put (f, i, -w / 2, -h / 2, w, h);
  }
}

static void
one_rotated (Frame *f)
{
  natural (f);
  f->with_angles = 1;
  for (size_t i = 0; i < f->count; i++)
    f->angles[i] = i == f->count / 2 ? .1f : 0;
}

#define KIND(function) \
  { \
#function, function \
  }

const FrameKind frame_kinds[] = { KIND (natural), KIND (far_box), KIND (farther_half),
  KIND (covering), KIND (large_of_16), KIND (equal_scores), KIND (close_scores), KIND (separate),
  KIND (overlapping), KIND (separate_ascending), KIND (crowd_at_samples), KIND (identical),
  KIND (one_object), KIND (large), KIND (large_squares), KIND (large_squares_high),
  KIND (one_object_high), KIND (stripes), KIND (bars), KIND (bars_low), KIND (broad_bars),
  KIND (diagonal), KIND (long_diagonal), KIND (chain), KIND (nest), KIND (nest_high),
  KIND (nest_highest), KIND (all_sizes), KIND (all_sizes_low), KIND (all_shapes),
  KIND (uneven_objects), KIND (large_at_0), KIND (natural_at_0), KIND (large_high),
  KIND (cap_never_filled), KIND (cap_at_the_end), KIND (cap_late), KIND (classes),
  KIND (cap_of_classes), KIND (a_class_each), KIND (uneven_classes), KIND (colliding_ids),
  KIND (covering_of_classes), KIND (images_as_classes), KIND (rotated), KIND (rotated_separate),
  KIND (rotated_thin), KIND (rotated_crossing), KIND (one_rotated), { NULL, NULL } };

/* ------------------------------------------------------------------ frames */

void
frame_init (Frame *f, size_t most)
{
  *f = (Frame) { .rows = malloc (most * 4 * sizeof *f->rows),
    .scores = malloc (most * sizeof *f->scores),
    .angles = malloc (most * sizeof *f->angles),
    .class_ids = malloc (most * sizeof *f->class_ids) };
  if (!f->rows || !f->scores || !f->angles || !f->class_ids) {
    fprintf (stderr, "out of memory\n");
    exit (2);
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

static void
fill_frame (Frame *f, size_t count, void (*fill) (Frame *frame))
{
  f->count = count;
  f->with_angles = f->with_classes = 0;
  nms_options_init (&f->options, sizeof f->options);
  for (size_t i = 0; i < count; i++)
    f->scores[i] = (float) unit ();
  fill (f);
}

void
frame_fill (Frame *f, size_t count, void (*fill) (Frame *frame))
{
  state = count;
  fill_frame (f, count, fill);
}

void
frame_make_natural (Frame *f)
{
  const int with_angles = f->with_angles, with_classes = f->with_classes;
  const float threshold = f->options.iou_threshold;

  frame_fill (f, f->count, with_classes ? classes : natural);
  f->with_angles = with_angles;
  f->options.iou_threshold = threshold;
}

void
frame_seed (uint64_t seed)
{
  state = seed;
}

void
frame_draw (Frame *f, size_t least, size_t most)
{
  static void (*const layouts[]) (
      Frame *) = { natural, frame_random, separate, overlapping, large, uneven_objects, all_sizes };
  static const uint32_t class_counts[] = { 1, 3, 80 };
  const size_t count = (size_t) spread ((double) least, (double) most);
  const uint32_t class_count = class_counts[bits () % 3];

  fill_frame (f, count, layouts[bits () % (sizeof layouts / sizeof *layouts)]);
  f->with_classes = class_count > 1;
  for (size_t i = 0; i < count; i++)
    f->class_ids[i] = (int32_t) (bits () % class_count);
  f->options.iou_threshold = (float) (unit () * .98);
  if (bits () % 3 == 0)
    f->options.max_detections = (uint64_t) spread (1, count_of (f));
  if (bits () % 3 == 0)
    f->options.max_per_class = (uint64_t) spread (1, 100);
}

static double
now (void)
{
  struct timespec t;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

double
frame_time (nms_context *ctx, const Frame *f, uint32_t *neighbors, double enough)
{
  nms_boxes boxes = { .size = sizeof boxes, .count = f->count };
  const double end = now () + enough;
  double least = INFINITY, start;

  nms_boxes_set_rows (&boxes, f->rows);
  boxes.score.data = f->scores;
  boxes.angle.data = f->with_angles ? f->angles : NULL;
  boxes.class_id.data = f->with_classes ? f->class_ids : NULL;
  do {
    nms_result result = { .size = sizeof result };
    start = now ();
    if (neighbors ? nms_count_neighbors (ctx, &boxes, &f->options, neighbors)
                  : nms_run (ctx, &boxes, &f->options, &result)) {
      fprintf (stderr, "%s\n", nms_context_error (ctx));
      exit (2);
    }
    const double spent = now () - start;
    least = spent > 0 ? fmin (least, spent) : least; /* the clock may stand still for a moment */
  } while (now () < end || isinf (least));
  return least;
}
