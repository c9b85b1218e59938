/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * methodsettings: the properties of nmsfilter about what happens to boxes that overlap: their
 * names, ranges, defaults and text, and their values.
 */
#pragma once

#include <gst/gst.h>
#include <nmscore.h>

G_BEGIN_DECLS

/* The properties, counted from the id that method_settings_install is given. */
typedef enum
{
  METHOD_PROP_METHOD,
  METHOD_PROP_METRIC,
  METHOD_PROP_SIGMA,
  METHOD_PROP_MIN_SCORE,
  METHOD_PROP_FUSED_SCORE,
  METHOD_PROP_COUNT,
} MethodProp;

/* Guarded by the element's object lock. */
typedef struct
{
  nms_method method;
  nms_metric metric;
  gfloat sigma, min_score;
  nms_fused_score fused_score;
} MethodSettings;

/* Installs the properties with the ids `first`, `first` + 1, ... */
void method_settings_install (GObjectClass * object_class, guint first);

void method_settings_init (MethodSettings * self);
void method_settings_set (MethodSettings * self, guint prop, const GValue * value);
void method_settings_get (const MethodSettings * self, guint prop, GValue * value);

/* Writes the fields of the options that the properties determine. */
void method_settings_apply (const MethodSettings * self, nms_options * options);

G_END_DECLS
