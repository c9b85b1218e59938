/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* quietwrite: blocks SIGPIPE in this thread during the write, and discards it if this write
 * raised it. To ignore it would change how the whole application handles it. */
#include "quietwrite.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

gssize
quiet_write (int fd, const gchar *text, gsize length)
{
  static const struct timespec at_once = { 0, 0 };
  sigset_t pipe_only, before, pending;
  gboolean was_pending;
  gssize written;
  int saved;

  sigemptyset (&pipe_only);
  sigaddset (&pipe_only, SIGPIPE);
  sigpending (&pending);
  was_pending = sigismember (&pending, SIGPIPE) == 1;
  pthread_sigmask (SIG_BLOCK, &pipe_only, &before);
  written = write (fd, text, length);
  saved = errno;
  if (written < 0 && saved == EPIPE && !was_pending)
    while (sigtimedwait (&pipe_only, NULL, &at_once) < 0 && errno == EINTR)
      ;
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  errno = saved;
  return written;
}
