/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* numbertext: does not use the locale, and allocates only if the string has to grow. */
#include "numbertext.h"

#include <string.h>

/* Returns the bits of a number. Numbers are compared by their bits because the
 * smallest ones would equal 0 if other code in the process left flush-to-zero on. */
static inline guint64
bits_of (gdouble number)
{
  guint64 bits;

  memcpy (&bits, &number, sizeof bits);
  return bits;
}

void
number_text_append_double (GString * out, gdouble number)
{
  static const gchar *const formats[] = { "%.15g", "%.16g", "%.17g" };
  gchar buffer[G_ASCII_DTOSTR_BUF_SIZE];
  guint i;

  if (bits_of (number) << 1 == 0)
    number = 0.0;               /* drop the sign, because JSON readers lose it */
  for (i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_ascii_formatd (buffer, sizeof buffer, formats[i], number);
    if (bits_of (g_ascii_strtod (buffer, NULL)) == bits_of (number))
      break;
  }
  g_string_append (out, buffer);
}

void
number_text_append_int (GString * out, gint64 number)
{
  gchar digits[24];
  gsize i = sizeof digits;
  guint64 rest = number < 0 ? -(guint64) number : (guint64) number;

  do
    digits[--i] = '0' + rest % 10;
  while ((rest /= 10) > 0);
  if (number < 0)
    digits[--i] = '-';
  g_string_append_len (out, digits + i, sizeof digits - i);
}

void
number_text_append_string (GString * out, const gchar * text)
{
  const gchar *end = text + strlen (text);

  g_string_append_c (out, '"');
  while (text < end) {
    const gchar *valid_end, *p;

    g_utf8_validate (text, end - text, &valid_end);
    for (p = text; p < valid_end; p++) {
      static const gchar short_form[] = "\b\f\n\r\t\"\\", letter[] = "bfnrt\"\\";
      const gchar *found = strchr (short_form, *p);

      if (found)
        g_string_append_printf (out, "\\%c", letter[found - short_form]);
      else if ((guchar) * p < 0x20)
        g_string_append_printf (out, "\\u%04x", (guint) (guchar) * p);
      else
        g_string_append_c (out, *p);
    }
    text = valid_end;
    if (text < end) {
      g_string_append (out, "\xef\xbf\xbd");
      text++;
    }
  }
  g_string_append_c (out, '"');
}
