/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordappend: prepares a file for appending. It reads the last frame, after which
 * sessions and frame numbers continue, and makes the file end with a complete line.
 */
#pragma once

#include "recordreader.h"

G_BEGIN_DECLS

typedef struct
{
  gboolean empty;     /* the file has no frame, or does not exist */
  guint64 removed;    /* bytes of an unfinished line that were removed */
  RecordedFrame last; /* the last frame; its boxes must not be used */
} RecordAppend;

/* Prepares a regular file; other kinds of files count as empty. An unfinished last
 * line gets its end of line if it is a valid record, and is removed otherwise.
 * Returns FALSE, and leaves the file as it was, after a G_FILE_ERROR or if its last
 * line is not a record (RECORD_ERROR). Free with
 * record_append_clear () in either case. */
gboolean record_append_prepare (RecordAppend *self, const gchar *location, RecordFormat format,
    GError **error);
void record_append_clear (RecordAppend *self);

G_END_DECLS
