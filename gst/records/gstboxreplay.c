/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-boxreplay
 * @title: boxreplay
 *
 * Attaches recorded boxes to the buffers that pass. It replaces a detector, or
 * filters a recording again with other settings.
 *
 * The recording is a text file, a pipe or standard input (`location=-`). It is JSON Lines with
 * one object for each frame, as boxrecord and DL Streamer's gvametaconvert write it, or MOT
 * challenge text. In MOT text, frames and pixels count from 1 (`left` 1 is x 0); boxes of
 * ground truth with flag 0 are left out and counted as ignored.
 *
 * Without a location, the pad boxes, on request, takes the boxes as text with timestamps,
 * as the pad boxes of boxrecord pushes it, through queues, gdpdepay, rtpgstdepay or
 * matroskademux from another process. Text and buffers are matched by running time; a
 * buffer waits for its text, for a later text, for a GAP event or for EOS, at most
 * #GstBoxReplay:boxes-timeout. A queue before each sink pad keeps one from blocking the other.
 *
 * With line-meta=true the boxes of a buffer are those in its own metadata, where boxrecord
 * line-meta=true in another process attached them; see #GstBoxReplay:line-meta. The metadata is
 * removed, because elements downstream may change the boxes.
 *
 * A replay keeps these members of JSON Lines: x y w h, roi_type, region_id, parent_id, id (the
 * track), detection.bounding_box, .confidence, .label_id, .label (if roi_type is missing),
 * rotation, nms.state and .suppressed-by. It ignores all others. A line with resolution and
 * without objects is a frame without boxes. bounding_box wins over x y w h; x y w h that agree
 * with it within 1 pixel are attached unchanged. If the resolution differs from that of the
 * caps, boxes are scaled.
 *
 * Boxes are attached as #GstVideoRegionOfInterestMeta, as GstAnalyticsODMtd or as both with the
 * same id, as DL Streamer does it (#GstBoxReplay:meta). An OD has whole pixels, off the frame
 * too, and no label_id; GStreamer 1.26 and later give it an angle. Its id is its position in
 * the buffer's metadata, so meta=analytics does not keep region_id. A box without a confidence
 * gets 0. With ODs, a frame without boxes gets an empty #GstAnalyticsRelationMeta.
 *
 * match=timestamp finds the record of a buffer by stream time: the nearest one, at most
 * #GstBoxReplay:tolerance away; 0 means half a frame: half of the buffer's duration, else of a
 * frame at the caps' frame rate, else of the distance to the previous buffer, else of 40 ms. Of
 * several records with one time the last one written counts. match=index takes one record
 * after the other. A buffer without a record is a frame without boxes. A buffer without a PTS
 * takes the next record, and one outside of its segment takes none. After a seek, match=index
 * needs a frame rate or durations to compute the index of the frame.
 *
 * A regular file is read through once, before its first record is needed, and 16 bytes a record
 * are kept, so buffers may come in any order: after seeks, in reverse, in decoding order. A
 * pipe, a followed file and the pad boxes are read forward, so their records have to be in
 * order of time. A jump backward in a pipe is an error.
 *
 * For a detector that is slower than the video, #GstBoxReplay:hold attaches a record to the
 * buffers after it too, until the next record or until it is that old. Such buffers are counted
 * as held, not as matched.
 *
 * A process never frees a label, so #GstBoxReplay:max-labels limits the number of different
 * labels. A box with a label beyond the limit is attached without it.
 *
 * A buffer waits for its record if that comes from a pipe. A record at most a quarter of a
 * frame before the buffer's time is used at once; otherwise the record after the buffer
 * has to be known. A writer that leaves frames out therefore delays those frames until
 * its next record, at most #GstBoxReplay:boxes-timeout, which a live pipeline adds to its
 * latency. Without that limit a warning is posted when no line has come for 1 s. Two
 * boxreplays on one pipe would share its lines, so the second one in a process is refused.
 *
 * A last line that is incomplete, as in a file that is still being written, is a warning.
 * follow=true waits for its rest and for further lines, as for a pipe, so a stream that
 * runs longer than its recording waits until a flush, a state change or boxes-timeout. If the
 * file is renamed or emptied meanwhile, the stream goes on in the new file or contents.
 *
 * At the end of the stream an element message `boxreplay` states the number of frames
 * that passed, frames matched, records unmatched and superseded, frames with a held record, boxes
 * attached, lines skipped, boxes ignored and labels refused (`gst-launch-1.0 -m` shows it).
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 -m filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl \
 *   ! nmsfilter iou-threshold=0.4 ! boxrecord location=kept.jsonl ! fakesink
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <gst/base/gstbasetransform.h>
#include <string.h>

#include "boxattach.h"
#include "elements.h"
#include "linemeta.h"
#include "properties.h"
#include "recordmatch.h"
#include "replaypad.h"
#include "replaysettings.h"
#include "replaytext.h"
#include "streamposition.h"

GST_DEBUG_CATEGORY_STATIC (gst_box_replay_debug);
#define GST_CAT_DEFAULT gst_box_replay_debug

#define PROP_STATS (REPLAY_PROP_LAST + 1)

/* Changed by the streaming thread alone, under the object lock. */
typedef struct
{
  guint64 frames, boxes;    /* numbers of passed buffers and of attached boxes */
  guint64 labels_refused;   /* boxes whose label max-labels left out */
  RecordMatchCounts counts; /* its message is not used */
} ReplayStats;

struct _GstBoxReplay
{
  GstBaseTransform parent;

  /* under the object lock; those that are not mutable in PLAYING are fixed while `started` */
  ReplaySettings settings;
  gboolean started;           /* under the object lock; TRUE from start () to the end of stop () */
  GstBoxReplayPad *boxes_pad; /* under the object lock; NULL unless requested */

  /* Where records are found: set by start (), cleared by stop () under the object lock. Without
   * both, the boxes are in the metadata of the buffers. */
  RecordMatch *match;   /* records of `location`, or NULL */
  LineReader *lines;    /* lines that `match` reads, or NULL */
  GstBoxReplayPad *pad; /* the pad boxes, with a reference, or NULL */

  /* streaming thread */
  StreamPosition position;
  RecordedFrame *frame; /* the buffer's record, for transform_ip, or NULL; not owned */
  ReplayText text;      /* lines from the pad or the metadata */
  BoxAttach attach;     /* for transform_ip */
  LabelTable labels;    /* new labels that this element has taken */
  RecordMatchCounts counts;
  gboolean warned_skipped, warned_labels, warned_waiting;

  ReplayStats stats; /* changed by the streaming thread, under the object lock */
};

#define GST_TYPE_BOX_REPLAY (gst_box_replay_get_type ())
G_DECLARE_FINAL_TYPE (GstBoxReplay, gst_box_replay, GST, BOX_REPLAY, GstBaseTransform)
G_DEFINE_TYPE (GstBoxReplay, gst_box_replay, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (boxreplay, "boxreplay", GST_RANK_NONE, GST_TYPE_BOX_REPLAY)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK,
    GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC,
    GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* Returns the name of the recording for messages. */
static const gchar *
source_name (const GstBoxReplay *self)
{
  if (self->settings.line_meta)
    return "metadata of buffers";
  return self->pad ? "pad boxes" : self->settings.location;
}

/* ------------------------------------------------------------ finding the record */

/* Sets what the frame needs besides its position. Properties that may change are read once. */
static void
fill_search (GstBoxReplay *self, RecordSearch *search)
{
  GstClockTime patience;

  GST_OBJECT_LOCK (self);
  search->tolerance = self->settings.tolerance;
  search->hold = self->settings.hold;
  patience = self->settings.boxes_timeout;
  GST_OBJECT_UNLOCK (self);
  if (search->tolerance == 0)
    search->tolerance = stream_position_half_frame (&search->step);
  search->deadline = GST_CLOCK_TIME_IS_VALID (patience)
      ? g_get_monotonic_time () + (gint64) (patience / GST_USECOND)
      : 0;
  search->width = self->position.width;
  search->height = self->position.height;
}

/* Parses the line in the metadata of the buffer. */
static RecordMatchResult
parse_line (GstBoxReplay *self, const RecordSearch *search, const GstSegment *segment,
    GstBuffer *buffer, GError **error)
{
  const gchar *line = line_meta_get (buffer);
  const GstMapInfo text = { .data = (guint8 *) line, .size = line ? strlen (line) : 0 };

  return replay_text_parse (&self->text, search, replay_pad_time (segment, buffer), &text,
      &self->frame, error);
}

/* Sets `frame` to the record of the buffer, whose boxes fit the frame size of the caps, or to
 * NULL if it has none. A buffer that is outside of its segment has none and does not move the
 * search, because sinks drop it. Returns GST_FLOW_ERROR after an error message, GST_FLOW_FLUSHING
 * if a flush interrupted waiting, else GST_FLOW_OK. */
static GstFlowReturn
find_record (GstBoxReplay *self, const GstSegment *segment, GstBuffer *buffer)
{
  RecordMatchResult result = RECORD_MATCH_NONE;
  GError *error = NULL;
  RecordSearch search;

  self->frame = NULL;
  if (stream_position_is_outside (segment, buffer))
    return GST_FLOW_OK;
  search.step = stream_position_step (&self->position, segment, buffer);
  fill_search (self, &search);
  if (search.step.jumped)
    GST_LOG_OBJECT (self, "jump to %" GST_TIME_FORMAT, GST_TIME_ARGS (search.step.time));
  if (self->match)
    result = record_match_find (self->match, &search, &self->frame, &error);
  else if (self->pad == NULL)
    result = parse_line (self, &search, segment, buffer, &error);
  else
    result = replay_pad_find (self->pad, replay_pad_time (segment, buffer), &search, &self->frame,
        &error);
  if (result != RECORD_MATCH_FAILED)
    return result == RECORD_MATCH_FLUSHING ? GST_FLOW_FLUSHING : GST_FLOW_OK;
  if (error->domain == RECORD_ERROR)
    GST_ELEMENT_ERROR (self, STREAM, DECODE, ("%s:%s", source_name (self), error->message), (NULL));
  else
    GST_ELEMENT_ERROR (self, RESOURCE, READ,
        ("Cannot read %s: %s", source_name (self), error->message), (NULL));
  g_error_free (error);
  return GST_FLOW_ERROR;
}

/* ---------------------------------------------------------------- statistics */

/* Returns the property `stats`. */
static GParamSpec *
stats_spec (void)
{
  return g_param_spec_boxed ("stats", "Statistics",
      "Totals since READY, all guint64: frames (buffers passed), matched (buffers that got a "
      "record of their own), held (buffers that got an earlier record), unmatched (records read "
      "that no buffer has got), superseded (records whose time a later line has too), boxes "
      "(attached), skipped (malformed lines), ignored (MOT ground truth with flag 0), "
      "labels-refused (boxes whose label max-labels left out). Posted as element message "
      "\"boxreplay\" at the end of the stream",
      GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}

/* Returns the statistics as a structure "boxreplay", to be freed. */
static GstStructure *
stats_structure (const ReplayStats *self)
{
  const RecordMatchCounts *counts = &self->counts;

  return gst_structure_new ("boxreplay", "frames", G_TYPE_UINT64, self->frames, "matched",
      G_TYPE_UINT64, counts->matched, "held", G_TYPE_UINT64, counts->held, "unmatched",
      G_TYPE_UINT64, counts->unmatched, "superseded", G_TYPE_UINT64, counts->superseded, "boxes",
      G_TYPE_UINT64, self->boxes, "skipped", G_TYPE_UINT64, counts->skipped, "ignored",
      G_TYPE_UINT64, counts->ignored, "labels-refused", G_TYPE_UINT64, self->labels_refused, NULL);
}

/* Warns once of skipped lines, with the message about the first one, and once of refused
 * labels. */
static void
warn_of_losses (GstBoxReplay *self)
{
  const gchar *source = source_name (self);

  if (self->counts.skipped > 0 && !self->warned_skipped) {
    self->warned_skipped = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, DECODE,
        ("%s:%s (line skipped; later ones are only counted)", source, self->counts.first_skipped),
        (NULL));
  }
  if (self->labels.refused > 0 && !self->warned_labels) {
    self->warned_labels = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, DECODE,
        ("A box of %s is attached without its label, because max-labels (%u) is reached or the "
         "label is too long; later ones are only counted.",
            source, self->labels.max),
        (NULL));
  }
}

/* Warns once that the stream has waited for a line of the recording for 1 s. */
static void
warn_waiting (gpointer element)
{
  GstBoxReplay *self = element;

  if (!self->warned_waiting)
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
        ("%s has had no line for 1 s, so the stream waits for it", source_name (self)), (NULL));
  self->warned_waiting = TRUE;
}

static void
update_counts (GstBoxReplay *self)
{
  GST_OBJECT_LOCK (self);
  self->stats.counts = self->counts;
  self->stats.labels_refused = self->labels.refused;
  GST_OBJECT_UNLOCK (self);
  warn_of_losses (self);
}

/* Posts the statistics of the stream, and warns if no record matched. */
static void
report (GstBoxReplay *self)
{
  const RecordMatchCounts *counts = &self->counts;

  if (self->pad)
    replay_pad_set_finished (self->pad, TRUE);
  else if (self->match)
    record_match_finish (self->match);
  update_counts (self);
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self), stats_structure (&self->stats)));
  if (counts->matched + counts->held == 0 && counts->unmatched > 0 && self->stats.frames > 0)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("None of the %" G_GUINT64_FORMAT " records of %s matches any of the %" G_GUINT64_FORMAT
         " frames",
            counts->unmatched, source_name (self), self->stats.frames),
        ("Is it a recording of another video, or are its times "
         "shifted? match=index ignores the times, tolerance widens the search."));
  /* gst-launch-1.0 -v shows it */
  g_object_notify (G_OBJECT (self), "stats");
}

/* ----------------------------------------------------------------- transform */

/* Returns whether the buffer has a line that transform_ip removes. */
static gboolean
has_line (GstBoxReplay *self, GstBuffer *buffer)
{
  return self->settings.line_meta && line_meta_get (buffer) != NULL;
}

/* Called before transform_ip, to decide whether the buffer must be writable. */
static GstFlowReturn
gst_box_replay_prepare_output_buffer (GstBaseTransform *trans, GstBuffer *input, GstBuffer **output)
{
  GstBoxReplay *self = GST_BOX_REPLAY (trans);
  GstFlowReturn flow = find_record (self, &trans->segment, input);

  update_counts (self);
  if (flow != GST_FLOW_OK)
    return flow;

  GST_OBJECT_LOCK (self);
  self->attach.replace = self->settings.existing == REPLAY_EXISTING_REPLACE;
  self->attach.kind = self->settings.meta;
  self->stats.frames++;
  self->stats.boxes += self->frame ? self->frame->boxes->len : 0;
  GST_OBJECT_UNLOCK (self);

  if (gst_buffer_is_writable (input)
      || (!box_attach_changes (&self->attach, self->frame, input) && !has_line (self, input)))
    *output = input;
  else
    *output = gst_buffer_copy (input);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_box_replay_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstBoxReplay *self = GST_BOX_REPLAY (trans);
  RecordedFrame *frame = g_steal_pointer (&self->frame);

  if (frame)
    GST_LOG_OBJECT (self, "%u boxes", frame->boxes->len);
  box_attach_run (&self->attach, frame, buffer, self->position.width, self->position.height);
  if (has_line (self, buffer))
    line_meta_remove (buffer);
  return GST_FLOW_OK;
}

static gboolean
gst_box_replay_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  stream_position_set_caps (&GST_BOX_REPLAY (trans)->position, incaps);
  return TRUE;
}

/* If called with TRUE, interrupts waiting for a pipe or for the pad boxes. */
static void
set_flushing (GstBoxReplay *self, gboolean flushing)
{
  GST_OBJECT_LOCK (self);
  if (self->lines)
    line_reader_set_flushing (self->lines, flushing);
  if (self->pad)
    replay_pad_set_flushing (self->pad, flushing);
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_box_replay_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstBoxReplay *self = GST_BOX_REPLAY (trans);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
    case GST_EVENT_FLUSH_STOP:
      set_flushing (self, GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START);
      break;
    case GST_EVENT_SEGMENT:
      if (self->pad)
        replay_pad_set_finished (self->pad, FALSE);
      break;
    case GST_EVENT_EOS:
      if (!stream_position_ended (&self->position))
        report (self);
      break;
    default:
      break;
  }
  stream_position_event (&self->position, event);
  return GST_BASE_TRANSFORM_CLASS (gst_box_replay_parent_class)->sink_event (trans, event);
}

/* ---------------------------------------------------------------- start, stop */

/* Opens the recording at the location. Returns FALSE after an error message. */
static gboolean
open_location (GstBoxReplay *self)
{
  const ReplaySettings *set = &self->settings;
  GError *error = NULL;
  LineReader *lines = line_reader_new (set->location, set->max_line, GST_OBJECT_NAME (self),
      &error);
  RecordReader *reader;

  if (lines == NULL) {
    if (g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
      GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
          ("Cannot open %s: %s", set->location, error->message), (NULL));
    else
      GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ,
          ("Cannot open %s: %s", set->location, error->message), (NULL));
    g_error_free (error);
    return FALSE;
  }
  if (set->loop && (set->follow || line_reader_may_wait (lines))) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        (set->follow ? "Cannot both loop and follow %s: a recording that is still being written "
                       "has no end"
                     : "Cannot loop: %s cannot be read again from its start",
            set->location),
        (NULL));
    line_reader_free (lines);
    return FALSE;
  }
  line_reader_set_follow (lines, set->follow);
  line_reader_set_waiting (lines, warn_waiting, self);
  reader = record_reader_new (lines, set->format, set->max_line, &self->labels);
  self->match = record_match_new (reader, set->match_by, set->on_error == REPLAY_ON_ERROR_SKIP,
      set->loop, &self->counts);
  GST_OBJECT_LOCK (self);
  self->lines = lines;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* Opens the recording: a location, line-meta or the pad boxes. Returns FALSE after an error
 * message. */
static gboolean
open_recording (GstBoxReplay *self)
{
  const ReplaySettings *set = &self->settings;
  const gboolean has_location = set->location && *set->location;
  const gint sources = has_location + (self->pad != NULL) + set->line_meta;

  if (sources > 1)
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("Cannot replay more than one of the location, the pad boxes and line-meta"), (NULL));
  else if (sources == 0)
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("Cannot replay: set the property location or line-meta, or link the pad boxes"), (NULL));
  if (sources != 1)
    return FALSE;
  self->labels.max = set->max_labels;
  self->labels.refused = 0;
  self->frame = NULL;
  self->warned_skipped = self->warned_labels = self->warned_waiting = FALSE;
  record_match_counts_reset (&self->counts);
  stream_position_init (&self->position);
  replay_text_start (&self->text, set->on_error == REPLAY_ON_ERROR_SKIP, set->max_line,
      &self->labels);
  if (self->pad)
    replay_pad_start (self->pad, &self->text);
  return !has_location || open_location (self);
}

static gboolean
gst_box_replay_stop (GstBaseTransform *trans)
{
  GstBoxReplay *self = GST_BOX_REPLAY (trans);
  GstBoxReplayPad *pad;
  RecordMatch *match;

  GST_OBJECT_LOCK (self);
  self->lines = NULL;
  match = g_steal_pointer (&self->match);
  pad = g_steal_pointer (&self->pad);
  self->started = FALSE;
  GST_OBJECT_UNLOCK (self);
  record_match_free (match);
  g_clear_pointer (&pad, gst_object_unref);
  self->frame = NULL;
  return TRUE;
}

static gboolean
gst_box_replay_start (GstBaseTransform *trans)
{
  GstBoxReplay *self = GST_BOX_REPLAY (trans);

  /* fix the properties before they are read, because another thread may set them */
  GST_OBJECT_LOCK (self);
  self->started = TRUE;
  self->stats = (ReplayStats) { 0 };
  self->pad = self->boxes_pad ? gst_object_ref (self->boxes_pad) : NULL;
  GST_OBJECT_UNLOCK (self);
  return open_recording (self) || (gst_box_replay_stop (trans), FALSE);
}

static GstStateChangeReturn
gst_box_replay_change_state (GstElement *element, GstStateChange transition)
{
  /* otherwise deactivating the pads waits until a pipe has data */
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    set_flushing (GST_BOX_REPLAY (element), TRUE);
  return GST_ELEMENT_CLASS (gst_box_replay_parent_class)->change_state (element, transition);
}

/* Adds boxes-timeout to the latency of a live pipeline where a buffer may wait that long. */
static void
add_latency (GstBoxReplay *self, GstQuery *query)
{
  GstClockTime least, most, wait = GST_CLOCK_TIME_NONE;
  gboolean live;

  gst_query_parse_latency (query, &live, &least, &most);
  GST_OBJECT_LOCK (self);
  if (live && (self->pad || (self->lines && line_reader_may_wait (self->lines))))
    wait = self->settings.boxes_timeout;
  GST_OBJECT_UNLOCK (self);
  if (!GST_CLOCK_TIME_IS_VALID (wait))
    return;
  wait = MIN (wait, G_MAXINT64 / 2);
  most = GST_CLOCK_TIME_IS_VALID (most) ? most + wait : most;
  gst_query_set_latency (query, live, least + wait, most);
}

static gboolean
gst_box_replay_query (GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  if (!GST_BASE_TRANSFORM_CLASS (gst_box_replay_parent_class)->query (trans, direction, query))
    return FALSE;
  if (direction == GST_PAD_SRC && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    add_latency (GST_BOX_REPLAY (trans), query);
  return TRUE;
}

/* ------------------------------------------------------------- the pad boxes */

static GstPad *
gst_box_replay_request_new_pad (GstElement *element, GstPadTemplate *template, const gchar *name,
    const GstCaps *caps)
{
  GstBoxReplay *self = GST_BOX_REPLAY (element);

  return replay_pad_request (element, template, &self->boxes_pad, &self->started);
}

static void
gst_box_replay_release_pad (GstElement *element, GstPad *pad)
{
  GstBoxReplay *self = GST_BOX_REPLAY (element);

  replay_pad_release (element, pad, &self->boxes_pad);
}

/* ---------------------------------------------------------------- properties */

static void
gst_box_replay_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstBoxReplay *self = GST_BOX_REPLAY (object);
  gboolean refused = FALSE;

  GST_OBJECT_LOCK (self);
  if (self->started && !(pspec->flags & GST_PARAM_MUTABLE_PLAYING))
    refused = TRUE;
  else
    property_field_set (replay_settings_field (&self->settings, id), value);
  GST_OBJECT_UNLOCK (self);
  if (refused)
    PROPERTY_WARN_READY_ONLY (self, pspec);
  else if (id == REPLAY_PROP_BOXES_TIMEOUT)
    gst_element_post_message (GST_ELEMENT (self), gst_message_new_latency (GST_OBJECT (self)));
}

static void
gst_box_replay_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstBoxReplay *self = GST_BOX_REPLAY (object);

  GST_OBJECT_LOCK (self);
  if (id == PROP_STATS)
    g_value_take_boxed (value, stats_structure (&self->stats));
  else
    property_field_get (replay_settings_field (&self->settings, id), value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_box_replay_finalize (GObject *object)
{
  GstBoxReplay *self = GST_BOX_REPLAY (object);

  replay_settings_clear (&self->settings);
  box_attach_clear (&self->attach);
  replay_text_clear (&self->text);
  record_match_counts_reset (&self->counts);
  g_clear_pointer (&self->boxes_pad, gst_object_unref);
  G_OBJECT_CLASS (gst_box_replay_parent_class)->finalize (object);
}

static void
gst_box_replay_class_init (GstBoxReplayClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_box_replay_debug, "boxreplay", 0, "replays recorded boxes");

  G_OBJECT_CLASS (klass)->set_property = gst_box_replay_set_property;
  G_OBJECT_CLASS (klass)->get_property = gst_box_replay_get_property;
  G_OBJECT_CLASS (klass)->finalize = gst_box_replay_finalize;
  replay_settings_install (G_OBJECT_CLASS (klass));
  g_object_class_install_property (G_OBJECT_CLASS (klass), PROP_STATS, stats_spec ());

  element_class_describe (element_class, "Box replayer", "Filter/Metadata/Video",
      "Attaches recorded boxes (JSON Lines, MOT text) to the buffers that pass, as a "
      "detector would",
      "gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl "
      "! boxoverlay ! videoconvert ! autovideosink");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_add_pad_template (element_class, replay_pad_template ());
  gst_type_mark_as_plugin_api (REPLAY_TYPE_PAD, 0);
  line_meta_register ();
  element_class->change_state = gst_box_replay_change_state;
  element_class->request_new_pad = gst_box_replay_request_new_pad;
  element_class->release_pad = gst_box_replay_release_pad;

  trans_class->start = gst_box_replay_start;
  trans_class->stop = gst_box_replay_stop;
  trans_class->set_caps = gst_box_replay_set_caps;
  trans_class->sink_event = gst_box_replay_sink_event;
  trans_class->query = gst_box_replay_query;
  trans_class->prepare_output_buffer = gst_box_replay_prepare_output_buffer;
  trans_class->transform_ip = gst_box_replay_transform_ip;
}

static void
gst_box_replay_init (GstBoxReplay *self)
{
  replay_settings_init (&self->settings);
  box_attach_init (&self->attach);
  replay_text_init (&self->text, &self->counts);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
  gst_base_transform_set_gap_aware (GST_BASE_TRANSFORM (self), TRUE);
}
