/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* valuesweep: the values that a property takes in one run after the other. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SWEEP_MOST 1000 /* values */

typedef struct
{
  gchar *name; /* of the property; NULL: no sweep */
  gdouble first, step;
  guint count; /* of values */
} Sweep;

/* Parses NAME=FIRST..LAST[..STEP]; STEP is above 0 and 0.1 by default. Returns FALSE and
 * G_OPTION_ERROR_BAD_VALUE if the text is another or describes more than SWEEP_MOST values. */
gboolean sweep_parse (const gchar *text, Sweep *sweep, GError **error);
void sweep_clear (Sweep *sweep);

/* Returns value number `index`, rounded to a millionth, as text to be freed. */
gchar *sweep_value (const Sweep *sweep, guint index);

/* Returns the name of the file for a value, to be freed: kept-0.3.json for kept.json. */
gchar *sweep_location (const gchar *location, const gchar *value);

G_END_DECLS
