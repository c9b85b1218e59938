/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * linewriter: plain write (2) without a buffer. To a file that may block (pipe,
 * terminal, socket) it writes at most PIPE_BUF bytes at a time, which poll
 * guarantees to be accepted without waiting, so that an interruption takes effect
 * at once. O_NONBLOCK is not usable because it would also apply to every other user
 * of standard output.
 */
#include "linewriter.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIFO_RETRY (50 * GST_MSECOND)

struct _LineWriter
{
  int fd;                       /* -1 while a FIFO has no reader */
  gchar *fifo;                  /* the path of the FIFO while fd is -1 */
  GstPoll *poll;                /* NULL for a regular file, which never blocks */
  GstPollFD poll_fd;
  GString *unsent;              /* text to write first: the rest of an interrupted line */
};

static void
set_errno_error (GError ** error, int number)
{
  g_set_error_literal (error, G_FILE_ERROR, g_file_error_from_errno (number),
      g_strerror (number));
}

static void
watch (LineWriter * self, int fd)
{
  self->fd = fd;
  gst_poll_fd_init (&self->poll_fd);
  self->poll_fd.fd = fd;
  gst_poll_add_fd (self->poll, &self->poll_fd);
  gst_poll_fd_ctl_write (self->poll, &self->poll_fd, TRUE);
}

LineWriter *
line_writer_new (const gchar * location, gboolean append, GError ** error)
{
  int flags = O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
  gboolean fifo = FALSE;
  LineWriter *self;
  struct stat st;
  int fd;

  if (strcmp (location, "-") == 0) {
    fd = fcntl (STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  } else {
    fd = g_open (location, flags | (append ? O_APPEND : O_TRUNC), 0666);
    fifo = fd < 0 && errno == ENXIO && g_stat (location, &st) == 0 && S_ISFIFO (st.st_mode);
    errno = fifo ? 0 : fd < 0 ? errno : 0;
  }
  if (!fifo && (fd < 0 || fstat (fd, &st) < 0)) {
    set_errno_error (error, errno);
    if (fd >= 0)
      close (fd);
    return NULL;
  }
  self = g_new0 (LineWriter, 1);
  self->fd = fd;
  self->unsent = g_string_new (NULL);
  if (!S_ISREG (st.st_mode)) {
    self->poll = gst_poll_new (TRUE);
    if (fifo)
      self->fifo = g_strdup (location);
    else
      watch (self, fd);
  }
  return self;
}

gboolean
line_writer_free (LineWriter * self, GError ** error)
{
  gboolean ok = TRUE;

  if (self == NULL)
    return TRUE;
  if (self->poll)
    gst_poll_free (self->poll);
  if (self->fd >= 0 && close (self->fd) < 0 && errno != EINTR) {
    set_errno_error (error, errno);
    ok = FALSE;
  }
  g_string_free (self->unsent, TRUE);
  g_free (self->fifo);
  g_free (self);
  return ok;
}

void
line_writer_set_flushing (LineWriter * self, gboolean flushing)
{
  if (self->poll)
    gst_poll_set_flushing (self->poll, flushing);
}

/* Calls write (2) without raising SIGPIPE: blocks the signal in this thread
 * meanwhile, and discards it if this write raised it. */
static gssize
quiet_write (int fd, const gchar * text, gsize length)
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
    while (sigtimedwait (&pipe_only, NULL, &at_once) < 0 && errno == EINTR);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  errno = saved;
  return written;
}

/* Waits until the file accepts data. A FIFO is opened here, once it has a reader. */
static LineWriterResult
wait_until_writable (LineWriter * self, GError ** error)
{
  while (self->poll) {
    gint ready = gst_poll_wait (self->poll, self->fd < 0 ? FIFO_RETRY : GST_CLOCK_TIME_NONE);

    if (ready < 0 && errno == EBUSY)
      return LINE_WRITER_FLUSHING;
    if (ready < 0 && errno != EINTR && errno != EAGAIN)
      goto failed;
    if (ready > 0)
      break;
    if (self->fd < 0) {
      int fd = g_open (self->fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0);

      if (fd >= 0)
        watch (self, fd);
      else if (errno != ENXIO && errno != EINTR)
        goto failed;
    }
  }
  return LINE_WRITER_OK;

failed:
  set_errno_error (error, errno);
  return LINE_WRITER_FAILED;
}

/* Writes until all bytes are written or the writer is interrupted. Sets *done to
 * the number of bytes written. */
static LineWriterResult
write_some (LineWriter * self, const gchar * text, gsize length, gsize * done, GError ** error)
{
  *done = 0;
  while (*done < length) {
    gsize step = self->poll ? MIN (length - *done, PIPE_BUF) : length - *done;
    LineWriterResult result = wait_until_writable (self, error);
    gssize written;

    if (result != LINE_WRITER_OK)
      return result;
    written = quiet_write (self->fd, text + *done, step);
    if (written < 0 && errno != EINTR && errno != EAGAIN) {
      set_errno_error (error, errno);
      return LINE_WRITER_FAILED;
    }
    *done += MAX (written, 0);
  }
  return LINE_WRITER_OK;
}

LineWriterResult
line_writer_write (LineWriter * self, const gchar * text, gsize length, GError ** error)
{
  LineWriterResult result;
  gsize done;

  if (self->unsent->len > 0) {
    result = write_some (self, self->unsent->str, self->unsent->len, &done, error);
    g_string_erase (self->unsent, 0, done);
    if (result != LINE_WRITER_OK)
      return result;
  }
  result = write_some (self, text, length, &done, error);
  /* finish an incomplete line before the next one, so that both are valid */
  if (result == LINE_WRITER_FLUSHING && done > 0)
    g_string_append_len (self->unsent, text + done, length - done);
  return result;
}
