/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmscore: non-maximum suppression of boxes, upright or turned.
 *
 * An object detector reports the same object several times. Non-maximum
 * suppression (NMS) walks the boxes from the best score to the worst and
 * discards each one that overlaps an already kept box of its class by more
 * than a threshold. This library does that exactly: every engine, on every
 * machine, returns the same bits.
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
 * What is computed
 * ----------------
 * Numbers     All comparisons are made in IEEE binary32, rounding to nearest,
 *             with subnormals: the caller's floating-point mode is saved, set
 *             to that and restored by every call that computes.
 * Box         Corners (x1, y1, x2, y2) in continuous coordinates, any unit;
 *             area = width * height, nothing is added to an extent. Flipped
 *             corners are put in order. A box is *invalid* when a coordinate
 *             or its score is NaN, or a coordinate is infinite or beyond
 *             +-1e18. An extent (of a box, or of an intersection) of at most
 *             2^-50 counts as 0.
 * Score       Higher is better; any float but NaN, infinities included.
 * Order       Score descending; equal scores: lower index first. -0 equals +0.
 * Overlap     IoU = inter / ((area_i + area_j) - inter), each operation
 *             rounded to binary32. Boxes that do not intersect, and boxes
 *             without area, have IoU 0 and never suppress or are suppressed.
 * Suppression A kept box suppresses a later one of the same class when
 *             IoU > iou_threshold (>= if `inclusive`). A threshold in
 *             (0, 2^-24) acts as 0.
 * Turned boxes  The overlap of a pair of which one at least has an angle other
 *             than 0 is that of the rectangles, clipped one by the other in
 *             binary64. It is right to 1e-12 of the boxes' extents over their
 *             distance, or better, and compared as if it had been rounded to
 *             binary32. Intersections below 2^-40 of the smaller box count as
 *             none. A box is invalid too when its angle is NaN or infinite.
 *             Angles beyond +-2 pi are reduced by the binary64 value of that.
 *             Pairs without an angle are decided as ever. Frames with turned
 *             boxes run in engine sorted, whichever was asked for.
 * Caps        Boxes are decided in order. A box whose turn comes when the
 *             total cap, or its class's cap, is already full is over-cap: it
 *             is not examined and suppresses nothing.
 * Outcome     Exactly one per box; where several would apply, the first of:
 *             invalid, filtered, over-cap, suppressed, kept.
 *
 * The method is the greedy algorithm of the detection literature; engine
 * `sequential` follows the sequential-grid kernel of Chaim Rand,
 * "Implementing Sequential Algorithms on TPU".
 *
 * Structs and versions: every struct that the caller fills begins with its
 * `size`. A smaller one than this header's is completed with defaults; a
 * larger one is accepted if the part unknown to the library is all zero.
 *
 * Threads: a context belongs to one thread at a time; any number of contexts
 * may run at once. Functions without a context are safe from any thread.
 *
 * Nothing here writes to a stream, aborts on bad input, or keeps a pointer of
 * the caller's after it returned.
 */
#ifndef NMSCORE_H
#define NMSCORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef NMS_API
#define NMS_API
#endif

/* The version of this header; nms_version () tells the library's. */
#define NMS_VERSION_MAJOR 0
#define NMS_VERSION_MINOR 1
#define NMS_VERSION_MICRO 0
#define NMS_VERSION_NUMBER                                                     \
  (NMS_VERSION_MAJOR * 1000000 + NMS_VERSION_MINOR * 1000 + NMS_VERSION_MICRO)

/* The library's version in the form of NMS_VERSION_NUMBER. */
NMS_API int nms_version (void);

/* ---------------------------------------------------------------- errors */

/* Every function that can fail returns 0 for success or one of these. On
 * failure nothing is written to the caller's result or arrays. */
#define NMS_ERROR_LIST(X)                                                      \
  X (NMS_OK, 0, "success")                                                     \
  X (NMS_ERROR_ARGUMENT, -1, "a required argument is missing or malformed")    \
  X (NMS_ERROR_RANGE, -2, "an option is outside its range")                    \
  X (NMS_ERROR_DUPLICATE_CLASS, -3, "a class is listed twice in the options")  \
  X (NMS_ERROR_MEMORY, -4, "out of memory")                                    \
  X (NMS_ERROR_TOO_MANY_BOXES, -5, "more boxes than NMS_MAX_BOXES")            \
  X (NMS_ERROR_UNSUPPORTED, -6, "not supported by this build")                 \
  X (NMS_ERROR_SPACE, -7, "an output array of the caller is too small")          \
  X (NMS_ERROR_DEVICE, -8, "a device, or the plugin for it, failed")

#define NMS__ENUM(name, value, text) name = value,
typedef enum nms_error { NMS_ERROR_LIST (NMS__ENUM) } nms_error;
#undef NMS__ENUM

/* One line of English for a code of the list, "unknown error" for any other
 * number. Never NULL; the string is static. */
NMS_API const char *nms_strerror (int error);

/* ----------------------------------------------------------------- boxes */

/* Most boxes of one call, and most entries of class options. */
#define NMS_MAX_BOXES ((size_t) 1 << 30)
#define NMS_MAX_CLASS_OPTIONS ((size_t) 1 << 20)

/* One column of values: element i lies at (const char *) data + i * stride.
 * `stride` is in bytes, may be negative, and needs no alignment, nor does
 * `data`; 0 stands for the size of one element (a packed array). Nothing
 * outside the count elements is ever read. `data` NULL: the column is absent. */
typedef struct nms_column {
  const void *data;
  ptrdiff_t stride;
} nms_column;

/* The boxes of one call (one image). Borrowed: read during the call only. */
typedef struct nms_boxes {
  size_t size;  /* sizeof (nms_boxes) */
  size_t count; /* number of boxes, 0..NMS_MAX_BOXES; 0: columns may be absent */
  nms_column x1, y1, x2, y2; /* float: corners; required */
  nms_column score;    /* float; absent: all equal, so the input order ranks */
  nms_column class_id; /* int32_t, any value; absent: all boxes of one class 0 */
  nms_column exclude;  /* uint8_t; not 0: the box is filtered beforehand (it
                        * still is `invalid` if it is); absent: none is */
  nms_column parent;   /* int32_t: index of the box that this one is a part
                        * of, or -1; a box and its parent never suppress each
                        * other. Out of range counts as -1. absent: no parts */
  nms_column angle;    /* float, radians: the box is turned by it about its
                        * centre, clockwise where y points down; see Turned
                        * boxes. absent: no box is turned */
} nms_boxes;

/* Points the four corner columns at `count` packed rows x1 y1 x2 y2 (the count
 * may be set before or after). Writes nothing else. */
NMS_API void nms_boxes_set_rows (nms_boxes *boxes, const float *rows);

/* Converts `count` packed rows of other box forms to rows x1 y1 x2 y2; `out`
 * may be `in`. Rounding, per coordinate, to nearest binary32:
 *   centre form      cx cy w h -> cx - w/2, cy - h/2, cx + w/2, cy + h/2
 *                    (one rounding each, since halving is exact but for the
 *                    last bit of a subnormal), as ONNX's center_point_box = 1
 *   corner-size form x y w h   -> x, y, x + w, y + h (one rounding each)
 * Both keep NaN and infinities, which nms_run then reports as invalid. */
NMS_API void nms_rows_from_cxcywh (const float *in, size_t count, float *out);
NMS_API void nms_rows_from_xywh (const float *in, size_t count, float *out);

/* --------------------------------------------------------------- options */

/* Which engine runs. All give identical results; they differ in time only. */
typedef enum nms_engine {
  NMS_ENGINE_AUTO = 0,       /* the library picks, by a sample of overlaps */
  NMS_ENGINE_SEQUENTIAL = 1, /* the sequential grid: each step takes the few best
                              * boxes, and drops what they suppress in one pass over
                              * the others. Best up to some thousand boxes. */
  NMS_ENGINE_SORTED = 2,     /* sorts once, then tests each box against the kept
                              * ones; stops at the cap. */
  NMS_ENGINE_SPATIAL = 3,    /* sorts, then tests each kept box against those around
                              * it, which a grid finds. Best for many boxes. */
  NMS_ENGINE_XLA = 4         /* the whole call as one program, compiled by XLA for the
                              * device of a plugin: see xla_plugin. NMS_ENGINE_AUTO
                              * never picks it. */
} nms_engine;

/* "auto", "sequential", ...; NULL for a number that is no engine. */
NMS_API const char *nms_engine_name (int engine);

/* What a nms_class_options sets. */
enum {
  NMS_CLASS_IOU_THRESHOLD = 1,
  NMS_CLASS_SCORE_THRESHOLD = 2,
  NMS_CLASS_MAX_DETECTIONS = 4
};

/* Options of one class, which replace the global ones for boxes of that class
 * (where class_agnostic lets classes meet, the lower-ranked box's class
 * decides). Fields not named in `set` are inherited. */
typedef struct nms_class_options {
  size_t size; /* sizeof (nms_class_options); the same in every entry */
  int32_t class_id;
  uint32_t set;           /* NMS_CLASS_... bits */
  float iou_threshold;    /* 0..1 */
  float score_threshold;  /* any but NaN */
  uint64_t max_detections; /* most kept boxes of this class; 0: no limit */
} nms_class_options;

/* Optional outputs, a bit each; those not asked for cost nothing. */
enum {
  NMS_OUTPUT_OUTCOME = 1,      /* nms_result.outcome */
  NMS_OUTPUT_SUPPRESSED_BY = 2 /* nms_result.suppressed_by */
};

typedef struct nms_options {
  size_t size;           /* sizeof (nms_options), written by nms_options_init */
  float iou_threshold;   /* 0..1, default 0.5: overlap above which a box is suppressed */
  float score_threshold; /* any but NaN, default -inf (keeps all): a box takes part
                          * when score >= score_threshold */
  uint64_t max_detections; /* most kept boxes in all, default 0: no limit */
  uint64_t max_per_class;  /* most kept boxes of one class, default 0: no limit */
  uint8_t inclusive;       /* default 0; not 0: suppress at IoU == threshold too */
  uint8_t score_strict;    /* default 0; not 0: score > score_threshold takes part */
  uint8_t class_agnostic;  /* default 0; not 0: suppress across classes (caps per
                            * class still count per class) */
  uint8_t xla_strict;      /* default 0; not 0: engine xla or an error: see below */
  uint32_t engine;         /* nms_engine, default NMS_ENGINE_AUTO */
  uint32_t outputs;        /* NMS_OUTPUT_... bits, default 0 */
  uint32_t reserved2;      /* 0 */
  const nms_class_options *class_options; /* borrowed; default NULL */
  size_t class_option_count; /* default 0 */
  const char *xla_plugin; /* file of the PJRT plugin that engine xla uses; borrowed;
                           * default NULL: what the environment variable
                           * NMS_XLA_PLUGIN names at a context's first use of it */
} nms_options;

/* Engine xla loads the plugin and compiles programs when they are first needed:
 * one for each power of two that frames are padded to, from 128 to
 * NMS_XLA_MAX_BOXES, and each combination of inclusive, class_agnostic and the
 * like; no threshold, cap or number of boxes needs a program of its own, but on
 * a TPU there is one for each power of two that caps are padded to. Each
 * program has to give known answers before it is used; a device that rounds
 * differently is refused. Contexts with the same plugin share its device and
 * programs.
 *
 * That takes a thread of its own, and meanwhile, and for frames that the engine
 * cannot take (turned boxes among them), the native engines run, which give the
 * same result. Where the engine cannot be used at all (no plugin, one that does
 * not load or fails, a device that is refused), they run from then on, and
 * nms_context_engine_refusal () says why. With xla_strict a call waits for its
 * program, and what would be left to the native engines is an error. */
#define NMS_XLA_MAX_BOXES 65536

/* Writes every default into the first `size` bytes of `options` and sets its
 * `size`. Pass sizeof *options. */
NMS_API void nms_options_init (nms_options *options, size_t size);

/* --------------------------------------------------------------- context */

/* Scratch memory and state of one stream or thread. */
typedef struct nms_context nms_context;

/* A new context, or NULL when out of memory. No scratch is taken yet. */
NMS_API nms_context *nms_context_new (void);

/* Frees *ctx and sets it to NULL. Accepts NULL and a pointer to NULL. */
NMS_API void nms_context_free (nms_context **ctx);

/* Takes the scratch for frames of up to `boxes` boxes and `class_options`
 * entries of class options now, so that no later call of that size or less
 * allocates. Without it, scratch grows as larger frames come, and is kept.
 * At most 192 * boxes + 64 * class_options + 65536 bytes are taken in all;
 * nms_context_scratch () tells how many are. Errors: NMS_ERROR_MEMORY,
 * _TOO_MANY_BOXES, _RANGE (class_options); the scratch is then as it was. */
NMS_API int nms_context_reserve (nms_context *ctx, size_t boxes, size_t class_options);

/* Gives all scratch back; results of the last run are gone. */
NMS_API void nms_context_trim (nms_context *ctx);

/* Bytes of scratch the context holds now. */
NMS_API size_t nms_context_scratch (const nms_context *ctx);

/* One line about the last failure of a call with this context ("iou_threshold
 * is 1.2, must be 0..1"), "" after a success. Valid until the next call. */
NMS_API const char *nms_context_error (const nms_context *ctx);

/* The engine that the last successful run used (never NMS_ENGINE_AUTO), or
 * NMS_ENGINE_AUTO before the first. */
NMS_API int nms_context_engine (const nms_context *ctx);

/* What the last successful run used, for people: engine and instruction set, as
 * "sorted/avx2", or engine and device, as "xla:cpu"; "" before the first. Valid
 * until the next call. */
NMS_API const char *nms_context_engine_in_use (nms_context *ctx);

/* Why engine xla, although asked for, is not used by this context, in one line,
 * or NULL. Once it is refused it is not tried again, unless xla_plugin changes
 * or the context is trimmed. Valid until the next call. */
NMS_API const char *nms_context_engine_refusal (const nms_context *ctx);

/* The instruction set of a context: "avx512", "avx2" or "sse2" on x86-64,
 * "neon" on AArch64, "scalar" (plain C) everywhere. A new context has the best
 * one that the processor and the operating system support, or the one that the
 * environment variable NMS_ISA names (read once in a process). It changes time
 * only, never results.
 * nms_context_set_isa: `name` NULL stands for that default;
 * NMS_ERROR_UNSUPPORTED for a name that is unknown or cannot run here, and the
 * context is then as it was.
 * nms_isa_refusal: why NMS_ISA was not obeyed, or NULL if it was or is not
 * set; the string is static. */
NMS_API const char *nms_context_isa (const nms_context *ctx);
NMS_API int nms_context_set_isa (nms_context *ctx, const char *name);
NMS_API const char *nms_isa_refusal (void);

/* ------------------------------------------------------------------- run */

/* What became of one box. */
typedef enum nms_outcome {
  NMS_KEPT = 0,
  NMS_SUPPRESSED = 1,
  NMS_OVER_CAP = 2,
  NMS_FILTERED = 3, /* by score, or by nms_boxes.exclude */
  NMS_INVALID = 4
} nms_outcome;

typedef struct nms_result {
  size_t size;          /* sizeof (nms_result), set by the caller */
  size_t kept_count;    /* the counts sum to nms_boxes.count */
  size_t suppressed_count;
  size_t over_cap_count;
  size_t filtered_count;
  size_t invalid_count;
  const int32_t *kept;  /* kept_count indices in score order */
  const uint8_t *outcome; /* an nms_outcome per box; NULL unless asked for */
  const int32_t *suppressed_by; /* per box: the highest-ranked kept box that
                                 * suppresses it, or -1 for a box that is not
                                 * NMS_SUPPRESSED; NULL unless asked for */
} nms_result;

/* Runs NMS over `boxes`. `options` NULL: all defaults. The arrays of `result`
 * belong to the context and hold until its next run, trim or free.
 * Returns 0, or NMS_ERROR_ARGUMENT (a NULL pointer, a missing column, a wrong
 * struct size), _RANGE, _DUPLICATE_CLASS, _TOO_MANY_BOXES, _MEMORY, or
 * _UNSUPPORTED (an engine or output that this build lacks; a frame that is not
 * for engine xla, with xla_strict), or _DEVICE (engine xla, with xla_strict). */
NMS_API int nms_run (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    nms_result *result);

/* Arrays of the caller for nms_run_into. NULL: not wanted. */
typedef struct nms_arrays {
  size_t size;           /* sizeof (nms_arrays) */
  int32_t *kept;         /* room for kept_capacity indices */
  size_t kept_capacity;  /* boxes.count is always enough, and so is a non-zero
                          * max_detections */
  uint8_t *outcome;      /* room for boxes.count */
  int32_t *suppressed_by; /* room for boxes.count */
} nms_arrays;

/* As nms_run, but fills the caller's arrays; `result` receives the counts, and
 * its pointers point to those arrays. nms_options.outputs is ignored: what is
 * not NULL is filled. NMS_ERROR_SPACE when more boxes were kept than fit. */
NMS_API int nms_run_into (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    const nms_arrays *arrays, nms_result *result);

/* Counts for each box how many others it would suppress or be suppressed by,
 * were it kept or they: same class (unless class_agnostic), not its parent nor
 * its part, overlap beyond the threshold of either of the two. Boxes that are
 * invalid or filtered by `options` have 0 and are not counted. Caps do not
 * matter. `neighbors` has room for boxes->count. This is the rank of detectors
 * without scores: Viola and Jones's "neighbors", OpenCV's minNeighbors.
 * Errors as nms_run. */
NMS_API int nms_count_neighbors (nms_context *ctx, const nms_boxes *boxes,
    const nms_options *options, uint32_t *neighbors);

/* IoU of two boxes given as x1 y1 x2 y2, by the definition above: 0 where one
 * is invalid. For tests and tools; nms_run never divides. */
NMS_API float nms_iou (const float a[4], const float b[4]);

#ifdef __cplusplus
}
#endif

#endif
