/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hostile: boxes that make an engine do much work, and natural boxes of the same number. */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <nmscore.h>

typedef struct {
  size_t count;
  float *rows, *scores, *angles;
  int32_t *class_ids;
  int with_angles, with_classes; /* whether the columns are part of the call */
  nms_options options;
} Frame;

/* What is called, and what its time is compared with if the goal is a ratio, which it is from
 * BEST_ENGINE on. */
typedef enum {
  RUN,          /* nms_run: the goal is a time */
  NEIGHBORS,    /* nms_count_neighbors: the goal is a time */
  BEST_ENGINE,  /* nms_run with auto, compared with the fastest engine */
  OTHER_IDS,    /* nms_run, compared with the same boxes with class ids at random */
  SINGLE_IMAGES /* nms_run, compared with a call for each class, of its boxes alone */
} HostileCall;

typedef struct {
  const char *name;
  size_t count;
  HostileCall call;
  double goal; /* seconds, or the greatest ratio */
  void (*hostile) (Frame *frame);
  void (*natural) (Frame *frame);
} HostileInput;

/* Ends with a row without a name. */
extern const HostileInput hostile_inputs[];

/* Number of boxes of each class of the input compared by SINGLE_IMAGES. They follow each other. */
#define IMAGE_BOXES 1000

/* Allocates the columns for up to `most` boxes; exits on failure. */
void frame_init (Frame *frame, size_t most);
void frame_clear (Frame *frame);

/* Sets the default options, random scores and no optional columns, then fills the frame. */
void frame_fill (Frame *frame, size_t count, void (*fill) (Frame *frame));

/* Replaces the class ids by random ones. Boxes that shared an id share one again. */
void frame_change_ids (Frame *frame);

#endif
