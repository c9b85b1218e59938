/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filetail: reads the last line of a file, in a time that does not depend on its size. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  gchar *line;       /* the last line that is complete and not blank; NULL: none */
  gchar *unfinished; /* the text after the last end of line; NULL: none */
} FileTail;

/* Reads the end of a regular file of which `fd` can be read. Returns FALSE and a
 * G_FILE_ERROR if that fails, or if the last line is longer than 64 MiB. */
gboolean file_tail_read (FileTail *self, int fd, GError **error);
void file_tail_clear (FileTail *self);

G_END_DECLS
