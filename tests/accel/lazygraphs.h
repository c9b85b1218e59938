/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lazygraphs: a table of small programs of lazy tensors, which every executor
 * must run to the same bits. Their inputs hold what breaks compilers: NaN,
 * infinities, both ends of integers, products that a contraction would round
 * once instead of twice, constants that folding would round differently.
 */
#pragma once

#include "nmslazy.h"

#define LAZYGRAPH_OUTPUTS 13

typedef struct {
  const char *name;
  /* Records the program with inputs of this seed; the tensors to be read. */
  size_t (*build) (nms_lazy *lz, unsigned seed, nms_lazy_tensor out[LAZYGRAPH_OUTPUTS]);
} LazyGraph;

/* Ends with a name that is NULL. */
extern const LazyGraph lazygraphs[];

/* Runs a graph through a cache. Returns the values, one after another, for
 * free (), and their shapes; or NULL and the error's text. */
typedef struct {
  size_t count;
  nms_lazy_shape shape[LAZYGRAPH_OUTPUTS];
  void *data[LAZYGRAPH_OUTPUTS];
  char *error; /* NULL: none */
} LazyValues;

void lazygraph_run (const LazyGraph *graph, unsigned seed, nms_lazy_cache *cache,
    LazyValues *values);
void lazyvalues_clear (LazyValues *values);

/* Where two results differ, for free (); NULL: nowhere. All NaN are equal;
 * else bits are compared. */
char *lazyvalues_difference (const LazyValues *a, const LazyValues *b);
