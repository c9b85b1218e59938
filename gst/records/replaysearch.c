/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replaysearch: one function for each place of records, and what they share. */
#include "replaysearch.h"

#include <string.h>

#include "linemeta.h"
#include "replayopen.h"

/* Returns whether boxes come as text, not from the location. */
static gboolean
takes_text (const ReplaySearch *self)
{
  return self->pad || self->settings->line_meta;
}

const gchar *
replay_search_source (const ReplaySearch *self)
{
  if (self->settings->line_meta)
    return "metadata of buffers";
  return self->pad ? "pad boxes" : self->settings->location;
}

void
replay_search_init (ReplaySearch *self, GstElement *element, const ReplaySettings *settings)
{
  *self = (ReplaySearch) { .element = element, .settings = settings };
  replay_text_init (&self->text);
}

void
replay_search_clear (ReplaySearch *self)
{
  replay_text_clear (&self->text);
}

void
replay_search_start (ReplaySearch *self, GstBoxReplayPad *pad, LabelTable *labels)
{
  self->pad = pad;
  self->frame = NULL;
  stream_position_init (&self->position);
  replay_text_start (&self->text, self->settings->on_error == REPLAY_ON_ERROR_SKIP,
      self->settings->max_line, labels);
  if (pad)
    replay_pad_start (pad, &self->text);
}

void
replay_search_stop (ReplaySearch *self)
{
  g_clear_pointer (&self->match, record_match_free);
  self->pad = NULL;
  self->frame = NULL;
}

gboolean
replay_search_is_open (const ReplaySearch *self)
{
  return self->match || takes_text (self);
}

/* Posts an error of the recording, frees it and returns GST_FLOW_ERROR. */
static GstFlowReturn
source_failed (ReplaySearch *self, GError *error)
{
  replay_open_failed (self->element, replay_search_source (self), error);
  return GST_FLOW_ERROR;
}

/* Posts and frees the error if the search failed. */
static GstFlowReturn
flow_of (ReplaySearch *self, RecordMatchResult result, GError *error)
{
  if (result == RECORD_MATCH_FAILED)
    return source_failed (self, error);
  return result == RECORD_MATCH_FLUSHING ? GST_FLOW_FLUSHING : GST_FLOW_OK;
}

/* Returns the largest distance, in ns, between a buffer and its record. */
static guint64
get_tolerance (ReplaySearch *self, const StreamPositionStep *step)
{
  guint64 tolerance;

  GST_OBJECT_LOCK (self->element);
  tolerance = self->settings->tolerance;
  GST_OBJECT_UNLOCK (self->element);
  return tolerance > 0 ? tolerance : stream_position_half_frame (step);
}

/* Returns the longest time, in ns, that the buffer waits for its record. */
static GstClockTime
get_patience (ReplaySearch *self)
{
  GstClockTime patience;

  GST_OBJECT_LOCK (self->element);
  patience = self->settings->boxes_timeout;
  GST_OBJECT_UNLOCK (self->element);
  return patience;
}

/* Returns the time at which a wait of `patience` ns that begins now ends; 0: never. */
static gint64
deadline_of (GstClockTime patience)
{
  return GST_CLOCK_TIME_IS_VALID (patience)
      ? g_get_monotonic_time () + (gint64) (patience / GST_USECOND)
      : 0;
}

/* Follows a jump of the stream in the recording. */
static GstFlowReturn
follow_jump (ReplaySearch *self, const GstSegment *segment, const StreamPositionStep *step)
{
  RecordMatchResult result;
  GError *error = NULL;

  if (step->index_unknown) {
    GST_ELEMENT_ERROR (self->element, STREAM, FAILED,
        ("Cannot compute the index of the frame "
         "after a seek: match=index needs a frame rate in the caps or durations"),
        (NULL));
    return GST_FLOW_ERROR;
  }
  GST_LOG_OBJECT (self->element, "jump to %" GST_TIME_FORMAT, GST_TIME_ARGS (step->time));
  result = record_match_jump (self->match, step->rewound, segment->rate < 0, &error);
  if (result != RECORD_MATCH_FAILED)
    return flow_of (self, result, NULL);
  replay_open_seek_failed (self->element, self->settings->location, error);
  return GST_FLOW_ERROR;
}

/* Sets self->frame to the record of the buffer, or to NULL if it has none. A buffer that
 * is outside of its segment has none and does not move the search, because sinks drop it. */
static GstFlowReturn
find_record (ReplaySearch *self, const GstSegment *segment, GstBuffer *buffer)
{
  RecordMatchBy by;
  StreamPositionStep step;
  GstFlowReturn flow;
  GError *error = NULL;
  RecordMatchResult result;

  if (stream_position_is_outside (segment, buffer))
    return GST_FLOW_OK;
  record_match_set_deadline (self->match, deadline_of (get_patience (self)));
  result = record_match_by (self->match, &by, &error);
  if (result == RECORD_MATCH_FOUND) {
    step = stream_position_step (&self->position, segment, buffer, by == RECORD_MATCH_INDEX);
    if (step.jumped && (flow = follow_jump (self, segment, &step)) != GST_FLOW_OK)
      return flow;
    if (by == RECORD_MATCH_AUTO) {
      result = RECORD_MATCH_NONE;
    } else if (by == RECORD_MATCH_INDEX) {
      result = record_match_at_index (self->match, self->position.index, &self->frame, &error);
    } else if (GST_CLOCK_TIME_IS_VALID (step.time)) {
      RecordSearch search = {
        .time = step.time,
        .tolerance = get_tolerance (self, &step),
        .frame_duration = step.duration,
      };

      GST_OBJECT_LOCK (self->element);
      search.hold = self->settings->hold;
      GST_OBJECT_UNLOCK (self->element);
      result = record_match_at_time (self->match, &search, &self->frame, &error);
    } else {
      result = record_match_take_next (self->match, &self->frame, &error);
    }
    if (result == RECORD_MATCH_FOUND || result == RECORD_MATCH_NONE)
      self->position.index++;
  }
  return flow_of (self, result, error);
}

/* Does the same with the text of the pad boxes. */
static GstFlowReturn
find_text (ReplaySearch *self, const GstSegment *segment, GstBuffer *buffer)
{
  GstClockTime time = replay_pad_time (segment, buffer);
  GError *error = NULL;
  RecordMatchResult result;
  StreamPositionStep step;

  if (!GST_CLOCK_TIME_IS_VALID (time))
    return GST_FLOW_OK;
  step = stream_position_step (&self->position, segment, buffer, FALSE);
  result = replay_pad_find (self->pad, time, get_tolerance (self, &step),
      deadline_of (get_patience (self)), &self->frame, &error);
  return flow_of (self, result, error);
}

/* Does the same with the text in the metadata of the buffer. */
static GstFlowReturn
take_line (ReplaySearch *self, const GstSegment *segment, GstBuffer *buffer)
{
  const gchar *line = line_meta_get (buffer);
  RecordMatchResult result = RECORD_MATCH_NONE;
  GError *error = NULL;

  stream_position_step (&self->position, segment, buffer, FALSE);
  if (line)
    result = replay_text_parse (&self->text, line, strlen (line), replay_pad_time (segment, buffer),
        &self->frame, &error);
  return flow_of (self, result, error);
}

/* Fits the boxes of the record to the frame size of the caps. */
static GstFlowReturn
fit_record (ReplaySearch *self)
{
  GError *error = NULL;
  guint64 line;

  if (self->frame == NULL
      || recorded_frame_fit (self->frame, self->position.width, self->position.height, &error))
    return GST_FLOW_OK;
  line = takes_text (self) ? 0 : record_match_line (self->match);
  self->frame = NULL;
  if (takes_text (self))
    replay_text_prefix_error (&self->text, &error);
  else
    g_prefix_error (&error, "%" G_GUINT64_FORMAT ": ", line);
  if (self->settings->on_error == REPLAY_ON_ERROR_FAIL)
    return source_failed (self, error);
  if (takes_text (self))
    replay_text_skip_found (&self->text, error->message);
  else
    record_match_skip_found (self->match, error->message);
  g_error_free (error);
  return GST_FLOW_OK;
}

GstFlowReturn
replay_search_find (ReplaySearch *self, const GstSegment *segment, GstBuffer *buffer)
{
  GstFlowReturn flow;

  self->frame = NULL;
  if (self->settings->line_meta)
    flow = take_line (self, segment, buffer);
  else if (self->pad)
    flow = find_text (self, segment, buffer);
  else
    flow = find_record (self, segment, buffer);
  return flow == GST_FLOW_OK ? fit_record (self) : flow;
}

void
replay_search_finish (ReplaySearch *self)
{
  if (self->pad)
    replay_pad_finish (self->pad);
  else if (self->match)
    record_match_finish (self->match);
}

const RecordMatchCounts *
replay_search_counts (ReplaySearch *self)
{
  return takes_text (self) ? &self->text.counts : record_match_counts (self->match);
}

const gchar *
replay_search_first_skipped (ReplaySearch *self)
{
  return takes_text (self) ? self->text.first_skipped : record_match_first_skipped (self->match);
}
