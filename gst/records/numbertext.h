/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxtext: numbers and strings as text, the same under every locale.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The fewest digits (15 to 17) that read back as the same double; -0 becomes
 * 0. The number must be finite. */
void number_text_append_double (GString * out, gdouble number);

void number_text_append_int (GString * out, gint64 number);

/* A JSON string with its quotes: quotes, backslashes and control characters
 * escaped, each byte that is no valid UTF-8 replaced by U+FFFD. */
void number_text_append_string (GString * out, const gchar * text);

G_END_DECLS
