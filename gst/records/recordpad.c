/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "recordpad.h"

#include "jsonl.h"

struct _GstBoxRecordPad
{
  GstPad parent;

  /* streaming thread of the video */
  GString *line;
  GstEvent *start, *segment; /* the video's events that were last sent on, rewritten; or NULL */
};

G_DEFINE_TYPE (GstBoxRecordPad, record_pad, GST_TYPE_PAD)

/* The caps of text that muxers accept as subtitles. */
static GstStaticPadTemplate template = GST_STATIC_PAD_TEMPLATE ("boxes", GST_PAD_SRC,
    GST_PAD_REQUEST, GST_STATIC_CAPS ("text/x-raw, format=(string)utf8"));

/* Drops QoS, because late text says nothing about the video; forwards all other events to
 * the source of the video. */
static gboolean
handle_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) != GST_EVENT_QOS)
    return gst_pad_event_default (pad, parent, event);
  gst_event_unref (event);
  return TRUE;
}

/* ------------------------------------------------------------ sticky events */

static void
push_stream_start (GstBoxRecordPad *self, GstPad *video)
{
  GstElement *element = gst_pad_get_parent_element (video);
  gchar *id = gst_pad_create_stream_id (GST_PAD (self), element, "boxes");
  GstEvent *event = gst_event_new_stream_start (id);
  guint group;

  gst_event_set_stream_flags (event, GST_STREAM_FLAG_SPARSE);
  if (self->start && gst_event_parse_group_id (self->start, &group))
    gst_event_set_group_id (event, group);
  gst_pad_push_event (GST_PAD (self), event);
  gst_pad_push_event (GST_PAD (self),
      gst_event_new_caps (gst_pad_get_pad_template_caps (GST_PAD (self))));
  g_free (id);
  gst_object_unref (element);
}

/* Sets *known to the event of this type on the pad of the video. Returns whether it has
 * changed. */
static gboolean
take_event (GstPad *video, GstEventType type, GstEvent **known)
{
  GstEvent *event = gst_pad_get_sticky_event (video, type, 0);
  gboolean changed = gst_event_replace (known, event);

  gst_clear_event (&event);
  return changed && *known != NULL;
}

/* Pushes the events that must precede text and that the pad does not have yet. */
static void
begin (GstBoxRecordPad *self, GstPad *video)
{
  gboolean started = take_event (video, GST_EVENT_STREAM_START, &self->start);

  if (started || !gst_pad_has_current_caps (GST_PAD (self)))
    push_stream_start (self, video);
  if (take_event (video, GST_EVENT_SEGMENT, &self->segment))
    gst_pad_push_event (GST_PAD (self), gst_event_ref (self->segment));
}

/* ---------------------------------------------------------------- boxes, events */

/* Returns the line of a frame. < > & are escapes of JSON there, so that no demuxer takes the line
 * for markup; in JSON these characters are in strings only. */
static GstBuffer *
text_new (GstBoxRecordPad *self, const RecordedFrame *frame, GstBuffer *buffer)
{
  GstBuffer *text;

  g_string_truncate (self->line, 0);
  jsonl_format (frame, self->line);
  g_string_replace (self->line, "<", "\\u003c", 0);
  g_string_replace (self->line, ">", "\\u003e", 0);
  g_string_replace (self->line, "&", "\\u0026", 0);
  text = gst_buffer_new_memdup (self->line->str, self->line->len);
  GST_BUFFER_PTS (text) = GST_BUFFER_PTS (buffer);
  GST_BUFFER_DURATION (text) = GST_BUFFER_DURATION (buffer);
  return text;
}

/* Returns a reference to the pad, or NULL. */
static GstBoxRecordPad *
get_pad (gpointer element, GstBoxRecordPad **slot)
{
  GstBoxRecordPad *pad;

  GST_OBJECT_LOCK (element);
  pad = *slot ? gst_object_ref (*slot) : NULL;
  GST_OBJECT_UNLOCK (element);
  return pad;
}

GstFlowReturn
record_pad_push (GstBoxRecordPad **slot, GstBaseTransform *element, const RecordedFrame *frame,
    GstBuffer *buffer, const gboolean *empty_lines)
{
  GstBoxRecordPad *self = frame->outside_segment ? NULL : get_pad (element, slot);
  GstFlowReturn flow = GST_FLOW_OK;
  gboolean line = frame->boxes->len > 0;

  if (self == NULL)
    return GST_FLOW_OK;
  begin (self, element->sinkpad);
  if (!line) {
    GST_OBJECT_LOCK (element);
    line = *empty_lines;
    GST_OBJECT_UNLOCK (element);
  }
  if (line)
    flow = gst_pad_push (GST_PAD (self), text_new (self, frame, buffer));
  else if (GST_BUFFER_PTS_IS_VALID (buffer))
    gst_pad_push_event (GST_PAD (self),
        gst_event_new_gap (GST_BUFFER_PTS (buffer), GST_BUFFER_DURATION (buffer)));
  gst_object_unref (self);
  return flow == GST_FLOW_ERROR || flow == GST_FLOW_NOT_NEGOTIATED ? GST_FLOW_ERROR : GST_FLOW_OK;
}

void
record_pad_event (GstBoxRecordPad **slot, GstBaseTransform *element, GstEvent *event)
{
  GstBoxRecordPad *self = get_pad (element, slot);

  if (self == NULL)
    return;
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_GAP:
    case GST_EVENT_EOS:
      begin (self, element->sinkpad);
      gst_pad_push_event (GST_PAD (self), gst_event_ref (event));
      break;
    case GST_EVENT_FLUSH_STOP:
      gst_clear_event (&self->segment);
      gst_pad_push_event (GST_PAD (self), gst_event_ref (event));
      break;
    case GST_EVENT_FLUSH_START:
      gst_pad_push_event (GST_PAD (self), gst_event_ref (event));
      break;
    default:
      break;
  }
  gst_object_unref (self);
}

/* ------------------------------------------------------------ request, release */

static GstBoxRecordPad *
pad_new (GstPadTemplate *from)
{
  GstBoxRecordPad *self = g_object_new (RECORD_TYPE_PAD, "name", "boxes", "direction", GST_PAD_SRC,
      "template", from, NULL);

  gst_pad_set_event_function (GST_PAD (self), handle_event);
  gst_pad_use_fixed_caps (GST_PAD (self));
  return self;
}

GstPad *
record_pad_request (GstElement *element, GstPadTemplate *from, GstBoxRecordPad **slot)
{
  GstBoxRecordPad *self = gst_object_ref_sink (pad_new (from));
  gboolean refused;

  GST_OBJECT_LOCK (element);
  refused = *slot != NULL;
  if (!refused)
    *slot = self; /* takes the reference */
  GST_OBJECT_UNLOCK (element);
  if (refused) {
    gst_object_unref (self);
    return NULL;
  }
  gst_pad_set_active (GST_PAD (self), TRUE);
  gst_element_add_pad (element, GST_PAD (self));
  return GST_PAD (self);
}

void
record_pad_release (GstElement *element, GstPad *pad, GstBoxRecordPad **slot)
{
  GST_OBJECT_LOCK (element);
  *slot = NULL;
  GST_OBJECT_UNLOCK (element);
  gst_pad_set_active (pad, FALSE);
  gst_element_remove_pad (element, pad);
  gst_object_unref (pad);
}

/* ------------------------------------------------------------------- the type */

GstPadTemplate *
record_pad_template (void)
{
  return gst_pad_template_new_from_static_pad_template_with_gtype (&template, RECORD_TYPE_PAD);
}

static void
record_pad_finalize (GObject *object)
{
  GstBoxRecordPad *self = RECORD_PAD (object);

  g_string_free (self->line, TRUE);
  gst_clear_event (&self->start);
  gst_clear_event (&self->segment);
  G_OBJECT_CLASS (record_pad_parent_class)->finalize (object);
}

static void
record_pad_class_init (GstBoxRecordPadClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = record_pad_finalize;
}

static void
record_pad_init (GstBoxRecordPad *self)
{
  self->line = g_string_new (NULL);
}
