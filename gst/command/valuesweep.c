/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* valuesweep: computes each value from the first one, so that errors do not add up. */
#include "valuesweep.h"

#include <math.h>
#include <string.h>

#include "records/numbertext.h"

/* Reads the numbers of FIRST..LAST[..STEP]. */
static gboolean
read_numbers (gchar **parts, gdouble numbers[3])
{
  const guint count = g_strv_length (parts);

  numbers[2] = 0.1;
  for (guint i = 0; i < count && i < 3; i++) {
    gchar *end;

    numbers[i] = g_ascii_strtod (parts[i], &end);
    if (end == parts[i] || *end != '\0' || !isfinite (numbers[i]))
      return FALSE;
  }
  return count == 2 || count == 3;
}

gboolean
sweep_parse (const gchar *text, Sweep *sweep, GError **error)
{
  const gchar *equals = strchr (text, '=');
  gchar **parts = g_strsplit (equals ? equals + 1 : "", "..", -1);
  gdouble numbers[3], count = 0;

  if (read_numbers (parts, numbers) && numbers[2] > 0)
    count = floor ((numbers[1] - numbers[0]) / numbers[2] + 1e-6) + 1;
  g_strfreev (parts);
  if (!(count >= 1 && count <= SWEEP_MOST)) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--sweep cannot be \"%s\"; it has"
        " the form NAME=FIRST..LAST..STEP, with at most %d values",
        text, SWEEP_MOST);
    return FALSE;
  }
  sweep->name = g_strndup (text, (gsize) (equals - text));
  sweep->first = numbers[0];
  sweep->step = numbers[2];
  sweep->count = (guint) count;
  return TRUE;
}

void
sweep_clear (Sweep *sweep)
{
  g_clear_pointer (&sweep->name, g_free);
}

gchar *
sweep_value (const Sweep *sweep, guint index)
{
  GString *text = g_string_new (NULL);

  number_text_append_double (text, round ((sweep->first + index * sweep->step) * 1e6) / 1e6);
  return g_string_free (text, FALSE);
}

gchar *
sweep_location (const gchar *location, const gchar *value)
{
  const gchar *slash = strrchr (location, '/');
  const gchar *dot = strrchr (slash ? slash : location, '.');
  const gsize length = dot ? (gsize) (dot - location) : strlen (location);

  return g_strdup_printf ("%.*s-%s%s", (gint) length, location, value, location + length);
}
