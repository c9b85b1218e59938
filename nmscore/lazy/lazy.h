/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lazy: what the files of the lazy tensors share.
 *
 *   tensors.c    the context: recorded operations, latched errors, reading
 *   operations.c the public calls that record one operation each
 *   loops.c      nms_lazy_while
 *   trace.c      what a read depends on, renumbered: the key of the cache
 *   cache.c      traces -> programs, bounded, shared by threads
 *   stablehlo.c  trace -> text for a compiler
 *   eager.c      trace -> plan -> values, in plain C; eager_kernels.c its loops
 */
#ifndef NMS_LAZY_H
#define NMS_LAZY_H

#include "nmslazy.h"

#include <stdarg.h>

/* Operations. A loop is a run of nodes: WHILE, the placeholders of cond, its
 * nodes, RETURN, the placeholders of body, its nodes, RETURN, the RESULTs. */
typedef enum nms__op {
  NMS__INPUT = 1, /* attr: number of the input */
  NMS__CONSTANT,  /* attr: offset and size in the trace's bytes */
  NMS__IOTA,      /* attr: axis */
  NMS__NEG, NMS__ABS, NMS__NOT, NMS__BITCAST, NMS__CONVERT,
  NMS__ADD, NMS__SUB, NMS__MUL, NMS__DIV, NMS__MAX, NMS__MIN,
  NMS__AND, NMS__OR, NMS__XOR, NMS__SHL, NMS__SHR,
  NMS__COMPARE,   /* how: nms_lazy_order */
  NMS__SELECT,
  NMS__BROADCAST, /* attr: axes */
  NMS__RESHAPE,
  NMS__TRANSPOSE, /* attr: axes */
  NMS__SLICE,     /* attr: from[4], to[4] */
  NMS__DYNAMIC_SLICE,  /* operands: a, starts */
  NMS__DYNAMIC_UPDATE, /* operands: a, part, starts */
  NMS__REDUCE,    /* how: nms_lazy_reduction; attr: axis */
  NMS__WHILE,     /* operands: state, captures; attr: how many states, the
                   * nodes of the two RETURNs */
  NMS__STATE,     /* operand: the WHILE; attr: which */
  NMS__CAPTURE,   /* operand: what it stands for */
  NMS__RETURN,
  NMS__RESULT     /* operand: the WHILE; attr: which */
} nms__op;

#define NMS__ATTRS (2 * NMS_LAZY_MAX_RANK)

/* One operation; all bytes count in comparisons, so there is no padding. */
typedef struct nms__node {
  int32_t op;
  int32_t how;
  nms_lazy_shape shape;
  uint32_t first, count; /* operands */
  int32_t attr[NMS__ATTRS];
} nms__node;

/* A growing array. */
typedef struct nms__array {
  void *data;
  size_t count, capacity;
} nms__array;

/* Room for `more` elements of `size` bytes behind those there are, not counted
 * yet; NULL: out of memory. */
void *nms__array_room (nms__array *array, size_t more, size_t size);

/* What a read depends on; says everything that its program is. */
typedef struct nms__trace {
  nms__array nodes;    /* nms__node; operands come first */
  nms__array operands; /* uint32_t: nodes */
  nms__array outputs;  /* uint32_t: nodes */
  nms__array bytes;    /* of constants, each a multiple of 4 */
  size_t input_count;
  uint64_t hash;
} nms__trace;

static inline nms__node *
nms__trace_nodes (const nms__trace *t)
{
  return (nms__node *) t->nodes.data;
}

static inline uint32_t
nms__operand (const nms__trace *t, const nms__node *n, size_t i)
{
  return ((const uint32_t *) t->operands.data)[n->first + i];
}

int nms__trace_equal (const nms__trace *a, const nms__trace *b);
int nms__trace_copy (nms__trace *to, const nms__trace *from);
void nms__trace_clear (nms__trace *trace); /* frees */

static inline size_t
nms__type_size (int32_t type)
{
  return type == NMS_LAZY_PRED ? 1 : 4;
}

/* An error text with its code; cut where it does not fit. */
#define NMS__LAZY_TEXT 512

/* ------------------------------------------------------------- recording */

typedef struct nms__recorded {
  nms__node node;
  uint32_t region; /* of which function of which loop; 0: of none */
  void *value;     /* of an INPUT */
} nms__recorded;

typedef struct nms__block nms__block;

struct nms_lazy {
  nms_lazy_cache *cache;
  nms__array recorded; /* nms__recorded */
  nms__array operands; /* uint32_t */
  nms__array bytes;    /* of constants */
  nms__block *blocks;  /* values */
  uint32_t stamp;      /* of the tensors since the last clear */
  uint32_t region, regions;
  int status;
  char error[NMS__LAZY_TEXT];

  /* of the read under way */
  nms__trace trace;
  nms__array wanted;  /* uint32_t: recorded operations to be computed */
  nms__array numbers; /* uint32_t: node of the trace + 1, 0: not part of it */
  nms__array inputs, results; /* nms_lazy_buffer */
};

/* Latches an error, unless there is one. Returns NMS_LAZY_NONE. */
__attribute__ ((format (printf, 3, 4)))
nms_lazy_tensor nms__lazy_fail (nms_lazy *lz, int status, const char *format, ...);

/* The operation that a tensor stands for, which is of the region that records
 * now; NULL: it has failed, now or before. */
nms__recorded *nms__recorded_of (nms_lazy *lz, nms_lazy_tensor x);

/* Fills a shape, checked. 0: it has failed. */
int nms__shape_make (nms_lazy *lz, int32_t type, int rank, const int32_t *dims,
    nms_lazy_shape *shape);

/* Appends a node and the operands' numbers. `attrs` of NMS__ATTRS, or NULL. */
nms_lazy_tensor nms__record (nms_lazy *lz, nms__op op, int how, const nms_lazy_shape *shape,
    size_t count, const nms_lazy_tensor *operands, const int32_t *attrs);

/* The index of a valid tensor's node, and the tensor of a node. */
static inline uint32_t
nms__tensor_index (nms_lazy_tensor x)
{
  return (uint32_t) x - 1;
}

nms_lazy_tensor nms__tensor_of (const nms_lazy *lz, uint32_t index);

/* Memory until the next clear, aligned to 64; NULL: it has failed. */
void *nms__value_memory (nms_lazy *lz, size_t bytes);

/* Fills lz->trace and lz->inputs, with room for one input more, for what
 * lz->wanted depends on. 0 or a code, which is latched. */
int nms__trace_build (nms_lazy *lz);

/* ----------------------------------------------------------------- cache */

typedef struct nms__program nms__program;

nms_lazy_cache *nms__cache_hold (nms_lazy_cache *cache);

/* The program of a trace, compiled now if need be; release it. NULL, with
 * *status and the text, on failure. */
nms__program *nms__cache_program (nms_lazy_cache *cache, const nms__trace *trace, int *status,
    char *error, size_t error_size);
void nms__program_release (nms_lazy_cache *cache, nms__program *program);
int nms__cache_has (nms_lazy_cache *cache, const nms__trace *trace);

/* Runs it. `inputs` has room for one more, which a compiled program may need. */
int nms__program_run (nms_lazy_cache *cache, nms__program *program, nms_lazy_buffer *inputs,
    const nms_lazy_buffer *outputs, char *error, size_t error_size);

/* ------------------------------------------------------------- executors */

/* StableHLO of a trace, for free (); NULL: out of memory. *floored: `main` has
 * one argument more, an F32 scalar that must be -inf (stablehlo.c says why). */
char *nms__stablehlo (const nms__trace *trace, size_t *length, int *floored);

typedef struct nms__eager nms__eager;
nms__eager *nms__eager_new (const nms__trace *trace);
void nms__eager_free (nms__eager *plan);
/* 0 or NMS_ERROR_MEMORY. */
int nms__eager_run (nms__eager *plan, const nms__trace *trace, const nms_lazy_buffer *inputs,
    const nms_lazy_buffer *outputs);

/* eager_kernels.c: `n` elements; operand k advances by step[k] (0 or 1)
 * elements each. */
void nms__kernel_elements (const nms__node *node, int32_t operand_type, size_t n, void *result,
    void *const *operand, const int *step);
/* in[outer][n][inner] -> result[outer][inner] */
void nms__kernel_reduce (const nms__node *node, size_t outer, size_t n, size_t inner,
    void *result, const void *in);

#endif
