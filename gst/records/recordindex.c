/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordindex: two arrays in the order of the file. A checkpoint has a later time than all
 * records before it in its session, so that a search which starts there misses none,
 * although times may go back by a few frames in decoding order. */
#include "recordindex.h"

#define STRIDE 16384

typedef struct
{
  guint64 number; /* as in the file */
  gboolean reverse;
  guint first;                 /* its first checkpoint */
  guint64 first_key, last_key; /* smallest and largest key */
} Session;

struct _RecordIndex
{
  GArray *checkpoints;   /* of RecordCheckpoint */
  GArray *sessions;      /* of Session */
  gboolean begun;        /* `last` is valid */
  RecordCheckpoint last; /* the last record added */
};

RecordIndex *
record_index_new (void)
{
  RecordIndex *self = g_new0 (RecordIndex, 1);

  self->checkpoints = g_array_new (FALSE, FALSE, sizeof (RecordCheckpoint));
  self->sessions = g_array_new (FALSE, FALSE, sizeof (Session));
  return self;
}

void
record_index_free (RecordIndex *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->checkpoints);
  g_array_unref (self->sessions);
  g_free (self);
}

guint64
record_index_key (gboolean reverse, guint64 time)
{
  return reverse ? G_MAXUINT64 - time : time;
}

static RecordCheckpoint *
checkpoint (RecordIndex *self, guint i)
{
  return &g_array_index (self->checkpoints, RecordCheckpoint, i);
}

static Session *
session (RecordIndex *self, guint i)
{
  return &g_array_index (self->sessions, Session, i);
}

/* -------------------------------------------------------------------- adding */

static void
begin_session (RecordIndex *self, const RecordedFrame *frame, guint64 key)
{
  Session s = { frame->session, frame->reverse, self->checkpoints->len, key, key };

  g_array_append_val (self->sessions, s);
  g_array_append_val (self->checkpoints, self->last);
}

void
record_index_add (RecordIndex *self, const RecordedFrame *frame)
{
  gboolean timed = frame->timestamp != RECORDED_FRAME_NO_TIME, far;
  guint64 key = record_index_key (frame->reverse, frame->timestamp);
  Session *s = NULL;

  if (self->begun && frame->offset <= self->last.offset)
    return;
  self->begun = TRUE;
  self->last = (RecordCheckpoint) {
    .offset = frame->offset,
    .line = frame->line,
    .index = frame->index - frame->dropped,
    .time = frame->timestamp,
  };
  far = self->checkpoints->len == 0
      || frame->offset >= checkpoint (self, self->checkpoints->len - 1)->offset + STRIDE;
  if (self->sessions->len > 0)
    s = session (self, self->sessions->len - 1);
  if (timed && (s == NULL || s->number != frame->session || s->reverse != frame->reverse))
    begin_session (self, frame, key);
  else if (far && (!timed || key > s->last_key))
    g_array_append_val (self->checkpoints, self->last);
  if (timed && s) {
    s = session (self, self->sessions->len - 1);
    s->first_key = MIN (s->first_key, key);
    s->last_key = MAX (s->last_key, key);
  }
}

/* Goes to the last record added and reads headers from there until `enough` returns TRUE, or
 * to the end of the file. */
static RecordReaderResult
read_on (RecordIndex *self, RecordReader *reader, gboolean (*enough) (RecordIndex *, gconstpointer),
    gconstpointer target, GError **error)
{
  RecordReaderResult result = RECORD_READER_FRAME;
  RecordedFrame frame;
  gboolean sought = !self->begun, follow = record_reader_follows (reader);

  recorded_frame_init (&frame);
  record_reader_set_follow (reader, FALSE);
  while (result != RECORD_READER_END && !enough (self, target)) {
    if (!sought
        && !record_reader_seek (reader, self->last.offset, self->last.line, self->last.index,
            error)) {
      result = RECORD_READER_FAILED;
      break;
    }
    sought = TRUE;
    result = record_reader_next_header (reader, &frame, error);
    if (result == RECORD_READER_FRAME)
      record_index_add (self, &frame);
    else if (result == RECORD_READER_MALFORMED || result == RECORD_READER_UNFINISHED)
      g_clear_error (error);
    else if (result != RECORD_READER_END)
      break;
  }
  record_reader_set_follow (reader, follow);
  recorded_frame_clear (&frame);
  return result == RECORD_READER_FLUSHING || result == RECORD_READER_FAILED ? result
                                                                            : RECORD_READER_FRAME;
}

/* ------------------------------------------------------------------- finding */

/* Rates how well a session fits: 4 or more if the time is within it, 2 or more if it has later
 * records, and one more if it was recorded in the same direction. */
static guint
rate_session (RecordIndex *self, guint i, const RecordQuery *query)
{
  const Session *s = session (self, i);
  guint64 key = record_index_key (s->reverse, query->time);
  gboolean begun = key >= s->first_key || s->first_key - key <= query->slack;
  gboolean ended = key > s->last_key && key - s->last_key > query->slack;

  return (ended ? 0 : begun ? 4 : 2) + (s->reverse == query->reverse);
}

/* Chooses the session that fits best; of equal ones the first in this order: this one
 * (unless the jump is backward), the ones after it, this one, the ones before it. */
static guint
choose_session (RecordIndex *self, const RecordQuery *query)
{
  guint i, best = query->session, count = self->sessions->len;
  guint rating = query->back ? 0 : rate_session (self, best, query);

  for (i = 0; i < count; i++) {
    guint later = count - query->session - 1;
    guint at = i < later ? query->session + 1 + i : i == later ? query->session : i - later - 1;
    guint fits = rate_session (self, at, query);

    if (fits > rating) {
      rating = fits;
      best = at;
    }
  }
  return best;
}

/* Returns whether the records added so far decide the answer. */
static gboolean
time_is_known (RecordIndex *self, gconstpointer target)
{
  const RecordQuery *query = target;
  const Session *s;

  if (query->session >= self->sessions->len || query->back)
    return FALSE;
  s = session (self, query->session);
  return record_index_key (s->reverse, query->time) <= s->last_key
      || (query->stay && query->session + 1 < self->sessions->len);
}

RecordReaderResult
record_index_find_time (RecordIndex *self, RecordReader *reader, RecordQuery *query,
    RecordCheckpoint *place, GError **error)
{
  RecordReaderResult result = read_on (self, reader, time_is_known, query, error);
  const Session *s;
  guint i, end;

  *place = (RecordCheckpoint) { .line = 1 };
  if (result != RECORD_READER_FRAME || self->sessions->len == 0)
    return result;
  if (query->session >= self->sessions->len)
    query->session = 0;
  if (!query->stay)
    query->session = choose_session (self, query);
  s = session (self, query->session);
  end = query->session + 1 < self->sessions->len ? s[1].first : self->checkpoints->len;
  for (i = end - 1; i > s->first; i--)
    if (checkpoint (self, i)->time != RECORDED_FRAME_NO_TIME
        && record_index_key (s->reverse, checkpoint (self, i)->time)
            <= record_index_key (s->reverse, query->time))
      break;
  *place = *checkpoint (self, i);
  return result;
}

static gboolean
index_is_known (RecordIndex *self, gconstpointer index)
{
  return self->begun && self->last.index >= *(const guint64 *) index;
}

RecordReaderResult
record_index_find_index (RecordIndex *self, RecordReader *reader, guint64 index,
    RecordCheckpoint *place, GError **error)
{
  RecordReaderResult result = read_on (self, reader, index_is_known, &index, error);
  guint i;

  *place = (RecordCheckpoint) { .line = 1 };
  for (i = self->checkpoints->len; i > 0; i--)
    if (checkpoint (self, i - 1)->index <= index) {
      *place = *checkpoint (self, i - 1);
      break;
    }
  return result;
}
