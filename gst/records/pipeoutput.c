/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pipeoutput: non-blocking writes to an open file of its own, because O_NONBLOCK would
 * apply to every user of standard output. Where that cannot be opened again, poll (2)
 * tells whether PIPE_BUF bytes can be written.
 */
#include "pipeoutput.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fileerror.h"
#include "piperoom.h"
#include "quietwrite.h"
#include "wholewrite.h"

struct _PipeOutput
{
  /* under table_lock */
  guint users;
  dev_t device;
  ino_t inode;

  GMutex lock;
  int fd; /* -1: could not be opened again; under `lock`, like all below */
  mode_t mode;
  gboolean nonblocking;
  gchar *fifo;      /* the path of a FIFO; NULL: not opened by a path */
  gboolean waiting; /* fd is open for reading too, because the FIFO has no reader yet */
  gsize unread;     /* bytes in the FIFO after the last write while `waiting` */
  gboolean broken;  /* the reader closed the pipe */
  GString *unsent;  /* the rest of a line that was begun */
};

/* the outputs that are open in this process */
static GMutex table_lock;
static GSList *table;

/* ------------------------------------------------------------------- opening */

/* Opens standard output a second time if it is a pipe, otherwise duplicates it. */
static int
open_stdout (gboolean *nonblocking)
{
  struct stat st;
  int fd = -1;

  if (fstat (STDOUT_FILENO, &st) == 0 && S_ISFIFO (st.st_mode))
    fd = open ("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  *nonblocking = fd >= 0;
  return fd >= 0 ? fd : fcntl (STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
}

/* Opens a path. A FIFO without a reader is opened for reading too, because it cannot
 * be opened for writing alone. */
static int
open_path (const gchar *path, gboolean *waiting)
{
  const int flags = O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
  int fd = g_open (path, O_WRONLY | flags, 0);
  struct stat st;

  *waiting = fd < 0 && errno == ENXIO && g_stat (path, &st) == 0 && S_ISFIFO (st.st_mode);
  return *waiting ? g_open (path, O_RDWR | flags, 0) : fd;
}

/* Returns the open output of this file with one more user, or NULL. */
static PipeOutput *
find_shared (const struct stat *st)
{
  GSList *item;

  for (item = table; item; item = item->next) {
    PipeOutput *output = item->data;

    if (output->device == st->st_dev && output->inode == st->st_ino) {
      output->users++;
      return output;
    }
  }
  return NULL;
}

PipeOutput *
pipe_output_open (const gchar *location, GError **error)
{
  gboolean nonblocking = TRUE, waiting = FALSE;
  gboolean is_stdout = strcmp (location, "-") == 0;
  int fd = is_stdout ? open_stdout (&nonblocking) : open_path (location, &waiting);
  PipeOutput *self;
  struct stat st;

  if (fd < 0 || fstat (fd, &st) < 0) {
    file_error_set (error, errno);
    if (fd >= 0)
      close (fd);
    return NULL;
  }
  g_mutex_lock (&table_lock);
  if ((self = find_shared (&st)) != NULL) {
    close (fd);
  } else {
    self = g_new0 (PipeOutput, 1);
    g_mutex_init (&self->lock);
    self->users = 1;
    self->device = st.st_dev;
    self->inode = st.st_ino;
    self->fd = fd;
    self->mode = st.st_mode;
    self->nonblocking = nonblocking;
    self->waiting = waiting;
    self->fifo = S_ISFIFO (st.st_mode) && !is_stdout ? g_strdup (location) : NULL;
    self->unsent = g_string_new (NULL);
    table = g_slist_prepend (table, self);
  }
  g_mutex_unlock (&table_lock);
  return self;
}

/* Opens a FIFO again after its reader closed it. Closes it first, which empties it, because
 * the next reader must not begin in the middle of a line. */
static gboolean
reopen (PipeOutput *self, GError **error)
{
  if (self->fd >= 0)
    close (self->fd);
  self->unread = 0;
  g_string_truncate (self->unsent, 0);
  self->fd = open_path (self->fifo, &self->waiting);
  self->broken = self->fd < 0;
  return !self->broken || file_error_set (error, errno);
}

/* Closes the reading side as soon as a reader has read something, so that writing fails
 * when that reader closes the FIFO. */
static void
stop_waiting (PipeOutput *self)
{
  gboolean waiting;
  int fd;

  if (pipe_room_unread (self->fd) >= self->unread)
    return;
  fd = open_path (self->fifo, &waiting);
  if (fd < 0)
    return;
  close (self->fd);
  self->fd = fd;
  self->waiting = waiting;
}

/* ------------------------------------------------------------------- writing */

/* Sends without waiting. After a reader closed the socket with lines unread, the first call fails
 * with ECONNRESET, which becomes EPIPE, as from a pipe. */
static gssize
send_part (int fd, const gchar *text, gsize length)
{
  gssize sent = send (fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL);

  if (sent < 0 && errno == ECONNRESET)
    errno = EPIPE;
  return sent;
}

static gssize
write_part (PipeOutput *self, const gchar *text, gsize length)
{
  struct pollfd writable = { .fd = self->fd, .events = POLLOUT };

  if (S_ISSOCK (self->mode))
    return send_part (self->fd, text, length);
  if (self->nonblocking)
    return quiet_write (self->fd, text, length);
  if (poll (&writable, 1, 0) == 0) {
    errno = EAGAIN;
    return -1;
  }
  return quiet_write (self->fd, text, MIN (length, PIPE_BUF));
}

/* Writes what the pipe takes. Sets *done to the number of bytes. Returns FALSE after an error. */
static gboolean
write_now (PipeOutput *self, const gchar *text, gsize length, gsize *done, GError **error)
{
  if (S_ISREG (self->mode))
    return whole_write_lines (self->fd, text, length, done, error);
  *done = 0;
  while (*done < length) {
    gssize written = write_part (self, text + *done, length - *done);

    if (written < 0 && errno == EAGAIN)
      break;
    if (written < 0 && errno != EINTR) {
      self->broken = errno == EPIPE;
      return file_error_set (error, errno);
    }
    *done += MAX (written, 0);
  }
  return TRUE;
}

static OutputResult
write_unsent (PipeOutput *self, GError **error)
{
  gsize done;
  gboolean ok = write_now (self, self->unsent->str, self->unsent->len, &done, error);

  g_string_erase (self->unsent, 0, done);
  return !ok ? OUTPUT_FAILED : self->unsent->len > 0 ? OUTPUT_FULL : OUTPUT_OK;
}

static OutputResult
write_line (PipeOutput *self, const gchar *line, gsize length, GError **error)
{
  gsize done;
  gboolean ok;

  if (S_ISFIFO (self->mode) && !pipe_room_for (self->fd, length))
    return OUTPUT_FULL;
  ok = write_now (self, line, length, &done, error);
  if (done > 0 && done < length)
    g_string_append_len (self->unsent, line + done, length - done);
  if (self->waiting)
    self->unread = pipe_room_unread (self->fd);
  return !ok ? OUTPUT_FAILED : done > 0 || length == 0 ? OUTPUT_OK : OUTPUT_FULL;
}

OutputResult
pipe_output_try (PipeOutput *self, const gchar *line, gsize length, GError **error)
{
  OutputResult result = OUTPUT_OK;

  g_mutex_lock (&self->lock);
  if (self->broken && self->fifo && !reopen (self, error))
    result = OUTPUT_FAILED;
  if (result == OUTPUT_OK && self->waiting)
    stop_waiting (self);
  if (result == OUTPUT_OK && self->unsent->len > 0)
    result = write_unsent (self, error);
  if (result == OUTPUT_OK)
    result = write_line (self, line, length, error);
  g_mutex_unlock (&self->lock);
  return result;
}

/* ------------------------------------------------------------------- closing */

gboolean
pipe_output_close (PipeOutput *self, GError **error)
{
  gboolean last, ok = TRUE;

  g_mutex_lock (&table_lock);
  last = --self->users == 0;
  if (last)
    table = g_slist_remove (table, self);
  g_mutex_unlock (&table_lock);
  if (!last)
    return TRUE;
  if (self->unsent->len > 0 && !self->broken && write_unsent (self, NULL) == OUTPUT_FULL) {
    g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_AGAIN,
        "the reader left a part of the last line");
    ok = FALSE;
  }
  if (self->fd >= 0 && close (self->fd) < 0 && errno != EINTR && ok)
    ok = file_error_set (error, errno);
  g_string_free (self->unsent, TRUE);
  g_mutex_clear (&self->lock);
  g_free (self->fifo);
  g_free (self);
  return ok;
}
