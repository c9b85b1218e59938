/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lazygraphs: a table of small programs of lazy tensors, for which every executor
 * must compute the same bits. Their inputs are cases in which compilers often err: NaN,
 * infinities, the greatest and least integers, products that a contraction would round
 * once instead of twice, constants that folding would round differently.
 */
#pragma once

#include "nmslazy.h"

#define LAZYGRAPH_OUTPUTS 13

typedef struct {
  const char *name;
  /* Records the program with inputs of this seed. Returns the number of tensors to read,
   * which are in `out`. */
  size_t (*build) (nms_lazy *lz, unsigned seed, nms_lazy_tensor out[LAZYGRAPH_OUTPUTS]);
} LazyGraph;

/* The table; its last name is NULL. */
extern const LazyGraph lazygraphs[];

/* Runs a graph with a cache. Writes its values, one after another, and their shapes to
 * *values, which lazyvalues_clear frees; or the error's text. */
typedef struct {
  size_t count;
  nms_lazy_shape shape[LAZYGRAPH_OUTPUTS];
  void *data[LAZYGRAPH_OUTPUTS];
  char *error; /* NULL: no error */
} LazyValues;

void lazygraph_run (const LazyGraph *graph, unsigned seed, nms_lazy_cache *cache,
    LazyValues *values);
void lazyvalues_clear (LazyValues *values);

/* Describes the first difference of two results, for free (), or returns NULL if they
 * are equal. All NaN are equal; other values are compared by their bits. */
char *lazyvalues_difference (const LazyValues *a, const LazyValues *b);
