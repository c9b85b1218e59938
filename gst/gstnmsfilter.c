/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: the element around boxfilter. Reads the boxes of a buffer, has
 * them decided, and drops or tags them; nothing else of the buffer is touched.
 *
 * The decision is made in prepare_output_buffer, on the input buffer, which
 * need not be writable for that: a buffer of which nothing is dropped goes on
 * as it is, and only one that changes is copied if somebody else holds it.
 */

/**
 * SECTION:element-nmsfilter
 * @title: nmsfilter
 * @short_description: removes overlapping detections (non-maximum suppression)
 *
 * Object detectors report the same object several times. nmsfilter keeps the
 * best of each group of overlapping boxes and drops the others: it walks the
 * boxes of a buffer from the highest confidence to the lowest and drops each
 * that overlaps an already kept box of the same class by more than
 * #GstNmsFilter:iou-threshold. It belongs after the detector and before
 * whatever draws, tracks, counts or publishes the boxes.
 *
 * Boxes are #GstVideoRegionOfInterestMeta. The label is the type of the
 * region; confidence and exact coordinates come from its structure `detection`
 * if it has one. Boxes without a confidence are ranked as
 * #GstNmsFilter:missing-score says. Regions that only carry hints for encoders
 * (`roi/...`) pass on. Pixels are never touched, so any caps will do; the size
 * of the frame is taken from the caps where they have one.
 *
 * Place nmsfilter before any videoconvert or videoscale: those elements drop
 * the confidences.
 *
 * ## Example launch lines
 *
 * Faces of a camera, without OpenCV's own grouping of what its cascade finds:
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! facedetect min-neighbors=0 display=false qos=false !
 *     nmsfilter min-neighbors=3 ! boxoverlay ! videoconvert ! autovideosink
 * ]|
 * Per-class thresholds, at most 20 boxes, and statistics every second on the
 * terminal:
 * |[
 * gst-launch-1.0 -m filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl !
 *     nmsfilter score-threshold=0.4 max-detections=20 post-messages=true
 *     class-options="o,person=[o,iou-threshold=0.3],car=[o,max=5]" ! fakesink
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <fenv.h>

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "boxfilter.h"
#include "boxmeta.h"
#include "elements.h"
#include "filterstats.h"

GST_DEBUG_CATEGORY_STATIC (gst_nms_filter_debug);
#define GST_CAT_DEFAULT gst_nms_filter_debug

/* -------------------------------------------------------------- enumerations */

/* The numbers of all enumerations are fixed: applications store them. */
typedef enum
{
  GST_NMS_METHOD_HARD = 0,
} GstNmsMethod;

typedef enum
{
  GST_NMS_METRIC_IOU = 0,
} GstNmsMetric;

typedef enum
{
  GST_NMS_ACTION_REMOVE = 0,
  GST_NMS_ACTION_TAG = 1,
} GstNmsAction;

#define DEFINE_ENUM(function, name, ...)                                       \
  static GType                                                                 \
  function (void)                                                              \
  {                                                                            \
    static const GEnumValue values[] = { __VA_ARGS__, { 0, NULL, NULL } };     \
    static gsize type = 0;                                                     \
    if (g_once_init_enter (&type))                                             \
      g_once_init_leave (&type, g_enum_register_static (name, values));        \
    return (GType) type;                                                       \
  }

DEFINE_ENUM (gst_nms_method_get_type, "GstNmsMethod",
    { GST_NMS_METHOD_HARD, "Drop every box that overlaps a better one too much", "hard" })
DEFINE_ENUM (gst_nms_metric_get_type, "GstNmsMetric",
    { GST_NMS_METRIC_IOU, "Intersection over union", "iou" })
DEFINE_ENUM (gst_nms_engine_get_type, "GstNmsEngine",
    { NMS_ENGINE_AUTO, "Pick by number of boxes and limits", "auto" },
    { NMS_ENGINE_SEQUENTIAL, "One step for each kept box; best where few are kept",
        "sequential" },
    { NMS_ENGINE_SORTED, "Sort, then test each box against the kept ones", "sorted" })
DEFINE_ENUM (gst_nms_missing_score_get_type, "GstNmsMissingScore",
    { BOX_RANK_NEIGHBORS, "Rank by the number of other boxes that each overlaps", "neighbors" },
    { BOX_RANK_AREA, "Rank by area, largest first", "area" },
    { BOX_RANK_ORDER, "Rank in the order in which the detector attached them", "order" },
    { BOX_RANK_DROP, "Drop boxes without a confidence", "drop" })
DEFINE_ENUM (gst_nms_action_get_type, "GstNmsAction",
    { GST_NMS_ACTION_REMOVE, "Remove what is not kept", "remove" },
    { GST_NMS_ACTION_TAG, "Remove nothing; mark each box with a structure \"nms\"", "tag" })

/* ---------------------------------------------------------------- the object */

enum
{
  PROP_0,
  PROP_IOU_THRESHOLD,
  PROP_SCORE_THRESHOLD,
  PROP_MAX_DETECTIONS,
  PROP_MAX_PER_CLASS,
  PROP_CLASS_AGNOSTIC,
  PROP_INCLUSIVE,
  PROP_METHOD,
  PROP_METRIC,
  PROP_ENGINE,
  PROP_MISSING_SCORE,
  PROP_MIN_NEIGHBORS,
  PROP_CLASSES,
  PROP_CLASS_OPTIONS,
  PROP_ACTION,
  PROP_POST_MESSAGES,
  PROP_INTERVAL,
  PROP_ENGINE_IN_USE,
  PROP_STATS,
};

#define DEFAULT_IOU_THRESHOLD 0.5f
#define DEFAULT_SCORE_THRESHOLD (-G_MAXFLOAT)
#define DEFAULT_MAX_DETECTIONS 0
#define DEFAULT_MAX_PER_CLASS 0
#define DEFAULT_CLASS_AGNOSTIC FALSE
#define DEFAULT_INCLUSIVE FALSE
#define DEFAULT_METHOD GST_NMS_METHOD_HARD
#define DEFAULT_METRIC GST_NMS_METRIC_IOU
#define DEFAULT_ENGINE NMS_ENGINE_AUTO
#define DEFAULT_MISSING_SCORE BOX_RANK_NEIGHBORS
#define DEFAULT_MIN_NEIGHBORS 0
#define DEFAULT_CLASSES NULL
#define DEFAULT_ACTION GST_NMS_ACTION_REMOVE
#define DEFAULT_POST_MESSAGES FALSE
#define DEFAULT_INTERVAL GST_SECOND

G_DECLARE_FINAL_TYPE (GstNmsFilter, gst_nms_filter, GST, NMS_FILTER, GstBaseTransform)

/* What the properties say; copied whole for each frame. */
typedef struct
{
  gfloat iou_threshold, score_threshold;
  guint max_detections, max_per_class;
  gboolean class_agnostic, inclusive;
  GstNmsMethod method;
  GstNmsMetric metric;
  nms_engine engine;
  BoxRank missing_score;
  guint min_neighbors;
  GstNmsAction action;
  gboolean post_messages;
  GstClockTime interval;
  ClassOptions *options;        /* counted */
  ClassSelection *selection;    /* counted */
} Settings;

struct _GstNmsFilter
{
  GstBaseTransform parent;

  /* under the object lock */
  Settings settings;
  gchar *classes;               /* as it was set */
  GstStructure *class_options;  /* as it was set */
  gchar *class_options_error;   /* why it cannot be used; settings.options is older */
  gboolean started;
  FilterStats stats;
  gint engine_used;             /* NMS_ENGINE_AUTO: nothing has run */
  const gchar *cpu_used;

  /* of the streaming thread */
  BoxFilter *filter;
  GArray *boxes;                /* Box */
  GArray *drop;                 /* guint8 a box, what box_meta_remove takes */
  FilterStats frame;            /* of the current buffer */
  GstClockTime frame_start;     /* when work on it began */
  GstNmsAction action;          /* settings.action for it */
  gboolean change;              /* transform_ip has something to do */
  gboolean report;              /* settings.post_messages and .interval for it */
  GstClockTime interval;
  FilterSpan span;
  gint width, height;           /* of the caps; 0: they have none */
  gboolean scores_seen, converter_warned;
};

G_DEFINE_TYPE (GstNmsFilter, gst_nms_filter, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (nmsfilter, "nmsfilter", GST_RANK_NONE, gst_nms_filter_get_type ())

static GstStaticPadTemplate sink_template =
GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* ---------------------------------------------------------------- properties */

/* Takes a new value of class-options. While playing, one that cannot be used
 * is refused with a warning; before, it is kept, and start() says what is wrong
 * with it. */
static void
set_class_options (GstNmsFilter * self, const GstStructure * structure)
{
  ClassOptions *options = NULL, *old = NULL;
  gchar *error = NULL;
  gchar *refused = NULL;

  if (structure)
    options = class_options_parse (structure, &error);

  GST_OBJECT_LOCK (self);
  if (error && self->started) {
    refused = error;
  } else {
    old = self->settings.options;
    self->settings.options = options;
    if (self->class_options)
      gst_structure_free (self->class_options);
    self->class_options = structure ? gst_structure_copy (structure) : NULL;
    g_free (self->class_options_error);
    self->class_options_error = error;
  }
  GST_OBJECT_UNLOCK (self);

  class_options_unref (old);
  if (refused) {
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("Cannot use this value of class-options: %s.", refused),
        ("the value set before stays in use"));
    g_free (refused);
  }
}

static void
gst_nms_filter_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstNmsFilter *self = GST_NMS_FILTER (object);
  Settings *settings = &self->settings;

  if (id == PROP_CLASS_OPTIONS) {
    set_class_options (self, gst_value_get_structure (value));
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_IOU_THRESHOLD:
      settings->iou_threshold = g_value_get_float (value);
      break;
    case PROP_SCORE_THRESHOLD:
      settings->score_threshold = g_value_get_float (value);
      break;
    case PROP_MAX_DETECTIONS:
      settings->max_detections = g_value_get_uint (value);
      break;
    case PROP_MAX_PER_CLASS:
      settings->max_per_class = g_value_get_uint (value);
      break;
    case PROP_CLASS_AGNOSTIC:
      settings->class_agnostic = g_value_get_boolean (value);
      break;
    case PROP_INCLUSIVE:
      settings->inclusive = g_value_get_boolean (value);
      break;
    case PROP_METHOD:
      settings->method = g_value_get_enum (value);
      break;
    case PROP_METRIC:
      settings->metric = g_value_get_enum (value);
      break;
    case PROP_ENGINE:
      settings->engine = g_value_get_enum (value);
      break;
    case PROP_MISSING_SCORE:
      settings->missing_score = g_value_get_enum (value);
      break;
    case PROP_MIN_NEIGHBORS:
      settings->min_neighbors = g_value_get_uint (value);
      break;
    case PROP_CLASSES:
      g_free (self->classes);
      self->classes = g_value_dup_string (value);
      class_selection_unref (settings->selection);
      settings->selection = class_selection_parse (self->classes);
      break;
    case PROP_ACTION:
      settings->action = g_value_get_enum (value);
      break;
    case PROP_POST_MESSAGES:
      settings->post_messages = g_value_get_boolean (value);
      break;
    case PROP_INTERVAL:
      settings->interval = g_value_get_uint64 (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

/* Both are called with the object lock. */
static GstStructure *
make_stats (GstNmsFilter * self)
{
  GstStructure *structure = gst_structure_new_empty ("nmsfilter-stats");

  filter_stats_to_structure (&self->stats, structure);
  return structure;
}

static gchar *
make_engine_in_use (GstNmsFilter * self)
{
  if (self->engine_used == NMS_ENGINE_AUTO)
    return NULL;
  return g_strdup_printf ("%s/%s", nms_engine_name (self->engine_used), self->cpu_used);
}

static void
gst_nms_filter_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstNmsFilter *self = GST_NMS_FILTER (object);
  const Settings *settings = &self->settings;

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_IOU_THRESHOLD:
      g_value_set_float (value, settings->iou_threshold);
      break;
    case PROP_SCORE_THRESHOLD:
      g_value_set_float (value, settings->score_threshold);
      break;
    case PROP_MAX_DETECTIONS:
      g_value_set_uint (value, settings->max_detections);
      break;
    case PROP_MAX_PER_CLASS:
      g_value_set_uint (value, settings->max_per_class);
      break;
    case PROP_CLASS_AGNOSTIC:
      g_value_set_boolean (value, settings->class_agnostic);
      break;
    case PROP_INCLUSIVE:
      g_value_set_boolean (value, settings->inclusive);
      break;
    case PROP_METHOD:
      g_value_set_enum (value, settings->method);
      break;
    case PROP_METRIC:
      g_value_set_enum (value, settings->metric);
      break;
    case PROP_ENGINE:
      g_value_set_enum (value, settings->engine);
      break;
    case PROP_MISSING_SCORE:
      g_value_set_enum (value, settings->missing_score);
      break;
    case PROP_MIN_NEIGHBORS:
      g_value_set_uint (value, settings->min_neighbors);
      break;
    case PROP_CLASSES:
      g_value_set_string (value, self->classes);
      break;
    case PROP_CLASS_OPTIONS:
      gst_value_set_structure (value, self->class_options);
      break;
    case PROP_ACTION:
      g_value_set_enum (value, settings->action);
      break;
    case PROP_POST_MESSAGES:
      g_value_set_boolean (value, settings->post_messages);
      break;
    case PROP_INTERVAL:
      g_value_set_uint64 (value, settings->interval);
      break;
    case PROP_ENGINE_IN_USE:
      g_value_take_string (value, make_engine_in_use (self));
      break;
    case PROP_STATS:
      g_value_take_boxed (value, make_stats (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

/* --------------------------------------------------------------- one buffer */

/* The one look at the properties for this buffer; the counted members are the
 * caller's to give back. */
static void
take_settings (GstNmsFilter * self, BoxRules * rules)
{
  const Settings *settings = &self->settings;

  nms_options_init (&rules->core, sizeof rules->core);
  GST_OBJECT_LOCK (self);
  rules->core.iou_threshold = settings->iou_threshold;
  rules->core.score_threshold = class_options_threshold_for_core (settings->score_threshold);
  rules->core.max_detections = settings->max_detections;
  rules->core.max_per_class = settings->max_per_class;
  rules->core.inclusive = settings->inclusive != FALSE;
  rules->core.class_agnostic = settings->class_agnostic != FALSE;
  rules->core.engine = settings->engine;
  rules->options = class_options_ref (settings->options);
  rules->selection = class_selection_ref (settings->selection);
  rules->rank = settings->missing_score;
  rules->min_neighbors = settings->min_neighbors;
  self->action = settings->action;
  self->report = settings->post_messages;
  self->interval = settings->interval;
  GST_OBJECT_UNLOCK (self);
}

static void
warn_lost_scores (GstNmsFilter * self)
{
  if (self->frame.unscored < self->frame.boxes_in) {
    self->scores_seen = TRUE;
  } else if (self->scores_seen && !self->converter_warned) {
    self->converter_warned = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("The boxes have lost their confidences. Put nmsfilter before videoconvert, videoscale "
            "and the like: they drop them."),
        ("earlier boxes of this stream had confidences, none of the %" G_GUINT64_FORMAT
            " on this buffer has", self->frame.boxes_in));
  }
}

static gboolean
decide (GstNmsFilter * self, GstBuffer * buffer, const BoxRules * rules)
{
  gboolean tag = self->action == GST_NMS_ACTION_TAG;
  fenv_t mode;
  guint i, drops;
  gint res = 0;

  /* other code in the process may have left another mode of arithmetic on */
  fegetenv (&mode);
  fesetenv (FE_DFL_ENV);
  if (box_meta_read (buffer, self->width, self->height, 0, self->boxes) > 0)
    res = box_filter_run (self->filter, self->boxes, rules, tag);
  fesetenv (&mode);
  if (res < 0) {
    GST_ELEMENT_ERROR (self, LIBRARY, FAILED, ("Cannot filter the boxes: %s.",
            nms_strerror (res)), ("%s", box_filter_error (self->filter)));
    return FALSE;
  }

  drops = filter_stats_add_boxes (&self->frame, self->boxes);
  if (self->boxes->len == 0)
    return TRUE;
  warn_lost_scores (self);
  if (tag) {
    self->change = self->frame.not_selected < self->boxes->len;
  } else if (drops > 0) {
    self->change = TRUE;
    g_array_set_size (self->drop, self->boxes->len);
    for (i = 0; i < self->boxes->len; i++)
      g_array_index (self->drop, guint8, i) =
          box_state_is_drop (g_array_index (self->boxes, Box, i).state);
  }
  GST_LOG_OBJECT (self, "%u boxes, %u dropped", self->boxes->len, drops);
  return TRUE;
}

static void
post_report (GstNmsFilter * self)
{
  GstStructure *structure;
  FilterStats stats;

  GST_OBJECT_LOCK (self);
  stats = self->stats;
  GST_OBJECT_UNLOCK (self);
  structure = filter_span_report (&self->span, &stats);
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self), structure));
  filter_span_begin (&self->span);
}

static void
finish_buffer (GstNmsFilter * self, GstBuffer * buffer)
{
  self->frame.time = gst_util_get_timestamp () - self->frame_start;
  GST_OBJECT_LOCK (self);
  filter_stats_add (&self->stats, &self->frame);
  if (self->boxes->len > 0) {
    self->engine_used = box_filter_engine (self->filter);
    self->cpu_used = box_filter_cpu (self->filter);
  }
  GST_OBJECT_UNLOCK (self);
  if (self->report && filter_span_add (&self->span,
          &GST_BASE_TRANSFORM (self)->segment, buffer, self->interval))
    post_report (self);
}

static void
gst_nms_filter_before_transform (GstBaseTransform * trans, GstBuffer * buffer)
{
  GstClockTime time = GST_CLOCK_TIME_NONE;

  if (trans->segment.format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID (buffer))
    time = gst_segment_to_stream_time (&trans->segment, GST_FORMAT_TIME,
        GST_BUFFER_PTS (buffer));
  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (trans), time);
}

static GstFlowReturn
gst_nms_filter_prepare_output_buffer (GstBaseTransform * trans, GstBuffer * input,
    GstBuffer ** output)
{
  GstNmsFilter *self = GST_NMS_FILTER (trans);
  BoxRules rules;
  gboolean ok;

  self->frame_start = gst_util_get_timestamp ();
  self->frame = (FilterStats) { 0 };
  self->change = FALSE;
  take_settings (self, &rules);
  ok = decide (self, input, &rules);
  class_options_unref (rules.options);
  class_selection_unref (rules.selection);
  if (!ok)
    return GST_FLOW_ERROR;

  if (!self->change || gst_buffer_is_writable (input))
    *output = input;
  else
    *output = gst_buffer_copy (input);  /* memory is shared, not copied */
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_nms_filter_transform_ip (GstBaseTransform * trans, GstBuffer * buffer)
{
  GstNmsFilter *self = GST_NMS_FILTER (trans);

  if (self->change && self->action == GST_NMS_ACTION_TAG)
    box_meta_tag (buffer, self->boxes);
  else if (self->change)
    box_meta_remove (buffer, self->boxes, (const guint8 *) self->drop->data);
  finish_buffer (self, buffer);
  return GST_FLOW_OK;
}

/* ------------------------------------------------------------------- stream */

static void
new_stream (GstNmsFilter * self)
{
  self->scores_seen = FALSE;
  self->converter_warned = FALSE;
}

/* Not in set_caps: the base class would then refuse streams without caps. */
static void
take_caps (GstNmsFilter * self, GstEvent * event)
{
  GstStructure *structure;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  structure = gst_caps_get_structure (caps, 0);
  self->width = self->height = 0;
  if (!gst_structure_get_int (structure, "width", &self->width)
      || !gst_structure_get_int (structure, "height", &self->height)
      || self->width <= 0 || self->height <= 0)
    self->width = self->height = 0;
  GST_DEBUG_OBJECT (self, "frame size %dx%d", self->width, self->height);
}

static gboolean
gst_nms_filter_sink_event (GstBaseTransform * trans, GstEvent * event)
{
  GstNmsFilter *self = GST_NMS_FILTER (trans);
  gboolean report;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      new_stream (self);
      break;
    case GST_EVENT_CAPS:
      take_caps (self, event);
      break;
    case GST_EVENT_SEGMENT:
    case GST_EVENT_FLUSH_STOP:
      filter_span_begin (&self->span);
      break;
    case GST_EVENT_EOS:
      GST_OBJECT_LOCK (self);
      report = self->settings.post_messages;
      GST_OBJECT_UNLOCK (self);
      if (report)
        post_report (self);
      break;
    default:
      break;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_nms_filter_parent_class)->sink_event (trans, event);
}

static gboolean
gst_nms_filter_propose_allocation (GstBaseTransform * trans, GstQuery * decide_query,
    GstQuery * query)
{
  const GType api = GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE;

  if (!GST_BASE_TRANSFORM_CLASS (gst_nms_filter_parent_class)->propose_allocation (trans,
          decide_query, query))
    return FALSE;
  if (!gst_query_find_allocation_meta (query, api, NULL))
    gst_query_add_allocation_meta (query, api, NULL);
  return TRUE;
}

static gboolean
gst_nms_filter_start (GstBaseTransform * trans)
{
  GstNmsFilter *self = GST_NMS_FILTER (trans);
  gchar *error;

  GST_OBJECT_LOCK (self);
  error = g_strdup (self->class_options_error);
  self->started = error == NULL;
  self->stats = (FilterStats) { 0 };
  self->engine_used = NMS_ENGINE_AUTO;
  GST_OBJECT_UNLOCK (self);
  if (error) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("Cannot use class-options: %s.", error), (NULL));
    g_free (error);
    return FALSE;
  }
  self->filter = box_filter_new ();
  if (self->filter == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("Out of memory."), (NULL));
    return FALSE;
  }
  self->width = self->height = 0;
  new_stream (self);
  filter_span_begin (&self->span);
  return TRUE;
}

static gboolean
gst_nms_filter_stop (GstBaseTransform * trans)
{
  GstNmsFilter *self = GST_NMS_FILTER (trans);

  GST_OBJECT_LOCK (self);
  self->started = FALSE;
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&self->filter, box_filter_free);
  return TRUE;
}

/* -------------------------------------------------------------------- class */

static void
gst_nms_filter_init (GstNmsFilter * self)
{
  self->settings = (Settings) {
    .iou_threshold = DEFAULT_IOU_THRESHOLD,
    .score_threshold = DEFAULT_SCORE_THRESHOLD,
    .max_detections = DEFAULT_MAX_DETECTIONS,
    .max_per_class = DEFAULT_MAX_PER_CLASS,
    .class_agnostic = DEFAULT_CLASS_AGNOSTIC,
    .inclusive = DEFAULT_INCLUSIVE,
    .method = DEFAULT_METHOD,
    .metric = DEFAULT_METRIC,
    .engine = DEFAULT_ENGINE,
    .missing_score = DEFAULT_MISSING_SCORE,
    .min_neighbors = DEFAULT_MIN_NEIGHBORS,
    .action = DEFAULT_ACTION,
    .post_messages = DEFAULT_POST_MESSAGES,
    .interval = DEFAULT_INTERVAL,
  };
  self->boxes = g_array_new (FALSE, FALSE, sizeof (Box));
  self->drop = g_array_new (FALSE, FALSE, sizeof (guint8));
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}

static void
gst_nms_filter_finalize (GObject * object)
{
  GstNmsFilter *self = GST_NMS_FILTER (object);

  class_options_unref (self->settings.options);
  class_selection_unref (self->settings.selection);
  g_free (self->classes);
  if (self->class_options)
    gst_structure_free (self->class_options);
  g_free (self->class_options_error);
  g_array_unref (self->boxes);
  g_array_unref (self->drop);
  G_OBJECT_CLASS (gst_nms_filter_parent_class)->finalize (object);
}

#define SETTABLE (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)
#define CONTROLLABLE (SETTABLE | GST_PARAM_CONTROLLABLE)
#define READABLE (G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)

static void
install_thresholds (GObjectClass * object_class)
{
  g_object_class_install_property (object_class, PROP_IOU_THRESHOLD,
      g_param_spec_float ("iou-threshold", "IoU threshold",
          "Overlap (intersection over union) with a better box of the same class above which a "
          "box is dropped; 1 drops nothing", 0, 1, DEFAULT_IOU_THRESHOLD, CONTROLLABLE));
  g_object_class_install_property (object_class, PROP_SCORE_THRESHOLD,
      g_param_spec_float ("score-threshold", "Score threshold",
          "Boxes with a confidence below this are dropped first; one equal to it stays. The "
          "default is off, since the confidences of some detectors are negative",
          -G_MAXFLOAT, G_MAXFLOAT, DEFAULT_SCORE_THRESHOLD, CONTROLLABLE));
  g_object_class_install_property (object_class, PROP_MAX_DETECTIONS,
      g_param_spec_uint ("max-detections", "Maximum detections",
          "Most boxes to leave on a buffer, the best ones; 0 = no limit",
          0, G_MAXUINT, DEFAULT_MAX_DETECTIONS, CONTROLLABLE));
  g_object_class_install_property (object_class, PROP_MAX_PER_CLASS,
      g_param_spec_uint ("max-per-class", "Maximum per class",
          "Most boxes of one class to leave on a buffer; 0 = no limit",
          0, G_MAXUINT, DEFAULT_MAX_PER_CLASS, CONTROLLABLE));
  g_object_class_install_property (object_class, PROP_CLASS_AGNOSTIC,
      g_param_spec_boolean ("class-agnostic", "Class-agnostic",
          "Let boxes suppress boxes of other classes too (max-per-class still counts per class)",
          DEFAULT_CLASS_AGNOSTIC, CONTROLLABLE));
  g_object_class_install_property (object_class, PROP_INCLUSIVE,
      g_param_spec_boolean ("inclusive", "Inclusive",
          "Drop a box whose overlap equals iou-threshold as well", DEFAULT_INCLUSIVE,
          CONTROLLABLE));
}

static void
install_ways (GObjectClass * object_class)
{
  g_object_class_install_property (object_class, PROP_METHOD,
      g_param_spec_enum ("method", "Method", "What happens to boxes that overlap a better one",
          gst_nms_method_get_type (), DEFAULT_METHOD, SETTABLE));
  g_object_class_install_property (object_class, PROP_METRIC,
      g_param_spec_enum ("metric", "Metric", "How overlap is measured",
          gst_nms_metric_get_type (), DEFAULT_METRIC, SETTABLE));
  g_object_class_install_property (object_class, PROP_ENGINE,
      g_param_spec_enum ("engine", "Engine",
          "The algorithm that computes it. All give the same result; they differ in speed",
          gst_nms_engine_get_type (), DEFAULT_ENGINE, SETTABLE));
  g_object_class_install_property (object_class, PROP_ACTION,
      g_param_spec_enum ("action", "Action",
          "What to do with boxes that are not kept. \"tag\" leaves all and adds to each a "
          "structure \"nms\" with its state and, if it is suppressed, by which box",
          gst_nms_action_get_type (), DEFAULT_ACTION, SETTABLE));
}

static void
install_choices (GObjectClass * object_class)
{
  g_object_class_install_property (object_class, PROP_MISSING_SCORE,
      g_param_spec_enum ("missing-score", "Missing score",
          "What ranks boxes that carry no confidence. They come after all that carry one, and "
          "score-threshold does not apply to them",
          gst_nms_missing_score_get_type (), DEFAULT_MISSING_SCORE, SETTABLE));
  g_object_class_install_property (object_class, PROP_MIN_NEIGHBORS,
      g_param_spec_uint ("min-neighbors", "Minimum neighbors",
          "Boxes without a confidence are dropped unless they overlap at least this many others "
          "beyond iou-threshold, as true finds of cascade detectors do; 0 = off",
          0, G_MAXUINT, DEFAULT_MIN_NEIGHBORS, CONTROLLABLE));
  g_object_class_install_property (object_class, PROP_CLASSES,
      g_param_spec_string ("classes", "Classes",
          "Labels of the boxes to filter, separated by commas; boxes with other labels pass "
          "untouched and count in no limit. NULL or empty = all", DEFAULT_CLASSES, SETTABLE));
  g_object_class_install_property (object_class, PROP_CLASS_OPTIONS,
      g_param_spec_boxed ("class-options", "Class options",
          "Other iou-threshold, score-threshold or max (boxes; 0 = no limit) for single labels: "
          "\"o,person=[o,iou-threshold=0.3],car=[o,max=5]\" or, for labels with blanks, "
          "'o,options=<[o,label=\"traffic light\",score-threshold=0.2]>'",
          GST_TYPE_STRUCTURE, SETTABLE));
}

static void
install_reports (GObjectClass * object_class)
{
  g_object_class_install_property (object_class, PROP_POST_MESSAGES,
      g_param_spec_boolean ("post-messages", "Post messages",
          "Post an element message \"nmsfilter\" with the statistics every interval, and at the "
          "end of the stream", DEFAULT_POST_MESSAGES, CONTROLLABLE));
  g_object_class_install_property (object_class, PROP_INTERVAL,
      g_param_spec_uint64 ("interval", "Interval",
          "Time of stream between two messages, in nanoseconds",
          1, G_MAXUINT64, DEFAULT_INTERVAL, CONTROLLABLE));
  g_object_class_install_property (object_class, PROP_ENGINE_IN_USE,
      g_param_spec_string ("engine-in-use", "Engine in use",
          "The engine and instruction set that ran last, such as \"sorted/scalar\"; NULL before "
          "the first box", NULL, READABLE));
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Totals since the stream began (guint64): frames, boxes-in, boxes-out, why boxes were "
          "dropped (suppressed, below-score, over-cap, too-few-neighbors, no-score, invalid), "
          "boxes of other classes (not-selected), without a confidence (unscored), and "
          "nanoseconds spent (time)", GST_TYPE_STRUCTURE, READABLE));
}

static void
gst_nms_filter_class_init (GstNmsFilterClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_nms_filter_debug, "nmsfilter", 0, "non-maximum suppression");

  object_class->set_property = gst_nms_filter_set_property;
  object_class->get_property = gst_nms_filter_get_property;
  object_class->finalize = gst_nms_filter_finalize;
  install_thresholds (object_class);
  install_choices (object_class);
  install_ways (object_class);
  install_reports (object_class);

  gst_element_class_set_static_metadata (element_class, "Non-maximum suppression",
      "Filter/Analyzer/Video",
      "Keeps the best of overlapping detection boxes and drops the others",
      PACKAGE_NAME " developers");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_type_mark_as_plugin_api (gst_nms_method_get_type (), 0);
  gst_type_mark_as_plugin_api (gst_nms_metric_get_type (), 0);
  gst_type_mark_as_plugin_api (gst_nms_engine_get_type (), 0);
  gst_type_mark_as_plugin_api (gst_nms_missing_score_get_type (), 0);
  gst_type_mark_as_plugin_api (gst_nms_action_get_type (), 0);

  trans_class->start = GST_DEBUG_FUNCPTR (gst_nms_filter_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_nms_filter_stop);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_nms_filter_sink_event);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_nms_filter_propose_allocation);
  trans_class->before_transform = GST_DEBUG_FUNCPTR (gst_nms_filter_before_transform);
  trans_class->prepare_output_buffer = GST_DEBUG_FUNCPTR (gst_nms_filter_prepare_output_buffer);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_nms_filter_transform_ip);
  trans_class->transform_ip_on_passthrough = FALSE;
}
