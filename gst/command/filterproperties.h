/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * filterproperties: the properties of the elements nmsfilter and boxselect as options of a command
 * line: --iou-threshold=0.4 and so on, with the elements' names, ranges, defaults and texts.
 */
#pragma once

#include "nmsfilter/boxlist.h"

G_BEGIN_DECLS

/* Initializes the values with the defaults. */
void filter_properties_init (BoxListSettings *self);
void filter_properties_clear (BoxListSettings *self);

/* Sets a property from text, as its option does. Returns FALSE and G_OPTION_ERROR_BAD_VALUE if
 * there is no such option or the value does not fit. */
gboolean filter_properties_set (BoxListSettings *self, const gchar *name, const gchar *text,
    GError **error);

/* Returns a group with an option for each property except interval, which is about messages. The
 * group writes to `self`, which must stay valid. An option whose value does not fit ends parsing
 * with an error that names it. */
GOptionGroup *filter_properties_group (BoxListSettings *self);

G_END_DECLS
