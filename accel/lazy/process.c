/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* process: the id of the owner in an atomic number; a counter under a lock, and a condition
 * variable that signals its return to 0. */
#define _GNU_SOURCE /* gettid, on_exit */
#include "process.h"
#include "nmslazy.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The function by which C++ registers destructors of thread-local objects; absent in some C
 * libraries. exit () runs those of its thread before all functions of atexit (). */
extern int __cxa_thread_atexit_impl (void (*destroy) (void *), void *object, void *library)
    __attribute__ ((weak));
extern void *__dso_handle __attribute__ ((visibility ("hidden")));

static atomic_long owner; /* 0 until it is known */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static size_t busy; /* under the lock */

int
nms__process_claim (char *error, size_t error_size)
{
  long claimed_by = 0, self = (long) getpid ();

  if (atomic_compare_exchange_strong (&owner, &claimed_by, self) || claimed_by == self)
    return NMS_OK;
  if (error_size > 0)
    snprintf (error, error_size,
        "this process was forked from one that had used an XLA plugin, whose threads do not exist "
        "here");
  return NMS_ERROR_DEVICE;
}

int
nms__process_is_owner (void)
{
  return atomic_load (&owner) == (long) getpid ();
}

void
nms__process_begin (void)
{
  pthread_mutex_lock (&lock);
  busy++;
  pthread_mutex_unlock (&lock);
}

void
nms__process_end (void)
{
  pthread_mutex_lock (&lock);
  if (--busy == 0)
    pthread_cond_broadcast (&idle);
  pthread_mutex_unlock (&lock);
}

int
nms__process_wait (unsigned milliseconds)
{
  struct timespec end;
  int late = 0;

  if (!nms__process_is_owner ())
    return 1; /* in a forked process the lock may stay locked for ever */
  clock_gettime (CLOCK_REALTIME, &end);
  end.tv_sec += milliseconds / 1000;
  end.tv_nsec += milliseconds % 1000 * 1000000L;
  if (end.tv_nsec >= 1000000000L) {
    end.tv_nsec -= 1000000000L;
    end.tv_sec++;
  }
  pthread_mutex_lock (&lock);
  while (busy && !late)
    late = pthread_cond_timedwait (&idle, &lock, &end);
  late = busy != 0;
  pthread_mutex_unlock (&lock);
  return !late;
}

/* Waits for the threads. If they need too long, ends the process before destructors run that free
 * what they use. Flushes stdout only, because a thread may hold the lock of another stream. */
static void
wait_or_end (int status, void *unused)
{
  (void) unused;
  if (nms__process_wait (NMS__PROCESS_EXIT_MS))
    return;
  if (!ftrylockfile (stdout))
    fflush (stdout);
  _exit (status);
}

void
nms__process_wait_at_exit (void)
{
  on_exit (wait_or_end, NULL);
}

/* Runs at the start of exit (), which then calls the function registered here before all that were
 * registered earlier. */
static void
main_ends (void *unused)
{
  (void) unused;
  nms__process_wait_at_exit ();
}

void
nms__process_wait_of_main (void)
{
  static _Thread_local int registered;

  if (registered || !__cxa_thread_atexit_impl || gettid () != getpid ())
    return;
  registered = !__cxa_thread_atexit_impl (main_ends, NULL, &__dso_handle);
}

/* Runs on the thread that loads the library, usually the main thread, which may run no frame of its
 * own. */
__attribute__ ((constructor)) static void
wait_from_load_on (void)
{
  nms__process_wait_of_main ();
}
