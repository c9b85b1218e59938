/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* labeltable: asks GLib whether a label has a quark already, and counts the quarks that it adds. */
#include "labeltable.h"

#include <string.h>

GQuark
label_table_intern (LabelTable *self, const gchar *label)
{
  GQuark known;

  if (self == NULL || self->max == 0)
    return g_quark_from_string (label);
  known = g_quark_try_string (label);
  if (known != 0)
    return known;
  if (self->taken >= self->max || strlen (label) > LABEL_TABLE_LONGEST) {
    self->refused++;
    return 0;
  }
  self->taken++;
  return g_quark_from_string (label);
}
