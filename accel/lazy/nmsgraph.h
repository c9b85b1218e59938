/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsgraph: records a whole NMS call as operations on lazy tensors (nmslazy.h), so
 * that it becomes one program, alone or together with the decoding of a detector's
 * head. Results are those of nms_run, bit for bit.
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
 * Algorithms on TPU"): a step keeps the best undecided box and marks, in one pass
 * over the columns, the boxes that it suppresses. No array has N x N elements. One
 * program with one launch for the whole call is the idea of Fischer and Saba,
 * "Automatic Full Compilation of Julia Programs and ML Models to Cloud TPUs".
 *
 * Thresholds, caps and classes are tensors and therefore inputs of the program. The
 * number of boxes, and which optional tensors are given, are part of the program.
 * To share one program among frames of different sizes, pad them with boxes whose
 * `valid` is 0: such boxes take time but change no result.
 */
#ifndef NMSGRAPH_H
#define NMSGRAPH_H

#include "nmslazy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The boxes, as vectors of N elements, N is 1 or more; or of B images with N boxes each, as
 * matrices of B x N. Fields that may be scalars say so. A field with a default may be
 * NMS_LAZY_NONE. */
typedef struct nms_lazy_boxes {
  /* F32: corners, x1 <= x2, y1 <= y2, without NaN */
  nms_lazy_tensor x1, y1, x2, y2;
  /* S32: greater keys rank first, equal keys by index */
  nms_lazy_tensor key;
  /* PRED; default: all boxes are valid */
  nms_lazy_tensor valid;
  /* S32, may be a scalar: a box takes part if its key >= least; default: all take part */
  nms_lazy_tensor least;
  /* F32, may be a scalar; required: a kept box suppresses a box if their IoU > the limit of the
   * latter. From nms_lazy_limit_of () */
  nms_lazy_tensor limit;
  /* S32, any numbers: boxes suppress only boxes of their class; default: all boxes have one
   * class */
  nms_lazy_tensor class_id;
  /* S32, any numbers: the class whose kept boxes class_cap limits; default: class_id */
  nms_lazy_tensor cap_class;
  /* S32: most kept boxes of the box's cap_class, the same number for all its boxes; 0 for no limit;
   * default: no class has a limit */
  nms_lazy_tensor class_cap;
  /* S32: a box and the box whose index is its parent never suppress each other; parent -1
   * if it has none. Defaults: no box has a parent; indices 0, 1, 2, ... of each image */
  nms_lazy_tensor index, parent;
  /* S32 scalar: most kept boxes of an image; 0 for no limit, which is the default */
  nms_lazy_tensor cap;
} nms_lazy_boxes;

/* Flags of nms_lazy_nms. */
enum {
  /* decides overlaps with exact sums and products instead of a division, for devices that do not
   * round divisions correctly (GPUs, TPUs); about twice the work */
  NMS_LAZY_NO_DIVISION = 1
};

/* Values of `state` for boxes that no box suppressed. */
enum {
  NMS_LAZY_KEPT = -1,
  NMS_LAZY_OVER_CAP = -2,
  /* key < least */
  NMS_LAZY_FILTERED = -3,
  /* `valid` is 0 */
  NMS_LAZY_INVALID = -4
};

typedef struct nms_lazy_kept {
  /* S32, of the boxes' shape: positions of the kept boxes by rank, then -1; of several images,
   * positions in the image */
  nms_lazy_tensor picks;
  /* S32: the number of kept boxes, a scalar; of several images a vector of B */
  nms_lazy_tensor count;
  /* S32, for each box: the position of the kept box that suppressed it, the highest-ranked one;
   * or a value of the enum above */
  nms_lazy_tensor state;
} nms_lazy_kept;

/* Records the call with `flags` of the enum above. After a latched error all tensors
 * of the result are NMS_LAZY_NONE. */
NMS_API nms_lazy_kept nms_lazy_nms (nms_lazy *lz, const nms_lazy_boxes *boxes, unsigned flags);

/* Replaces the four corner tensors by ordered ones (x1 <= x2, y1 <= y2). Returns a
 * PRED: which boxes are valid by the rules of nmscore.h. */
NMS_API nms_lazy_tensor nms_lazy_clean_boxes (nms_lazy *lz, nms_lazy_boxes *boxes);

/* Returns keys, S32, that order like the scores, with -0 equal to 0. If `valid` is not
 * NULL and *valid is not NMS_LAZY_NONE, *valid becomes 0 where a score is NaN. */
NMS_API nms_lazy_tensor nms_lazy_order_key (nms_lazy *lz, nms_lazy_tensor score,
    nms_lazy_tensor *valid);

/* Returns the key of one score, for `least` and for keys that the caller makes.
 * `score` must not be NaN. A `least` strictly above a score is its key + 1. */
NMS_API int32_t nms_lazy_order_key_of (float score);

/* Returns the limit for an IoU threshold in 0..1 that suppresses boxes above it, or,
 * if `inclusive`, also at it. A caller may also compute limits: 0, any number of at
 * least 2^-25, or a negative number, which any intersection exceeds. */
NMS_API float nms_lazy_limit_of (float iou_threshold, int inclusive);

/* Decodes a detector's head in the layout of YOLOv8 and its relatives: F32, 4 + C rows
 * of N columns; the rows are cx, cy, w, h and then a score for each of C classes.
 * (Transpose a head of N rows first, with nms_lazy_transpose ().) The class of a box
 * is that of its best score, of equal scores the first; a NaN is never the best, and
 * a box with NaN in all scores is invalid. Corners are rounded as by
 * nms_rows_from_cxcywh (). Sets x1, y1, x2, y2, key, valid and class_id of the result;
 * the caller sets `limit` and optional fields. Writes the best scores, F32, to *score
 * unless `score` is NULL. */
NMS_API nms_lazy_boxes nms_lazy_decode_head (nms_lazy *lz, nms_lazy_tensor head,
    nms_lazy_tensor *score);

#ifdef __cplusplus
}
#endif

#endif
