/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* optionvalue: the numbers of a GstStructure in which a user may have written any numeric type. */
#include "optionvalue.h"

gboolean
option_value_number (const GValue *value, gdouble *number)
{
  if (G_VALUE_HOLDS_DOUBLE (value)) {
    *number = g_value_get_double (value);
  } else if (G_VALUE_HOLDS_FLOAT (value)) {
    *number = g_value_get_float (value);
  } else if (G_VALUE_HOLDS_INT (value)) {
    *number = g_value_get_int (value);
  } else if (G_VALUE_HOLDS_UINT (value)) {
    *number = g_value_get_uint (value);
  } else if (G_VALUE_HOLDS_INT64 (value)) {
    *number = (gdouble) g_value_get_int64 (value);
  } else if (G_VALUE_HOLDS_UINT64 (value)) {
    *number = (gdouble) g_value_get_uint64 (value);
  } else if (G_VALUE_HOLDS_LONG (value)) {
    *number = (gdouble) g_value_get_long (value);
  } else if (G_VALUE_HOLDS_ULONG (value)) {
    *number = (gdouble) g_value_get_ulong (value);
  } else if (GST_VALUE_HOLDS_FRACTION (value)) {
    *number = (gdouble) gst_value_get_fraction_numerator (value)
        / gst_value_get_fraction_denominator (value);
  } else if (G_VALUE_HOLDS_STRING (value) && g_value_get_string (value)) {
    gchar *text = g_strstrip (g_strdup (g_value_get_string (value)));
    gchar *end;
    gboolean ok;

    *number = g_ascii_strtod (text, &end);
    ok = *text != '\0' && *end == '\0';
    g_free (text);
    return ok;
  } else {
    return FALSE;
  }
  return TRUE;
}
