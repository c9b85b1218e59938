/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmslazy: tensors that are used like eager ones and run as compiled programs.
 *
 * A call such as nms_lazy_binary () computes nothing: it records an operation.
 * nms_lazy_read () is the barrier: it takes the trace, which is all operations
 * that the wanted tensors depend on, hashes it, looks it up among the programs
 * of the cache, compiles it if it is new, and runs it. A stream whose frames
 * record the same operations on the same shapes compiles once.
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
 *     nms_lazy_clear (lz);                                    // before the next frame
 *
 * Two objects:
 *
 *   nms_lazy_cache  a device and the programs compiled for it. The caller gives
 *                   the device as a backend when it makes the cache; without a
 *                   backend the eager executor, plain C, interprets the trace.
 *                   Any number of contexts, on any threads, share a cache.
 *   nms_lazy        a context: the tensors and operations recorded. Only one
 *                   thread uses it at a time. Tensors are plain numbers that
 *                   belong to the context and are valid until nms_lazy_clear ().
 *                   A number from before the last clear, or from another
 *                   context, is an error and never a wild pointer.
 *
 * What a program contains
 * -----------------------
 *   inputs       nms_lazy_input...(): type and shape are part of the trace, the
 *                values are given to each run. Values that change from frame to
 *                frame (boxes, thresholds, caps, counts) should be inputs.
 *   constants    nms_lazy_f32 (), _s32 (), _pred (): scalars that are part of the
 *                trace and of the program; another value makes another program.
 *   numbers      nms_lazy_number_f32 (), _s32 (): constants of the first program. Another
 *                value makes a second program, in which the numbers that changed are
 *                inputs, so that a third value makes none. For callers that do not know
 *                which values change, as nmscore.lazy.
 *   values read  A tensor that was read keeps its values until it is freed. Operations recorded on
 *                it later take it as an input.
 *   on a device  A tensor that was an input of a program, or was computed, stays on the
 *                device until it is freed: later programs use it there. Its values
 *                are copied from the device when they are first read into memory.
 *
 * Errors latch: the first wrong call (types or shapes that do not fit, a stale
 * tensor, too many operations, no memory) sets the context's code and text.
 * From then on each call returns NMS_LAZY_NONE and records nothing, until
 * nms_lazy_clear (). So only the read needs a check.
 *
 * Numbers: every executor gives the same bits. Each operation is rounded
 * separately to binary32, nearest even (programs are written so that no compiler
 * contracts a product and a sum). XLA rounds quotients and square roots
 * incorrectly on NVIDIA's GPUs. These differ between executors and must be
 * kept out of programs: subnormal operands and results (devices flush them), NaN
 * in max, min and reductions, the sign of a zero that max or min takes from two
 * zeros, the sign and payload of a NaN. Sums over an axis have a defined order.
 * The floating-point mode of the caller has no effect.
 *
 * Operations that equal recorded ones are not recorded again.
 *
 * The method (recording behind an eager interface, hashing the trace, caching
 * the executable, an eager executor as the base) is that of Suhan et al.,
 * "LazyTensor: combining eager execution with domain-specific compilers".
 */
#ifndef NMSLAZY_H
#define NMSLAZY_H

#include "nmscore.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------- tensors */

/* Element types. In the host's memory arrays are packed and row-major (the last axis
 * is contiguous), without padding. */
typedef enum nms_lazy_type {
  /* float */
  NMS_LAZY_F32 = 1,
  /* int32_t; add, subtract, multiply wrap around */
  NMS_LAZY_S32 = 2,
  /* one byte, 0 or 1 (inputs: any other value counts as 1) */
  NMS_LAZY_PRED = 3,
  /* uint16_t, the upper half of a float: inputs only, for NMS_LAZY_TO_F32 */
  NMS_LAZY_BF16 = 4
} nms_lazy_type;

/* Tensors are scalars, vectors or matrices. */
#define NMS_LAZY_MAX_RANK 2

/* The error code when a device or its plugin fails. */
#define NMS_ERROR_DEVICE NMS_ERROR_ENGINE

/* Maximum numbers of elements in a tensor, operations in a context, and states in a
 * loop. */
#define NMS_LAZY_MAX_ELEMENTS ((size_t) 1 << 28)
#define NMS_LAZY_MAX_OPERATIONS 4096
#define NMS_LAZY_MAX_STATES 64

/* A tensor's type and extents. Rank 0 is a scalar. Extents are 1 or more. */
typedef struct nms_lazy_shape {
  /* nms_lazy_type */
  int32_t type;
  /* 0..NMS_LAZY_MAX_RANK */
  int32_t rank;
  /* rows, columns; those beyond the rank are 0 */
  int32_t dims[NMS_LAZY_MAX_RANK];
} nms_lazy_shape;

/* Return the number of elements, and of bytes in the host's memory. */
NMS_API size_t nms_lazy_shape_elements (const nms_lazy_shape *shape);
NMS_API size_t nms_lazy_shape_bytes (const nms_lazy_shape *shape);

/* ------------------------------------------------------ compiled executors */

/* One array in the host's memory, of nms_lazy_shape_bytes (&shape) bytes. */
typedef struct nms_lazy_buffer {
  nms_lazy_shape shape;
  void *data;
  /* NULL, or the place of the pointer to the device's own copy, which is NULL as long as there
   * is none */
  void **resident;
} nms_lazy_buffer;

/*
 * A device with a compiler. Its owner embeds this struct in one of its own,
 * fills it, and keeps it at the same address until the last cache made with
 * it is freed. Only `fetch` and `free_resident` may be NULL. The library calls them from any
 * thread, also several at once and on the same program. They return 0; or a code of
 * nms_error, and then write one line of English without a newline to `error`, at
 * most `error_size` bytes with the final 0.
 */
typedef struct nms_lazy_backend nms_lazy_backend;
struct nms_lazy_backend {
  /* sizeof (nms_lazy_backend) */
  size_t size;
  /* name of the device in messages, such as "xla:cpu" */
  const char *name;

  /* Compiles a module: `length` bytes of StableHLO text in generic form (without
   * a final 0), which has one public function `main` with `output_count` results.
   * Its arguments are the inputs that runs will give. Type PRED is i1 there, S32
   * is i32. Writes a pointer of the backend's choice, not NULL, to *program. */
  int (*compile) (nms_lazy_backend *backend, const char *text, size_t length, size_t output_count,
      void **program, char *error, size_t error_size);

  /* Runs a program: reads the data of the inputs and writes the data of the
   * outputs. Counts and shapes are always those of the program's text. The data is
   * valid during the call only. The inputs are aligned to 64 bytes, the outputs
   * need not be aligned. PRED inputs are 0 or 1.
   * A backend with `fetch` also gets buffers whose `resident` is not NULL. For such
   * an input it uses *resident, or sets it to the copy that it makes of the data. For such an
   * output it sets *resident, if the run succeeds, and does not write the data. The
   * caller owns what was set and calls free_resident () for it. */
  int (*run) (nms_lazy_backend *backend, void *program, const nms_lazy_buffer *inputs,
      size_t input_count, const nms_lazy_buffer *outputs, size_t output_count, char *error,
      size_t error_size);

  /* Frees a program that no run uses. */
  void (*free_program) (nms_lazy_backend *backend, void *program);

  /* Copies the device's copy of an array to output->data; and frees such a copy. Both are
   * NULL for a device that keeps nothing between runs. */
  int (*fetch) (nms_lazy_backend *backend, void *resident, const nms_lazy_buffer *output,
      char *error, size_t error_size);
  void (*free_resident) (nms_lazy_backend *backend, void *resident);
};

/* ----------------------------------------------------------------- cache */

typedef struct nms_lazy_cache nms_lazy_cache;

/* The number of programs in a cache for which the caller gives no limit. */
#define NMS_LAZY_DEFAULT_PROGRAMS 32

/* Makes a cache of at most `programs` compiled programs (0 for
 * NMS_LAZY_DEFAULT_PROGRAMS) for `backend` (NULL for the eager executor). A full cache
 * frees the least recently used program, after its run if it is running. Returns
 * NULL when out of memory or when backend->size is not that of this version. */
NMS_API nms_lazy_cache *nms_lazy_cache_new (nms_lazy_backend *backend, size_t programs);

/* Returns the cache that all callers of this function with the same backend share, so that a
 * program is compiled once in a process. The first call makes it with NMS_LAZY_DEFAULT_PROGRAMS.
 * The caller gets a reference, to be released by nms_lazy_cache_free (). Returns NULL like
 * nms_lazy_cache_new (). */
NMS_API nms_lazy_cache *nms_lazy_cache_shared (nms_lazy_backend *backend);

/* Sets the greatest number of programs (0 for NMS_LAZY_DEFAULT_PROGRAMS) and frees any excess.
 * Returns 0 or NMS_ERROR_ARGUMENT. */
NMS_API int nms_lazy_cache_limit (nms_lazy_cache *cache, size_t programs);

/* Releases the caller's reference and sets *cache to NULL. The cache and its
 * programs are freed with the last context made with it. Accepts NULL. */
NMS_API void nms_lazy_cache_free (nms_lazy_cache **cache);

/* Counts since the cache was made, but `programs` is the present number. traces equals hits +
 * misses. */
typedef struct nms_lazy_counters {
  /* sizeof (nms_lazy_counters), set by the caller */
  size_t size;
  /* traces looked up */
  uint64_t traces;
  /* traces found in the cache, even if another thread is still compiling them */
  uint64_t hits;
  /* traces not found, which the cache then compiles */
  uint64_t misses;
  /* misses whose compilation failed */
  uint64_t failures;
  /* programs freed because the cache was full */
  uint64_t evictions;
  /* programs run */
  uint64_t runs;
  /* nanoseconds spent compiling */
  uint64_t compile_ns;
  /* programs that are in the cache now */
  uint64_t programs;
  /* arrays copied to the device */
  uint64_t sent;
  /* arrays copied from the device */
  uint64_t fetched;
} nms_lazy_counters;

/* Fills *counters, up to its size. Returns 0 or NMS_ERROR_ARGUMENT. */
NMS_API int nms_lazy_cache_counters (nms_lazy_cache *cache, nms_lazy_counters *counters);

/* --------------------------------------------------------------- context */

typedef struct nms_lazy nms_lazy;

/* A tensor of a context. A call that fails returns NMS_LAZY_NONE. */
typedef uint64_t nms_lazy_tensor;
#define NMS_LAZY_NONE ((nms_lazy_tensor) 0)

/* Returns a new context, or NULL when out of memory or without a cache. */
NMS_API nms_lazy *nms_lazy_new (nms_lazy_cache *cache);

/* Frees *lz and sets it to NULL. Accepts NULL and a pointer to NULL. */
NMS_API void nms_lazy_free (nms_lazy **lz);

/* Frees all tensors and clears the error. Keeps the context's memory for the next
 * frame. */
NMS_API void nms_lazy_clear (nms_lazy *lz);

/* Frees all tensors but these `count`, which remain valid, and what they need. For
 * a context that is used for long without nms_lazy_clear (): a loop that reads a tensor in
 * each pass keeps those that the next pass uses. Returns 0 or the latched code. */
NMS_API int nms_lazy_keep (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors);

/* Returns the number of operations that the context holds, inputs and constants included, at most
 * NMS_LAZY_MAX_OPERATIONS. A caller that records for long without a read keeps and reads the
 * tensors that it needs before the context is full. */
NMS_API size_t nms_lazy_operations (const nms_lazy *lz);

/* nms_lazy_status returns the first error since the last clear, a code of nms_error, or 0.
 * nms_lazy_error returns one line about that error or about the last read that failed, or "". */
NMS_API int nms_lazy_status (const nms_lazy *lz);
NMS_API const char *nms_lazy_error (const nms_lazy *lz);

/* Clears a latched error and keeps the tensors, except those of the functions of a loop
 * that failed. Does nothing inside such a function. */
NMS_API void nms_lazy_recover (nms_lazy *lz);

/* Returns the shape of a tensor, or {0} if the call that made it failed. */
NMS_API nms_lazy_shape nms_lazy_shape_of (nms_lazy *lz, nms_lazy_tensor x);

/* Computes and reads `count` tensors, 1 or more. Writes the bytes of tensors[i] to
 * data[i]; if data[i] is NULL, the tensor is computed and remains on the device. Inside the
 * functions of nms_lazy_while () a read is an error, because values do not exist
 * there. Returns 0, the latched error, or the error of the backend. An error of the
 * backend does not latch: a later read runs the program again. But a program that
 * did not compile is not compiled again while the cache holds it. Writes nothing on
 * failure. */
NMS_API int nms_lazy_read (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors,
    void *const *data);

/* Starts to compute `count` tensors, 1 or more, and returns before their values exist, so that the
 * caller can go on recording: a thread of the cache compiles and runs the program. A
 * context has one computation at a time: this call, nms_lazy_read (), nms_lazy_clear (),
 * nms_lazy_free (), nms_lazy_dump () and nms_lazy_hash () wait for the one before. Returns 0, or
 * the latched error. If the computation fails, the tensors remain to be computed, and the read that
 * needs them tries it again and returns the error. A process that ends during the computation waits
 * for it, up to 3 seconds (see nmsxla.h). */
NMS_API int nms_lazy_start (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors);

/* Waits until the tensors of nms_lazy_start () are computed. Returns 0 or the error of the
 * backend. */
NMS_API int nms_lazy_wait (nms_lazy *lz);

/* Returns the StableHLO text of the program that a read of these tensors would run,
 * as the compiler gets it: a new string for free (). Its inputs and results are in the order
 * in which they were recorded. If a product passes to a sum or a difference, the first input
 * is the scalar `floor`, tensor<f32>, which must be -inf. The maximum of it and each product keeps
 * compilers from contracting the product with a sum, and changes no value. Returns
 * NULL on an error, which nms_lazy_error () describes. */
NMS_API char *nms_lazy_dump (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors);

/* Returns the hash by which the cache would find that program, 0 on an error. */
NMS_API uint64_t nms_lazy_hash (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors);

/* ------------------------------------------------------ inputs, constants */

/* Makes an input of `rank` extents `dims` and copies its values from `data` before
 * it returns. For rank 0 `dims` may be NULL. */
NMS_API nms_lazy_tensor nms_lazy_input (nms_lazy *lz, nms_lazy_type type, int rank,
    const int32_t *dims, const void *data);

/* Make scalar inputs. */
NMS_API nms_lazy_tensor nms_lazy_input_f32 (nms_lazy *lz, float value);
NMS_API nms_lazy_tensor nms_lazy_input_s32 (nms_lazy *lz, int32_t value);

/* Make scalar constants, which are part of the program. A PRED is 1 if `value` is not
 * 0. */
NMS_API nms_lazy_tensor nms_lazy_f32 (nms_lazy *lz, float value);
NMS_API nms_lazy_tensor nms_lazy_s32 (nms_lazy *lz, int32_t value);
NMS_API nms_lazy_tensor nms_lazy_pred (nms_lazy *lz, int value);

/* Make scalar numbers: constants that become inputs of the program when they change, if a device
 * runs it. The results have the same bits. Two equal numbers are two operations, except
 * inside of loops. */
NMS_API nms_lazy_tensor nms_lazy_number_f32 (nms_lazy *lz, float value);
NMS_API nms_lazy_tensor nms_lazy_number_s32 (nms_lazy *lz, int32_t value);

/* Makes the numbers 0, 1, 2, ... along `axis`, as S32. */
NMS_API nms_lazy_tensor nms_lazy_iota (nms_lazy *lz, int rank, const int32_t *dims, int axis);

/* ---------------------------------------------------------- element by element */

/* The operations on one tensor, or on two tensors of one type. */
typedef enum nms_lazy_op {
  /* Two operands, F32 or S32. */
  NMS_LAZY_ADD,
  NMS_LAZY_SUB,
  NMS_LAZY_MUL,
  /* Two operands, F32. */
  NMS_LAZY_DIV,
  /* Two operands, F32 or S32. */
  NMS_LAZY_MAX,
  NMS_LAZY_MIN,
  /* Two operands, S32 (bitwise) or PRED (logical). */
  NMS_LAZY_AND,
  NMS_LAZY_OR,
  NMS_LAZY_XOR,
  /* Two operands of any type; the result is PRED. With a NaN only NE is true. */
  NMS_LAZY_EQ,
  NMS_LAZY_NE,
  NMS_LAZY_GE,
  NMS_LAZY_GT,
  NMS_LAZY_LE,
  NMS_LAZY_LT,
  /* One operand, F32 or S32. */
  NMS_LAZY_ABS,
  NMS_LAZY_NEG,
  /* One operand, F32: its bits, as S32. */
  NMS_LAZY_AS_S32,
  /* One operand, S32: the float that has these bits. */
  NMS_LAZY_AS_F32,
  /* One operand. PRED: 0 or 1. F32: without its fraction; INT32_MIN or INT32_MAX beyond the range
   * of S32; 0 for NaN. */
  NMS_LAZY_TO_S32,
  /* One operand. S32: the number, rounded to nearest even. BF16: the same number. */
  NMS_LAZY_TO_F32,
  /* Used by nms_lazy_select () only. */
  NMS_LAZY_SELECT,
  /* One operand, F32; NaN for a negative number. */
  NMS_LAZY_SQRT
} nms_lazy_op;

/* Apply `op` to each element. Operands have the same shape, or are scalars, which
 * are used for every element. */
NMS_API nms_lazy_tensor nms_lazy_unary (nms_lazy *lz, nms_lazy_op op, nms_lazy_tensor a);
NMS_API nms_lazy_tensor nms_lazy_binary (nms_lazy *lz, nms_lazy_op op, nms_lazy_tensor a,
    nms_lazy_tensor b);
/* Takes the element of `a` where the PRED `p` is 1, and that of `b` elsewhere. */
NMS_API nms_lazy_tensor nms_lazy_select (nms_lazy *lz, nms_lazy_tensor p, nms_lazy_tensor a,
    nms_lazy_tensor b);

/* Compute the exponential and the natural logarithm of F32. They are made of additions,
 * multiplications and selections, so they have the same bits everywhere; the relative
 * error of exp is below 2^-22, the error of log below 2^-22 of the greater of the result
 * and 1/4. exp is 0 up to -87.33654 and infinite beyond 88.72283; its bits for x <= 0 are those of
 * nmsmethods.h. log is -infinity for 0 and NaN for negative numbers. */
NMS_API nms_lazy_tensor nms_lazy_exp (nms_lazy *lz, nms_lazy_tensor x);
NMS_API nms_lazy_tensor nms_lazy_log (nms_lazy *lz, nms_lazy_tensor x);

/* ----------------------------------------------------------------- shapes */

/* Repeats a scalar (`axis` is ignored), or puts a vector along `axis` of the result
 * and repeats it along the other axis. */
NMS_API nms_lazy_tensor nms_lazy_broadcast (nms_lazy *lz, nms_lazy_tensor a, int rank,
    const int32_t *dims, int axis);
/* Returns the elements of `a`, in the same order, in another shape of the same size. */
NMS_API nms_lazy_tensor nms_lazy_reshape (nms_lazy *lz, nms_lazy_tensor a, int rank,
    const int32_t *dims);
/* Transposes a matrix. */
NMS_API nms_lazy_tensor nms_lazy_transpose (nms_lazy *lz, nms_lazy_tensor a);
/* Returns a slice: dims[i] elements along each axis i, starting at from[i]. `from` has one S32
 * scalar for each axis, constant or not; the start is clamped so that the slice lies inside
 * `a`. */
NMS_API nms_lazy_tensor nms_lazy_slice (nms_lazy *lz, nms_lazy_tensor a,
    const nms_lazy_tensor *from, const int32_t *dims);
/* Returns `a` with the slice that starts at `from` replaced by `part`. */
NMS_API nms_lazy_tensor nms_lazy_update (nms_lazy *lz, nms_lazy_tensor a, nms_lazy_tensor part,
    const nms_lazy_tensor *from);
/* Takes every steps[i]-th element along each axis i, beginning with the first one; if steps[i]
 * is negative, backwards, beginning with the last one. */
NMS_API nms_lazy_tensor nms_lazy_stride (nms_lazy *lz, nms_lazy_tensor a, const int32_t *steps);
/* Joins `count` tensors, 1 or more, along `axis`. They have the same type and rank, 1 or more,
 * and the same extent along the other axis. */
NMS_API nms_lazy_tensor nms_lazy_concatenate (nms_lazy *lz, size_t count,
    const nms_lazy_tensor *parts, int axis);

/* ------------------------------------------------------------- reductions */

/* Reduces `axis`: MAX or MIN (F32 or S32; the result with a NaN is unspecified), or
 * AND or OR (S32 or PRED). The result lacks that axis. */
NMS_API nms_lazy_tensor nms_lazy_reduce (nms_lazy *lz, nms_lazy_op op, nms_lazy_tensor a, int axis);

/* Returns the greatest element along `axis` and writes its S32 index to *index, of
 * equal elements the first. `a` is S32, or F32 without NaN (with one the result is
 * unspecified). */
NMS_API nms_lazy_tensor nms_lazy_argmax (nms_lazy *lz, nms_lazy_tensor a, int axis,
    nms_lazy_tensor *index);

/* Adds the elements (F32 or S32) along `axis`. The result lacks that axis. The order is
 * defined: while n > 1 elements are left, the last n / 2 (rounded down) are added to the
 * first n / 2; if n is odd, the middle one remains as it is. */
NMS_API nms_lazy_tensor nms_lazy_sum (nms_lazy *lz, nms_lazy_tensor a, int axis);

/* Returns the indices, S32, that sort a vector or each row of a matrix (F32 or S32) in descending
 * order. Indices of equal elements ascend; -0 equals 0, and NaNs come last. Indices of a matrix
 * count within the row. */
NMS_API nms_lazy_tensor nms_lazy_order (nms_lazy *lz, nms_lazy_tensor a);

/* Returns the elements of a vector, or the rows of a matrix, at the indices in the vector
 * `index` (S32). Indices outside are moved to the nearest one inside. */
NMS_API nms_lazy_tensor nms_lazy_take (nms_lazy *lz, nms_lazy_tensor a, nms_lazy_tensor index);

/* ------------------------------------------------------------------ loops */

/*
 * Records while (cond (state)) state = body (state), for a state of `count` tensors.
 *
 * A C loop would record each of its passes; this loop is recorded once and runs in
 * the program. nms_lazy_while () calls each function exactly once, before it returns,
 * with placeholders for the state, and the function records the operations. The
 * functions may use any tensor from before the loop, but no tensor of the other
 * function, and may not read. cond returns a PRED scalar; body writes the next state,
 * of the same shapes and types, to next[0..count-1]. Both get `user`.
 * out[0..count-1] receives the last state. Loops may be nested.
 */
typedef nms_lazy_tensor (*nms_lazy_cond) (nms_lazy *lz, const nms_lazy_tensor *state, void *user);
typedef void (
    *nms_lazy_body) (nms_lazy *lz, const nms_lazy_tensor *state, nms_lazy_tensor *next, void *user);

NMS_API void nms_lazy_while (nms_lazy *lz, size_t count, const nms_lazy_tensor *init,
    nms_lazy_cond cond, nms_lazy_body body, void *user, nms_lazy_tensor *out);

#ifdef __cplusplus
}
#endif

#endif
