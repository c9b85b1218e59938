/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* textfiles: files of one test program, in a folder of its own that is removed
 * when the program ends. */
#pragma once

#include <glib.h>

/* A path in the folder; nothing is created. To be freed. */
gchar *text_file_path (const gchar * name);

/* A file with those bytes (length -1: up to the NUL). The path, to be freed. */
gchar *text_file_new (const gchar * name, const gchar * contents, gssize length);

/* The contents, NUL-terminated; fails the test if it cannot be read. */
gchar *text_file_read (const gchar * path);
