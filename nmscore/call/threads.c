/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * threads: starts, runs and ends the threads of a context, each with a context of its own. They
 * are started once and wait for work, because starting a thread takes longer than a small batch.
 *
 * A forked process does not have the threads, and the lock may stay locked there for ever.
 * Therefore it runs all work in the caller's thread, and nms__threads_end does nothing.
 */
#include "threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct worker {
  struct nms__threads *threads;
  nms_context *ctx;
  pthread_t thread;
} worker;

struct nms__threads {
  pid_t pid;
  pthread_mutex_t lock; /* guards `round` to `data` */
  pthread_cond_t start, done;
  uint64_t round;   /* number of calls of nms__threads_run */
  unsigned running; /* workers that have not finished this round */
  int stop;
  nms__work work;
  void *data;
  unsigned count; /* number of workers, without the caller's thread */
  worker worker[];
};

static void *
work (void *data)
{
  const worker *w = data;
  struct nms__threads *t = w->threads;
  uint64_t seen = 0;

  pthread_mutex_lock (&t->lock);
  for (;;) {
    while (!t->stop && t->round == seen)
      pthread_cond_wait (&t->start, &t->lock);
    if (t->stop)
      break;
    seen = t->round;
    const nms__work task = t->work;
    void *const task_data = t->data;
    pthread_mutex_unlock (&t->lock);
    task (w->ctx, task_data);
    pthread_mutex_lock (&t->lock);
    if (--t->running == 0)
      pthread_cond_broadcast (&t->done);
  }
  pthread_mutex_unlock (&t->lock);
  return NULL;
}

struct nms__threads *
nms__threads_new (unsigned count)
{
  struct nms__threads *t = calloc (1, sizeof *t + count * sizeof *t->worker);

  if (!t)
    return NULL;
  t->pid = getpid ();
  pthread_mutex_init (&t->lock, NULL);
  pthread_cond_init (&t->start, NULL);
  pthread_cond_init (&t->done, NULL);
  return t;
}

/* Blocks all signals in the new thread, so that the application's threads handle them. */
int
nms__threads_add (struct nms__threads *t, nms_context *ctx)
{
  worker *w = &t->worker[t->count];
  sigset_t all, before;

  w->threads = t;
  w->ctx = ctx;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  const int error = pthread_create (&w->thread, NULL, work, w);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  t->count += !error;
  return !error;
}

void
nms__threads_end (struct nms__threads *t)
{
  if (t->pid != getpid ())
    return;
  pthread_mutex_lock (&t->lock);
  t->stop = 1;
  pthread_cond_broadcast (&t->start);
  pthread_mutex_unlock (&t->lock);
  for (unsigned i = 0; i < t->count; i++)
    pthread_join (t->worker[i].thread, NULL);
  pthread_cond_destroy (&t->start);
  pthread_cond_destroy (&t->done);
  pthread_mutex_destroy (&t->lock);
}

nms_context *
nms__threads_context (const struct nms__threads *t, unsigned number)
{
  return t && number < t->count ? t->worker[number].ctx : NULL;
}

void
nms__threads_run (nms_context *ctx, nms__work task, void *data)
{
  struct nms__threads *t = ctx->threads;
  const int parallel = t && t->pid == getpid ();

  if (parallel) {
    pthread_mutex_lock (&t->lock);
    t->work = task;
    t->data = data;
    t->running = t->count;
    t->round++;
    pthread_cond_broadcast (&t->start);
    pthread_mutex_unlock (&t->lock);
  }
  task (ctx, data);
  if (parallel) {
    pthread_mutex_lock (&t->lock);
    while (t->running)
      pthread_cond_wait (&t->done, &t->lock);
    pthread_mutex_unlock (&t->lock);
  }
}
