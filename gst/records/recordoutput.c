/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordoutput: plain write (2). A wait for a slow reader tries again after 0.1 ms and then after
 * twice the time up to 10 ms, because poll (2) tells only that a part of a line fits. */
#define _GNU_SOURCE /* memrchr (), F_GETPIPE_SZ */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "recordoutput.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fileclaim.h"
#include "fileerror.h"
#include "recordappend.h"

#define COLLECT (64 * 1024)
#define LARGEST_PIPE (1024 * 1024)
#define STALL GST_SECOND   /* the wait after which a warning is posted */
#define FIRST_WAIT 100     /* us */
#define LONGEST_WAIT 10000 /* us */

/* An open pipe, or standard output of any kind. All boxrecords of a process that write to one pipe
 * share it, so that the rest of a line precedes the next one. */
typedef struct
{
  guint users; /* under table_lock, like device and inode */
  dev_t device;
  ino_t inode;

  GMutex lock;
  int fd; /* -1 if it could not be opened again; this and all below are under `lock` */
  mode_t mode;
  gboolean nonblocking;
  gchar *fifo;      /* the path of a FIFO; NULL if not opened by a path */
  gboolean waiting; /* fd is open for reading too, because the FIFO has no reader yet */
  gsize unread;     /* bytes in the FIFO after the last write while `waiting` */
  gboolean broken;  /* the reader closed the pipe */
  GString *unsent;  /* the rest of a line that was begun */
} Pipe;

struct _RecordOutput
{
  GstElement *element; /* the owner of this struct */
  const RecordSettings *settings;
  gboolean warned; /* posted a warning about a line that could not be written */

  Pipe *pipe; /* NULL for a regular file */
  GMutex lock;
  GCond changed;     /* `flushing` changed */
  gboolean flushing; /* under `lock` */

  /* used for a regular file */
  int fd;
  FileClaim *claim;
  gboolean former;    /* it has the lines of a former recording, which is to be replaced */
  GString *collected; /* lines that precede the next one in the file */
};

/* the pipes that are open in this process */
static GMutex table_lock;
static GSList *table;

/* ------------------------------------------------------------------ regular files */

/* Removes the last `length` bytes before the position of the file, unless another
 * program has appended something after them. */
static gboolean
remove_behind (int fd, gsize length)
{
  off_t end = lseek (fd, 0, SEEK_CUR);
  struct stat st;

  return end >= (off_t) length && fstat (fd, &st) == 0 && st.st_size == end
      && ftruncate (fd, end - (off_t) length) == 0
      && lseek (fd, end - (off_t) length, SEEK_SET) >= 0;
}

/* Writes complete lines to a regular file. If not all can be written, truncates the file behind
 * the last complete line. Sets *done to the number of bytes that are in the file. */
static gboolean
write_whole (int fd, const gchar *text, gsize length, gsize *done, GError **error)
{
  const gchar *end;
  int number = 0;
  gsize whole;

  *done = 0;
  while (*done < length && number == 0) {
    gssize written = write (fd, text + *done, length - *done);

    if (written == 0 || (written < 0 && errno != EINTR))
      number = written == 0 ? ENOSPC : errno;
    *done += MAX (written, 0);
  }
  if (number == 0)
    return TRUE;
  end = memrchr (text, '\n', *done);
  whole = end ? (gsize) (end + 1 - text) : 0;
  if (whole < *done && remove_behind (fd, *done - whole))
    *done = whole;
  return file_error_set (error, number);
}

/* Always appends, so that lines of other programs are not overwritten. */
static gboolean
open_file (RecordOutput *self, GError **error)
{
  const FileUse use = self->settings->append ? FILE_CLAIM_APPEND : FILE_CLAIM_REPLACE;
  int fd = g_open (self->settings->location, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY,
      0666);
  FileClaim *claim;

  if (fd < 0)
    return file_error_set (error, errno);
  claim = file_claim_take (fd, use, GST_OBJECT_NAME (self->element), error);
  if (claim == NULL) {
    close (fd);
    return FALSE;
  }
  self->fd = fd;
  self->claim = claim;
  self->former = !self->settings->append;
  return TRUE;
}

/* Opens the location again if the file that is to be replaced was moved away from it meanwhile; if
 * that fails, keeps the open file. */
static void
leave_moved_file (RecordOutput *self)
{
  FileClaim *claim = self->claim;
  struct stat now, opened;
  int fd = self->fd;

  if (fstat (fd, &opened) < 0
      || (g_stat (self->settings->location, &now) == 0 && now.st_dev == opened.st_dev
          && now.st_ino == opened.st_ino)
      || !open_file (self, NULL))
    return;
  file_claim_release (claim);
  close (fd);
}

/* Empties a file that is to be replaced, before its first line. */
static gboolean
remove_former (RecordOutput *self, GError **error)
{
  if (self->former) {
    leave_moved_file (self);
    if (!file_claim_empty (self->claim, self->fd, error))
      return FALSE;
  }
  self->former = FALSE;
  return TRUE;
}

/* Writes the collected lines, of which those that could not be written are kept. */
static gboolean
write_collected (RecordOutput *self, GError **error)
{
  gboolean ok;
  gsize done;

  if (self->collected->len == 0)
    return TRUE;
  ok = write_whole (self->fd, self->collected->str, self->collected->len, &done, error);
  g_string_erase (self->collected, 0, done);
  return ok;
}

static gboolean
flush_file (RecordOutput *self, GError **error)
{
  if (!remove_former (self, error) || !write_collected (self, error))
    return FALSE;
  return self->settings->flush != RECORD_FLUSH_DISK || fdatasync (self->fd) == 0
      || file_error_set (error, errno);
}

static gboolean
write_to_file (RecordOutput *self, const GString *text, GError **error)
{
  gsize done;

  if (!remove_former (self, error))
    return FALSE;
  if (self->settings->flush == RECORD_FLUSH_BUFFER) {
    if (self->collected->len >= COLLECT && !write_collected (self, error))
      return FALSE;
    g_string_append_len (self->collected, text->str, (gssize) text->len);
    return TRUE;
  }
  if (!write_whole (self->fd, text->str, text->len, &done, error))
    return FALSE;
  return self->settings->flush != RECORD_FLUSH_DISK || flush_file (self, error);
}

/* Writes collected lines and closes the file. A former recording that nothing replaced stays. */
static gboolean
close_file (RecordOutput *self, GError **error)
{
  gboolean ok = self->former || flush_file (self, error);

  file_claim_release (self->claim);
  if (close (self->fd) < 0 && errno != EINTR && ok)
    ok = file_error_set (error, errno);
  return ok;
}

/* ------------------------------------------------------------------------ pipes */

/* Opens standard output a second time if it is a pipe, because O_NONBLOCK would apply to all of its
 * users; otherwise duplicates it. */
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

/* Returns the open pipe of this file with one more user, or NULL. */
static Pipe *
find_shared (const struct stat *st)
{
  GSList *item;

  for (item = table; item; item = item->next) {
    Pipe *self = item->data;

    if (self->device == st->st_dev && self->inode == st->st_ino) {
      self->users++;
      return self;
    }
  }
  return NULL;
}

static Pipe *
pipe_open (const gchar *location, GError **error)
{
  gboolean nonblocking = TRUE, waiting = FALSE;
  const gboolean is_stdout = strcmp (location, "-") == 0;
  int fd = is_stdout ? open_stdout (&nonblocking) : open_path (location, &waiting);
  struct stat st;
  Pipe *self;

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
    self = g_new0 (Pipe, 1);
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

/* Returns the number of bytes in the pipe. */
static gsize
pipe_unread (const Pipe *self)
{
  int unread = 0;

  return ioctl (self->fd, FIONREAD, &unread) == 0 ? (gsize) MAX (unread, 0) : 0;
}

static gsize
pipe_enlarge (const Pipe *self, gsize length, gsize capacity)
{
  int larger;

  if (capacity >= 4 * length || capacity >= LARGEST_PIPE)
    return capacity;
  larger = fcntl (self->fd, F_SETPIPE_SZ, (int) MIN (4 * length, LARGEST_PIPE));
  return larger > 0 ? (gsize) larger : capacity;
}

/* Returns whether a FIFO has room for a line. Linux tells how many bytes are in it, but it holds
 * pages: a write begins a new page if its first part does not fit into the last one, so two pages
 * in a row hold more bytes than one page, except for the first, which is being read. Therefore `n`
 * bytes occupy at most 2 n / page + 2 pages. */
static gboolean
pipe_has_room (const Pipe *self, gsize length)
{
  int size = fcntl (self->fd, F_GETPIPE_SZ);
  gsize page = (gsize) sysconf (_SC_PAGESIZE), capacity, unread;

  if (length <= PIPE_BUF || size <= 0)
    return TRUE;
  capacity = pipe_enlarge (self, length, (gsize) size);
  unread = pipe_unread (self);
  return length > capacity || unread == 0 || 2 * unread + length + 3 * page <= capacity;
}

/* Opens a FIFO again after its reader closed it. Closes it first, which empties it, because
 * the next reader must not begin in the middle of a line. */
static gboolean
pipe_reopen (Pipe *self, GError **error)
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
pipe_stop_waiting (Pipe *self)
{
  gboolean waiting;
  int fd;

  if (pipe_unread (self) >= self->unread)
    return;
  fd = open_path (self->fifo, &waiting);
  if (fd < 0)
    return;
  close (self->fd);
  self->fd = fd;
  self->waiting = waiting;
}

/* Writes and blocks SIGPIPE in this thread meanwhile, and discards it if this write raised it. To
 * ignore it would change how the whole application handles it. */
static gssize
write_quietly (int fd, const gchar *text, gsize length)
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

/* Writes without waiting what a pipe, socket or device takes of the text. */
static gssize
pipe_write_part (Pipe *self, const gchar *text, gsize length)
{
  struct pollfd writable = { .fd = self->fd, .events = POLLOUT };
  gssize sent;

  if (S_ISSOCK (self->mode)) {
    sent = send (self->fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    /* If the reader closed the socket with unread lines in it, the first call fails with this. */
    if (sent < 0 && errno == ECONNRESET)
      errno = EPIPE;
    return sent;
  }
  if (self->nonblocking)
    return write_quietly (self->fd, text, length);
  if (poll (&writable, 1, 0) == 0) {
    errno = EAGAIN;
    return -1;
  }
  return write_quietly (self->fd, text, MIN (length, PIPE_BUF));
}

/* Writes what the pipe takes. Sets *done to the number of bytes. Returns FALSE after an error. */
static gboolean
pipe_write (Pipe *self, const gchar *text, gsize length, gsize *done, GError **error)
{
  if (S_ISREG (self->mode))
    return write_whole (self->fd, text, length, done, error);
  *done = 0;
  while (*done < length) {
    gssize written = pipe_write_part (self, text + *done, length - *done);

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

/* Writes the rest of the line that was begun. Sets *full if it does not fit. */
static gboolean
pipe_write_unsent (Pipe *self, gboolean *full, GError **error)
{
  gsize done;
  gboolean ok = pipe_write (self, self->unsent->str, self->unsent->len, &done, error);

  g_string_erase (self->unsent, 0, (gssize) done);
  *full = ok && self->unsent->len > 0;
  return ok;
}

static gboolean
pipe_write_line (Pipe *self, const GString *line, gboolean *full, GError **error)
{
  gsize done;
  gboolean ok;

  if (S_ISFIFO (self->mode) && !pipe_has_room (self, line->len)) {
    *full = TRUE;
    return TRUE;
  }
  ok = pipe_write (self, line->str, line->len, &done, error);
  if (done > 0 && done < line->len)
    g_string_append_len (self->unsent, line->str + done, (gssize) (line->len - done));
  if (self->waiting)
    self->unread = pipe_unread (self);
  *full = ok && done == 0 && line->len > 0;
  return ok;
}

/* Writes a line, or with an empty one the rest of the line before, without waiting. Sets *full if
 * the pipe has no room, so that nothing of the line was written. */
static gboolean
pipe_try (Pipe *self, const GString *line, gboolean *full, GError **error)
{
  gboolean ok = TRUE;

  *full = FALSE;
  g_mutex_lock (&self->lock);
  if (self->broken && self->fifo)
    ok = pipe_reopen (self, error);
  if (ok && self->waiting)
    pipe_stop_waiting (self);
  if (ok && self->unsent->len > 0)
    ok = pipe_write_unsent (self, full, error);
  if (ok && !*full)
    ok = pipe_write_line (self, line, full, error);
  g_mutex_unlock (&self->lock);
  return ok;
}

/* Releases the pipe. The last user closes it. */
static gboolean
pipe_close (Pipe *self, GError **error)
{
  gboolean last, full = FALSE, ok = TRUE;

  g_mutex_lock (&table_lock);
  last = --self->users == 0;
  if (last)
    table = g_slist_remove (table, self);
  g_mutex_unlock (&table_lock);
  if (!last)
    return TRUE;
  if (self->unsent->len > 0 && !self->broken)
    pipe_write_unsent (self, &full, NULL);
  if (full) {
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

/* ---------------------------------------------------------- waiting for a reader */

void
record_output_set_flushing (RecordOutput *self, gboolean flushing)
{
  g_mutex_lock (&self->lock);
  self->flushing = flushing;
  g_cond_signal (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* Waits until `until`, in us of monotonic time. Returns FALSE if it was interrupted. */
static gboolean
wait_until (RecordOutput *self, gint64 until)
{
  gboolean flushing;

  g_mutex_lock (&self->lock);
  while (!self->flushing && g_cond_wait_until (&self->changed, &self->lock, until))
    ;
  flushing = self->flushing;
  g_mutex_unlock (&self->lock);
  return !flushing;
}

/* Writes a line to the pipe as soon as it has room. At the end of the stream the line is empty, and
 * the wait for the reader to take the rest of the last line ends after STALL. */
static OutputResult
write_to_pipe (RecordOutput *self, const GString *line, GError **error)
{
  gint64 now = g_get_monotonic_time (), stalled = now + (gint64) (STALL / GST_USECOND);
  gint64 wait = FIRST_WAIT;
  gboolean full;

  for (;;) {
    if (!wait_until (self, 0))
      return OUTPUT_FLUSHING;
    if (!pipe_try (self->pipe, line, &full, error))
      return OUTPUT_FAILED;
    if (!full || (line->len == 0 && now >= stalled))
      return OUTPUT_OK;
    if (now >= stalled) {
      GST_ELEMENT_WARNING (self->element, RESOURCE, WRITE,
          ("The reader of %s has not read for 1 s, so the stream waits for it; behind the pad "
           "boxes, \"queue leaky=downstream ! fdsink\" drops lines instead",
              self->settings->location),
          (NULL));
      stalled = G_MAXINT64;
    }
    if (!wait_until (self, MIN (stalled, now + wait)))
      return OUTPUT_FLUSHING;
    wait = MIN (2 * wait, LONGEST_WAIT);
    now = g_get_monotonic_time ();
  }
}

/* ---------------------------------------------------------- messages, the interface */

/* Returns whether the stream goes on after a failure. */
static gboolean
continues (RecordOutput *self)
{
  RecordOnError on_error;

  GST_OBJECT_LOCK (self->element);
  on_error = self->settings->on_error;
  GST_OBJECT_UNLOCK (self->element);
  return on_error == RECORD_ON_ERROR_CONTINUE;
}

/* Posts an error, or if the stream goes on a warning at the first call. Frees `error`. */
static OutputResult
post_failure (RecordOutput *self, GError *error)
{
  const gboolean warning = continues (self);
  gboolean full = g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOSPC);
  gboolean closed = g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_PIPE);
  gint code = full ? GST_RESOURCE_ERROR_NO_SPACE_LEFT : GST_RESOURCE_ERROR_WRITE;

  if (!warning || !self->warned)
    gst_element_message_full (self->element, warning ? GST_MESSAGE_WARNING : GST_MESSAGE_ERROR,
        GST_RESOURCE_ERROR, code,
        g_strdup_printf ("Cannot write to %s: %s%s%s%s", self->settings->location,
            closed ? "the reader closed the pipe (" : "", error->message, closed ? ")" : "",
            warning ? "; recording continues with the next frame that can be written" : ""),
        NULL, __FILE__, GST_FUNCTION, __LINE__);
  self->warned |= warning;
  g_error_free (error);
  return warning ? OUTPUT_DROPPED : OUTPUT_FAILED;
}

/* Prepares the open file to be continued after its last frame. */
static gboolean
continue_file (RecordOutput *self, guint64 *next_index)
{
  const gchar *path = self->settings->location;
  GError *error = NULL;
  guint64 removed;

  if (!record_append_prepare (path, self->settings->format, next_index, &removed, &error)) {
    GST_ELEMENT_ERROR (self->element, RESOURCE, SETTINGS,
        ("Cannot append to %s: %s", path, error->message), (NULL));
    g_error_free (error);
    return FALSE;
  }
  if (removed > 0)
    GST_ELEMENT_WARNING (self->element, RESOURCE, WRITE,
        ("Removed an unfinished line of %" G_GUINT64_FORMAT " bytes from the end of %s", removed,
            path),
        (NULL));
  return TRUE;
}

/* Returns whether the location is written as a regular file; one that does not exist yet is. */
static gboolean
is_file (const gchar *location)
{
  struct stat st;

  if (strcmp (location, "-") == 0)
    return FALSE;
  return g_stat (location, &st) < 0 || S_ISREG (st.st_mode) || S_ISDIR (st.st_mode);
}

static void
output_free (RecordOutput *self)
{
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_string_free (self->collected, TRUE);
  g_free (self);
}

RecordOutput *
record_output_open (GstElement *element, const RecordSettings *settings, guint64 *next_index)
{
  RecordOutput *self = g_new0 (RecordOutput, 1);
  const gboolean file = is_file (settings->location);
  GError *error = NULL;
  gboolean ok;

  self->element = element;
  self->settings = settings;
  self->fd = -1;
  self->collected = g_string_new (NULL);
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  *next_index = 0;
  if (!file)
    self->pipe = pipe_open (settings->location, &error);
  ok = file ? open_file (self, &error) : self->pipe != NULL;
  if (!ok) {
    GST_ELEMENT_ERROR (element, RESOURCE, OPEN_WRITE,
        ("Cannot open %s for writing: %s", settings->location, error->message), (NULL));
    g_error_free (error);
  } else if (file && settings->append) {
    ok = continue_file (self, next_index);
  }
  if (ok)
    return self;
  file_claim_release (self->claim);
  if (self->fd >= 0)
    close (self->fd);
  output_free (self);
  return NULL;
}

void
record_output_close (RecordOutput *self)
{
  GError *error = NULL;

  if (self == NULL)
    return;
  if (self->pipe ? !pipe_close (self->pipe, &error) : !close_file (self, &error)) {
    if (g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_AGAIN) || continues (self))
      GST_ELEMENT_WARNING (self->element, RESOURCE, CLOSE,
          ("The end of %s is missing: %s", self->settings->location, error->message), (NULL));
    else
      GST_ELEMENT_ERROR (self->element, RESOURCE, CLOSE,
          ("Cannot close %s, the recording may be incomplete: %s", self->settings->location,
              error->message),
          (NULL));
    g_error_free (error);
  }
  output_free (self);
}

OutputResult
record_output_write (RecordOutput *self, const GString *text)
{
  GError *error = NULL;
  OutputResult result;

  if (self->pipe)
    result = write_to_pipe (self, text, &error);
  else
    result = write_to_file (self, text, &error) ? OUTPUT_OK : OUTPUT_FAILED;
  return result == OUTPUT_FAILED ? post_failure (self, error) : result;
}

void
record_output_flush (RecordOutput *self)
{
  GString *nothing = g_string_new (NULL);
  GError *error = NULL;

  if (self->pipe ? write_to_pipe (self, nothing, &error) == OUTPUT_FAILED
                 : !flush_file (self, &error))
    post_failure (self, error);
  g_string_free (nothing, TRUE);
}
