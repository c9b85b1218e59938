/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordmatch: compares times and indices of the records in a queue. */
#include "recordmatch.h"

/* Limits how many records without a time, which only buffers without a time can
 * use, are read ahead in search of one with a time. */
#define MAX_AHEAD 1024

#define UNKNOWN_FRAME_DURATION (40 * GST_MSECOND)

struct _RecordMatch
{
  RecordQueue *queue;
  RecordMatchBy by;
  RecordedFrame *current; /* the record returned last, or NULL */
  gboolean searched;      /* last_key is valid */
  guint64 last_key;       /* of the time searched last */
  gboolean holding;       /* `current` may be given to further buffers */
  gboolean held;          /* `current` was returned last as a held record */
};

RecordMatch *
record_match_new (RecordReader *reader, RecordMatchBy by, gboolean skip_errors, gboolean loop)
{
  RecordMatch *self = g_new0 (RecordMatch, 1);

  self->queue = record_queue_new (reader, skip_errors, loop);
  self->queue->by_time = by == RECORD_MATCH_TIMESTAMP;
  self->by = by;
  return self;
}

void
record_match_free (RecordMatch *self)
{
  if (self == NULL)
    return;
  record_queue_recycle (self->queue, self->current);
  record_queue_free (self->queue);
  g_free (self);
}

/* Returns record `i` of the queue. */
static RecordedFrame *
record (RecordMatch *self, guint i)
{
  return record_queue_peek (self->queue, i);
}

/* Returns record `i` of the queue to the caller and discards those before it. */
static RecordMatchResult
use_record (RecordMatch *self, guint i, RecordedFrame **frame)
{
  record_queue_discard (self->queue, i);
  record_queue_recycle (self->queue, self->current);
  self->current = *frame = record_queue_take (self->queue);
  self->holding = self->current->timestamp != RECORDED_FRAME_NO_TIME;
  self->held = FALSE;
  return RECORD_MATCH_FOUND;
}

/* Reads one record, as record_queue_read () does; RECORD_MATCH_NONE at the deadline. */
static RecordMatchResult
read_record (RecordMatch *self, guint64 time, guint64 index, GError **error)
{
  RecordMatchResult result = record_queue_read (self->queue, time, index, error);

  if (result == RECORD_MATCH_FLUSHING && record_reader_is_late (self->queue->reader))
    return RECORD_MATCH_NONE;
  return result;
}

void
record_match_set_deadline (RecordMatch *self, gint64 deadline)
{
  record_reader_set_deadline (self->queue->reader, deadline);
}

RecordMatchResult
record_match_by (RecordMatch *self, RecordMatchBy *by, GError **error)
{
  RecordMatchResult result;

  *by = self->by;
  if (self->by == RECORD_MATCH_INDEX || self->queue->started) {
    /* AUTO is decided once; a file that was empty stays empty */
    return RECORD_MATCH_FOUND;
  }
  result = read_record (self, 0, 0, error);
  if (result != RECORD_MATCH_FOUND)
    return result == RECORD_MATCH_NONE ? RECORD_MATCH_FOUND : result;
  if (record (self, 0)->timestamp != RECORDED_FRAME_NO_TIME) {
    self->by = RECORD_MATCH_TIMESTAMP;
    self->queue->by_time = TRUE;
  } else if (self->by == RECORD_MATCH_AUTO) {
    self->by = RECORD_MATCH_INDEX;
  } else {
    g_set_error (error, RECORD_ERROR, RECORD_ERROR_UNUSABLE,
        "%" G_GUINT64_FORMAT ": %s, so match=timestamp is impossible; match=index works",
        record (self, 0)->line,
        record_reader_format (self->queue->reader) == RECORD_FORMAT_MOT
            ? "MOT text has no times"
            : "the first record has no timestamp");
    return RECORD_MATCH_FAILED;
  }
  *by = self->by;
  return RECORD_MATCH_FOUND;
}

/* ------------------------------------------------------------------ matching */

static RecordMatchResult
go_to (RecordMatch *self, const RecordJump *jump, gboolean back, GError **error)
{
  self->searched = self->holding = FALSE;
  return record_queue_go_to (self->queue, jump, back, error);
}

/* Goes back in the current session if the stream plays against its direction, or gives
 * buffers in decoding order. */
static RecordMatchResult
step_back (RecordMatch *self, guint64 time, GError **error)
{
  const RecordJump jump = { .time = time, .reverse = self->queue->reverse, .next = TRUE };

  if (!self->searched || record_queue_key (self->queue, time) >= self->last_key
      || !record_queue_can_jump (self->queue))
    return RECORD_MATCH_FOUND;
  self->queue->seeking = TRUE;
  self->queue->counted_key = MAX (self->queue->counted_key, self->last_key + 1);
  return go_to (self, &jump, FALSE, error);
}

/* Returns how far record `i` of the queue, which has a time, is from `time`. */
static guint64
distance (RecordMatch *self, guint i, guint64 time)
{
  guint64 at = record (self, i)->timestamp;

  return at > time ? at - time : time - at;
}

/* Returns the distance, in ns before the time, within which a record is taken without reading
 * the next one, because reading may wait for the next frame. 0 if reading never waits. */
static guint64
get_shortcut (RecordMatch *self, const RecordSearch *search)
{
  guint64 duration = search->frame_duration > 0 ? search->frame_duration : UNKNOWN_FRAME_DURATION;

  if (!record_reader_may_wait (self->queue->reader))
    return 0;
  return MIN (search->tolerance, duration / 4);
}

/* Finds the last record of the queue at or before the time and the first one after it. Reads
 * until both are there or it is certain which one is used. Sets an index to -1 if the queue
 * lacks that record. */
static RecordMatchResult
find_neighbors (RecordMatch *self, const RecordSearch *search, gint *before_found,
    gint *after_found, GError **error)
{
  const guint64 time = search->time, shortcut = get_shortcut (self, search);
  gint before, after;

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
    *before_found = before;
    *after_found = after;
    if (after >= 0 || self->queue->frames->len >= MAX_AHEAD
        || (before >= 0 && distance (self, before, time) <= shortcut))
      return RECORD_MATCH_FOUND;
    result = read_record (self, time, 0, error);
    if (result == RECORD_MATCH_NONE && self->queue->pending
        && (before < 0 || distance (self, before, time) > search->tolerance)) {
      record_queue_next_session (self->queue);
      self->holding = FALSE;
      continue;
    }
    if (result != RECORD_MATCH_FOUND)
      return result == RECORD_MATCH_NONE ? RECORD_MATCH_FOUND : result;
  }
}

/* Returns whether the record returned last is before the time and not older than `hold`. */
static gboolean
is_young (RecordMatch *self, const RecordSearch *search)
{
  guint64 now = record_queue_key (self->queue, search->time);
  guint64 then = record_queue_key (self->queue, self->current->timestamp);

  return search->hold > 0 && then <= now && now - then <= search->hold;
}

/* Returns the record before the time, if it is held for this buffer. It is in the queue or was
 * returned last. */
static RecordMatchResult
hold_record (RecordMatch *self, const RecordSearch *search, gint before, RecordedFrame **frame)
{
  if (before >= 0 && distance (self, before, search->time) > search->hold) {
    record_queue_discard (self->queue, before + 1);
    self->holding = FALSE;
  } else if (before >= 0) {
    use_record (self, before, frame);
  }
  if (!self->holding || !is_young (self, search))
    return RECORD_MATCH_NONE;
  *frame = self->current;
  self->held = TRUE;
  self->queue->counts.held++;
  return RECORD_MATCH_FOUND;
}

/* Counts the record that was found by time as matched. In decoding order, an earlier search
 * for a later time may have counted it as unmatched. */
static void
count_match (RecordMatch *self)
{
  RecordQueue *queue = self->queue;

  queue->counts.matched++;
  if (queue->reverse == queue->descending && queue->counts.unmatched > 0
      && record_queue_was_counted (queue, self->current))
    queue->counts.unmatched--;
}

RecordMatchResult
record_match_at_time (RecordMatch *self, const RecordSearch *search, RecordedFrame **frame,
    GError **error)
{
  gint before = -1, after = -1, best = -1;
  RecordMatchResult result = step_back (self, search->time, error);

  *frame = NULL;
  self->queue->frame_duration = search->frame_duration;
  if (result == RECORD_MATCH_FOUND)
    result = find_neighbors (self, search, &before, &after, error);
  if (result != RECORD_MATCH_FOUND)
    return result;
  if (before >= 0 && distance (self, before, search->time) <= search->tolerance)
    best = before;
  if (after >= 0 && distance (self, after, search->time) <= search->tolerance
      && (best < 0 || distance (self, after, search->time) < distance (self, best, search->time)))
    best = after;
  if (best >= 0) {
    use_record (self, best, frame);
    count_match (self);
  } else {
    result = hold_record (self, search, before, frame);
  }
  self->last_key = record_queue_key (self->queue, search->time);
  self->searched = TRUE;
  self->queue->seeking = FALSE;
  return result;
}

RecordMatchResult
record_match_at_index (RecordMatch *self, guint64 index, RecordedFrame **frame, GError **error)
{
  RecordMatchResult result = RECORD_MATCH_FOUND;

  *frame = NULL;
  for (;;) {
    if (self->queue->frames->len == 0)
      result = read_record (self, 0, index, error);
    if (result != RECORD_MATCH_FOUND || record (self, 0)->index >= index)
      break;
    record_queue_discard (self->queue, 1);
  }
  if (result == RECORD_MATCH_FLUSHING || result == RECORD_MATCH_FAILED)
    return result;
  self->queue->seeking = FALSE;
  if (result == RECORD_MATCH_NONE || record (self, 0)->index != index)
    return RECORD_MATCH_NONE;
  self->queue->counts.matched++;
  return use_record (self, 0, frame);
}

RecordMatchResult
record_match_take_next (RecordMatch *self, RecordedFrame **frame, GError **error)
{
  RecordMatchResult result = RECORD_MATCH_FOUND;

  *frame = NULL;
  if (self->queue->frames->len == 0)
    result = read_record (self, 0, 0, error);
  if (result == RECORD_MATCH_NONE && self->queue->pending) {
    record_queue_next_session (self->queue);
    result = RECORD_MATCH_FOUND;
  }
  if (result != RECORD_MATCH_FOUND)
    return result;
  self->queue->counts.matched++;
  return use_record (self, 0, frame);
}

void
record_match_skip_found (RecordMatch *self, const gchar *reason)
{
  self->holding = FALSE;
  if (self->held)
    self->queue->counts.held--;
  else
    self->queue->counts.matched--;
  record_queue_count_skipped (self->queue, reason);
}

static RecordMatchResult
start_again (RecordMatch *self, GError **error)
{
  self->searched = self->holding = FALSE;
  return record_queue_restart (self->queue, error);
}

RecordMatchResult
record_match_jump (RecordMatch *self, const RecordJump *jump, GError **error)
{
  RecordQueue *queue = self->queue;
  gboolean back = queue->descending != jump->reverse
      || (self->searched && record_queue_key (queue, jump->time) <= self->last_key);

  queue->seeking = TRUE;
  queue->reverse = jump->reverse;
  queue->counted_key = 0;
  if (!queue->started)
    return RECORD_MATCH_FOUND;
  if (!record_queue_can_jump (queue))
    return jump->back ? start_again (self, error) : RECORD_MATCH_FOUND;
  if (jump->next && queue->by_time)
    return RECORD_MATCH_FOUND; /* record_match_at_time () steps back if it must */
  return go_to (self, jump, back, error);
}

void
record_match_finish (RecordMatch *self)
{
  record_queue_finish (self->queue);
}

const RecordMatchCounts *
record_match_counts (RecordMatch *self)
{
  return &self->queue->counts;
}

const gchar *
record_match_first_skipped (RecordMatch *self)
{
  return self->queue->first_skipped;
}
