/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonlwrite: writes numbers and strings as text that does not depend on the
 * locale.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends a finite number with the fewest digits (15 to 17) that read back as the
 * same double; -0 is written as 0. */
void jsonl_append_double (GString *out, gdouble number);

/* Appends a number of pixels, rounded to a millionth and clamped to +-1e9, which is far off any
 * frame. More digits would not survive a division by the frame size and a multiplication. */
void jsonl_append_pixels (GString *out, gdouble pixels);

/* Appends an integer in decimal digits. */
void jsonl_append_int (GString *out, gint64 number);

/* Appends a JSON string with its quotes. Quotes, backslashes and control characters
 * are escaped; each byte that is not valid UTF-8 becomes U+FFFD. */
void jsonl_append_string (GString *out, const gchar *text);

G_END_DECLS
