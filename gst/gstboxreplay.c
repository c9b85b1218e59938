/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-boxreplay
 * @title: boxreplay
 *
 * Attaches recorded boxes to the buffers that pass: a stand-in for a detector,
 * and the way to filter a recording again with other settings.
 *
 * The recording is a text file, a pipe or standard input (`location=-`): JSON
 * Lines with one object a frame, as boxrecord and DL Streamer's gvametaconvert
 * write them, or MOT challenge text (frames from 1, `left` 1 is x 0; of ground
 * truth, boxes with flag 0 are left out and counted as ignored).
 *
 * Of JSON Lines these survive a replay: x y w h, roi_type, region_id,
 * parent_id, id (the track), detection.bounding_box, .confidence, .label_id,
 * .label (where roi_type is missing), rotation, nms.state and .suppressed-by. Any
 * other member is passed over. bounding_box wins over x y w h; x y w h are attached
 * as they are if they agree with it within 1 pixel. A resolution other than
 * that of the caps scales.
 *
 * Boxes are attached as #GstVideoRegionOfInterestMeta, as GstAnalyticsODMtd or as
 * both, with the same id, as DL Streamer does it (#GstBoxReplay:meta). An OD has
 * whole pixels, off the frame too, and no label_id; its id is its place in the
 * buffer's metadata, so that region_id is not kept with meta=analytics, and a
 * box without a confidence gets 0. It is turned from GStreamer 1.26.
 * With ODs, a frame without boxes gets an empty #GstAnalyticsRelationMeta.
 *
 * Records belong to buffers by stream time (match=timestamp) or one after the
 * other (match=index). By time, each buffer takes the nearest record not used
 * yet, at most #boxreplay:tolerance away; 0 stands for half a frame: of the
 * buffer's duration, else of the caps' frame rate, else of the distance to the
 * buffer before, else of 40 ms. A buffer without a record is an empty frame.
 * A buffer without a PTS takes the next record. Records must be in order of
 * time, buffers in order of presentation. After a seek, matching by index
 * needs a frame rate or durations to tell which frame it is.
 *
 * At the end of the stream an element message `boxreplay` says how many frames
 * passed, how many records were matched and unmatched, boxes attached, lines
 * skipped and boxes ignored (`gst-launch-1.0 -m` shows it).
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 -m filesrc location=vtest.avi ! decodebin ! boxreplay location=raw.jsonl ! nmsfilter iou-threshold=0.4 ! boxrecord location=clean.jsonl ! fakesink
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <gst/base/gstbasetransform.h>

#include "boxfile.h"
#include "boxmatch.h"
#include "boxmeta.h"
#include "elements.h"
#include "replayenums.h"
#include "streamwalk.h"

GST_DEBUG_CATEGORY_STATIC (gst_box_replay_debug);
#define GST_CAT_DEFAULT gst_box_replay_debug

#define DEFAULT_LOCATION NULL
#define DEFAULT_FORMAT BOX_FORMAT_AUTO
#define DEFAULT_MATCH BOX_MATCH_AUTO
#define DEFAULT_TOLERANCE 0
#define DEFAULT_EXISTING EXISTING_KEEP
#ifdef HAVE_ANALYTICS
#define DEFAULT_META BOX_META_BOTH
#else
#define DEFAULT_META BOX_META_ROI
#endif
#define DEFAULT_LOOP FALSE
#define DEFAULT_ON_ERROR ON_ERROR_FAIL
#define DEFAULT_MAX_LINE (64 * 1024 * 1024)

#define FALLBACK_FRAME_DURATION (40 * GST_MSECOND)

enum
{
  PROP_0,
  PROP_LOCATION,
  PROP_FORMAT,
  PROP_MATCH,
  PROP_TOLERANCE,
  PROP_EXISTING,
  PROP_META,
  PROP_LOOP,
  PROP_ON_ERROR,
  PROP_MAX_LINE,
  PROP_STATS,
};

struct _GstBoxReplay
{
  GstBaseTransform parent;

  /* properties, under the object lock */
  gchar *location;
  BoxFormat format;
  BoxMatchBy match_by;
  guint64 tolerance;
  Existing existing;
  BoxMetaKind meta;
  gboolean loop;
  OnError on_error;
  guint max_line;

  /* set and cleared under the object lock; used by the streaming thread */
  BoxFile *file;                /* belongs to match */
  BoxMatch *match;

  /* streaming thread */
  StreamWalk walk;
  BoxFrame *frame;              /* for transform_ip: to be attached */
  gboolean remove_existing;     /* likewise */
  BoxMetaKind kind;             /* likewise: of what it is to be attached as */
  GArray *nothing;              /* of Box: of a frame without any */
  GArray *present;              /* of Box: what is on the buffer already */
  gboolean warned_skipped;

  /* under the object lock */
  guint64 frames, boxes;
  BoxMatchCounts counts;
  guint64 ignored;
};

#define GST_TYPE_BOX_REPLAY (gst_box_replay_get_type ())
G_DECLARE_FINAL_TYPE (GstBoxReplay, gst_box_replay, GST, BOX_REPLAY, GstBaseTransform)
G_DEFINE_TYPE (GstBoxReplay, gst_box_replay, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (boxreplay, "boxreplay", GST_RANK_NONE, GST_TYPE_BOX_REPLAY)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK,
    GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC,
    GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* ---------------------------------------------------------------- statistics */

static void
update_counts (GstBoxReplay * self)
{
  GST_OBJECT_LOCK (self);
  self->counts = *box_match_counts (self->match);
  self->ignored = box_file_ignored (self->file);
  GST_OBJECT_UNLOCK (self);
  if (self->counts.skipped > 0 && !self->warned_skipped) {
    self->warned_skipped = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, DECODE, ("%s:%s (line skipped; others that follow are "
            "only counted)", self->location, box_match_first_skipped (self->match)), (NULL));
  }
}

static GstStructure *
make_stats (GstBoxReplay * self)
{
  GstStructure *stats;

  GST_OBJECT_LOCK (self);
  stats = gst_structure_new ("boxreplay", "frames", G_TYPE_UINT64, self->frames,
      "matched", G_TYPE_UINT64, self->counts.matched,
      "unmatched", G_TYPE_UINT64, self->counts.unmatched,
      "boxes", G_TYPE_UINT64, self->boxes, "skipped", G_TYPE_UINT64, self->counts.skipped,
      "ignored", G_TYPE_UINT64, self->ignored, NULL);
  GST_OBJECT_UNLOCK (self);
  return stats;
}

static void
report (GstBoxReplay * self)
{
  box_match_finish (self->match);
  update_counts (self);
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self), make_stats (self)));
  if (self->counts.matched == 0 && self->counts.unmatched > 0 && self->frames > 0)
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("None of the %" G_GUINT64_FORMAT " records of %s "
            "belongs to any of the %" G_GUINT64_FORMAT " frames", self->counts.unmatched,
            self->location, self->frames), ("Are they of another video, or its time shifted? "
            "match=index ignores the times, tolerance widens the search."));
}

/* ------------------------------------------------------------------ matching */

static GstFlowReturn
file_failed (GstBoxReplay * self, GError * error)
{
  if (error->domain == BOX_FILE_ERROR)
    GST_ELEMENT_ERROR (self, STREAM, DECODE, ("%s:%s", self->location, error->message), (NULL));
  else
    GST_ELEMENT_ERROR (self, RESOURCE, READ, ("Cannot read %s: %s", self->location,
            error->message), (NULL));
  g_error_free (error);
  return GST_FLOW_ERROR;
}

static GstFlowReturn
restart (GstBoxReplay * self)
{
  GError *error = NULL;

  GST_DEBUG_OBJECT (self, "reading %s from the start", self->location);
  if (box_match_restart (self->match, &error))
    return GST_FLOW_OK;
  GST_ELEMENT_ERROR (self, RESOURCE, SEEK, ("Cannot seek backward: %s cannot be read again from "
          "its start: %s", self->location, error->message), (NULL));
  g_error_free (error);
  return GST_FLOW_ERROR;
}

/* After a jump; back means from the start of the file. */
static GstFlowReturn
follow_jump (GstBoxReplay * self, const StreamStep * step)
{
  if (step->lost) {
    GST_ELEMENT_ERROR (self, STREAM, FAILED, ("Cannot tell which frame follows a seek: "
            "match=index needs a frame rate in the caps, or durations"), (NULL));
    return GST_FLOW_ERROR;
  }
  box_match_seeking (self->match);
  return step->back ? restart (self) : GST_FLOW_OK;
}

/* Sets self->frame to the record of that buffer, NULL if it has none. */
static GstFlowReturn
find_record (GstBoxReplay * self, GstBuffer * buffer)
{
  BoxMatchBy by;
  StreamStep step;
  GError *error = NULL;
  BoxMatchResult result = box_match_by (self->match, &by, &error);

  if (result == BOX_MATCH_FOUND) {
    step = stream_walk_step (&self->walk, &GST_BASE_TRANSFORM (self)->segment, buffer,
        by == BOX_MATCH_INDEX);
    if (step.jumped && follow_jump (self, &step) != GST_FLOW_OK)
      return GST_FLOW_ERROR;
    if (by == BOX_MATCH_INDEX) {
      result = box_match_at_index (self->match, self->walk.number, &self->frame, &error);
    } else if (GST_CLOCK_TIME_IS_VALID (step.time)) {
      guint64 tolerance;

      GST_OBJECT_LOCK (self);
      tolerance = self->tolerance;
      GST_OBJECT_UNLOCK (self);
      if (tolerance == 0)
        tolerance = (step.duration > 0 ? step.duration : FALLBACK_FRAME_DURATION) / 2;
      result = box_match_at_time (self->match, step.time, tolerance, step.duration, &self->frame,
          &error);
    } else {
      result = box_match_take_next (self->match, &self->frame, &error);
    }
    if (result == BOX_MATCH_FOUND || result == BOX_MATCH_NONE)
      self->walk.number++;
  }
  if (result == BOX_MATCH_FLUSHING)
    return GST_FLOW_FLUSHING;
  if (result == BOX_MATCH_FAILED)
    return file_failed (self, error);
  return GST_FLOW_OK;
}

/* Makes the boxes found those of the frame of the caps. */
static GstFlowReturn
fit_record (GstBoxReplay * self)
{
  GError *error = NULL;
  guint64 line;

  if (self->frame == NULL
      || box_frame_fit (self->frame, self->walk.width, self->walk.height, &error))
    return GST_FLOW_OK;
  line = self->frame->line;
  self->frame = NULL;
  g_prefix_error (&error, "%" G_GUINT64_FORMAT ": ", line);
  if (self->on_error == ON_ERROR_FAIL)
    return file_failed (self, error);
  box_match_skip_found (self->match, error->message);
  g_error_free (error);
  return GST_FLOW_OK;
}

/* ----------------------------------------------------------------- transform */

/* Called before transform_ip: the place to decide whether a buffer has to be
 * written to at all. */
static GstFlowReturn
gst_box_replay_prepare_output_buffer (GstBaseTransform * trans, GstBuffer * input,
    GstBuffer ** output)
{
  GstBoxReplay *self = GST_BOX_REPLAY (trans);
  GstFlowReturn flow;
  Existing existing;

  self->frame = NULL;
  flow = find_record (self, input);
  if (flow == GST_FLOW_OK)
    flow = fit_record (self);
  update_counts (self);
  if (flow != GST_FLOW_OK)
    return flow;
  if (self->frame && self->frame->boxes->len == 0)
    self->frame = NULL;

  GST_OBJECT_LOCK (self);
  existing = self->existing;
  self->kind = self->meta;
  self->frames++;
  self->boxes += self->frame ? self->frame->boxes->len : 0;
  GST_OBJECT_UNLOCK (self);
  self->remove_existing = existing == EXISTING_REPLACE && box_meta_any (input);

  if ((self->frame == NULL && !self->remove_existing && !box_meta_lacks_frame (input, self->kind))
      || gst_buffer_is_writable (input))
    *output = input;
  else
    *output = gst_buffer_copy (input);
  return GST_FLOW_OK;
}

/* How many of the boxes on the buffer will come before those attached: regions
 * come before all that are ODs only. */
static guint
count_before (GstBoxReplay * self, GstBuffer * buffer)
{
  guint i, count;

  count = box_meta_read (buffer, self->walk.width, self->walk.height, 0, self->present);
  for (i = 0; (self->kind & BOX_META_ROI) && i < count; i++)
    if (g_array_index (self->present, Box, i).position == BOX_NO_POSITION)
      return i;
  return count;
}

static GstFlowReturn
gst_box_replay_transform_ip (GstBaseTransform * trans, GstBuffer * buffer)
{
  GstBoxReplay *self = GST_BOX_REPLAY (trans);
  guint i, present = 0;

  if (self->remove_existing)
    box_meta_remove_all (buffer);
  if (self->frame == NULL) {
    if (box_meta_lacks_frame (buffer, self->kind))
      box_meta_attach (buffer, self->nothing, 0, 0, self->kind);
    return GST_FLOW_OK;
  }
  GST_LOG_OBJECT (self, "line %" G_GUINT64_FORMAT ": %u boxes", self->frame->line,
      self->frame->boxes->len);
  /* suppressed-by counts among all detections of the buffer */
  if (box_meta_any (buffer))
    present = count_before (self, buffer);
  for (i = 0; i < self->frame->boxes->len; i++) {
    Box *box = &g_array_index (self->frame->boxes, Box, i);

    if (box->suppressed_by >= 0)
      box->suppressed_by += present;
  }
  box_meta_attach (buffer, self->frame->boxes, self->walk.width, self->walk.height, self->kind);
  self->frame = NULL;
  return GST_FLOW_OK;
}

static gboolean
gst_box_replay_set_caps (GstBaseTransform * trans, GstCaps * incaps, GstCaps * outcaps)
{
  stream_walk_set_caps (&GST_BOX_REPLAY (trans)->walk, incaps);
  return TRUE;
}

static gboolean
gst_box_replay_sink_event (GstBaseTransform * trans, GstEvent * event)
{
  GstBoxReplay *self = GST_BOX_REPLAY (trans);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
    case GST_EVENT_FLUSH_STOP:
      GST_OBJECT_LOCK (self);
      if (self->match)
        box_match_set_flushing (self->match, GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START);
      GST_OBJECT_UNLOCK (self);
      break;
    case GST_EVENT_EOS:
      if (self->match && !stream_walk_ended (&self->walk))
        report (self);
      break;
    default:
      break;
  }
  stream_walk_event (&self->walk, event);
  return GST_BASE_TRANSFORM_CLASS (gst_box_replay_parent_class)->sink_event (trans, event);
}

static gboolean
gst_box_replay_start (GstBaseTransform * trans)
{
  GstBoxReplay *self = GST_BOX_REPLAY (trans);
  GError *error = NULL;
  BoxFile *file;

  if (self->location == NULL || *self->location == '\0') {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("No file to replay: set the property location"),
        (NULL));
    return FALSE;
  }
  file = box_file_new (self->location, self->format, self->max_line, &error);
  if (file == NULL) {
    if (g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
      GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND, ("Cannot open %s: %s", self->location,
              error->message), (NULL));
    else
      GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ, ("Cannot open %s: %s", self->location,
              error->message), (NULL));
    g_error_free (error);
    return FALSE;
  }
  if (self->loop && !box_file_can_rewind (file)) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("Cannot loop: %s cannot be read again from its "
            "start", self->location), (NULL));
    box_file_free (file);
    return FALSE;
  }

  GST_OBJECT_LOCK (self);
  self->file = file;
  self->match = box_match_new (file, self->match_by, self->on_error == ON_ERROR_SKIP, self->loop);
  self->frames = self->boxes = self->ignored = 0;
  self->counts = (BoxMatchCounts) { 0, 0, 0 };
  GST_OBJECT_UNLOCK (self);
  stream_walk_init (&self->walk);
  self->frame = NULL;
  self->warned_skipped = FALSE;
  return TRUE;
}

static gboolean
gst_box_replay_stop (GstBaseTransform * trans)
{
  GstBoxReplay *self = GST_BOX_REPLAY (trans);
  BoxMatch *match;

  GST_OBJECT_LOCK (self);
  match = g_steal_pointer (&self->match);
  self->file = NULL;
  GST_OBJECT_UNLOCK (self);
  box_match_free (match);
  self->frame = NULL;
  return TRUE;
}

static GstStateChangeReturn
gst_box_replay_change_state (GstElement * element, GstStateChange transition)
{
  GstBoxReplay *self = GST_BOX_REPLAY (element);

  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    /* or deactivating the pads waits for a pipe to say something */
    GST_OBJECT_LOCK (self);
    if (self->match)
      box_match_set_flushing (self->match, TRUE);
    GST_OBJECT_UNLOCK (self);
  }
  return GST_ELEMENT_CLASS (gst_box_replay_parent_class)->change_state (element, transition);
}

/* ---------------------------------------------------------------- properties */

static void
gst_box_replay_set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GstBoxReplay *self = GST_BOX_REPLAY (object);
  gboolean refused = FALSE;

  GST_OBJECT_LOCK (self);
  if (self->match != NULL && id != PROP_TOLERANCE && id != PROP_EXISTING
      && id != PROP_META)
    refused = TRUE;
  else
    switch (id) {
      case PROP_LOCATION:
        g_free (self->location);
        self->location = g_value_dup_string (value);
        break;
      case PROP_FORMAT:
        self->format = g_value_get_enum (value);
        break;
      case PROP_MATCH:
        self->match_by = g_value_get_enum (value);
        break;
      case PROP_TOLERANCE:
        self->tolerance = g_value_get_uint64 (value);
        break;
      case PROP_EXISTING:
        self->existing = g_value_get_enum (value);
        break;
      case PROP_META:
        self->meta = g_value_get_enum (value);
        break;
      case PROP_LOOP:
        self->loop = g_value_get_boolean (value);
        break;
      case PROP_ON_ERROR:
        self->on_error = g_value_get_enum (value);
        break;
      case PROP_MAX_LINE:
        self->max_line = g_value_get_uint (value);
        break;
      default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
        break;
    }
  GST_OBJECT_UNLOCK (self);
  if (refused)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("%s can change only in the states NULL and "
            "READY; it stays as it is", pspec->name), (NULL));
}

static void
gst_box_replay_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstBoxReplay *self = GST_BOX_REPLAY (object);

  if (id == PROP_STATS) {
    g_value_take_boxed (value, make_stats (self));
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_LOCATION:
      g_value_set_string (value, self->location);
      break;
    case PROP_FORMAT:
      g_value_set_enum (value, self->format);
      break;
    case PROP_MATCH:
      g_value_set_enum (value, self->match_by);
      break;
    case PROP_TOLERANCE:
      g_value_set_uint64 (value, self->tolerance);
      break;
    case PROP_EXISTING:
      g_value_set_enum (value, self->existing);
      break;
    case PROP_META:
      g_value_set_enum (value, self->meta);
      break;
    case PROP_LOOP:
      g_value_set_boolean (value, self->loop);
      break;
    case PROP_ON_ERROR:
      g_value_set_enum (value, self->on_error);
      break;
    case PROP_MAX_LINE:
      g_value_set_uint (value, self->max_line);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_box_replay_finalize (GObject * object)
{
  GstBoxReplay *self = GST_BOX_REPLAY (object);

  g_free (self->location);
  g_array_unref (self->present);
  g_array_unref (self->nothing);
  G_OBJECT_CLASS (gst_box_replay_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass * klass)
{
  const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
  const GParamFlags playing =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property (klass, PROP_LOCATION,
      g_param_spec_string ("location", "Location",
          "The recording: a file, a FIFO, or - for standard input; read as a stream, in memory no "
          "larger than its longest line", DEFAULT_LOCATION, ready));
  g_object_class_install_property (klass, PROP_FORMAT,
      g_param_spec_enum ("format", "Format", "What the recording is written in",
          replay_format_get_type (), DEFAULT_FORMAT, ready));
  g_object_class_install_property (klass, PROP_MATCH,
      g_param_spec_enum ("match", "Match",
          "How a buffer finds its record; each record is used once, a buffer without a "
          "record gets no boxes, one without a PTS takes the next record",
          replay_match_get_type (), DEFAULT_MATCH, ready));
  g_object_class_install_property (klass, PROP_TOLERANCE,
      g_param_spec_uint64 ("tolerance", "Tolerance",
          "Farthest that a record's timestamp may be from the buffer's stream time, in ns "
          "(0 = half a frame: of the buffer's duration, else of the frame rate, else of the "
          "distance to the buffer before, else of 40 ms)",
          0, G_MAXUINT64, DEFAULT_TOLERANCE, playing));
  g_object_class_install_property (klass, PROP_EXISTING,
      g_param_spec_enum ("existing", "Existing", "What becomes of boxes that buffers carry already",
          replay_existing_get_type (), DEFAULT_EXISTING, playing));
  g_object_class_install_property (klass, PROP_META,
      g_param_spec_enum ("meta", "Metadata",
          "As what boxes are attached; both where the plugin was built with GstAnalytics, which "
          "needs GStreamer 1.24, else roi, which is all there is then",
          replay_meta_get_type (), DEFAULT_META, playing));
  g_object_class_install_property (klass, PROP_LOOP,
      g_param_spec_boolean ("loop", "Loop",
          "Begin again at the end of the recording, one frame later", DEFAULT_LOOP, ready));
  g_object_class_install_property (klass, PROP_ON_ERROR,
      g_param_spec_enum ("on-error", "On error",
          "What to do with a line that is malformed, too long or out of order in time",
          replay_on_error_get_type (), DEFAULT_ON_ERROR, ready));
  g_object_class_install_property (klass, PROP_MAX_LINE,
      g_param_spec_uint ("max-line", "Max line",
          "Longest line to accept, in bytes; bounds the memory used", 1, G_MAXINT,
          DEFAULT_MAX_LINE, ready));
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Since READY, all guint64: frames (buffers passed), matched and unmatched (records used, "
          "and passed over), boxes (attached), skipped (malformed lines), ignored (MOT ground "
          "truth with flag 0)", GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_box_replay_class_init (GstBoxReplayClass * klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_box_replay_debug, "boxreplay", 0, "replays recorded boxes");

  G_OBJECT_CLASS (klass)->set_property = gst_box_replay_set_property;
  G_OBJECT_CLASS (klass)->get_property = gst_box_replay_get_property;
  G_OBJECT_CLASS (klass)->finalize = gst_box_replay_finalize;
  install_properties (G_OBJECT_CLASS (klass));

  gst_element_class_set_static_metadata (element_class, "Box replayer", "Filter/Metadata/Video",
      "Attaches recorded boxes (JSON Lines, MOT text) to the buffers that pass, as a "
      "detector would",
      "The gst-nms authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  element_class->change_state = gst_box_replay_change_state;

  trans_class->start = gst_box_replay_start;
  trans_class->stop = gst_box_replay_stop;
  trans_class->set_caps = gst_box_replay_set_caps;
  trans_class->sink_event = gst_box_replay_sink_event;
  trans_class->prepare_output_buffer = gst_box_replay_prepare_output_buffer;
  trans_class->transform_ip = gst_box_replay_transform_ip;

  gst_type_mark_as_plugin_api (replay_format_get_type (), 0);
  gst_type_mark_as_plugin_api (replay_match_get_type (), 0);
  gst_type_mark_as_plugin_api (replay_existing_get_type (), 0);
  gst_type_mark_as_plugin_api (replay_meta_get_type (), 0);
  gst_type_mark_as_plugin_api (replay_on_error_get_type (), 0);
}

static void
gst_box_replay_init (GstBoxReplay * self)
{
  self->location = g_strdup (DEFAULT_LOCATION);
  self->format = DEFAULT_FORMAT;
  self->match_by = DEFAULT_MATCH;
  self->tolerance = DEFAULT_TOLERANCE;
  self->existing = DEFAULT_EXISTING;
  self->loop = DEFAULT_LOOP;
  self->on_error = DEFAULT_ON_ERROR;
  self->max_line = DEFAULT_MAX_LINE;
  self->meta = DEFAULT_META;
  self->present = g_array_new (FALSE, FALSE, sizeof (Box));
  self->nothing = g_array_new (FALSE, FALSE, sizeof (Box));
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
  gst_base_transform_set_gap_aware (GST_BASE_TRANSFORM (self), TRUE);
}
