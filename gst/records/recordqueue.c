/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordqueue: an array of frames. Frames are reused, so that no memory is allocated once
 * the largest record has been read. */
#include "recordqueue.h"

#define UNKNOWN_FRAME_DURATION (40 * GST_MSECOND)

static void
frame_free (gpointer frame)
{
  recorded_frame_clear (frame);
  g_free (frame);
}

RecordQueue *
record_queue_new (RecordReader *reader, gboolean skip_errors, gboolean loop)
{
  RecordQueue *self = g_new0 (RecordQueue, 1);

  self->reader = reader;
  self->skip_errors = skip_errors;
  self->loop = loop;
  self->index = record_index_new ();
  record_window_init (&self->window);
  self->frames = g_ptr_array_new_with_free_func (frame_free);
  self->spare = g_ptr_array_new_with_free_func (frame_free);
  return self;
}

/* Moves the records in the window to the end of the queue. */
static void
empty_window (RecordQueue *self)
{
  RecordWindow *window = &self->window;

  while (window->frames->len > 0)
    g_ptr_array_add (self->frames, g_ptr_array_steal_index (window->frames, 0));
  if (window->next)
    g_ptr_array_add (self->frames, window->next);
  record_window_reset (window);
}

void
record_queue_free (RecordQueue *self)
{
  if (self == NULL)
    return;
  record_reader_free (self->reader);
  record_index_free (self->index);
  if (self->pending)
    frame_free (self->pending);
  empty_window (self);
  record_window_clear (&self->window);
  g_ptr_array_unref (self->frames);
  g_ptr_array_unref (self->spare);
  g_free (self->first_skipped);
  g_free (self);
}

RecordedFrame *
record_queue_peek (const RecordQueue *self, guint i)
{
  return g_ptr_array_index (self->frames, i);
}

static RecordedFrame *
new_frame (RecordQueue *self)
{
  RecordedFrame *frame;

  if (self->spare->len > 0)
    return g_ptr_array_steal_index_fast (self->spare, self->spare->len - 1);
  frame = g_new0 (RecordedFrame, 1);
  recorded_frame_init (frame);
  return frame;
}

/* Keeps a frame for reuse. Four suffice, because two are used in turn; only a search
 * beyond records without a time needs more. */
RecordedFrame *
record_queue_take (RecordQueue *self)
{
  return g_ptr_array_steal_index (self->frames, 0);
}

void
record_queue_recycle (RecordQueue *self, RecordedFrame *frame)
{
  if (frame && self->spare->len < 4)
    g_ptr_array_add (self->spare, frame);
  else if (frame)
    frame_free (frame);
}

gboolean
record_queue_was_counted (const RecordQueue *self, const RecordedFrame *frame)
{
  return frame->timestamp != RECORDED_FRAME_NO_TIME
      && record_queue_key (self, frame->timestamp) < self->counted_key;
}

void
record_queue_discard (RecordQueue *self, guint count)
{
  guint i;

  if (count == 0)
    return;
  for (i = 0; i < count; i++) {
    if (!self->seeking && !record_queue_was_counted (self, record_queue_peek (self, i)))
      self->counts.unmatched++;
    record_queue_recycle (self, record_queue_peek (self, i));
    self->frames->pdata[i] = NULL;
  }
  g_ptr_array_set_free_func (self->frames, NULL);
  g_ptr_array_remove_range (self->frames, 0, count);
  g_ptr_array_set_free_func (self->frames, frame_free);
}

/* ------------------------------------------------------------------- reading */

static void
begin_pass (RecordQueue *self)
{
  self->timed = self->records = self->skipped = 0;
}

/* Skips passes of a looped file that equal the one that just ended, and counts their
 * records and malformed lines as if they had been read. */
static void
skip_passes (RecordQueue *self, guint64 passes, guint64 length, guint64 frames)
{
  self->time_offset += passes * length;
  self->index_offset += passes * frames;
  if (!self->seeking)
    self->counts.unmatched += passes * self->records;
  self->counts.skipped += passes * self->skipped;
  record_reader_skip_passes (self->reader, passes);
}

/* Rewinds a looped file and continues times and indices after its end. Goes to the
 * last pass that begins at or before `time` and, in frames, at or before `index`,
 * without reading those between. Returns FALSE if the file has no frames or cannot
 * be rewound. */
static gboolean
next_pass (RecordQueue *self, guint64 time, guint64 index, GError **error)
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

guint64
record_queue_key (const RecordQueue *self, guint64 time)
{
  return record_index_key (self->descending, time);
}

static gboolean
in_order (RecordQueue *self, const RecordedFrame *frame, GError **error)
{
  if (self->timed == 0
      || record_queue_key (self, frame->timestamp) >= record_queue_key (self, self->last_time))
    return TRUE;
  g_set_error (error, RECORD_ERROR, RECORD_ERROR_MALFORMED,
      "%" G_GUINT64_FORMAT ": timestamp %" G_GUINT64_FORMAT " is %s %" G_GUINT64_FORMAT
      " of line %" G_GUINT64_FORMAT
      ", but records must be in order of time (match=index ignores times)",
      frame->line, frame->timestamp - self->time_offset, self->descending ? "after" : "before",
      self->last_time - self->time_offset, self->last_line);
  return FALSE;
}

/* Begins the session of `frame`, the first record read of it. */
static void
begin_session (RecordQueue *self, const RecordedFrame *frame)
{
  if (self->number != frame->session || self->descending != frame->reverse)
    self->counted_key = 0;
  self->number = frame->session;
  self->descending = frame->reverse;
  self->timed = 0;
}

/* Takes a record with a time, the newest one of the file. Returns FALSE and an error if
 * it cannot be used. Sets *next if it begins the next session. */
static gboolean
accept_time (RecordQueue *self, RecordedFrame *frame, gboolean *next, GError **error)
{
  *next = self->by_time && self->timed > 0
      && (self->number != frame->session || self->descending != frame->reverse);
  if (*next && self->loop) {
    g_set_error (error, RECORD_ERROR, RECORD_ERROR_UNUSABLE,
        "%" G_GUINT64_FORMAT
        ": another session begins, but loop=true needs a recording of one session",
        frame->line);
    return FALSE;
  }
  if (*next)
    return TRUE;
  frame->timestamp += self->time_offset;
  if (self->timed == 0)
    begin_session (self, frame);
  if (self->by_time && !in_order (self, frame, error))
    return FALSE;
  if (self->timed++ == 0)
    self->first_time = frame->timestamp;
  self->last_time = frame->timestamp;
  self->last_line = frame->line;
  return TRUE;
}

void
record_queue_next_session (RecordQueue *self)
{
  RecordedFrame *frame = g_steal_pointer (&self->pending);

  record_queue_discard (self, self->frames->len);
  begin_session (self, frame);
  self->session++;
  self->timed = 1;
  self->first_time = self->last_time = frame->timestamp;
  self->last_line = frame->line;
  g_ptr_array_add (self->frames, frame);
}

void
record_queue_count_skipped (RecordQueue *self, const gchar *message)
{
  if (self->counts.skipped++ == 0)
    self->first_skipped = g_strdup (message);
}

/* Reads the next record of the file into *frame, which it may exchange. */
static RecordReaderResult
read_frame (RecordQueue *self, RecordedFrame **frame, GError **error)
{
  RecordReaderResult result = record_reader_next (self->reader, *frame, error);

  if (result == RECORD_READER_FRAME && record_queue_can_jump (self))
    record_index_add (self->index, *frame);
  return result;
}

/* Does the same in order of time. Lines that have not been written yet are not waited for, so
 * pipes and followed files are not sorted. */
static RecordReaderResult
read_in_order (RecordQueue *self, RecordedFrame **frame, GError **error)
{
  RecordWindow *window = &self->window;
  RecordedFrame *first;
  RecordReaderResult result = RECORD_READER_FRAME;

  if (!self->by_time || self->loop || record_reader_may_wait (self->reader))
    return read_frame (self, frame, error);
  while ((first = record_window_take (window)) == NULL) {
    if (window->next) {
      record_queue_recycle (self, *frame);
      *frame = g_steal_pointer (&window->next);
    } else if ((result = read_frame (self, frame, error)) != RECORD_READER_FRAME) {
      window->ended = result == RECORD_READER_END;
      if (!window->ended || window->frames->len == 0)
        return result;
      continue;
    }
    if (record_window_add (window, *frame) || window->next)
      *frame = new_frame (self);
    else
      return RECORD_READER_FRAME;
  }
  record_queue_recycle (self, *frame);
  *frame = first;
  return RECORD_READER_FRAME;
}

RecordMatchResult
record_queue_read (RecordQueue *self, guint64 time, guint64 index, GError **error)
{
  RecordMatchResult result = RECORD_MATCH_NONE;
  guint64 offset_before = self->index_offset;
  gboolean began = self->started, passed = FALSE, next = FALSE;
  RecordedFrame *frame;

  if (self->pending)
    return RECORD_MATCH_NONE;
  frame = new_frame (self);
  while (!self->end) {
    GError *problem = NULL;
    gboolean skip = self->skip_errors;

    self->started = TRUE;
    switch (read_in_order (self, &frame, &problem)) {
      case RECORD_READER_FRAME:
        if (frame->timestamp != RECORDED_FRAME_NO_TIME
            && !accept_time (self, frame, &next, &problem))
          break;
        if (next) {
          self->pending = frame;
          return RECORD_MATCH_NONE;
        }
        frame->index += self->index_offset;
        self->records++;
        g_ptr_array_add (self->frames, frame);
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
        self->started = began;
        record_queue_recycle (self, frame);
        return RECORD_MATCH_FLUSHING;
      case RECORD_READER_UNFINISHED:
        skip = TRUE;
        break;
      case RECORD_READER_MALFORMED:
      case RECORD_READER_FAILED:
        break;
    }
    if (!skip || !g_error_matches (problem, RECORD_ERROR, RECORD_ERROR_MALFORMED)) {
      g_propagate_error (error, problem);
      result = RECORD_MATCH_FAILED;
      break;
    }
    self->skipped++;
    record_queue_count_skipped (self, problem->message);
    g_error_free (problem);
  }
  record_queue_recycle (self, frame);
  return result;
}

/* ------------------------------------------------------------------- jumping */

gboolean
record_queue_can_jump (RecordQueue *self)
{
  return !self->loop && record_reader_can_rewind (self->reader);
}

/* Forgets the records read ahead, because reading goes on at another place. */
static void
forget_all (RecordQueue *self)
{
  empty_window (self);
  record_queue_discard (self, self->frames->len);
  record_queue_recycle (self, g_steal_pointer (&self->pending));
  self->end = FALSE;
  begin_pass (self);
}

RecordMatchResult
record_queue_restart (RecordQueue *self, GError **error)
{
  forget_all (self);
  self->time_offset = self->index_offset = 0;
  return record_reader_rewind (self->reader, error) ? RECORD_MATCH_FOUND : RECORD_MATCH_FAILED;
}

RecordMatchResult
record_queue_go_to (RecordQueue *self, const RecordJump *jump, gboolean back, GError **error)
{
  RecordQuery query = {
    .time = jump->time,
    .slack = jump->slack,
    .session = self->session,
    .stay = jump->next,
    .back = back,
    .reverse = jump->reverse,
  };
  RecordCheckpoint place;
  RecordReaderResult result;

  forget_all (self);
  if (self->by_time)
    result = record_index_find_time (self->index, self->reader, &query, &place, error);
  else
    result = record_index_find_index (self->index, self->reader, jump->index, &place, error);
  if (result == RECORD_READER_FLUSHING)
    return RECORD_MATCH_FLUSHING;
  if (result != RECORD_READER_FRAME
      || !record_reader_seek (self->reader, place.offset, place.line, place.index, error))
    return RECORD_MATCH_FAILED;
  self->session = query.session;
  return RECORD_MATCH_FOUND;
}

void
record_queue_finish (RecordQueue *self)
{
  const gboolean unread = !self->started && record_reader_can_rewind (self->reader);

  self->seeking = self->reverse || self->loop;
  if (self->pending)
    record_queue_next_session (self);
  empty_window (self);
  record_queue_discard (self, self->frames->len);
  if (self->loop)
    return;
  if (!self->reverse) /* also after the end was read, because the file may have grown */
    self->counts.unmatched += record_reader_count_rest (self->reader);
  /* a file of which no record was read is still at its start for the next stream */
  self->end = self->started = !(unread && record_reader_rewind (self->reader, NULL));
}
