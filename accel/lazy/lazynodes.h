/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lazynodes: types and functions that the files of the lazy tensors share.
 *
 *   tensors.c     the context: latched errors, reading
 *   operationlist.c
 *                 the operations of a context: equal ones are one, unused ones are freed
 *   operands.c    the checks of types and shapes, and the texts of their errors
 *   operations.c, shapes.c, reductions.c, loops.c
 *                 the public calls that record
 *   mathgraph.c   exp and log, made of other operations
 *   optable.c     the table of operations, with the loop over elements of each
 *   trace.c       cuts out and renumbers the operations that a read depends on
 *   cache.c       finds or makes the program of a trace; shared by threads
 *   lazyworker.c  the thread of a cache that runs traces while their contexts record
 *   tracetext.c   writes a trace as text for a compiler
 *   eager.c       computes a trace in plain C
 */
#ifndef NMS_LAZYNODES_H
#define NMS_LAZYNODES_H

#include "nmslazy.h"

#include <pthread.h>

/* The operations besides those of nms_lazy_op. A loop is a sequence of nodes: WHILE,
 * the STATEs, those of cond, COND, those of body, the NEXTs, END, and then the
 * RESULTs. Distances in attributes count nodes. */
enum {
  NMS__INPUT = NMS_LAZY_SQRT + 1, /* attr: number of the input */
  NMS__CONSTANT,                  /* attr: its bits, whether it is a number (nms_lazy_number_f32) */
  NMS__IOTA,                      /* attr: axis */
  NMS__BARRIER,                   /* operand: a value that no compiler may fold into others */
  NMS__BROADCAST,                 /* attr: axis */
  NMS__RESHAPE,
  NMS__TRANSPOSE,
  NMS__SLICE,       /* operands: a, starts */
  NMS__UPDATE,      /* operands: a, part, starts */
  NMS__REDUCE,      /* operands: a, the neutral element; attr: nms_lazy_op, axis */
  NMS__SORT,        /* operands: keys, numbers; sorts the numbers of each row by descending key,
                * then ascending number. CARRYs may precede the numbers; attr: their count */
  NMS__CARRY,       /* operands: elements that a SORT moves like its numbers, the next CARRY or the
                * numbers */
  NMS__SORTED,      /* operand: SORT; attr: 0 for its sorted keys, k for its k-th CARRY, moved */
  NMS__TAKE,        /* operands: a, indices along its first axis */
  NMS__CONCATENATE, /* operands: up to NMS__OPERANDS parts; attr: axis */
  NMS__REVERSE,     /* attr: for each axis -1 or 1 */
  NMS__STRIDE,      /* attr: for each axis the step, 1 or more */
  NMS__PAD,         /* operands: a, the scalar that follows the elements of each row */
  NMS__KERNEL,      /* operands: the inputs of nms_lazy.kernel */
  NMS__WIDEN,       /* operand: BF16, as F32 */
  NMS__WHILE,       /* attr: number of states */
  NMS__STATE,       /* operand: its value before the loop; attr: its number */
  NMS__COND,        /* operand: whether to continue; attr: distance to WHILE, to END */
  NMS__NEXT,        /* operand: the next state */
  NMS__END,         /* attr: distance to the WHILE */
  NMS__RESULT,      /* operands: STATE, END */
  NMS__OUTPUT       /* operand: the value read; attr: number of the output */
};

/* The greatest number of operands of an operation. */
#define NMS__OPERANDS (2 + NMS_LAZY_MAX_RANK)

/* One operation. It has no padding, because traces are compared byte by byte. */
typedef struct nms__node {
  int32_t op;
  nms_lazy_shape shape;
  int32_t count, operand[NMS__OPERANDS]; /* nodes before this one */
  int32_t attr[2];
} nms__node;

/* Computes n elements, of floats or of words (S32 and PRED). All three pointers are
 * valid, also those beyond the operation's operands. */
typedef void nms__compute (size_t n, void *result, const void *a, const void *b, const void *c);

/* The properties of an operation. */
typedef struct nms__info {
  const char *name;         /* name in StableHLO; NULL if the operation has no line of its own */
  int operands;             /* number of operands of an elementwise operation, else 0 */
  int types;                /* accepted types of operands, bits 1 << nms_lazy_type */
  int32_t result;           /* type of the result; 0 for the type of the operands */
  nms__compute *compute[2]; /* functions for floats and for words */
} nms__info;

extern const nms__info nms__infos[];

/* The operations that a read depends on. The nodes determine its program. */
typedef struct nms__trace {
  const nms__node *nodes;
  size_t count, input_count, output_count;
  uint64_t hash;
  const nms_lazy_buffer *in;
  nms_lazy_buffer *out;
  const char *kernel; /* nms_lazy.kernel of the context */
} nms__trace;

/* Bytes of an error text, which is cut if it is longer. */
#define NMS__LAZY_TEXT 512

typedef struct nms__operation {
  nms__node node;
  uint64_t id;    /* id of the tensor; ids ascend */
  int fixed;      /* it depends on constants only */
  int hidden;     /* it belongs to a loop's function that has ended */
  int wanted;     /* bit 1 if a wanted operation uses it, NMS__WANTED if it is read */
  int32_t number; /* number of its node in the trace, or -1 */
  void *value;    /* data of an INPUT, or NULL if only the device has it */
  void *resident; /* copy of an INPUT's data on the device, or NULL */
  int pending;    /* a computation was started and has not yet written `value` */
} nms__operation;

#define NMS__WANTED 2

/* A trace that a cache runs on its worker. */
typedef struct nms__job {
  struct nms__job *next; /* next in the queue */
  nms__trace trace;
  int is_queued;
  int is_done; /* under the worker's lock */
  int status;
  char error[NMS__LAZY_TEXT];
} nms__job;

/* The thread of a cache and its queue. */
typedef struct nms__worker {
  nms_lazy_cache *cache;
  pthread_mutex_t lock;
  pthread_cond_t changed; /* a job was added or is done, or the thread is to end */
  nms__job *first, **last;
  pthread_t thread;
  pid_t process; /* process that made the cache */
  int has_thread, ends;
} nms__worker;

/* A tensor is a stamp and, in the lower bits, an id. */
#define NMS__ID_BITS 36
#define NMS__ID_MASK (((nms_lazy_tensor) 1 << NMS__ID_BITS) - 1)

/* Places in the table of recorded operations, a power of two, twice as many as needed. */
#define NMS__COMMON (2 * NMS_LAZY_MAX_OPERATIONS)

/* The arrays have their maximum sizes; pages that are never touched take no memory. */
struct nms_lazy {
  nms_lazy_cache *cache;
  nms_lazy_tensor stamp; /* high bits of the tensors made since the last clear, and of no others */
  uint64_t last_id;      /* the greatest id since the last clear */
  int depth;             /* number of nested loops whose functions are recording */
  int status;
  char error[NMS__LAZY_TEXT];
  nms_lazy_tensor floor; /* -inf, for nms__guarded */
  char *kernel;          /* configuration of a TPU's custom call, for NMS__KERNEL; or NULL. With it
                 * the operations are only written as text, which PAD and CARRY need, too */
  int32_t count;
  nms__operation operations[NMS_LAZY_MAX_OPERATIONS];
  int32_t common[NMS__COMMON]; /* hash table: index + 1 of an operation; 0 if empty */
  nms__node nodes[2 * NMS_LAZY_MAX_OPERATIONS];     /* nodes of the trace of a read */
  nms_lazy_buffer buffers[NMS_LAZY_MAX_OPERATIONS]; /* inputs of that trace, then its outputs */
  uint64_t ids[NMS_LAZY_MAX_OPERATIONS];            /* ids of the operations of those buffers */
  void *residents[NMS_LAZY_MAX_OPERATIONS];         /* copies of those buffers on the device */
  int is_started; /* `job` runs or has run; what it uses does not change until it is settled */
  nms__job job;
};

/* Latches an error, unless one is latched. Returns NMS_LAZY_NONE. */
__attribute__ ((format (printf, 3, 4))) nms_lazy_tensor nms__lazy_fail (nms_lazy *lz, int status,
    const char *format, ...);

/* Returns the operation of a tensor, or latches an error and returns NULL. */
nms__operation *nms__operation_of (nms_lazy *lz, nms_lazy_tensor x);

/* Returns the operation with an id that is known to exist. */
nms__operation *nms__operation_of_id (nms_lazy *lz, uint64_t id);

/* Appends an operation whose operands are guarded, see nms__guarded. Returns the tensor of
 * an equal operation if there is one. */
nms_lazy_tensor nms__append (nms_lazy *lz, int op, nms_lazy_shape shape, int count,
    const nms_lazy_tensor *operands, int32_t attr, int32_t second_attr);

/* Frees all operations, with their values. */
void nms__operations_free (nms_lazy *lz);

/* Returns the tensor that `op` takes instead of x, so that x is rounded before `op`
 * uses it. */
nms_lazy_tensor nms__guarded (nms_lazy *lz, int op, nms_lazy_tensor x);

/* Returns keys, S32, that order like the floats x; a NaN has the least key. */
nms_lazy_tensor nms__nan_last_key (nms_lazy *lz, nms_lazy_tensor x);

/* Sorts vectors, or the rows of matrices, S32, by descending elements of columns[key], of equal
 * ones by position. Replaces the tensors by sorted ones and returns the positions. */
nms_lazy_tensor nms__lazy_sort (nms_lazy *lz, size_t count, nms_lazy_tensor *columns, size_t key);

/* Sets of types. */
#define NMS__TYPE(type) (1 << (type))
#define NMS__ANY_TYPE \
  (NMS__TYPE (NMS_LAZY_F32) | NMS__TYPE (NMS_LAZY_S32) | NMS__TYPE (NMS_LAZY_PRED))

/* Checks and fills a shape. Returns 0 after an error. */
int nms__shape_make (nms_lazy *lz, int32_t type, int rank, const int32_t *dims,
    nms_lazy_shape *shape);

/* Returns the shape of an operand whose type is among `types`. On another type it
 * latches an error and returns NULL. */
const nms_lazy_shape *nms__shape_get (nms_lazy *lz, int op, nms_lazy_tensor x, int types);

/* Latches an error that names the types and shapes of `count` operands, and the shape `to`
 * that the result would have, unless it is NULL. Returns NMS_LAZY_NONE. */
nms_lazy_tensor nms__misfit (nms_lazy *lz, int op, int count, const nms_lazy_tensor *operands,
    const nms_lazy_shape *to);

/* Writes a type and extents, "f32[2,3]". Returns `text`. */
typedef struct nms__shape_text {
  char text[48];
} nms__shape_text;

nms__shape_text nms__shape_describe (const nms_lazy_shape *shape);

/* Allocates memory for the values of a tensor, aligned for backends. Latches an error
 * and returns NULL when out of memory. */
void *nms__value_memory (nms_lazy *lz, const nms_lazy_shape *shape);

/* Marks what the wanted operations depend on. */
void nms__mark (nms_lazy *lz);

/* Collects the operations that the wanted tensors depend on. The trace is valid until
 * the next call. */
nms__trace nms__trace_of (nms_lazy *lz);

/* Adds a reference to a cache. */
nms_lazy_cache *nms__cache_hold (nms_lazy_cache *cache);

/* For tests: lookups use only the bits of `mask` of a trace's hash from now on,
 * so that mask 0 makes all traces collide. A hit still compares whole traces. */
void nms__cache_weaken_hash (nms_lazy_cache *cache, uint64_t mask);

/* Runs the program of a trace, compiled first if it is not in the cache. Returns 0, or
 * a code of nms_error with its text. */
int nms__cache_run (nms_lazy_cache *cache, const nms__trace *trace, char *error, size_t error_size);

/* Starts to run job->trace, which stays unchanged until nms__cache_finish returns. Runs it at once
 * if there is no thread. */
void nms__cache_start (nms_lazy_cache *cache, nms__job *job);

/* Waits until the job is done. Returns the same codes as nms__cache_run; the text is job->error. */
int nms__cache_finish (nms_lazy_cache *cache, nms__job *job);

/* Prepares a worker, which has no thread until its first job; and ends its thread. */
void nms__worker_init (nms__worker *worker, nms_lazy_cache *cache);
void nms__worker_end (nms__worker *worker);

/* Queues a job for the worker's thread. Returns 0 if there is no thread. */
int nms__worker_start (nms__worker *worker, nms__job *job);

/* Waits until a job that was queued is done. */
void nms__worker_wait (nms__worker *worker, nms__job *job);

/* Returns whether values stay on the device between runs. */
int nms__cache_is_resident (const nms_lazy_cache *cache);

/* Copies a device's copy to output->data. Returns the same codes as nms__cache_run. */
int nms__cache_fetch (nms_lazy_cache *cache, void *resident, const nms_lazy_buffer *output,
    char *error, size_t error_size);

/* Frees a device's copy. Accepts NULL. */
void nms__cache_free_resident (nms_lazy_cache *cache, void *resident);

/* Returns the StableHLO text of a trace, for free (), or NULL when out of memory. */
char *nms__trace_text (const nms__trace *trace, size_t *length);

/* Computes the outputs of a trace. Returns 0, or NMS_ERROR_MEMORY with a text. */
int nms__eager_run (const nms__trace *trace, char *error, size_t error_size);

#endif
