/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxmatch: a short queue of records read ahead; frames are recycled, so that
 * nothing is allocated once the largest one has come. */
#include "recordmatch.h"

/* Records without a time, which only frames without one may use, are read
 * beyond in search of one that has a time; not farther than this. */
#define MAX_AHEAD 1024

#define UNKNOWN_FRAME_DURATION (40 * GST_MSECOND)

struct _BoxMatch
{
  BoxFile *file;
  BoxMatchBy by;
  gboolean skip_errors, loop;

  GPtrArray *queue;             /* of BoxFrame: read ahead */
  GPtrArray *spare;
  BoxFrame *current;            /* the one given out last */
  gboolean touched;             /* something was read since the (re)start */
  gboolean end;
  gboolean seeking;

  /* of the pass under way; a pass is one reading of a file that loops */
  guint64 time_offset, index_offset;
  guint64 first_time, last_time;        /* of records with a time, offset included */
  guint64 timed;
  guint64 last_line;            /* of the record with last_time */
  guint64 frame_duration;

  BoxMatchCounts counts;
  gchar *first_skipped;
};

static void
frame_free (gpointer frame)
{
  box_frame_clear (frame);
  g_free (frame);
}

BoxMatch *
box_match_new (BoxFile * file, BoxMatchBy by, gboolean skip_errors, gboolean loop)
{
  BoxMatch *self = g_new0 (BoxMatch, 1);

  self->file = file;
  self->by = by;
  self->skip_errors = skip_errors;
  self->loop = loop;
  self->queue = g_ptr_array_new_with_free_func (frame_free);
  self->spare = g_ptr_array_new_with_free_func (frame_free);
  return self;
}

void
box_match_free (BoxMatch * self)
{
  if (self == NULL)
    return;
  box_file_free (self->file);
  g_ptr_array_unref (self->queue);
  g_ptr_array_unref (self->spare);
  if (self->current)
    frame_free (self->current);
  g_free (self->first_skipped);
  g_free (self);
}

static BoxFrame *
record (BoxMatch * self, guint i)
{
  return g_ptr_array_index (self->queue, i);
}

static BoxFrame *
new_frame (BoxMatch * self)
{
  BoxFrame *frame;

  if (self->spare->len > 0)
    return g_ptr_array_steal_index_fast (self->spare, self->spare->len - 1);
  frame = g_new0 (BoxFrame, 1);
  box_frame_init (frame);
  return frame;
}

/* Two are in use in turn; more were needed for records without a time. */
static void
recycle (BoxMatch * self, BoxFrame * frame)
{
  if (frame && self->spare->len < 4)
    g_ptr_array_add (self->spare, frame);
  else if (frame)
    frame_free (frame);
}

/* Drops the first `count` records, unused. */
static void
pass_over (BoxMatch * self, guint count)
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

static BoxMatchResult
give (BoxMatch * self, guint i, BoxFrame ** frame)
{
  pass_over (self, i);
  recycle (self, self->current);
  self->current = g_ptr_array_steal_index (self->queue, 0);
  self->counts.matched++;
  *frame = self->current;
  return BOX_MATCH_FOUND;
}

/* ------------------------------------------------------------------- reading */

/* Starts the file again behind its own end. FALSE: there is nothing in it. */
static gboolean
next_pass (BoxMatch * self, GError ** error)
{
  guint64 frames = box_file_frames (self->file);
  guint64 duration = self->frame_duration;

  if (frames == 0 || !box_file_rewind (self->file, error))
    return FALSE;
  if (duration == 0 && self->timed > 1)
    duration = (self->last_time - self->first_time) / (self->timed - 1);
  if (duration == 0)
    duration = UNKNOWN_FRAME_DURATION;
  if (self->timed > 0)
    self->time_offset += self->last_time - self->first_time + duration;
  self->index_offset += frames;
  self->timed = 0;
  return TRUE;
}

static gboolean
in_order (BoxMatch * self, const BoxFrame * frame, GError ** error)
{
  if (self->by != BOX_MATCH_TIMESTAMP || self->timed == 0 || frame->timestamp >= self->last_time)
    return TRUE;
  g_set_error (error, BOX_FILE_ERROR, BOX_FILE_ERROR_MALFORMED, "%" G_GUINT64_FORMAT
      ": timestamp %" G_GUINT64_FORMAT " is before %" G_GUINT64_FORMAT " of line %"
      G_GUINT64_FORMAT ", but records must be in order of time", frame->line,
      frame->timestamp - self->time_offset, self->last_time - self->time_offset, self->last_line);
  return FALSE;
}

/* Reads one record into the queue. BOX_MATCH_FOUND: it did, BOX_MATCH_NONE:
 * the file has no more. */
static BoxMatchResult
read_ahead (BoxMatch * self, GError ** error)
{
  BoxFrame *frame = new_frame (self);
  BoxMatchResult result = BOX_MATCH_NONE;
  guint64 had = self->index_offset;
  gboolean passed = FALSE;

  while (!self->end) {
    GError *problem = NULL;

    self->touched = TRUE;
    switch (box_file_next (self->file, frame, &problem)) {
      case BOX_FILE_FRAME:
        if (frame->timestamp != BOX_NO_TIME) {
          frame->timestamp += self->time_offset;
          if (!in_order (self, frame, &problem))
            break;
          if (self->timed++ == 0)
            self->first_time = frame->timestamp;
          self->last_time = frame->timestamp;
          self->last_line = frame->line;
        }
        frame->index += self->index_offset;
        g_ptr_array_add (self->queue, frame);
        return BOX_MATCH_FOUND;
      case BOX_FILE_END:
        /* a second end without a record between: it has none to give */
        if (!self->loop || (passed && had != self->index_offset)
            || !next_pass (self, &problem))
          self->end = TRUE;
        passed = TRUE;
        if (problem == NULL)
          continue;
        break;
      case BOX_FILE_FLUSHING:
        recycle (self, frame);
        return BOX_MATCH_FLUSHING;
      case BOX_FILE_MALFORMED:
      case BOX_FILE_FAILED:
        break;
    }
    if (!self->skip_errors
        || !g_error_matches (problem, BOX_FILE_ERROR, BOX_FILE_ERROR_MALFORMED)) {
      g_propagate_error (error, problem);
      result = BOX_MATCH_FAILED;
      break;
    }
    if (self->counts.skipped++ == 0)
      self->first_skipped = g_strdup (problem->message);
    g_error_free (problem);
  }
  recycle (self, frame);
  return result;
}

BoxMatchResult
box_match_by (BoxMatch * self, BoxMatchBy * by, GError ** error)
{
  BoxMatchResult result;

  *by = self->by;
  if (self->by == BOX_MATCH_INDEX || self->touched) {
    /* a decision of AUTO stays; a file that was empty stays empty */
    return BOX_MATCH_FOUND;
  }
  result = read_ahead (self, error);
  if (result == BOX_MATCH_FLUSHING)
    self->touched = FALSE;
  if (result != BOX_MATCH_FOUND)
    return result == BOX_MATCH_NONE ? BOX_MATCH_FOUND : result;
  if (record (self, 0)->timestamp != BOX_NO_TIME) {
    self->by = BOX_MATCH_TIMESTAMP;
  } else if (self->by == BOX_MATCH_AUTO) {
    self->by = BOX_MATCH_INDEX;
  } else {
    g_set_error (error, BOX_FILE_ERROR, BOX_FILE_ERROR_UNUSABLE, "%" G_GUINT64_FORMAT
        ": %s, so match=timestamp is impossible; match=index works", record (self, 0)->line,
        box_file_format (self->file) == BOX_FORMAT_MOT ? "MOT text has no times" :
        "the first record has no timestamp");
    return BOX_MATCH_FAILED;
  }
  *by = self->by;
  return BOX_MATCH_FOUND;
}

/* ------------------------------------------------------------------ matching */

BoxMatchResult
box_match_at_time (BoxMatch * self, guint64 time, guint64 tolerance, guint64 frame_duration,
    BoxFrame ** frame, GError ** error)
{
  gint before, after, best = -1;

  *frame = NULL;
  self->frame_duration = frame_duration;
  for (;;) {
    BoxMatchResult result;
    guint i;

    before = after = -1;
    for (i = 0; i < self->queue->len && after < 0; i++) {
      guint64 at = record (self, i)->timestamp;

      if (at != BOX_NO_TIME && at <= time)
        before = i;
      else if (at != BOX_NO_TIME)
        after = i;
    }
    if (before > 0) {
      /* no later frame is nearer to those than to this one */
      pass_over (self, before);
      after = after < 0 ? after : after - before;
      before = 0;
    }
    if (after >= 0 || self->queue->len >= MAX_AHEAD
        || (before >= 0 && record (self, before)->timestamp == time))
      break;
    result = read_ahead (self, error);
    if (result == BOX_MATCH_NONE)
      break;
    if (result != BOX_MATCH_FOUND)
      return result;
  }

  if (before >= 0 && time - record (self, before)->timestamp <= tolerance)
    best = before;
  if (after >= 0 && record (self, after)->timestamp - time <= tolerance
      && (best < 0 || record (self, after)->timestamp - time <
          time - record (self, best)->timestamp))
    best = after;
  if (best >= 0)
    give (self, best, frame);
  else if (before >= 0)
    pass_over (self, before + 1);
  self->seeking = FALSE;
  return best >= 0 ? BOX_MATCH_FOUND : BOX_MATCH_NONE;
}

BoxMatchResult
box_match_at_index (BoxMatch * self, guint64 index, BoxFrame ** frame, GError ** error)
{
  BoxMatchResult result = BOX_MATCH_FOUND;

  *frame = NULL;
  for (;;) {
    if (self->queue->len == 0)
      result = read_ahead (self, error);
    if (result != BOX_MATCH_FOUND || record (self, 0)->index >= index)
      break;
    pass_over (self, 1);
  }
  if (result == BOX_MATCH_FLUSHING || result == BOX_MATCH_FAILED)
    return result;
  self->seeking = FALSE;
  if (result == BOX_MATCH_FOUND && record (self, 0)->index == index)
    return give (self, 0, frame);
  return BOX_MATCH_NONE;
}

BoxMatchResult
box_match_take_next (BoxMatch * self, BoxFrame ** frame, GError ** error)
{
  BoxMatchResult result = BOX_MATCH_FOUND;

  *frame = NULL;
  if (self->queue->len == 0)
    result = read_ahead (self, error);
  return result == BOX_MATCH_FOUND ? give (self, 0, frame) : result;
}

void
box_match_skip_found (BoxMatch * self, const gchar * reason)
{
  self->counts.matched--;
  if (self->counts.skipped++ == 0)
    self->first_skipped = g_strdup (reason);
}

gboolean
box_match_restart (BoxMatch * self, GError ** error)
{
  self->seeking = TRUE;
  if (!self->touched)
    return TRUE;
  if (!box_file_rewind (self->file, error))
    return FALSE;
  pass_over (self, self->queue->len);
  self->end = FALSE;
  self->time_offset = self->index_offset = 0;
  self->timed = 0;
  return TRUE;
}

void
box_match_seeking (BoxMatch * self)
{
  self->seeking = TRUE;
}

void
box_match_finish (BoxMatch * self)
{
  self->seeking = FALSE;
  if (self->loop) {
    self->seeking = TRUE;
    pass_over (self, self->queue->len);
    return;
  }
  pass_over (self, self->queue->len);
  if (!self->end)
    self->counts.unmatched += box_file_count_rest (self->file);
  self->end = self->touched = TRUE;
}

const BoxMatchCounts *
box_match_counts (BoxMatch * self)
{
  return &self->counts;
}

const gchar *
box_match_first_skipped (BoxMatch * self)
{
  return self->first_skipped;
}

void
box_match_set_flushing (BoxMatch * self, gboolean flushing)
{
  box_file_set_flushing (self->file, flushing);
}
