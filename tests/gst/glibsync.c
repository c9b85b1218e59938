/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * glibsync: tells ThreadSanitizer about the synchronisation of GLib and GStreamer.
 * Distributions build these libraries without the sanitizer, so that it does not see the
 * order that a GMutex gives, and would report all data of ours that GStreamer locks
 * protect. The functions here, linked into a test program, come before the libraries'
 * functions and call them. They declare only orders that exist: no report is suppressed.
 */
#include <dlfcn.h>
#include <gst/gst.h>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>

#define NOT_INSTRUMENTED __attribute__ ((no_sanitize ("thread")))

/* Defines `real` as the library's function of this name. */
#define REAL(name) \
  static __typeof__ (&name) found; \
  __typeof__ (&name) real = __atomic_load_n (&found, __ATOMIC_RELAXED); \
  if (real == NULL) { \
    real = (__typeof__ (&name)) dlsym (RTLD_NEXT, #name); \
    __atomic_store_n (&found, real, __ATOMIC_RELAXED); \
  }

#define LOCK(name, Type) \
  NOT_INSTRUMENTED void name (Type *lock) \
  { \
    REAL (name); \
    real (lock); \
    __tsan_acquire (lock); \
  }

#define TRYLOCK(name, Type) \
  NOT_INSTRUMENTED gboolean name (Type *lock) \
  { \
    REAL (name); \
    gboolean got = real (lock); \
    if (got) \
      __tsan_acquire (lock); \
    return got; \
  }

#define UNLOCK(name, Type) \
  NOT_INSTRUMENTED void name (Type *lock) \
  { \
    REAL (name); \
    __tsan_release (lock); \
    real (lock); \
  }

LOCK (g_mutex_lock, GMutex)
TRYLOCK (g_mutex_trylock, GMutex)
UNLOCK (g_mutex_unlock, GMutex)
LOCK (g_rec_mutex_lock, GRecMutex)
TRYLOCK (g_rec_mutex_trylock, GRecMutex)
UNLOCK (g_rec_mutex_unlock, GRecMutex)
LOCK (g_rw_lock_reader_lock, GRWLock)
UNLOCK (g_rw_lock_reader_unlock, GRWLock)
LOCK (g_rw_lock_writer_lock, GRWLock)
UNLOCK (g_rw_lock_writer_unlock, GRWLock)

NOT_INSTRUMENTED void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  REAL (g_cond_wait);
  __tsan_release (mutex);
  real (cond, mutex);
  __tsan_acquire (mutex);
}

NOT_INSTRUMENTED gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end_time)
{
  REAL (g_cond_wait_until);
  gboolean res;

  __tsan_release (mutex);
  res = real (cond, mutex, end_time);
  __tsan_acquire (mutex);
  return res;
}

/* Everything before this leave is visible to each thread that enters later. */
#undef g_once_init_enter
NOT_INSTRUMENTED gboolean
g_once_init_enter (volatile void *location)
{
  REAL (g_once_init_enter);
  gboolean first = real (location);

  __tsan_acquire ((void *) location);
  return first;
}

#undef g_once_init_leave
NOT_INSTRUMENTED void
g_once_init_leave (volatile void *location, gsize result)
{
  REAL (g_once_init_leave);
  __tsan_release ((void *) location);
  real (location, result);
}

/* Everything before each unref is visible to the thread that takes the last reference
 * away. */
#define UNREF(name, Type) \
  NOT_INSTRUMENTED void name (Type object) \
  { \
    REAL (name); \
    __tsan_release (object); \
    __tsan_acquire (object); \
    real (object); \
  }

UNREF (g_object_unref, gpointer)
UNREF (gst_mini_object_unref, GstMiniObject *)
UNREF (g_array_unref, GArray *)

NOT_INSTRUMENTED void
g_atomic_rc_box_release_full (gpointer box, GDestroyNotify clear)
{
  REAL (g_atomic_rc_box_release_full);
  __tsan_release (box);
  __tsan_acquire (box);
  real (box, clear);
}

/* A block is allocated before it is freed, in any thread. */
NOT_INSTRUMENTED gpointer
g_slice_alloc (gsize size)
{
  REAL (g_slice_alloc);
  gpointer block = real (size);

  __tsan_release (block);
  return block;
}

NOT_INSTRUMENTED void
g_slice_free1 (gsize size, gpointer block)
{
  REAL (g_slice_free1);
  __tsan_acquire (block);
  real (size, block);
}

/* Everything before the post is visible to the thread that takes the message off the
 * bus. */
NOT_INSTRUMENTED gboolean
gst_bus_post (GstBus *bus, GstMessage *message)
{
  REAL (gst_bus_post);
  __tsan_release (bus);
  return real (bus, message);
}

NOT_INSTRUMENTED GstMessage *
gst_bus_timed_pop_filtered (GstBus *bus, GstClockTime timeout, GstMessageType types)
{
  REAL (gst_bus_timed_pop_filtered);
  GstMessage *message = real (bus, timeout, types);

  __tsan_acquire (bus);
  return message;
}
#endif
