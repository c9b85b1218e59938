/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: the element around boxsuppress. Reads the boxes of a buffer, lets
 * boxsuppress decide their states, and removes or tags them. Nothing else of the buffer
 * changes.
 *
 * The boxes are decided in prepare_output_buffer, on the input buffer, which need not
 * be writable for that. A buffer from which nothing is removed is passed on as it is; a
 * buffer that changes is copied only if it has other owners.
 */

/**
 * SECTION:element-nmsfilter
 * @title: nmsfilter
 * @short_description: removes overlapping detections (non-maximum suppression)
 *
 * Object detectors report the same object several times. nmsfilter keeps the best box
 * of each group of overlapping boxes and drops the others: it takes the boxes of a
 * buffer in order of confidence, highest first, and drops each box that overlaps a kept
 * box of the same class by more than #GstNmsFilter:iou-threshold. Place it after the
 * detector and before the elements that draw, track, count or publish the boxes.
 *
 * Boxes are #GstVideoRegionOfInterestMeta. The label is the type of the region. The
 * confidence and the exact coordinates come from its structure `detection`, if it has
 * one. Boxes without a confidence are ranked by #GstNmsFilter:missing-score. Regions
 * that carry only hints for encoders (`roi/...`) are not changed. nmsfilter does not
 * touch the pixels, so it accepts any caps; the size of the frame is taken from the
 * caps if they state one.
 *
 * If the plugin was built with GstAnalytics (GStreamer 1.24), each GstAnalyticsODMtd is
 * a box too, rotated ones from 1.26; a region and an OD with its id are one box. With a
 * dropped OD, nmsfilter removes the metadata that is related to no other OD, such as its
 * class. With action=tag it relates a class such as `nms:suppressed` to each OD. If all
 * ODs are dropped, an empty #GstAnalyticsRelationMeta remains.
 *
 * If the caps have the feature meta:GstAnalyticsBatchMeta (GStreamer 1.28), each buffer inside of
 * the batches is filtered, with the frame size of its stream.
 *
 * Place nmsfilter before any videoconvert or videoscale, because those elements drop
 * the confidences.
 *
 * ## Example launch lines
 *
 * Find the faces in the pictures of a camera, without OpenCV's own grouping of boxes:
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! facedetect min-neighbors=0 display=false qos=false \
 *   ! nmsfilter min-neighbors=3 iou-threshold=0.3 ! boxoverlay ! videoconvert ! autovideosink
 * ]|
 * Use thresholds for single classes, keep at most 20 boxes, and print statistics every
 * second:
 * |[
 * gst-launch-1.0 -m filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl \
 *   ! nmsfilter score-threshold=0.4 max-detections=20 interval=1000000000 \
 *     class-options='o,person=[o,iou-threshold=0.3],car=[o,max=5]' ! fakesink
 * ]|
 * Drop small boxes and those outside of the middle of the picture before the suppression, and
 * let boxes at the edges of the middle give way to whole ones:
 * |[
 * gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl \
 *   ! nmsfilter min-height=40 roi=25%,0,50%,100% edge-policy=lower-rank ! fakesink
 * ]|
 * Use the thresholds and limits of other software, by a #GstPreset:
 * |[
 * gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl \
 *   ! nmsfilter @preset=ultralytics ! fakesink
 * ]|
 * Set options for a class with a blank, quoted for a shell:
 * |[
 * gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl \
 *   ! nmsfilter class-options='"o,options=<[o,class=\"traffic light\",iou-threshold=0.3]>"' \
 *   ! fakesink
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "boxsuppress.h"
#include "elements.h"
#include "accelengine.h"
#include "engineinuse.h"
#include "filtersettings.h"
#include "filterstats.h"
#include "filterstream.h"
#include "fpmode.h"
#include "framesize.h"
#include "meta/batchmeta.h"
#include "meta/boxremove.h"
#include "meta/boxrewrite.h"
#include "properties.h"
#include "reportinterval.h"
#include "scoreloss.h"

GST_DEBUG_CATEGORY_STATIC (gst_nms_filter_debug);
#define GST_CAT_DEFAULT gst_nms_filter_debug

/* ---------------------------------------------------------------- the object */

enum
{
  PROP_ENGINE_IN_USE = FILTER_PROP_LAST + 1,
  PROP_STATS,
};

G_DECLARE_FINAL_TYPE (GstNmsFilter, gst_nms_filter, GST, NMS_FILTER, GstBaseTransform)

struct _GstNmsFilter
{
  GstBaseTransform parent;

  /* guarded by the object lock */
  FilterSettings settings;
  gboolean started;
  FilterStats stats;
  gint stopping; /* atomic; nms_context_interrupt was called */
  EngineInUse in_use;
  BatchMeta *batch; /* the streams of batches */

  /* used by the streaming thread only */
  nms_context *context;     /* NULL while stopped */
  BoxSuppress *suppress;    /* likewise */
  BoxMetaReading *reading;  /* of the current buffer */
  GArray *boxes;            /* the boxes of the reading */
  FilterStats frame;        /* of the current buffer */
  GstClockTime frame_start; /* time at which work on it began */
  GstNmsAction action;      /* settings.action, as read for this buffer */
  gboolean change;          /* transform_ip still has to remove or tag boxes */
  gboolean rewrite;         /* transform_ip has to write changed boxes back */
  GstClockTime interval;    /* settings.interval, as read for this buffer */
  ReportInterval reported;  /* since the last message */
  gboolean batches;         /* the buffers are batches */
  gint width, height;       /* from the caps of the current buffer; 0: they state none */
  gboolean warned_size;     /* warned that a rule needs the size, since the start */
  ScoreLoss score_loss;     /* of the stream, unless its buffers are batches */
  gboolean uses_xla;        /* settings.engine is xla, as read for this buffer */
  guint method;             /* method and metric as one number, as read for this buffer */
  AccelEngine accel;
};

static void gst_nms_filter_init_preset (gpointer interface, gpointer user_data);

/* The presets are in GstNmsFilter.prs; GStreamer's own functions read the file. */
G_DEFINE_TYPE_WITH_CODE (GstNmsFilter, gst_nms_filter, GST_TYPE_BASE_TRANSFORM,
    G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, gst_nms_filter_init_preset))
GST_ELEMENT_REGISTER_DEFINE (nmsfilter, "nmsfilter", GST_RANK_NONE, gst_nms_filter_get_type ())

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK,
    GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC,
    GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* ---------------------------------------------------------------- properties */

static void
gst_nms_filter_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstNmsFilter *self = GST_NMS_FILTER (object);
  gchar *refused = NULL;
  gboolean fixed;

  GST_OBJECT_LOCK (self);
  fixed = self->started && (id == FILTER_PROP_XLA_PLUGIN || id == FILTER_PROP_XLA_STRICT);
  if (!fixed)
    refused = filter_settings_set (&self->settings, id, value, self->started);
  GST_OBJECT_UNLOCK (self);

  if (fixed)
    PROPERTY_WARN_READY_ONLY (self, pspec);
  if (refused)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("Cannot use this value of %s: %s.", pspec->name, refused),
        ("the previous value stays in use"));
  g_free (refused);
}

/* Call with the object lock. */
static GstStructure *
add_stats (GstNmsFilter *self, GstStructure *structure)
{
  filter_stats_to_structure (&self->stats, structure);
  filter_streams_to_structure (self->batch, structure);
  return structure;
}

static void
gst_nms_filter_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstNmsFilter *self = GST_NMS_FILTER (object);

  GST_OBJECT_LOCK (self);
  if (id == PROP_ENGINE_IN_USE)
    g_value_set_string (value, engine_in_use_text (&self->in_use));
  else if (id == PROP_STATS)
    g_value_take_boxed (value, add_stats (self, gst_structure_new_empty ("nmsfilter-stats")));
  else
    filter_settings_get (&self->settings, id, value);
  GST_OBJECT_UNLOCK (self);
}

static gchar **
gst_nms_filter_get_preset_property_names (GstPreset *preset)
{
  return filter_settings_preset_names (G_OBJECT_GET_CLASS (preset));
}

static void
gst_nms_filter_init_preset (gpointer interface, gpointer user_data)
{
  ((GstPresetInterface *) interface)->get_property_names = gst_nms_filter_get_preset_property_names;
}

/* --------------------------------------------------------------- one buffer */

/* Reads the properties that apply to this buffer, all at once. */
static void
take_settings (GstNmsFilter *self, BoxSuppressRules *rules)
{
  GST_OBJECT_LOCK (self);
  filter_settings_get_rules (&self->settings, rules);
  self->action = self->settings.action;
  self->uses_xla = self->settings.engine == FILTER_ENGINE_XLA;
  self->method = rules->core.method << 8 | rules->core.metric;
  self->interval = self->settings.interval;
  GST_OBJECT_UNLOCK (self);
  rules->width = self->width;
  rules->height = self->height;
}

/* The object lock keeps the engine from being added meanwhile. */
static void
interrupt (GstNmsFilter *self)
{
  GST_OBJECT_LOCK (self);
  nms_context_interrupt (self->context);
  GST_OBJECT_UNLOCK (self);
}

/* Adds engine xla once after a start. Returns FALSE after it posted an error. xla-plugin and
 * xla-strict do not change while the element is started. */
static gboolean
add_xla (GstNmsFilter *self)
{
  if (self->accel.tried)
    return TRUE;
  if (!accel_engine_add (&self->accel, GST_ELEMENT (self), self->context, self->settings.xla_plugin,
          self->settings.xla_strict))
    return FALSE;
  if (g_atomic_int_get (&self->stopping)) /* the engine was not there when it was set */
    interrupt (self);
  return TRUE;
}

/* Warns once after a start that a rule does not apply because the size of the frame is not
 * known. */
static void
warn_unknown_size (GstNmsFilter *self, const BoxSuppressRules *rules)
{
  if (self->width > 0 || self->warned_size || !prefilter_needs_size (&rules->prefilter))
    return;
  self->warned_size = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
      ("%s does not apply: the caps state no frame size.",
          rules->prefilter.has_region ? "roi in per cent" : "edge-policy without roi"),
      (NULL));
}

/* Reading computes with coordinates, as the core does, so both run in the core's
 * floating-point mode: other code in the process may have set another one. */
static gint
read_and_run (GstNmsFilter *self, GstBuffer *buffer, const BoxSuppressRules *rules,
    BoxSuppressCounts *counts)
{
  const gboolean tag = self->action == GST_NMS_ACTION_TAG;
  const nms__fpmode mode = nms__fpmode_enter ();
  gint res = 0;

  if (box_meta_reading_take (self->reading, buffer, self->width, self->height,
          BOX_READ_LEAN | BOX_READ_CUT | (rules->sources ? BOX_READ_SOURCE : 0))
      > 0)
    res = box_suppress_run (self->suppress, self->boxes, rules, tag, counts);
  nms__fpmode_leave (mode);
  return res;
}

static GstFlowReturn
decide (GstNmsFilter *self, GstBuffer *buffer, ScoreLoss *score_loss, const BoxSuppressRules *rules)
{
  BoxSuppressCounts counts = { 0 };
  gint res;

  res = read_and_run (self, buffer, rules, &counts);
  if (res < 0 && g_atomic_int_get (&self->stopping))
    return GST_FLOW_FLUSHING;
  if (res < 0) {
    GST_ELEMENT_ERROR (self, LIBRARY, FAILED,
        ("Cannot filter the boxes: %s.", nms_context_error (self->context)),
        ("%s", nms_strerror (res)));
    return GST_FLOW_ERROR;
  }

  filter_stats_add_boxes (&self->frame, &counts);
  if (self->boxes->len == 0)
    return GST_FLOW_OK;
  score_loss_warn (score_loss, GST_ELEMENT (self), &self->frame, self->boxes, rules);
  if (self->action == GST_NMS_ACTION_TAG)
    self->change = counts.decided > 0;
  else
    self->change = counts.dropped > 0;
  self->rewrite = counts.rewritten > 0;
  GST_LOG_OBJECT (self, "%u boxes, %u dropped", self->boxes->len, counts.dropped);
  return GST_FLOW_OK;
}

static void
post_report (GstNmsFilter *self)
{
  GstStructure *structure = report_interval_to_structure (&self->reported);

  GST_OBJECT_LOCK (self);
  add_stats (self, structure);
  GST_OBJECT_UNLOCK (self);
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self), structure));
  report_interval_next (&self->reported);
}

/* Decides the boxes of a buffer of the current size, which does not change yet. */
static GstFlowReturn
begin_buffer (GstNmsFilter *self, GstBuffer *buffer, ScoreLoss *score_loss)
{
  BoxSuppressRules rules;
  GstFlowReturn flow;

  self->frame_start = gst_util_get_timestamp ();
  self->frame = (FilterStats) { 0 };
  self->change = self->rewrite = FALSE;
  take_settings (self, &rules);
  if (self->uses_xla && !add_xla (self)) {
    box_suppress_rules_clear (&rules);
    return GST_FLOW_ERROR;
  }
  if (self->uses_xla && self->accel.added)
    rules.core.engine = NMS_ENGINE_ADDED;
  if (rules.has_prefilter)
    warn_unknown_size (self, &rules);
  flow = decide (self, buffer, score_loss, &rules);
  box_suppress_rules_clear (&rules);
  return flow;
}

/* Writes what was decided into the buffer, or a copy of it. */
static void
change_buffer (GstNmsFilter *self, GstBuffer *buffer)
{
  if (self->rewrite)
    box_rewrite (buffer, self->reading, self->width, self->height);
  if (self->change && self->action == GST_NMS_ACTION_TAG)
    box_meta_tag (buffer, self->reading);
  else if (self->change)
    box_remove (buffer, self->reading);
}

/* Counts a buffer, also in `stats` unless they are NULL. */
static void
count_buffer (GstNmsFilter *self, FilterStats *stats)
{
  gboolean engine_changed = FALSE;

  self->frame.time = gst_util_get_timestamp () - self->frame_start;
  GST_OBJECT_LOCK (self);
  filter_stats_add (&self->stats, &self->frame);
  if (stats)
    filter_stats_add (stats, &self->frame);
  if (self->boxes->len > 0)
    engine_changed = engine_in_use_note (&self->in_use, self->context, self->method);
  GST_OBJECT_UNLOCK (self);
  if (engine_changed)
    g_object_notify (G_OBJECT (self), "engine-in-use");
  if (self->uses_xla && self->boxes->len > 0)
    accel_engine_warn (&self->accel, GST_ELEMENT (self), self->context);
}

static GstFlowReturn
filter_frame (GstObject *element, BatchFrame *frame)
{
  GstNmsFilter *self = GST_NMS_FILTER (element);
  FilterStream *stream = frame->stream->data;
  GstFlowReturn flow;

  self->width = frame->stream->width;
  self->height = frame->stream->height;
  flow = begin_buffer (self, frame->buffer, &stream->score_loss);
  if (flow != GST_FLOW_OK)
    return flow;
  if (self->change || self->rewrite)
    change_buffer (self, batch_meta_make_writable (frame));
  count_buffer (self, &stream->stats);
  return GST_FLOW_OK;
}

static const BatchFuncs batch_funcs = {
  .stream_new = filter_stream_new,
  .stream_free = filter_stream_free,
  .event = filter_stream_event,
  .frame = filter_frame,
};

static GstFlowReturn
gst_nms_filter_prepare_output_buffer (GstBaseTransform *trans, GstBuffer *input, GstBuffer **output)
{
  GstNmsFilter *self = GST_NMS_FILTER (trans);
  GstFlowReturn flow;

  *output = input;
  if (self->batches)
    return batch_meta_walk (self->batch, output, &trans->segment);
  flow = begin_buffer (self, input, &self->score_loss);
  if (flow != GST_FLOW_OK)
    return flow;
  if ((self->change || self->rewrite) && !gst_buffer_is_writable (input)) {
    /* the copy shares the memory */
    if (self->rewrite || self->action == GST_NMS_ACTION_TAG) {
      *output = gst_buffer_copy (input);
    } else {
      *output = box_remove_copy (input, self->reading);
      self->change = FALSE;
    }
  }
  if (*output == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("Cannot copy a buffer."), (NULL));
    return GST_FLOW_ERROR;
  }
  return GST_FLOW_OK;
}

/* The buffers of a batch have changed already. */
static GstFlowReturn
gst_nms_filter_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstNmsFilter *self = GST_NMS_FILTER (trans);

  if (!self->batches) {
    change_buffer (self, buffer);
    count_buffer (self, NULL);
  }
  if (self->interval > 0
      && report_interval_add (&self->reported, &trans->segment, buffer, self->interval))
    post_report (self);
  return GST_FLOW_OK;
}

/* ------------------------------------------------------------------- stream */

static void
take_stream_start (GstNmsFilter *self, GstEvent *event)
{
  const gchar *stream;

  gst_event_parse_stream_start (event, &stream);
  score_loss_begin_stream (&self->score_loss, stream);
}

/* set_caps is not used, because the base class then refuses streams without caps. */
static void
take_caps (GstNmsFilter *self, GstEvent *event)
{
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  frame_size_from_caps (caps, &self->width, &self->height);
  self->batches = batch_meta_in_caps (caps);
  GST_DEBUG_OBJECT (self, "frame size %dx%d", self->width, self->height);
}

static gboolean
gst_nms_filter_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstNmsFilter *self = GST_NMS_FILTER (trans);
  gboolean report;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      take_stream_start (self, event);
      break;
    case GST_EVENT_CAPS:
      take_caps (self, event);
      break;
    case GST_EVENT_SEGMENT:
    case GST_EVENT_FLUSH_STOP:
      report_interval_begin (&self->reported);
      break;
    case GST_EVENT_EOS:
      GST_OBJECT_LOCK (self);
      report = self->settings.interval > 0;
      GST_OBJECT_UNLOCK (self);
      if (report)
        post_report (self);
      g_object_notify (G_OBJECT (self), "stats");
      break;
    default:
      break;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_nms_filter_parent_class)->sink_event (trans, event);
}

static gboolean
gst_nms_filter_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  if (!GST_BASE_TRANSFORM_CLASS (gst_nms_filter_parent_class)
           ->propose_allocation (trans, decide_query, query))
    GST_DEBUG_OBJECT (trans, "downstream does not answer the query");
  box_meta_propose (query);
  return TRUE;
}

static gboolean
gst_nms_filter_stop (GstBaseTransform *trans)
{
  GstNmsFilter *self = GST_NMS_FILTER (trans);

  GST_OBJECT_LOCK (self);
  self->started = FALSE;
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&self->suppress, box_suppress_free);
  nms_context_free (&self->context);
  return TRUE;
}

static gboolean
gst_nms_filter_start (GstBaseTransform *trans)
{
  GstNmsFilter *self = GST_NMS_FILTER (trans);
  gboolean had_engine;
  gchar *error;

  self->context = nms_context_new ();
  if (self->context == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("Out of memory."), (NULL));
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  error = filter_settings_error (&self->settings);
  self->stopping = FALSE;
  self->started = error == NULL;
  self->stats = (FilterStats) { 0 };
  had_engine = engine_in_use_reset (&self->in_use);
  GST_OBJECT_UNLOCK (self);
  if (had_engine)
    g_object_notify (G_OBJECT (self), "engine-in-use");
  if (error) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("%s", error), (NULL));
    g_free (error);
    nms_context_free (&self->context);
    return FALSE;
  }
  self->suppress = box_suppress_new (self->context);
  if (nms_isa_reason ())
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s.", nms_isa_reason ()), (NULL));
  self->accel = (AccelEngine) { FALSE, FALSE, FALSE };
  GST_OBJECT_LOCK (self);
  self->uses_xla = self->settings.engine == FILTER_ENGINE_XLA;
  GST_OBJECT_UNLOCK (self);
  self->width = self->height = 0;
  self->batches = FALSE;
  batch_meta_reset (self->batch);
  self->warned_size = FALSE;
  score_loss_reset (&self->score_loss);
  report_interval_begin (&self->reported);
  /* in the application's thread: engine xla makes it wait for XLA's threads when it ends */
  if (self->uses_xla && !add_xla (self)) {
    gst_nms_filter_stop (trans);
    return FALSE;
  }
  return TRUE;
}

/* The base class waits for the streaming thread, which under xla-strict may wait for a plugin. */
static GstStateChangeReturn
gst_nms_filter_change_state (GstElement *element, GstStateChange transition)
{
  GstNmsFilter *self = GST_NMS_FILTER (element);

  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    g_atomic_int_set (&self->stopping, TRUE);
    interrupt (self);
  }
  return GST_ELEMENT_CLASS (gst_nms_filter_parent_class)->change_state (element, transition);
}

/* -------------------------------------------------------------------- class */

static void
gst_nms_filter_init (GstNmsFilter *self)
{
  filter_settings_init (&self->settings);
  self->reading = box_meta_reading_new ();
  self->boxes = box_meta_reading_boxes (self->reading);
  score_loss_init (&self->score_loss);
  self->batch = batch_meta_new (GST_OBJECT (self), &batch_funcs);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}

static void
gst_nms_filter_finalize (GObject *object)
{
  GstNmsFilter *self = GST_NMS_FILTER (object);

  filter_settings_clear (&self->settings);
  box_meta_reading_free (self->reading);
  score_loss_clear (&self->score_loss);
  batch_meta_free (self->batch);
  G_OBJECT_CLASS (gst_nms_filter_parent_class)->finalize (object);
}

static void
gst_nms_filter_class_init (GstNmsFilterClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_nms_filter_debug, "nmsfilter", 0, "non-maximum suppression");

  object_class->set_property = gst_nms_filter_set_property;
  object_class->get_property = gst_nms_filter_get_property;
  object_class->finalize = gst_nms_filter_finalize;
  filter_settings_install (object_class);
  g_object_class_install_property (object_class, PROP_ENGINE_IN_USE, engine_in_use_spec ());
  g_object_class_install_property (object_class, PROP_STATS, filter_stats_spec ());

  element_class->change_state = GST_DEBUG_FUNCPTR (gst_nms_filter_change_state);
  element_class_describe (element_class, "Non-maximum suppression", "Filter/Metadata/Video",
      "Keeps the best of overlapping detection boxes and drops the others",
      "gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl "
      "! nmsfilter iou-threshold=0.4 ! boxoverlay ! videoconvert ! autovideosink");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  trans_class->start = GST_DEBUG_FUNCPTR (gst_nms_filter_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_nms_filter_stop);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_nms_filter_sink_event);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_nms_filter_propose_allocation);
  trans_class->before_transform = GST_DEBUG_FUNCPTR (properties_before_transform);
  trans_class->prepare_output_buffer = GST_DEBUG_FUNCPTR (gst_nms_filter_prepare_output_buffer);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_nms_filter_transform_ip);
  trans_class->transform_ip_on_passthrough = FALSE;
}
