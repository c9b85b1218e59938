/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nmsfilter: the element around boxsuppress, with engine xla, messages and warnings. */

/**
 * SECTION:element-nmsfilter
 * @title: nmsfilter
 * @short_description: removes overlapping detections (non-maximum suppression)
 *
 * Object detectors report the same object several times. nmsfilter keeps the best box
 * of each group of overlapping boxes and drops the others: it takes the boxes of a
 * buffer in order of confidence, highest first, and drops each box that overlaps a kept
 * box of the same class (or group, see #GstNmsFilter:class-groups) by more than
 * #GstNmsFilter:iou-threshold. Place it after the detector and before the elements that
 * draw, track, count or publish the boxes.
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
 * Find the people in the pictures of a camera with the detector of the examples:
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! hogdetect \
 *   ! nmsfilter score-threshold=0.7 iou-threshold=0.3 ! boxoverlay ! videoconvert ! autovideosink
 * ]|
 * Use thresholds for single classes, keep at most 20 boxes, and print statistics every
 * second:
 * |[
 * gst-launch-1.0 -m filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl \
 *   ! nmsfilter score-threshold=0.4 max-detections=20 interval=1000000000 \
 *     class-options='o,person=[o,iou-threshold=0.3],car=[o,max=5]' ! fakesink
 * ]|
 * Keep one box of an object that was found as several kinds of vehicles, a bus before a truck
 * before a car:
 * |[
 * gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl \
 *   ! nmsfilter class-groups="bus>truck>car" ! fakesink
 * ]|
 * Drop small boxes and those outside of the middle of the picture before the suppression:
 * |[
 * gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl \
 *   ! boxselect min-height=40 roi=25%,0,50%,100% ! nmsfilter ! fakesink
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

#include "accelengine.h"
#include "boxfilter.h"
#include "boxsuppress.h"
#include "elements.h"
#include "filtersettings.h"
#include "properties.h"
#include "reportinterval.h"
#include "scoreloss.h"

GST_DEBUG_CATEGORY_STATIC (gst_nms_filter_debug);
#define GST_CAT_DEFAULT gst_nms_filter_debug

/* ---------------------------------------------------------------- the object */

/* The engine that ran last. */
typedef struct
{
  gint engine;      /* NMS_ENGINE_AUTO before the first run */
  const gchar *isa; /* static */
  guint method;     /* method, metric and use of min-size-ratio as one number */
  gchar text[80];
} EngineInUse;

#define GST_TYPE_NMS_FILTER (gst_nms_filter_get_type ())
G_DECLARE_FINAL_TYPE (GstNmsFilter, gst_nms_filter, GST, NMS_FILTER, GstBoxFilter)

struct _GstNmsFilter
{
  GstBoxFilter parent;

  /* guarded by the object lock */
  FilterSettings settings;
  gint stopping; /* atomic; nms_context_interrupt was called */
  EngineInUse in_use;

  /* used by the streaming thread only */
  nms_context *context;    /* NULL while stopped */
  BoxSuppress *suppress;   /* NULL while stopped */
  ReportInterval reported; /* since the last message */
  AccelEngine accel;
};

/* The presets are in GstNmsFilter.prs; GStreamer's own functions read the file. */
G_DEFINE_TYPE (GstNmsFilter, gst_nms_filter, GST_TYPE_BOX_FILTER)
GST_ELEMENT_REGISTER_DEFINE (nmsfilter, "nmsfilter", GST_RANK_NONE, GST_TYPE_NMS_FILTER)

/* ---------------------------------------------------------------- properties */

static gchar *
gst_nms_filter_set (GstBoxFilter *filter, guint id, const GValue *value, gboolean started)
{
  if (started && (id == FILTER_PROP_XLA_PLUGIN || id == FILTER_PROP_XLA_STRICT))
    return g_strdup_printf (PROPERTY_READY_ONLY,
        id == FILTER_PROP_XLA_PLUGIN ? "xla-plugin" : "xla-strict");
  return filter_settings_set (&GST_NMS_FILTER (filter)->settings, id, value, started);
}

static void
gst_nms_filter_get (GstBoxFilter *filter, guint id, GValue *value)
{
  GstNmsFilter *self = GST_NMS_FILTER (filter);

  if (id == FILTER_PROP_ENGINE_IN_USE)
    g_value_set_string (value, self->in_use.engine == NMS_ENGINE_AUTO ? NULL : self->in_use.text);
  else
    filter_settings_get (&self->settings, id, value);
}

static gchar *
gst_nms_filter_error (GstBoxFilter *filter)
{
  return filter_settings_error (&GST_NMS_FILTER (filter)->settings);
}

static void
describe_stats (const FilterStats *stats, GstStructure *structure)
{
  for (guint i = BOX_STATE_KEPT + 1; !box_select_is_state ((BoxState) i); i++)
    gst_structure_set (structure, box_state_name ((BoxState) i), G_TYPE_UINT64, stats->by_state[i],
        NULL);
  gst_structure_set (structure, "not-selected", G_TYPE_UINT64, stats->by_state[BOX_STATE_NONE],
      "unscored", G_TYPE_UINT64, stats->unscored, "lower-ranked", G_TYPE_UINT64,
      stats->lower_ranked, "suppressed-by-other-class", G_TYPE_UINT64, stats->by_other_class, NULL);
}

/* --------------------------------------------------------------- one buffer */

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
  if (self->accel.added)
    box_suppress_use_added (self->suppress);
  if (g_atomic_int_get (&self->stopping)) /* the engine was not there when it was set */
    interrupt (self);
  return TRUE;
}

/* Stores the engine of the last run for the property engine-in-use. */
static void
note_engine (GstNmsFilter *self, guint method)
{
  EngineInUse *in_use = &self->in_use;
  const gint engine = nms_context_engine (self->context);
  const gchar *isa = nms_context_isa (self->context);

  /* only this thread writes */
  if (engine == in_use->engine && isa == in_use->isa && method == in_use->method)
    return;
  GST_OBJECT_LOCK (self);
  in_use->engine = engine;
  in_use->isa = isa;
  in_use->method = method;
  g_strlcpy (in_use->text, nms_context_engine_in_use (self->context), sizeof in_use->text);
  GST_OBJECT_UNLOCK (self);
  g_object_notify (G_OBJECT (self), "engine-in-use");
}

/* Decides the boxes of the frame, which has at least one. */
static GstFlowReturn
run (GstNmsFilter *self, BoxFilterFrame *frame, const BoxSuppressRules *rules)
{
  const gint res = box_suppress_run (self->suppress, frame->boxes, rules, NULL,
      frame->action == GST_NMS_ACTION_TAG, &frame->counts);

  if (res < 0 && g_atomic_int_get (&self->stopping))
    return GST_FLOW_FLUSHING;
  if (res < 0) {
    GST_ELEMENT_ERROR (self, LIBRARY, FAILED,
        ("Cannot filter the boxes: %s.", nms_context_error (self->context)),
        ("%s", nms_strerror (res)));
    return GST_FLOW_ERROR;
  }
  score_loss_warn (frame->stream, GST_ELEMENT (self), &frame->counts, frame->boxes, rules);
  note_engine (self,
      rules->core.method << 16 | rules->core.metric << 8 | (rules->core.min_size_ratio > 0));
  if (rules->added_engine)
    accel_engine_warn (&self->accel, GST_ELEMENT (self), self->context);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_nms_filter_decide (GstBoxFilter *filter, BoxFilterFrame *frame)
{
  GstNmsFilter *self = GST_NMS_FILTER (filter);
  GstFlowReturn flow = GST_FLOW_OK;
  BoxSuppressRules *rules;

  GST_OBJECT_LOCK (self);
  rules = filter_settings_get_rules (&self->settings);
  GST_OBJECT_UNLOCK (self);
  if (rules->added_engine && !add_xla (self))
    flow = GST_FLOW_ERROR;
  else if (box_filter_read (filter, frame,
               BOX_READ_LEAN | BOX_READ_STATE | BOX_READ_CUT
                   | (rules->sources ? BOX_READ_SOURCE : 0))
      > 0)
    flow = run (self, frame, rules);
  box_suppress_rules_unref (rules);
  return flow;
}

/* ----------------------------------------------------------------- messages */

static void
post_report (GstNmsFilter *self)
{
  GstStructure *structure = report_interval_to_structure (&self->reported);

  GST_OBJECT_LOCK (self);
  box_filter_add_stats (GST_BOX_FILTER (self), structure);
  GST_OBJECT_UNLOCK (self);
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self), structure));
  report_interval_next (&self->reported);
}

/* Returns the property interval. */
static GstClockTime
read_interval (GstNmsFilter *self)
{
  GstClockTime interval;

  GST_OBJECT_LOCK (self);
  interval = self->settings.interval;
  GST_OBJECT_UNLOCK (self);
  return interval;
}

/* Posts a report if the interval has ended. The buffer has been filtered and counted before. */
static GstFlowReturn
gst_nms_filter_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstNmsFilter *self = GST_NMS_FILTER (trans);
  const GstClockTime interval = read_interval (self);

  if (interval > 0 && report_interval_add (&self->reported, &trans->segment, buffer, interval))
    post_report (self);
  return GST_FLOW_OK;
}

/* ------------------------------------------------------------------- stream */

static gboolean
gst_nms_filter_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstNmsFilter *self = GST_NMS_FILTER (trans);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_SEGMENT:
    case GST_EVENT_FLUSH_STOP:
      report_interval_begin (&self->reported);
      break;
    case GST_EVENT_EOS:
      if (read_interval (self) > 0)
        post_report (self);
      break;
    default:
      break;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_nms_filter_parent_class)->sink_event (trans, event);
}

static gboolean
gst_nms_filter_stop (GstBaseTransform *trans)
{
  GstNmsFilter *self = GST_NMS_FILTER (trans);

  g_clear_pointer (&self->suppress, box_suppress_free);
  nms_context_free (&self->context);
  return GST_BASE_TRANSFORM_CLASS (gst_nms_filter_parent_class)->stop (trans);
}

static gboolean
gst_nms_filter_start (GstBaseTransform *trans)
{
  GstNmsFilter *self = GST_NMS_FILTER (trans);
  gboolean had_engine, uses_xla;

  if (!GST_BASE_TRANSFORM_CLASS (gst_nms_filter_parent_class)->start (trans))
    return FALSE;
  self->context = nms_context_new ();
  if (self->context == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("Out of memory."), (NULL));
    gst_nms_filter_stop (trans);
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  self->stopping = FALSE;
  had_engine = self->in_use.engine != NMS_ENGINE_AUTO;
  self->in_use.engine = NMS_ENGINE_AUTO;
  uses_xla = self->settings.engine == FILTER_ENGINE_XLA;
  GST_OBJECT_UNLOCK (self);
  if (had_engine)
    g_object_notify (G_OBJECT (self), "engine-in-use");
  self->suppress = box_suppress_new (self->context);
  if (nms_isa_reason ())
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s.", nms_isa_reason ()), (NULL));
  self->accel = (AccelEngine) { FALSE, FALSE, FALSE };
  report_interval_begin (&self->reported);
  /* in the application's thread: engine xla makes it wait for XLA's threads when it ends */
  if (uses_xla && !add_xla (self)) {
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

#define STATS \
  "Totals since READY, all guint64: frames, boxes-in, boxes-out, boxes by the reason why they " \
  "were dropped or tagged (suppressed, below-score, not-candidate, over-cap, too-few-neighbors, " \
  "no-score, invalid), boxes of other classes and those that boxselect has tagged as dropped " \
  "(not-selected), boxes without a confidence (unscored), boxes that rank below all others " \
  "because boxmerge has marked them as cut (lower-ranked), those of suppressed that a box of " \
  "another class suppressed (suppressed-by-other-class), and the nanoseconds spent (time). For " \
  "each stream of batches a structure stream-INDEX with the same fields and stream-id. Notifies " \
  "at EOS"

static void
gst_nms_filter_init (GstNmsFilter *self)
{
  filter_settings_init (&self->settings);
}

static void
gst_nms_filter_finalize (GObject *object)
{
  filter_settings_clear (&GST_NMS_FILTER (object)->settings);
  G_OBJECT_CLASS (gst_nms_filter_parent_class)->finalize (object);
}

static void
take_event (gpointer loss, GstEvent *event)
{
  const gchar *id;

  if (GST_EVENT_TYPE (event) != GST_EVENT_STREAM_START)
    return;
  gst_event_parse_stream_start (event, &id);
  score_loss_begin_stream (loss, id);
}

static void
gst_nms_filter_class_init (GstNmsFilterClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstBoxFilterClass *filter_class = GST_BOX_FILTER_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_nms_filter_debug, "nmsfilter", 0, "non-maximum suppression");

  object_class->finalize = gst_nms_filter_finalize;
  box_filter_handle_properties (object_class);
  filter_settings_install (object_class);
  box_filter_install_stats (object_class, FILTER_PROP_STATS, STATS);
  g_object_class_install_property (object_class, FILTER_PROP_ENGINE_IN_USE,
      g_param_spec_string ("engine-in-use", "Engine in use",
          "The engine that ran last and its instruction set or device, such as \"sorted/scalar\" "
          "or \"xla:cpu\"; NULL before the first box. Notifies of each change",
          NULL, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

  element_class->change_state = GST_DEBUG_FUNCPTR (gst_nms_filter_change_state);
  element_class_describe (element_class, "Non-maximum suppression", "Filter/Metadata/Video",
      "Keeps the best of overlapping detection boxes and drops the others",
      "gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl "
      "! nmsfilter iou-threshold=0.4 ! boxoverlay ! videoconvert ! autovideosink");
  trans_class->start = GST_DEBUG_FUNCPTR (gst_nms_filter_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_nms_filter_stop);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_nms_filter_sink_event);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_nms_filter_transform_ip);
  filter_class->set = gst_nms_filter_set;
  filter_class->get = gst_nms_filter_get;
  filter_class->error = gst_nms_filter_error;
  filter_class->stats_name = "nmsfilter-stats";
  filter_class->decide = gst_nms_filter_decide;
  filter_class->describe_stats = describe_stats;
  filter_class->stream_new = score_loss_new;
  filter_class->stream_free = score_loss_free;
  filter_class->event = take_event;
}
