/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "replaypad.h"

#include "streamposition.h"

typedef struct
{
  GstClockTime time; /* running time */
  GstBuffer *buffer;
} Line;

struct _GstBoxReplayPad
{
  GstPad parent;

  /* under the lock; the condition is signalled at every change */
  GMutex lock;
  GCond changed;
  GQueue lines;          /* elements: Line, in order of arrival */
  GstClockTime position; /* running time before which no line will come */
  gboolean ended;        /* the pad got EOS, so no more lines will come */
  gboolean flushing;     /* set between FLUSH_START and FLUSH_STOP on this pad */
  gboolean interrupted;  /* set by replay_pad_set_flushing () */
  gboolean finished;     /* set by replay_pad_finish () */

  /* streaming thread of the pad */
  GstSegment segment;

  /* streaming thread of the video */
  ReplayText *text;  /* not owned */
  GstClockTime time; /* running time of the line found last */
};

G_DEFINE_TYPE (GstBoxReplayPad, replay_pad, GST_TYPE_PAD)

/* Matroska's demuxer calls text pango-markup. */
static GstStaticPadTemplate template = GST_STATIC_PAD_TEMPLATE ("boxes", GST_PAD_SINK,
    GST_PAD_REQUEST, GST_STATIC_CAPS ("text/x-raw, format=(string){ utf8, pango-markup }"));

static void
line_free (Line *line)
{
  gst_buffer_unref (line->buffer);
  g_free (line);
}

GstClockTime
replay_pad_time (const GstSegment *segment, GstBuffer *buffer)
{
  GstClockTime time = GST_BUFFER_PTS (buffer);

  if (segment->format != GST_FORMAT_TIME || !GST_CLOCK_TIME_IS_VALID (time)
      || stream_position_is_outside (segment, buffer))
    return GST_CLOCK_TIME_NONE;
  time = MAX (time, segment->start);
  return gst_segment_to_running_time (segment, GST_FORMAT_TIME, MIN (time, segment->stop));
}

/* ------------------------------------------------- streaming thread of the pad */

/* Waits for room and adds the line. Returns what the pad returns to its upstream. */
static GstFlowReturn
add_line (GstBoxReplayPad *self, GstClockTime time, GstBuffer *buffer)
{
  GstFlowReturn flow = GST_FLOW_OK;

  g_mutex_lock (&self->lock);
  while (self->lines.length >= REPLAY_PAD_LINES && !self->flushing && !self->interrupted
      && !self->finished)
    g_cond_wait (&self->changed, &self->lock);
  if (self->flushing || self->interrupted)
    flow = GST_FLOW_FLUSHING;
  else if (self->finished)
    flow = GST_FLOW_EOS;
  if (flow == GST_FLOW_OK) {
    Line *line = g_new (Line, 1);

    *line = (Line) { time, gst_buffer_ref (buffer) };
    g_queue_push_tail (&self->lines, line);
    self->position = time;
    g_cond_broadcast (&self->changed);
  }
  g_mutex_unlock (&self->lock);
  return flow;
}

static GstFlowReturn
handle_buffer (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstBoxReplayPad *self = REPLAY_PAD (pad);
  GstFlowReturn flow = GST_FLOW_OK;
  GstClockTime time;

  if (self->segment.format != GST_FORMAT_TIME || !GST_BUFFER_PTS_IS_VALID (buffer)) {
    GST_ELEMENT_ERROR (parent, STREAM, FORMAT,
        ("The pad boxes needs text with timestamps in a "
         "segment of time"),
        (NULL));
    flow = GST_FLOW_ERROR;
  } else if (GST_CLOCK_TIME_IS_VALID (time = replay_pad_time (&self->segment, buffer))) {
    flow = add_line (self, time, buffer);
  }
  gst_buffer_unref (buffer);
  return flow;
}

/* Moves the position to the end of a gap. */
static void
take_gap (GstBoxReplayPad *self, GstEvent *event)
{
  GstClockTime ends[2], time;

  gst_event_parse_gap (event, &ends[0], &ends[1]);
  ends[1] = MIN (ends[0] + (GST_CLOCK_TIME_IS_VALID (ends[1]) ? ends[1] : 0), self->segment.stop);
  for (guint i = 0; i < 2; i++) { /* in reverse playback, the gap ends at its start time */
    time = gst_segment_to_running_time (&self->segment, GST_FORMAT_TIME, ends[i]);
    if (GST_CLOCK_TIME_IS_VALID (time))
      self->position = MAX (self->position, time);
  }
}

static void
forget_lines (GstBoxReplayPad *self)
{
  Line *line;

  while ((line = g_queue_pop_head (&self->lines)) != NULL)
    line_free (line);
  self->position = 0;
  self->ended = FALSE;
}

static gboolean
handle_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstBoxReplayPad *self = REPLAY_PAD (pad);

  g_mutex_lock (&self->lock);
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &self->segment);
      self->ended = FALSE;
      break;
    case GST_EVENT_GAP:
      take_gap (self, event);
      break;
    case GST_EVENT_EOS:
      self->ended = TRUE;
      break;
    case GST_EVENT_FLUSH_START:
      self->flushing = TRUE;
      break;
    case GST_EVENT_FLUSH_STOP:
      self->flushing = FALSE;
      gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
      forget_lines (self);
      break;
    default:
      break;
  }
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  gst_event_unref (event); /* dropped, because downstream gets the events of the video */
  return TRUE;
}

/* ---------------------------------------------- streaming thread of the video */

/* Removes lines before this running time. */
static void
drop_before (GstBoxReplayPad *self, GstClockTime time)
{
  Line *line;

  while ((line = g_queue_peek_head (&self->lines)) != NULL && line->time < time) {
    line_free (g_queue_pop_head (&self->lines));
    self->text->counts->unmatched++;
    g_cond_broadcast (&self->changed);
  }
}

/* Waits until it is known whether there is a line from `first` to `last`. Sets *buffer to it
 * or to NULL. Returns FALSE if interrupted. */
static gboolean
wait_for_line (GstBoxReplayPad *self, GstClockTime first, GstClockTime last, gint64 deadline,
    GstBuffer **buffer)
{
  gboolean waiting = TRUE;
  Line *line;

  *buffer = NULL;
  for (;;) {
    drop_before (self, first);
    if (self->interrupted)
      return FALSE;
    line = g_queue_peek_head (&self->lines);
    if (line && line->time <= last) {
      *buffer = gst_buffer_ref (line->buffer);
      self->time = line->time;
      line_free (g_queue_pop_head (&self->lines));
      g_cond_broadcast (&self->changed);
    }
    if (line || self->ended || self->position > last || !waiting)
      return TRUE;
    if (deadline == 0)
      g_cond_wait (&self->changed, &self->lock);
    else
      waiting = g_cond_wait_until (&self->changed, &self->lock, deadline);
  }
}

RecordMatchResult
replay_pad_find (GstBoxReplayPad *self, GstClockTime time, const RecordSearch *search,
    RecordedFrame **frame, GError **error)
{
  const GstClockTime tolerance = search->tolerance;
  const GstClockTime last = time > G_MAXUINT64 - 1 - tolerance ? G_MAXUINT64 - 1 : time + tolerance;
  RecordMatchResult result = RECORD_MATCH_NONE;
  GstBuffer *buffer;
  GstMapInfo map;
  gboolean done;

  if (!GST_CLOCK_TIME_IS_VALID (time))
    return RECORD_MATCH_NONE;
  g_mutex_lock (&self->lock);
  done = wait_for_line (self, time > tolerance ? time - tolerance : 0, last, search->deadline,
      &buffer);
  g_mutex_unlock (&self->lock);
  if (!done)
    return RECORD_MATCH_FLUSHING;
  if (buffer && gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    result = replay_text_parse (self->text, search, self->time, &map, frame, error);
    gst_buffer_unmap (buffer, &map);
  }
  gst_clear_buffer (&buffer);
  return result;
}

void
replay_pad_set_finished (GstBoxReplayPad *self, gboolean finished)
{
  g_mutex_lock (&self->lock);
  if (finished)
    drop_before (self, G_MAXUINT64);
  self->finished = finished;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

void
replay_pad_start (GstBoxReplayPad *self, ReplayText *text)
{
  g_mutex_lock (&self->lock);
  forget_lines (self);
  self->flushing = self->interrupted = self->finished = FALSE;
  g_mutex_unlock (&self->lock);
  self->text = text;
}

void
replay_pad_set_flushing (GstBoxReplayPad *self, gboolean flushing)
{
  g_mutex_lock (&self->lock);
  self->interrupted = flushing;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* ------------------------------------------------------------ request, release */

static GstBoxReplayPad *
pad_new (GstPadTemplate *from)
{
  GstBoxReplayPad *self = g_object_new (REPLAY_TYPE_PAD, "name", "boxes", "direction", GST_PAD_SINK,
      "template", from, NULL);

  gst_pad_set_chain_function (GST_PAD (self), handle_buffer);
  gst_pad_set_event_function (GST_PAD (self), handle_event);
  return self;
}

GstPad *
replay_pad_request (GstElement *element, GstPadTemplate *from, GstBoxReplayPad **slot,
    const gboolean *started)
{
  GstBoxReplayPad *self = gst_object_ref_sink (pad_new (from));
  gboolean refused;

  GST_OBJECT_LOCK (element);
  refused = *started || *slot != NULL;
  if (!refused)
    *slot = self; /* takes the reference */
  GST_OBJECT_UNLOCK (element);
  if (refused) {
    GST_WARNING_OBJECT (element, "one pad can be requested, in the states NULL and READY");
    gst_object_unref (self);
    return NULL;
  }
  gst_pad_set_active (GST_PAD (self), TRUE);
  gst_element_add_pad (element, GST_PAD (self));
  return GST_PAD (self);
}

void
replay_pad_release (GstElement *element, GstPad *pad, GstBoxReplayPad **slot)
{
  GstBoxReplayPad *self = REPLAY_PAD (pad);

  g_mutex_lock (&self->lock);
  self->ended = self->finished = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  gst_pad_set_active (pad, FALSE);
  gst_element_remove_pad (element, pad);
  GST_OBJECT_LOCK (element);
  *slot = NULL;
  GST_OBJECT_UNLOCK (element);
  gst_object_unref (pad);
}

/* ------------------------------------------------------------------- the type */

GstPadTemplate *
replay_pad_template (void)
{
  return gst_pad_template_new_from_static_pad_template_with_gtype (&template, REPLAY_TYPE_PAD);
}

static void
replay_pad_finalize (GObject *object)
{
  GstBoxReplayPad *self = REPLAY_PAD (object);

  forget_lines (self);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  G_OBJECT_CLASS (replay_pad_parent_class)->finalize (object);
}

static void
replay_pad_class_init (GstBoxReplayPadClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = replay_pad_finalize;
}

static void
replay_pad_init (GstBoxReplayPad *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  g_queue_init (&self->lines);
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
}
