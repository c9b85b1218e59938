/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* points: random workloads for bench-auto; none is one of workloads.py. */
#ifndef POINTS_H
#define POINTS_H

#include <nmscore.h>

typedef enum { DETECTOR, SPARSE, RANDOM, MIXED, LAYOUTS } Layout;

typedef struct {
  Layout layout;
  size_t count;
  double density; /* boxes an object, or how full the field is */
  float iou;
  int classes; /* 0: no column */
  uint64_t cap, class_cap;
  int in_rows;     /* boxes come in the order of the image, as anchors do */
  double empty;    /* share of boxes without area */
  float score;     /* threshold */
  int suppressors; /* are asked for */
} Point;

typedef struct {
  float *rows, *scores;
  int32_t *classes;
} Boxes;

extern const char *const layout_names[];

/* What follows depends on the seed alone. */
void seed_points (uint64_t seed);

Point draw_point (size_t most);

/* Boxes of a point. */
void fill_point (const Point *point, Boxes *boxes);

/* The call for it, of the arrays of `boxes`. */
void call_point (const Point *point, const Boxes *boxes, nms_boxes *columns, nms_options *options);

#endif
