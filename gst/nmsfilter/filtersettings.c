/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filtersettings: the properties of nmsfilter as GParamSpecs, and their values. */
#include "filtersettings.h"

#include "classlist.h"
#include "enumtype.h"
#include "properties.h"

/* -------------------------------------------------------------- enumerations */

DEFINE_ENUM_TYPE (gst_nms_engine_get_type, "GstNmsEngine",
    { NMS_ENGINE_AUTO, "Choose by the number of boxes, the limits and a sample of overlaps",
        "auto" },
    { NMS_ENGINE_SEQUENTIAL, "One step for each kept box; best if few are kept", "sequential" },
    { NMS_ENGINE_SORTED, "Sort, then compare each box with the kept boxes", "sorted" },
    { NMS_ENGINE_SPATIAL, "Find the boxes near each kept box in a grid; best for thousands",
        "spatial" },
    { FILTER_ENGINE_XLA,
        "One program that XLA compiles for the device of xla-plugin; needs "
        "libnmsaccel",
        "xla" })
DEFINE_ENUM_TYPE (gst_nms_missing_score_get_type, "GstNmsMissingScore",
    { UNSCORED_ORDER_NEIGHBORS, "Rank by the number of boxes that each box overlaps", "neighbors" },
    { UNSCORED_ORDER_AREA, "Rank by area, largest first", "area" },
    { UNSCORED_ORDER_INPUT, "Rank in the order in which the detector attached them", "order" },
    { UNSCORED_ORDER_DROP, "Drop boxes without a confidence", "drop" })
#define METHOD(constant, number, family, by_score, changes, name, text) { number, text, name },
static const GEnumValue methods[] = { NMS_METHOD_LIST (METHOD) { 0, NULL, NULL } };
DEFINE_ENUM_TYPE_OF (gst_nms_method_get_type, "GstNmsMethod", methods)

#define METRIC(constant, number, name, text) { number, text, name },
static const GEnumValue metrics[] = { NMS_METRIC_LIST (METRIC) { 0, NULL, NULL } };
DEFINE_ENUM_TYPE_OF (gst_nms_metric_get_type, "GstNmsMetric", metrics)

/* ---------------------------------------------------------------- properties */

#define DEFAULT_IOU_THRESHOLD 0.5f
#define DEFAULT_SCORE_THRESHOLD (-INFINITY)
#define DEFAULT_MAX_DETECTIONS 0
#define DEFAULT_MAX_PER_CLASS 0
#define DEFAULT_MAX_CANDIDATES 0
#define DEFAULT_CLASS_AGNOSTIC FALSE
#define DEFAULT_INCLUSIVE FALSE
#define DEFAULT_ENGINE NMS_ENGINE_AUTO
#define DEFAULT_MISSING_SCORE UNSCORED_ORDER_NEIGHBORS
#define DEFAULT_MIN_NEIGHBORS 0
#define DEFAULT_CLASSES NULL
#define DEFAULT_CLASS_GROUPS NULL
#define DEFAULT_METHOD NMS_METHOD_HARD
#define DEFAULT_METRIC NMS_METRIC_IOU
#define DEFAULT_MIN_SIZE_RATIO 0
#define DEFAULT_SOURCES NULL
#define DEFAULT_INTERVAL 0
#define DEFAULT_XLA_PLUGIN NULL
#define DEFAULT_XLA_STRICT FALSE

#define SETTABLE (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)
#define CONTROLLABLE (SETTABLE | GST_PARAM_CONTROLLABLE)

static void
install_thresholds (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, FILTER_PROP_IOU_THRESHOLD,
      g_param_spec_float ("iou-threshold", "IoU threshold",
          "Overlap (intersection over union, or as metric says) with a better box of the same "
          "class, or of its group in class-groups, above which a box is dropped; 1 drops nothing",
          0, 1, DEFAULT_IOU_THRESHOLD, CONTROLLABLE));
  g_object_class_install_property (object_class, FILTER_PROP_SCORE_THRESHOLD,
      /* a double, because GStreamer does not read -inf as a float */
      g_param_spec_double ("score-threshold", "Score threshold",
          "Boxes with a confidence below this (not equal to it) are dropped first. It does not "
          "apply to boxes without a confidence (the first such box causes a warning). -inf = off, "
          "not 0, because some detectors report negative confidences",
          -INFINITY, INFINITY, DEFAULT_SCORE_THRESHOLD, CONTROLLABLE));
  g_object_class_install_property (object_class, FILTER_PROP_MAX_DETECTIONS,
      g_param_spec_uint ("max-detections", "Maximum detections",
          "Largest number of boxes to keep on a buffer (the best); 0 = no limit", 0, G_MAXUINT,
          DEFAULT_MAX_DETECTIONS, CONTROLLABLE));
  g_object_class_install_property (object_class, FILTER_PROP_MAX_PER_CLASS,
      g_param_spec_uint ("max-per-class", "Maximum per class",
          "Largest number of boxes of one class to keep on a buffer (the best); 0 = no limit", 0,
          G_MAXUINT, DEFAULT_MAX_PER_CLASS, CONTROLLABLE));
  g_object_class_install_property (object_class, FILTER_PROP_MAX_CANDIDATES,
      g_param_spec_uint ("max-candidates", "Maximum candidates",
          "Largest number of boxes of a buffer that take part: the best ones, across classes. The "
          "others are dropped before any overlap is measured, which bounds the time of a buffer. "
          "With missing-score=neighbors or min-neighbors, the neighbors of all boxes are counted "
          "first. 0 = no limit",
          0, G_MAXUINT, DEFAULT_MAX_CANDIDATES, CONTROLLABLE));
  g_object_class_install_property (object_class, FILTER_PROP_CLASS_AGNOSTIC,
      g_param_spec_boolean ("class-agnostic", "Class-agnostic",
          "Let boxes suppress boxes of other classes too (max-per-class still counts per class)",
          DEFAULT_CLASS_AGNOSTIC, CONTROLLABLE));
  g_object_class_install_property (object_class, FILTER_PROP_INCLUSIVE,
      g_param_spec_boolean ("inclusive", "Inclusive",
          "Drop a box whose overlap equals iou-threshold as well", DEFAULT_INCLUSIVE,
          CONTROLLABLE));
}

static void
install_engine (GObjectClass *object_class)
{
  const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

  g_object_class_install_property (object_class, FILTER_PROP_ENGINE,
      g_param_spec_enum ("engine", "Engine",
          "The algorithm that finds the boxes to drop. All engines give the same result and "
          "differ only in speed",
          gst_nms_engine_get_type (), DEFAULT_ENGINE, SETTABLE));
  g_object_class_install_property (object_class, FILTER_PROP_XLA_PLUGIN,
      g_param_spec_string ("xla-plugin", "XLA plugin",
          "The file of the PJRT plugin that engine=xla uses; it determines the device. NULL = "
          "the file that the environment variable NMS_XLA_PLUGIN names. Presets do not hold it",
          DEFAULT_XLA_PLUGIN, ready));
  g_object_class_install_property (object_class, FILTER_PROP_XLA_STRICT,
      g_param_spec_boolean ("xla-strict", "XLA strictly",
          "With engine=xla, wait until its programs are compiled, and stop with an error if it "
          "cannot run, instead of using another engine",
          DEFAULT_XLA_STRICT, ready));
}

static void
install_choices (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, FILTER_PROP_MISSING_SCORE,
      g_param_spec_enum ("missing-score", "Missing score",
          "How boxes without a confidence are ranked. They rank after all boxes with a "
          "confidence, and score-threshold does not apply to them",
          gst_nms_missing_score_get_type (), DEFAULT_MISSING_SCORE, SETTABLE));
  g_object_class_install_property (object_class, FILTER_PROP_MIN_NEIGHBORS,
      g_param_spec_uint ("min-neighbors", "Minimum neighbors",
          "Boxes without a confidence are dropped unless each overlaps at least this many other "
          "boxes by more than iou-threshold, because cascade detectors report a true object "
          "several times; 0 = off",
          0, G_MAXUINT, DEFAULT_MIN_NEIGHBORS, CONTROLLABLE));
  g_object_class_install_property (object_class, FILTER_PROP_CLASSES,
      g_param_spec_string ("classes", "Classes",
          "Classes of the boxes to filter, separated by commas; boxes of other classes pass "
          "unchanged and count towards no limit. NULL or empty = all. Presets do not hold it",
          DEFAULT_CLASSES, SETTABLE));
  g_object_class_install_property (object_class, FILTER_PROP_CLASS_OPTIONS,
      g_param_spec_boxed ("class-options", "Class options",
          "Values for single classes: iou-threshold, score-threshold and max (boxes to keep; "
          "0 = no limit), in brackets: 'o,person=[o,iou-threshold=0.3],car=[o,max=5]' or, for "
          "classes with blanks, "
          "'\"o,options=<[o,class=\\\"traffic light\\\",score-threshold=0.2]>\"', "
          "both quoted for a shell. Text that is no GstStructure, such as person=0.3, cannot be "
          "set. Presets do not hold it",
          GST_TYPE_STRUCTURE, SETTABLE));
  g_object_class_install_property (object_class, FILTER_PROP_CLASS_GROUPS,
      g_param_spec_string ("class-groups", "Class groups",
          "Groups of classes that suppress each other, such as car and truck on one object. "
          "Groups are separated by \";\", their classes by \",\" (the confidence decides) or "
          "\">\" (a box of a class before it ranks first whatever the confidences are; methods "
          "hard, merge and greedy-merge), as in 'bus>truck>car;cup,glass', quoted for a shell. "
          "Thresholds and limits remain those of each class. NULL or empty = no groups. Presets "
          "do not hold it",
          DEFAULT_CLASS_GROUPS, SETTABLE));
}

static void
install_method (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, FILTER_PROP_METHOD,
      g_param_spec_enum ("method", "Method",
          "What happens to boxes that overlap a better one. Methods other than hard change the "
          "scores or places of kept boxes, in their metadata too",
          gst_nms_method_get_type (), DEFAULT_METHOD, SETTABLE));
  g_object_class_install_property (object_class, FILTER_PROP_METRIC,
      g_param_spec_enum ("metric", "Metric",
          "How the overlap of two boxes is measured, which is compared with iou-threshold",
          gst_nms_metric_get_type (), DEFAULT_METRIC, SETTABLE));
  g_object_class_install_property (object_class, FILTER_PROP_MIN_SIZE_RATIO,
      g_param_spec_float ("min-size-ratio", "Minimum size ratio",
          "Two boxes are no duplicates of each other, whatever their overlap is, if the area of "
          "the smaller one is less than this part of the other's area: neither drops, lowers or "
          "joins the other, and neither is the other's neighbor. With metric=ios, 0.05 keeps a "
          "child in front of an adult, or a car in the street behind a parked one; 0 = off",
          0, 1, DEFAULT_MIN_SIZE_RATIO, CONTROLLABLE));
  g_object_class_install_property (object_class, FILTER_PROP_METHOD_OPTIONS,
      g_param_spec_boxed ("method-options", "Method options",
          "Options of single methods, such as 'o,sigma=0.3,min-score=0.05', quoted for a shell; "
          "other methods ignore it. sigma = parameter of the gaussian methods: a larger one lowers "
          "scores less with soft-gaussian, more with matrix-gaussian; TensorFlow's soft_nms_sigma "
          "is half of that of soft-gaussian; 0 = the default of the method (soft-gaussian 0.5, "
          "matrix-gaussian 2). min-score = lowest new score of a kept box, with the soft and "
          "matrix methods (default 0.001). fused-score = the score of a box that method=weighted "
          "makes of several: avg (default), max, box-and-model-avg (mean of the scores, by the "
          "sources that found the object) or absent-model-aware-avg "
          "(with 0 for each source that did not "
          "find it). Presets do not hold it",
          GST_TYPE_STRUCTURE, SETTABLE));
  g_object_class_install_property (object_class, FILTER_PROP_SOURCES,
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
}

static void
install_reports (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, FILTER_PROP_INTERVAL,
      g_param_spec_uint64 ("interval", "Interval",
          "Stream time, in ns, between two element messages \"nmsfilter\"; the last message comes "
          "at the end of the stream. Its fields are those of stats (totals), and timestamp, "
          "stream-time, running-time, duration (in running time) and endtime (in stream time), "
          "all guint64, ns, of the interval since the previous message. 0 = no messages",
          0, G_MAXUINT64, DEFAULT_INTERVAL, CONTROLLABLE));
}

void
filter_settings_install (GObjectClass *object_class)
{
  install_thresholds (object_class);
  install_choices (object_class);
  install_method (object_class);
  install_reports (object_class);
  install_engine (object_class);
  gst_type_mark_as_plugin_api (gst_nms_engine_get_type (), 0);
  gst_type_mark_as_plugin_api (gst_nms_missing_score_get_type (), 0);
  gst_type_mark_as_plugin_api (gst_nms_method_get_type (), 0);
  gst_type_mark_as_plugin_api (gst_nms_metric_get_type (), 0);
}

/* -------------------------------------------------------------------- values */

static const gsize fields[] = {
  [FILTER_PROP_IOU_THRESHOLD] = G_STRUCT_OFFSET (FilterSettings, iou_threshold),
  [FILTER_PROP_SCORE_THRESHOLD] = G_STRUCT_OFFSET (FilterSettings, score_threshold),
  [FILTER_PROP_MAX_DETECTIONS] = G_STRUCT_OFFSET (FilterSettings, max_detections),
  [FILTER_PROP_MAX_PER_CLASS] = G_STRUCT_OFFSET (FilterSettings, max_per_class),
  [FILTER_PROP_MAX_CANDIDATES] = G_STRUCT_OFFSET (FilterSettings, max_candidates),
  [FILTER_PROP_CLASS_AGNOSTIC] = G_STRUCT_OFFSET (FilterSettings, class_agnostic),
  [FILTER_PROP_INCLUSIVE] = G_STRUCT_OFFSET (FilterSettings, inclusive),
  [FILTER_PROP_ENGINE] = G_STRUCT_OFFSET (FilterSettings, engine),
  [FILTER_PROP_MISSING_SCORE] = G_STRUCT_OFFSET (FilterSettings, missing_score),
  [FILTER_PROP_MIN_NEIGHBORS] = G_STRUCT_OFFSET (FilterSettings, min_neighbors),
  [FILTER_PROP_CLASS_OPTIONS] = G_STRUCT_OFFSET (FilterSettings, class_options),
  [FILTER_PROP_CLASS_GROUPS] = G_STRUCT_OFFSET (FilterSettings, class_groups),
  [FILTER_PROP_METHOD_OPTIONS] = G_STRUCT_OFFSET (FilterSettings, method_options),
  [FILTER_PROP_CLASSES] = G_STRUCT_OFFSET (FilterSettings, classes),
  [FILTER_PROP_METHOD] = G_STRUCT_OFFSET (FilterSettings, method),
  [FILTER_PROP_METRIC] = G_STRUCT_OFFSET (FilterSettings, metric),
  [FILTER_PROP_MIN_SIZE_RATIO] = G_STRUCT_OFFSET (FilterSettings, min_size_ratio),
  [FILTER_PROP_SOURCES] = G_STRUCT_OFFSET (FilterSettings, sources),
  [FILTER_PROP_INTERVAL] = G_STRUCT_OFFSET (FilterSettings, interval),
  [FILTER_PROP_XLA_PLUGIN] = G_STRUCT_OFFSET (FilterSettings, xla_plugin),
  [FILTER_PROP_XLA_STRICT] = G_STRUCT_OFFSET (FilterSettings, xla_strict),
};

void
filter_settings_clear (FilterSettings *settings)
{
  g_free (settings->xla_plugin);
  g_free (settings->classes);
  g_free (settings->class_groups);
  g_free (settings->sources);
  g_clear_pointer (&settings->class_options, gst_structure_free);
  g_clear_pointer (&settings->method_options, gst_structure_free);
  g_clear_pointer (&settings->selection, g_array_unref);
  g_clear_pointer (&settings->options, g_array_unref);
  g_clear_pointer (&settings->groups, g_array_unref);
  g_clear_pointer (&settings->source_options, g_array_unref);
  g_free (settings->class_options_error);
  g_free (settings->class_groups_error);
  g_free (settings->method_options_error);
  g_free (settings->sources_error);
  g_clear_pointer (&settings->made, box_suppress_rules_unref);
}

void
filter_settings_get (const FilterSettings *settings, guint id, GValue *value)
{
  property_field_get (G_STRUCT_MEMBER_P (settings, fields[id]), value);
}

/* Parses the text or structure of a property that has one. */
static void
parse (FilterSettings *settings, guint id)
{
  switch (id) {
    case FILTER_PROP_CLASSES:
      g_clear_pointer (&settings->selection, g_array_unref);
      settings->selection = class_selection_parse (settings->classes);
      break;
    case FILTER_PROP_SOURCES:
      g_clear_pointer (&settings->source_options, g_array_unref);
      g_free (settings->sources_error);
      settings->source_options = source_options_parse (settings->sources, &settings->sources_error);
      break;
    case FILTER_PROP_CLASS_OPTIONS:
      g_clear_pointer (&settings->options, g_array_unref);
      g_clear_pointer (&settings->class_options_error, g_free);
      if (settings->class_options)
        settings->options = class_options_parse (settings->class_options,
            &settings->class_options_error);
      break;
    case FILTER_PROP_CLASS_GROUPS:
      g_clear_pointer (&settings->groups, g_array_unref);
      g_free (settings->class_groups_error);
      settings->groups = class_groups_parse (settings->class_groups, &settings->class_groups_error);
      break;
    case FILTER_PROP_METHOD_OPTIONS:
      g_free (settings->method_options_error);
      method_options_parse (settings->method_options, &settings->method_values,
          &settings->method_options_error);
      break;
    default:
      break;
  }
}

void
filter_settings_init (FilterSettings *settings)
{
  *settings = (FilterSettings) {
    .iou_threshold = DEFAULT_IOU_THRESHOLD,
    .score_threshold = DEFAULT_SCORE_THRESHOLD,
    .max_detections = DEFAULT_MAX_DETECTIONS,
    .max_per_class = DEFAULT_MAX_PER_CLASS,
    .max_candidates = DEFAULT_MAX_CANDIDATES,
    .class_agnostic = DEFAULT_CLASS_AGNOSTIC,
    .inclusive = DEFAULT_INCLUSIVE,
    .engine = DEFAULT_ENGINE,
    .missing_score = DEFAULT_MISSING_SCORE,
    .min_neighbors = DEFAULT_MIN_NEIGHBORS,
    .method = DEFAULT_METHOD,
    .metric = DEFAULT_METRIC,
    .min_size_ratio = DEFAULT_MIN_SIZE_RATIO,
    .sources = g_strdup (DEFAULT_SOURCES),
    .interval = DEFAULT_INTERVAL,
    .xla_plugin = g_strdup (DEFAULT_XLA_PLUGIN),
    .xla_strict = DEFAULT_XLA_STRICT,
    .classes = g_strdup (DEFAULT_CLASSES),
    .class_groups = g_strdup (DEFAULT_CLASS_GROUPS),
  };
  for (guint id = 1; id < G_N_ELEMENTS (fields); id++)
    parse (settings, id);
}

static void
set (FilterSettings *settings, guint id, const GValue *value)
{
  property_field_set (G_STRUCT_MEMBER_P (settings, fields[id]), value);
  parse (settings, id);
}

gchar *
filter_settings_set (FilterSettings *settings, guint id, const GValue *value, gboolean keep_usable)
{
  GValue before = G_VALUE_INIT;
  gchar *refused = NULL;

  g_clear_pointer (&settings->made, box_suppress_rules_unref);
  g_value_init (&before, G_VALUE_TYPE (value));
  filter_settings_get (settings, id, &before);
  set (settings, id, value);
  if (keep_usable && (refused = filter_settings_error (settings)) != NULL)
    set (settings, id, &before);
  g_value_unset (&before);
  return refused;
}

gchar *
filter_settings_error (const FilterSettings *settings)
{
  const gchar *conflict = nms_method_reason (settings->method, settings->metric);

  if (settings->class_options_error)
    return g_strdup_printf ("Cannot use class-options: %s.", settings->class_options_error);
  if (settings->class_groups_error)
    return g_strdup_printf ("Cannot use class-groups: %s.", settings->class_groups_error);
  if (settings->method_options_error)
    return g_strdup_printf ("Cannot use method-options: %s.", settings->method_options_error);
  if (settings->sources_error)
    return g_strdup_printf ("Cannot use sources: %s.", settings->sources_error);
  if (conflict)
    return g_strdup_printf ("Cannot use method=%s with metric=%s: %s.",
        nms_method_name (settings->method), nms_metric_name (settings->metric), conflict);
  if (box_suppress_needs_scores (settings->method)) {
    const gchar *ranks = source_options_have_priorities (settings->source_options)
        ? "priorities in sources"
        : class_groups_have_ranks (settings->groups) ? "\">\" in class-groups"
                                                     : NULL;

    if (ranks)
      return g_strdup_printf ("Cannot use method=%s with %s: the method ranks boxes by their "
                              "scores only.",
          nms_method_name (settings->method), ranks);
  }
  return NULL;
}

/* Adds the class options and the groups to the rules. */
static void
make_options (BoxSuppressRules *rules, const GArray *given, GArray *groups)
{
  GArray *options = class_options_with_groups (given, groups);

  rules->options = options;
  if (class_groups_have_ranks (groups))
    rules->class_ranks = g_array_ref (groups);
  rules->crosses_classes |= groups != NULL;
  rules->unscored = g_array_copy (options);
  for (guint k = 0; k < options->len; k++)
    g_array_index (rules->unscored, nms_class_options, k).set &= ~(
        guint32) NMS_CLASS_SCORE_THRESHOLD;
  rules->core.class_options = (const nms_class_options *) options->data;
  rules->core.class_option_count = options->len;
}

/* Adds the options of sources to the rules, as far as they apply. */
static void
make_sources (BoxSuppressRules *rules, GArray *sources)
{
  rules->has_priorities = source_options_have_priorities (sources);
  rules->has_score_thresholds = source_options_have_thresholds (sources);
  if (rules->core.method == NMS_METHOD_WEIGHTED) {
    rules->weights = g_array_new (FALSE, FALSE, sizeof (gfloat));
    for (guint i = 0; i < sources->len; i++)
      g_array_append_val (rules->weights, g_array_index (sources, SourceOption, i).weight);
    rules->core.source_weights = (const gfloat *) rules->weights->data;
    rules->core.source_count = sources->len;
  }
  if (rules->weights || rules->has_priorities || rules->has_score_thresholds)
    rules->sources = g_array_ref (sources);
}

static BoxSuppressRules *
make_rules (const FilterSettings *settings)
{
  BoxSuppressRules *rules = g_atomic_rc_box_new0 (BoxSuppressRules);
  nms_options *core = &rules->core;

  nms_options_init (core, sizeof *core);
  core->iou_threshold = settings->iou_threshold;
  core->score_threshold = (gfloat) settings->score_threshold;
  core->max_detections = settings->max_detections;
  core->max_per_class = settings->max_per_class;
  core->max_candidates = settings->max_candidates;
  core->inclusive = settings->inclusive != FALSE;
  core->class_agnostic = settings->class_agnostic != FALSE;
  core->method = settings->method;
  core->metric = settings->metric;
  core->min_size_ratio = settings->min_size_ratio;
  core->sigma = settings->method_values.sigma;
  core->min_score = settings->method_values.min_score;
  core->fused_score = settings->method_values.fused_score;
  rules->added_engine = settings->engine == FILTER_ENGINE_XLA;
  core->engine = rules->added_engine ? NMS_ENGINE_AUTO : settings->engine;
  rules->crosses_classes = settings->class_agnostic != FALSE;
  if (settings->options || settings->groups)
    make_options (rules, settings->options, settings->groups);
  rules->selection = class_list_ref (settings->selection);
  if (settings->source_options)
    make_sources (rules, settings->source_options);
  rules->unscored_order = settings->missing_score;
  rules->min_neighbors = settings->min_neighbors;
  return rules;
}

BoxSuppressRules *
filter_settings_get_rules (FilterSettings *settings)
{
  if (settings->made == NULL)
    settings->made = make_rules (settings);
  return g_atomic_rc_box_acquire (settings->made);
}
