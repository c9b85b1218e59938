/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* benchboxes: makes boxes in C, natural ones, as from a detector, and kinds that cause an engine or
 * a method much work. What a kind makes depends on its number of boxes only. */
#ifndef BENCHBOXES_H
#define BENCHBOXES_H

#include <nmscore.h>

typedef struct {
  size_t count;
  float *rows, *scores, *angles;
  int32_t *class_ids;
  int with_angles, with_classes; /* whether the columns are part of the call */
  nms_options options;
} Frame;

typedef struct {
  const char *name;
  void (*fill) (Frame *frame);
} FrameKind;

/* The kinds; the first is "natural", the name of the last is NULL. */
extern const FrameKind frame_kinds[];

/* Large boxes at random places, nearly all of which intersect. No kind of the table. */
void frame_random (Frame *frame);

/* Allocates the columns for up to `most` boxes; exits on failure. */
void frame_init (Frame *frame, size_t most);
void frame_clear (Frame *frame);

/* Sets the default options, random scores and no optional columns, then fills the frame. */
void frame_fill (Frame *frame, size_t count, void (*fill) (Frame *frame));

/* Replaces the boxes by natural ones, with the same columns and thresholds, but without caps. */
void frame_make_natural (Frame *frame);

/* Fills a frame with a random kind of at most `most` boxes, random thresholds, classes and caps.
 * What follows depends on the seed of frame_seed alone. */
void frame_seed (uint64_t seed);
void frame_draw (Frame *frame, size_t least, size_t most);

#endif
