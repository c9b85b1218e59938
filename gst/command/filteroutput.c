/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filteroutput: writes with write(2), because blocks are large already. */
#include "filteroutput.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "records/fileclaim.h"
#include "records/fileerror.h"

#define CHECKPOINT_INTERVAL G_USEC_PER_SEC

struct _FilterOutput
{
  gint fd;
  FileClaim *claim;
  gchar *checkpoint; /* its file, or NULL */
  gchar *run;
  TextFormat format;
  guint64 written;
  gint64 saved; /* time of the last checkpoint */
};

/* Cuts the file to the length that the checkpoint describes. */
static gboolean
continue_file (FilterOutput *self, Checkpoint *from, GError **error)
{
  struct stat info;

  if (fstat (self->fd, &info) < 0)
    return file_error_set (error, errno);
  if ((guint64) info.st_size < from->output) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        "the file is shorter than its checkpoint says");
    return FALSE;
  }
  if (ftruncate (self->fd, (off_t) from->output) < 0
      || lseek (self->fd, (off_t) from->output, SEEK_SET) < 0)
    return file_error_set (error, errno);
  self->written = from->output;
  return TRUE;
}

static gboolean
save (FilterOutput *self, const Checkpoint *reached, GError **error)
{
  Checkpoint checkpoint = *reached;

  checkpoint.output = self->written;
  if (fdatasync (self->fd) < 0)
    return file_error_set (error, errno);
  if (!checkpoint_save (self->checkpoint, self->run, &checkpoint, error))
    return FALSE;
  self->saved = g_get_monotonic_time ();
  return TRUE;
}

/* Sets up the resumption of a run. */
static gboolean
resume_run (FilterOutput *self, Checkpoint *from, GError **error)
{
  GError *reason = NULL;
  struct stat info;

  if (self->checkpoint == NULL) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        "only a run from a file to a file can be resumed");
    return FALSE;
  }
  if (checkpoint_load (self->checkpoint, self->run, from, &reason))
    return continue_file (self, from, error);
  if (g_error_matches (reason, G_FILE_ERROR, G_FILE_ERROR_NOENT) && fstat (self->fd, &info) == 0
      && info.st_size == 0) {
    g_error_free (reason);
    return save (self, from, error);
  }
  g_propagate_prefixed_error (error, reason, "%s: ", self->checkpoint);
  return FALSE;
}

static gboolean
is_regular (gint fd)
{
  struct stat info;

  return fstat (fd, &info) == 0 && S_ISREG (info.st_mode);
}

/* Fails before the file is changed if it is the input. */
static gboolean
prepare (FilterOutput *self, gboolean standard, gboolean resume, Checkpoint *from, GError **error)
{
  self->claim = file_claim_take (self->fd, FILE_CLAIM_REPLACE, "its output", error);
  if (self->claim == NULL)
    return FALSE;
  if (resume)
    return resume_run (self, from, error);
  if (!standard && is_regular (self->fd) && !file_claim_empty (self->claim, self->fd, error))
    return FALSE;
  return self->checkpoint == NULL || save (self, from, error);
}

FilterOutput *
filter_output_new (const gchar *location, TextFormat format, const gchar *run, gboolean resumable,
    gboolean resume, Checkpoint *from, GError **error)
{
  const gboolean standard = g_str_equal (location, "-");
  FilterOutput *self = g_new0 (FilterOutput, 1);
  gboolean ready;

  *from = (Checkpoint) { 0 };
  self->fd = standard ? dup (STDOUT_FILENO) : open (location, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  self->run = g_strdup (run);
  self->format = format;
  self->saved = g_get_monotonic_time ();
  if (self->fd >= 0 && resumable && !standard && is_regular (self->fd))
    self->checkpoint = g_strconcat (location, ".resume", NULL);
  ready = self->fd < 0 ? file_error_set (error, errno)
                       : prepare (self, standard, resume, from, error);
  if (!ready) {
    filter_output_close (self, FALSE, NULL);
    return NULL;
  }
  return self;
}

static gboolean
write_all (gint fd, const gchar *text, gsize length, GError **error)
{
  while (length > 0) {
    const gssize written = write (fd, text, length);

    if (written < 0 && errno != EINTR)
      return file_error_set (error, errno);
    text += MAX (written, 0);
    length -= (gsize) MAX (written, 0);
  }
  return TRUE;
}

/* Writes what the format has before the first frame. */
static gboolean
write_beginning (FilterOutput *self, GError **error)
{
  const gchar *text = self->format == TEXT_FORMAT_CSV ? CSV_TEXT_HEADER
      : self->format == TEXT_FORMAT_COCO              ? "["
                                                      : "";

  self->written = strlen (text);
  return write_all (self->fd, text, self->written, error);
}

static gboolean
write_end (FilterOutput *self, GError **error)
{
  if (self->written == 0 && !write_beginning (self, error))
    return FALSE;
  return self->format != TEXT_FORMAT_COCO || write_all (self->fd, "\n]\n", 3, error);
}

gboolean
filter_output_write (FilterOutput *self, const GString *text, const Checkpoint *reached,
    GError **error)
{
  /* the comma before the first entry of COCO results is left out */
  const gsize skip = self->format == TEXT_FORMAT_COCO && self->written == 0;

  if (text->len > 0) {
    if (self->written == 0 && !write_beginning (self, error))
      return FALSE;
    if (!write_all (self->fd, text->str + skip, text->len - skip, error))
      return FALSE;
    self->written += text->len - skip;
  }
  if (self->checkpoint == NULL || g_get_monotonic_time () - self->saved < CHECKPOINT_INTERVAL)
    return TRUE;
  return save (self, reached, error);
}

gboolean
filter_output_close (FilterOutput *self, gboolean complete, GError **error)
{
  const gboolean ended = !complete || write_end (self, error);
  const gboolean closed = self->fd < 0 || close (self->fd) == 0
      || (ended && file_error_set (error, errno));

  if (complete && ended && closed && self->checkpoint)
    unlink (self->checkpoint);
  file_claim_release (self->claim);
  g_free (self->checkpoint);
  g_free (self->run);
  g_free (self);
  return ended && closed;
}
