/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordappend: makes the end of a recording ready for further lines. */
#pragma once

#include "recordedframe.h"

G_BEGIN_DECLS

/* Makes the file end with a complete line. If its last line has no end, that is added to a complete
 * record, and half a record is removed: *removed is its length in bytes, or 0. Sets *next_index to
 * one more than the index of the last frame of MOT text, or to 0. Returns FALSE and an error if the
 * file cannot be read or changed, or does not end with a line of the format. */
gboolean record_append_prepare (const gchar *path, RecordFormat format, guint64 *next_index,
    guint64 *removed, GError **error);

G_END_DECLS
