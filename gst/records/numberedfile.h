/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * numberedfile: names of numbered files, as multifilesink and splitmuxsink write them:
 * "boxes%05d.jsonl" is boxes00000.jsonl, boxes00001.jsonl and so on.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  gchar *prefix, *suffix; /* the path before and after the number */
  guint width;            /* digits of the number, filled with zeros */
} NumberedFile;

/* Parses a pattern with one %d, which may have a width (%05d); %% is a percent sign.
 * Returns FALSE and a G_FILE_ERROR if it does not have exactly one %d. Free with
 * numbered_file_clear (). */
gboolean numbered_file_init (NumberedFile *self, const gchar *pattern, GError **error);
void numbered_file_clear (NumberedFile *self);

/* Returns the path of a file, to be freed. */
gchar *numbered_file_path (const NumberedFile *self, guint number);

/* Returns the highest number of a file that exists, or 0. */
guint numbered_file_last (const NumberedFile *self);

G_END_DECLS
