/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * filterproperties: the properties of the element nmsfilter as options of a command line:
 * --iou-threshold=0.4 and so on, with the element's names, ranges, defaults and texts.
 */
#pragma once

#include "nmsfilter/filtersettings.h"

G_BEGIN_DECLS

/* Sets a property from text, as its option does. Returns FALSE and G_OPTION_ERROR_BAD_VALUE if
 * there is no such option or the value does not fit. */
gboolean filter_properties_set (FilterSettings *settings, const gchar *name, const gchar *text,
    GError **error);

/* Returns a group with an option for each property but interval, which is about messages. The group
 * writes to `settings`, which must stay valid. An option whose value does
 * not fit ends parsing with an error that names it. */
GOptionGroup *filter_properties_group (FilterSettings *settings);

G_END_DECLS
