/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fileclaim: keeps two elements of this process from writing to one file, or from reading
 * one pipe. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Claims the open file `fd` for the element named `owner`, for writing or for reading,
 * which do not exclude each other. Returns FALSE, and a G_FILE_ERROR that names both, if
 * another element has claimed the file. Any thread may call both functions. */
gboolean file_claim_take (int fd, gboolean writing, const gchar *owner, GError **error);

/* Releases the claim of `fd`, which must still be open. */
void file_claim_release (int fd, gboolean writing);

G_END_DECLS
