/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cache: traces to programs. A handful of programs, the one used last in
 * front: a walk along them beats a table. A program being compiled is in the
 * cache already, so that a second thread waits for it instead of compiling it
 * again, and one that failed stays, so that a stream does not try it every
 * frame. A program given up while it runs lives until that run ends.
 */
#include "../fpmode.h"
#include "lazy.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COMPILING, READY, FAILED };

struct nms__program {
  nms__trace trace;
  size_t holds; /* by the cache, and by reads */
  int state;
  int floored;  /* takes -inf as its last input */
  void *compiled;
  nms__eager *eager;
  int status;
  char error[NMS__LAZY_TEXT];
};

struct nms_lazy_cache {
  pthread_mutex_t lock;
  pthread_cond_t compiled;
  nms_lazy_backend *backend; /* NULL: eager */
  size_t holds;
  uint64_t hash_mask;
  size_t bound, count;
  nms__program **programs; /* room for bound + 1; last used first */
  nms_lazy_counters counters;
};

nms_lazy_cache *
nms_lazy_cache_new (nms_lazy_backend *backend, size_t programs)
{
  nms_lazy_cache *cache;
  size_t bound = programs ? programs : NMS_LAZY_DEFAULT_PROGRAMS;

  if ((backend && backend->size != sizeof *backend) || bound > SIZE_MAX / sizeof (void *) - 1
      || !(cache = calloc (1, sizeof *cache)))
    return NULL;
  cache->programs = malloc ((bound + 1) * sizeof *cache->programs);
  if (!cache->programs) {
    free (cache);
    return NULL;
  }
  pthread_mutex_init (&cache->lock, NULL);
  pthread_cond_init (&cache->compiled, NULL);
  cache->backend = backend;
  cache->bound = bound;
  cache->holds = 1;
  cache->hash_mask = UINT64_MAX;
  return cache;
}

nms_lazy_cache *
nms__cache_hold (nms_lazy_cache *cache)
{
  pthread_mutex_lock (&cache->lock);
  cache->holds++;
  pthread_mutex_unlock (&cache->lock);
  return cache;
}

static void
program_free (nms_lazy_cache *cache, nms__program *program)
{
  if (program->compiled)
    cache->backend->free_program (cache->backend, program->compiled);
  nms__eager_free (program->eager);
  nms__trace_clear (&program->trace);
  free (program);
}

void
nms__program_release (nms_lazy_cache *cache, nms__program *program)
{
  size_t holds;

  pthread_mutex_lock (&cache->lock);
  holds = --program->holds;
  pthread_mutex_unlock (&cache->lock);
  if (!holds)
    program_free (cache, program);
}

void
nms_lazy_cache_free (nms_lazy_cache **cache)
{
  nms_lazy_cache *c = cache ? *cache : NULL;
  size_t holds;

  if (!c)
    return;
  *cache = NULL;
  pthread_mutex_lock (&c->lock);
  holds = --c->holds;
  pthread_mutex_unlock (&c->lock);
  if (holds)
    return;
  for (size_t i = 0; i < c->count; i++)
    program_free (c, c->programs[i]);
  free (c->programs);
  pthread_cond_destroy (&c->compiled);
  pthread_mutex_destroy (&c->lock);
  free (c);
}

const char *
nms_lazy_cache_device (const nms_lazy_cache *cache)
{
  return cache->backend ? cache->backend->name : "eager";
}

int
nms_lazy_cache_counters (nms_lazy_cache *cache, nms_lazy_counters *counters)
{
  nms_lazy_counters now;
  size_t size = counters ? counters->size : 0;

  if (!cache || size < sizeof size)
    return NMS_ERROR_ARGUMENT;
  pthread_mutex_lock (&cache->lock);
  now = cache->counters;
  now.programs = cache->count;
  pthread_mutex_unlock (&cache->lock);
  now.size = size;
  now.traces = now.hits + now.misses;
  memcpy (counters, &now, size < sizeof now ? size : sizeof now);
  return NMS_OK;
}

void
nms_lazy_cache_weaken_hash (nms_lazy_cache *cache, uint64_t mask)
{
  pthread_mutex_lock (&cache->lock);
  cache->hash_mask = mask;
  pthread_mutex_unlock (&cache->lock);
}

/* The place of a trace's program, or the count of programs. */
static size_t
find (const nms_lazy_cache *cache, const nms__trace *trace)
{
  size_t i = 0;

  for (; i < cache->count; i++) {
    const nms__trace *t = &cache->programs[i]->trace;
    if (!((t->hash ^ trace->hash) & cache->hash_mask) && nms__trace_equal (t, trace))
      break;
  }
  return i;
}

static void
put_in_front (nms_lazy_cache *cache, size_t from, nms__program *program)
{
  memmove (cache->programs + 1, cache->programs, from * sizeof *cache->programs);
  cache->programs[0] = program;
}

int
nms__cache_has (nms_lazy_cache *cache, const nms__trace *trace)
{
  size_t at;
  int has;

  pthread_mutex_lock (&cache->lock);
  at = find (cache, trace);
  has = at < cache->count && cache->programs[at]->state != COMPILING;
  pthread_mutex_unlock (&cache->lock);
  return has;
}

static uint64_t
now_ns (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

/* Inputs and outputs as the backend wants them described, without data. */
static nms_lazy_buffer *
signature (const nms__program *p, size_t *inputs)
{
  const nms__trace *t = &p->trace;
  nms_lazy_buffer *list = calloc (t->input_count + 1 + t->outputs.count, sizeof *list);

  *inputs = t->input_count + (p->floored != 0);
  for (size_t i = 0; list && i < t->nodes.count; i++) {
    const nms__node *n = nms__trace_nodes (t) + i;
    if (n->op == NMS__INPUT)
      list[n->attr[0]].shape = n->shape;
  }
  for (size_t i = 0; list && i < t->outputs.count; i++)
    list[*inputs + i].shape = nms__trace_nodes (t)[((uint32_t *) t->outputs.data)[i]].shape;
  if (list && p->floored)
    list[t->input_count].shape.type = NMS_LAZY_F32;
  return list;
}

static void
compile (nms_lazy_backend *backend, nms__program *p)
{
  size_t length = 0, inputs;
  char *text = NULL;
  nms_lazy_buffer *list = NULL;

  p->status = NMS_ERROR_MEMORY;
  snprintf (p->error, sizeof p->error, "out of memory for a program");
  if (!backend) {
    p->eager = nms__eager_new (&p->trace);
    p->status = p->eager ? NMS_OK : NMS_ERROR_MEMORY;
    return;
  }
  text = nms__stablehlo (&p->trace, &length, &p->floored);
  list = text ? signature (p, &inputs) : NULL;
  if (list) {
    p->error[0] = 0;
    p->status = backend->compile (backend, text, length, list, inputs, list + inputs,
        p->trace.outputs.count, &p->compiled, p->error, sizeof p->error);
  }
  free (list);
  free (text);
}

/* A new program in front, being compiled, with a hold for the caller. */
static nms__program *
add_program (nms_lazy_cache *cache, const nms__trace *trace)
{
  nms__program *p = calloc (1, sizeof *p);

  if (!p || !nms__trace_copy (&p->trace, trace)) {
    free (p);
    return NULL;
  }
  p->state = COMPILING;
  p->holds = 2;
  put_in_front (cache, cache->count++, p);
  return p;
}

/* Beyond the bound, the program used least recently goes. It may be held. */
static nms__program *
give_up_last (nms_lazy_cache *cache)
{
  if (cache->count <= cache->bound)
    return NULL;
  cache->counters.evictions++;
  return cache->programs[--cache->count];
}

nms__program *
nms__cache_program (nms_lazy_cache *cache, const nms__trace *trace, int *status, char *error,
    size_t error_size)
{
  nms__program *p, *old = NULL;
  size_t at;

  pthread_mutex_lock (&cache->lock);
  at = find (cache, trace);
  if (at < cache->count) {
    p = cache->programs[at];
    cache->counters.hits++;
    put_in_front (cache, at, p);
    p->holds++;
    while (p->state == COMPILING)
      pthread_cond_wait (&cache->compiled, &cache->lock);
  } else {
    cache->counters.misses++;
    p = add_program (cache, trace);
    old = p ? give_up_last (cache) : NULL;
    pthread_mutex_unlock (&cache->lock);
    if (old)
      nms__program_release (cache, old);
    uint64_t start = now_ns ();
    if (p)
      compile (cache->backend, p);
    pthread_mutex_lock (&cache->lock);
    cache->counters.compile_ns += now_ns () - start;
    cache->counters.failures += !p || p->status;
    if (p) {
      p->state = p->status ? FAILED : READY;
      pthread_cond_broadcast (&cache->compiled);
    }
  }
  pthread_mutex_unlock (&cache->lock);
  *status = p ? p->status : NMS_ERROR_MEMORY;
  if (*status)
    snprintf (error, error_size, "%s", p ? p->error : "out of memory for a program");
  if (p && *status) {
    nms__program_release (cache, p);
    p = NULL;
  }
  return p;
}

int
nms__program_run (nms_lazy_cache *cache, nms__program *program, nms_lazy_buffer *inputs,
    const nms_lazy_buffer *outputs, char *error, size_t error_size)
{
  const nms__trace *t = &program->trace;
  _Alignas (64) float lowest = -INFINITY;
  int status;

  pthread_mutex_lock (&cache->lock);
  cache->counters.runs++;
  pthread_mutex_unlock (&cache->lock);
  if (!cache->backend) {
    nms__fpmode mode = nms__fpmode_enter ();
    status = nms__eager_run (program->eager, t, inputs, outputs);
    nms__fpmode_leave (mode);
    if (status)
      snprintf (error, error_size, "out of memory for the values of a program");
    return status;
  }
  inputs[t->input_count] = (nms_lazy_buffer){ { .type = NMS_LAZY_F32 }, &lowest };
  return cache->backend->run (cache->backend, program->compiled, inputs,
      t->input_count + (program->floored != 0), outputs, t->outputs.count, error, error_size);
}
