/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fileoutput: always O_APPEND, so that lines of other programs are not overwritten. */
#include "fileoutput.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fileclaim.h"
#include "fileerror.h"
#include "wholewrite.h"

#define COLLECT (64 * 1024)
#define CHECK_PATH (100 * G_TIME_SPAN_MILLISECOND)

struct _FileOutput
{
  gchar *path, *owner;
  FileFlush flush;
  int fd;             /* -1: the file was removed, and its path cannot be opened */
  FileClaim *claim;   /* keeps others from the file of `fd` */
  gboolean former;    /* the file has the lines of a former recording, which is to be replaced */
  GString *collected; /* lines that precede the next one in the file */
  gint64 checked;     /* monotonic time, in us, when the path was last checked */
};

static gboolean
open_file (FileOutput *self, gboolean append, GError **error)
{
  int fd = g_open (self->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
  FileClaim *claim;

  if (fd < 0)
    return file_error_set (error, errno);
  claim = file_claim_take (fd, append ? FILE_CLAIM_APPEND : FILE_CLAIM_REPLACE, self->owner, error);
  if (claim == NULL) {
    close (fd);
    return FALSE;
  }
  self->fd = fd;
  self->claim = claim;
  self->former = !append;
  return TRUE;
}

static gboolean
close_fd (int fd, FileClaim *claim, GError **error)
{
  file_claim_release (claim);
  return fd < 0 || close (fd) == 0 || errno == EINTR || file_error_set (error, errno);
}

static gboolean
remove_former (FileOutput *self, GError **error)
{
  if (self->former && !file_claim_empty (self->claim, self->fd, error))
    return FALSE;
  self->former = FALSE;
  return TRUE;
}

FileOutput *
file_output_open (const gchar *path, gboolean append, FileFlush flush, const gchar *owner,
    GError **error)
{
  FileOutput *self = g_new0 (FileOutput, 1);

  self->path = g_strdup (path);
  self->owner = g_strdup (owner);
  self->flush = flush;
  self->fd = -1;
  self->collected = g_string_new (NULL);
  if (open_file (self, append, error))
    return self;
  file_output_close (self, NULL);
  return NULL;
}

static gboolean
write_collected (FileOutput *self, GError **error)
{
  gboolean ok;
  gsize done;

  if (self->collected->len == 0)
    return TRUE;
  ok = whole_write_lines (self->fd, self->collected->str, self->collected->len, &done, error);
  g_string_erase (self->collected, 0, done);
  return ok;
}

/* Returns whether the path leads to the open file. Sets *removed to whether the file has no
 * name left. */
static gboolean
is_at_path (FileOutput *self, gboolean *removed)
{
  struct stat now, opened;

  *removed = self->fd < 0 || fstat (self->fd, &opened) < 0 || opened.st_nlink == 0;
  return !*removed && g_stat (self->path, &now) == 0 && now.st_dev == opened.st_dev
      && now.st_ino == opened.st_ino;
}

/* Opens the path again if it leads to another file than the open one. If that fails,
 * keeps the open file, unless it was removed. Checks the path only every CHECK_PATH, because
 * the system call takes 2 us and writing a line 45 us. */
static gboolean
follow_path (FileOutput *self, GError **error)
{
  gint64 time = g_get_monotonic_time ();
  GError *problem = NULL;
  FileClaim *claim = self->claim;
  int old = self->fd;
  gboolean removed;

  if (old >= 0 && time < self->checked + CHECK_PATH)
    return TRUE;
  self->checked = time;
  if (is_at_path (self, &removed))
    return TRUE;
  if (old >= 0)
    write_collected (self, NULL);
  if (open_file (self, TRUE, &problem)) {
    close_fd (old, claim, NULL);
  } else if (removed) {
    close_fd (old, claim, NULL);
    self->fd = -1;
    self->claim = NULL;
    self->former = FALSE;
    g_propagate_error (error, problem);
    return FALSE;
  }
  g_clear_error (&problem);
  return TRUE;
}

OutputResult
file_output_write (FileOutput *self, const gchar *line, gsize length, GError **error)
{
  gsize done;

  if (!follow_path (self, error) || !remove_former (self, error))
    return OUTPUT_FAILED;
  if (self->flush == FILE_FLUSH_BUFFER) {
    if (self->collected->len >= COLLECT && !write_collected (self, error))
      return OUTPUT_FAILED;
    g_string_append_len (self->collected, line, length);
    return OUTPUT_OK;
  }
  if (!whole_write_lines (self->fd, line, length, &done, error))
    return OUTPUT_FAILED;
  return file_output_flush (self, error) ? OUTPUT_OK : OUTPUT_FAILED;
}

gboolean
file_output_flush (FileOutput *self, GError **error)
{
  if ((self->former || self->collected->len > 0)
      && (!follow_path (self, error) || !remove_former (self, error)
          || !write_collected (self, error)))
    return FALSE;
  return self->flush != FILE_FLUSH_DISK || self->fd < 0 || fdatasync (self->fd) == 0
      || file_error_set (error, errno);
}

gboolean
file_output_close (FileOutput *self, GError **error)
{
  GError *problem = NULL;
  gboolean ok;

  ok = self->former || file_output_flush (self, &problem);
  close_fd (self->fd, self->claim, ok ? &problem : NULL);
  ok = problem == NULL;
  if (problem)
    g_propagate_error (error, problem);
  g_string_free (self->collected, TRUE);
  g_free (self->path);
  g_free (self->owner);
  g_free (self);
  return ok;
}

guint64
file_output_size (FileOutput *self)
{
  struct stat st;

  if (self->fd < 0 || self->former || fstat (self->fd, &st) < 0)
    return 0;
  return (guint64) st.st_size + self->collected->len;
}

const gchar *
file_output_path (FileOutput *self)
{
  return self->path;
}
