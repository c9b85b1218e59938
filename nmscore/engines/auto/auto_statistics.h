/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* auto_facts: what engine `auto` finds out about a frame. */
#ifndef NMS_AUTO_FACTS_H
#define NMS_AUTO_FACTS_H

#include "auto.h"
#include "engines/engine.h"

/* Most boxes whose partners are counted. */
#define NMS__SAMPLE_MOST 16

typedef struct nms__sampled {
  size_t pos;
  size_t next;         /* block */
  size_t found_around; /* partners among the boxes next to it in the caller's order */
  size_t blocks, seen, found; /* looked through; boxes in them; partners among those */
} nms__sampled;

/* Some boxes of a frame, and how many partners each has: boxes that it would
 * suppress or be suppressed by, about. */
typedef struct nms__sample {
  size_t count;
  size_t blocks, stride; /* of the frame, and in which order they are looked through */
  size_t hits;           /* partners found in all */
  double loners;         /* boxes without partners that it shall have as well */
  nms__sampled box[NMS__SAMPLE_MOST];
  double degree[NMS__SAMPLE_MOST];
} nms__sample;

/* Boxes look around first: those of an object often come one after the other.
 * _more: each of the `count` boxes looks through some blocks elsewhere, until it
 * found a few partners. Returns how many blocks all looked through; 0: nothing is
 * left. */
void nms__sample_start (nms__sample *sample, const nms__frame *frame, size_t count);
size_t nms__sample_more (nms__sample *sample, const nms__frame *frame, size_t blocks);

/* The partners that each box has in all, from what it saw: as if it had seen
 * `prior` more beforehand, at the rate of all of them; times `factor`. */
void nms__sample_judge (nms__sample *sample, const nms__frame *frame, double prior, double factor);

/* What needs no sample; how large classes are, if there are any; what follows from
 * a sample, with a cap of the total; and what a grid would be like. In this order. */
void nms__facts_start (nms__facts *facts, const nms__frame *frame);
void nms__facts_of_classes (nms__facts *facts, const nms__frame *frame);
void nms__facts_estimate (nms__facts *facts, nms__sample *sample, double cap);
void nms__facts_of_places (nms__facts *facts, const nms__frame *frame);

/* auto.c: the way that each engine would go. */
nms__way nms__auto_sequential_way (const nms__frame *frame);
nms__way nms__auto_sorted_way (const nms__frame *frame, const nms__facts *facts);
nms__way nms__auto_spatial_way (const nms__frame *frame);

#endif
