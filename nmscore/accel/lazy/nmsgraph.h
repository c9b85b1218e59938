/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsgraph: a whole NMS call as operations on lazy tensors (nmslazy.h), so that
 * it becomes one program, alone or with a detector's head decoded in front of
 * it. Results are those of nms_run, bit for bit.
 *
 *     nms_lazy_boxes boxes = { .x1 = x1, .y1 = y1, .x2 = x2, .y2 = y2 };
 *     boxes.valid = nms_lazy_clean_boxes (lz, &boxes);
 *     boxes.key = nms_lazy_order_key (lz, scores, &boxes.valid);
 *     boxes.least = nms_lazy_input_s32 (lz, nms_lazy_order_key_of (0.25f));
 *     boxes.limit = nms_lazy_input_f32 (lz, nms_lazy_limit_of (0.45f, 0));
 *     boxes.cap = nms_lazy_input_s32 (lz, 300);
 *     nms_lazy_kept kept = nms_lazy_nms (lz, &boxes, 0);
 *     nms_lazy_tensor want[] = { kept.picks, kept.count };
 *     nms_lazy_read (lz, 2, want, (void *[]) { picks, &count });
 *
 * The loop is a sequential grid (Chaim Rand, "Implementing Sequential
 * Algorithms on TPU"): a step takes the best box left and in one pass over the
 * columns marks whom it suppresses. Nothing of N x N elements exists. That the
 * whole call is one program, with one launch a frame, is the idea of Fischer
 * and Saba, "Automatic Full Compilation of Julia Programs and ML Models to
 * Cloud TPUs".
 *
 * Thresholds, caps and classes are tensors, thus inputs of the program; which
 * tensors are there, and the number of boxes, are part of it. To share programs
 * among frames, pad them: boxes whose `valid` is 0 cost time and nothing else.
 */
#ifndef NMSGRAPH_H
#define NMSGRAPH_H

#include "nmslazy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Vectors of N boxes, 1 or more, but where a scalar is named. NMS_LAZY_NONE
 * for what has a default. */
typedef struct nms_lazy_boxes {
  nms_lazy_tensor x1, y1, x2, y2; /* F32: corners, in order, without NaN */
  nms_lazy_tensor key;      /* S32: orders like the score; equal ones: lower index first */
  nms_lazy_tensor valid;    /* PRED; default: all are */
  nms_lazy_tensor least;    /* S32, or a scalar: a box takes part when key >= least;
                             * default: all do */
  nms_lazy_tensor limit;    /* F32, or a scalar: a kept box suppresses one whose IoU
                             * with it is > the suppressed one's limit; required.
                             * by nms_lazy_limit_of */
  nms_lazy_tensor group;    /* S32, any: boxes suppress those of their group only;
                             * default: all boxes are of one */
  nms_lazy_tensor class_id; /* S32, any: what class_cap counts; default with a
                             * class_cap: the group */
  nms_lazy_tensor class_cap; /* S32: most kept boxes of its class, the same for all of
                             * a class; 0: no limit; default: none has one */
  nms_lazy_tensor index, parent; /* S32: a box and the one whose index is its parent
                             * never suppress each other; a parent of -1: none;
                             * default: none has one. index default: 0, 1, 2... */
  nms_lazy_tensor cap;      /* S32 scalar: most kept boxes; 0 and default: no limit */
} nms_lazy_boxes;

/* Flags of nms_lazy_nms. */
enum {
  NMS_LAZY_NO_DIVISION = 1 /* decide overlaps with sums and products that are
                            * exact, for devices whose division is not rounded
                            * correctly (GPUs, TPUs); about twice the work */
};

/* What `state` says of a box that nobody suppressed. */
enum {
  NMS_LAZY_KEPT = -1,
  NMS_LAZY_OVER_CAP = -2,
  NMS_LAZY_FILTERED = -3, /* key < least */
  NMS_LAZY_INVALID = -4   /* not valid, and NaN keys are the caller's to see */
};

typedef struct nms_lazy_kept {
  nms_lazy_tensor picks; /* S32: positions of the kept boxes in order; -1 behind them */
  nms_lazy_tensor count; /* S32 scalar: how many */
  nms_lazy_tensor state; /* S32: position of the kept box that suppressed this one,
                          * the highest-ranked that would; or as above */
} nms_lazy_kept;

/* Records the call. On a latched error all tensors are NMS_LAZY_NONE. */
NMS_API nms_lazy_kept nms_lazy_nms (nms_lazy *lz, const nms_lazy_boxes *boxes, unsigned flags);

/* Puts the corners in order (replaces the four tensors) and returns which boxes
 * are valid by the rules of nmscore.h, PRED. */
NMS_API nms_lazy_tensor nms_lazy_clean_boxes (nms_lazy *lz, nms_lazy_boxes *boxes);

/* Scores to keys, S32: the order of floats, -0 equal to 0. Where a score is NaN
 * *valid, unless it is NMS_LAZY_NONE or `valid` is NULL, becomes 0. */
NMS_API nms_lazy_tensor nms_lazy_order_key (nms_lazy *lz, nms_lazy_tensor score,
    nms_lazy_tensor *valid);

/* The same of one score, for `least` and for keys made by the caller; `score`
 * must not be NaN. Strictly above a score: its key + 1. */
NMS_API int32_t nms_lazy_order_key_of (float score);

/* The limit of an IoU threshold 0..1: of `>`, or if `inclusive` of `>=`. Any
 * value of at least 2^-25 and 0 are limits themselves, and below 0 stands for
 * "any intersection". */
NMS_API float nms_lazy_limit_of (float iou_threshold, int inclusive);

/* Decodes a detector's head as YOLOv8 and its relatives give it: F32, 4 + C rows
 * of N columns, cx cy w h and then a score for each of C classes. (What comes
 * as N rows: nms_lazy_transpose first.) A box's class is that of its best score,
 * of equal ones the first; NaN is never the best, and a box of which all scores
 * are NaN is invalid. Corners are rounded as by nms_rows_from_cxcywh.
 * Returns x1, y1, x2, y2, key, valid, and the class as `group` and `class_id`:
 * the rest is the caller's to add. *score, unless NULL: the best score, F32. */
NMS_API nms_lazy_boxes nms_lazy_decode_head (nms_lazy *lz, nms_lazy_tensor head,
    nms_lazy_tensor *score);

#ifdef __cplusplus
}
#endif

#endif
