/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * linereader: plain read (2) into one buffer, which holds the current line and the
 * text read beyond it. The buffer grows by half its size, up to max_line, so a recording
 * of any length needs constant memory. GIOChannel and GDataInputStream do not fit
 * because they cannot refuse a line before it is complete.
 */
#include "linereader.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fileclaim.h"
#include "fileerror.h"

#define CHUNK 65536
#define FOLLOW_INTERVAL (50 * GST_MSECOND)
#define STALL GST_SECOND /* length of a wait at which `waiting` is called */

struct _LineReader
{
  gchar *location; /* NULL for standard input */
  int fd;
  gboolean seekable;
  FileClaim *claim; /* NULL if the file is not claimed */
  gsize max_line;
  gint flushing; /* boolean, accessed atomically */
  GstPoll *poll; /* NULL for a regular file, which never blocks */
  gboolean follow;
  gboolean replaced; /* another file is at the location, but this one may have more lines */
  GstPoll *pause;    /* for waiting at the end of the file, where a pipe is always readable */
  void (*waiting) (gpointer data);
  gpointer waiting_data;
  gint64 deadline;     /* monotonic time in us; 0 if not set */
  gboolean late;       /* the deadline ended the last call */
  GstClockTime waited; /* ns without data; GST_CLOCK_TIME_NONE after `waiting` */

  gchar *buffer;
  gsize size;       /* bytes of `buffer` without the one for a NUL */
  gsize start, end; /* the text read and not returned yet */
  gsize scanned;    /* the part of the text that was searched for a newline ends here */
  gboolean is_cut;  /* the line returned last was terminated by a NUL at `cut` */
  gsize cut;
  gchar cut_off;       /* the byte that the NUL replaced */
  guint64 base;        /* position of the start of the file; see line_reader_base () */
  off_t origin;        /* offset where reading began: standard input may have been read before */
  guint64 end_offset;  /* position of `end` */
  guint64 line_offset; /* position of the line returned last */
  gboolean eof;
  gboolean unfinished; /* the line returned last has no end */
  gboolean discarding; /* inside a line that is too long, and skipping its rest */
  gboolean counted;    /* `number` is known */
  guint64 number;
};

LineReader *
line_reader_new (const gchar *location, gsize max_line, const gchar *owner, GError **error)
{
  FileClaim *claim = NULL;
  GstPollFD poll_fd;
  LineReader *self;
  struct stat st;
  gboolean opened;
  int fd;

  /* with O_NONBLOCK, opening a FIFO does not wait for a writer */
  if (strcmp (location, "-") == 0)
    fd = fcntl (STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  else
    fd = g_open (location, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
  opened = fd >= 0 && fstat (fd, &st) == 0;
  if (!opened || S_ISDIR (st.st_mode))
    file_error_set (error, opened ? EISDIR : errno);
  else if (owner)
    claim = file_claim_take (fd, FILE_CLAIM_READ, owner, error);
  if (!opened || S_ISDIR (st.st_mode) || (owner && claim == NULL)) {
    if (fd >= 0)
      close (fd);
    return NULL;
  }
  self = g_new0 (LineReader, 1);
  self->location = strcmp (location, "-") == 0 ? NULL : g_strdup (location);
  self->fd = fd;
  self->claim = claim;
  self->counted = TRUE;
  self->seekable = S_ISREG (st.st_mode) || S_ISBLK (st.st_mode);
  self->origin = self->seekable ? MAX (lseek (fd, 0, SEEK_CUR), 0) : 0;
  self->max_line = max_line;
  self->pause = gst_poll_new (TRUE);
  if (!S_ISREG (st.st_mode)) {
    self->poll = gst_poll_new (TRUE);
    gst_poll_fd_init (&poll_fd);
    poll_fd.fd = fd;
    gst_poll_add_fd (self->poll, &poll_fd);
    gst_poll_fd_ctl_read (self->poll, &poll_fd, TRUE);
  }
  return self;
}

LineReader *
line_reader_new_text (gchar *text, gsize length, guint64 line)
{
  LineReader *self = g_new0 (LineReader, 1);

  self->fd = -1;
  self->max_line = G_MAXSIZE;
  self->buffer = text;
  self->size = self->end = self->end_offset = length;
  self->eof = self->counted = TRUE;
  self->number = line;
  return self;
}

void
line_reader_free (LineReader *self)
{
  if (self == NULL)
    return;
  if (self->poll)
    gst_poll_free (self->poll);
  if (self->pause)
    gst_poll_free (self->pause);
  file_claim_release (self->claim);
  if (self->fd >= 0)
    close (self->fd);
  g_free (self->location);
  g_free (self->buffer);
  g_free (self);
}

void
line_reader_set_flushing (LineReader *self, gboolean flushing)
{
  g_atomic_int_set (&self->flushing, flushing);
  if (self->poll)
    gst_poll_set_flushing (self->poll, flushing);
  gst_poll_set_flushing (self->pause, flushing);
}

void
line_reader_set_follow (LineReader *self, gboolean follow)
{
  self->follow = follow;
}

gboolean
line_reader_may_wait (LineReader *self)
{
  return !self->seekable || self->follow;
}

void
line_reader_set_waiting (LineReader *self, void (*waiting) (gpointer), gpointer data)
{
  self->waiting = waiting;
  self->waiting_data = data;
}

gboolean
line_reader_is_unfinished (LineReader *self)
{
  return self->unfinished;
}

/* Makes space for CHUNK more bytes behind `end`. */
static void
reserve_chunk (LineReader *self)
{
  gsize used = self->end - self->start;

  if (self->start > 0) {
    memmove (self->buffer, self->buffer + self->start, used);
    self->scanned -= self->start;
    self->start = 0;
    self->end = used;
  }
  if (self->size - self->end < CHUNK) {
    gsize size = MAX (self->size, CHUNK);

    /* The size is not doubled, because a line of 2 GiB would overflow it on 32-bit processors. */
    while (size - self->end < CHUNK)
      size += size / 2;
    self->buffer = g_realloc (self->buffer, size + 1);
    self->size = size;
  }
}

/* Returns the longest time, in ns, to wait from now on, at most `most`. */
static GstClockTime
time_to_wait (LineReader *self, GstClockTime most)
{
  gint64 rest = self->deadline - g_get_monotonic_time ();

  return self->deadline == 0 ? most : MIN (most, (GstClockTime) MAX (rest, 0) * GST_USECOND);
}

/* Returns whether the deadline has passed, and sets `late` then. */
static gboolean
check_late (LineReader *self)
{
  self->late = self->deadline != 0 && g_get_monotonic_time () >= self->deadline;
  return self->late;
}

/* Adds to the time waited, and calls `waiting` when it reaches STALL. */
static void
add_wait (LineReader *self, GstClockTime time)
{
  if (!GST_CLOCK_TIME_IS_VALID (self->waited) || self->deadline != 0)
    return;
  self->waited += time;
  if (self->waited < STALL)
    return;
  self->waited = GST_CLOCK_TIME_NONE;
  if (self->waiting)
    self->waiting (self->waiting_data);
}

/* Waits until there is something to read. Returns LINE_READER_LINE then. */
static LineReaderResult
wait_for_data (LineReader *self, GError **error)
{
  for (;;) {
    GstClockTime limit = GST_CLOCK_TIME_IS_VALID (self->waited) ? STALL : GST_CLOCK_TIME_NONE;
    gint ready = gst_poll_wait (self->poll, time_to_wait (self, limit));

    if (ready > 0)
      return LINE_READER_LINE;
    if (ready == 0) {
      if (check_late (self))
        return LINE_READER_FLUSHING;
      add_wait (self, STALL);
    } else if (errno == EBUSY) {
      return LINE_READER_FLUSHING;
    } else if (errno != EINTR && errno != EAGAIN) {
      file_error_set (error, errno);
      return LINE_READER_FAILED;
    }
  }
}

/* Prepares reading from the start of a new file. Forgets an unfinished line of the file before. */
static void
begin_file (LineReader *self)
{
  self->base = self->end_offset;
  self->origin = 0;
  self->start = self->end = self->scanned = 0;
  self->number = 0;
  self->counted = TRUE;
  self->discarding = self->replaced = FALSE;
}

/* Returns whether another file, which has lines already, is at the location. By then the writer has
 * written its last line to the open file. */
static gboolean
is_replaced (LineReader *self, const struct stat *opened)
{
  struct stat now;

  return self->location && g_stat (self->location, &now) == 0 && S_ISREG (now.st_mode)
      && now.st_size > 0 && (now.st_dev != opened->st_dev || now.st_ino != opened->st_ino);
}

/* Opens the location again; keeps the open file if there is none at the moment. */
static LineReaderResult
open_again (LineReader *self, GError **error)
{
  int fd = g_open (self->location, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
  FileClaim *claim = NULL;

  self->replaced = FALSE;
  if (fd < 0 && errno == ENOENT)
    return LINE_READER_LINE;
  if (fd < 0)
    file_error_set (error, errno);
  else if (self->claim)
    claim = file_claim_take (fd, FILE_CLAIM_READ, file_claim_owner (self->claim), error);
  if (fd < 0 || (self->claim && claim == NULL)) {
    if (fd >= 0)
      close (fd);
    return LINE_READER_FAILED;
  }
  file_claim_release (self->claim);
  close (self->fd);
  self->claim = claim;
  self->fd = fd;
  begin_file (self);
  return LINE_READER_LINE;
}

/* Waits at the end of a file that is followed. Returns LINE_READER_LINE afterwards. */
static LineReaderResult
wait_for_more (LineReader *self, GError **error)
{
  struct stat st;

  if (self->replaced)
    return open_again (self, error);
  if (fstat (self->fd, &st) == 0 && S_ISREG (st.st_mode)) {
    self->replaced = is_replaced (self, &st);
    if (self->replaced)
      return LINE_READER_LINE;
    if ((guint64) st.st_size < (guint64) self->origin + self->end_offset - self->base
        && lseek (self->fd, 0, SEEK_SET) == 0)
      begin_file (self);
  }
  if (check_late (self)
      || (gst_poll_wait (self->pause, time_to_wait (self, FOLLOW_INTERVAL)) < 0 && errno == EBUSY))
    return LINE_READER_FLUSHING;
  add_wait (self, FOLLOW_INTERVAL);
  return LINE_READER_LINE;
}

/* Reads once. Returns LINE_READER_LINE after a success or the end of the file. */
static LineReaderResult
fill (LineReader *self, GError **error)
{
  gssize got;

  reserve_chunk (self);
  do {
    LineReaderResult result = LINE_READER_LINE;

    if (g_atomic_int_get (&self->flushing))
      return LINE_READER_FLUSHING;
    if (self->poll)
      result = wait_for_data (self, error);
    if (result != LINE_READER_LINE)
      return result;
    got = read (self->fd, self->buffer + self->end, CHUNK);
  } while (got < 0 && (errno == EINTR || errno == EAGAIN));
  if (got < 0) {
    file_error_set (error, errno);
    return LINE_READER_FAILED;
  }
  self->end += got;
  self->end_offset += got;
  if (got > 0)
    self->waited = 0;
  if (got == 0 && self->follow)
    return wait_for_more (self, error);
  self->eof = got == 0;
  return LINE_READER_LINE;
}

/* Returns the line that ends at `scanned`; the next one begins at `past_end`. */
static LineReaderResult
take_line (LineReader *self, gsize past_end, gchar **line, gsize *length)
{
  *line = self->buffer + self->start;
  *length = self->scanned - self->start;
  self->line_offset = self->end_offset - (self->end - self->start);
  self->scanned = self->start = past_end;
  self->number++;
  if (*length > self->max_line)
    return LINE_READER_TOO_LONG;
  if (*length > 0 && (*line)[*length - 1] == '\r')
    (*length)--;
  if (self->line_offset == self->base && *length >= 3 && memcmp (*line, "\xef\xbb\xbf", 3) == 0) {
    *line += 3;
    *length -= 3;
  }
  self->is_cut = TRUE;
  self->cut = (gsize) (*line - self->buffer) + *length;
  self->cut_off = self->buffer[self->cut];
  self->buffer[self->cut] = '\0';
  return LINE_READER_LINE;
}

/* Restores the byte after the line returned last, because line_reader_seek () may go back there. */
static void
restore_cut (LineReader *self)
{
  if (self->is_cut)
    self->buffer[self->cut] = self->cut_off;
  self->is_cut = FALSE;
}

void
line_reader_set_deadline (LineReader *self, gint64 deadline)
{
  self->deadline = deadline;
}

gboolean
line_reader_is_late (LineReader *self)
{
  return self->late;
}

LineReaderResult
line_reader_next (LineReader *self, gchar **line, gsize *length, GError **error)
{
  self->late = FALSE;
  restore_cut (self);
  for (;;) {
    gchar *end_of_line = NULL;
    LineReaderResult result;

    if (self->scanned < self->end)
      end_of_line = memchr (self->buffer + self->scanned, '\n', self->end - self->scanned);
    self->scanned = end_of_line ? (gsize) (end_of_line - self->buffer) : self->end;

    if (self->discarding) {
      /* this line was reported already; skip its rest */
      self->start = self->scanned += end_of_line != NULL;
      self->discarding = end_of_line == NULL;
      if (end_of_line)
        continue;
    } else if (end_of_line || (self->eof && self->end > self->start)) {
      self->unfinished = end_of_line == NULL;
      return take_line (self, self->scanned + (end_of_line != NULL), line, length);
    } else if (self->end - self->start > self->max_line) {
      /* refuse the line before its end, because that may never come */
      self->line_offset = self->end_offset - (self->end - self->start);
      self->discarding = TRUE;
      self->number++;
      return LINE_READER_TOO_LONG;
    }
    if (self->eof)
      return LINE_READER_EOF;
    if ((result = fill (self, error)) != LINE_READER_LINE)
      return result;
  }
}

/* Returns the number of the line that begins at `offset`, from 1. */
static guint64
count_to (LineReader *self, guint64 offset)
{
  guint64 number = 1, at = self->base;
  gchar *block = g_malloc (CHUNK);
  gssize got = 1;

  while (at < offset && got > 0) {
    got = pread (self->fd, block, MIN (CHUNK, offset - at),
        self->origin + (off_t) (at - self->base));
    for (gssize i = 0; i < got; i++)
      number += block[i] == '\n';
    at += (guint64) MAX (got, 0);
  }
  g_free (block);
  return number;
}

guint64
line_reader_number (LineReader *self)
{
  return self->counted ? self->number : 0;
}

guint64
line_reader_count (LineReader *self)
{
  if (!self->counted)
    self->number = count_to (self, self->line_offset);
  self->counted = TRUE;
  return self->number;
}

guint64
line_reader_offset (LineReader *self)
{
  return self->line_offset;
}

guint64
line_reader_base (LineReader *self)
{
  return self->base;
}

gboolean
line_reader_can_rewind (LineReader *self)
{
  return self->seekable;
}

gboolean
line_reader_seek (LineReader *self, guint64 offset, GError **error)
{
  const guint64 buffered = self->end_offset - self->end; /* position of the start of the buffer */

  if (!self->seekable)
    return file_error_set (error, ESPIPE);
  restore_cut (self);
  if (offset >= buffered && offset <= self->end_offset) {
    self->start = self->scanned = (gsize) (offset - buffered);
  } else if (lseek (self->fd, self->origin + (off_t) (offset - self->base), SEEK_SET) < 0) {
    return file_error_set (error, errno);
  } else {
    self->start = self->end = self->scanned = 0;
    self->end_offset = offset;
  }
  self->eof = self->discarding = FALSE;
  self->number = 0;
  self->counted = offset == self->base;
  return TRUE;
}
