/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * linewriter: tries again while a pipe has no room, after 0.1 ms and then after twice
 * the time up to 10 ms, because poll (2) tells only that a part of a line fits.
 */
#include "linewriter.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "pipeoutput.h"

#define FIRST_WAIT 100     /* us */
#define LONGEST_WAIT 10000 /* us */

struct _LineWriter
{
  PipeOutput *pipe;    /* NULL: a file */
  FileSequence *files; /* NULL: a pipe */
  GMutex lock;
  GCond changed;     /* `flushing` changed */
  gboolean flushing; /* under `lock` */
};

/* Returns whether the location is written as a regular file; one that does not exist yet is. */
static gboolean
is_file (const gchar *location)
{
  struct stat st;

  if (strcmp (location, "-") == 0)
    return FALSE;
  return g_stat (location, &st) < 0 || S_ISREG (st.st_mode) || S_ISDIR (st.st_mode);
}

LineWriter *
line_writer_new (const FileSequenceSettings *settings, GError **error)
{
  LineWriter *self = g_new0 (LineWriter, 1);

  if (is_file (settings->location))
    self->files = file_sequence_open (settings, error);
  else
    self->pipe = pipe_output_open (settings->location, error);
  if (self->files == NULL && self->pipe == NULL) {
    g_free (self);
    return NULL;
  }
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  return self;
}

gboolean
line_writer_free (LineWriter *self, GError **error)
{
  gboolean ok;

  if (self == NULL)
    return TRUE;
  if (self->files)
    ok = file_sequence_close (self->files, error);
  else
    ok = pipe_output_close (self->pipe, error);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_free (self);
  return ok;
}

void
line_writer_set_flushing (LineWriter *self, gboolean flushing)
{
  g_mutex_lock (&self->lock);
  self->flushing = flushing;
  g_cond_signal (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* Waits until `until`, in us of monotonic time, or until it is interrupted. */
static void
wait_until (LineWriter *self, gint64 until)
{
  g_mutex_lock (&self->lock);
  while (!self->flushing && g_cond_wait_until (&self->changed, &self->lock, until))
    ;
  g_mutex_unlock (&self->lock);
}

static gboolean
is_flushing (LineWriter *self)
{
  gboolean flushing;

  g_mutex_lock (&self->lock);
  flushing = self->flushing;
  g_mutex_unlock (&self->lock);
  return flushing;
}

static OutputResult
write_to_pipe (LineWriter *self, const gchar *line, gsize length, GstClockTime timeout,
    GError **error)
{
  gint64 now = g_get_monotonic_time (), deadline = G_MAXINT64, wait = FIRST_WAIT;

  if (GST_CLOCK_TIME_IS_VALID (timeout))
    deadline = now + (gint64) (timeout / GST_USECOND);
  while (!is_flushing (self)) {
    OutputResult result = pipe_output_try (self->pipe, line, length, error);

    if (result != OUTPUT_FULL || now >= deadline)
      return result;
    wait_until (self, MIN (deadline, now + wait));
    wait = MIN (2 * wait, LONGEST_WAIT);
    now = g_get_monotonic_time ();
  }
  return OUTPUT_FLUSHING;
}

OutputResult
line_writer_write (LineWriter *self, const gchar *line, gsize length, GstClockTime running_time,
    GstClockTime timeout, GError **error)
{
  if (self->files)
    return file_sequence_write (self->files, line, length, running_time, error);
  return write_to_pipe (self, line, length, timeout, error);
}

gboolean
line_writer_flush (LineWriter *self, GstClockTime timeout, GError **error)
{
  if (self->files)
    return file_sequence_flush (self->files, error);
  return write_to_pipe (self, "", 0, timeout, error) != OUTPUT_FAILED;
}

const gchar *
line_writer_path (LineWriter *self)
{
  return self->files ? file_sequence_path (self->files) : NULL;
}
