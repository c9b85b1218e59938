/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fileoutput: writes lines to the end of a regular file. The file has complete lines
 * only, also when the disk is full. If the file was moved away or removed, as logrotate
 * does, its path is opened again within 100 ms; if that fails, a moved file is continued.
 * If the file was emptied, it is continued at its start.
 */
#pragma once

#include <glib.h>

#include "outputresult.h"

G_BEGIN_DECLS

/* When lines are written: the values of the property `flush`. */
typedef enum
{
  FILE_FLUSH_LINE = 0,   /* each line at once, so that other programs can read it */
  FILE_FLUSH_BUFFER = 1, /* when 64 KiB are collected, and at the end */
  FILE_FLUSH_DISK = 2,   /* each line onto the disk, so that it survives a power failure */
} FileFlush;

typedef struct _FileOutput FileOutput;

/* Opens the file for the element named `owner`. With `append` a file that exists is continued;
 * otherwise it is emptied by the first file_output_write () or file_output_flush (), because an
 * element that fails to start must not destroy it. Returns NULL and a G_FILE_ERROR if the file
 * cannot be written, or if another element of the process writes to it or reads what would be
 * lost. */
FileOutput *file_output_open (const gchar *path, gboolean append, FileFlush flush,
    const gchar *owner, GError **error);

/* Writes the collected lines and closes the file; leaves it as it was if nothing was written or
 * flushed. Returns FALSE and a G_FILE_ERROR if that fails. */
gboolean file_output_close (FileOutput *self, GError **error);

/* Writes one line. After OUTPUT_FAILED the line is not in the file, and lines collected
 * before are kept for a later call. */
OutputResult file_output_write (FileOutput *self, const gchar *line, gsize length, GError **error);

/* Writes the collected lines. Returns FALSE and a G_FILE_ERROR if that fails. */
gboolean file_output_flush (FileOutput *self, GError **error);

/* Returns the size of the new file in bytes, the collected lines included. */
guint64 file_output_size (FileOutput *self);

const gchar *file_output_path (FileOutput *self);

G_END_DECLS
