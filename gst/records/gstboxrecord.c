/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-boxrecord
 * @title: boxrecord
 *
 * Writes the boxes on every buffer that passes to a text file, a FIFO or standard
 * output (`location=-`). It never copies or changes a buffer, except with line-meta=true.
 * Boxes are regions of interest and, where the plugin was built with GstAnalytics, ODs; a
 * region and the OD with its id are one box.
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
 * Every line is written at once, so that another program can read a pipe live, and
 * whole, also if the disk is full. flush=buffer collects the lines of a file, and
 * flush=disk waits until each is on the disk. Use `gst-launch-1.0 -q` with standard
 * output, because gst-launch-1.0 writes its messages there too.
 *
 * If the reader of a pipe is slow, the stream waits for it. A FIFO without a reader takes
 * lines until it is full (64 KiB); the first reader gets them. If the reader closes the
 * pipe, the stream ends with an error; with on-error=continue it goes on, and a FIFO may get
 * another reader.
 *
 * Several boxrecords of a process may share a pipe: their lines do not mix, and
 * add-stream-id=true tells them apart. Programs that share a pipe mix lines longer than
 * 4096 bytes (PIPE_BUF). Two boxrecords of a process cannot write to one file, and none can
 * replace a file that a boxreplay of the process reads.
 *
 * append=true continues a recording and the frame numbers of MOT text. Buffers outside of their
 * segment are marked, and left out of MOT text.
 *
 * Numbered files, limits of size and time, sockets, and dropping lines for a slow reader are
 * `boxes ! queue leaky=downstream ! multifilesink`, `tcpserversink` and `fdsink`:
 * docs/recording.md shows them.
 *
 * The pad boxes, on request, pushes the same lines as text, one buffer of
 * `text/x-raw, format=utf8` with the times of each frame. A frame without boxes is a GAP
 * event (or a line, see #GstBoxRecord:empty-lines). Queues, tee, gdppay, rtpgstpay and
 * matroskamux take boxes to another process that way; the pad boxes of boxreplay takes
 * them there. Both source pads push from one thread, so a queue should follow each.
 *
 * With line-meta=true the line of a frame is attached to its buffer itself, where unixfdsink
 * takes it to boxreplay line-meta=true in another process, because regions of interest and
 * ODs do not pass; see #GstBoxRecord:line-meta. Elements between the two that change boxes,
 * such as nmsfilter, do not change the line.
 *
 * With emit-signals=true, an application gets the boxes without a file: see
 * #GstBoxRecord::frame-boxes.
 *
 * If the caps have the feature meta:GstAnalyticsBatchMeta (GStreamer 1.28), each buffer inside of
 * the batches has a line, in which `stream` is the number of its stream. Times, sizes and missing
 * frames are those of that stream. The pad boxes gives its text the times of the
 * batch. MOT text cannot name streams, so format=mot refuses batches.
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

#include "elements.h"
#include "framesize.h"
#include "jsonl.h"
#include "linemeta.h"
#include "meta/batchmeta.h"
#include "meta/boxmeta.h"
#include "mottext.h"
#include "properties.h"
#include "recordoutput.h"
#include "recordpad.h"
#include "recordsettings.h"
#include "streamposition.h"

GST_DEBUG_CATEGORY_STATIC (gst_box_record_debug);
#define GST_CAT_DEFAULT gst_box_record_debug

enum
{
  PROP_STATS = RECORD_PROP_LAST + 1,
};

enum
{
  SIGNAL_FRAME_BOXES,
  N_SIGNALS,
};

static guint signals[N_SIGNALS];

/* The property stats. */
typedef struct
{
  guint64 frames, boxes, bytes; /* written */
  guint64 failed;               /* frames that could not be written */
} RecordCounts;

/* The data of a stream: of the only one, or of each one in batches. Used by the
 * streaming thread; the counts are under the object lock. */
typedef struct
{
  gint width, height; /* size of the frames; 0 if unknown */
  gint64 number;      /* stream number in a batch; -1 without batches */
  gchar *id;          /* NULL if it is not written */
  guint64 next_index; /* MOT text only: index of the next frame */
  guint64 missing;    /* frames since the last line for which no line was written */
  RecordCounts counts;
} RecordStream;

struct _GstBoxRecord
{
  GstBaseTransform parent;

  /* under the object lock; those that are not mutable in PLAYING are fixed while `started` */
  RecordSettings settings;
  gboolean started;           /* under the object lock; TRUE from start () to the end of stop () */
  GstBoxRecordPad *boxes_pad; /* under the object lock; NULL unless requested */

  /* set and cleared under the object lock; used by the streaming thread */
  RecordOutput *output; /* NULL if no location is set */

  /* streaming thread */
  RecordedFrame frame; /* frame of the current buffer */
  RecordStream *stream;
  gboolean batches; /* the buffers are batches */
  BatchMeta *batch; /* the streams of the batches, each with a RecordStream */
  GString *text;
  gboolean warned_confidences, warned_labels; /* warned of contents that are left out */

  RecordCounts counts; /* sum over all streams; under the object lock */
};

#define GST_TYPE_BOX_RECORD (gst_box_record_get_type ())
G_DECLARE_FINAL_TYPE (GstBoxRecord, gst_box_record, GST, BOX_RECORD, GstBaseTransform)
G_DEFINE_TYPE (GstBoxRecord, gst_box_record, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (boxrecord, "boxrecord", GST_RANK_NONE, GST_TYPE_BOX_RECORD)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK,
    GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC,
    GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* -------------------------------------------------------------- streams, counts */

/* Returns a new RecordStream that is not of a batch. */
static gpointer
record_stream_new (GstObject *element)
{
  RecordStream *self = g_new0 (RecordStream, 1);

  self->number = -1;
  return self;
}

static void
record_stream_free (gpointer stream)
{
  RecordStream *self = stream;

  g_free (self->id);
  g_free (self);
}

/* Forgets the stream id and the frames so far; the number of the stream stays. */
static void
record_stream_reset (RecordStream *self)
{
  g_free (self->id);
  *self = (RecordStream) { .number = self->number };
}

/* Takes the id of the stream from STREAM_START if `add_id`; ignores all other events. */
static void
record_stream_event (RecordStream *self, GstEvent *event, gboolean add_id)
{
  const gchar *id;

  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START) {
    gst_event_parse_stream_start (event, &id);
    g_free (self->id);
    self->id = add_id ? g_strdup (id) : NULL;
  }
}

/* Resets `frame` and sets all fields except the boxes from `buffer`, the next buffer. */
static void
record_stream_place (RecordStream *self, const GstSegment *segment, GstBuffer *buffer,
    RecordedFrame *frame)
{
  recorded_frame_reset (frame);
  frame->timestamp = stream_position_time (segment, buffer);
  frame->outside_segment = stream_position_is_outside (segment, buffer);
  frame->stream = self->number;
  frame->stream_id = self->id;
  frame->width = self->width;
  frame->height = self->height;
  frame->index = self->next_index;
  self->next_index += !frame->outside_segment;
}

static void
record_counts_add (RecordCounts *self, const RecordCounts *more)
{
  self->frames += more->frames;
  self->boxes += more->boxes;
  self->bytes += more->bytes;
  self->failed += more->failed;
}

static GstStructure *
counts_to_structure (const gchar *name, const RecordCounts *counts)
{
  return gst_structure_new (name, "frames", G_TYPE_UINT64, counts->frames, "boxes", G_TYPE_UINT64,
      counts->boxes, "bytes", G_TYPE_UINT64, counts->bytes, "failed", G_TYPE_UINT64, counts->failed,
      NULL);
}

static void
add_stream_counts (gpointer data, gpointer user_data)
{
  const BatchStream *stream = data;
  const RecordStream *self = stream->data;
  gchar *name = g_strdup_printf ("stream-%u", stream->index);
  GstStructure *structure = counts_to_structure (name, &self->counts);

  gst_structure_set (user_data, name, GST_TYPE_STRUCTURE, structure, NULL);
  gst_structure_free (structure);
  g_free (name);
}

/* Returns the property stats, with a structure stream-NUMBER for each stream of batches. Free it.
 * Call with the object lock. */
static GstStructure *
record_counts_to_structure (const RecordCounts *total, BatchMeta *batch)
{
  GstStructure *structure = counts_to_structure ("boxrecord", total);

  batch_meta_foreach_stream (batch, add_stream_counts, structure);
  return structure;
}

static GParamSpec *
record_counts_spec (void)
{
  return g_param_spec_boxed ("stats", "Statistics",
      "Totals since READY, all guint64: frames, boxes and bytes (written), failed (frames that "
      "could not be written). For each stream of batches a structure stream-INDEX with the same "
      "fields",
      GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}

/* ------------------------------------------------------------------ recording */

/* MOT text cannot mark a frame that is not shown, so that frame is not written. */
static gboolean
is_left_out (const GstBoxRecord *self)
{
  return self->settings.format == RECORD_FORMAT_MOT && self->frame.outside_segment;
}

static gboolean
has_label (const RecordedFrame *frame)
{
  for (guint i = 0; i < frame->boxes->len; i++)
    if (g_array_index (frame->boxes, Box, i).label != 0)
      return TRUE;
  return FALSE;
}

/* Warns once of each kind of contents of the current frame that its text cannot hold, because
 * later frames mostly lose the same. `omitted` is the number of confidences left out. */
static void
warn_of_losses (GstBoxRecord *self, guint omitted)
{
  const gboolean mot = self->settings.format == RECORD_FORMAT_MOT;

  if (omitted > 0 && !self->warned_confidences) {
    self->warned_confidences = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("Cannot write a confidence of frame %" G_GUINT64_FORMAT
         " (%s); it is left out, here and in later frames",
            self->frame.index, mot ? "NaN, infinite, or -1, which means none" : "NaN or infinite"),
        (NULL));
  }
  if (mot && !self->warned_labels && has_label (&self->frame)) {
    self->warned_labels = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("MOT text cannot hold labels; they are left out. format=jsonl keeps them"), (NULL));
  }
}

/* Writes the current frame, which belongs to `stream`. */
static OutputResult
write_frame (GstBoxRecord *self, RecordStream *stream)
{
  gboolean mot = self->settings.format == RECORD_FORMAT_MOT;
  OutputResult result;
  guint omitted;

  g_string_truncate (self->text, 0);
  if (is_left_out (self))
    return OUTPUT_OK;
  self->frame.dropped = stream->missing;
  if (mot)
    omitted = mot_text_format (&self->frame, self->text);
  else
    omitted = jsonl_format (&self->frame, self->text);
  warn_of_losses (self, omitted);
  if (self->text->len == 0)
    return OUTPUT_OK;
  result = record_output_write (self->output, self->text);
  if (result == OUTPUT_OK)
    stream->missing = 0;
  else if (result != OUTPUT_FLUSHING && !self->frame.outside_segment)
    stream->missing++;
  return result;
}

/* Counts the current frame. */
static void
count_frame (GstBoxRecord *self, RecordStream *stream, OutputResult result)
{
  RecordCounts counts = { .failed = result != OUTPUT_OK };

  if (result == OUTPUT_OK && !is_left_out (self)) {
    counts.frames = 1;
    counts.boxes = self->frame.boxes->len;
    counts.bytes = self->output ? self->text->len : 0;
  }
  GST_OBJECT_LOCK (self);
  record_counts_add (&self->counts, &counts);
  record_counts_add (&stream->counts, &counts);
  GST_OBJECT_UNLOCK (self);
}

static void
take_string (GstStructure *s, const gchar *field, gchar *text)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_STRING);
  g_value_take_string (&value, text);
  gst_structure_take_value (s, field, &value);
}

static GstStructure *
box_structure (const Box *box)
{
  GstStructure *s = gst_structure_new ("box", "x", G_TYPE_INT64, box->x, "y", G_TYPE_INT64, box->y,
      "w", G_TYPE_INT64, box->w, "h", G_TYPE_INT64, box->h, "region_id", G_TYPE_INT, box->region_id,
      NULL);

  /* a label may hold any bytes, but strings of other languages must be valid UTF-8 */
  if (box->label)
    take_string (s, "label", g_utf8_make_valid (g_quark_to_string (box->label), -1));
  if (box->parent_id != 0)
    gst_structure_set (s, "parent_id", G_TYPE_INT, box->parent_id, NULL);
  if (box->flags & BOX_HAS_NORMALIZED)
    gst_structure_set (s, "x_min", G_TYPE_DOUBLE, box->x_min, "y_min", G_TYPE_DOUBLE, box->y_min,
        "x_max", G_TYPE_DOUBLE, box->x_max, "y_max", G_TYPE_DOUBLE, box->y_max, NULL);
  if (box->rotation != 0)
    gst_structure_set (s, "rotation", G_TYPE_DOUBLE, box->rotation, NULL);
  if (box->flags & BOX_HAS_CONFIDENCE)
    gst_structure_set (s, "confidence", G_TYPE_DOUBLE, box->confidence, NULL);
  if (box->flags & BOX_HAS_LABEL_ID)
    gst_structure_set (s, "label_id", G_TYPE_INT, box->label_id, NULL);
  if (box->flags & BOX_HAS_TRACK_ID)
    gst_structure_set (s, "id", G_TYPE_INT, box->track_id, NULL);
  if (box_state_name (box->state))
    gst_structure_set (s, "state", G_TYPE_STRING, box_state_name (box->state), NULL);
  if (box->suppressed_by >= 0)
    gst_structure_set (s, "suppressed-by", G_TYPE_INT, box->suppressed_by, NULL);
  return s;
}

/* Returns the structure of the signal frame-boxes, to be freed. It allocates memory for each box,
 * so it is made only while a handler is connected. */
static GstStructure *
boxes_structure (const RecordedFrame *frame)
{
  GstStructure *s = gst_structure_new_empty ("frame-boxes");
  GValue array = G_VALUE_INIT;
  guint i;

  if (frame->timestamp != RECORDED_FRAME_NO_TIME)
    gst_structure_set (s, "timestamp", G_TYPE_UINT64, frame->timestamp, NULL);
  if (frame->stream >= 0)
    gst_structure_set (s, "stream", G_TYPE_UINT, (guint) frame->stream, NULL);
  if (frame->width > 0 && frame->height > 0)
    gst_structure_set (s, "width", G_TYPE_INT, frame->width, "height", G_TYPE_INT, frame->height,
        NULL);
  gst_value_array_init (&array, frame->boxes->len);
  for (i = 0; i < frame->boxes->len; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&value, box_structure (&g_array_index (frame->boxes, Box, i)));
    gst_value_array_append_and_take_value (&array, &value);
  }
  gst_structure_take_value (s, "boxes", &array);
  return s;
}

static void
emit_frame_boxes (GstBoxRecord *self, GstBuffer *buffer)
{
  GstStructure *boxes;

  if (!g_signal_has_handler_pending (self, signals[SIGNAL_FRAME_BOXES], 0, FALSE))
    return;
  boxes = boxes_structure (&self->frame);
  g_signal_emit (self, signals[SIGNAL_FRAME_BOXES], 0, buffer, boxes);
  gst_structure_free (boxes);
}

/* Attaches the line of the current frame to the buffer, which is that of `frame` unless it is
 * NULL. */
static void
attach_line (GstBoxRecord *self, GstBuffer *buffer, BatchFrame *frame)
{
  if (!self->settings.line_meta)
    return;
  if (frame)
    buffer = batch_meta_make_writable (frame);
  g_string_truncate (self->text, 0);
  jsonl_format (&self->frame, self->text);
  line_meta_set (buffer, self->text->str);
}

/* Records a buffer of `stream`. `frame` is its place in a batch, or NULL. */
static GstFlowReturn
record_buffer (GstBoxRecord *self, RecordStream *stream, const GstSegment *segment,
    GstBuffer *buffer, BatchFrame *frame)
{
  OutputResult result = OUTPUT_OK;
  GstFlowReturn flow = GST_FLOW_OK;
  gboolean emit, push;

  GST_OBJECT_LOCK (self);
  emit = self->settings.emit_signals;
  push = self->boxes_pad != NULL;
  GST_OBJECT_UNLOCK (self);
  record_stream_place (stream, segment, buffer, &self->frame);
  box_meta_read (buffer, stream->width, stream->height,
      BOX_READ_TRACK | BOX_READ_STATE | BOX_READ_RECORDED, self->frame.boxes);
  if (self->output)
    result = write_frame (self, stream);
  if (result == OUTPUT_FLUSHING)
    return GST_FLOW_FLUSHING;
  count_frame (self, stream, result);
  if (result == OUTPUT_FAILED)
    return GST_FLOW_ERROR;
  self->frame.dropped = 0; /* lines were dropped from the file only */
  attach_line (self, buffer, frame);
  if (emit)
    emit_frame_boxes (self, frame ? frame->buffer : buffer);
  if (push)
    flow = record_pad_push (&self->boxes_pad, GST_BASE_TRANSFORM (self), &self->frame,
        frame ? *frame->batch : buffer, &self->settings.empty_lines);
  return flow;
}

static void
handle_stream_event (GstObject *element, BatchStream *stream, GstEvent *event)
{
  record_stream_event (stream->data, event, GST_BOX_RECORD (element)->settings.add_stream_id);
}

static GstFlowReturn
record_frame (GstObject *element, BatchFrame *frame)
{
  RecordStream *stream = frame->stream->data;

  stream->number = frame->stream->index;
  stream->width = frame->stream->width;
  stream->height = frame->stream->height;
  return record_buffer (GST_BOX_RECORD (element), stream, frame->segment, frame->buffer, frame);
}

static const BatchFuncs batch_funcs = {
  .stream_new = record_stream_new,
  .stream_free = record_stream_free,
  .event = handle_stream_event,
  .frame = record_frame,
};

/* Without line-meta the element is in passthrough: this is the input buffer, and it may be
 * read-only. With line-meta it is writable. */
static GstFlowReturn
gst_box_record_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstBoxRecord *self = GST_BOX_RECORD (trans);

  if (self->batches)
    return batch_meta_walk (self->batch, &buffer, &trans->segment);
  return record_buffer (self, self->stream, &trans->segment, buffer, NULL);
}

static gboolean
gst_box_record_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstBoxRecord *self = GST_BOX_RECORD (trans);

  frame_size_from_caps (incaps, &self->stream->width, &self->stream->height);
  self->batches = batch_meta_in_caps (incaps);
  if (!self->batches || self->output == NULL || self->settings.format != RECORD_FORMAT_MOT)
    return TRUE;
  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("MOT text cannot name the streams of batches. "
       "format=jsonl can."),
      (NULL));
  return FALSE;
}

static void
set_flushing (GstBoxRecord *self, gboolean flushing)
{
  GST_OBJECT_LOCK (self);
  if (self->output)
    record_output_set_flushing (self->output, flushing);
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_box_record_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstBoxRecord *self = GST_BOX_RECORD (trans);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
      /* this event alone comes from a thread other than the streaming thread */
      set_flushing (self, TRUE);
      break;
    case GST_EVENT_FLUSH_STOP:
      set_flushing (self, FALSE);
      break;
    case GST_EVENT_EOS:
      if (self->output)
        record_output_flush (self->output);
      /* gst-launch-1.0 -v shows it */
      g_object_notify (G_OBJECT (self), "stats");
      break;
    default:
      break;
  }
  record_stream_event (self->stream, event, self->settings.add_stream_id);
  record_pad_event (&self->boxes_pad, trans, event);
  return GST_BASE_TRANSFORM_CLASS (gst_box_record_parent_class)->sink_event (trans, event);
}

/* ---------------------------------------------------------------- start, stop */

/* Opens the recording, if there is a location. Returns FALSE after an error message. */
static gboolean
open_recording (GstBoxRecord *self, gboolean has_other_output)
{
  const gchar *location = self->settings.location;
  RecordOutput *output = NULL;

  record_stream_reset (self->stream);
  batch_meta_reset (self->batch);
  if (location && *location) {
    output = record_output_open (GST_ELEMENT (self), &self->settings, &self->stream->next_index);
    if (output == NULL)
      return FALSE;
  } else if (!has_other_output) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("Cannot record: set the property location (- is "
         "standard output), emit-signals or line-meta, or link the pad boxes"),
        (NULL));
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  self->output = output;
  self->counts = (RecordCounts) { 0 };
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* Lets the properties change again. */
static void
set_stopped (GstBoxRecord *self)
{
  GST_OBJECT_LOCK (self);
  self->started = FALSE;
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_box_record_start (GstBaseTransform *trans)
{
  GstBoxRecord *self = GST_BOX_RECORD (trans);
  gboolean has_other_output;

  /* fix the properties before they are read, because another thread may set them */
  GST_OBJECT_LOCK (self);
  self->started = TRUE;
  has_other_output = self->settings.emit_signals || self->settings.line_meta
      || self->boxes_pad != NULL;
  GST_OBJECT_UNLOCK (self);
  if (!open_recording (self, has_other_output)) {
    set_stopped (self);
    return FALSE;
  }
  gst_base_transform_set_passthrough (trans, !self->settings.line_meta);
  self->batches = FALSE;
  self->warned_confidences = self->warned_labels = FALSE;
  return TRUE;
}

static gboolean
gst_box_record_stop (GstBaseTransform *trans)
{
  GstBoxRecord *self = GST_BOX_RECORD (trans);
  RecordOutput *output;

  GST_OBJECT_LOCK (self);
  output = g_steal_pointer (&self->output);
  GST_OBJECT_UNLOCK (self);
  record_output_close (output);
  set_stopped (self);
  return TRUE;
}

static GstStateChangeReturn
gst_box_record_change_state (GstElement *element, GstStateChange transition)
{
  /* otherwise deactivating the pads waits until a blocked reader reads on */
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    set_flushing (GST_BOX_RECORD (element), TRUE);
  return GST_ELEMENT_CLASS (gst_box_record_parent_class)->change_state (element, transition);
}

/* ------------------------------------------------------------- the pad boxes */

static GstPad *
gst_box_record_request_new_pad (GstElement *element, GstPadTemplate *template, const gchar *name,
    const GstCaps *caps)
{
  return record_pad_request (element, template, &GST_BOX_RECORD (element)->boxes_pad);
}

static void
gst_box_record_release_pad (GstElement *element, GstPad *pad)
{
  record_pad_release (element, pad, &GST_BOX_RECORD (element)->boxes_pad);
}

/* ---------------------------------------------------------------- properties */

static void
gst_box_record_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstBoxRecord *self = GST_BOX_RECORD (object);
  gboolean refused;

  GST_OBJECT_LOCK (self);
  refused = self->started && !(pspec->flags & GST_PARAM_MUTABLE_PLAYING);
  if (!refused)
    property_field_set (record_settings_field (&self->settings, id), value);
  GST_OBJECT_UNLOCK (self);
  if (refused)
    PROPERTY_WARN_READY_ONLY (self, pspec);
}

static void
gst_box_record_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstBoxRecord *self = GST_BOX_RECORD (object);

  GST_OBJECT_LOCK (self);
  if (id == PROP_STATS)
    g_value_take_boxed (value, record_counts_to_structure (&self->counts, self->batch));
  else
    property_field_get (record_settings_field (&self->settings, id), value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_box_record_finalize (GObject *object)
{
  GstBoxRecord *self = GST_BOX_RECORD (object);

  record_settings_clear (&self->settings);
  g_clear_pointer (&self->boxes_pad, gst_object_unref);
  recorded_frame_clear (&self->frame);
  record_stream_free (self->stream);
  batch_meta_free (self->batch);
  g_string_free (self->text, TRUE);
  G_OBJECT_CLASS (gst_box_record_parent_class)->finalize (object);
}

static void
gst_box_record_class_init (GstBoxRecordClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_box_record_debug, "boxrecord", 0, "records boxes");

  G_OBJECT_CLASS (klass)->set_property = gst_box_record_set_property;
  G_OBJECT_CLASS (klass)->get_property = gst_box_record_get_property;
  G_OBJECT_CLASS (klass)->finalize = gst_box_record_finalize;
  record_settings_install (G_OBJECT_CLASS (klass));
  g_object_class_install_property (G_OBJECT_CLASS (klass), PROP_STATS, record_counts_spec ());

  /**
   * GstBoxRecord::frame-boxes:
   * @boxrecord: the element
   * @buffer: the buffer that passes
   * @boxes: the boxes on the buffer
   *
   * Emitted from the streaming thread for every buffer while emit-signals is TRUE.
   * @boxes has the fields timestamp (guint64, ns of stream time; only if the buffer
   * has a PTS), stream (guint, the number of the stream; only for a buffer inside of a
   * batch), width and height (int; only if the caps state them) and boxes: a
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
  gst_element_class_add_pad_template (element_class, record_pad_template ());
  line_meta_register ();
  element_class->change_state = gst_box_record_change_state;
  element_class->request_new_pad = gst_box_record_request_new_pad;
  element_class->release_pad = gst_box_record_release_pad;

  trans_class->start = gst_box_record_start;
  trans_class->stop = gst_box_record_stop;
  trans_class->set_caps = gst_box_record_set_caps;
  trans_class->sink_event = gst_box_record_sink_event;
  trans_class->transform_ip = gst_box_record_transform_ip;
  trans_class->transform_ip_on_passthrough = TRUE;
}

static void
gst_box_record_init (GstBoxRecord *self)
{
  record_settings_init (&self->settings);
  self->text = g_string_new (NULL);
  recorded_frame_init (&self->frame);
  self->stream = record_stream_new (NULL);
  self->batch = batch_meta_new (GST_OBJECT (self), &batch_funcs);
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), TRUE);
  gst_base_transform_set_gap_aware (GST_BASE_TRANSFORM (self), TRUE);
}
