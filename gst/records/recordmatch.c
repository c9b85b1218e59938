/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordmatch: a short queue of records read ahead. Frames are reused, so that no
 * memory is allocated once the largest record has been read. */
#include "recordmatch.h"

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
  gboolean started;             /* the file was read since it was opened or rewound */
  gboolean end;                 /* the file has no more records */
  gboolean seeking;             /* discarded records are not counted */

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

static gboolean
in_order (RecordMatch * self, const RecordedFrame * frame, GError ** error)
{
  if (self->by != RECORD_MATCH_TIMESTAMP || self->timed == 0 || frame->timestamp >= self->last_time)
    return TRUE;
  g_set_error (error, RECORD_ERROR, RECORD_ERROR_MALFORMED, "%" G_GUINT64_FORMAT
      ": timestamp %" G_GUINT64_FORMAT " is before %" G_GUINT64_FORMAT " of line %"
      G_GUINT64_FORMAT ", but records must be in order of time", frame->line,
      frame->timestamp - self->time_offset, self->last_time - self->time_offset, self->last_line);
  return FALSE;
}

/* Reads one record into the queue. Returns RECORD_MATCH_FOUND, or RECORD_MATCH_NONE
 * at the end of the file. At the end of a looped file, skips whole passes before
 * `time` or before frame `index`, of which the caller sets one and the other to 0. */
static RecordMatchResult
read_ahead (RecordMatch * self, guint64 time, guint64 index, GError ** error)
{
  RecordedFrame *frame = new_frame (self);
  RecordMatchResult result = RECORD_MATCH_NONE;
  guint64 offset_before = self->index_offset;
  gboolean passed = FALSE;

  while (!self->end) {
    GError *problem = NULL;

    self->started = TRUE;
    switch (record_reader_next (self->reader, frame, &problem)) {
      case RECORD_READER_FRAME:
        if (frame->timestamp != RECORDED_FRAME_NO_TIME) {
          frame->timestamp += self->time_offset;
          if (!in_order (self, frame, &problem))
            break;
          if (self->timed++ == 0)
            self->first_time = frame->timestamp;
          self->last_time = frame->timestamp;
          self->last_line = frame->line;
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

/* ------------------------------------------------------------------ matching */

RecordMatchResult
record_match_at_time (RecordMatch * self, guint64 time, guint64 tolerance, guint64 frame_duration,
    RecordedFrame ** frame, GError ** error)
{
  gint before, after, best = -1;

  *frame = NULL;
  self->frame_duration = frame_duration;
  for (;;) {
    RecordMatchResult result;
    guint i;

    before = after = -1;
    for (i = 0; i < self->queue->len && after < 0; i++) {
      guint64 at = record (self, i)->timestamp;

      if (at != RECORDED_FRAME_NO_TIME && at <= time)
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
    if (result == RECORD_MATCH_NONE)
      break;
    if (result != RECORD_MATCH_FOUND)
      return result;
  }

  if (before >= 0 && time - record (self, before)->timestamp <= tolerance)
    best = before;
  if (after >= 0 && record (self, after)->timestamp - time <= tolerance
      && (best < 0 || record (self, after)->timestamp - time <
          time - record (self, best)->timestamp))
    best = after;
  if (best >= 0)
    use_record (self, best, frame);
  else if (before >= 0)
    discard (self, before + 1);
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
  return result == RECORD_MATCH_FOUND ? use_record (self, 0, frame) : result;
}

void
record_match_skip_found (RecordMatch * self, const gchar * reason)
{
  self->counts.matched--;
  if (self->counts.skipped++ == 0)
    self->first_skipped = g_strdup (reason);
}

gboolean
record_match_restart (RecordMatch * self, GError ** error)
{
  self->seeking = TRUE;
  if (!self->started)
    return TRUE;
  if (!record_reader_rewind (self->reader, error))
    return FALSE;
  discard (self, self->queue->len);
  self->end = FALSE;
  self->time_offset = self->index_offset = 0;
  begin_pass (self);
  return TRUE;
}

void
record_match_begin_seek (RecordMatch * self)
{
  self->seeking = TRUE;
}

void
record_match_finish (RecordMatch * self)
{
  self->seeking = FALSE;
  if (self->loop) {
    self->seeking = TRUE;
    discard (self, self->queue->len);
    return;
  }
  discard (self, self->queue->len);
  if (!self->end)
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
