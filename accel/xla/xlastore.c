/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlastore: keeps one list of stores in a process, one store for each open device.
 * A failed preparation is not recorded here: its context stops using
 * the engine, and another context may try again.
 */
#include "xlastore.h"
#include "nmsgraph.h"
#include "nmsxla.h"
#include "xladevice.h"
#include "xlaerror.h"

#include "accel/lazy/callerstruct.h"
#include "accel/lazy/process.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static nms__xla_store *stores; /* under the lock */

static int
new_store (nms_lazy_backend *backend, nms__xla_store **store, char *error, size_t error_size)
{
  nms__xla_store *s = calloc (1, sizeof *s);

  if (s)
    s->cache = nms_lazy_cache_new (backend, NMS__XLA_SIZES * NMS__XLA_VARIANTS);
  if (!s || !s->cache) {
    free (s);
    return nms__xla_error_set (NMS_ERROR_MEMORY, error, error_size, "out of memory");
  }
  s->backend = backend;
  /* only CPUs are known to round a quotient correctly */
  s->flags = strcmp (backend->name, "xla:cpu") ? NMS_LAZY_NO_DIVISION : 0;
  s->has_kernels = !strcmp (backend->name, "xla:tpu");
  s->users = 1;
  pthread_mutex_init (&s->lock, NULL);
  pthread_cond_init (&s->made, NULL);
  s->next = stores;
  stores = s;
  *store = s;
  return NMS_OK;
}

int
nms__xla_store_open (const char *plugin, nms__xla_store **store, char *error, size_t error_size)
{
  nms_lazy_backend *backend;
  /* open before taking the lock: in a forked process, where this fails, another thread of
   * the parent may have held the lock, which is then never released */
  int code = nms_xla_open (plugin, &backend, error, error_size);

  *store = NULL;
  if (code)
    return code;
  pthread_mutex_lock (&lock);
  for (nms__xla_store *s = stores; s && !*store; s = s->next)
    if (s->backend == backend) {
      s->users++;
      *store = s;
    }
  if (*store)
    nms_xla_close (&backend); /* the store already has a use of it */
  else
    code = new_store (backend, store, error, error_size);
  pthread_mutex_unlock (&lock);
  if (code)
    nms_xla_close (&backend);
  return code;
}

static void
free_kernels (nms__xla_store *s)
{
  nms__xla_entry *entries = &s->entry[0][0][0];

  for (size_t i = 0; i < sizeof s->entry / sizeof *entries; i++)
    if (entries[i].kernel)
      s->backend->free_program (s->backend, entries[i].kernel);
}

void
nms__xla_store_close (nms__xla_store **store)
{
  nms__xla_store *s = *store;

  *store = NULL;
  if (!s)
    return;
  pthread_mutex_lock (&lock);
  if (--s->users == 0) {
    for (nms__xla_store **at = &stores; *at; at = &(*at)->next)
      if (*at == s) {
        *at = s->next;
        break;
      }
    free_kernels (s);
    nms_lazy_cache_free (&s->cache);
    nms_xla_close (&s->backend);
    pthread_cond_destroy (&s->made);
    pthread_mutex_destroy (&s->lock);
    free (s);
  }
  pthread_mutex_unlock (&lock);
}

int
nms__xla_store_wants_kernel (const nms__xla_store *store, nms__xla_kind kind)
{
  return store->has_kernels && kind.log2_picks;
}

static nms__xla_entry *
entry_of (nms__xla_store *store, nms__xla_kind kind)
{
  const int picks = nms__xla_store_wants_kernel (store, kind) ? 1 + kind.log2_picks - NMS__XLA_LEAST
                                                              : 0;

  return &store->entry[kind.log2_boxes - NMS__XLA_LEAST][kind.variant][picks];
}

void *
nms__xla_store_kernel (nms__xla_store *store, nms__xla_kind kind)
{
  return entry_of (store, kind)->kernel;
}

nms__xla_state
nms__xla_store_state (nms__xla_store *store, nms__xla_kind kind)
{
  pthread_mutex_lock (&store->lock);
  uint8_t state = entry_of (store, kind)->state;
  pthread_mutex_unlock (&store->lock);
  return (nms__xla_state) state;
}

int
nms__xla_store_begin (nms__xla_store *store, nms__xla_kind kind)
{
  uint8_t *state = &entry_of (store, kind)->state;

  pthread_mutex_lock (&store->lock);
  while (*state == NMS__XLA_MAKING)
    pthread_cond_wait (&store->made, &store->lock);
  const int is_ready = *state == NMS__XLA_READY;
  if (!is_ready)
    *state = NMS__XLA_MAKING;
  pthread_mutex_unlock (&store->lock);
  return !is_ready;
}

void
nms__xla_store_set_kernel (nms__xla_store *store, nms__xla_kind kind, void *kernel)
{
  entry_of (store, kind)->kernel = kernel;
}

void
nms__xla_store_finish (nms__xla_store *store, nms__xla_kind kind, int usable)
{
  nms__xla_entry *entry = entry_of (store, kind);

  if (!usable && entry->kernel) {
    store->backend->free_program (store->backend, entry->kernel);
    entry->kernel = NULL;
  }
  pthread_mutex_lock (&store->lock);
  entry->state = usable ? NMS__XLA_READY : NMS__XLA_NONE;
  pthread_cond_broadcast (&store->made);
  pthread_mutex_unlock (&store->lock);
}

/* Adds the counters of the kernels to those of the graphs, which the cache has. */
static int
count_all (nms__xla_store *s, nms_lazy_counters *counters)
{
  nms_lazy_counters all = { .size = sizeof all };
  const uint64_t programs = atomic_load (&s->kernel_programs);
  const uint64_t failures = atomic_load (&s->kernel_failures);
  const uint64_t runs = atomic_load (&s->kernel_runs);
  const int code = nms_lazy_cache_counters (s->cache, &all);

  all.traces += programs + failures + runs;
  all.hits += runs;
  all.misses += programs + failures;
  all.failures += failures;
  all.runs += runs;
  all.compile_ns += atomic_load (&s->kernel_compile_ns);
  all.programs += programs;
  all.size = counters->size;
  *counters = all;
  return code;
}

int
nms_xla_engine_counters (const char *plugin, nms_lazy_counters *counters)
{
  int code = NMS_OK;

  if (!plugin || !nms__caller_struct_fits (counters, sizeof *counters))
    return NMS_ERROR_ARGUMENT;
  if (nms__process_claim (NULL, 0))
    return NMS_ERROR_DEVICE;
  *counters = (nms_lazy_counters) { .size = counters->size };
  pthread_mutex_lock (&lock);
  for (nms__xla_store *s = stores; s; s = s->next)
    if (!strcmp (((nms__xla_device *) s->backend)->path, plugin))
      code = count_all (s, counters);
  pthread_mutex_unlock (&lock);
  return code;
}
