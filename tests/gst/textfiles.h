/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* textfiles: files of a test program, in a folder that is removed when the program ends. */
#pragma once

#include <glib.h>

/* Returns a path in the folder; creates no file. Free it. */
gchar *text_file_path (const gchar *name);

/* Writes a file with these bytes (length -1: up to the NUL). Returns its path. Free it. */
gchar *text_file_new (const gchar *name, const gchar *contents, gssize length);

/* Returns the contents, NUL-terminated. Fails if the file cannot be read. */
gchar *text_file_read (const gchar *path);

/* Fails unless the file has these contents. */
void text_file_must_be (const gchar *path, const gchar *expected);
