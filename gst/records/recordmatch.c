/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordmatch: compares times and indices of the records in a queue. */
#include "recordmatch.h"

/* Limits how many records without a time, which only buffers without a time can
 * use, are read ahead in search of one with a time. */
#define MAX_AHEAD 1024

struct _RecordMatch
{
  RecordQueue *queue;
  RecordMatchBy by;
  RecordedFrame *current;       /* the record returned last, or NULL */
  gboolean searched;            /* last_key is valid */
  guint64 last_key;             /* of the time searched last */
};

RecordMatch *
record_match_new (RecordReader * reader, RecordMatchBy by, gboolean skip_errors, gboolean loop)
{
  RecordMatch *self = g_new0 (RecordMatch, 1);

  self->queue = record_queue_new (reader, skip_errors, loop);
  self->queue->by_time = by == RECORD_MATCH_TIMESTAMP;
  self->by = by;
  return self;
}

void
record_match_free (RecordMatch * self)
{
  if (self == NULL)
    return;
  record_queue_recycle (self->queue, self->current);
  record_queue_free (self->queue);
  g_free (self);
}

/* Returns record `i` of the queue. */
static RecordedFrame *
record (RecordMatch * self, guint i)
{
  return record_queue_peek (self->queue, i);
}

/* Returns record `i` of the queue to the caller and discards those before it. */
static RecordMatchResult
use_record (RecordMatch * self, guint i, RecordedFrame ** frame)
{
  record_queue_discard (self->queue, i);
  record_queue_recycle (self->queue, self->current);
  self->current = *frame = record_queue_take (self->queue);
  self->queue->counts.matched++;
  return RECORD_MATCH_FOUND;
}

RecordMatchResult
record_match_by (RecordMatch * self, RecordMatchBy * by, GError ** error)
{
  RecordMatchResult result;

  *by = self->by;
  if (self->by == RECORD_MATCH_INDEX || self->queue->started) {
    /* AUTO is decided once; a file that was empty stays empty */
    return RECORD_MATCH_FOUND;
  }
  result = record_queue_read (self->queue, 0, 0, error);
  if (result != RECORD_MATCH_FOUND)
    return result == RECORD_MATCH_NONE ? RECORD_MATCH_FOUND : result;
  if (record (self, 0)->timestamp != RECORDED_FRAME_NO_TIME) {
    self->by = RECORD_MATCH_TIMESTAMP;
    self->queue->by_time = TRUE;
  } else if (self->by == RECORD_MATCH_AUTO) {
    self->by = RECORD_MATCH_INDEX;
  } else {
    g_set_error (error, RECORD_ERROR, RECORD_ERROR_UNUSABLE, "%" G_GUINT64_FORMAT
        ": %s, so match=timestamp is impossible; match=index works", record (self, 0)->line,
        record_reader_format (self->queue->reader) == RECORD_FORMAT_MOT ? "MOT text has no times" :
        "the first record has no timestamp");
    return RECORD_MATCH_FAILED;
  }
  *by = self->by;
  return RECORD_MATCH_FOUND;
}

/* ------------------------------------------------------------------ matching */

static RecordMatchResult
go_to (RecordMatch * self, const RecordJump * jump, gboolean back, GError ** error)
{
  self->searched = FALSE;
  return record_queue_go_to (self->queue, jump, back, error);
}

/* Goes back in the current session if the stream plays against its direction, or gives
 * buffers in decoding order. */
static RecordMatchResult
step_back (RecordMatch * self, guint64 time, GError ** error)
{
  const RecordJump jump = {.time = time,.reverse = self->queue->reverse,.next = TRUE };

  if (!self->searched || record_queue_key (self->queue, time) >= self->last_key
      || !record_queue_can_jump (self->queue))
    return RECORD_MATCH_FOUND;
  self->queue->seeking = TRUE;
  return go_to (self, &jump, FALSE, error);
}

/* Returns how far record `i` of the queue, which has a time, is from `time`. */
static guint64
distance (RecordMatch * self, guint i, guint64 time)
{
  guint64 at = record (self, i)->timestamp;

  return at > time ? at - time : time - at;
}

RecordMatchResult
record_match_at_time (RecordMatch * self, guint64 time, guint64 tolerance, guint64 frame_duration,
    RecordedFrame ** frame, GError ** error)
{
  gint before, after, best = -1;
  RecordMatchResult moved = step_back (self, time, error);

  *frame = NULL;
  if (moved != RECORD_MATCH_FOUND)
    return moved;
  self->queue->frame_duration = frame_duration;
  for (;;) {
    guint64 key = record_queue_key (self->queue, time);
    RecordMatchResult result;
    guint i;

    before = after = -1;
    for (i = 0; i < self->queue->frames->len && after < 0; i++) {
      guint64 at = record (self, i)->timestamp;

      if (at != RECORDED_FRAME_NO_TIME && record_queue_key (self->queue, at) <= key)
        before = i;
      else if (at != RECORDED_FRAME_NO_TIME)
        after = i;
    }
    if (before > 0) {
      /* drop the records before it, because it is nearer to every later buffer */
      record_queue_discard (self->queue, before);
      after = after < 0 ? after : after - before;
      before = 0;
    }
    if (after >= 0 || self->queue->frames->len >= MAX_AHEAD
        || (before >= 0 && record (self, before)->timestamp == time))
      break;
    result = record_queue_read (self->queue, time, 0, error);
    if (result == RECORD_MATCH_NONE && self->queue->pending
        && (before < 0 || distance (self, before, time) > tolerance)) {
      record_queue_next_session (self->queue);
      continue;
    }
    if (result == RECORD_MATCH_NONE)
      break;
    if (result != RECORD_MATCH_FOUND)
      return result;
  }

  if (before >= 0 && distance (self, before, time) <= tolerance)
    best = before;
  if (after >= 0 && distance (self, after, time) <= tolerance
      && (best < 0 || distance (self, after, time) < distance (self, best, time)))
    best = after;
  if (best >= 0)
    use_record (self, best, frame);
  else if (before >= 0)
    record_queue_discard (self->queue, before + 1);
  self->last_key = record_queue_key (self->queue, time);
  self->searched = TRUE;
  self->queue->seeking = FALSE;
  return best >= 0 ? RECORD_MATCH_FOUND : RECORD_MATCH_NONE;
}

RecordMatchResult
record_match_at_index (RecordMatch * self, guint64 index, RecordedFrame ** frame, GError ** error)
{
  RecordMatchResult result = RECORD_MATCH_FOUND;

  *frame = NULL;
  for (;;) {
    if (self->queue->frames->len == 0)
      result = record_queue_read (self->queue, 0, index, error);
    if (result != RECORD_MATCH_FOUND || record (self, 0)->index >= index)
      break;
    record_queue_discard (self->queue, 1);
  }
  if (result == RECORD_MATCH_FLUSHING || result == RECORD_MATCH_FAILED)
    return result;
  self->queue->seeking = FALSE;
  if (result == RECORD_MATCH_FOUND && record (self, 0)->index == index)
    return use_record (self, 0, frame);
  return RECORD_MATCH_NONE;
}

RecordMatchResult
record_match_take_next (RecordMatch * self, RecordedFrame ** frame, GError ** error)
{
  RecordMatchResult result = RECORD_MATCH_FOUND;

  *frame = NULL;
  if (self->queue->frames->len == 0)
    result = record_queue_read (self->queue, 0, 0, error);
  if (result == RECORD_MATCH_NONE && self->queue->pending) {
    record_queue_next_session (self->queue);
    result = RECORD_MATCH_FOUND;
  }
  return result == RECORD_MATCH_FOUND ? use_record (self, 0, frame) : result;
}

void
record_match_skip_found (RecordMatch * self, const gchar * reason)
{
  self->queue->counts.matched--;
  record_queue_count_skipped (self->queue, reason);
}

RecordMatchResult
record_match_jump (RecordMatch * self, const RecordJump * jump, GError ** error)
{
  RecordQueue *queue = self->queue;
  gboolean back = queue->descending != jump->reverse
      || (self->searched && record_queue_key (queue, jump->time) <= self->last_key);

  queue->seeking = TRUE;
  queue->reverse = jump->reverse;
  if (!queue->started)
    return RECORD_MATCH_FOUND;
  if (!record_queue_can_jump (queue))
    return jump->back ? record_queue_restart (queue, error) : RECORD_MATCH_FOUND;
  if (jump->next && queue->by_time)
    return RECORD_MATCH_FOUND;  /* record_match_at_time () steps back if it must */
  return go_to (self, jump, back, error);
}

void
record_match_finish (RecordMatch * self)
{
  record_queue_finish (self->queue);
}

const RecordMatchCounts *
record_match_counts (RecordMatch * self)
{
  return &self->queue->counts;
}

const gchar *
record_match_first_skipped (RecordMatch * self)
{
  return self->queue->first_skipped;
}
