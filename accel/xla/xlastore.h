/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlastore: the programs of one plugin that are ready to run. All contexts of the
 * process that use the plugin share them.
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

/* The columns that a program has beyond corners and scores: its variant. */
enum {
  NMS__XLA_CLASSES = 1,    /* boxes suppress only boxes of their class */
  NMS__XLA_CLASS_CAPS = 2, /* single classes have caps or thresholds */
  NMS__XLA_PARENTS = 4,    /* a box and its parent never suppress each other */
  NMS__XLA_VARIANTS = 8
};

/* The frames that a program is made for. */
typedef struct nms__xla_kind {
  uint8_t log2_boxes; /* NMS__XLA_LEAST..NMS__XLA_MOST */
  uint8_t variant;    /* 0..NMS__XLA_VARIANTS - 1 */
  uint8_t log2_picks; /* for stores with kernels: NMS__XLA_LEAST..log2_boxes; 0 if
                       * only the graph supports these frames */
} nms__xla_kind;

typedef enum nms__xla_state {
  NMS__XLA_NONE,   /* not prepared, or the preparation failed */
  NMS__XLA_MAKING, /* a thread prepares it */
  NMS__XLA_READY
} nms__xla_state;

/* The program of a kind: a kernel, or, if that is NULL, a graph, which `cache` of
 * the store holds. */
typedef struct nms__xla_entry {
  void *kernel;
  uint8_t state;
} nms__xla_entry;

typedef struct nms__xla_store {
  struct nms__xla_store *next;
  size_t users;
  nms_lazy_backend *backend;
  nms_lazy_cache *cache;
  unsigned flags;       /* flags that nms_lazy_nms gets for this device */
  pthread_mutex_t lock; /* guards the entries' states */
  pthread_cond_t made;  /* a state has left NMS__XLA_MAKING */
  nms__xla_entry entry[NMS__XLA_SIZES][NMS__XLA_VARIANTS][1 + NMS__XLA_SIZES];
  int has_kernels; /* the device is a TPU, which runs the kernel of xlakernel.h */
  atomic_ullong kernel_programs, kernel_failures, kernel_runs, kernel_compile_ns;
} nms__xla_store;

/* Opens the plugin's device and returns its store in *store, a new one or the one
 * that other contexts use. Returns 0, or a code of nms_error and one line of text. */
int nms__xla_store_open (const char *plugin, nms__xla_store **store, char *error,
    size_t error_size);

/* Gives up one use of *store and sets it to NULL; the last use frees the programs
 * and closes the device. Accepts a pointer to NULL. */
void nms__xla_store_close (nms__xla_store **store);

/* Returns whether frames of this kind run the kernel instead of the graph. */
int nms__xla_store_wants_kernel (const nms__xla_store *store, nms__xla_kind kind);

/* Returns the kernel of a kind that is ready or that the caller prepares, or NULL if its
 * program is a graph. */
void *nms__xla_store_kernel (nms__xla_store *store, nms__xla_kind kind);

nms__xla_state nms__xla_store_state (nms__xla_store *store, nms__xla_kind kind);

/* Returns 1 and marks the kind as NMS__XLA_MAKING if the caller is to prepare it:
 * the caller then calls nms__xla_store_finish. Returns 0 if the kind is ready. Waits
 * while another thread prepares it. */
int nms__xla_store_begin (nms__xla_store *store, nms__xla_kind kind);

/* Stores the compiled kernel of a kind that the caller prepares. */
void nms__xla_store_set_kernel (nms__xla_store *store, nms__xla_kind kind, void *kernel);

/* Ends a preparation. If `usable` the kind is ready, else its kernel is freed and
 * the kind counts as not prepared. */
void nms__xla_store_finish (nms__xla_store *store, nms__xla_kind kind, int usable);

#endif
