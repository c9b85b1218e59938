/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * internal: what the files of nmscore share. A call goes
 *
 *   run.c       checks the arguments, sets the floating-point mode
 *   prepare.c   caller's columns -> nms__frame: the boxes that take part, as
 *               packed columns, and an outcome for those that do not
 *   engines/    nms__frame -> kept list
 *   run.c       counts, result
 */
#ifndef NMS_INTERNAL_H
#define NMS_INTERNAL_H

#include "nmscore.h"
#include "overlap.h"
#include "scratch.h"
#include "simd/kernels.h"

#include <float.h>
#include <string.h>

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#error "nmscore needs float expressions evaluated as float (FLT_EVAL_METHOD 0)"
#endif

/* Options after checking: class options are in the class table by then. */
typedef struct nms__settings {
  nms_options options;
  double limit;       /* overlap.h; of options.iou_threshold */
  size_t class_option_stride;
} nms__settings;

/* One class that has options or a cap of its own. */
typedef struct nms__class {
  int32_t id;
  float score_threshold;
  double limit;
  uint64_t cap;  /* UINT64_MAX: none */
  uint64_t kept; /* by the engine; at the cap the class is full */
  uint64_t last; /* 0 at first; for the engine */
} nms__class;

/* From class id to entry, by open addressing. Entry 0 is no class's: it is what
 * those begin with that are not listed. */
typedef struct nms__classes {
  nms__class *entry;
  uint32_t *bucket; /* entry number, 0: free */
  uint32_t bucket_mask;
  int shift;       /* of a product to a bucket */
  int direct;      /* a small id is its own bucket */
  uint64_t factor; /* the context's */
  uint32_t count; /* entries, the common one included */
} nms__classes;

/* The boxes that take part in a run, in input order, and where results go.
 * Columns are aligned and padded for whole blocks of NMS__BLOCK. */
typedef struct nms__frame {
  size_t count;
  float *x1, *y1, *x2, *y2, *scaled;
  float side;       /* the longest of all boxes */
  nms__bounds bounds; /* of all classes' limits and of `side` */
  int32_t *class_id;   /* class that suppresses; NULL: all boxes one group */
  uint32_t *class_entry;   /* entry in classes; NULL: no class differs */
  int32_t *index;   /* in the caller's columns */
  uint64_t *packed; /* order.h: the score with the position below it */
  const nms__kernels *kernels;
  nms__classes classes;
  const nms__settings *settings;
  nms_column parent; /* the caller's */
  size_t parent_count;
  const nms_boxes *rotated; /* the caller's; NULL: no box is turned */

  char *scratch;    /* the engine's, of nms__engines_scratch_size (capacity) bytes */
  size_t capacity;  /* boxes that all columns and the scratch hold */

  /* results, by the caller's index */
  int32_t *kept;
  size_t kept_count;
  size_t over_cap_count;
  uint8_t *outcome;       /* NULL: not asked for */
  int32_t *suppressed_by; /* NULL: not asked for */
} nms__frame;

struct nms_context {
  void *scratch; /* one block, aligned; see context.c */
  size_t scratch_size;
  size_t box_capacity, class_option_capacity;
  int engine;
  char in_use[80];        /* for nms_context_engine_in_use */
  struct nms__xla *xla;   /* engines/xla.c; NULL: engine xla was never asked for */
  char error[192];
  const nms__kernels *kernels;
  nms__settings settings;
  nms__frame columns; /* as the layout has them */
  nms__frame frame;   /* of the run */
};

/* context.c: makes room, then points every column of ctx->frame into it. */
int nms__context_layout (nms_context *ctx, size_t boxes, size_t class_options);

/* strings.c: notes the detail, returns the code. */
int nms__fail (nms_context *ctx, int error, const char *format, ...)
#ifdef __GNUC__
    __attribute__ ((format (printf, 3, 4)))
#endif
    ;

/* options.c */
int nms__options_check (nms_context *ctx, const nms_options *options, nms__settings *settings);
int nms__struct_check (nms_context *ctx, const char *name, const void *data, size_t known,
    size_t least);

/* classes.c */
int nms__classes_fill (nms_context *ctx, nms__classes *classes, const nms__settings *settings,
    const nms_boxes *boxes, nms__bounds *bounds);
void nms__classes_start (nms__classes *classes, size_t boxes);
uint32_t nms__class_entry (nms__classes *classes, int32_t id);
uint32_t nms__class_buckets (size_t entries);

/* neighbors.c: fills `neighbors`, an element for each of the caller's `count` boxes, for
 * the boxes of a prepared frame; the bytes of scratch for it. */
void nms__neighbors (nms__frame *frame, uint32_t *neighbors, size_t count);
size_t nms__neighbors_scratch_size (size_t boxes);

/* prepare.c: 0 or an error; *invalid and *filtered are counted. */
int nms__boxes_check (nms_context *ctx, const nms_boxes *boxes, nms_boxes *checked);
int nms__prepare (nms_context *ctx, const nms_boxes *boxes, size_t *invalid, size_t *filtered);

static inline void
nms__load (void *value, const nms_column *column, size_t i, size_t size)
{
  ptrdiff_t stride = column->stride ? column->stride : (ptrdiff_t) size;
  memcpy (value, (const char *) column->data + (ptrdiff_t) i * stride, size);
}

/* The parent of box `index`, -1 for none. */
static inline int32_t
nms__parent (const nms__frame *frame, int32_t index)
{
  int32_t parent;
  if (!frame->parent.data)
    return -1;
  nms__load (&parent, &frame->parent, (size_t) index, sizeof parent);
  if (parent < 0 || (size_t) parent >= frame->parent_count)
    return -1;
  return parent;
}

/* Whether one of two boxes is a part of the other. */
static inline int
nms__related (const nms__frame *frame, int32_t a, int32_t b)
{
  return frame->parent.data && (nms__parent (frame, a) == b || nms__parent (frame, b) == a);
}

/* The overlap limit that a candidate's class decides. */
static inline double
nms__candidate_limit (const nms__frame *frame, size_t pos)
{
  return frame->class_entry ? frame->classes.entry[frame->class_entry[pos]].limit
                            : frame->settings->limit;
}

#endif
