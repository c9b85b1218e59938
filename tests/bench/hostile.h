/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hostile: makes boxes that cause an engine much work, and natural boxes of the same number. */
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

/* The function that is called. The goal of RUN and NEIGHBORS is a time; that of the others is the
 * ratio to the time of another call. */
typedef enum {
  RUN,          /* nms_run */
  NEIGHBORS,    /* nms_count_neighbors */
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

/* The inputs. The name of the last row is NULL. */
extern const HostileInput hostile_inputs[];

/* Number of boxes of each class in an input of SINGLE_IMAGES. They are consecutive. */
#define IMAGE_BOXES 1000

/* Allocates the columns for up to `most` boxes; exits on failure. */
void frame_init (Frame *frame, size_t most);
void frame_clear (Frame *frame);

/* Sets the default options, random scores and no optional columns, then fills the frame. */
void frame_fill (Frame *frame, size_t count, void (*fill) (Frame *frame));

/* Replaces the class ids by random ones. Boxes that shared an id share one again. */
void frame_change_ids (Frame *frame);

#endif
