/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* numbertext: uses <charconv>, because that does not depend on the locale, and allocates only if
 * the string has to grow. */
#include "numbertext.h"

#include <charconv>
#include <math.h>
#include <string.h>

#define TEXT_SIZE 32

/* Returns the bits of a number. Numbers are compared by their bits because
 * subnormal ones would equal 0 if other code in the process left flush-to-zero on. */
static inline guint64
bits_of (gdouble number)
{
  guint64 bits;

  memcpy (&bits, &number, sizeof bits);
  return bits;
}

/* Writes a number with that many digits as printf's %g does, and NUL. Returns the end of the text. */
static gchar *
format (gchar text[TEXT_SIZE], gdouble number, gint digits)
{
  gchar how[8], *end;

  if ((bits_of (number) >> 52 & 0x7ff) != 0) {
    end = std::to_chars (text, text + TEXT_SIZE, number, std::chars_format::general, digits).ptr;
    *end = '\0';
    return end;
  }
  /* std::to_chars compares subnormal numbers with 0 */
  g_snprintf (how, sizeof how, "%%.%dg", digits);
  return text + strlen (g_ascii_formatd (text, TEXT_SIZE, how, number));
}

/* Returns whether printf's %g writes a number with 15 or more digits without an exponent. */
static inline bool
is_plain (gdouble number)
{
  return (number >= 1e-4 && number < 1e15) || (number > -1e15 && number <= -1e-4);
}

void
number_text_append_double (GString *out, gdouble number)
{
  gchar text[TEXT_SIZE], *end = text;

  if (bits_of (number) << 1 == 0)
    number = 0.0; /* drop the sign of -0, because JSON readers lose it */
  if (is_plain (number)) {
    /* the shortest digits are those that the loop below finds, three times as fast */
    end = std::to_chars (text, text + TEXT_SIZE, number, std::chars_format::fixed).ptr;
    g_string_append_len (out, text, end - text);
    return;
  }
  for (gint digits = 15; digits <= 17; digits++) {
    end = format (text, number, digits);
    /* std::from_chars rounds some numbers twice on 32-bit x86 */
    if (bits_of (g_ascii_strtod (text, NULL)) == bits_of (number))
      break;
  }
  g_string_append_len (out, text, end - text);
}

void
number_text_append_pixels (GString *out, gdouble pixels)
{
  pixels = CLAMP (pixels, -1e9, 1e9);
  number_text_append_double (out, round (pixels * 1e6) / 1e6);
}

void
number_text_append_int (GString *out, gint64 number)
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
number_text_append_string (GString *out, const gchar *text)
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
      else if ((guchar) *p < 0x20)
        g_string_append_printf (out, "\\u%04x", (guint) (guchar) *p);
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
