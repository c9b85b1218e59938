/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmslazy: tensors that look eager and run compiled.
 *
 * A call such as nms_lazy_binary () computes nothing: it records an operation.
 * nms_lazy_read () asks for values and so is the barrier: what the tensors
 * asked for depend on, the trace, is hashed, looked up among the programs of
 * the cache, compiled if it is new, and run. A stream whose frames record the
 * same operations on the same shapes compiles once.
 *
 *     nms_lazy_cache *cache = nms_lazy_cache_new (NULL, 0);   // eager, in C
 *     nms_lazy *lz = nms_lazy_new (cache);
 *     const int32_t n = 1024;
 *     nms_lazy_tensor x = nms_lazy_input (lz, NMS_LAZY_F32, 1, &n, samples);
 *     nms_lazy_tensor limit = nms_lazy_input_f32 (lz, 0.7f);
 *     nms_lazy_tensor above = nms_lazy_binary (lz, NMS_LAZY_GT, x, limit);
 *     nms_lazy_tensor best = nms_lazy_reduce (lz, NMS_LAZY_MAX, x, 0);
 *     nms_lazy_tensor want[] = { above, best };
 *     void *into[] = { flags, &greatest };
 *     if (nms_lazy_read (lz, 2, want, into) < 0)
 *       puts (nms_lazy_error (lz));
 *     nms_lazy_clear (lz);                                    // next frame
 *
 * Two objects:
 *
 *   nms_lazy_cache  a device and the programs compiled for it. The device is a
 *                   backend given when the cache is made; without one the
 *                   eager executor, plain C, interprets the trace. Any number
 *                   of contexts, on any threads, share a cache.
 *   nms_lazy        a context: the tensors and operations recorded. One thread
 *                   at a time. Tensors are plain numbers that belong to it and
 *                   live until nms_lazy_clear (); a number from before it, or
 *                   of another context, is an error, never a wild pointer.
 *
 * What is part of a program and what is not
 * -----------------------------------------
 *   inputs     nms_lazy_input...(): type and shape are part of the trace, the
 *              values are given to each run. Whatever changes from frame to
 *              frame (boxes, thresholds, caps, counts) is an input.
 *   constants  nms_lazy_f32 (), _s32 (), _pred (): scalars that are baked into
 *              the program and part of the trace; another value is another
 *              program.
 *   values read  A tensor that was read has its values from then on, and what
 *              is recorded on it later takes it as an input.
 *
 * Errors latch: the first wrong call (types or shapes that do not fit, a stale
 * tensor, too many operations, no memory) sets the context's code and text;
 * from then on each call returns NMS_LAZY_NONE and records nothing, until
 * nms_lazy_clear (). So only the read needs a check.
 *
 * Numbers: every executor gives the same bits. Each operation is rounded by
 * itself to binary32, nearest even (programs are written so that no compiler
 * contracts a product and a sum). Not the same everywhere, and thus to be kept
 * out of programs: subnormal operands and results (devices flush them), NaN in
 * max, min and reductions, the sign of a zero that max or min took from two
 * zeros, the sign and payload of a NaN. Sums over an axis do not exist: the
 * order of floats' is not defined. The floating-point mode of the caller does
 * not matter.
 *
 * The idea, recording behind an eager interface, hashing the trace, caching
 * the executable, an eager executor underneath, is that of Suhan et al.,
 * "LazyTensor: combining eager execution with domain-specific compilers".
 */
#ifndef NMSLAZY_H
#define NMSLAZY_H

#include "nmscore.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------- tensors */

/* Element types, and how they lie in the host's memory: packed, last axis
 * fastest (row-major), no padding. */
typedef enum nms_lazy_type {
  NMS_LAZY_F32 = 1, /* float */
  NMS_LAZY_S32 = 2, /* int32_t; add, subtract, multiply wrap around */
  NMS_LAZY_PRED = 3 /* one byte, 0 or 1 (an input: any other value counts as 1) */
} nms_lazy_type;

/* Scalars, vectors, matrices. */
#define NMS_LAZY_MAX_RANK 2

/* Most elements of a tensor, operations of a context, states of a loop. */
#define NMS_LAZY_MAX_ELEMENTS ((size_t) 1 << 28)
#define NMS_LAZY_MAX_OPERATIONS 4096
#define NMS_LAZY_MAX_STATES 64

/* A tensor's type and extents; rank 0 is a scalar; extents are 1 or more. */
typedef struct nms_lazy_shape {
  int32_t type; /* nms_lazy_type */
  int32_t rank; /* 0..NMS_LAZY_MAX_RANK */
  int32_t dims[NMS_LAZY_MAX_RANK]; /* rows, columns; those beyond the rank are 0 */
} nms_lazy_shape;

/* Number of elements, and of bytes in the host's memory. */
NMS_API size_t nms_lazy_shape_elements (const nms_lazy_shape *shape);
NMS_API size_t nms_lazy_shape_bytes (const nms_lazy_shape *shape);

/* ------------------------------------------------------ compiled executors */

/* One array in the host's memory, of nms_lazy_shape_bytes (&shape) bytes. */
typedef struct nms_lazy_buffer {
  nms_lazy_shape shape;
  void *data;
} nms_lazy_buffer;

/*
 * A device with a compiler. Its owner embeds this struct in one of its own,
 * fills it, and keeps it, at the same address, until the last cache made with
 * it is gone. All functions may be called from any thread, several at once, on
 * one program too; none may be NULL. They return 0 or a code of nms_error and
 * then write one line of English without a newline, at most `error_size`
 * bytes with the final 0, to `error`.
 */
typedef struct nms_lazy_backend nms_lazy_backend;
struct nms_lazy_backend {
  size_t size;      /* sizeof (nms_lazy_backend) */
  const char *name; /* what ran, for people: "xla cpu" */

  /* Compiles a module: `length` bytes of StableHLO text in generic form (no
   * final 0 is promised), one public function `main` of `output_count` results.
   * Its arguments are the inputs that runs will give. Type PRED is i1 there,
   * S32 is i32. *program: whatever the backend wants, not NULL. */
  int (*compile) (nms_lazy_backend *backend, const char *text, size_t length,
      size_t output_count, void **program, char *error, size_t error_size);

  /* Runs a program: reads the inputs' data, writes the outputs'. Counts and
   * shapes are always those that its text says. The data holds during the call
   * only, is aligned to 64 bytes on the inputs' side and not at all on the
   * outputs' side. PRED inputs are 0 or 1. */
  int (*run) (nms_lazy_backend *backend, void *program, const nms_lazy_buffer *inputs,
      size_t input_count, const nms_lazy_buffer *outputs, size_t output_count, char *error,
      size_t error_size);

  /* Frees a program that no run uses any more. */
  void (*free_program) (nms_lazy_backend *backend, void *program);
};

/* ----------------------------------------------------------------- cache */

typedef struct nms_lazy_cache nms_lazy_cache;

/* Programs kept when the caller names no bound. */
#define NMS_LAZY_DEFAULT_PROGRAMS 32

/* A cache of at most `programs` compiled programs (0: NMS_LAZY_DEFAULT_PROGRAMS)
 * for `backend` (NULL: the eager executor). When it is full, the program used
 * least recently goes; if it is running, when that is done. NULL: out of
 * memory, or a backend of another size. */
NMS_API nms_lazy_cache *nms_lazy_cache_new (nms_lazy_backend *backend, size_t programs);

/* Gives up the caller's hold and sets *cache to NULL; contexts made with the
 * cache keep it, and its programs, until they are freed. Accepts NULL. */
NMS_API void nms_lazy_cache_free (nms_lazy_cache **cache);

/* What happened so far. traces = hits + misses. */
typedef struct nms_lazy_counters {
  size_t size;         /* sizeof (nms_lazy_counters), set by the caller */
  uint64_t traces;     /* traces looked up */
  uint64_t hits;       /* found, or found being compiled by another thread */
  uint64_t misses;     /* not found: compiled, or tried to */
  uint64_t failures;   /* misses whose compilation failed */
  uint64_t evictions;  /* programs given up for the bound */
  uint64_t runs;       /* programs run */
  uint64_t compile_ns; /* nanoseconds spent compiling */
  uint64_t programs;   /* in the cache now */
} nms_lazy_counters;

/* Fills *counters, up to its size. 0 or NMS_ERROR_ARGUMENT. */
NMS_API int nms_lazy_cache_counters (nms_lazy_cache *cache, nms_lazy_counters *counters);

/* --------------------------------------------------------------- context */

typedef struct nms_lazy nms_lazy;

/* A tensor of a context; NMS_LAZY_NONE stands for a call that failed. */
typedef uint64_t nms_lazy_tensor;
#define NMS_LAZY_NONE ((nms_lazy_tensor) 0)

/* A new context, or NULL when out of memory. */
NMS_API nms_lazy *nms_lazy_new (nms_lazy_cache *cache);

/* Frees *lz and sets it to NULL. Accepts NULL and a pointer to NULL. */
NMS_API void nms_lazy_free (nms_lazy **lz);

/* Forgets all tensors and the error; keeps the memory for the next frame. */
NMS_API void nms_lazy_clear (nms_lazy *lz);

/* The first error since the last clear (a code of nms_error), 0: none; and one
 * line about it, or about the last failure of a read, "" if there is none. */
NMS_API int nms_lazy_status (const nms_lazy *lz);
NMS_API const char *nms_lazy_error (const nms_lazy *lz);

/* The shape of a tensor; of a failed one {0}. */
NMS_API nms_lazy_shape nms_lazy_shape_of (nms_lazy *lz, nms_lazy_tensor x);

/* Reads `count` tensors (1 or more): the barrier. data[i] receives the bytes of
 * tensors[i]; NULL: not wanted on the host, but it becomes a value read.
 * Inside the functions of nms_lazy_while () it is refused: values do not exist
 * yet. Returns 0, the latched error, or what the backend returned; a backend's
 * failure does not latch: a later read runs again. A program that did not
 * compile is not tried again while the cache holds it. Writes nothing on
 * failure. */
NMS_API int nms_lazy_read (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors,
    void *const *data);

/* The StableHLO text of the program that a read of these tensors would run, as
 * the compiler gets it; a new string for free (). NULL: see nms_lazy_error. */
NMS_API char *nms_lazy_dump (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors);

/* ------------------------------------------------------ inputs, constants */

/* An input of `rank` extents; `data` is copied now. rank 0: dims may be NULL. */
NMS_API nms_lazy_tensor nms_lazy_input (nms_lazy *lz, nms_lazy_type type, int rank,
    const int32_t *dims, const void *data);

/* Scalar inputs. */
NMS_API nms_lazy_tensor nms_lazy_input_f32 (nms_lazy *lz, float value);
NMS_API nms_lazy_tensor nms_lazy_input_s32 (nms_lazy *lz, int32_t value);

/* Scalars baked into the program; `value` of a PRED: 0 or not. */
NMS_API nms_lazy_tensor nms_lazy_f32 (nms_lazy *lz, float value);
NMS_API nms_lazy_tensor nms_lazy_s32 (nms_lazy *lz, int32_t value);
NMS_API nms_lazy_tensor nms_lazy_pred (nms_lazy *lz, int value);

/* 0, 1, 2, ... along `axis`, as S32. */
NMS_API nms_lazy_tensor nms_lazy_iota (nms_lazy *lz, int rank, const int32_t *dims, int axis);

/* ---------------------------------------------------------- element by element */

typedef enum nms_lazy_op {
  /* of two tensors of one type */
  NMS_LAZY_ADD, NMS_LAZY_SUB, NMS_LAZY_MUL, /* F32, S32 */
  NMS_LAZY_DIV,                             /* F32 */
  NMS_LAZY_MAX, NMS_LAZY_MIN,               /* F32, S32 */
  NMS_LAZY_AND, NMS_LAZY_OR, NMS_LAZY_XOR,  /* S32: bitwise; PRED: logical */
  /* give a PRED, of any type; with a NaN only NE is true */
  NMS_LAZY_EQ, NMS_LAZY_NE, NMS_LAZY_GE, NMS_LAZY_GT, NMS_LAZY_LE, NMS_LAZY_LT,
  /* of one tensor */
  NMS_LAZY_ABS, NMS_LAZY_NEG, /* F32, S32 */
  NMS_LAZY_AS_S32, /* F32: its bits, as S32 */
  NMS_LAZY_AS_F32, /* S32: the float that has these bits */
  NMS_LAZY_TO_S32, /* PRED: 0 or 1 */
  NMS_LAZY_TO_F32, /* S32: the number, to nearest even */
  NMS_LAZY_SELECT  /* nms_lazy_select alone */
} nms_lazy_op;

/* Tensors of one shape, or scalars, which then count for every element. */
NMS_API nms_lazy_tensor nms_lazy_unary (nms_lazy *lz, nms_lazy_op op, nms_lazy_tensor a);
NMS_API nms_lazy_tensor nms_lazy_binary (nms_lazy *lz, nms_lazy_op op, nms_lazy_tensor a,
    nms_lazy_tensor b);
/* a where the PRED `p` is 1, b elsewhere. */
NMS_API nms_lazy_tensor nms_lazy_select (nms_lazy *lz, nms_lazy_tensor p, nms_lazy_tensor a,
    nms_lazy_tensor b);

/* ----------------------------------------------------------------- shapes */

/* A scalar everywhere (`axis` does not matter), or a vector along `axis` of the
 * result, repeated along the other. */
NMS_API nms_lazy_tensor nms_lazy_broadcast (nms_lazy *lz, nms_lazy_tensor a, int rank,
    const int32_t *dims, int axis);
NMS_API nms_lazy_tensor nms_lazy_reshape (nms_lazy *lz, nms_lazy_tensor a, int rank,
    const int32_t *dims);
/* Of a matrix. */
NMS_API nms_lazy_tensor nms_lazy_transpose (nms_lazy *lz, nms_lazy_tensor a);
/* dims[i] elements of each axis, from from[i] on, one S32 scalar an axis (a
 * constant or not), moved so that the slice lies inside. */
NMS_API nms_lazy_tensor nms_lazy_slice (nms_lazy *lz, nms_lazy_tensor a,
    const nms_lazy_tensor *from, const int32_t *dims);
/* `a` with `part` in place of such a slice. */
NMS_API nms_lazy_tensor nms_lazy_update (nms_lazy *lz, nms_lazy_tensor a, nms_lazy_tensor part,
    const nms_lazy_tensor *from);

/* ------------------------------------------------------------- reductions */

/* `a` without `axis`: the MAX or MIN of it (F32 or S32; with a NaN:
 * unspecified), or the AND or OR (S32 or PRED). */
NMS_API nms_lazy_tensor nms_lazy_reduce (nms_lazy *lz, nms_lazy_op op, nms_lazy_tensor a,
    int axis);

/* The greatest element along `axis` and, as S32 to *index, where it is: of
 * equal ones the first. F32 without NaN (with one: unspecified), or S32. */
NMS_API nms_lazy_tensor nms_lazy_argmax (nms_lazy *lz, nms_lazy_tensor a, int axis,
    nms_lazy_tensor *index);

/* ------------------------------------------------------------------ loops */

/*
 * while (cond (state)) state = body (state), of `count` tensors.
 *
 * A trace cannot see a C loop; this is the loop that it can. Each function is
 * called exactly once, at once, with placeholders for the state, and records
 * what is to be done. They may use any tensor from before the loop, but none of
 * one another, and may not read. cond returns a PRED scalar; body writes the
 * next state, of the same shapes and types, to next[0..count-1]. `user` is
 * handed through. out[0..count-1] receives the last state. Loops nest.
 */
typedef nms_lazy_tensor (*nms_lazy_cond) (nms_lazy *lz, const nms_lazy_tensor *state, void *user);
typedef void (*nms_lazy_body) (nms_lazy *lz, const nms_lazy_tensor *state, nms_lazy_tensor *next,
    void *user);

NMS_API void nms_lazy_while (nms_lazy *lz, size_t count, const nms_lazy_tensor *init,
    nms_lazy_cond cond, nms_lazy_body body, void *user, nms_lazy_tensor *out);

#ifdef __cplusplus
}
#endif

#endif
