/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlajob: runs each job on a thread of its own. A finished job is freed by its caller. A caller
 * that no longer needs the result marks the job as abandoned, and then its thread frees it.
 */
#include "xlajob.h"
#include "xlaerror.h"
#include "xlaprepare.h"

#include "accel/lazy/process.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 256

typedef enum state {
  WORKING,
  DONE,     /* the caller frees it */
  ABANDONED /* the thread frees it */
} state;

struct nms__xla_job {
  state state; /* under the lock */
  int only_closes;
  nms__xla_kind kind;
  nms__xla_store *store;
  int code;
  char error[TEXT];
  char plugin[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* signals a new state of a job, or an
                                                           * interruption */

static void
perform (nms__xla_job *job)
{
  if (job->only_closes)
    return;
  if (!job->store)
    job->code = nms__xla_store_open (job->plugin, &job->store, job->error, sizeof job->error);
  if (!job->code)
    job->code = nms__xla_prepare (job->store, job->kind, job->error, sizeof job->error);
}

static void *
work (void *data)
{
  nms__xla_job *job = data;

  perform (job);
  pthread_mutex_lock (&lock);
  const int abandoned = job->state == ABANDONED;
  if (!abandoned)
    job->state = DONE; /* after the unlock the caller may free it */
  pthread_cond_broadcast (&changed);
  pthread_mutex_unlock (&lock);
  if (abandoned) {
    nms__xla_store_close (&job->store);
    free (job);
  }
  nms__process_end ();
  return NULL;
}

/* Starts a detached thread with all signals blocked, so that the application's other threads
 * handle them. Returns whether it was started. */
static int
start (nms__xla_job *job)
{
  sigset_t all, before;
  pthread_t thread;

  nms__process_begin ();
  nms__process_wait_of_main ();
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  const int error = pthread_create (&thread, NULL, work, job);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  if (error)
    nms__process_end ();
  else
    pthread_detach (thread);
  return !error;
}

static nms__xla_job *
new_job (const char *plugin, nms__xla_store *store)
{
  const size_t size = strlen (plugin) + 1;
  nms__xla_job *job = calloc (1, sizeof *job + size);

  if (job) {
    memcpy (job->plugin, plugin, size);
    job->store = store;
  }
  return job;
}

nms__xla_job *
nms__xla_job_start (const char *plugin, nms__xla_store *store, nms__xla_kind kind)
{
  nms__xla_job *job = new_job (plugin, store);

  if (!job)
    return NULL;
  job->kind = kind;
  if (start (job))
    return job;
  free (job);
  return NULL;
}

int
nms__xla_job_is_done (nms__xla_job *job)
{
  pthread_mutex_lock (&lock);
  const int done = job->state == DONE;
  pthread_mutex_unlock (&lock);
  return done;
}

int
nms__xla_job_wait (nms__xla_job *job, const atomic_int *interrupted)
{
  pthread_mutex_lock (&lock);
  while (job->state != DONE && !atomic_load (interrupted))
    pthread_cond_wait (&changed, &lock);
  const int done = job->state == DONE;
  pthread_mutex_unlock (&lock);
  return done;
}

void
nms__xla_job_wake (void)
{
  pthread_mutex_lock (&lock);
  pthread_cond_broadcast (&changed);
  pthread_mutex_unlock (&lock);
}

int
nms__xla_job_take (nms__xla_job **job, nms__xla_store **store, char *error, size_t error_size)
{
  nms__xla_job *taken = *job;
  const int code = taken->code;

  *job = NULL;
  *store = taken->store;
  if (code)
    nms__xla_error_set (code, error, error_size, "%s", taken->error);
  free (taken);
  return code;
}

void
nms__xla_job_abandon (nms__xla_job **job)
{
  nms__xla_job *left = *job;

  *job = NULL;
  if (!left)
    return;
  nms__process_wait_of_main ();
  pthread_mutex_lock (&lock);
  const int done = left->state == DONE;
  left->state = ABANDONED;
  pthread_mutex_unlock (&lock);
  if (done) {
    nms__xla_job_close (&left->store);
    free (left);
  }
}

void
nms__xla_job_close (nms__xla_store **store)
{
  nms__xla_job *job = *store ? new_job ("", *store) : NULL;

  if (!*store)
    return;
  if (job) {
    job->only_closes = 1;
    job->state = ABANDONED;
    if (start (job)) {
      *store = NULL;
      return;
    }
    free (job);
  }
  nms__xla_store_close (store);
}
