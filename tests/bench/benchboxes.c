/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* benchboxes: makes boxes. Each kind uses a weakness that was found by reading or by timing. */
#include "benchboxes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

static void
put (Frame *f, size_t i, double x, double y, double w, double h)
{
  f->rows[4 * i] = (float) x;
  f->rows[4 * i + 1] = (float) y;
  f->rows[4 * i + 2] = (float) (x + w);
  f->rows[4 * i + 3] = (float) (y + h);
}

/* Puts a box of w x h with its centre at random within 0..side. */
static void
put_around (Frame *f, size_t i, double side, double w, double h)
{
  put (f, i, unit () * side - w / 2, unit () * side - h / 2, w, h);
}

/* Puts a wide or, in turn, a tall bar. */
static void
put_bar (Frame *f, size_t i, double at, double width)
{
  if (i % 2)
    put (f, i, 0, at, count_of (f), width);
  else
    put (f, i, at, 0, width, count_of (f));
}

static void
put_on_diagonal (Frame *f, size_t i, double side)
{
  const double at = unit () * .4 * count_of (f);

  put (f, i, at, at, side, side);
}

/* Puts boxes of 8 x 8 into a square, at places of `pitch`, row by row. */
static void
put_in_order (Frame *f, double pitch)
{
  const size_t side = (size_t) sqrt (count_of (f)) + 1;

  for (size_t i = 0; i < f->count; i++)
    put (f, i, (double) (i % side) * pitch, (double) (i / side) * pitch, 8, 8);
}

/* The same in random order. */
static void
put_grid (Frame *f, double pitch)
{
  put_in_order (f, pitch);
  for (size_t i = f->count - 1; i > 0; i--)
    for (size_t j = bits () % (i + 1), k = 0; k < 4; k++) {
      const float corner = f->rows[4 * i + k];
      f->rows[4 * i + k] = f->rows[4 * j + k];
      f->rows[4 * j + k] = corner;
    }
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
    put_around (f, i, 1024, w, h);
  }
}

/* Defines a kind by what fills a frame with its boxes. */
#define KIND(name, ...) \
  static void name (Frame *f) { __VA_ARGS__; }
#define EACH for (size_t i = 0; i < f->count; i++)
#define AT(threshold) f->options.iou_threshold = threshold

/* A few boxes among natural ones. The scores of close_scores differ in their last two bits. */
KIND (far_box, natural (f); put (f, f->count / 2, 1e17, 1e17, 10, 10))
KIND (farther_half, natural (f);
      EACH if (i % 2) put (f, i, 1e12 + unit () * 1e7, 1e12 + unit () * 1e7, 1e5, 1e5))
KIND (covering, natural (f); for (size_t i = bits () % 64; i < f->count; i += 64)
          put (f, i, -unit (), -unit (), field (f) + unit (), field (f) + unit ()))
KIND (large_of_16, natural (f); const double w = field (f); EACH if (i % 16 == 0)
          put (f, i, unit () * w, unit () * w, w *(.2 + unit ()), w *(.2 + unit ())))
KIND (equal_scores, natural (f); EACH f->scores[i] = .5f)
KIND (close_scores, natural (f); EACH f->scores[i] = 1 - (float) (bits () & 3) * 0x1p-24f)
KIND (natural_at_0, AT (0); natural (f))

/* Grids. Neighbors of `overlapping` overlap by less than the threshold. crowd_at_samples has other
 * boxes where an estimate that takes fixed places would sample. */
KIND (separate, put_grid (f, 9))
KIND (overlapping, put_grid (f, 5))
KIND (separate_ascending, put_grid (f, 9); EACH f->scores[i] = (float) i)

static void
crowd_at_samples (Frame *f)
{
  put_in_order (f, 8);
  for (size_t k = 0; k < 16; k++)
    for (size_t i = (2 * k + 1) * f->count / 32, end = i + 40; i < end && i < f->count; i++)
      put (f, i, -500, -500, 4, 4);
}

/* Heaps. Every pair of boxes of one_object overlaps by more than the threshold. */
KIND (identical, EACH put (f, i, 5, 5, 50, 50))
KIND (one_object,
    EACH put (f, i, 100 + unit () * 5, 100 + unit () * 5, 100 + unit () * 5, 100 + unit () * 5))
KIND (one_object_high, AT (.9999f); EACH put (f, i, unit (), unit (), 500 + unit (), 500 + unit ()))
KIND (large, EACH put (f, i, unit () * 640, unit () * 640, unit () * 300, unit () * 300))
KIND (large_at_0, AT (0); large (f))
KIND (large_high, AT (.95f); large (f))
KIND (large_squares, EACH put (f, i, unit () * 100, unit () * 100, 500, 500))
KIND (large_squares_high, AT (.97f); large_squares (f))

/* Lines: stripes, bars that all cross, of one width or of many, and boxes on a diagonal. Each box
 * of a chain overlaps the next ones. */
KIND (stripes, EACH put (f, i, unit (), unit () * .6 * count_of (f), 1e5, 1))
KIND (bars, EACH put_bar (f, i, unit () * count_of (f), .9))
KIND (bars_low, AT (1e-7f); bars (f))
KIND (
    broad_bars, EACH {
      const double at = unit () * count_of (f);
      put_bar (f, i, at, unit () * 40);
    })
KIND (diagonal, EACH put_on_diagonal (f, i, 1))
KIND (long_diagonal, EACH put_on_diagonal (f, i, .3 * count_of (f)))
KIND (chain, EACH put (f, i, unit () * .34 * count_of (f), 0, 1, 1))

/* Many sizes: boxes around one centre, down to a width of about 2^-43 of the largest; of all sizes;
 * of all widths and heights around one place; objects with few and with very many boxes. */
KIND (
    nest, EACH {
      const double w = 1e6 * exp (-30 * unit ());
      put (f, i, -w / 2, -w / 2, w, w);
    })
KIND (nest_high, AT (.99f); nest (f))
KIND (nest_highest, AT (.9999f); nest (f))
KIND (
    all_sizes, EACH {
      const double w = spread (1e-3, 1e6);
      put_around (f, i, 1e6, w, w * spread (.3, 3));
    })
KIND (all_sizes_low, AT (.001f); all_sizes (f))
KIND (
    all_shapes, EACH {
      const double w = spread (1e-3, 1e6);
      put_around (f, i, 1, w, spread (1e-3, 1e6));
    })
KIND (
    uneven_objects, EACH {
      const double object = floor (fmin (count_of (f), pow (1 - unit (), -1.5)));
      const double x = fmod (object * 7919.3, field (f)), y = fmod (object * 104729.7, field (f));
      put (f, i, x + unit () * 4, y + unit () * 4, 30 + unit () * 4, 30 + unit () * 4);
    })

/* Caps. cap_never_filled has three objects, as detectors report them. */
KIND (cap_never_filled, f->options.max_detections = 20; EACH put (f, i,
    (double) (i % 3) * 500 + unit () * 10, unit () * 10, 100 + unit () * 10, 100 + unit () * 10))
KIND (cap_at_the_end, f->options.max_detections = f->count - 1; separate (f))
KIND (cap_late, f->options.max_detections = f->count * 10 / 47 + 1; natural (f))

/* Classes. covering_of_classes has a box that covers all in each class, images_as_classes images of
 * 1,000 boxes with their number as class id. */
#define CLASSES(id) \
  f->with_classes = 1; \
  EACH f->class_ids[i] = (int32_t) (id)
KIND (classes, natural (f); CLASSES (bits () % 80))
KIND (cap_of_classes, classes (f); f->options.max_per_class = 20; CLASSES (f->class_ids[i] % 3))
KIND (a_class_each, natural (f); CLASSES ((uint32_t) bits ()))
KIND (uneven_classes, natural (f); CLASSES (fmin (1e9, 1 / (1 - unit ()))))

static void
covering_of_classes (Frame *f)
{
  classes (f);
  for (size_t i = 0; i < 80 && i < f->count; i++) {
    f->class_ids[i] = (int32_t) i;
    put (f, i, 0, 0, field (f), field (f));
  }
}

static void
images_as_classes (Frame *f)
{
  const Frame all = *f;

  for (size_t first = 0; first < all.count; first += 1000, f->rows += 4000) {
    f->count = all.count - first < 1000 ? all.count - first : 1000;
    natural (f);
  }
  *f = all;
  CLASSES (i / 1000);
}

/* Half of the boxes in a class; the others have class ids that a well known multiplier maps to
 * products with 16 equal bits. */
static int32_t
colliding_id (size_t i, uint64_t *id)
{
  if (i % 2 || i / 2 >= 4096)
    return 7;
  while (((++*id * 0x9e3779b97f4a7c15u) >> 32 & 0xffff) != 0)
    ;
  return (int32_t) (uint32_t) *id;
}

KIND (colliding_ids, uint64_t id = 0; separate (f); CLASSES (colliding_id (i, &id)))

/* Rotated boxes. The bars of rotated_thin are parallel, at 45 degrees: their upright bounding boxes
 * overlap, they do not. Those of rotated_crossing all cross in one point. */
#define ANGLES(angle) \
  f->with_angles = 1; \
  EACH f->angles[i] = angle
KIND (rotated, natural (f); ANGLES (f->angles[i]))
KIND (rotated_separate, separate (f); ANGLES (.3f))
KIND (rotated_thin, ANGLES (.7853982f); EACH put (f, i, (double) i * 2, 0, count_of (f) * 10, 1))
KIND (rotated_crossing, const double w = 1e6, h = w / count_of (f) / 4;
      ANGLES ((float) (unit () * PI)); EACH put (f, i, -w / 2, -h / 2, w, h))
KIND (one_rotated, natural (f); ANGLES (i == f->count / 2 ? .1f : 0))

#define ROW(kind) \
  { \
#kind, kind \
  }
const FrameKind frame_kinds[] = { ROW (natural), ROW (far_box), ROW (farther_half), ROW (covering),
  ROW (large_of_16), ROW (equal_scores), ROW (close_scores), ROW (separate), ROW (overlapping),
  ROW (separate_ascending), ROW (crowd_at_samples), ROW (identical), ROW (one_object), ROW (large),
  ROW (large_squares), ROW (large_squares_high), ROW (one_object_high), ROW (stripes), ROW (bars),
  ROW (bars_low), ROW (broad_bars), ROW (diagonal), ROW (long_diagonal), ROW (chain), ROW (nest),
  ROW (nest_high), ROW (nest_highest), ROW (all_sizes), ROW (all_sizes_low), ROW (all_shapes),
  ROW (uneven_objects), ROW (large_at_0), ROW (natural_at_0), ROW (large_high),
  ROW (cap_never_filled), ROW (cap_at_the_end), ROW (cap_late), ROW (classes), ROW (cap_of_classes),
  ROW (a_class_each), ROW (uneven_classes), ROW (colliding_ids), ROW (covering_of_classes),
  ROW (images_as_classes), ROW (rotated), ROW (rotated_separate), ROW (rotated_thin),
  ROW (rotated_crossing), ROW (one_rotated), { NULL, NULL } };

/* ------------------------------------------------------------------ frames */

static void *
allocate (size_t count, size_t size)
{
  void *memory = calloc (count, size);

  if (!memory) {
    fprintf (stderr, "out of memory\n");
    exit (2);
  }
  return memory;
}

void
frame_init (Frame *f, size_t most)
{
  *f = (Frame) { .rows = allocate (most, 4 * sizeof *f->rows),
    .scores = allocate (most, sizeof *f->scores),
    .angles = allocate (most, sizeof *f->angles),
    .class_ids = allocate (most, sizeof *f->class_ids) };
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
  const int with_angles = f->with_angles;
  const float threshold = f->options.iou_threshold;

  frame_fill (f, f->count, f->with_classes ? classes : natural);
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
  CLASSES (bits () % class_count);
  f->with_classes = class_count > 1;
  f->options.iou_threshold = (float) (unit () * .98);
  if (bits () % 3 == 0)
    f->options.max_detections = (uint64_t) spread (1, count_of (f));
  if (bits () % 3 == 0)
    f->options.max_per_class = (uint64_t) spread (1, 100);
}
