/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-boxmerge
 * @title: boxmerge
 *
 * Adds the boxes that branches of a pipeline found to the main stream: those of tiles, crops and
 * scaled copies of its pictures, and those of several detectors. The buffers of the pad `sink`
 * get the boxes and are otherwise unchanged; pixels are never read or copied. Each request pad
 * `sink_%u` takes a branch, of which only the boxes are used.
 *
 * Boxes are regions of interest and, where the plugin was built with GstAnalytics, ODs. They are
 * moved to the place of the branch's picture in the main frame (#GstBoxMergePad:xpos, ypos, width
 * and height, or #GstBoxMergePad:tiles), turned back (#GstBoxMergePad:video-direction) and get the
 * name of their branch (#GstBoxMergePad:source). Classes, tracks, masks, parents and structures go
 * with them; ids are made unique. Metadata with positions or ids that cannot be changed stays
 * behind, and a warning names its type. nmsfilter then removes what several branches found.
 *
 * A buffer of a branch belongs to the main buffer with the same running time, at most
 * #GstBoxMerge:tolerance away. Buffers without a PTS are matched in their order. A main buffer
 * waits for each branch until that has a buffer of its time, a later buffer, a GAP event
 * for its time, or EOS. In a live pipeline it waits at most until its running time plus the
 * latency of the pipeline upstream plus #GstAggregator:latency, so a slow or dead branch does not
 * stop the stream; what comes later is dropped and counted as too-late. Set latency to the
 * time that the slowest detector takes. Otherwise the main buffer waits until the branches have
 * data, as in compositor. #GstBoxMergePad:hold adds the last boxes of a slow branch again.
 *
 * Every branch needs a queue, and so does the main stream, because the thread that fills one
 * pad would wait for the other pads. The queue of the main stream must hold the frames
 * for which a detector delays or drops its buffers: `queue max-size-buffers=60 max-size-bytes=0
 * max-size-time=0`. If a detector leaves frames out, an `identity drop-allocation=true` belongs
 * before the tee (docs/boxmerge.md).
 *
 * EOS of the main stream ends the stream. At the end an element message `boxmerge` states the
 * statistics (`gst-launch-1.0 -m` shows it).
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=video.mkv ! decodebin ! tee name=t \
 *   t. ! queue max-size-buffers=60 max-size-bytes=0 max-size-time=0 \
 *   ! boxmerge name=m sink_1::xpos=640 ! nmsfilter ! boxoverlay ! videoconvert ! autovideosink \
 *   t. ! queue ! videocrop right=640 ! boxreplay location=left.jsonl ! m.sink_0 \
 *   t. ! queue ! videocrop left=640 ! boxreplay location=right.jsonl ! m.sink_1
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <gst/base/gstaggregator.h>

#include "elements.h"
#include "framesize.h"
#include "mergeoutput.h"
#include "mergepad.h"

#include <gst/video/video.h>

GST_DEBUG_CATEGORY_STATIC (gst_box_merge_debug);
#define GST_CAT_DEFAULT gst_box_merge_debug

#define DEFAULT_TOLERANCE 0
#define DEFAULT_IGNORE_INACTIVE_PADS FALSE
#define DEFAULT_FORCE_LIVE FALSE

enum
{
  PROP_TOLERANCE = 1,
  PROP_IGNORE_INACTIVE_PADS,
  PROP_FORCE_LIVE,
  PROP_START_TIME, /* this and the next one have no effect */
  PROP_START_TIME_SELECTION,
  PROP_STATS,
};

struct _GstBoxMerge
{
  GstAggregator parent;

  GstAggregatorPad *main; /* the pad sink, which lives as long as the element */

  /* under the object lock */
  guint64 tolerance;
  guint64 frames;               /* since READY */
  guint64 counts[MERGE_COUNTS]; /* sums over all branches since READY */

  gint seeks; /* number of seeks that are being passed upstream; atomic */

  /* thread of the source pad */
  MergeOutput output;
  BoxMetaReading *reading;
  gint width, height;  /* size of the main frame; 0 if unknown */
  gint rate_n, rate_d; /* 0/1 if unknown */
  gint64 previous;     /* running time of the last main buffer, or MERGE_NO_TIME */
};

#define GST_TYPE_BOX_MERGE (gst_box_merge_get_type ())
G_DECLARE_FINAL_TYPE (GstBoxMerge, gst_box_merge, GST, BOX_MERGE, GstAggregator)
static void init_child_proxy (gpointer iface, gpointer data);

G_DEFINE_TYPE_WITH_CODE (GstBoxMerge, gst_box_merge, GST_TYPE_AGGREGATOR,
    G_IMPLEMENT_INTERFACE (GST_TYPE_CHILD_PROXY, init_child_proxy))
GST_ELEMENT_REGISTER_DEFINE (boxmerge, "boxmerge", GST_RANK_NONE, GST_TYPE_BOX_MERGE)

static GstStaticPadTemplate main_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK,
    GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate branch_template = GST_STATIC_PAD_TEMPLATE ("sink_%u", GST_PAD_SINK,
    GST_PAD_REQUEST, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC,
    GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

#define PARENT GST_AGGREGATOR_CLASS (gst_box_merge_parent_class)

/* ----------------------------------------------------------------- aggregation */

/* Takes the main buffer's time. */
static MergeMoment
main_moment (GstBoxMerge *self, GstBuffer *buffer)
{
  MergeMoment moment = { .previous = self->previous };
  guint64 tolerance;

  GST_OBJECT_LOCK (self);
  tolerance = self->tolerance;
  GST_OBJECT_UNLOCK (self);
  moment.tolerance = (gint64) MIN (tolerance, G_MAXINT64 / 4);
  if (tolerance == 0)
    moment.tolerance = merge_match_half_frame (buffer, self->rate_n, self->rate_d);
  GST_OBJECT_LOCK (self->main);
  moment.time = merge_match_time (&self->main->segment, buffer);
  GST_OBJECT_UNLOCK (self->main);
  return moment;
}

/* Gives the controllable properties their values at the stream time of the main buffer. */
static void
sync_properties (GstBoxMerge *self, GstPad *pad, GstBuffer *buffer)
{
  GstClockTime time = GST_CLOCK_TIME_NONE;

  if (!gst_object_has_active_control_bindings (GST_OBJECT (pad)))
    return;
  GST_OBJECT_LOCK (self->main);
  if (self->main->segment.format == GST_FORMAT_TIME)
    time = gst_segment_to_stream_time (&self->main->segment, GST_FORMAT_TIME,
        GST_BUFFER_PTS (buffer));
  GST_OBJECT_UNLOCK (self->main);
  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (pad), time);
}

static gboolean
select_branch (GstElement *element, GstPad *pad, gpointer user_data)
{
  if (GST_IS_BOX_MERGE_PAD (pad))
    merge_pad_select (GST_BOX_MERGE_PAD (pad), user_data);
  return TRUE;
}

static gboolean
merge_branch (GstElement *element, GstPad *pad, gpointer user_data)
{
  MergeFrame *frame = user_data;

  if (!GST_IS_BOX_MERGE_PAD (pad))
    return TRUE;
  sync_properties (GST_BOX_MERGE (element), pad, frame->buffer);
  return merge_pad_merge (GST_BOX_MERGE_PAD (pad), frame);
}

static void
count (GstBoxMerge *self, const guint64 counts[MERGE_COUNTS], guint frames)
{
  GST_OBJECT_LOCK (self);
  self->frames += frames;
  merge_counts_add (self->counts, counts);
  GST_OBJECT_UNLOCK (self);
}

/* Adds the selected boxes to a main buffer, which it takes, and pushes it. */
static GstFlowReturn
merge_and_push (GstBoxMerge *self, MergeFrame *frame)
{
  gst_element_foreach_sink_pad (GST_ELEMENT (self), merge_branch, frame);
  if (frame->error) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot place the boxes of a branch: %s.", frame->error), (NULL));
    g_free (frame->error);
    gst_buffer_unref (frame->buffer);
    return GST_FLOW_ERROR;
  }
  box_meta_reading_warn (self->reading, GST_ELEMENT (self));
  self->previous = frame->moment.time;
  count (self, frame->counts, 1);
  return gst_aggregator_finish_buffer (GST_AGGREGATOR (self), frame->buffer);
}

static GstStructure *
make_stats (GstBoxMerge *self)
{
  GstStructure *stats = gst_structure_new_empty ("boxmerge");

  GST_OBJECT_LOCK (self);
  gst_structure_set (stats, "frames", G_TYPE_UINT64, self->frames, NULL);
  merge_counts_write (self->counts, stats);
  for (GList *l = GST_ELEMENT (self)->sinkpads; l; l = l->next)
    if (GST_IS_BOX_MERGE_PAD (l->data)) {
      GstStructure *branch;

      g_object_get (l->data, "stats", &branch, NULL);
      gst_structure_set (stats, GST_OBJECT_NAME (l->data), GST_TYPE_STRUCTURE, branch, NULL);
      gst_structure_free (branch);
    }
  GST_OBJECT_UNLOCK (self);
  return stats;
}

static GstFlowReturn
finish_stream (GstBoxMerge *self)
{
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self), make_stats (self)));
  /* gst-launch-1.0 -v shows it */
  g_object_notify (G_OBJECT (self), "stats");
  return GST_FLOW_EOS;
}

static GstFlowReturn
gst_box_merge_aggregate (GstAggregator *aggregator, gboolean timeout)
{
  GstBoxMerge *self = GST_BOX_MERGE (aggregator);
  GstBuffer *buffer = gst_aggregator_pad_peek_buffer (self->main);
  MergeFrame frame = { .width = self->width, .height = self->height, .reading = self->reading };

  if (buffer == NULL)
    return gst_aggregator_pad_is_eos (self->main) ? finish_stream (self)
                                                  : GST_AGGREGATOR_FLOW_NEED_DATA;
  gst_buffer_unref (buffer); /* the pad keeps it */
  if (merge_match_gap (buffer))
    return gst_aggregator_finish_buffer (aggregator, gst_aggregator_pad_pop_buffer (self->main));
  frame.moment = main_moment (self, buffer);
  gst_element_foreach_sink_pad (GST_ELEMENT (self), select_branch, &frame);
  if (frame.waiting && !timeout) {
    count (self, frame.counts, 0);
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  }
  gst_aggregator_selected_samples (aggregator, GST_BUFFER_PTS (buffer), GST_BUFFER_DTS (buffer),
      GST_BUFFER_DURATION (buffer), NULL);
  frame.buffer = gst_aggregator_pad_pop_buffer (self->main);
  return merge_and_push (self, &frame);
}

/* Returns the running time at which the main buffer is due, to which GstAggregator adds the
 * latency; nothing is due without one. */
static GstClockTime
gst_box_merge_get_next_time (GstAggregator *aggregator)
{
  GstBoxMerge *self = GST_BOX_MERGE (aggregator);
  GstBuffer *buffer = gst_aggregator_pad_peek_buffer (self->main);
  gint64 time;

  if (buffer == NULL)
    return GST_CLOCK_TIME_NONE;
  GST_OBJECT_LOCK (self->main);
  time = merge_match_time (&self->main->segment, buffer);
  GST_OBJECT_UNLOCK (self->main);
  gst_buffer_unref (buffer);
  return (GstClockTime) MAX (time, 0);
}

/* Returns what the signal samples-selected announces: the main buffer, or that of a branch. */
static GstSample *
gst_box_merge_peek_next_sample (GstAggregator *aggregator, GstAggregatorPad *pad)
{
  GstBuffer *buffer = GST_IS_BOX_MERGE_PAD (pad) ? merge_pad_selected (GST_BOX_MERGE_PAD (pad))
                                                 : gst_aggregator_pad_peek_buffer (pad);
  GstCaps *caps = gst_pad_get_current_caps (GST_PAD (pad));
  GstSample *sample = buffer ? gst_sample_new (buffer, caps, &pad->segment, NULL) : NULL;

  gst_clear_caps (&caps);
  gst_clear_buffer (&buffer);
  return sample;
}

/* ---------------------------------------------------------------------- events */

static void
take_main_caps (GstBoxMerge *self, GstEvent *event)
{
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  frame_size_from_caps (caps, &self->width, &self->height);
  if (!gst_structure_get_fraction (gst_caps_get_structure (caps, 0), "framerate", &self->rate_n,
          &self->rate_d))
    self->rate_n = 0, self->rate_d = 1;
  gst_aggregator_set_src_caps (GST_AGGREGATOR (self), caps);
}

static void
take_main_segment (GstBoxMerge *self, GstEvent *event)
{
  const GstSegment *segment;

  gst_event_parse_segment (event, &segment);
  gst_aggregator_update_segment (GST_AGGREGATOR (self), segment);
}

/* Passes a GAP event to GstAggregator, which replaces it by a buffer. */
static gboolean
take_gap (GstBoxMerge *self, GstAggregatorPad *pad, GstEvent *event)
{
  GstEvent *gap = gst_event_ref (event);
  gboolean handled = PARENT->sink_event (GST_AGGREGATOR (self), pad, event);
  GstBuffer *buffer = GST_IS_BOX_MERGE_PAD (pad) ? merge_pad_peek (GST_BOX_MERGE_PAD (pad))
                                                 : gst_aggregator_pad_peek_buffer (pad);

  if (buffer) {
    merge_match_mark_gap (buffer, gap);
    gst_buffer_unref (buffer);
  }
  gst_event_unref (gap);
  return handled;
}

/* Marks a branch as ended, so that the aggregation does not wait for it. */
static gboolean
end_branch (GstElement *element, GstPad *pad, gpointer user_data)
{
  if (GST_IS_BOX_MERGE_PAD (pad))
    PARENT->sink_event (GST_AGGREGATOR (element), GST_AGGREGATOR_PAD (pad), gst_event_new_eos ());
  return TRUE;
}

static gboolean
handle_main_event (GstBoxMerge *self, GstEvent *event)
{
  GstAggregator *aggregator = GST_AGGREGATOR (self);
  gboolean handled;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      merge_output_note_event (&self->output, event);
      break;
    case GST_EVENT_CAPS:
      merge_output_note_event (&self->output, event);
      take_main_caps (self, event);
      gst_event_unref (event);
      return TRUE;
    case GST_EVENT_SEGMENT:
      merge_output_note_event (&self->output, event);
      take_main_segment (self, event);
      break;
    case GST_EVENT_GAP:
      return take_gap (self, self->main, event);
    case GST_EVENT_EOS:
      merge_output_note_event (&self->output, event);
      handled = PARENT->sink_event (aggregator, self->main, event);
      gst_element_foreach_sink_pad (GST_ELEMENT (self), end_branch, NULL);
      return handled;
    case GST_EVENT_FLUSH_START:
    case GST_EVENT_FLUSH_STOP:
      break;
    default:
      if (!GST_EVENT_IS_SERIALIZED (event))
        return gst_pad_push_event (GST_AGGREGATOR_SRC_PAD (self), event);
      merge_output_push_event (&self->output, event);
      return TRUE;
  }
  return PARENT->sink_event (aggregator, self->main, event);
}

static gboolean
handle_branch_event (GstBoxMerge *self, GstBoxMergePad *pad, GstEvent *event)
{
  const GstEventType type = GST_EVENT_TYPE (event);
  gboolean handled;
  GstCaps *caps;

  switch (type) {
    case GST_EVENT_STREAM_START:
    case GST_EVENT_SEGMENT:
    case GST_EVENT_EOS:
    case GST_EVENT_FLUSH_START:
    case GST_EVENT_FLUSH_STOP:
      handled = PARENT->sink_event (GST_AGGREGATOR (self), GST_AGGREGATOR_PAD (pad), event);
      if (type == GST_EVENT_STREAM_START && gst_aggregator_pad_is_eos (self->main))
        end_branch (GST_ELEMENT (self), GST_PAD (pad), NULL);
      return handled;
    case GST_EVENT_GAP:
      return take_gap (self, GST_AGGREGATOR_PAD (pad), event);
    case GST_EVENT_CAPS:
      gst_event_parse_caps (event, &caps);
      merge_pad_set_caps (pad, caps);
      break;
    default: /* tags and other events concern the branch alone */
      break;
  }
  gst_event_unref (event);
  return TRUE;
}

static gboolean
gst_box_merge_sink_event (GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event)
{
  GstBoxMerge *self = GST_BOX_MERGE (aggregator);

  if (pad == self->main)
    return handle_main_event (self, event);
  return handle_branch_event (self, GST_BOX_MERGE_PAD (pad), event);
}

/* Passes a seek to the main stream and to the branches that have a source of their own. */
static gboolean
seek (GstBoxMerge *self, GstEvent *event)
{
  gboolean done;

  g_atomic_int_inc (&self->seeks);
  done = PARENT->src_event (GST_AGGREGATOR (self), event);
  g_atomic_int_add (&self->seeks, -1);
  return done;
}

/* Compares by stream and group: a tee passes both on, and two sources of one file differ in the
 * group. Returns 0, for gst_iterator_filter, if the pad needs a seek of its own. */
static gint
needs_seek (gconstpointer a, gconstpointer b)
{
  GstPad *const pad = g_value_get_object (a), *const main = g_value_get_object (b);
  GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_STREAM_START, 0);
  GstEvent *main_event = gst_pad_get_sticky_event (main, GST_EVENT_STREAM_START, 0);
  const gchar *id = NULL, *main_id = NULL;
  guint group = 0, main_group = 0;
  gint same;

  if (event) {
    gst_event_parse_stream_start (event, &id);
    gst_event_parse_group_id (event, &group);
  }
  if (main_event) {
    gst_event_parse_stream_start (main_event, &main_id);
    gst_event_parse_group_id (main_event, &main_group);
  }
  same = pad != main && id && g_strcmp0 (id, main_id) == 0 && group == main_group;
  gst_clear_event (&event);
  gst_clear_event (&main_event);
  return same;
}

/* Returns the sink pads to which GstAggregator passes an event that comes from downstream: for a
 * seek the main stream and the branches that do not come from its source, so that a seek reaches
 * each source once. */
static GstIterator *
iterate_upstream (GstPad *pad, GstObject *parent)
{
  GstBoxMerge *self = GST_BOX_MERGE (parent);
  GValue value = G_VALUE_INIT;
  GstIterator *pads;

  if (g_atomic_int_get (&self->seeks) == 0)
    return gst_pad_iterate_internal_links_default (pad, parent);
  g_value_init (&value, GST_TYPE_PAD);
  g_value_set_object (&value, self->main);
  pads = gst_iterator_filter (gst_element_iterate_sink_pads (GST_ELEMENT (self)), needs_seek,
      &value);
  g_value_unset (&value);
  return pads;
}

static gboolean
gst_box_merge_src_event (GstAggregator *aggregator, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_SEEK:
      return seek (GST_BOX_MERGE (aggregator), event);
    case GST_EVENT_QOS:
    case GST_EVENT_LATENCY:
      return PARENT->src_event (aggregator, event);
    default:
      return gst_pad_push_event (GST_PAD (GST_BOX_MERGE (aggregator)->main), event);
  }
}

/* --------------------------------------------------------------------- queries */

/* Answers an ALLOCATION query of the main stream as downstream does, because the memory of its
 * buffers is passed on unchanged. */
static gboolean
gst_box_merge_propose_allocation (GstAggregator *aggregator, GstAggregatorPad *pad,
    GstQuery *decide_query, GstQuery *query)
{
  if (!gst_pad_peer_query (GST_AGGREGATOR_SRC_PAD (aggregator), query))
    GST_DEBUG_OBJECT (aggregator, "downstream does not answer the query");
  box_meta_propose (query);
  return TRUE;
}

/* Answers queries of branches at once, because in the queue of the pad they would wait behind a
 * buffer that waits for the main stream. Only the boxes of a branch's buffers are used. */
static gboolean
gst_box_merge_sink_query_pre_queue (GstAggregator *aggregator, GstAggregatorPad *pad,
    GstQuery *query)
{
  const gboolean branch = pad != GST_BOX_MERGE (aggregator)->main;

  if (branch && GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION) {
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
    box_meta_propose (query);
    return TRUE;
  }
  return (branch && GST_QUERY_TYPE (query) == GST_QUERY_DRAIN)
      || PARENT->sink_query_pre_queue (aggregator, pad, query);
}

static gboolean
gst_box_merge_src_query (GstAggregator *aggregator, GstQuery *query)
{
  GstPad *main = GST_PAD (GST_BOX_MERGE (aggregator)->main);

  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY && gst_pad_is_linked (main))
    return gst_pad_peer_query (main, query);
  return PARENT->src_query (aggregator, query);
}

/* Does nothing, because the caps of the main stream were set when they came, and no buffers
 * are allocated. */
static gboolean
gst_box_merge_negotiate (GstAggregator *aggregator)
{
  return TRUE;
}

/* ------------------------------------------------------------------------ pads */

static guint
get_children_count (GstChildProxy *proxy)
{
  guint count;

  GST_OBJECT_LOCK (proxy);
  count = GST_ELEMENT (proxy)->numsinkpads;
  GST_OBJECT_UNLOCK (proxy);
  return count;
}

static GObject *
get_child_by_index (GstChildProxy *proxy, guint index)
{
  GObject *pad;

  GST_OBJECT_LOCK (proxy);
  pad = g_list_nth_data (GST_ELEMENT (proxy)->sinkpads, index);
  if (pad)
    g_object_ref (pad);
  GST_OBJECT_UNLOCK (proxy);
  return pad;
}

/* Makes the sink pads children of the element, so that launch lines can set their properties. */
static void
init_child_proxy (gpointer iface, gpointer data)
{
  GstChildProxyInterface *proxy = iface;

  proxy->get_children_count = get_children_count;
  proxy->get_child_by_index = get_child_by_index;
}

static GstPad *
gst_box_merge_request_new_pad (GstElement *element, GstPadTemplate *template, const gchar *name,
    const GstCaps *caps)
{
  GstPad *pad = GST_ELEMENT_CLASS (gst_box_merge_parent_class)
                    ->request_new_pad (element, template, name, caps);

  if (pad)
    gst_child_proxy_child_added (GST_CHILD_PROXY (element), G_OBJECT (pad), GST_OBJECT_NAME (pad));
  return pad;
}

static void
gst_box_merge_release_pad (GstElement *element, GstPad *pad)
{
  gst_child_proxy_child_removed (GST_CHILD_PROXY (element), G_OBJECT (pad), GST_OBJECT_NAME (pad));
  gst_object_ref (pad); /* because the lock is a member of the pad */
  merge_pad_lock_queue (GST_BOX_MERGE_PAD (pad));
  GST_ELEMENT_CLASS (gst_box_merge_parent_class)->release_pad (element, pad);
  merge_pad_unlock_queue (GST_BOX_MERGE_PAD (pad));
  gst_object_unref (pad);
}

/* ----------------------------------------------------------------- start, stop */

static gboolean
start_branch (GstElement *element, GstPad *pad, gpointer user_data)
{
  return !GST_IS_BOX_MERGE_PAD (pad) || merge_pad_start (GST_BOX_MERGE_PAD (pad));
}

static gboolean
gst_box_merge_start (GstAggregator *aggregator)
{
  GstBoxMerge *self = GST_BOX_MERGE (aggregator);

  GST_OBJECT_LOCK (self);
  self->frames = 0;
  memset (self->counts, 0, sizeof self->counts);
  GST_OBJECT_UNLOCK (self);
  self->width = self->height = self->rate_n = 0;
  self->rate_d = 1;
  self->previous = MERGE_NO_TIME;
  box_meta_reading_reset (self->reading);
  return gst_element_foreach_sink_pad (GST_ELEMENT (self), start_branch, NULL);
}

static gboolean
gst_box_merge_stop (GstAggregator *aggregator)
{
  merge_output_reset (&GST_BOX_MERGE (aggregator)->output, TRUE);
  return TRUE;
}

static GstFlowReturn
gst_box_merge_flush (GstAggregator *aggregator)
{
  GstBoxMerge *self = GST_BOX_MERGE (aggregator);

  merge_output_reset (&self->output, FALSE);
  self->previous = MERGE_NO_TIME;
  return GST_FLOW_OK;
}

/* ----------------------------------------------------------------------- class */

static void
gst_box_merge_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstAggregator *aggregator = GST_AGGREGATOR (object);
  GstBoxMerge *self = GST_BOX_MERGE (object);

  switch (id) {
    case PROP_TOLERANCE:
      GST_OBJECT_LOCK (self);
      self->tolerance = g_value_get_uint64 (value);
      GST_OBJECT_UNLOCK (self);
      break;
    case PROP_IGNORE_INACTIVE_PADS:
      gst_aggregator_set_ignore_inactive_pads (aggregator, g_value_get_boolean (value));
      break;
    case PROP_FORCE_LIVE:
      gst_aggregator_set_force_live (aggregator, g_value_get_boolean (value));
      break;
    case PROP_START_TIME:
    case PROP_START_TIME_SELECTION:
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

static void
gst_box_merge_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstAggregator *aggregator = GST_AGGREGATOR (object);
  GstBoxMerge *self = GST_BOX_MERGE (object);

  switch (id) {
    case PROP_TOLERANCE:
      GST_OBJECT_LOCK (self);
      g_value_set_uint64 (value, self->tolerance);
      GST_OBJECT_UNLOCK (self);
      break;
    case PROP_IGNORE_INACTIVE_PADS:
      g_value_set_boolean (value, gst_aggregator_get_ignore_inactive_pads (aggregator));
      break;
    case PROP_FORCE_LIVE:
      g_value_set_boolean (value, gst_aggregator_get_force_live (aggregator));
      break;
    case PROP_START_TIME:
    case PROP_START_TIME_SELECTION:
      g_param_value_set_default (pspec, value);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, make_stats (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

static void
gst_box_merge_finalize (GObject *object)
{
  GstBoxMerge *self = GST_BOX_MERGE (object);

  merge_output_reset (&self->output, TRUE);
  box_meta_reading_free (self->reading);
  G_OBJECT_CLASS (gst_box_merge_parent_class)->finalize (object);
}

static void
gst_box_merge_init (GstBoxMerge *self)
{
  GstPadTemplate *template = gst_static_pad_template_get (&main_template);

  self->tolerance = DEFAULT_TOLERANCE;
  self->previous = MERGE_NO_TIME;
  self->reading = box_meta_reading_new ();
  self->main = g_object_new (GST_TYPE_AGGREGATOR_PAD, "name", "sink", "direction", GST_PAD_SINK,
      "template", template, NULL);
  GST_PAD_SET_PROXY_CAPS (self->main);
  gst_element_add_pad (GST_ELEMENT (self), GST_PAD (self->main));
  gst_object_unref (template);
  merge_output_init (&self->output, GST_AGGREGATOR_SRC_PAD (self));
  gst_pad_set_iterate_internal_links_function (GST_AGGREGATOR_SRC_PAD (self), iterate_upstream);
}

#define READWRITE (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)
#define PLAYING (READWRITE | GST_PARAM_MUTABLE_PLAYING)

/* Installs those properties of GstAggregator again that have no effect here, so that their
 * descriptions say so. */
static void
install_without_effect (GObjectClass *object_class)
{
  const GType selection =
      g_object_class_find_property (object_class, "start-time-selection")->value_type;

  g_object_class_install_property (object_class, PROP_START_TIME,
      g_param_spec_uint64 ("start-time", "Start time",
          "Has no effect: buffers and segments keep the times of the main stream", 0, G_MAXUINT64,
          G_MAXUINT64, READWRITE));
  g_object_class_install_property (object_class, PROP_START_TIME_SELECTION,
      g_param_spec_enum ("start-time-selection", "Start time selection",
          "Has no effect: buffers and segments keep the times of the main stream", selection,
          GST_AGGREGATOR_START_TIME_SELECTION_ZERO, READWRITE));
}

static void
install_properties (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, PROP_TOLERANCE,
      g_param_spec_uint64 ("tolerance", "Tolerance",
          "Largest distance, in ns, between the running times of a main buffer and the buffer of a "
          "branch that belongs to it. 0 = half a frame: half of the main buffer's duration, else "
          "of a frame at the main stream's frame rate, else of 40 ms",
          0, G_MAXUINT64, DEFAULT_TOLERANCE, PLAYING));
  g_object_class_install_property (object_class, PROP_IGNORE_INACTIVE_PADS,
      g_param_spec_boolean ("ignore-inactive-pads", "Ignore inactive pads",
          "In a live pipeline, stop waiting for a branch that has had no buffer yet after one "
          "main buffer has waited for it",
          DEFAULT_IGNORE_INACTIVE_PADS, PLAYING));
  g_object_class_install_property (object_class, PROP_FORCE_LIVE,
      g_param_spec_boolean ("force-live", "Force live",
          "Wait for branches as in a live pipeline, also if no source is live: at most until the "
          "main buffer's running time plus latency",
          DEFAULT_FORCE_LIVE, READWRITE | G_PARAM_CONSTRUCT_ONLY));
  install_without_effect (object_class);
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Totals since READY, all guint64: frames (buffers of the main stream), and sums over all "
          "branches, also those that were released: " MERGE_COUNTS_TEXT ". A structure for each "
          "branch that is there, named after its pad. Posted as element message \"boxmerge\" at "
          "the end of the stream",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
add_templates (GstElementClass *klass)
{
  /* (first, because gst_element_link takes the first template when no pad is free) */
  gst_element_class_add_static_pad_template_with_gtype (klass, &branch_template,
      GST_TYPE_BOX_MERGE_PAD);
  gst_element_class_add_static_pad_template_with_gtype (klass, &main_template,
      GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype (klass, &src_template,
      GST_TYPE_AGGREGATOR_PAD);
  gst_type_mark_as_plugin_api (GST_TYPE_BOX_MERGE_PAD, 0);
}

static void
gst_box_merge_class_init (GstBoxMergeClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *aggregator_class = GST_AGGREGATOR_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_box_merge_debug, "boxmerge", 0, "boxes of several branches");

  object_class->set_property = gst_box_merge_set_property;
  object_class->get_property = gst_box_merge_get_property;
  object_class->finalize = gst_box_merge_finalize;
  install_properties (object_class);
  element_class_describe (element_class, "Box merger", "Filter/Metadata/Video",
      "Adds the boxes of branches, such as tiles or other detectors, to the main stream",
      "gst-launch-1.0 filesrc location=video.mkv ! decodebin ! tee name=t ! queue "
      "! boxmerge name=m ! nmsfilter ! boxoverlay ! videoconvert ! autovideosink "
      "t. ! queue ! boxreplay location=boxes.jsonl ! m.sink_0");
  add_templates (element_class);
  element_class->request_new_pad = GST_DEBUG_FUNCPTR (gst_box_merge_request_new_pad);
  element_class->release_pad = GST_DEBUG_FUNCPTR (gst_box_merge_release_pad);
  aggregator_class->start = GST_DEBUG_FUNCPTR (gst_box_merge_start);
  aggregator_class->stop = GST_DEBUG_FUNCPTR (gst_box_merge_stop);
  aggregator_class->flush = GST_DEBUG_FUNCPTR (gst_box_merge_flush);
  aggregator_class->aggregate = GST_DEBUG_FUNCPTR (gst_box_merge_aggregate);
  aggregator_class->get_next_time = GST_DEBUG_FUNCPTR (gst_box_merge_get_next_time);
  aggregator_class->peek_next_sample = GST_DEBUG_FUNCPTR (gst_box_merge_peek_next_sample);
  aggregator_class->negotiate = GST_DEBUG_FUNCPTR (gst_box_merge_negotiate);
  aggregator_class->sink_event = GST_DEBUG_FUNCPTR (gst_box_merge_sink_event);
  aggregator_class->src_event = GST_DEBUG_FUNCPTR (gst_box_merge_src_event);
  aggregator_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_box_merge_propose_allocation);
  aggregator_class->sink_query_pre_queue = GST_DEBUG_FUNCPTR (gst_box_merge_sink_query_pre_queue);
  aggregator_class->src_query = GST_DEBUG_FUNCPTR (gst_box_merge_src_query);
}
