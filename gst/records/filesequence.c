/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filesequence: compares size and time of the open file with the limits before each line. */
#include "filesequence.h"

#include <glib/gstdio.h>

#include "numberedfile.h"

struct _FileSequence
{
  FileOutput *output; /* NULL: the next file could not be opened */
  gchar *path;        /* of the open file, or of the next one */
  gboolean numbered;
  NumberedFile names;
  guint number;       /* of the open file, or of the next one */
  GstClockTime begin; /* running time of its first frame; GST_CLOCK_TIME_NONE: none yet */
  gchar *owner;
  FileSequenceSettings settings;
};

static gboolean
open_output (FileSequence *self, gboolean append, GError **error)
{
  self->output = file_output_open (self->path, append, self->settings.flush, self->owner, error);
  self->begin = GST_CLOCK_TIME_NONE;
  return self->output != NULL;
}

static void
sequence_free (FileSequence *self)
{
  numbered_file_clear (&self->names);
  g_free (self->path);
  g_free (self->owner);
  g_free (self);
}

FileSequence *
file_sequence_open (const FileSequenceSettings *settings, GError **error)
{
  FileSequence *self = g_new0 (FileSequence, 1);

  self->settings = *settings;
  self->settings.location = self->settings.owner = NULL; /* owned by the caller */
  self->owner = g_strdup (settings->owner);
  self->numbered = settings->max_size > 0 || settings->max_time > 0;
  if (!self->numbered) {
    self->path = g_strdup (settings->location);
  } else if (numbered_file_init (&self->names, settings->location, error)) {
    self->number = settings->append ? numbered_file_last (&self->names) : 0;
    self->path = numbered_file_path (&self->names, self->number);
  }
  if (self->path && open_output (self, settings->append, error))
    return self;
  sequence_free (self);
  return NULL;
}

gboolean
file_sequence_close (FileSequence *self, GError **error)
{
  gboolean ok = self->output == NULL || file_output_close (self->output, error);

  sequence_free (self);
  return ok;
}

/* Returns whether the line must be written to the next file, because of a limit. */
static gboolean
at_limit (FileSequence *self, gsize length, GstClockTime running_time)
{
  guint64 size = self->numbered ? file_output_size (self->output) : 0;

  if (size == 0)
    return FALSE;
  if (self->settings.max_size > 0 && size + length > self->settings.max_size)
    return TRUE;
  return self->settings.max_time > 0 && GST_CLOCK_TIME_IS_VALID (self->begin)
      && GST_CLOCK_TIME_IS_VALID (running_time)
      && running_time >= self->begin + self->settings.max_time;
}

/* Closes the file and removes the oldest one if there are more than max_files. */
static gboolean
finish_file (FileSequence *self, GError **error)
{
  gchar *old;

  if (!file_output_flush (self->output, error))
    return FALSE;
  file_output_close (g_steal_pointer (&self->output), NULL);
  self->number++;
  g_free (self->path);
  self->path = numbered_file_path (&self->names, self->number);
  if (self->settings.max_files > 0 && self->number >= self->settings.max_files) {
    old = numbered_file_path (&self->names, self->number - self->settings.max_files);
    g_remove (old);
    g_free (old);
  }
  return TRUE;
}

OutputResult
file_sequence_write (FileSequence *self, const gchar *line, gsize length, GstClockTime running_time,
    GError **error)
{
  OutputResult result;

  if (self->output && at_limit (self, length, running_time) && !finish_file (self, error))
    return OUTPUT_FAILED;
  if (self->output == NULL && !open_output (self, FALSE, error))
    return OUTPUT_FAILED;
  result = file_output_write (self->output, line, length, error);
  /* after a flushing seek, running time starts again at 0 */
  if (result == OUTPUT_OK && GST_CLOCK_TIME_IS_VALID (running_time)
      && (!GST_CLOCK_TIME_IS_VALID (self->begin) || running_time < self->begin))
    self->begin = running_time;
  return result;
}

gboolean
file_sequence_flush (FileSequence *self, GError **error)
{
  return self->output == NULL || file_output_flush (self->output, error);
}

const gchar *
file_sequence_path (FileSequence *self)
{
  return self->path;
}
