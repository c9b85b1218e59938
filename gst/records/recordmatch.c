/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordmatch: a short queue of records read ahead. Frames are reused, so that no
 * memory is allocated once the largest record has been read. */
#include "recordmatch.h"

#include "recordindex.h"

/* Limits how many records without a time, which only buffers without a time can
 * use, are read ahead in search of one with a time. */
#define MAX_AHEAD 1024

#define UNKNOWN_FRAME_DURATION (40 * GST_MSECOND)

struct _RecordMatch
{
  RecordReader *reader;
  RecordMatchBy by;
  gboolean skip_errors, loop;

  GPtrArray *queue;             /* of RecordedFrame: records read ahead */
  GPtrArray *spare;             /* of RecordedFrame: to be reused */
  RecordedFrame *current;       /* the record returned last */
  RecordedFrame *pending;       /* by time: the first record of the next session, or NULL */
  RecordIndex *index;           /* not used for a looped file or a pipe */
  gboolean started;             /* the file was read since it was opened or rewound */
  gboolean end;                 /* the file has no more records */
  gboolean seeking;             /* discarded records are not counted */
  gboolean reverse;             /* the stream is played in reverse */

  /* of the current session, by time */
  guint session;                /* counted from 0 in the order of the file */
  guint64 number;               /* as in the file */
  gboolean descending;          /* its times descend */
  gboolean searched;            /* last_key is valid */
  guint64 last_key;             /* of the time searched last */

  /* of the current pass; a looped file is read in several passes */
  guint64 time_offset, index_offset;
  guint64 first_time, last_time;        /* of the records with a time, time_offset included */
  guint64 timed;                /* number of records with a time */
  guint64 last_line;            /* line of the record at last_time */
  guint64 records;              /* number of records */
  guint64 skipped;              /* number of malformed lines */
  guint64 frame_duration;       /* as the caller states it; 0: unknown */

  RecordMatchCounts counts;
  gchar *first_skipped;
};

static void
frame_free (gpointer frame)
{
  recorded_frame_clear (frame);
  g_free (frame);
}

RecordMatch *
record_match_new (RecordReader * reader, RecordMatchBy by, gboolean skip_errors, gboolean loop)
{
  RecordMatch *self = g_new0 (RecordMatch, 1);

  self->reader = reader;
  self->by = by;
  self->skip_errors = skip_errors;
  self->loop = loop;
  self->index = record_index_new ();
  self->queue = g_ptr_array_new_with_free_func (frame_free);
  self->spare = g_ptr_array_new_with_free_func (frame_free);
  return self;
}

void
record_match_free (RecordMatch * self)
{
  if (self == NULL)
    return;
  record_reader_free (self->reader);
  record_index_free (self->index);
  if (self->pending)
    frame_free (self->pending);
  g_ptr_array_unref (self->queue);
  g_ptr_array_unref (self->spare);
  if (self->current)
    frame_free (self->current);
  g_free (self->first_skipped);
  g_free (self);
}

/* Returns record `i` of the queue. */
static RecordedFrame *
record (RecordMatch * self, guint i)
{
  return g_ptr_array_index (self->queue, i);
}

static RecordedFrame *
new_frame (RecordMatch * self)
{
  RecordedFrame *frame;

  if (self->spare->len > 0)
    return g_ptr_array_steal_index_fast (self->spare, self->spare->len - 1);
  frame = g_new0 (RecordedFrame, 1);
  recorded_frame_init (frame);
  return frame;
}

/* Keeps a frame for reuse. Four suffice, because two are in use by turns; only a
 * search beyond records without a time needs more. */
static void
recycle (RecordMatch * self, RecordedFrame * frame)
{
  if (frame && self->spare->len < 4)
    g_ptr_array_add (self->spare, frame);
  else if (frame)
    frame_free (frame);
}

/* Removes the first `count` records from the queue, and counts them as unmatched
 * unless the stream was seeked. */
static void
discard (RecordMatch * self, guint count)
{
  guint i;

  if (count == 0)
    return;
  for (i = 0; i < count; i++) {
    recycle (self, record (self, i));
    self->queue->pdata[i] = NULL;
  }
  g_ptr_array_set_free_func (self->queue, NULL);
  g_ptr_array_remove_range (self->queue, 0, count);
  g_ptr_array_set_free_func (self->queue, frame_free);
  if (!self->seeking)
    self->counts.unmatched += count;
}

/* Returns record `i` of the queue to the caller and discards those before it. */
static RecordMatchResult
use_record (RecordMatch * self, guint i, RecordedFrame ** frame)
{
  discard (self, i);
  recycle (self, self->current);
  self->current = g_ptr_array_steal_index (self->queue, 0);
  self->counts.matched++;
  *frame = self->current;
  return RECORD_MATCH_FOUND;
}

/* ------------------------------------------------------------------- reading */

static void
begin_pass (RecordMatch * self)
{
  self->timed = self->records = self->skipped = 0;
}

/* Skips passes of a looped file, like the one that just ended, and counts their
 * records and malformed lines as if they had been read. */
static void
skip_passes (RecordMatch * self, guint64 passes, guint64 length, guint64 frames)
{
  self->time_offset += passes * length;
  self->index_offset += passes * frames;
  if (!self->seeking)
    self->counts.unmatched += passes * self->records;
  self->counts.skipped += passes * self->skipped;
  record_reader_skip_passes (self->reader, passes);
}

/* Rewinds a looped file and continues times and indices behind its end. Goes to the
 * last pass that begins at or before `time` and, in frames, at or before `index`,
 * without reading those between. Returns FALSE if the file has no frames or cannot
 * be rewound. */
static gboolean
next_pass (RecordMatch * self, guint64 time, guint64 index, GError ** error)
{
  guint64 frames = record_reader_frames (self->reader);
  guint64 duration = self->frame_duration, length = 0;

  if (frames == 0)
    return FALSE;
  if (duration == 0 && self->timed > 1)
    duration = (self->last_time - self->first_time) / (self->timed - 1);
  if (duration == 0)
    duration = UNKNOWN_FRAME_DURATION;
  if (self->timed > 0)
    length = self->last_time - self->first_time + duration;
  self->time_offset += length;
  self->index_offset += frames;
  if (index > self->index_offset)
    skip_passes (self, (index - self->index_offset) / frames, length, frames);
  else if (length > 0 && time > self->first_time + length)
    skip_passes (self, (time - self->first_time - length) / length, length, frames);
  begin_pass (self);
  return record_reader_rewind (self->reader, error);
}

/* Returns the key of a time in the current session. */
static guint64
key (const RecordMatch * self, guint64 time)
{
  return record_index_key (self->descending, time);
}

static gboolean
in_order (RecordMatch * self, const RecordedFrame * frame, GError ** error)
{
  if (self->timed == 0 || key (self, frame->timestamp) >= key (self, self->last_time))
    return TRUE;
  g_set_error (error, RECORD_ERROR, RECORD_ERROR_MALFORMED, "%" G_GUINT64_FORMAT
      ": timestamp %" G_GUINT64_FORMAT " is %s %" G_GUINT64_FORMAT " of line %"
      G_GUINT64_FORMAT ", but records must be in order of time", frame->line,
      frame->timestamp - self->time_offset, self->descending ? "after" : "before",
      self->last_time - self->time_offset, self->last_line);
  return FALSE;
}

/* Begins the session of `frame`, the one after the current session or the first one. */
static void
begin_session (RecordMatch * self, const RecordedFrame * frame)
{
  self->number = frame->session;
  self->descending = frame->reverse;
  self->timed = 0;
}

/* Takes a record with a time, the newest one of the file. Returns FALSE and an error if
 * it cannot be used. Sets *next if it begins the next session. */
static gboolean
accept_time (RecordMatch * self, RecordedFrame * frame, gboolean * next, GError ** error)
{
  *next = FALSE;
  frame->timestamp += self->time_offset;
  if (self->by == RECORD_MATCH_TIMESTAMP) {
    gboolean other = self->number != frame->session || self->descending != frame->reverse;

    if (other && self->loop && self->timed > 0) {
      g_set_error (error, RECORD_ERROR, RECORD_ERROR_UNUSABLE, "%" G_GUINT64_FORMAT
          ": another session begins, but loop=true needs a recording of one session",
          frame->line);
      return FALSE;
    }
    if (other && (self->timed > 0 || self->queue->len > 0)) {
      *next = TRUE;
      return TRUE;
    }
    if (other)
      begin_session (self, frame);
    if (!in_order (self, frame, error))
      return FALSE;
  }
  if (self->timed++ == 0)
    self->first_time = frame->timestamp;
  self->last_time = frame->timestamp;
  self->last_line = frame->line;
  return TRUE;
}

/* Moves on to the next session, of which the first record was read. */
static void
enter_next_session (RecordMatch * self)
{
  RecordedFrame *frame = g_steal_pointer (&self->pending);

  begin_session (self, frame);
  self->session++;
  self->timed = 1;
  self->first_time = self->last_time = frame->timestamp;
  self->last_line = frame->line;
  g_ptr_array_add (self->queue, frame);
}

/* Reads one record into the queue. Returns RECORD_MATCH_FOUND, or RECORD_MATCH_NONE
 * at the end of the file or of the session, which sets `pending`. At the end of a looped
 * file, skips whole passes before `time` or before frame `index`, of which the caller sets
 * one and the other to 0. */
static RecordMatchResult
read_ahead (RecordMatch * self, guint64 time, guint64 index, GError ** error)
{
  RecordMatchResult result = RECORD_MATCH_NONE;
  guint64 offset_before = self->index_offset;
  gboolean passed = FALSE, next = FALSE;
  RecordedFrame *frame;

  if (self->pending)
    return RECORD_MATCH_NONE;
  frame = new_frame (self);
  while (!self->end) {
    GError *problem = NULL;

    self->started = TRUE;
    switch (record_reader_next (self->reader, frame, &problem)) {
      case RECORD_READER_FRAME:
        if (!self->loop)
          record_index_add (self->index, frame);
        if (frame->timestamp != RECORDED_FRAME_NO_TIME
            && !accept_time (self, frame, &next, &problem))
          break;
        if (next) {
          self->pending = frame;
          return RECORD_MATCH_NONE;
        }
        frame->index += self->index_offset;
        self->records++;
        g_ptr_array_add (self->queue, frame);
        return RECORD_MATCH_FOUND;
      case RECORD_READER_END:
        /* the second end in a row means that no record can be read */
        if (!self->loop || (passed && offset_before != self->index_offset)
            || !next_pass (self, time, index, &problem))
          self->end = TRUE;
        passed = TRUE;
        if (problem == NULL)
          continue;
        break;
      case RECORD_READER_FLUSHING:
        recycle (self, frame);
        return RECORD_MATCH_FLUSHING;
      case RECORD_READER_MALFORMED:
      case RECORD_READER_FAILED:
        break;
    }
    if (!self->skip_errors
        || !g_error_matches (problem, RECORD_ERROR, RECORD_ERROR_MALFORMED)) {
      g_propagate_error (error, problem);
      result = RECORD_MATCH_FAILED;
      break;
    }
    self->skipped++;
    if (self->counts.skipped++ == 0)
      self->first_skipped = g_strdup (problem->message);
    g_error_free (problem);
  }
  recycle (self, frame);
  return result;
}

RecordMatchResult
record_match_by (RecordMatch * self, RecordMatchBy * by, GError ** error)
{
  RecordMatchResult result;

  *by = self->by;
  if (self->by == RECORD_MATCH_INDEX || self->started) {
    /* AUTO is decided once; a file that was empty stays empty */
    return RECORD_MATCH_FOUND;
  }
  result = read_ahead (self, 0, 0, error);
  if (result == RECORD_MATCH_FLUSHING)
    self->started = FALSE;
  if (result != RECORD_MATCH_FOUND)
    return result == RECORD_MATCH_NONE ? RECORD_MATCH_FOUND : result;
  if (record (self, 0)->timestamp != RECORDED_FRAME_NO_TIME) {
    self->by = RECORD_MATCH_TIMESTAMP;
    self->number = record (self, 0)->session;
    self->descending = record (self, 0)->reverse;
  } else if (self->by == RECORD_MATCH_AUTO) {
    self->by = RECORD_MATCH_INDEX;
  } else {
    g_set_error (error, RECORD_ERROR, RECORD_ERROR_UNUSABLE, "%" G_GUINT64_FORMAT
        ": %s, so match=timestamp is impossible; match=index works", record (self, 0)->line,
        record_reader_format (self->reader) == RECORD_FORMAT_MOT ? "MOT text has no times" :
        "the first record has no timestamp");
    return RECORD_MATCH_FAILED;
  }
  *by = self->by;
  return RECORD_MATCH_FOUND;
}

/* ------------------------------------------------------------------- jumping */

/* Returns whether the records of a jump are found by the index. */
static gboolean
can_jump (RecordMatch * self)
{
  return !self->loop && record_reader_can_rewind (self->reader);
}

/* Forgets the records read ahead, because the reader goes elsewhere. */
static void
forget_queue (RecordMatch * self)
{
  discard (self, self->queue->len);
  recycle (self, g_steal_pointer (&self->pending));
  self->end = FALSE;
  begin_pass (self);
}

/* Reads a looped file again from its start. */
static RecordMatchResult
restart (RecordMatch * self, GError ** error)
{
  forget_queue (self);
  self->time_offset = self->index_offset = 0;
  return record_reader_rewind (self->reader, error) ? RECORD_MATCH_FOUND : RECORD_MATCH_FAILED;
}

/* Finds the place in the file for a jump. */
static RecordReaderResult
find_place (RecordMatch * self, const RecordJump * jump, RecordCheckpoint * place,
    GError ** error)
{
  RecordReaderResult result;
  RecordQuery query = {
    .time = jump->time,.slack = jump->slack,.session = self->session,.stay = jump->next,
    .reverse = jump->reverse,
  };

  query.back = !jump->next && (jump->reverse != self->descending
      || (self->searched && key (self, jump->time) <= self->last_key));
  if (self->by == RECORD_MATCH_INDEX)
    return record_index_find_index (self->index, self->reader, jump->index, place, error);
  result = record_index_find_time (self->index, self->reader, &query, place, error);
  self->session = query.session;
  return result;
}

/* Goes to the place in the file for a jump. */
static RecordMatchResult
go_to_place (RecordMatch * self, const RecordJump * jump, GError ** error)
{
  RecordCheckpoint place;
  RecordReaderResult result;

  forget_queue (self);
  result = find_place (self, jump, &place, error);
  self->searched = FALSE;
  if (result == RECORD_READER_FRAME && !record_reader_seek (self->reader, place.offset,
          place.line, place.index, error))
    result = RECORD_READER_FAILED;
  if (result == RECORD_READER_FRAME)
    return RECORD_MATCH_FOUND;
  return result == RECORD_READER_FLUSHING ? RECORD_MATCH_FLUSHING : RECORD_MATCH_FAILED;
}

/* ------------------------------------------------------------------ matching */

/* Goes back in the current session if the stream plays against its direction, or gives
 * buffers in decoding order. */
static RecordMatchResult
step_back (RecordMatch * self, guint64 time, GError ** error)
{
  const RecordJump jump = {.time = time,.reverse = self->reverse,.next = TRUE };

  if (!self->searched || key (self, time) >= self->last_key || !can_jump (self))
    return RECORD_MATCH_FOUND;
  self->seeking = TRUE;
  return go_to_place (self, &jump, error);
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
  self->frame_duration = frame_duration;
  for (;;) {
    RecordMatchResult result;
    guint i;

    before = after = -1;
    for (i = 0; i < self->queue->len && after < 0; i++) {
      guint64 at = record (self, i)->timestamp;

      if (at != RECORDED_FRAME_NO_TIME && key (self, at) <= key (self, time))
        before = i;
      else if (at != RECORDED_FRAME_NO_TIME)
        after = i;
    }
    if (before > 0) {
      /* drop the records before it, because it is nearer to every later buffer */
      discard (self, before);
      after = after < 0 ? after : after - before;
      before = 0;
    }
    if (after >= 0 || self->queue->len >= MAX_AHEAD
        || (before >= 0 && record (self, before)->timestamp == time))
      break;
    result = read_ahead (self, time, 0, error);
    if (result == RECORD_MATCH_NONE && self->pending
        && (before < 0 || distance (self, before, time) > tolerance)) {
      discard (self, self->queue->len);
      enter_next_session (self);
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
    discard (self, before + 1);
  self->last_key = key (self, time);
  self->searched = TRUE;
  self->seeking = FALSE;
  return best >= 0 ? RECORD_MATCH_FOUND : RECORD_MATCH_NONE;
}

RecordMatchResult
record_match_at_index (RecordMatch * self, guint64 index, RecordedFrame ** frame, GError ** error)
{
  RecordMatchResult result = RECORD_MATCH_FOUND;

  *frame = NULL;
  for (;;) {
    if (self->queue->len == 0)
      result = read_ahead (self, 0, index, error);
    if (result != RECORD_MATCH_FOUND || record (self, 0)->index >= index)
      break;
    discard (self, 1);
  }
  if (result == RECORD_MATCH_FLUSHING || result == RECORD_MATCH_FAILED)
    return result;
  self->seeking = FALSE;
  if (result == RECORD_MATCH_FOUND && record (self, 0)->index == index)
    return use_record (self, 0, frame);
  return RECORD_MATCH_NONE;
}

RecordMatchResult
record_match_take_next (RecordMatch * self, RecordedFrame ** frame, GError ** error)
{
  RecordMatchResult result = RECORD_MATCH_FOUND;

  *frame = NULL;
  if (self->queue->len == 0)
    result = read_ahead (self, 0, 0, error);
  if (result == RECORD_MATCH_NONE && self->pending) {
    enter_next_session (self);
    result = RECORD_MATCH_FOUND;
  }
  return result == RECORD_MATCH_FOUND ? use_record (self, 0, frame) : result;
}

void
record_match_skip_found (RecordMatch * self, const gchar * reason)
{
  self->counts.matched--;
  if (self->counts.skipped++ == 0)
    self->first_skipped = g_strdup (reason);
}

RecordMatchResult
record_match_jump (RecordMatch * self, const RecordJump * jump, GError ** error)
{
  self->seeking = TRUE;
  self->reverse = jump->reverse;
  if (!self->started)
    return RECORD_MATCH_FOUND;
  if (!can_jump (self))
    return jump->back ? restart (self, error) : RECORD_MATCH_FOUND;
  if (jump->next && self->by != RECORD_MATCH_INDEX)
    return RECORD_MATCH_FOUND;  /* record_match_at_time () steps back if it must */
  return go_to_place (self, jump, error);
}

void
record_match_finish (RecordMatch * self)
{
  if (self->loop) {
    self->seeking = TRUE;
    discard (self, self->queue->len);
    return;
  }
  self->seeking = self->reverse;
  discard (self, self->queue->len);
  if (self->pending && !self->reverse)
    self->counts.unmatched++;
  recycle (self, g_steal_pointer (&self->pending));
  if (!self->end && !self->reverse)
    self->counts.unmatched += record_reader_count_rest (self->reader);
  self->end = self->started = TRUE;
}

const RecordMatchCounts *
record_match_counts (RecordMatch * self)
{
  return &self->counts;
}

const gchar *
record_match_first_skipped (RecordMatch * self)
{
  return self->first_skipped;
}
