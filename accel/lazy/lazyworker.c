/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lazyworker: the thread of a cache. It runs traces one after another while their contexts record,
 * so that one thread suffices for any number of contexts. It is started with the first job and ends
 * with the cache.
 */
#include "lazynodes.h"
#include "process.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

void
nms__worker_init (nms__worker *w, nms_lazy_cache *cache)
{
  pthread_mutex_init (&w->lock, NULL);
  pthread_cond_init (&w->changed, NULL);
  w->last = &w->first;
  w->cache = cache;
  w->process = getpid ();
}

static void *
work (void *data)
{
  nms__worker *w = data;

  pthread_mutex_lock (&w->lock);
  while (w->first || !w->ends) {
    nms__job *job = w->first;
    if (!job) {
      pthread_cond_wait (&w->changed, &w->lock);
      continue;
    }
    w->first = job->next;
    if (!w->first)
      w->last = &w->first;
    pthread_mutex_unlock (&w->lock);
    job->status = nms__cache_run (w->cache, &job->trace, job->error, sizeof job->error);
    pthread_mutex_lock (&w->lock);
    nms__process_end ();
    job->is_done = 1; /* after the unlock its context may be freed */
    pthread_cond_broadcast (&w->changed);
  }
  pthread_mutex_unlock (&w->lock);
  return NULL;
}

/* Returns whether the process was forked from the one that has the thread. */
static int
is_forked (const nms__worker *w)
{
  return w->process != getpid ();
}

/* Starts the thread with all signals blocked, so that the application's threads handle them. */
static int
start_thread (nms__worker *w)
{
  sigset_t all, before;

  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  w->has_thread = !pthread_create (&w->thread, NULL, work, w);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  return w->has_thread;
}

int
nms__worker_start (nms__worker *w, nms__job *job)
{
  if (is_forked (w))
    return 0;
  pthread_mutex_lock (&w->lock);
  const int can_run = w->has_thread || start_thread (w);
  if (can_run) {
    nms__process_begin ();
    nms__process_wait_of_main ();
    job->is_done = 0;
    job->next = NULL;
    *w->last = job;
    w->last = &job->next;
    pthread_cond_broadcast (&w->changed);
  }
  pthread_mutex_unlock (&w->lock);
  return can_run;
}

void
nms__worker_wait (nms__worker *w, nms__job *job)
{
  if (is_forked (w)) {
    job->status = NMS_ERROR_DEVICE;
    snprintf (job->error, sizeof job->error,
        "this process was forked from one that was computing the tensors");
    return;
  }
  pthread_mutex_lock (&w->lock);
  while (!job->is_done)
    pthread_cond_wait (&w->changed, &w->lock);
  pthread_mutex_unlock (&w->lock);
}

void
nms__worker_end (nms__worker *w)
{
  if (is_forked (w))
    return;
  pthread_mutex_lock (&w->lock);
  w->ends = 1;
  pthread_cond_broadcast (&w->changed);
  pthread_mutex_unlock (&w->lock);
  if (w->has_thread)
    pthread_join (w->thread, NULL);
  pthread_cond_destroy (&w->changed);
  pthread_mutex_destroy (&w->lock);
}
