/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cache: finds or makes the program of a trace. Programs are in a list, the one used
 * last in front. A linear search is faster than a table because there are few programs.
 * A program is in the list while it is compiled, so that a second thread waits for it
 * instead of compiling it again. A program whose compilation failed remains, so that a
 * stream does not compile it for every frame. Programs in use are not freed.
 *
 * A trace that differs from a program's only in the values of numbers (nms_lazy_number_f32) is
 * compiled with these numbers as inputs, and later values of them run that program. So a number
 * that changes in each frame is compiled twice, and one that never changes remains known to the
 * compiler.
 */
#include "lazynodes.h"
#include "callerstruct.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct program program;
struct program {
  program *next;
  size_t users; /* threads that compile it, wait for it, or run it */
  int compiling, status;
  pid_t process; /* the process that compiles the program */
  char error[NMS__LAZY_TEXT];
  void *compiled; /* result of the backend's compile () */
  uint64_t hash;
  size_t count, input_count;
  nms__node nodes[]; /* the nodes of a trace; numbers that change may be replaced by inputs */
};

struct nms_lazy_cache {
  nms_lazy_cache *next_shared;
  int is_shared;
  pthread_mutex_t lock;
  pthread_cond_t done;       /* a compilation has ended */
  nms_lazy_backend *backend; /* NULL for the eager executor */
  atomic_size_t holds;
  size_t bound;
  uint64_t hash_mask;
  program *first;
  nms_lazy_counters counters;
  nms__worker worker;
};

static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static nms_lazy_cache *shared; /* under shared_lock */

nms_lazy_cache *
nms_lazy_cache_new (nms_lazy_backend *backend, size_t programs)
{
  nms_lazy_cache *cache;

  if (backend && !nms__caller_struct_fits (backend, sizeof *backend))
    return NULL;
  cache = calloc (1, sizeof *cache);
  if (!cache)
    return NULL;
  pthread_mutex_init (&cache->lock, NULL);
  pthread_cond_init (&cache->done, NULL);
  nms__worker_init (&cache->worker, cache);
  cache->backend = backend;
  cache->bound = programs ? programs : NMS_LAZY_DEFAULT_PROGRAMS;
  cache->hash_mask = UINT64_MAX;
  return nms__cache_hold (cache);
}

nms_lazy_cache *
nms_lazy_cache_shared (nms_lazy_backend *backend)
{
  nms_lazy_cache *cache;

  pthread_mutex_lock (&shared_lock);
  for (cache = shared; cache && cache->backend != backend;)
    cache = cache->next_shared;
  if (cache) {
    nms__cache_hold (cache);
  } else if ((cache = nms_lazy_cache_new (backend, 0))) {
    cache->is_shared = 1;
    cache->next_shared = shared;
    shared = cache;
  }
  pthread_mutex_unlock (&shared_lock);
  return cache;
}

nms_lazy_cache *
nms__cache_hold (nms_lazy_cache *cache)
{
  atomic_fetch_add (&cache->holds, 1);
  return cache;
}

/* Frees the programs used least recently until there are `bound`, except those in use,
 * which are freed at the end of a later run. */
static void
trim (nms_lazy_cache *cache, size_t bound)
{
  size_t place = 0;

  for (program **at = &cache->first, *p; (p = *at);) {
    if (place++ < bound || p->users) {
      at = &p->next;
      continue;
    }
    *at = p->next;
    if (p->compiled)
      cache->backend->free_program (cache->backend, p->compiled);
    free (p);
    cache->counters.programs--;
    cache->counters.evictions++;
  }
}

/* Drops a reference. Returns whether it was the last; a shared cache is no longer found then. */
static int
drop (nms_lazy_cache *c)
{
  if (!c->is_shared)
    return atomic_fetch_sub (&c->holds, 1) == 1;
  pthread_mutex_lock (&shared_lock);
  const int is_last = atomic_fetch_sub (&c->holds, 1) == 1;
  for (nms_lazy_cache **at = &shared; is_last && *at;)
    if (*at == c)
      *at = c->next_shared;
    else
      at = &(*at)->next_shared;
  pthread_mutex_unlock (&shared_lock);
  return is_last;
}

void
nms_lazy_cache_free (nms_lazy_cache **cache)
{
  nms_lazy_cache *c = cache ? *cache : NULL;

  if (!c)
    return;
  *cache = NULL;
  if (!drop (c))
    return;
  nms__worker_end (&c->worker);
  trim (c, 0);
  pthread_cond_destroy (&c->done);
  pthread_mutex_destroy (&c->lock);
  free (c);
}

int
nms_lazy_cache_limit (nms_lazy_cache *cache, size_t programs)
{
  if (!cache)
    return NMS_ERROR_ARGUMENT;
  pthread_mutex_lock (&cache->lock);
  cache->bound = programs ? programs : NMS_LAZY_DEFAULT_PROGRAMS;
  trim (cache, cache->bound);
  pthread_mutex_unlock (&cache->lock);
  return NMS_OK;
}

int
nms_lazy_cache_counters (nms_lazy_cache *cache, nms_lazy_counters *counters)
{
  nms_lazy_counters now;

  if (!cache || !nms__caller_struct_fits (counters, sizeof now))
    return NMS_ERROR_ARGUMENT;
  pthread_mutex_lock (&cache->lock);
  now = cache->counters;
  pthread_mutex_unlock (&cache->lock);
  now.size = counters->size;
  now.traces = now.hits + now.misses;
  *counters = now;
  return NMS_OK;
}

void
nms__cache_weaken_hash (nms_lazy_cache *cache, uint64_t mask)
{
  cache->hash_mask = mask;
}

/* Returns whether node i of a program is an input in place of a number of a trace. */
static int
is_replaced (const program *p, const nms__trace *t, size_t i)
{
  return p->nodes[i].op == NMS__INPUT && t->nodes[i].op == NMS__CONSTANT;
}

/* Returns whether a trace and a program are equal except for numbers that are inputs of the program
 * or, if `values`, that have other values. */
static int
equals_but_for_numbers (const program *p, const nms__trace *t, int values)
{
  if (p->count != t->count)
    return 0;
  for (size_t i = 0; i < t->count; i++) {
    const nms__node *a = &p->nodes[i], *b = &t->nodes[i];
    const int is_number = b->op == NMS__CONSTANT && b->attr[1]
        && !memcmp (&a->shape, &b->shape, sizeof a->shape)
        && (a->op == NMS__INPUT || (values && a->op == NMS__CONSTANT && a->attr[1]));
    if (!is_number && memcmp (a, b, sizeof *a))
      return 0;
  }
  return 1;
}

/* Returns the place in the list of the program that runs a trace, or of the end. A program that
 * contains all numbers of the trace is preferred. */
static program **
place_of (nms_lazy_cache *cache, const nms__trace *t)
{
  const size_t bytes = t->count * sizeof *t->nodes;
  program **at = &cache->first, *p;

  while ((p = *at)
      && (((p->hash ^ t->hash) & cache->hash_mask) || p->count != t->count
          || memcmp (p->nodes, t->nodes, bytes)))
    at = &p->next;
  if (p || !cache->backend)
    return at;
  for (at = &cache->first; *at && !equals_but_for_numbers (*at, t, 0);)
    at = &(*at)->next;
  return at;
}

/* Makes inputs of the numbers that differ from those of a program that is equal otherwise. */
static void
replace_numbers (const nms_lazy_cache *cache, program *p, const nms__trace *t)
{
  const program *twin = cache->backend ? cache->first : NULL;

  while (twin && !equals_but_for_numbers (twin, t, 1))
    twin = twin->next;
  for (size_t i = 0; twin && i < p->count; i++)
    if (memcmp (&twin->nodes[i], &p->nodes[i], sizeof *p->nodes))
      p->nodes[i] = (nms__node) { .op = NMS__INPUT,
        .shape = p->nodes[i].shape,
        .attr = { (int32_t) p->input_count++ } };
}

/* Finds the program of a trace or adds a new one, which the caller compiles, and moves
 * it to the front. Returns NULL when out of memory. */
static program *
find (nms_lazy_cache *cache, const nms__trace *t, int *is_new)
{
  const size_t bytes = t->count * sizeof *t->nodes;
  program **at = place_of (cache, t), *p = *at;

  *is_new = !p;
  if (p) {
    *at = p->next;
  } else if ((p = calloc (1, sizeof *p + bytes))) {
    memcpy (p->nodes, t->nodes, bytes);
    p->count = t->count;
    p->input_count = t->input_count;
    p->hash = t->hash;
    replace_numbers (cache, p, t);
    cache->counters.programs++;
  } else {
    return NULL;
  }
  p->next = cache->first;
  cache->first = p;
  return p;
}

static uint64_t
now_ns (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

/* Compiles a program. The caller holds the lock, which is released during the compilation. */
static void
compile (nms_lazy_cache *cache, program *p, const nms__trace *t)
{
  const uint64_t start = now_ns ();
  size_t length;
  char *text;

  p->compiling = 1;
  p->process = getpid ();
  pthread_mutex_unlock (&cache->lock);
  nms__trace compiled = *t;
  compiled.nodes = p->nodes;
  text = nms__trace_text (&compiled, &length);
  p->status = NMS_ERROR_MEMORY;
  snprintf (p->error, sizeof p->error, "out of memory for a program");
  if (text)
    p->status = cache->backend->compile (cache->backend, text, length, t->output_count,
        &p->compiled, p->error, sizeof p->error);
  if (!p->status)
    p->error[0] = 0;
  free (text);
  pthread_mutex_lock (&cache->lock);
  cache->counters.compile_ns += now_ns () - start;
  cache->counters.failures += p->status != NMS_OK;
  p->compiling = 0;
  pthread_cond_broadcast (&cache->done);
}

int
nms__cache_is_resident (const nms_lazy_cache *cache)
{
  return cache->backend && cache->backend->fetch;
}

int
nms__cache_fetch (nms_lazy_cache *cache, void *resident, const nms_lazy_buffer *output, char *error,
    size_t error_size)
{
  pthread_mutex_lock (&cache->lock);
  cache->counters.fetched++;
  pthread_mutex_unlock (&cache->lock);
  return cache->backend->fetch (cache->backend, resident, output, error, error_size);
}

void
nms__cache_free_resident (nms_lazy_cache *cache, void *resident)
{
  if (resident)
    cache->backend->free_resident (cache->backend, resident);
}

/* Counts what a run copies to the device (inputs not there yet, and `numbers`) and back. */
static void
count_copies (nms_lazy_cache *cache, const nms__trace *t, size_t numbers)
{
  cache->counters.sent += numbers;
  for (size_t i = 0; i < t->input_count && cache->backend; i++)
    cache->counters.sent += !t->in[i].resident || !*t->in[i].resident;
  for (size_t i = 0; i < t->output_count && cache->backend; i++)
    cache->counters.fetched += !t->out[i].resident;
}

#define ALIGN 64 /* alignment of inputs, in bytes */

/* Runs a compiled program. Its inputs are those of the trace, then the numbers of the trace that
 * are not constants of the program. */
static int
run (nms_lazy_cache *cache, const program *p, const nms__trace *t, char *error, size_t error_size)
{
  nms_lazy_backend *backend = cache->backend;
  const size_t numbers = p->input_count - t->input_count;
  nms_lazy_buffer *in = NULL;
  char *values = NULL;
  int status = NMS_ERROR_MEMORY;

  if (!numbers)
    return backend->run (backend, p->compiled, t->in, t->input_count, t->out, t->output_count,
        error, error_size);
  in = malloc (p->input_count * sizeof *in);
  values = aligned_alloc (ALIGN, numbers * ALIGN);
  if (in && values) {
    memcpy (in, t->in, t->input_count * sizeof *in);
    for (size_t i = 0, k = 0; i < t->count; i++)
      if (is_replaced (p, t, i)) {
        void *value = memcpy (values + k++ * ALIGN, t->nodes[i].attr, sizeof *t->nodes[i].attr);
        in[p->nodes[i].attr[0]] = (nms_lazy_buffer) { t->nodes[i].shape, value, NULL };
      }
    status = backend->run (backend, p->compiled, in, p->input_count, t->out, t->output_count, error,
        error_size);
  } else {
    snprintf (error, error_size, "out of memory for the numbers of a program");
  }
  free (values);
  free (in);
  return status;
}

int
nms__cache_run (nms_lazy_cache *cache, const nms__trace *t, char *error, size_t error_size)
{
  int is_new, status = NMS_ERROR_MEMORY;
  program *p;

  snprintf (error, error_size, "out of memory for a program");
  pthread_mutex_lock (&cache->lock);
  p = find (cache, t, &is_new);
  *(is_new ? &cache->counters.misses : &cache->counters.hits) += 1;
  cache->counters.failures += !p;
  if (p) {
    p->users++;
    if (is_new && cache->backend)
      compile (cache, p, t);
    while (p->compiling && p->process == getpid ())
      pthread_cond_wait (&cache->done, &cache->lock);
    status = p->compiling ? NMS_ERROR_DEVICE : p->status;
    cache->counters.runs += !status;
    if (!status)
      count_copies (cache, t, p->input_count - t->input_count);
    snprintf (error, error_size, "%s",
        p->compiling ? "this process was forked from one that was compiling" : p->error);
    pthread_mutex_unlock (&cache->lock);
    if (!status && cache->backend)
      status = run (cache, p, t, error, error_size);
    else if (!status)
      status = nms__eager_run (t, error, error_size);
    pthread_mutex_lock (&cache->lock);
    p->users--;
    trim (cache, cache->bound);
  }
  pthread_mutex_unlock (&cache->lock);
  return status;
}

void
nms__cache_start (nms_lazy_cache *cache, nms__job *job)
{
  job->is_queued = nms__worker_start (&cache->worker, job);
  if (!job->is_queued)
    job->status = nms__cache_run (cache, &job->trace, job->error, sizeof job->error);
}

int
nms__cache_finish (nms_lazy_cache *cache, nms__job *job)
{
  if (job->is_queued)
    nms__worker_wait (&cache->worker, job);
  return job->status;
}
