/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* methodsettings: the properties as GParamSpecs, and their values. */
#include "methodsettings.h"

#include "enumtype.h"
#include "properties.h"

DEFINE_ENUM_TYPE (gst_nms_method_get_type, "GstNmsMethod",
    { NMS_METHOD_HARD, "Drop each box that overlaps a better one too much", "hard" },
    { NMS_METHOD_SOFT_LINEAR,
        "Lower the scores of boxes that overlap a better one too much, "
        "times 1 - overlap",
        "soft-linear" },
    { NMS_METHOD_SOFT_GAUSSIAN,
        "Lower the scores of all boxes that overlap a better one, times "
        "exp (-overlap^2 / sigma)",
        "soft-gaussian" },
    { NMS_METHOD_MATRIX_LINEAR,
        "Lower all scores at once, less by boxes that are overlapped "
        "themselves (Matrix NMS, linear kernel)",
        "matrix-linear" },
    { NMS_METHOD_MATRIX_GAUSSIAN, "As matrix-linear with the kernel exp (-sigma * overlap^2)",
        "matrix-gaussian" },
    { NMS_METHOD_WEIGHTED,
        "Replace overlapping boxes with their mean by score, and their scores "
        "with fused-score (weighted box fusion)",
        "weighted" },
    { NMS_METHOD_MERGE,
        "Replace boxes that overlap, directly or through others, with the box "
        "around them",
        "merge" },
    { NMS_METHOD_GREEDY_MERGE,
        "Replace a kept box and those that overlap it with the box around "
        "them",
        "greedy-merge" },
    { NMS_METHOD_AVERAGE,
        "Replace a kept box and those that overlap it with their mean by score, "
        "and keep the best score",
        "average" })
DEFINE_ENUM_TYPE (gst_nms_metric_get_type, "GstNmsMetric",
    { NMS_METRIC_IOU, "Intersection over union", "iou" },
    { NMS_METRIC_IOS, "Intersection over the area of the smaller box", "ios" },
    { NMS_METRIC_DIOU, "IoU, less for distant centres; method hard only", "diou" },
    { NMS_METRIC_GIOU,
        "IoU, less for the empty part of the common bounding box; method hard "
        "only",
        "giou" })
DEFINE_ENUM_TYPE (gst_nms_fused_score_get_type, "GstNmsFusedScore",
    { NMS_FUSED_AVG, "Mean of the scores", "avg" }, { NMS_FUSED_MAX, "Best score", "max" },
    { NMS_FUSED_BOX_AND_MODEL_AVG, "Mean of the scores, by the sources that found the object",
        "box-and-model-avg" },
    { NMS_FUSED_ABSENT_MODEL_AWARE_AVG,
        "Mean of the scores, with 0 for each source that did not "
        "find the object",
        "absent-model-aware-avg" })

#define DEFAULT_METHOD NMS_METHOD_HARD
#define DEFAULT_METRIC NMS_METRIC_IOU
#define DEFAULT_SIGMA 0
#define DEFAULT_MIN_SCORE 0.001f
#define DEFAULT_FUSED_SCORE NMS_FUSED_AVG
#define DEFAULT_SOURCES NULL

#define SETTABLE (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)
#define CONTROLLABLE (SETTABLE | GST_PARAM_CONTROLLABLE)

void
method_settings_install (GObjectClass *object_class, guint first)
{
  g_object_class_install_property (object_class, first + METHOD_PROP_METHOD,
      g_param_spec_enum ("method", "Method",
          "What happens to boxes that overlap a better one. Methods other than hard change the "
          "scores or places of kept boxes, in their metadata too",
          gst_nms_method_get_type (), DEFAULT_METHOD, SETTABLE));
  g_object_class_install_property (object_class, first + METHOD_PROP_METRIC,
      g_param_spec_enum ("metric", "Metric",
          "How the overlap that iou-threshold is compared with is measured",
          gst_nms_metric_get_type (), DEFAULT_METRIC, SETTABLE));
  g_object_class_install_property (object_class, first + METHOD_PROP_SIGMA,
      g_param_spec_float ("sigma", "Sigma",
          "Parameter of the gaussian methods. A larger one lowers scores less with soft-gaussian, "
          "more with matrix-gaussian. TensorFlow's soft_nms_sigma is half of that of "
          "soft-gaussian. 0 = the default of the method (soft-gaussian 0.5, matrix-gaussian 2)",
          0, G_MAXFLOAT, DEFAULT_SIGMA, CONTROLLABLE));
  g_object_class_install_property (object_class, first + METHOD_PROP_MIN_SCORE,
      g_param_spec_float ("min-score", "Minimum score",
          "Lowest new score of a kept box, with the soft and matrix methods", 0, G_MAXFLOAT,
          DEFAULT_MIN_SCORE, CONTROLLABLE));
  g_object_class_install_property (object_class, first + METHOD_PROP_FUSED_SCORE,
      g_param_spec_enum ("fused-score", "Fused score",
          "The score of a box that method=weighted makes of several",
          gst_nms_fused_score_get_type (), DEFAULT_FUSED_SCORE, SETTABLE));
  g_object_class_install_property (object_class, first + METHOD_PROP_SOURCES,
      g_param_spec_string ("sources", "Sources",
          "Names of the branches whose boxes boxmerge joined, and what applies to them: "
          "NAME[=WEIGHT][:priority=NUMBER][:score-threshold=NUMBER],... as in "
          "main=2:priority=1,left,right=0.5:score-threshold=0.3. Begin with the main stream: boxes "
          "of no branch, or of one that is not listed, belong to the first name. weight = factor "
          "of the scores with method=weighted (default 1). priority = boxes rank by it first, then "
          "by their scores; a higher one suppresses a lower one (-1000 to 1000, default 0; methods "
          "hard, merge and greedy-merge). score-threshold = boxes with a confidence below this are "
          "dropped first, beside those below the property score-threshold. NULL or empty = all "
          "boxes are of one source. Presets do not hold it",
          DEFAULT_SOURCES, SETTABLE));
  gst_type_mark_as_plugin_api (gst_nms_method_get_type (), 0);
  gst_type_mark_as_plugin_api (gst_nms_metric_get_type (), 0);
  gst_type_mark_as_plugin_api (gst_nms_fused_score_get_type (), 0);
}

static const gsize fields[] = {
  [METHOD_PROP_METHOD] = G_STRUCT_OFFSET (MethodSettings, method),
  [METHOD_PROP_METRIC] = G_STRUCT_OFFSET (MethodSettings, metric),
  [METHOD_PROP_SIGMA] = G_STRUCT_OFFSET (MethodSettings, sigma),
  [METHOD_PROP_MIN_SCORE] = G_STRUCT_OFFSET (MethodSettings, min_score),
  [METHOD_PROP_FUSED_SCORE] = G_STRUCT_OFFSET (MethodSettings, fused_score),
  [METHOD_PROP_SOURCES] = G_STRUCT_OFFSET (MethodSettings, sources),
};

void
method_settings_init (MethodSettings *self)
{
  *self = (MethodSettings) {
    .method = DEFAULT_METHOD,
    .metric = DEFAULT_METRIC,
    .sigma = DEFAULT_SIGMA,
    .min_score = DEFAULT_MIN_SCORE,
    .fused_score = DEFAULT_FUSED_SCORE,
    .sources = g_strdup (DEFAULT_SOURCES),
  };
}

void
method_settings_clear (MethodSettings *self)
{
  g_free (self->sources);
  source_options_unref (self->options);
  g_free (self->sources_error);
}

gchar *
method_settings_set (MethodSettings *self, guint prop, const GValue *value, gboolean keep_usable)
{
  if (prop == METHOD_PROP_SOURCES) {
    gchar *error;
    SourceOptions *options = source_options_parse (g_value_get_string (value), &error);

    if (error && keep_usable)
      return error;
    source_options_unref (self->options);
    self->options = options;
    g_free (self->sources_error);
    self->sources_error = error;
  }
  property_field_set (G_STRUCT_MEMBER_P (self, fields[prop]), value);
  return NULL;
}

void
method_settings_get (const MethodSettings *self, guint prop, GValue *value)
{
  property_field_get (G_STRUCT_MEMBER_P (self, fields[prop]), value);
}

void
method_settings_apply (const MethodSettings *self, nms_options *options)
{
  options->method = self->method;
  options->metric = self->metric;
  options->sigma = self->sigma;
  options->min_score = self->min_score;
  options->fused_score = self->fused_score;
}
