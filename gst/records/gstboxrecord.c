/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-boxrecord
 * @title: boxrecord
 *
 * Writes the boxes on every buffer that passes to a text file, a FIFO or standard
 * output (`location=-`). It never copies or changes a buffer. Boxes are regions of
 * interest and, where the plugin was built with GstAnalytics, ODs; a region and the
 * OD with its id are one box.
 *
 * format=jsonl writes one JSON object for each buffer, also for a buffer without
 * boxes, in the schema of DL Streamer's gvametaconvert: timestamp (stream time of
 * the PTS in ns), resolution (if the caps state one) and objects. Each object has
 * x y w h (clipped to the frame), roi_type (the label), region_id, parent_id, id
 * (the track), rotation (radians, if the box is rotated), detection (bounding_box in
 * exact fractions of the frame, confidence, label_id, label) and nms (the decision
 * of an nmsfilter with action=tag). boxreplay reads this format; recording what it
 * replays gives the same bytes again.
 *
 * format=mot writes MOT challenge text. Frames and pixels count from 1: `left` 1 is
 * x 0. Pixels are rounded to a millionth. The format cannot hold labels, region ids,
 * parent ids, angles, states and times, and has no line for a frame without boxes.
 *
 * Every frame is written at once, so that another program can read a pipe live. Use
 * `gst-launch-1.0 -q` with standard output, because gst-launch-1.0 writes its
 * messages there too. If the reader closes the pipe, the stream ends with an error.
 * append=true continues a recording and the frame numbers of MOT text. Where times go
 * back (a seek, a looped source, a continued file), and in reverse playback, lines have
 * the number of their session, so that the file can be replayed; docs/recording.md
 * describes this. Buffers outside of their segment are marked, and left out of MOT text.
 *
 * With emit-signals=true, an application gets the boxes without a file: see
 * #boxrecord::frame-boxes.
 *
 * Put it before videoconvert and videoscale, because those drop the confidences.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 -q filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl \
 *   ! nmsfilter ! boxrecord location=- ! fakesink | python3 -m json.tool --json-lines
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <gst/base/gstbasetransform.h>
#include <math.h>
#include <string.h>

#include "boxstructure.h"
#include "elements.h"
#include "enumtype.h"
#include "framesize.h"
#include "jsonl.h"
#include "linewriter.h"
#include "meta/boxmeta.h"
#include "mottext.h"
#include "properties.h"
#include "recordappend.h"
#include "recordreader.h"
#include "recordsession.h"

GST_DEBUG_CATEGORY_STATIC (gst_box_record_debug);
#define GST_CAT_DEFAULT gst_box_record_debug

#define DEFAULT_LOCATION NULL
#define DEFAULT_FORMAT RECORD_FORMAT_JSONL
#define DEFAULT_APPEND FALSE
#define DEFAULT_EMIT_SIGNALS FALSE

enum
{
  PROP_0,
  PROP_LOCATION,
  PROP_FORMAT,
  PROP_APPEND,
  PROP_EMIT_SIGNALS,
  PROP_STATS,
};

enum
{
  SIGNAL_FRAME_BOXES,
  N_SIGNALS,
};

static guint signals[N_SIGNALS];

struct _GstBoxRecord
{
  GstBaseTransform parent;

  /* properties, under the object lock; all but emit_signals are fixed while `started` */
  gchar *location;
  RecordFormat format;
  gboolean append;
  gboolean emit_signals;

  gboolean started;             /* under the object lock; from start () to the end of stop () */

  /* set and cleared under the object lock; used by the streaming thread */
  LineWriter *writer;           /* NULL if there is no location */

  /* streaming thread */
  RecordedFrame frame;          /* of the current buffer */
  RecordSession session;
  gint width, height;
  GString *text;
  guint64 next_index;           /* of MOT text: index of the next frame */
  gboolean warned_labels, warned_confidence;

  /* under the object lock */
  guint64 frames, boxes, bytes;
};

#define GST_TYPE_BOX_RECORD (gst_box_record_get_type ())
G_DECLARE_FINAL_TYPE (GstBoxRecord, gst_box_record, GST, BOX_RECORD, GstBaseTransform)
G_DEFINE_TYPE (GstBoxRecord, gst_box_record, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (boxrecord, "boxrecord", GST_RANK_NONE, GST_TYPE_BOX_RECORD)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK,
    GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC,
    GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

DEFINE_ENUM_TYPE (format_get_type, "GstBoxRecordFormat",
    { RECORD_FORMAT_JSONL, "JSON Lines, one object a frame", "jsonl" },
    { RECORD_FORMAT_MOT, "MOT challenge text, one box a line", "mot" })

/* ------------------------------------------------------------------ recording */

/* Warns once about confidences, and once about labels, that the recording leaves out. */
static void
warn_about_losses (GstBoxRecord * self, guint omitted)
{
  guint i;

  if (omitted > 0 && !self->warned_confidence) {
    self->warned_confidence = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("Cannot write a confidence of frame %"
            G_GUINT64_FORMAT " (%s); it is left out, here and in later frames", self->frames,
            self->format == RECORD_FORMAT_MOT ? "NaN, infinite, or -1, which means none" :
            "NaN or infinite"), (NULL));
  }
  for (i = 0; self->format == RECORD_FORMAT_MOT && !self->warned_labels
      && i < self->frame.boxes->len; i++) {
    if (g_array_index (self->frame.boxes, Box, i).label == 0)
      continue;
    self->warned_labels = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("MOT text cannot hold labels; they are left out. "
            "format=jsonl keeps them"), (NULL));
  }
}

static GstFlowReturn
write_frame (GstBoxRecord * self)
{
  GError *error = NULL;
  LineWriterResult result;
  guint omitted;

  g_string_truncate (self->text, 0);
  /* MOT text cannot mark a frame that is not shown */
  if (self->format == RECORD_FORMAT_MOT && self->frame.outside_segment)
    return GST_FLOW_OK;
  if (self->format == RECORD_FORMAT_MOT)
    omitted = mot_text_format (&self->frame, self->text);
  else
    omitted = jsonl_format (&self->frame, self->text);
  warn_about_losses (self, omitted);

  result = line_writer_write (self->writer, self->text->str, self->text->len, &error);
  if (result == LINE_WRITER_FLUSHING)
    return GST_FLOW_FLUSHING;
  if (result == LINE_WRITER_OK)
    return GST_FLOW_OK;
  if (g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOSPC))
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("Cannot write to %s: %s", self->location,
            error->message), (NULL));
  else if (g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_PIPE))
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
        ("Cannot write to %s: the reader closed the pipe (%s)", self->location, error->message),
        (NULL));
  else
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE, ("Cannot write to %s: %s", self->location,
            error->message), (NULL));
  g_error_free (error);
  return GST_FLOW_ERROR;
}

/* The element is always in passthrough, so this is the input buffer, and it may be read-only. */
static GstFlowReturn
gst_box_record_transform_ip (GstBaseTransform * trans, GstBuffer * buffer)
{
  GstBoxRecord *self = GST_BOX_RECORD (trans);
  GstFlowReturn flow = GST_FLOW_OK;
  gboolean emit;

  recorded_frame_reset (&self->frame);
  record_session_place (&self->session, &trans->segment, buffer, &self->frame);
  self->frame.width = self->width;
  self->frame.height = self->height;
  self->frame.index = self->next_index;
  self->next_index += !self->frame.outside_segment;
  box_meta_read (buffer, self->width, self->height,
      BOX_READ_TRACK | BOX_READ_STATE | BOX_READ_RECORDED, self->frame.boxes);

  if (self->writer)
    flow = write_frame (self);
  if (flow != GST_FLOW_OK)
    return flow;

  GST_OBJECT_LOCK (self);
  self->frames++;
  self->boxes += self->frame.boxes->len;
  self->bytes += self->writer ? self->text->len : 0;
  emit = self->emit_signals;
  GST_OBJECT_UNLOCK (self);
  if (emit && g_signal_has_handler_pending (self, signals[SIGNAL_FRAME_BOXES], 0, FALSE)) {
    GstStructure *boxes = box_structure_from_frame (&self->frame);

    g_signal_emit (self, signals[SIGNAL_FRAME_BOXES], 0, buffer, boxes);
    gst_structure_free (boxes);
  }
  return GST_FLOW_OK;
}

static gboolean
gst_box_record_set_caps (GstBaseTransform * trans, GstCaps * incaps, GstCaps * outcaps)
{
  GstBoxRecord *self = GST_BOX_RECORD (trans);

  frame_size_from_caps (incaps, &self->width, &self->height);
  return TRUE;
}

static gboolean
gst_box_record_sink_event (GstBaseTransform * trans, GstEvent * event)
{
  GstBoxRecord *self = GST_BOX_RECORD (trans);

  record_session_event (&self->session, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START
      || GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP) {
    GST_OBJECT_LOCK (self);
    if (self->writer)
      line_writer_set_flushing (self->writer, GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START);
    GST_OBJECT_UNLOCK (self);
  }
  return GST_BASE_TRANSFORM_CLASS (gst_box_record_parent_class)->sink_event (trans, event);
}

/* ---------------------------------------------------------------- start, stop */

/* Prepares the file to be continued after its last frame. Returns FALSE after an
 * error message. */
static gboolean
prepare_to_append (GstBoxRecord * self)
{
  GError *error = NULL;
  RecordAppend append;
  gboolean ok = record_append_prepare (&append, self->location, self->format, &error);

  if (!ok)
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("Cannot append to %s: %s%s%s", self->location,
            error->domain == RECORD_ERROR ? "the file does not end with a line of " : "",
            error->domain != RECORD_ERROR ? "" : self->format == RECORD_FORMAT_MOT ? "MOT text: "
            : "JSON Lines: ", error->message), (NULL));
  g_clear_error (&error);
  if (ok && append.removed > 0)
    GST_ELEMENT_WARNING (self, RESOURCE, WRITE, ("Removed an unfinished line of %" G_GUINT64_FORMAT
            " bytes from the end of %s", append.removed, self->location), (NULL));
  if (ok && !append.empty) {
    record_session_continue (&self->session, &append.last);
    self->next_index = append.last.index + 1;
  }
  record_append_clear (&append);
  return ok;
}

/* Opens the recording, if there is a location. Returns FALSE after an error message. */
static gboolean
open_recording (GstBoxRecord * self, gboolean emit_signals)
{
  gboolean wanted = self->location != NULL && *self->location != '\0';
  LineWriter *writer = NULL;
  GError *error = NULL;

  if (!wanted && !emit_signals) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("Cannot record: set the property location (- is "
            "standard output) or emit-signals"), (NULL));
    return FALSE;
  }
  record_session_init (&self->session);
  self->next_index = 0;
  if (wanted && self->append && strcmp (self->location, "-") != 0 && !prepare_to_append (self))
    return FALSE;
  if (wanted && (writer = line_writer_new (self->location, self->append, &error)) == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE, ("Cannot open %s for writing: %s",
            self->location, error->message), (NULL));
    g_error_free (error);
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  self->writer = writer;
  self->frames = self->boxes = self->bytes = 0;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* Lets the properties change again. */
static void
set_stopped (GstBoxRecord * self)
{
  GST_OBJECT_LOCK (self);
  self->started = FALSE;
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_box_record_start (GstBaseTransform * trans)
{
  GstBoxRecord *self = GST_BOX_RECORD (trans);
  gboolean emit_signals;

  /* fix the properties before they are read, because another thread may set them */
  GST_OBJECT_LOCK (self);
  self->started = TRUE;
  emit_signals = self->emit_signals;
  GST_OBJECT_UNLOCK (self);
  if (!open_recording (self, emit_signals)) {
    set_stopped (self);
    return FALSE;
  }
  self->width = self->height = 0;
  self->warned_labels = self->warned_confidence = FALSE;
  return TRUE;
}

static gboolean
gst_box_record_stop (GstBaseTransform * trans)
{
  GstBoxRecord *self = GST_BOX_RECORD (trans);
  GError *error = NULL;
  LineWriter *writer;

  GST_OBJECT_LOCK (self);
  writer = g_steal_pointer (&self->writer);
  GST_OBJECT_UNLOCK (self);
  if (!line_writer_free (writer, &error)) {
    GST_ELEMENT_ERROR (self, RESOURCE, CLOSE, ("Cannot close %s, the recording may be incomplete: "
            "%s", self->location, error->message), (NULL));
    g_error_free (error);
  }
  set_stopped (self);
  return TRUE;
}

static GstStateChangeReturn
gst_box_record_change_state (GstElement * element, GstStateChange transition)
{
  GstBoxRecord *self = GST_BOX_RECORD (element);

  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    /* otherwise deactivating the pads waits until a blocked reader reads on */
    GST_OBJECT_LOCK (self);
    if (self->writer)
      line_writer_set_flushing (self->writer, TRUE);
    GST_OBJECT_UNLOCK (self);
  }
  return GST_ELEMENT_CLASS (gst_box_record_parent_class)->change_state (element, transition);
}

/* ---------------------------------------------------------------- properties */

static const gsize fields[] = {
  [PROP_LOCATION] = G_STRUCT_OFFSET (GstBoxRecord, location),
  [PROP_FORMAT] = G_STRUCT_OFFSET (GstBoxRecord, format),
  [PROP_APPEND] = G_STRUCT_OFFSET (GstBoxRecord, append),
  [PROP_EMIT_SIGNALS] = G_STRUCT_OFFSET (GstBoxRecord, emit_signals),
};

static void
gst_box_record_set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GstBoxRecord *self = GST_BOX_RECORD (object);
  gboolean refused;

  GST_OBJECT_LOCK (self);
  refused = self->started && id != PROP_EMIT_SIGNALS;
  if (!refused)
    property_field_set (G_STRUCT_MEMBER_P (self, fields[id]), value);
  GST_OBJECT_UNLOCK (self);
  if (refused)
    PROPERTY_WARN_READY_ONLY (self, pspec);
}

static void
gst_box_record_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstBoxRecord *self = GST_BOX_RECORD (object);

  GST_OBJECT_LOCK (self);
  if (id == PROP_STATS)
    g_value_take_boxed (value, gst_structure_new ("boxrecord",
            "frames", G_TYPE_UINT64, self->frames, "boxes", G_TYPE_UINT64, self->boxes,
            "bytes", G_TYPE_UINT64, self->bytes, NULL));
  else
    property_field_get (G_STRUCT_MEMBER_P (self, fields[id]), value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_box_record_finalize (GObject * object)
{
  GstBoxRecord *self = GST_BOX_RECORD (object);

  g_free (self->location);
  recorded_frame_clear (&self->frame);
  g_string_free (self->text, TRUE);
  G_OBJECT_CLASS (gst_box_record_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass * klass)
{
  const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

  g_object_class_install_property (klass, PROP_LOCATION,
      g_param_spec_string ("location", "Location",
          "The recording: a file, a FIFO, or - for standard output (with gst-launch-1.0 -q)",
          DEFAULT_LOCATION, ready));
  g_object_class_install_property (klass, PROP_FORMAT,
      g_param_spec_enum ("format", "Format", "Format of the recording. jsonl keeps everything; mot "
          "cannot hold labels, region ids, states, angles and times", format_get_type (),
          DEFAULT_FORMAT, ready));
  g_object_class_install_property (klass, PROP_APPEND,
      g_param_spec_boolean ("append", "Append",
          "Continue an existing file instead of emptying it", DEFAULT_APPEND, ready));
  g_object_class_install_property (klass, PROP_EMIT_SIGNALS,
      g_param_spec_boolean ("emit-signals", "Emit signals",
          "Emit frame-boxes (buffer, structure) for every buffer; no location is needed then. The "
          "structure has timestamp (guint64, ns of stream time; only with a PTS), width and height "
          "(int; only if the caps state them) and boxes, a GstValueArray of structures. Each has "
          "x y w h (gint64, pixels) and region_id (int), and if they are known label and state "
          "(string), parent_id, label_id, id (the track) and suppressed-by (int), and as double "
          "x_min y_min x_max y_max (fractions of the frame), confidence and rotation (radians, "
          "clockwise)",
          DEFAULT_EMIT_SIGNALS,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Totals since READY, all guint64: frames, boxes and bytes (written)", GST_TYPE_STRUCTURE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_box_record_class_init (GstBoxRecordClass * klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_box_record_debug, "boxrecord", 0, "records boxes");

  G_OBJECT_CLASS (klass)->set_property = gst_box_record_set_property;
  G_OBJECT_CLASS (klass)->get_property = gst_box_record_get_property;
  G_OBJECT_CLASS (klass)->finalize = gst_box_record_finalize;
  install_properties (G_OBJECT_CLASS (klass));

  /**
   * GstBoxRecord::frame-boxes:
   * @boxrecord: the element
   * @buffer: the buffer that passes
   * @boxes: the boxes on the buffer
   *
   * Emitted from the streaming thread for every buffer while emit-signals is TRUE.
   * @boxes has the fields timestamp (guint64, ns of stream time; only if the buffer
   * has a PTS), width and height (int; only if the caps state them) and boxes: a
   * GstValueArray (in Python: `boxes.get_array("boxes")`) of structures. Each has
   * x y w h (gint64) and region_id (int); if they are known x_min y_min x_max y_max
   * and confidence (double), label (string), label_id, parent_id, id (the track) and
   * suppressed-by (int), state (string); and rotation (double) if it is not 0.
   */
  signals[SIGNAL_FRAME_BOXES] = g_signal_new ("frame-boxes", G_TYPE_FROM_CLASS (klass),
      G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2,
      GST_TYPE_BUFFER | G_SIGNAL_TYPE_STATIC_SCOPE,
      GST_TYPE_STRUCTURE | G_SIGNAL_TYPE_STATIC_SCOPE);

  element_class_describe (element_class, "Box recorder", "Filter/Metadata/Video",
      "Writes the boxes on the buffers that pass to JSON Lines or MOT text",
      "gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl "
      "! nmsfilter ! boxrecord location=kept.jsonl ! fakesink");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  element_class->change_state = gst_box_record_change_state;

  trans_class->start = gst_box_record_start;
  trans_class->stop = gst_box_record_stop;
  trans_class->set_caps = gst_box_record_set_caps;
  trans_class->sink_event = gst_box_record_sink_event;
  trans_class->transform_ip = gst_box_record_transform_ip;
  trans_class->transform_ip_on_passthrough = TRUE;

  gst_type_mark_as_plugin_api (format_get_type (), 0);
}

static void
gst_box_record_init (GstBoxRecord * self)
{
  self->location = g_strdup (DEFAULT_LOCATION);
  self->format = DEFAULT_FORMAT;
  self->append = DEFAULT_APPEND;
  self->emit_signals = DEFAULT_EMIT_SIGNALS;
  self->text = g_string_new (NULL);
  recorded_frame_init (&self->frame);
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), TRUE);
}
