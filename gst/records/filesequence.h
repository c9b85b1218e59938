/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * filesequence: writes lines to one file, or to numbered files of limited size and
 * duration, of which the oldest may be removed.
 */
#pragma once

#include <gst/gst.h>

#include "fileoutput.h"

G_BEGIN_DECLS

typedef struct
{
  const gchar *location; /* a path; with a limit, a pattern as in numberedfile */
  const gchar *owner;    /* name of the element, for messages */
  gboolean append;       /* continue the file, or the one with the highest number */
  FileFlush flush;
  guint64 max_size;      /* of a file, in bytes; 0: no limit */
  GstClockTime max_time; /* of a file, in ns of running time; 0: no limit */
  guint max_files;       /* numbered files to keep; 0: all */
} FileSequenceSettings;

typedef struct _FileSequence FileSequence;

/* Opens the first file. Returns NULL and a G_FILE_ERROR as file_output_open () does, or
 * if there is a limit and the location is not a pattern. The strings are copied. */
FileSequence *file_sequence_open (const FileSequenceSettings *settings, GError **error);
gboolean file_sequence_close (FileSequence *self, GError **error);

/* Writes one line, to the next file if this one is at its limit. A file has at least one
 * line. running_time is that of the frame; GST_CLOCK_TIME_NONE: unknown. */
OutputResult file_sequence_write (FileSequence *self, const gchar *line, gsize length,
    GstClockTime running_time, GError **error);

gboolean file_sequence_flush (FileSequence *self, GError **error);

/* Returns the path of the open file. */
const gchar *file_sequence_path (FileSequence *self);

G_END_DECLS
