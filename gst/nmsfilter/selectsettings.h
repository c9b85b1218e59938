/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * selectsettings: the settable properties of boxselect: their names, ranges, defaults and text, and
 * their values.
 */
#pragma once

#include <gst/gst.h>

#include "boxselect.h"

G_BEGIN_DECLS

/* The properties, counted from the id that select_settings_install is given. Those of
 * the limits (BoxLimit) come first. */
typedef enum
{
  SELECT_PROP_ROI = BOX_LIMIT_COUNT,
  SELECT_PROP_KEEP_CLASSES,
  SELECT_PROP_DROP_CLASSES,
  SELECT_PROP_CLASS_LIMITS,
  SELECT_PROP_DROP_CUT,
  SELECT_PROP_COUNT,
} SelectProp;

/* Guarded by the element's object lock. */
typedef struct
{
  BoxSelectRules rules; /* the values; its lists are owned */
  BoxSelectRules *made; /* select_settings_get_rules of these values; NULL if not made yet */
  /* the texts and the structure as they were set */
  gchar *roi, *keep_classes, *drop_classes;
  GstStructure *class_limits;
  /* the reasons why they cannot be used, or NULL */
  gchar *roi_error, *class_limits_error;
} SelectSettings;

/* Installs the properties with the ids `first`, `first` + 1, ... */
void select_settings_install (GObjectClass *object_class, guint first);

void select_settings_init (SelectSettings *self);
void select_settings_clear (SelectSettings *self);

/* Sets a property and returns NULL. If a text cannot be used and `keep_usable` is TRUE, it is not
 * stored, and the reason is returned as select_settings_error words it, to be freed. If
 * `keep_usable` is FALSE, such a text is stored. */
gchar *select_settings_set (SelectSettings *self, guint prop, const GValue *value,
    gboolean keep_usable);

void select_settings_get (const SelectSettings *self, guint prop, GValue *value);

/* Returns a sentence that names a property that cannot be used and the reason, to be freed,
 * or NULL if all can be used. */
gchar *select_settings_error (const SelectSettings *self);

/* Returns a reference to the rules. */
BoxSelectRules *select_settings_get_rules (SelectSettings *self);

G_END_DECLS
