/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wholewrite: writes lines to a regular file so that none is cut, whatever fails. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Writes whole lines at the position of `fd`, a regular file. After an error, such as
 * a full disk, the file ends with the last complete line that was written. Sets *done
 * to the number of bytes of complete lines in the file. Returns FALSE and a
 * G_FILE_ERROR if not all were written. */
gboolean whole_write_lines (int fd, const gchar *text, gsize length, gsize *done, GError **error);

G_END_DECLS
