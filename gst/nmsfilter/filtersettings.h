/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * filtersettings: the settable properties of nmsfilter: their names, ranges,
 * defaults and text, and their values.
 */
#pragma once

#include <gst/gst.h>

#include "boxsuppress.h"

G_BEGIN_DECLS

/* Ids of the properties. */
typedef enum
{
  FILTER_PROP_IOU_THRESHOLD = 1,
  FILTER_PROP_SCORE_THRESHOLD,
  FILTER_PROP_MAX_DETECTIONS,
  FILTER_PROP_MAX_PER_CLASS,
  FILTER_PROP_MAX_CANDIDATES,
  FILTER_PROP_CLASS_AGNOSTIC,
  FILTER_PROP_INCLUSIVE,
  FILTER_PROP_MISSING_SCORE,
  FILTER_PROP_MIN_NEIGHBORS,
  FILTER_PROP_CLASSES,
  FILTER_PROP_CLASS_OPTIONS,
  FILTER_PROP_CLASS_GROUPS,
  FILTER_PROP_METHOD,
  FILTER_PROP_METRIC,
  FILTER_PROP_MIN_SIZE_RATIO,
  FILTER_PROP_METHOD_OPTIONS,
  FILTER_PROP_SOURCES,
  FILTER_PROP_INTERVAL,
  /* installed by the element: */
  FILTER_PROP_STATS,
  FILTER_PROP_ENGINE_IN_USE,
  /* listed last, because few pipelines need them: */
  FILTER_PROP_ENGINE,
  FILTER_PROP_XLA_PLUGIN,
  FILTER_PROP_XLA_STRICT,
  FILTER_PROP_COUNT,
} FilterProp;

/* The number of engine xla in GstNmsEngine, where the others have the numbers of nms_engine. */
#define FILTER_ENGINE_XLA 4

/* Guarded by the element's object lock. */
typedef struct
{
  gfloat iou_threshold;
  gdouble score_threshold;
  guint max_detections, max_per_class, max_candidates;
  gboolean class_agnostic, inclusive;
  guint engine; /* an nms_engine, or FILTER_ENGINE_XLA */
  UnscoredOrder missing_score;
  guint min_neighbors;
  GstClockTime interval; /* time between messages in ns; 0 for no messages */
  gchar *xla_plugin;     /* NULL for the plugin that NMS_XLA_PLUGIN names */
  gboolean xla_strict;

  nms_method method;
  nms_metric metric;
  gfloat min_size_ratio;

  /* values of the properties, as they were set */
  gchar *classes, *class_groups, *sources;
  GstStructure *class_options, *method_options;
  /* the same values, parsed by the function named beside each; NULL, or the defaults, if a value
   * is not set or cannot be used */
  GArray *selection;      /* class_selection_parse */
  GArray *options;        /* class_options_parse */
  GArray *groups;         /* class_groups_parse */
  GArray *source_options; /* source_options_parse */
  MethodOptions method_values;
  /* the reasons why they cannot be used, or NULL */
  gchar *class_options_error, *class_groups_error, *method_options_error, *sources_error;

  BoxSuppressRules *made; /* filter_settings_get_rules of these values; NULL if not made yet */
} FilterSettings;

/* Installs the properties except stats and engine-in-use, and the types of their enumerations. */
void filter_settings_install (GObjectClass *object_class);

void filter_settings_init (FilterSettings *settings);
void filter_settings_clear (FilterSettings *settings);

/* Sets a property and returns NULL. If a value cannot be used and `keep_usable` is TRUE, it is not
 * stored, and the reason is returned as filter_settings_error words it, to be freed. If
 * `keep_usable` is FALSE, such a value is stored. */
gchar *filter_settings_set (FilterSettings *settings, guint id, const GValue *value,
    gboolean keep_usable);
void filter_settings_get (const FilterSettings *settings, guint id, GValue *value);

/* Returns a sentence that names a property that cannot be used and the reason, to be freed,
 * or NULL if all can be used. */
gchar *filter_settings_error (const FilterSettings *settings);

/* Returns a reference to the rules by which a frame is filtered. */
BoxSuppressRules *filter_settings_get_rules (FilterSettings *settings);

G_END_DECLS
