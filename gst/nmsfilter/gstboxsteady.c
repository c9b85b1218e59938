/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxsteady: decides when the links of a stream begin anew, and adds the boxes that are held. */

/**
 * SECTION:element-boxsteady
 * @title: boxsteady
 * @short_description: suppresses along time: steadies the boxes of consecutive frames
 *
 * Detectors decide each frame by itself, so their boxes shake, come and go. boxsteady stands behind
 * #GstNmsFilter and links the boxes of consecutive frames that are the same object. It removes
 * boxes of links that are not confirmed yet, fills gaps with boxes that move on with constant
 * velocity, smooths the places and scores along each link, and numbers the links. It delays no
 * frame, unless #GstBoxSteady:lookahead lets frames wait for what later ones show.
 *
 * The number is the field `id` of a region's structure `object_id`, as DL Streamer's trackers write
 * it, and the id of a #GstAnalyticsTrackingMtd that is related to an OD. A held box has in addition
 * the field `lost` (TRUE), and its #GstAnalyticsTrackingMtd is lost. If a tracker upstream has
 * numbered boxes, its numbers are used: boxes are linked by them only.
 *
 * Links begin anew after a seek, a flush, a new stream, a new frame size, a time that goes back and
 * a gap of more than #GstBoxSteady:max-gap. All boxes of the first frame then stay.
 *
 * It reads the same metadata as nmsfilter, accepts any caps, and treats each stream of batches by
 * itself. Place it behind the decoder, because encoded frames are not in the order of their times.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl \
 *   ! nmsfilter ! boxsteady hold=8 ! boxoverlay ! videoconvert ! autovideosink
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "boxfilter.h"
#include "elements.h"
#include "enumtype.h"
#include "meta/batchmeta.h"
#include "properties.h"
#include "steadylinks.h"

#define DEFAULT_IOU_THRESHOLD 0.3f
#define DEFAULT_CONFIRM 2
#define DEFAULT_WINDOW 3
#define DEFAULT_HOLD 5
#define DEFAULT_SMOOTHING 0.6f
#define DEFAULT_SCORE GST_STEADY_SCORE_MEAN
#define DEFAULT_MAX_GAP GST_SECOND
#define MOST_HOLD 1000
#define MOST_LOOKAHEAD 60

enum
{
  PROP_IOU_THRESHOLD = 1,
  PROP_CONFIRM,
  PROP_WINDOW,
  PROP_HOLD,
  PROP_SMOOTHING,
  PROP_SCORE,
  PROP_MAX_GAP,
  PROP_LOOKAHEAD,
  PROP_STATS,
};

#define GST_TYPE_BOX_STEADY (gst_box_steady_get_type ())
G_DECLARE_FINAL_TYPE (GstBoxSteady, gst_box_steady, GST, BOX_STEADY, GstBoxFilter)

/* A buffer that lookahead keeps back. */
typedef struct
{
  GstBuffer *buffer;
  SteadyFrame *frame;
} Waiting;

struct _GstBoxSteady
{
  GstBoxFilter parent;

  /* under the object lock */
  SteadySettings settings;
  guint64 max_gap;
  guint lookahead;       /* constant while started */
  GstClockTime distance; /* time between frames; 0 if not known yet */

  /* used by the streaming thread only */
  GArray *held;     /* elements: Box; the boxes to add to this buffer */
  GArray *batch;    /* elements: Box; boxes of `held` that become the same metadata */
  gboolean timed;   /* the caps state the distance of frames */
  GQueue waiting;   /* Waiting */
  Waiting *leaving; /* the waiting buffer that is decided; NULL if the buffer did not wait */
};

/* The data of a stream. */
typedef struct
{
  SteadyLinks *links;
  gboolean restart;   /* the next frame begins new links */
  GstClockTime time;  /* running time of the last frame; GST_CLOCK_TIME_NONE if unknown */
  gint width, height; /* size of the last frame */
} SteadyStream;

G_DEFINE_TYPE (GstBoxSteady, gst_box_steady, GST_TYPE_BOX_FILTER)
GST_ELEMENT_REGISTER_DEFINE (boxsteady, "boxsteady", GST_RANK_NONE, GST_TYPE_BOX_STEADY)

DEFINE_ENUM_TYPE (gst_steady_score_get_type, "GstSteadyScore",
    { GST_STEADY_SCORE_BOX, "The score of each box stays", "box" },
    { GST_STEADY_SCORE_MEAN, "The mean of the scores of the link so far", "mean" },
    { GST_STEADY_SCORE_BEST, "The best of the scores of the link so far", "best" })

static const gsize fields[] = {
  [PROP_IOU_THRESHOLD] = G_STRUCT_OFFSET (GstBoxSteady, settings.iou_threshold),
  [PROP_CONFIRM] = G_STRUCT_OFFSET (GstBoxSteady, settings.confirm),
  [PROP_WINDOW] = G_STRUCT_OFFSET (GstBoxSteady, settings.window),
  [PROP_HOLD] = G_STRUCT_OFFSET (GstBoxSteady, settings.hold),
  [PROP_SMOOTHING] = G_STRUCT_OFFSET (GstBoxSteady, settings.smoothing),
  [PROP_SCORE] = G_STRUCT_OFFSET (GstBoxSteady, settings.score),
  [PROP_MAX_GAP] = G_STRUCT_OFFSET (GstBoxSteady, max_gap),
  [PROP_LOOKAHEAD] = G_STRUCT_OFFSET (GstBoxSteady, lookahead),
};

static gchar *
gst_box_steady_set (GstBoxFilter *filter, guint id, const GValue *value, gboolean started)
{
  if (id == PROP_LOOKAHEAD && started
      && g_value_get_uint (value) != GST_BOX_STEADY (filter)->lookahead)
    return g_strdup ("The lookahead cannot change above READY.");
  property_field_set (G_STRUCT_MEMBER_P (filter, fields[id]), value);
  return NULL;
}

static void
gst_box_steady_get (GstBoxFilter *filter, guint id, GValue *value)
{
  property_field_get (G_STRUCT_MEMBER_P (filter, fields[id]), value);
}

static void
describe_stats (const FilterStats *stats, GstStructure *structure)
{
  gst_structure_set (structure, "unconfirmed", G_TYPE_UINT64,
      stats->by_state[BOX_STATE_UNCONFIRMED], "held", G_TYPE_UINT64, stats->added, "not-linked",
      G_TYPE_UINT64, stats->by_state[BOX_STATE_NONE], "links", G_TYPE_UINT64, stats->confirmed,
      "restarts", G_TYPE_UINT64, stats->restarts, NULL);
}

/* ------------------------------------------------------------------- stream */

static gpointer
stream_new (void)
{
  SteadyStream *stream = g_new0 (SteadyStream, 1);

  stream->links = steady_links_new ();
  stream->time = GST_CLOCK_TIME_NONE;
  return stream;
}

static void
stream_free (gpointer data)
{
  steady_links_free (((SteadyStream *) data)->links);
  g_free (data);
}

static void
take_event (gpointer stream, GstEvent *event)
{
  const GstEventType type = GST_EVENT_TYPE (event);

  if (type == GST_EVENT_STREAM_START || type == GST_EVENT_SEGMENT || type == GST_EVENT_FLUSH_STOP)
    ((SteadyStream *) stream)->restart = TRUE;
}

static GstClockTime
running_time (const BoxFilterFrame *frame)
{
  if (frame->segment->format != GST_FORMAT_TIME || !GST_BUFFER_PTS_IS_VALID (frame->buffer))
    return GST_CLOCK_TIME_NONE;
  return gst_segment_to_running_time (frame->segment, GST_FORMAT_TIME,
      GST_BUFFER_PTS (frame->buffer));
}

/* Returns whether the frame does not follow the last one: by running time, which grows also where a
 * video is played backwards. */
static gboolean
jumps (const SteadyStream *stream, const BoxFilterFrame *frame, guint64 max_gap)
{
  const GstClockTime time = running_time (frame);

  if (stream->restart || stream->width != frame->width || stream->height != frame->height)
    return TRUE;
  if (GST_CLOCK_TIME_IS_VALID (time) && GST_CLOCK_TIME_IS_VALID (stream->time))
    return time < stream->time || time - stream->time > max_gap;
  return GST_BUFFER_FLAG_IS_SET (frame->buffer, GST_BUFFER_FLAG_DISCONT);
}

/* ---------------------------------------------------------------- one frame */

/* Takes the longest distance of frames so far, unless the caps state it. */
static void
observe_distance (GstBoxSteady *self, GstClockTime last, GstClockTime time)
{
  gboolean longer;

  GST_OBJECT_LOCK (self);
  longer = !self->timed && GST_CLOCK_TIME_IS_VALID (last) && GST_CLOCK_TIME_IS_VALID (time)
      && time - last > self->distance;
  if (longer)
    self->distance = time - last;
  GST_OBJECT_UNLOCK (self);
  if (longer)
    gst_element_post_message (GST_ELEMENT (self), gst_message_new_latency (GST_OBJECT (self)));
}

/* Reads the boxes of the next frame and returns the settings for it. Forgets the links of the
 * stream if the frame does not follow the last one. */
static SteadySettings
begin_frame (GstBoxSteady *self, BoxFilterFrame *frame)
{
  SteadyStream *stream = frame->stream;
  SteadySettings settings;
  guint64 max_gap;

  GST_OBJECT_LOCK (self);
  settings = self->settings;
  max_gap = self->max_gap;
  GST_OBJECT_UNLOCK (self);
  if (jumps (stream, frame, max_gap))
    steady_links_restart (stream->links);
  else if (self->lookahead > 0)
    observe_distance (self, stream->time, running_time (frame));
  stream->restart = FALSE;
  stream->time = running_time (frame);
  stream->width = frame->width;
  stream->height = frame->height;
  box_filter_read (GST_BOX_FILTER (self), frame, BOX_READ_TRACK | BOX_READ_STATE);
  return settings;
}

static GstFlowReturn
gst_box_steady_decide (GstBoxFilter *filter, BoxFilterFrame *frame)
{
  GstBoxSteady *self = GST_BOX_STEADY (filter);
  SteadyStream *stream = frame->stream;
  SteadySettings settings;

  if (self->leaving) {
    box_filter_read (filter, frame, BOX_READ_TRACK | BOX_READ_STATE);
    frame->counts = steady_frame_decide (self->leaving->frame, frame->boxes, self->held);
    return GST_FLOW_OK;
  }
  settings = begin_frame (self, frame);
  frame->counts = steady_links_frame (stream->links, &settings, frame->boxes, frame->width,
      frame->height, self->held);
  return GST_FLOW_OK;
}

/* Adds each held box as the metadata that its last box was. */
static void
gst_box_steady_add (GstBoxFilter *filter, const BoxFilterFrame *frame, GstBuffer *buffer)
{
  GstBoxSteady *self = GST_BOX_STEADY (filter);

  for (guint kind = BOX_META_ROI; kind <= BOX_META_BOTH; kind++) {
    g_array_set_size (self->batch, 0);
    for (guint i = 0; i < self->held->len; i++) {
      Box box = g_array_index (self->held, Box, i);

      if ((box.position != BOX_NO_POSITION) * BOX_META_ROI + (box.od >= 0) * BOX_META_ANALYTICS
          != (gint) kind)
        continue;
      box_place (&box, frame->width, frame->height);
      box.region_id = box.parent_id = 0;
      box.suppressed_by = -1;
      box.state = frame->action == GST_NMS_ACTION_TAG ? BOX_STATE_KEPT : BOX_STATE_NONE;
      box.flags |= BOX_LOST;
      g_array_append_val (self->batch, box);
    }
    if (self->batch->len > 0)
      box_meta_attach (buffer, self->batch, frame->width, frame->height, (BoxMetaKind) kind);
  }
}

/* ---------------------------------------------------------------- lookahead */

static void
waiting_free (gpointer data)
{
  Waiting *waiting = data;

  gst_clear_buffer (&waiting->buffer);
  steady_frame_free (waiting->frame);
  g_free (waiting);
}

/* Links the boxes of a buffer that then waits. Takes the buffer. */
static void
look (GstBoxFilter *filter, BoxFilterFrame *frame)
{
  GstBoxSteady *self = GST_BOX_STEADY (filter);
  SteadyStream *stream = frame->stream;
  Waiting *waiting = g_new0 (Waiting, 1);
  const SteadySettings settings = begin_frame (self, frame);

  waiting->buffer = frame->buffer;
  waiting->frame = steady_links_look (stream->links, &settings, frame->boxes, frame->width,
      frame->height);
  g_queue_push_tail (&self->waiting, waiting);
}

/* Decides the buffer that waits longest. */
static GstFlowReturn
leave (GstBoxSteady *self, GstBuffer **output)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  GstFlowReturn flow;

  self->leaving = g_queue_pop_head (&self->waiting);
  trans->queued_buf = g_steal_pointer (&self->leaving->buffer);
  flow = GST_BASE_TRANSFORM_CLASS (gst_box_steady_parent_class)->generate_output (trans, output);
  g_clear_pointer (&self->leaving, waiting_free);
  return flow;
}

/* Passes on all buffers that wait. */
static GstFlowReturn
drain (GstBoxSteady *self)
{
  GstFlowReturn flow = GST_FLOW_OK;

  while (flow == GST_FLOW_OK && !g_queue_is_empty (&self->waiting)) {
    GstBuffer *output = NULL;

    flow = leave (self, &output);
    if (output)
      flow = gst_pad_push (GST_BASE_TRANSFORM_SRC_PAD (self), output);
  }
  g_queue_clear_full (&self->waiting, waiting_free);
  return flow;
}

/* Pushes all waiting buffers before a buffer with the flag DISCONT, because the base class sets the
 * flag on the next buffer that leaves. */
static GstFlowReturn
gst_box_steady_generate_output (GstBaseTransform *trans, GstBuffer **output)
{
  GstBoxSteady *self = GST_BOX_STEADY (trans);
  GstBuffer *input = g_steal_pointer (&trans->queued_buf);
  GstFlowReturn flow = GST_FLOW_OK;

  if (input && GST_BUFFER_IS_DISCONT (input))
    flow = drain (self);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (input);
    return flow;
  }
  if (input && self->lookahead > 0 && GST_PAD_MODE (trans->sinkpad) == GST_PAD_MODE_PUSH
      && box_filter_look (GST_BOX_FILTER (self), input, look))
    return self->waiting.length > self->lookahead ? leave (self, output) : GST_FLOW_OK;
  trans->queued_buf = input;
  return GST_BASE_TRANSFORM_CLASS (gst_box_steady_parent_class)->generate_output (trans, output);
}

/* Reads the time between frames from the caps. It is 0 for batches, because they do not wait. */
static void
take_caps (GstBoxSteady *self, GstEvent *event)
{
  gint numerator = 0, denominator = 1;
  gboolean batches;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  batches = batch_meta_in_caps (caps);
  if (batches && self->lookahead > 0)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("Batches do not wait for lookahead."), (NULL));
  gst_structure_get_fraction (gst_caps_get_structure (caps, 0), "framerate", &numerator,
      &denominator);
  GST_OBJECT_LOCK (self);
  self->timed = batches || numerator > 0;
  self->distance = 0;
  if (!batches && numerator > 0)
    self->distance = gst_util_uint64_scale_int (GST_SECOND, denominator, numerator);
  GST_OBJECT_UNLOCK (self);
  if (self->lookahead > 0)
    gst_element_post_message (GST_ELEMENT (self), gst_message_new_latency (GST_OBJECT (self)));
}

static gboolean
gst_box_steady_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstBoxSteady *self = GST_BOX_STEADY (trans);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    g_queue_clear_full (&self->waiting, waiting_free);
  else if (GST_EVENT_IS_SERIALIZED (event))
    drain (self);
  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
    take_caps (self, event);
  return GST_BASE_TRANSFORM_CLASS (gst_box_steady_parent_class)->sink_event (trans, event);
}

static gboolean
gst_box_steady_query (GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  GstBoxSteady *self = GST_BOX_STEADY (trans);
  GstClockTime least, most, wait;
  gboolean live;

  if (direction == GST_PAD_SINK && GST_QUERY_IS_SERIALIZED (query))
    drain (self);
  if (!GST_BASE_TRANSFORM_CLASS (gst_box_steady_parent_class)->query (trans, direction, query))
    return FALSE;
  if (direction == GST_PAD_SINK || GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return TRUE;
  GST_OBJECT_LOCK (self);
  wait = self->distance * self->lookahead;
  GST_OBJECT_UNLOCK (self);
  gst_query_parse_latency (query, &live, &least, &most);
  gst_query_set_latency (query, live, least + wait,
      GST_CLOCK_TIME_IS_VALID (most) ? most + wait : most);
  return TRUE;
}

/* Adds `lookahead` buffers to the sizes of the pools, because that many buffers wait. */
static gboolean
gst_box_steady_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  const guint more = GST_BOX_STEADY (trans)->lookahead;
  const gboolean proposed = GST_BASE_TRANSFORM_CLASS (gst_box_steady_parent_class)
                                ->propose_allocation (trans, decide_query, query);
  guint size, least, most;
  GstBufferPool *pool;

  for (guint i = 0; i < gst_query_get_n_allocation_pools (query); i++) {
    gst_query_parse_nth_allocation_pool (query, i, &pool, &size, &least, &most);
    gst_query_set_nth_allocation_pool (query, i, pool, size, least + more,
        most > 0 ? most + more : 0);
    gst_clear_object (&pool);
  }
  return proposed;
}

static gboolean
gst_box_steady_stop (GstBaseTransform *trans)
{
  GstBoxSteady *self = GST_BOX_STEADY (trans);

  g_queue_clear_full (&self->waiting, waiting_free);
  self->timed = FALSE;
  self->distance = 0;
  return GST_BASE_TRANSFORM_CLASS (gst_box_steady_parent_class)->stop (trans);
}

/* -------------------------------------------------------------------- class */

static void
gst_box_steady_init (GstBoxSteady *self)
{
  self->settings = (SteadySettings) { DEFAULT_IOU_THRESHOLD, DEFAULT_CONFIRM, DEFAULT_WINDOW,
    DEFAULT_HOLD, DEFAULT_SMOOTHING, DEFAULT_SCORE };
  self->max_gap = DEFAULT_MAX_GAP;
  self->held = g_array_new (FALSE, FALSE, sizeof (Box));
  self->batch = g_array_new (FALSE, FALSE, sizeof (Box));
}

static void
gst_box_steady_finalize (GObject *object)
{
  g_array_unref (GST_BOX_STEADY (object)->held);
  g_array_unref (GST_BOX_STEADY (object)->batch);
  G_OBJECT_CLASS (gst_box_steady_parent_class)->finalize (object);
}

#define WRITABLE (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

static void
install_properties (GObjectClass *klass)
{
  g_object_class_install_property (klass, PROP_IOU_THRESHOLD,
      g_param_spec_float ("iou-threshold", "IoU threshold",
          "A box continues a link of its label if its IoU with the place that the link predicts is "
          "greater than this",
          0, 1, DEFAULT_IOU_THRESHOLD, WRITABLE | GST_PARAM_CONTROLLABLE));
  g_object_class_install_property (klass, PROP_CONFIRM,
      g_param_spec_uint ("confirm", "Confirm",
          "A link is confirmed once it had a box in this number of the last `window` frames; its "
          "boxes before that are not kept. 1 = at once. More than window counts as window",
          1, 32, DEFAULT_CONFIRM, WRITABLE | GST_PARAM_CONTROLLABLE));
  g_object_class_install_property (klass, PROP_WINDOW,
      g_param_spec_uint ("window", "Window",
          "Number of last frames of which `confirm` must have a box of the link. A link that is "
          "not confirmed ends when none of them has one",
          1, 32, DEFAULT_WINDOW, WRITABLE | GST_PARAM_CONTROLLABLE));
  g_object_class_install_property (klass, PROP_HOLD,
      g_param_spec_uint ("hold", "Hold",
          "Number of frames for which a confirmed link without a box gets its last box again, "
          "moved with constant velocity. 0 = none",
          0, MOST_HOLD, DEFAULT_HOLD, WRITABLE | GST_PARAM_CONTROLLABLE));
  g_object_class_install_property (klass, PROP_SMOOTHING,
      g_param_spec_float ("smoothing", "Smoothing",
          "Weight of the past in the place of a box: 0 = places stay as they are, near 1 = places "
          "are very smooth, but lag where an object turns",
          0, 0.99f, DEFAULT_SMOOTHING, WRITABLE | GST_PARAM_CONTROLLABLE));
  g_object_class_install_property (klass, PROP_SCORE,
      g_param_spec_enum ("score", "Score", "The score of a kept box", gst_steady_score_get_type (),
          DEFAULT_SCORE, WRITABLE));
  g_object_class_install_property (klass, PROP_MAX_GAP,
      g_param_spec_uint64 ("max-gap", "Maximum gap",
          "Largest distance between two frames, in ns; after a larger one, links begin anew", 0,
          G_MAXUINT64, DEFAULT_MAX_GAP, WRITABLE));
  g_object_class_install_property (klass, PROP_LOOKAHEAD,
      g_param_spec_uint ("lookahead", "Lookahead",
          "Number of later frames that each frame waits for. If they confirm a link, its boxes in "
          "this frame are kept; if a link ends in them, no box is held for it. Adds this number "
          "of frame durations to the latency. Has no effect in batches",
          0, MOST_LOOKAHEAD, 0,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY));
}

static void
gst_box_steady_class_init (GstBoxSteadyClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstBoxFilterClass *filter_class = GST_BOX_FILTER_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  object_class->finalize = gst_box_steady_finalize;
  box_filter_handle_properties (object_class);
  install_properties (object_class);
  box_filter_install_stats (object_class, PROP_STATS,
      "Totals since READY, all guint64: frames, boxes-in, boxes-out, boxes of links that were not "
      "confirmed yet (unconfirmed), boxes added where links had none (held), boxes left as they "
      "are (not-linked: tagged as dropped, without an area, beyond 1e9 pixels, without an id or "
      "with a repeated one where a tracker gives ids, or in a frame with more than 4096 boxes), "
      "confirmed links (links), times that links began anew (restarts), and the nanoseconds spent "
      "(time). For each stream of batches a structure stream-INDEX with the same fields and "
      "stream-id. Notifies at EOS");
  element_class_describe (GST_ELEMENT_CLASS (klass), "Steady boxes", "Filter/Metadata/Video",
      "Links detection boxes along time: removes flicker, fills gaps, smooths places",
      "gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl "
      "! nmsfilter ! boxsteady ! boxoverlay ! videoconvert ! autovideosink");
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_box_steady_stop);
  trans_class->generate_output = GST_DEBUG_FUNCPTR (gst_box_steady_generate_output);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_box_steady_sink_event);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_box_steady_query);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_box_steady_propose_allocation);
  filter_class->set = gst_box_steady_set;
  filter_class->get = gst_box_steady_get;
  filter_class->stats_name = "boxsteady-stats";
  filter_class->decide = gst_box_steady_decide;
  filter_class->add = gst_box_steady_add;
  filter_class->describe_stats = describe_stats;
  filter_class->stream_new = stream_new;
  filter_class->stream_free = stream_free;
  filter_class->event = take_event;
  gst_type_mark_as_plugin_api (gst_steady_score_get_type (), 0);
}
