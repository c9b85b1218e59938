/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fileerror: turns errno into a GError. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Sets the G_FILE_ERROR of this errno, with the system's text. Returns FALSE. */
static inline gboolean
file_error_set (GError **error, int number)
{
  g_set_error_literal (error, G_FILE_ERROR, g_file_error_from_errno (number), g_strerror (number));
  return FALSE;
}

G_END_DECLS
