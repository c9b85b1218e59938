/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmscore: non-maximum suppression of boxes, upright or rotated.
 *
 * An object detector reports the same object several times. Non-maximum suppression
 * (NMS) goes through the boxes from the best score to the worst and discards each box
 * that overlaps an already kept box of its class by more than a threshold. This library
 * computes the exact result: every engine, on every machine, returns the same bits.
 *
 *     nms_context *ctx = nms_context_new ();
 *     nms_options opt;
 *     nms_options_init (&opt, sizeof opt);
 *     opt.iou_threshold = 0.45f;
 *     nms_boxes boxes = { .size = sizeof boxes, .count = n };
 *     nms_boxes_set_rows (&boxes, rows);            // n rows of x1 y1 x2 y2
 *     boxes.score.data = scores;                    // n floats
 *     nms_result res = { .size = sizeof res };
 *     if (nms_run (ctx, &boxes, &opt, &res) < 0)
 *       puts (nms_context_error (ctx));
 *     for (size_t k = 0; k < res.kept_count; k++)
 *       use (res.kept[k]);                          // index into rows
 *     nms_context_free (&ctx);
 *
 * How the result is defined
 * -------------------------
 * Numbers     All comparisons are made in IEEE binary32, rounding to nearest, with
 *             subnormals. Every function that computes saves the caller's
 *             floating-point mode, sets this one, and restores the caller's.
 * Box         Corners (x1, y1, x2, y2) in continuous coordinates of any unit;
 *             area = width * height, and nothing is added to an extent. Flipped
 *             corners are put in order. A box is *invalid* if a coordinate or its
 *             score is NaN, or if a coordinate is infinite or beyond +-1e18. An
 *             extent (of a box, or of an intersection) of at most 2^-50 counts as 0.
 * Score       Higher is better. Any float but NaN, infinities included.
 * Order       By descending score; of equal scores the lower index is first. -0
 *             equals +0.
 * Overlap     IoU = inter / ((area_i + area_j) - inter), each operation rounded to
 *             binary32. Boxes that do not intersect and boxes without area have
 *             IoU 0: they never suppress and are never suppressed.
 * Suppression  A kept box suppresses a later box of the same class, or of a class of
 *             the same group (nms_class_options.group), if IoU > iou_threshold (>= with
 *             `inclusive`). A threshold in (0, 2^-24) counts as 0.
 * Rotated boxes  If at least one box of a pair has an angle other than 0, their
 *             overlap is that of the rotated rectangles, computed in binary64 by
 *             clipping one rectangle by the other. Its error is at most 1e-12 of the
 *             boxes' extents over their distance. It is compared as if it had been
 *             rounded to binary32. An intersection below 2^-40 of the smaller box
 *             counts as empty. A box is invalid, too, if its angle is NaN or
 *             infinite. Angles beyond +-2 pi are reduced by the binary64 value of
 *             2 pi. Pairs with two angles of 0 are decided as above. Engine sorted
 *             runs all frames with rotated boxes.
 * Sizes       With min_size_ratio r, two boxes with areas small <= large are not compared if
 *             small < r * large, as if their classes were different: neither suppresses,
 *             lowers, joins or counts the other, with every method, every metric and
 *             nms_count_neighbors. The areas are those of "Box", in binary32, for rotated
 *             boxes too (an angle changes no area), and the product is rounded to binary32.
 *             Method weighted compares the fused box.
 * Caps        Boxes are decided in order. A box whose turn comes when the total cap
 *             or the cap of its class is full is over-cap: it is not examined and
 *             suppresses nothing.
 * Candidates  With max_candidates only the first max_candidates boxes in order, of those
 *             that are neither invalid nor filtered, take part. The others are not
 *             candidates: they are not examined, suppress nothing and do not count
 *             towards a cap.
 * Outcome     Each box has exactly one, the first that applies of: invalid,
 *             filtered, not a candidate, over-cap, suppressed, kept.
 * Methods     All this holds for method hard with metric iou, the default. nmsmethods.h names
 *             the others, which lower scores or make one box of several.
 *
 * The method hard is the greedy algorithm of the detection literature. Engine `sequential`
 * follows the sequential-grid kernel of Chaim Rand, "Implementing Sequential Algorithms
 * on TPU".
 *
 * Structs and versions: every struct that the caller fills begins with its `size`, which is
 * at least that of version 1.0. New fields are added at the end. The library completes a
 * struct of an earlier version with defaults, and accepts one of a later version if all
 * bytes that it does not know are zero, so programs built with an older header run with a
 * newer library of the same soname.
 *
 * Threads: a context may be used by one thread at a time; several contexts may run at
 * once. Functions without a context may be called from any thread at any time.
 *
 * No function writes to a stream, aborts on bad input, or keeps a pointer of the
 * caller's after it has returned.
 */
#ifndef NMSCORE_H
#define NMSCORE_H

#include "nmsmethods.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef NMS_API
#define NMS_API
#endif

/* The version of this header. nms_version returns the library's. */
#define NMS_VERSION_MAJOR 1
#define NMS_VERSION_MINOR 0
#define NMS_VERSION_MICRO 0
#define NMS_VERSION_NUMBER \
  (NMS_VERSION_MAJOR * 1000000 + NMS_VERSION_MINOR * 1000 + NMS_VERSION_MICRO)

/* Returns the library's version in the form of NMS_VERSION_NUMBER. */
NMS_API int nms_version (void);

/* ---------------------------------------------------------------- errors */

/* Every function that can fail returns 0 for success or one of these codes. On failure it
 * writes nothing to the caller's result or arrays. */
#define NMS_ERROR_LIST(X) \
  X (NMS_OK, 0, "success") \
  X (NMS_ERROR_ARGUMENT, -1, "a required argument is missing or malformed") \
  X (NMS_ERROR_RANGE, -2, "an option is outside its range") \
  X (NMS_ERROR_DUPLICATE_CLASS, -3, "a class is listed twice in the options") \
  X (NMS_ERROR_MEMORY, -4, "out of memory") \
  X (NMS_ERROR_TOO_MANY_BOXES, -5, "more boxes than NMS_MAX_BOXES") \
  X (NMS_ERROR_UNSUPPORTED, -6, "not supported by this build") \
  X (NMS_ERROR_SPACE, -7, "an output array of the caller is too small") \
  X (NMS_ERROR_ENGINE, -8, "an added engine failed")

#define NMS__ENUM(name, value, text) name = value,
/* The codes of NMS_ERROR_LIST. NMS__ERROR_LEAST follows the list's last comma, because C89 and
 * C++98 allow no comma at the end of an enum. */
typedef enum nms_error { NMS_ERROR_LIST (NMS__ENUM) NMS__ERROR_LEAST = NMS_ERROR_ENGINE } nms_error;
#undef NMS__ENUM

/* Returns one line of English for a code of the list, "unknown error" for any other number.
 * Never NULL; the string is static. */
NMS_API const char *nms_strerror (int error);

/* ----------------------------------------------------------------- boxes */

/* Most boxes in one call, and most entries of class options. */
#define NMS_MAX_BOXES ((size_t) 1 << 30)
#define NMS_MAX_CLASS_OPTIONS ((size_t) 1 << 20)

/* A column of values: element i lies at (const char *) data + i * stride. `stride` is in bytes,
 * may be negative and needs no alignment, nor does `data`; 0 stands for the size of one element
 * (a packed array). Only the `count` elements are read. With `data` NULL the column is absent. */
typedef struct nms_column {
  const void *data;
  ptrdiff_t stride;
} nms_column;

/* The boxes of one call (one image). The arrays are borrowed: they are read during the call
 * only, and must not change during it. */
typedef struct nms_boxes {
  /* sizeof (nms_boxes) */
  size_t size;
  /* number of boxes, 0..NMS_MAX_BOXES; with 0, columns may be absent */
  size_t count;
  /* float: the corners; required */
  nms_column x1, y1, x2, y2;
  /* float; if absent, all scores are 0 and the input order ranks */
  nms_column score;
  /* int32_t, any value; if absent, all boxes have class 0 */
  nms_column class_id;
  /* uint8_t; nonzero filters the box before the run (unless it is invalid). If absent, no box is
   * filtered by this column */
  nms_column exclude;
  /* int32_t: index of the box of which this box is a part, or -1. A box and its parent never
   * suppress each other. An index out of range counts as -1. If absent, no box has a parent */
  nms_column parent;
  /* float, in radians: the angle by which the box is rotated about its centre, clockwise where y
   * points down; see "Rotated boxes". If absent, no box is rotated */
  nms_column angle;
  /* int32_t: number of the detector or model that found the box, used by method weighted; see
   * source_weights. If absent, all boxes are of source 0 */
  nms_column source;
} nms_boxes;

/* Points the four corner columns at packed rows x1 y1 x2 y2. Writes no other field; `count` may
 * be set before or after. */
NMS_API void nms_boxes_set_rows (nms_boxes *boxes, const float *rows);

/*
 * Converts `count` packed rows of another form to rows x1 y1 x2 y2. `out` may be `in`.
 * Each coordinate is rounded to the nearest binary32:
 *   cxcywh   cx cy w h -> cx - w/2, cy - h/2, cx + w/2, cy + h/2, with one rounding
 *            each (halving is exact but for the last bit of a subnormal); ONNX calls
 *            this center_point_box = 1
 *   xywh     x y w h   -> x, y, x + w, y + h, with one rounding each
 * NaN and infinities remain, so that nms_run reports these boxes as invalid.
 */
NMS_API void nms_rows_from_cxcywh (const float *in, size_t count, float *out);
NMS_API void nms_rows_from_xywh (const float *in, size_t count, float *out);

/* Converts `count` numbers of type bfloat16, the upper halves of binary32 numbers, as detectors
 * on accelerators write boxes and scores. Each has the same value in binary32, NaN and infinities
 * included, so nothing is rounded, and the result of a run is that for the given boxes. The arrays
 * must not overlap. */
NMS_API void nms_floats_from_bfloat16 (const uint16_t *in, size_t count, float *out);

/* --------------------------------------------------------------- options */

/* The engines. All give identical results; they differ in time only. */
typedef enum nms_engine {
  /* the library chooses an engine by a sample of overlaps; if the estimate proves wrong, it
   * changes to spatial during the run. It may choose an engine for each large class */
  NMS_ENGINE_AUTO = 0,
  /* the sequential grid: each step takes the few best boxes and removes what they suppress in
   * one pass over the others. Best for up to some thousand boxes. */
  NMS_ENGINE_SEQUENTIAL = 1,
  /* sorts once, then tests each box against the kept boxes; stops at the cap */
  NMS_ENGINE_SORTED = 2,
  /* tests each kept box against the boxes around it, which a grid finds. Best for many boxes. */
  NMS_ENGINE_SPATIAL = 3,
  /* the engine that nms_context_add_engine added to the context. NMS_ENGINE_AUTO never chooses
   * it. */
  NMS_ENGINE_ADDED = 255
} nms_engine;

/* Returns "auto", "sequential", ..., "added"; NULL if the number is not that of an engine. */
NMS_API const char *nms_engine_name (int engine);

/* The fields of nms_class_options that apply. */
enum {
  NMS_CLASS_IOU_THRESHOLD = 1,
  NMS_CLASS_SCORE_THRESHOLD = 2,
  NMS_CLASS_MAX_DETECTIONS = 4,
  NMS_CLASS_GROUP = 8
};

/* Options of one class. They replace the global options for boxes of that class. Where boxes of
 * different classes suppress each other, by class_agnostic or `group`, the options of the
 * lower-ranked box's class decide. Fields not named in `set` keep their global value. */
typedef struct nms_class_options {
  /* sizeof (nms_class_options); the same in every entry. `set` must not name a field beyond
   * `size` */
  size_t size;
  int32_t class_id;
  /* NMS_CLASS_... bits */
  uint32_t set;
  /* 0..1 */
  float iou_threshold;
  /* any but NaN */
  float score_threshold;
  /* largest number of kept boxes of this class; 0 for no limit */
  uint64_t max_detections;
  /* Boxes suppress boxes of the same group, whatever their classes are, and no others. Any number;
   * by default the group of a class is its class_id. Caps still count each class by itself. No
   * effect with class_agnostic */
  int32_t group;
} nms_class_options;

/* Optional outputs, a bit each. Outputs that are not requested take no time. */
enum {
  /* nms_result.outcome */
  NMS_OUTPUT_OUTCOME = 1,
  /* nms_result.suppressed_by */
  NMS_OUTPUT_SUPPRESSED_BY = 2,
  /* nms_result.kept_score */
  NMS_OUTPUT_SCORE = 4,
  /* nms_result.kept_box */
  NMS_OUTPUT_BOX = 8
};

typedef struct nms_options {
  /* sizeof (nms_options), written by nms_options_init */
  size_t size;

  /* overlap above which a box is suppressed, 0..1, default 0.5 */
  float iou_threshold;
  /* A box takes part if score >= score_threshold. Any number but NaN; default -inf, no threshold */
  float score_threshold;
  /* nonzero to suppress a box at IoU == iou_threshold, too; default 0 */
  uint32_t inclusive;
  /* nonzero to exclude boxes with score == score_threshold; default 0 */
  uint32_t score_strict;
  /* nonzero if boxes suppress across classes; caps of classes still count the boxes of a class;
   * default 0 */
  uint32_t class_agnostic;

  /* nms_method, default NMS_METHOD_HARD */
  uint32_t method;
  /* nms_metric, default NMS_METRIC_IOU */
  uint32_t metric;
  /* methods weighted and average: nms_fused_score, default NMS_FUSED_AVG */
  uint32_t fused_score;
  /* gaussian methods: 0 or more; default 0, which stands for 0.5 with soft-gaussian and 2 with
   * matrix-gaussian. soft-gaussian divides by it, as OpenCV and mmcv do; TensorFlow's
   * soft_nms_sigma s is 2 * s here. matrix-gaussian multiplies by it, as SOLOv2 does. */
  float sigma;
  /* soft and matrix methods: least new score of a kept box, 0 or more, default 0.001 */
  float min_score;

  /* largest number of kept boxes; default 0, no limit */
  uint64_t max_detections;
  /* largest number of kept boxes of one class; default 0, no limit */
  uint64_t max_per_class;
  /* largest number of boxes that take part, over all classes; default 0, no limit. See "Candidates"
   * above. */
  uint64_t max_candidates;

  /* class_option_count elements, borrowed; default NULL */
  const nms_class_options *class_options;
  /* default 0 */
  size_t class_option_count;
  /* method weighted: weight of each source, above 0 and at most 2^32; source_count elements,
   * borrowed. Default NULL, all weigh 1. */
  const float *source_weights;
  /* method weighted: number of sources, 1..NMS_MAX_SOURCES; default 0 stands for 1 */
  size_t source_count;

  /* nms_engine, default NMS_ENGINE_AUTO */
  uint32_t engine;
  /* NMS_OUTPUT_... bits, default 0 */
  uint32_t outputs;

  /* Two boxes do not suppress each other if the area of the smaller one is less than this part of
   * the other's area, 0..1; default 0, sizes are not compared. See "Sizes". */
  float min_size_ratio;
} nms_options;

#define NMS_MAX_SOURCES 1024

/* max_candidates bounds the time of a call, whatever the boxes are: selecting m candidates takes
 * time in proportion to boxes->count, and deciding them takes at most 8 * m * (m + 64) tests of a
 * pair (some nanoseconds each; some ten nanoseconds for rotated boxes). */

/* Writes every default to the first `size` bytes of `options` and sets its `size`. Pass sizeof
 * *options. */
NMS_API void nms_options_init (nms_options *options, size_t size);

/* --------------------------------------------------------------- context */

/* Scratch memory and state of one stream or thread. */
typedef struct nms_context nms_context;

/* Returns a new context, which holds no scratch yet, or NULL if out of memory. */
NMS_API nms_context *nms_context_new (void);

/* Frees *ctx, with the engine that was added to it, and sets it to NULL. Accepts NULL and a pointer
 * to NULL. */
NMS_API void nms_context_free (nms_context **ctx);

/* Calls `interrupt` of the added engine, so that a call that waits for it, and every later call
 * that would have to wait, returns NMS_ERROR_ENGINE. Call it to stop a stream before the context is
 * freed. Any thread may call it while another thread uses the context. Does nothing without an
 * added engine. Accepts NULL. */
NMS_API void nms_context_interrupt (nms_context *ctx);

/* Allocates the scratch for frames of up to `boxes` boxes and `class_options` class options, so
 * that no later call of at most that size allocates. Otherwise scratch grows with the frames,
 * and is kept. In all it takes at most 240 * boxes + 128 * class_options + 65536 bytes;
 * nms_context_scratch returns the exact number. Methods and metrics other than hard and iou, and
 * the outputs of scores and boxes, need at most 200 * boxes + 65536 bytes more; the first
 * call that needs them allocates them, for as many boxes as the scratch has space for.
 * Errors: NMS_ERROR_MEMORY, _TOO_MANY_BOXES,
 * _RANGE (class_options); the scratch is then unchanged. With nms_context_set_threads the scratch
 * of each thread grows to that size. Most of it is unused address space: a run of engine spatial
 * without optional outputs uses 90 bytes for each box. The system supplies memory when a run first
 * uses it, so the first run of a large frame takes longer than the next ones; for 10 million boxes
 * about 1.6 times as long. */
NMS_API int nms_context_reserve (nms_context *ctx, size_t boxes, size_t class_options);

/* Frees all scratch. The results of the last run are no longer valid. */
NMS_API void nms_context_trim (nms_context *ctx);

/* Returns the bytes of scratch that the context and its threads hold. */
NMS_API size_t nms_context_scratch (const nms_context *ctx);

/* Returns one line about the last failure of a call with this context ("iou_threshold is 1.2,
 * must be 0..1"), or "" after a success. Valid until the next call. */
NMS_API const char *nms_context_error (const nms_context *ctx);

/* Returns the engine that the last successful run used (never NMS_ENGINE_AUTO), or
 * NMS_ENGINE_AUTO before the first run. If the classes were decided by different engines, returns
 * that of the largest class. */
NMS_API int nms_context_engine (const nms_context *ctx);

/* Returns a text for people about the last successful run: engine and instruction set, such as
 * "sorted/avx2", or the name of the added engine; "" before the first run. Valid until the next
 * call. */
NMS_API const char *nms_context_engine_in_use (nms_context *ctx);

/* Returns the reason, in one line, for which this context does not use the added engine although
 * the options name it, or NULL. Valid until the next call. */
NMS_API const char *nms_context_engine_reason (const nms_context *ctx);

/*
 * The instruction set of a context: "avx512", "avx2" or "sse2" on x86-64, "neon" on
 * AArch64, "scalar" (plain C) everywhere. It changes time, never results. A new context
 * has the best set that the processor and the operating system support, or the one that
 * the environment variable NMS_ISA names, which is read once in a process.
 *
 * nms_context_isa returns its name. nms_context_set_isa sets it; `name` NULL stands for
 * the set of a new context. It returns NMS_ERROR_UNSUPPORTED, and leaves the context
 * unchanged, for a name that is unknown or cannot run here. nms_isa_reason returns the
 * reason for which NMS_ISA was not used, or NULL if it was used or is not set; the
 * string is static.
 */
NMS_API const char *nms_context_isa (const nms_context *ctx);
NMS_API int nms_context_set_isa (nms_context *ctx, const char *name);
NMS_API const char *nms_isa_reason (void);

/* ------------------------------------------------------------------- run */

/* The outcome of one box: the last of these that applies. */
typedef enum nms_outcome {
  NMS_OUTCOME_KEPT = 0,
  NMS_OUTCOME_SUPPRESSED = 1,
  NMS_OUTCOME_OVER_CAP = 2,
  /* ranks below the best max_candidates boxes */
  NMS_OUTCOME_NOT_CANDIDATE = 3,
  /* its score is too low for the threshold, or nms_boxes.exclude is not 0 for it */
  NMS_OUTCOME_FILTERED = 4,
  NMS_OUTCOME_INVALID = 5
} nms_outcome;

typedef struct nms_result {
  /* sizeof (nms_result), set by the caller */
  size_t size;

  /* This and the other five counts add up to nms_boxes.count. */
  size_t kept_count;
  /* kept_count indices in the order of kept_score */
  const int32_t *kept;
  /* score of each kept box, kept_count elements; NULL unless requested */
  const float *kept_score;
  /* x1 y1 x2 y2 of each kept box, before its rotation, 4 * kept_count elements; NULL unless
   * requested. With every method a kept box has the angle that nms_boxes gives for it */
  const float *kept_box;

  /* an nms_outcome for each box; NULL unless requested */
  const uint8_t *outcome;
  /* for each box: the highest-ranked kept box that suppresses it (method soft or matrix: the box
   * that lowered its score), or -1 if the box is not NMS_OUTCOME_SUPPRESSED; NULL unless
   * requested */
  const int32_t *suppressed_by;

  size_t suppressed_count;
  size_t over_cap_count;
  /* 0 without max_candidates */
  size_t not_candidate_count;
  size_t filtered_count;
  size_t invalid_count;
} nms_result;

/* Runs NMS over `boxes`. With `options` NULL all options have their defaults. The arrays of
 * `result` belong to the context and are valid until its next run, trim or free. Returns 0 or
 * NMS_ERROR_ARGUMENT (a NULL pointer, a missing column, a wrong struct size), _RANGE,
 * _DUPLICATE_CLASS, _TOO_MANY_BOXES, _MEMORY, _UNSUPPORTED (an unknown engine or output), or
 * _ENGINE (an added engine failed, or it is required and left the frame). */
NMS_API int nms_run (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    nms_result *result);

/* ---------------------------------------------------------- added engines */

/* The frame of one image for an added engine: the boxes that take part, in the order of the
 * caller's columns, to be decided by the method hard with the metric iou. Each column has `count`
 * elements. The columns are valid during the call only. */
typedef struct nms_frame {
  /* sizeof (nms_frame) of the library */
  size_t size;
  /* number of boxes, may be 0 */
  size_t count;
  /* corners, x1 <= x2 and y1 <= y2; a box without area has x1 == x2 */
  const float *x1, *y1, *x2, *y2;
  /* rank: a box with a greater key ranks higher, and no two keys are equal. The upper 32 bits order
   * like the scores, and are equal for equal scores. */
  const uint64_t *key;
  /* Boxes suppress only boxes with the same class id. NULL if they suppress across classes. */
  const int32_t *class_id;
  /* A kept box suppresses a lower-ranked one if inter > 0 and inter > limit * union, where inter
   * and union are the binary32 numbers of "Overlap" above and the product is that of binary64,
   * which is exact. */
  double limit;
  /* for each box, the limit above which another box suppresses it; NULL if all have `limit` */
  const double *limits;
  /* largest number of kept boxes; UINT64_MAX for no limit */
  uint64_t cap;
  /* number of the class whose kept boxes class_cap limits; NULL if no class has a cap */
  const uint32_t *cap_class;
  /* largest number of kept boxes of the box's cap_class, equal for all boxes of that class;
   * UINT64_MAX for no limit */
  const uint64_t *class_cap;
  /* position in the caller's columns, and that of the box of which this one is a part, -1 if there
   * is none. A box and its parent never suppress each other. `parent` is NULL if no box has one. */
  const int32_t *index, *parent;
} nms_frame;

/* Returned by `run` of an engine that left the frame to the engine that auto chooses. */
#define NMS_ENGINE_LEFT 1

/* An engine of the caller. Its functions get `data`. */
typedef struct nms_added_engine {
  /* sizeof (nms_added_engine) */
  size_t size;
  void *data;
  /* nonzero if a frame that the engine leaves is an error (NMS_ERROR_ENGINE, or _UNSUPPORTED for
   * other methods and metrics, rotated boxes, groups of classes and min_size_ratio, which no added
   * engine gets) */
  int required;
  /* Returns the name for nms_context_engine_in_use, shorter than 80 bytes. */
  const char *(*name) (void *data);
  /* Writes the positions of the kept boxes in the frame to `kept`, which has frame->count elements,
   * the highest-ranked first, and their number to *kept_count. Returns 0; or NMS_ENGINE_LEFT or an
   * error, with one line of text in `why`. The library derives all other results from the kept
   * boxes. One thread at a time calls it, also in nms_run_batch. */
  int (*run) (void *data, const nms_frame *frame, int32_t *kept, size_t *kept_count, char *why,
      size_t why_size);
  /* Returns why the engine leaves all frames, in one line, or NULL. The function may be NULL. */
  const char *(*reason) (void *data);
  /* Ends a wait in `run`, which then leaves its frame, and all later waits. Any thread may call it
   * at any time. The function may be NULL. */
  void (*interrupt) (void *data);
  /* Frees `data`. The function may be NULL. */
  void (*free) (void *data);
} nms_added_engine;

/* Adds an engine to the context, in place of one that was added before, which is freed. Frames with
 * nms_options.engine NMS_ENGINE_ADDED run it. The struct is copied; `data` belongs to the context
 * from now on, also if the call fails. The engine must return the same results as the other
 * engines. The library checks only that the kept boxes are different boxes of the frame, in order
 * of rank and within the caps, because checking more would take as long as deciding the frame. An
 * engine that fails the check is not asked again. Do not call this function while another thread
 * may call nms_context_interrupt. Errors: NMS_ERROR_ARGUMENT, _MEMORY. */
NMS_API int nms_context_add_engine (nms_context *ctx, const nms_added_engine *engine);

/* ----------------------------------------------------------------- batch */

/* Arrays of the caller for nms_run_batch. */
typedef struct nms_batch_arrays {
  /* sizeof (nms_batch_arrays) */
  size_t size;
  /* kept_capacity elements; required if there is a box */
  int32_t *kept;
  /* at least the sum, over all images, of the image's number of boxes or of max_detections, if
   * that is less and not 0 */
  size_t kept_capacity;
  /* images + 1 elements; required */
  size_t *kept_offsets;
  /* boxes->count elements; NULL if not wanted */
  uint8_t *outcome;
  /* boxes->count elements; NULL if not wanted */
  int32_t *suppressed_by;
  /* kept_capacity elements; NULL if not wanted */
  float *kept_score;
  /* 4 * kept_capacity elements; NULL if not wanted */
  float *kept_box;
} nms_batch_arrays;

/* Largest number of threads of a context. */
#define NMS_MAX_THREADS 1024

/* Sets the number of threads on which nms_run_batch runs, 1..NMS_MAX_THREADS, including the
 * caller's; a new context has 1. Other functions use the caller's thread only. The threads start
 * in this call and wait between batches; each has scratch of its own. They end when the number is
 * set again and when the context is freed. They block all signals. In a forked process they do not
 * exist, so nms_run_batch runs in the caller's thread only. Errors: NMS_ERROR_RANGE, _MEMORY (a
 * thread cannot be started); the number is then unchanged. */
NMS_API int nms_context_set_threads (nms_context *ctx, unsigned threads);

/* Runs NMS over each of `images` images, on the threads of the context. The results are those of
 * one call of nms_run for each image. `boxes` has the boxes of the first image, then those of
 * the second, and so on: image i has the boxes offsets[i] to offsets[i + 1] - 1. `offsets` has
 * images + 1 elements: offsets[0] is 0, no element is less than the one before, and the last is
 * boxes->count. An image has at most NMS_MAX_BOXES boxes; boxes->count may be larger. All indices
 * (parents, kept boxes, suppressors) count from the first box of the image. The options apply to
 * each image by itself. nms_options.outputs is ignored: every array that is not NULL is filled.
 *
 * The kept boxes of image i are arrays->kept[k] for k from kept_offsets[i] to
 * kept_offsets[i + 1] - 1, in score order. `result` gets the counts of all images together, and
 * its pointers point to the arrays.
 *
 * Returns the errors of nms_run; NMS_ERROR_SPACE if kept_capacity is less than
 * nms_batch_arrays requires. If an error concerns one image, its text begins with "image N: ", with
 * N counted from 0, for the first such image, and the arrays may be written in part. */
NMS_API int nms_run_batch (nms_context *ctx, const nms_boxes *boxes, const size_t *offsets,
    size_t images, const nms_options *options, const nms_batch_arrays *arrays, nms_result *result);

/* ------------------------------------------------------ neighbors, overlap */

/* Counts the neighbors of each box: the boxes that it would suppress if it were kept, or that
 * would suppress it. These have the same group (unless class_agnostic), are neither its parent
 * nor its part, and overlap it beyond the threshold of one of the two. Boxes that are invalid
 * or filtered by `options`, or that are not candidates, have 0 neighbors and are not counted.
 * Caps have no effect.
 * `neighbors` has boxes->count elements. Detectors without scores rank by this number: Viola
 * and Jones's "neighbors", OpenCV's minNeighbors. Errors as nms_run. */
NMS_API int nms_count_neighbors (nms_context *ctx, const nms_boxes *boxes,
    const nms_options *options, uint32_t *neighbors);

/* Returns the IoU of two boxes given as x1 y1 x2 y2, as defined above; 0 if one is invalid. For
 * tests and tools; nms_run never divides. */
NMS_API float nms_iou (const float a[4], const float b[4]);

#ifdef __cplusplus
}
#endif

#endif
