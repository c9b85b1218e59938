/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * prefiltersettings: the properties of nmsfilter about classes, sizes and positions of boxes:
 * their names, ranges, defaults and text, and their values.
 */
#pragma once

#include <gst/gst.h>

#include "prefilter.h"

G_BEGIN_DECLS

/* The properties, counted from the id that prefilter_settings_install is given. Those of
 * the limits (BoxLimit) come first. */
typedef enum
{
  PREFILTER_PROP_ROI = BOX_LIMIT_COUNT,
  PREFILTER_PROP_KEEP_CLASSES,
  PREFILTER_PROP_DROP_CLASSES,
  PREFILTER_PROP_EDGE_POLICY,
  PREFILTER_PROP_EDGE_SIDES,
  PREFILTER_PROP_EDGE_MARGIN,
  PREFILTER_PROP_COUNT,
} PrefilterProp;

/* Guarded by the element's object lock. */
typedef struct
{
  Prefilter rules;
  /* the texts of properties as they were set */
  gchar *roi, *keep_classes, *drop_classes, *edge_margin;
  /* the reasons why they cannot be used, or NULL */
  gchar *roi_error, *edge_margin_error;
} PrefilterSettings;

/* Installs the properties with the ids `first`, `first` + 1, ... */
void prefilter_settings_install (GObjectClass *object_class, guint first);

void prefilter_settings_init (PrefilterSettings *self);
void prefilter_settings_clear (PrefilterSettings *self);

/* Sets a property. A value that cannot be used is stored with the reason, or refused if
 * `keep_usable`. Returns the reason of a refusal, to be freed, else NULL. */
gchar *prefilter_settings_set (PrefilterSettings *self, guint prop, const GValue *value,
    gboolean keep_usable);

void prefilter_settings_get (const PrefilterSettings *self, guint prop, GValue *value);

/* Returns a sentence that names a property that cannot be used and the reason, to be freed,
 * or NULL if all can be used. */
gchar *prefilter_settings_error (const PrefilterSettings *self);

G_END_DECLS
