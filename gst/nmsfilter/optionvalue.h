/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* optionvalue: the values in properties that are structures, such as class-options. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Writes the number that `value` holds, of any numeric type or as text. Returns FALSE if it holds
 * none. */
gboolean option_value_number (const GValue *value, gdouble *number);

G_END_DECLS
