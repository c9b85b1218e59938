/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * methodsettings: the properties of nmsfilter about what happens to boxes that overlap: their
 * names, ranges, defaults and text, and their values.
 */
#pragma once

#include <gst/gst.h>
#include <nmscore.h>

#include "sourceoptions.h"

G_BEGIN_DECLS

/* The properties, counted from the id that method_settings_install is given. */
typedef enum
{
  METHOD_PROP_METHOD,
  METHOD_PROP_METRIC,
  METHOD_PROP_SIGMA,
  METHOD_PROP_MIN_SCORE,
  METHOD_PROP_FUSED_SCORE,
  METHOD_PROP_SOURCES,
  METHOD_PROP_COUNT,
} MethodProp;

/* Guarded by the element's object lock. */
typedef struct
{
  nms_method method;
  nms_metric metric;
  gfloat sigma, min_score;
  nms_fused_score fused_score;
  gchar *sources;         /* as it was set */
  SourceOptions *options; /* the same, parsed; NULL: none */
  gchar *sources_error;   /* why it cannot be used, or NULL */
} MethodSettings;

/* Installs the properties with the ids `first`, `first` + 1, ... */
void method_settings_install (GObjectClass *object_class, guint first);

void method_settings_init (MethodSettings *self);
void method_settings_clear (MethodSettings *self);

/* Sets a property. A value that cannot be used is stored with the reason, or refused if
 * `keep_usable`. Returns the reason of a refusal, to be freed, else NULL. */
gchar *method_settings_set (MethodSettings *self, guint prop, const GValue *value,
    gboolean keep_usable);

void method_settings_get (const MethodSettings *self, guint prop, GValue *value);

/* Writes the fields of the options that the properties determine, but for the sources. */
void method_settings_apply (const MethodSettings *self, nms_options *options);

G_END_DECLS
