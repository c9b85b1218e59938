/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxfilter: all is done in prepare_output_buffer, on the input buffer, which need not be writable
 * for that. A buffer from which nothing is removed is passed on as it is; a buffer that changes is
 * copied only if it has other owners.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "boxfilter.h"

#include "enumtype.h"
#include "fpmode.h"
#include "framesize.h"
#include "meta/batchmeta.h"
#include "meta/boxremove.h"
#include "meta/boxrewrite.h"
#include "properties.h"

GST_DEBUG_CATEGORY_STATIC (gst_box_filter_debug);
#define GST_CAT_DEFAULT gst_box_filter_debug

enum
{
  PROP_ACTION = 1,
};

/* The data of a stream, in BatchStream.data. */
typedef struct
{
  FilterStats stats; /* since READY; under the object lock */
  gpointer data;     /* the element's data; used by the streaming thread only */
  GDestroyNotify free_data;
} Stream;

typedef struct
{
  gint action; /* atomic; a GstNmsAction */

  /* under the object lock */
  gboolean started;
  FilterStats stats; /* totals of all streams */
  BatchMeta *batch;  /* the streams of batches */

  /* used by the streaming thread only */
  BoxMetaReading *reading;
  gint width, height; /* from the caps; 0 if they state none */
  gboolean batches;   /* the buffers are batches */
  Stream *single;     /* the stream if the buffers are not batches; `stats` above counts for it */
} GstBoxFilterPrivate;

static void gst_box_filter_init_preset (gpointer interface, gpointer user_data);

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstBoxFilter, gst_box_filter, GST_TYPE_BASE_TRANSFORM,
    G_ADD_PRIVATE (GstBoxFilter)
        G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, gst_box_filter_init_preset))

#define PRIVATE(self) ((GstBoxFilterPrivate *) gst_box_filter_get_instance_private (self))

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK,
    GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC,
    GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* ---------------------------------------------------------------- statistics */

static void
add_frame (FilterStats *stats, const BoxCounts *counts, guint64 time)
{
  stats->frames++;
  for (guint i = 0; i < BOX_STATE_COUNT; i++) {
    stats->by_state[i] += counts->by_state[i];
    stats->boxes_in += counts->by_state[i];
  }
  stats->boxes_out += counts->by_state[BOX_STATE_NONE] + counts->by_state[BOX_STATE_KEPT]
      + counts->added;
  stats->unscored += counts->unscored;
  stats->lower_ranked += counts->lower_ranked;
  stats->by_other_class += counts->by_other_class;
  stats->added += counts->added;
  stats->confirmed += counts->confirmed;
  stats->restarts += counts->restarts;
  stats->time += time;
}

static void
stats_to_structure (GstBoxFilter *self, const FilterStats *stats, GstStructure *structure)
{
  gst_structure_set (structure, "frames", G_TYPE_UINT64, stats->frames, "boxes-in", G_TYPE_UINT64,
      stats->boxes_in, "boxes-out", G_TYPE_UINT64, stats->boxes_out, NULL);
  GST_BOX_FILTER_GET_CLASS (self)->describe_stats (stats, structure);
  gst_structure_set (structure, "time", G_TYPE_UINT64, stats->time, NULL);
}

typedef struct
{
  GstBoxFilter *self;
  GstStructure *structure;
} StreamsTarget;

/* Sets a field stream-INDEX: a structure of that name with stream-id, if it is known, and the
 * counters of the stream. */
static void
stream_to_structure (gpointer data, gpointer user_data)
{
  const BatchStream *batch_stream = data;
  const Stream *stream = batch_stream->data;
  const StreamsTarget *target = user_data;
  const gchar *id = batch_meta_stream_id (batch_stream);
  gchar *name = g_strdup_printf ("stream-%u", batch_stream->index);
  GstStructure *structure = gst_structure_new_empty (name);

  if (id)
    gst_structure_set (structure, "stream-id", G_TYPE_STRING, id, NULL);
  stats_to_structure (target->self, &stream->stats, structure);
  gst_structure_set (target->structure, name, GST_TYPE_STRUCTURE, structure, NULL);
  gst_structure_free (structure);
  g_free (name);
}

void
box_filter_add_stats (GstBoxFilter *self, GstStructure *structure)
{
  GstBoxFilterPrivate *priv = PRIVATE (self);
  StreamsTarget target = { self, structure };

  stats_to_structure (self, &priv->stats, structure);
  batch_meta_foreach_stream (priv->batch, stream_to_structure, &target);
}

/* --------------------------------------------------------------- properties */

void
box_filter_install_stats (GObjectClass *object_class, guint id, const gchar *text)
{
  g_object_class_install_property (object_class, id,
      g_param_spec_boxed ("stats", "Statistics", text, GST_TYPE_STRUCTURE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_box_filter_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstBoxFilter *self = GST_BOX_FILTER (object);
  gchar *refused;

  if (pspec->owner_type == GST_TYPE_BOX_FILTER) {
    g_atomic_int_set (&PRIVATE (self)->action, g_value_get_enum (value));
    return;
  }
  GST_OBJECT_LOCK (self);
  refused = GST_BOX_FILTER_GET_CLASS (self)->set (self, id, value, PRIVATE (self)->started);
  GST_OBJECT_UNLOCK (self);
  if (refused)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("%s", refused),
        ("the previous value stays in use"));
  g_free (refused);
}

static void
gst_box_filter_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstBoxFilter *self = GST_BOX_FILTER (object);
  const GstBoxFilterClass *klass = GST_BOX_FILTER_GET_CLASS (self);

  if (pspec->owner_type == GST_TYPE_BOX_FILTER) {
    g_value_set_enum (value, g_atomic_int_get (&PRIVATE (self)->action));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (pspec->value_type == GST_TYPE_STRUCTURE && !(pspec->flags & G_PARAM_WRITABLE)) {
    GstStructure *stats = gst_structure_new_empty (klass->stats_name);

    box_filter_add_stats (self, stats);
    g_value_take_boxed (value, stats);
  } else {
    klass->get (self, id, value);
  }
  GST_OBJECT_UNLOCK (self);
}

void
box_filter_handle_properties (GObjectClass *object_class)
{
  object_class->set_property = gst_box_filter_set_property;
  object_class->get_property = gst_box_filter_get_property;
}

/* Returns the names of the properties that a preset holds: the settable ones of this plugin except
 * texts and structures, because GStreamer escapes these twice when it saves a preset and unescapes
 * them once when it loads it. */
static gchar **
gst_box_filter_get_preset_property_names (GstPreset *preset)
{
  GPtrArray *names = g_ptr_array_new ();
  GParamSpec **specs;
  guint count;

  specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (preset), &count);
  for (guint i = 0; i < count; i++)
    if (g_type_is_a (specs[i]->owner_type, GST_TYPE_BOX_FILTER)
        && (specs[i]->flags & G_PARAM_WRITABLE) && specs[i]->value_type != G_TYPE_STRING
        && specs[i]->value_type != GST_TYPE_STRUCTURE)
      g_ptr_array_add (names, g_strdup (specs[i]->name));
  g_free (specs);
  g_ptr_array_add (names, NULL);
  return (gchar **) g_ptr_array_free (names, FALSE);
}

static void
gst_box_filter_init_preset (gpointer interface, gpointer user_data)
{
  ((GstPresetInterface *) interface)->get_property_names = gst_box_filter_get_preset_property_names;
}

/* --------------------------------------------------------------- one buffer */

guint
box_filter_read (GstBoxFilter *self, BoxFilterFrame *frame, guint flags)
{
  return box_meta_reading_take (PRIVATE (self)->reading, frame->buffer, frame->width, frame->height,
      flags);
}

/* Returns whether anything of the buffer has to change. */
static inline gboolean
changes (const BoxFilterFrame *frame)
{
  const BoxCounts *counts = &frame->counts;

  return counts->rewritten > 0 || counts->added > 0
      || (frame->action == GST_NMS_ACTION_TAG ? counts->decided : counts->dropped) > 0;
}

/* Returns a copy of the buffer, which shares its memory, for change_buffer, or NULL if the memory
 * cannot be copied. */
static GstBuffer *
copy_buffer (GstBoxFilterPrivate *priv, BoxFilterFrame *frame)
{
  if (frame->counts.rewritten > 0 || frame->action == GST_NMS_ACTION_TAG)
    return gst_buffer_copy (frame->buffer);
  frame->counts.dropped = 0; /* the copy was made without the dropped boxes */
  return box_remove_copy (frame->buffer, priv->reading);
}

/* Removes or tags the decided boxes; `buffer` is writable, and may be a copy of the input. */
static void
change_buffer (GstBoxFilter *self, const BoxFilterFrame *frame, GstBuffer *buffer)
{
  GstBoxFilterPrivate *priv = PRIVATE (self);

  if (frame->counts.rewritten > 0)
    box_rewrite (buffer, priv->reading, frame->width, frame->height);
  if (frame->action == GST_NMS_ACTION_TAG && frame->counts.decided > 0)
    box_meta_tag (buffer, priv->reading);
  else if (frame->action == GST_NMS_ACTION_REMOVE && frame->counts.dropped > 0)
    box_remove (buffer, priv->reading);
  if (frame->counts.added > 0)
    GST_BOX_FILTER_GET_CLASS (self)->add (self, frame, buffer);
}

static GstFlowReturn
decide (GstBoxFilter *self, BoxFilterFrame *frame)
{
  const nms__fpmode mode = nms__fpmode_enter ();
  const GstFlowReturn flow = GST_BOX_FILTER_GET_CLASS (self)->decide (self, frame);

  nms__fpmode_leave (mode);
  return flow;
}

/* Decides the boxes of `*buffer`, counts them, and makes `*buffer` the buffer that is passed on. In
 * a batch, it is the buffer of batch_frame, which is NULL otherwise. */
static GstFlowReturn
filter_buffer (GstBoxFilter *self, GstBuffer **buffer, BatchFrame *batch_frame, gint width,
    gint height, const GstSegment *segment, Stream *stream)
{
  GstBoxFilterPrivate *priv = PRIVATE (self);
  const GstClockTime begun = gst_util_get_timestamp ();
  BoxFilterFrame frame = { *buffer, width, height, segment, box_meta_reading_boxes (priv->reading),
    (GstNmsAction) g_atomic_int_get (&priv->action), stream->data };
  GstFlowReturn flow;
  BoxCounts counts;
  guint64 time;

  flow = decide (self, &frame);
  if (flow != GST_FLOW_OK)
    return flow;
  counts = frame.counts;
  if (changes (&frame)) {
    if (batch_frame)
      *buffer = batch_meta_make_writable (batch_frame);
    else if (!gst_buffer_is_writable (*buffer))
      *buffer = copy_buffer (priv, &frame);
    if (*buffer == NULL) {
      GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("Cannot copy a buffer."), (NULL));
      return GST_FLOW_ERROR;
    }
    change_buffer (self, &frame, *buffer);
  }
  GST_LOG_OBJECT (self, "%u boxes, %u dropped", frame.boxes->len, counts.dropped);
  time = gst_util_get_timestamp () - begun;
  GST_OBJECT_LOCK (self);
  add_frame (&priv->stats, &counts, time);
  if (batch_frame)
    add_frame (&stream->stats, &counts, time);
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

gboolean
box_filter_look (GstBoxFilter *self, GstBuffer *buffer,
    void (*look) (GstBoxFilter *self, BoxFilterFrame *frame))
{
  GstBoxFilterPrivate *priv = PRIVATE (self);
  const GstClockTime begun = gst_util_get_timestamp ();
  BoxFilterFrame frame = { buffer, priv->width, priv->height, &GST_BASE_TRANSFORM (self)->segment,
    box_meta_reading_boxes (priv->reading), (GstNmsAction) g_atomic_int_get (&priv->action),
    priv->single->data };
  nms__fpmode mode;

  if (priv->batches)
    return FALSE;
  mode = nms__fpmode_enter ();
  look (self, &frame);
  nms__fpmode_leave (mode);
  GST_OBJECT_LOCK (self);
  priv->stats.time += gst_util_get_timestamp () - begun;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static GstFlowReturn
filter_batch_frame (GstObject *element, BatchFrame *frame)
{
  GstBuffer *buffer = frame->buffer;

  return filter_buffer (GST_BOX_FILTER (element), &buffer, frame, frame->stream->width,
      frame->stream->height, frame->segment, frame->stream->data);
}

static GstFlowReturn
gst_box_filter_prepare_output_buffer (GstBaseTransform *trans, GstBuffer *input, GstBuffer **output)
{
  GstBoxFilter *self = GST_BOX_FILTER (trans);
  GstBoxFilterPrivate *priv = PRIVATE (self);

  *output = input;
  if (priv->batches)
    return batch_meta_walk (priv->batch, output, &trans->segment);
  return filter_buffer (self, output, NULL, priv->width, priv->height, &trans->segment,
      priv->single);
}

/* Does nothing, because prepare_output_buffer has changed the buffer already. */
static GstFlowReturn
gst_box_filter_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  return GST_FLOW_OK;
}

/* ------------------------------------------------------------------- stream */

static gpointer
stream_new (GstObject *element)
{
  const GstBoxFilterClass *klass = GST_BOX_FILTER_GET_CLASS (element);
  Stream *stream = g_new0 (Stream, 1);

  if (klass->stream_new)
    stream->data = klass->stream_new ();
  stream->free_data = klass->stream_free;
  return stream;
}

static void
stream_free (gpointer data)
{
  Stream *stream = data;

  if (stream->free_data)
    stream->free_data (stream->data);
  g_free (stream);
}

static void
take_event (GstBoxFilter *self, Stream *stream, GstEvent *event)
{
  const GstBoxFilterClass *klass = GST_BOX_FILTER_GET_CLASS (self);

  if (klass->event)
    klass->event (stream->data, event);
}

static void
take_batch_event (GstObject *element, BatchStream *stream, GstEvent *event)
{
  take_event (GST_BOX_FILTER (element), stream->data, event);
}

/* set_caps is not used, because the base class then refuses streams without caps. */
static void
take_caps (GstBoxFilter *self, GstEvent *event)
{
  GstBoxFilterPrivate *priv = PRIVATE (self);
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  frame_size_from_caps (caps, &priv->width, &priv->height);
  priv->batches = batch_meta_in_caps (caps);
  GST_DEBUG_OBJECT (self, "frame size %dx%d", priv->width, priv->height);
}

static gboolean
gst_box_filter_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstBoxFilter *self = GST_BOX_FILTER (trans);

  take_event (self, PRIVATE (self)->single, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
    take_caps (self, event);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    g_object_notify (G_OBJECT (self), "stats");
  return GST_BASE_TRANSFORM_CLASS (gst_box_filter_parent_class)->sink_event (trans, event);
}

static gboolean
gst_box_filter_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  if (!GST_BASE_TRANSFORM_CLASS (gst_box_filter_parent_class)
           ->propose_allocation (trans, decide_query, query))
    GST_DEBUG_OBJECT (trans, "downstream does not answer the query");
  box_meta_propose (query);
  return TRUE;
}

static gboolean
gst_box_filter_start (GstBaseTransform *trans)
{
  GstBoxFilter *self = GST_BOX_FILTER (trans);
  const GstBoxFilterClass *klass = GST_BOX_FILTER_GET_CLASS (self);
  GstBoxFilterPrivate *priv = PRIVATE (self);
  gchar *error;

  GST_OBJECT_LOCK (self);
  error = klass->error ? klass->error (self) : NULL;
  priv->started = error == NULL;
  priv->stats = (FilterStats) { 0 };
  GST_OBJECT_UNLOCK (self);
  if (error) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("%s", error), (NULL));
    g_free (error);
    return FALSE;
  }
  priv->width = priv->height = 0;
  priv->batches = FALSE;
  batch_meta_reset (priv->batch);
  g_clear_pointer (&priv->single, stream_free);
  priv->single = stream_new (GST_OBJECT (trans));
  return TRUE;
}

static gboolean
gst_box_filter_stop (GstBaseTransform *trans)
{
  GST_OBJECT_LOCK (trans);
  PRIVATE (GST_BOX_FILTER (trans))->started = FALSE;
  GST_OBJECT_UNLOCK (trans);
  return TRUE;
}

/* -------------------------------------------------------------------- class */

static const BatchFuncs batch_funcs = {
  .stream_new = stream_new,
  .stream_free = stream_free,
  .event = take_batch_event,
  .frame = filter_batch_frame,
};

static void
gst_box_filter_init (GstBoxFilter *self)
{
  GstBoxFilterPrivate *priv = PRIVATE (self);

  priv->action = BOX_DEFAULT_ACTION;
  priv->reading = box_meta_reading_new ();
  priv->batch = batch_meta_new (GST_OBJECT (self), &batch_funcs);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}

static void
gst_box_filter_finalize (GObject *object)
{
  GstBoxFilterPrivate *priv = PRIVATE (GST_BOX_FILTER (object));

  box_meta_reading_free (priv->reading);
  batch_meta_free (priv->batch);
  g_clear_pointer (&priv->single, stream_free);
  G_OBJECT_CLASS (gst_box_filter_parent_class)->finalize (object);
}

static void
gst_box_filter_class_init (GstBoxFilterClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_box_filter_debug, "boxfilter", 0, "elements that drop boxes");
  object_class->finalize = gst_box_filter_finalize;
  box_filter_handle_properties (object_class);
  g_object_class_install_property (object_class, PROP_ACTION, box_action_spec ());
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  trans_class->start = GST_DEBUG_FUNCPTR (gst_box_filter_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_box_filter_stop);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_box_filter_sink_event);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_box_filter_propose_allocation);
  trans_class->before_transform = GST_DEBUG_FUNCPTR (properties_before_transform);
  trans_class->prepare_output_buffer = GST_DEBUG_FUNCPTR (gst_box_filter_prepare_output_buffer);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_box_filter_transform_ip);
  trans_class->transform_ip_on_passthrough = FALSE;
  gst_type_mark_as_plugin_api (gst_box_filter_get_type (), 0);
}
