/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlastore: the programs of one plugin that are ready to run, shared by every
 * context of the process that uses the plugin.
 */
#ifndef NMS_XLASTORE_H
#define NMS_XLASTORE_H

#include "nmsxla.h"

#include <pthread.h>
#include <stdatomic.h>

/* Frames are padded to 1 << NMS__XLA_LEAST ... 1 << NMS__XLA_MOST boxes. */
#define NMS__XLA_LEAST 7
#define NMS__XLA_MOST 16
#define NMS__XLA_SIZES (NMS__XLA_MOST - NMS__XLA_LEAST + 1)

/* Which columns a program has beyond corners and scores: its variant. */
enum {
  NMS__XLA_GROUPS = 1,  /* boxes of different classes do not meet */
  NMS__XLA_CAPS = 2,    /* classes have caps of their own */
  NMS__XLA_PARENTS = 4, /* a box and its part do not meet */
  NMS__XLA_VARIANTS = 8
};

/* What a program is made for. */
typedef struct nms__xla_kind {
  uint8_t log2_boxes; /* NMS__XLA_LEAST..NMS__XLA_MOST */
  uint8_t variant;    /* 0..NMS__XLA_VARIANTS - 1 */
  uint8_t log2_picks; /* for stores with kernels: NMS__XLA_LEAST..log2_boxes; 0:
                       * the kernel cannot do it, the graph can */
} nms__xla_kind;

typedef enum nms__xla_state {
  NMS__XLA_NONE,
  NMS__XLA_MAKING,
  NMS__XLA_READY
} nms__xla_state;

/* A kind's program; of the graph's the cache has it. */
typedef struct nms__xla_slot {
  void *kernel;
  uint8_t state;
} nms__xla_slot;

typedef struct nms__xla_store {
  struct nms__xla_store *next;
  size_t users;
  nms_lazy_backend *backend;
  nms_lazy_cache *cache;
  unsigned flags;       /* of nms_lazy_nms, for this device */
  pthread_mutex_t lock; /* of the states */
  pthread_cond_t made;
  nms__xla_slot slot[NMS__XLA_SIZES][NMS__XLA_VARIANTS][1 + NMS__XLA_SIZES];
  int has_kernels;      /* a TPU: frames go by way of xlakernel.h if they can */
  atomic_ullong kernel_programs, kernel_failures, kernel_runs, kernel_compile_ns;
} nms__xla_store;

/* The store of a plugin, opened or shared. 0, or a code of nms_error and one
 * line of text. */
int nms__xla_store_open (const char *plugin, nms__xla_store **store, char *error,
    size_t error_size);
void nms__xla_store_close (nms__xla_store **store);

/* The kernel of a kind that is ready, or being checked by the caller; NULL: it
 * goes by way of the graph. */
void *nms__xla_store_kernel (nms__xla_store *store, nms__xla_kind kind);

nms__xla_state nms__xla_store_state (nms__xla_store *store, nms__xla_kind kind);

/* Compiles the program and has it give known answers, unless that was done, or
 * waits for the thread that does it. 0 or as above: the device is no good. */
int nms__xla_store_prepare (nms__xla_store *store, nms__xla_kind kind, char *error,
    size_t error_size);

#endif
