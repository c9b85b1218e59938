/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lazy: what the files of the lazy tensors share.
 *
 *   tensors.c     the context: recorded operations, latched errors, reading
 *   operations.c  the public calls that record: what fits, and what it gives
 *   optable.c     the table of operations, with the loop over elements of each
 *   trace.c       what a read depends on, renumbered: the key of the cache
 *   cache.c       traces -> programs, bounded, shared by threads
 *   stablehlo.c   trace -> text for a compiler
 *   eager.c       trace -> values, in plain C
 */
#ifndef NMS_LAZY_H
#define NMS_LAZY_H

#include "nmslazy.h"

/* The other operations, behind those of nms_lazy_op. A loop is a run of nodes:
 * WHILE, a STATE for each, cond's, COND, body's, a NEXT for each, END; then the
 * RESULTs. Where the attributes say how far something is, they say nodes. */
enum {
  NMS__INPUT = NMS_LAZY_SELECT + 1, /* attr: number of the input */
  NMS__CONSTANT,  /* attr: its bits */
  NMS__IOTA,      /* attr: axis */
  NMS__BARRIER,   /* what no compiler folds into others */
  NMS__BROADCAST, /* attr: axis */
  NMS__RESHAPE,
  NMS__TRANSPOSE,
  NMS__SLICE,     /* operands: a, starts */
  NMS__UPDATE,    /* operands: a, part, starts */
  NMS__REDUCE,    /* operands: a, what changes nothing; attr: nms_lazy_op, axis */
  NMS__WHILE,     /* attr: how many states */
  NMS__STATE,     /* operand: the first; attr: which */
  NMS__COND,      /* operand: whether to go on; attr: to the WHILE, to the END */
  NMS__NEXT,      /* operand: the next state */
  NMS__END,       /* attr: to the WHILE */
  NMS__RESULT,    /* operands: STATE, END */
  NMS__OUTPUT     /* operand: what is read; attr: number of the output */
};

/* One operation; all bytes count in comparisons, so there is no padding. */
typedef struct nms__node {
  int32_t op;
  nms_lazy_shape shape;
  int32_t count, operand[2 + NMS_LAZY_MAX_RANK]; /* nodes before this one */
  int32_t attr[2];
} nms__node;

/* Elements of floats, or of words: S32 and PRED. What are not operands points
 * to something all the same. */
typedef void nms__kernel (size_t n, void *result, const void *a, const void *b, const void *c);

/* What there is to know about an operation. */
typedef struct nms__info {
  const char *name;     /* of its line in StableHLO; NULL: it has none */
  int operands;         /* element by element: how many; else 0 */
  int types;            /* that it takes, bits 1 << nms_lazy_type */
  int32_t result;       /* the type that it gives; 0: that of the operands */
  nms__kernel *kernel[2]; /* of floats, of words */
} nms__info;

extern const nms__info nms__infos[];

/* What a read depends on; its nodes say everything that its program is. */
typedef struct nms__trace {
  const nms__node *nodes;
  size_t count, input_count, output_count;
  uint64_t hash;
  const nms_lazy_buffer *in;
  nms_lazy_buffer *out;
} nms__trace;

/* An error text; cut where it does not fit. */
#define NMS__LAZY_TEXT 512

typedef struct nms__recorded {
  nms__node node;
  int fixed;       /* depends on constants alone */
  int hidden;      /* of a loop's function that has ended */
  int wanted;      /* bits: 1 by what is wanted, NMS__WANTED by the read */
  int32_t number;  /* in the trace */
  void *value;     /* of an INPUT */
} nms__recorded;

#define NMS__WANTED 2

/* Arrays of the greatest size: pages that are not touched cost nothing. */
struct nms_lazy {
  nms_lazy_cache *cache;
  uint32_t stamp;  /* of the tensors since the last clear */
  int depth;       /* functions of loops that are recording */
  int status;
  char error[NMS__LAZY_TEXT];
  nms_lazy_tensor floor; /* -inf (operations.c says why) */
  int32_t count;
  nms__recorded recorded[NMS_LAZY_MAX_OPERATIONS];
  nms__node nodes[2 * NMS_LAZY_MAX_OPERATIONS];        /* of a trace */
  nms_lazy_buffer buffers[NMS_LAZY_MAX_OPERATIONS];    /* its inputs, then outputs */
};

/* Latches an error, unless there is one. Returns NMS_LAZY_NONE. */
__attribute__ ((format (printf, 3, 4)))
nms_lazy_tensor nms__lazy_fail (nms_lazy *lz, int status, const char *format, ...);

/* The operation that a tensor stands for; NULL: it has failed. */
nms__recorded *nms__recorded_of (nms_lazy *lz, nms_lazy_tensor x);

/* Appends an operation; its operands are guarded. */
nms_lazy_tensor nms__record (nms_lazy *lz, int op, nms_lazy_shape shape, int count,
    const nms_lazy_tensor *operands, int32_t attr, int32_t second_attr);

/* What `op` takes instead of x, so that its rounding is its own. */
nms_lazy_tensor nms__guarded (nms_lazy *lz, int op, nms_lazy_tensor x);

/* Memory for the values of a tensor, aligned for backends; NULL: it has failed. */
void *nms__value_memory (nms_lazy *lz, const nms_lazy_shape *shape);

/* Cuts out what depends on tensors that are wanted. */
nms__trace nms__trace_of (nms_lazy *lz);

/* Another hold on a cache. */
nms_lazy_cache *nms__cache_hold (nms_lazy_cache *cache);

/* For tests: lookups use only the bits of `mask` of a trace's hash from now on,
 * so that mask 0 makes all traces collide. A hit still compares whole traces. */
void nms__cache_weaken_hash (nms_lazy_cache *cache, uint64_t mask);

/* Runs a trace's program, compiled now if need be. 0 or a code with its text. */
int nms__cache_run (nms_lazy_cache *cache, const nms__trace *trace, char *error,
    size_t error_size);

/* StableHLO of a trace, for free (); NULL: out of memory. */
char *nms__stablehlo (const nms__trace *trace, size_t *length);

/* Computes the outputs. 0, or NMS_ERROR_MEMORY with a text. */
int nms__eager_run (const nms__trace *trace, char *error, size_t error_size);

#endif
