/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* points: see the header. */
#include "points.h"

#include <math.h>

const char *const layout_names[] = { "detector", "sparse", "random", "mixed" };

static uint64_t state;

void
seed_points (uint64_t seed)
{
  state = seed;
}

/* splitmix64 */
static uint64_t
bits (void)
{
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static double
uniform (double low, double high)
{
  return low + (high - low) * (double) (bits () >> 11) * 0x1p-53;
}

/* Even on a logarithmic scale. */
static double
spread (double low, double high)
{
  return exp (uniform (log (low), log (high)));
}

static double
normal (void)
{
  return sqrt (-2.0 * log (uniform (1e-12, 1.0))) * cos (uniform (0.0, 6.283185307179586));
}

Point
draw_point (size_t most)
{
  Point p = { .layout = (Layout) (bits () % LAYOUTS) };

  p.count = (size_t) spread (1.0, (double) most + 1.0);
  p.density = p.layout == DETECTOR ? spread (2.0, 60.0) : spread (0.2, 20.0);
  p.iou = (float) uniform (.05, .95);
  if (bits () % 2)
    p.classes = (int) spread (2.0, 200.0);
  if (bits () % 3 == 0)
    p.cap = (uint64_t) spread (1.0, (double) p.count);
  if (p.classes && bits () % 4 == 0)
    p.class_cap = (uint64_t) spread (1.0, 100.0);
  p.in_rows = bits () % 3 == 0;
  p.empty = bits () % 8 == 0 ? uniform (0.0, .3) : 0.0;
  p.score = bits () % 5 == 0 ? (float) spread (.01, .9) : 0.0f;
  p.suppressors = bits () % 5 == 0;
  return p;
}

/* Scores as a detector has them: most are low, or they are even. */
void
fill_point (const Point *p, Boxes *b)
{
  const double n = (double) p->count;
  const size_t objects = (size_t) (n / p->density) + 1;
  const double field = p->layout == DETECTOR ? 64.0 * sqrt ((double) objects)
      : p->layout == RANDOM                  ? 1024.0
                                             : 60.0 * sqrt (n / p->density);
  const int low_scores = bits () % 2;
  const uint64_t seed = bits ();

  for (size_t i = 0; i < p->count; i++) {
    double w = 0.0, h = 0.0, x = uniform (0.0, field), y = uniform (0.0, field);
    size_t object = p->in_rows ? i * objects / p->count : bits () % objects;
    if (p->in_rows)
      y = ((double) i + .5) / n * field;
    if (p->layout == DETECTOR) {
      const uint64_t back = state;
      state = seed + object * 1000003u; /* the same numbers for all of an object */
      x = uniform (0.0, field);
      y = p->in_rows ? ((double) object + .5) / (double) objects * field : uniform (0.0, field);
      double ow = uniform (16.0, 64.0), oh = uniform (16.0, 64.0);
      state = back;
      x += normal () * .12 * ow;
      y += normal () * .12 * oh;
      w = ow * exp (.15 * normal ());
      h = oh * exp (.15 * normal ());
    } else if (p->layout == SPARSE) {
      w = uniform (20.0, 100.0);
      h = uniform (20.0, 100.0);
    } else if (p->layout == RANDOM) {
      w = uniform (1.0, 1024.0);
      h = uniform (1.0, 1024.0);
    } else {
      w = spread (4.0, 400.0);
      h = w * spread (.4, 2.5);
    }
    if (p->empty > 0.0 && uniform (0.0, 1.0) < p->empty)
      w = 0.0;
    b->rows[4 * i] = (float) (x - w / 2);
    b->rows[4 * i + 1] = (float) (y - h / 2);
    b->rows[4 * i + 2] = (float) (x + w / 2);
    b->rows[4 * i + 3] = (float) (y + h / 2);
    b->scores[i] = (float) (low_scores ? spread (.001, 1.0) : uniform (0.0, 1.0));
    b->classes[i] = p->classes ? (int32_t) (object % (size_t) p->classes) : 0;
  }
}

void
call_point (const Point *p, const Boxes *b, nms_boxes *boxes, nms_options *options)
{
  *boxes = (nms_boxes) { .size = sizeof *boxes, .count = p->count };
  nms_boxes_set_rows (boxes, b->rows);
  boxes->score.data = b->scores;
  boxes->class_id.data = p->classes ? b->classes : NULL;
  nms_options_init (options, sizeof *options);
  options->iou_threshold = p->iou;
  options->max_detections = p->cap;
  options->max_per_class = p->class_cap;
  options->score_threshold = p->score;
  options->outputs = NMS_OUTPUT_OUTCOME | (p->suppressors ? NMS_OUTPUT_SUPPRESSED_BY : 0);
}
