/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fileclaim: keeps two elements of this process from writing to one file, from reading one pipe,
 * and from emptying a file that is read. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  FILE_CLAIM_READ,
  FILE_CLAIM_APPEND,
  FILE_CLAIM_REPLACE, /* the file will be emptied by file_claim_empty () */
} FileUse;

typedef struct _FileClaim FileClaim;

/* Claims the open file `fd` for the element named `owner`. Returns NULL, and a G_FILE_ERROR that
 * names both, if another claim excludes it. A file has one claim to append or replace, a pipe or
 * socket has one to read, and a regular file that is not empty has no claim to read beside one to
 * replace it. Any thread may call these functions. */
FileClaim *file_claim_take (int fd, FileUse use, const gchar *owner, GError **error);

/* Releases a claim; NULL is ignored. */
void file_claim_release (FileClaim *self);

const gchar *file_claim_owner (const FileClaim *self);

/* Empties the file `fd` of a claim to replace it. From then on the claim is one to append. */
gboolean file_claim_empty (FileClaim *self, int fd, GError **error);

G_END_DECLS
