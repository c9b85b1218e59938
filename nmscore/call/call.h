/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * call: the context and the steps of a call. A call passes through
 *   run.c       checks the arguments and sets the floating-point mode
 *   prepare.c   copies the caller's columns to an nms__frame: the boxes that take part,
 *               as packed columns; writes the outcome of the boxes that do not
 *   candidates.c  reduces the frame to its best boxes, with max_candidates
 *   engines/    decide which boxes of the frame are kept, or, with a method or metric other than
 *               hard NMS by IoU, methods/
 *   run.c       writes the counts and the result
 * batch.c runs these steps for each image of nms_run_batch, on the threads of threads.c.
 */
#ifndef NMS_CALL_H
#define NMS_CALL_H

#include "frame/frame.h"

/* Options after checking. The class options are copied to the table of classes. */
typedef struct nms__settings {
  nms_options options;
  double limit;               /* options.iou_threshold as a limit for overlap.h */
  size_t class_option_stride; /* bytes from one entry of the class options to the next */
} nms__settings;

struct nms_context {
  void *scratch; /* one aligned allocation; see context.c */
  size_t scratch_size;
  size_t box_capacity, class_option_capacity;
  void *method_scratch; /* a second one, for methods/ and the outputs of scores and boxes; NULL
                         * until one of them is first used */
  size_t method_scratch_size;
  size_t method_capacity; /* boxes for which the second allocation has space */
  int engine;
  const char *method_in_use; /* set by the last successful run; NULL if an engine decided it */
  const nms__kernels *engine_kernels; /* set by the last successful run; `kernels` is of the next */
  char in_use[80];                    /* text of nms_context_engine_in_use */
  struct nms__added *added;           /* the added engine, or NULL; a context of a batch's thread
                                       * has that of the caller's context */
  struct nms__threads *threads;       /* threads of nms_run_batch besides the caller's, or NULL */
  char error[192];
  const nms__kernels *kernels;
  nms__settings settings;
  nms__frame columns; /* pointers into the scratch */
  nms__frame frame;   /* frame of the current run */
};

/* context.c: grows the scratch if necessary, then points every column of ctx->frame into it. */
int nms__context_layout (nms_context *ctx, size_t boxes, size_t class_options);

/* context.c: grows the second allocation to the capacity of the first if necessary, and sets the
 * members kept_score, kept_box and method_scratch of ctx->frame. Does nothing if the settings and
 * the outputs need no second one. */
int nms__context_layout_method (nms_context *ctx, unsigned outputs);

/* errors.c: formats the text of nms_context_error. Returns `error`. */
int nms__fail (nms_context *ctx, int error, const char *format, ...)
#ifdef __GNUC__
    __attribute__ ((format (printf, 3, 4)))
#endif
    ;

/* options.c: copies the caller's options to *settings, with defaults, and checks them. Returns 0
 * or an error. */
int nms__options_check (nms_context *ctx, const nms_options *options, nms__settings *settings);

/* options.c: copies entry i of the caller's class options to *options, with defaults, and checks
 * the copy. Returns 0 or an error. */
int nms__class_options_read (nms_context *ctx, const nms__settings *settings, size_t i,
    nms_class_options *options);

/* options.c: writes entry 0 and the entries of all class options, with defaults, and checks them.
 * Their member partition is the group until nms__classes_fill. Returns 0 or an error. */
int nms__class_entries_read (nms_context *ctx, const nms__settings *settings, nms__class *entries);

/* Returns whether methods/ decides the frame, not an engine. */
static inline int
nms__by_method (const nms_options *options)
{
  return options->method != NMS_METHOD_HARD || options->metric != NMS_METRIC_IOU
      || options->min_size_ratio > 0.0f;
}

/* caller_structs.c: checks the size of the caller's result. Returns 0 or an error. */
int nms__result_check (nms_context *ctx, const nms_result *result);

/* caller_structs.c: copies all fields of `full` but its size. */
void nms__result_write (nms_result *result, const nms_result *full);

/* caller_structs.c: checks a caller's struct, whose first member is its size, and copies its first
 * `known` bytes, those of this version's struct, to `copy`, unless `copy` is NULL. The message of
 * an error begins with `name`. Returns 0 or an error. */
int nms__struct_read (nms_context *ctx, const char *name, const void *data, size_t known,
    void *copy);

/* classes.c: fills the hash table of a call from its `count` class ids (all 0 if the column is
 * absent) and the class options, whose entries are already written. Sets *bounds for the limits of
 * all classes, and *grouped if the group of a class is not the class itself. Returns 0 or an
 * error. */
int nms__classes_fill (nms_context *ctx, nms__classes *classes, const nms__settings *settings,
    const nms_column *ids, size_t count, nms__bounds *bounds, int *grouped);

/* caller_structs.c: checks the caller's boxes and copies the struct to *copy; columns that a
 * smaller struct does not have are absent. More than `most` boxes are an error. Returns 0 or an
 * error. */
int nms__boxes_read (nms_context *ctx, const nms_boxes *boxes, size_t most, nms_boxes *copy);

/* prepare.c: fills ctx->frame, and counts the boxes that do not take part. Returns 0 or
 * an error of the class options. */
int nms__prepare (nms_context *ctx, const nms_boxes *boxes, nms__drops *drops);

/* Arrays of the caller for the results of one image; NULL if not wanted. */
typedef struct nms__arrays {
  int32_t *kept;          /* has space for all kept boxes, like kept_score and kept_box */
  uint8_t *outcome;       /* an element for each box */
  int32_t *suppressed_by; /* an element for each box */
  float *kept_score;
  float *kept_box; /* 4 elements for each kept box */
} nms__arrays;

/* run.c: runs NMS on checked boxes by ctx->settings. `arrays` receive the results; if NULL, the
 * context's own arrays do. Needs the floating-point mode of fpmode.h. Returns 0 or an error. */
int nms__run_checked (nms_context *ctx, const nms_boxes *boxes, const nms__arrays *arrays,
    nms_result *result);

#endif
