/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordmatch: a binary search in a sorted array for a regular file, a comparison with two records
 * for a pipe. The array has a time or index and a position of each record, not its boxes, so that
 * a file of a million lines takes 16 MB; to parse a line again takes a few microseconds. */
#include "recordmatch.h"

#define UNKNOWN_FRAME_DURATION (40 * GST_MSECOND)

/* flags in Entry.place; a position in a file is below all of them */
#define USED (G_GUINT64_CONSTANT (1) << 63)    /* a frame got the record */
#define BAD (G_GUINT64_CONSTANT (1) << 62)     /* its line was malformed and was skipped */
#define UNTIMED (G_GUINT64_CONSTANT (1) << 61) /* it has no time, in a file with times */
#define OFFSET (UNTIMED - 1)

/* A record of a regular file. One that is UNTIMED has the key of the record before it: only a frame
 * without a time gets it. */
typedef struct
{
  guint64 key;   /* time in ns, or index of the frame */
  guint64 place; /* position of its line in the file, in bytes, and flags */
} Entry;

struct _RecordMatch
{
  RecordReader *reader;
  LineReader *lines; /* lines that the reader owns */
  RecordMatchBy by;  /* RECORD_MATCH_AUTO until the first record was read */
  gboolean decided;  /* the first record was seen */
  gboolean skip_errors, loop;
  RecordMatchCounts *counts; /* not owned */
  RecordedFrame *record;     /* the record found last */
  gboolean held;             /* `record` was found as a record of an earlier time */

  /* Used for a regular file. In a looped file, entry number v is entry v % n of pass v / n. */
  gboolean indexed; /* the recording is a regular file and not followed */
  gboolean ready;   /* the file was read through */
  gboolean sorted;
  GArray *entries;     /* Entry, in order of key */
  guint64 pass_length; /* length of a pass in ns or frames; 0 if not known yet */
  guint64 next;        /* number of the entry behind the one found last */
  const Entry *found;  /* entry of `record`, or NULL */

  /* used for a pipe or followed file */
  gboolean have_record; /* `record` may be held */
  gboolean seeking;     /* the stream has jumped, so records that are passed are not counted */
  GPtrArray *ahead;     /* elements: RecordedFrame, up to two: the records that come next */
  GPtrArray *spare;     /* elements: RecordedFrame */
};

static void
frame_free (gpointer frame)
{
  recorded_frame_clear (frame);
  g_free (frame);
}

static RecordedFrame *
frame_new (void)
{
  RecordedFrame *frame = g_new0 (RecordedFrame, 1);

  recorded_frame_init (frame);
  return frame;
}

RecordMatch *
record_match_new (RecordReader *reader, RecordMatchBy by, gboolean skip_errors, gboolean loop,
    RecordMatchCounts *counts)
{
  RecordMatch *self = g_new0 (RecordMatch, 1);

  self->reader = reader;
  self->lines = record_reader_lines (reader);
  self->by = by;
  self->skip_errors = skip_errors;
  self->loop = loop;
  self->counts = counts;
  self->indexed = !line_reader_may_wait (self->lines);
  self->sorted = TRUE;
  self->record = frame_new ();
  self->entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  self->ahead = g_ptr_array_new_with_free_func (frame_free);
  self->spare = g_ptr_array_new_with_free_func (frame_free);
  return self;
}

void
record_match_free (RecordMatch *self)
{
  if (self == NULL)
    return;
  record_reader_free (self->reader);
  frame_free (self->record);
  g_array_unref (self->entries);
  g_ptr_array_unref (self->ahead);
  g_ptr_array_unref (self->spare);
  g_free (self);
}

void
record_match_counts_reset (RecordMatchCounts *counts)
{
  g_free (counts->first_skipped);
  *counts = (RecordMatchCounts) { 0 };
}

RecordMatchResult
record_match_refuse (RecordMatchCounts *counts, gboolean skip, GError *problem, GError **error)
{
  if (!skip) {
    g_propagate_error (error, problem);
    return RECORD_MATCH_FAILED;
  }
  if (counts->skipped++ == 0)
    counts->first_skipped = g_strdup (problem->message);
  g_error_free (problem);
  return RECORD_MATCH_NONE;
}

/* Decides from the first record how records are found. */
static gboolean
decide (RecordMatch *self, const RecordedFrame *first, GError **error)
{
  const gboolean timed = first->timestamp != RECORDED_FRAME_NO_TIME;

  self->decided = TRUE;
  if (self->by == RECORD_MATCH_AUTO)
    self->by = timed ? RECORD_MATCH_TIMESTAMP : RECORD_MATCH_INDEX;
  if (self->by == RECORD_MATCH_INDEX || timed)
    return TRUE;
  g_set_error (error, RECORD_ERROR, RECORD_ERROR_UNUSABLE,
      "%" G_GUINT64_FORMAT ": %s, so match=timestamp is impossible; match=index works", first->line,
      record_reader_format (self->reader) == RECORD_FORMAT_MOT
          ? "MOT text has no times"
          : "the first record has no timestamp");
  return FALSE;
}

/* ---------------------------------------------------------- the index of a regular file */

static Entry *
entry_at (RecordMatch *self, guint64 number)
{
  return &g_array_index (self->entries, Entry, number % self->entries->len);
}

static void
add_record (RecordMatch *self, const RecordedFrame *frame)
{
  const Entry *last = self->entries->len > 0 ? entry_at (self, self->entries->len - 1) : NULL;
  Entry entry = {
    .key = self->by == RECORD_MATCH_INDEX ? frame->index : frame->timestamp,
    .place = frame->offset,
  };

  if (entry.key == RECORDED_FRAME_NO_TIME) { /* never the first entry: it would select the index */
    entry.key = last->key;
    entry.place |= UNTIMED;
  }
  self->sorted &= last == NULL || entry.key >= last->key;
  self->counts->unmatched++;
  g_array_append_val (self->entries, entry);
}

static gint
compare_entries (gconstpointer a, gconstpointer b)
{
  const Entry *one = a, *two = b;

  if (one->key != two->key)
    return one->key < two->key ? -1 : 1;
  return (one->place & OFFSET) < (two->place & OFFSET) ? -1 : 1;
}

/* Sorts the index, and keeps the last written record of each key. */
static void
finish_index (RecordMatch *self)
{
  Entry *entries = (Entry *) self->entries->data;
  const guint len = self->entries->len;
  guint64 later = G_MAXUINT64; /* key of the record behind, above all times */
  guint to = len;

  if (!self->sorted)
    g_array_sort (self->entries, compare_entries);
  for (guint i = len; i-- > 0;) {
    if (entries[i].place & UNTIMED) {
      entries[--to] = entries[i];
    } else if (entries[i].key != later) {
      later = entries[i].key;
      entries[--to] = entries[i];
    }
  }
  if (to > 0)
    g_array_remove_range (self->entries, 0, to);
  self->counts->superseded = to;
  self->counts->unmatched -= to;
  self->counts->ignored = record_reader_ignored (self->reader);
  self->ready = TRUE;
}

/* Reads the headers of all lines, or goes on where a flush interrupted that. */
static RecordMatchResult
read_index (RecordMatch *self, GError **error)
{
  RecordMatchResult result = RECORD_MATCH_FOUND;

  while (!self->ready && result != RECORD_MATCH_FAILED) {
    GError *problem = NULL;

    switch (record_reader_next_header (self->reader, self->record, &problem)) {
      case RECORD_READER_FRAME:
        if (!self->decided && !decide (self, self->record, error))
          return RECORD_MATCH_FAILED;
        add_record (self, self->record);
        break;
      case RECORD_READER_END:
        finish_index (self);
        break;
      case RECORD_READER_FLUSHING:
        return RECORD_MATCH_FLUSHING;
      case RECORD_READER_UNFINISHED:
        record_match_refuse (self->counts, TRUE, problem, NULL);
        break;
      case RECORD_READER_MALFORMED:
        result = record_match_refuse (self->counts, self->skip_errors, problem, error);
        break;
      case RECORD_READER_FAILED:
        result = record_match_refuse (self->counts, FALSE, problem, error);
        break;
    }
  }
  return result == RECORD_MATCH_NONE ? RECORD_MATCH_FOUND : result;
}

/* Returns the number of entries of the array whose key is at most `key`. */
static guint
count_up_to (RecordMatch *self, guint64 key)
{
  const Entry *entries = (const Entry *) self->entries->data;
  guint low = 0, high = self->entries->len;

  while (low < high) {
    guint middle = low + (high - low) / 2;

    if (entries[middle].key <= key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Returns the first number of an entry whose key is above `key`, a time or index. */
static guint64
number_above (RecordMatch *self, guint64 key)
{
  const guint64 first = self->by == RECORD_MATCH_INDEX ? 0 : entry_at (self, 0)->key;
  guint64 pass = 0;

  if (self->pass_length > 0 && key >= first) {
    pass = (key - first) / self->pass_length;
    key = first + (key - first) % self->pass_length;
  }
  return pass * self->entries->len + count_up_to (self, key);
}

static guint64
key_of (RecordMatch *self, guint64 number)
{
  return entry_at (self, number)->key + number / self->entries->len * self->pass_length;
}

static gboolean
is_timed (RecordMatch *self, guint64 number)
{
  return !(entry_at (self, number)->place & UNTIMED);
}

/* Returns whether there is an entry with this number. */
static gboolean
exists (RecordMatch *self, guint64 number)
{
  return self->pass_length > 0 || number < self->entries->len;
}

/* Sets the length of a pass of a looped file, at the first search. */
static void
set_pass_length (RecordMatch *self, guint64 duration)
{
  const guint64 len = self->entries->len, last = entry_at (self, len - 1)->key;

  if (!self->loop || self->pass_length > 0)
    return;
  if (self->by == RECORD_MATCH_INDEX) {
    self->pass_length = last + 1;
    return;
  }
  self->pass_length = last - entry_at (self, 0)->key;
  if (duration == 0 && len > 1)
    duration = self->pass_length / (len - 1);
  self->pass_length += duration > 0 ? duration : UNKNOWN_FRAME_DURATION;
}

/* Reads the record of an entry. Returns RECORD_MATCH_NONE if its line is malformed and was
 * skipped, or the file has become shorter. In MOT text, a malformed line behind the record is met
 * first; it was counted before. */
static RecordMatchResult
read_entry (RecordMatch *self, Entry *entry, GError **error)
{
  const gboolean mot = record_reader_format (self->reader) == RECORD_FORMAT_MOT;
  RecordReaderResult result;
  GError *problem = NULL;

  self->found = NULL;
  if (entry->place & BAD)
    return RECORD_MATCH_NONE;
  if (!record_reader_seek (self->reader, entry->place & OFFSET, error))
    return RECORD_MATCH_FAILED;
  do {
    g_clear_error (&problem);
    result = record_reader_next (self->reader, self->record, &problem);
  } while (mot && (result == RECORD_READER_MALFORMED || result == RECORD_READER_UNFINISHED));
  if (result == RECORD_READER_FLUSHING)
    return RECORD_MATCH_FLUSHING;
  if (result == RECORD_READER_FRAME) {
    self->found = entry;
    return RECORD_MATCH_FOUND;
  }
  self->counts->unmatched -= !(entry->place & USED);
  entry->place |= BAD | USED;
  if (problem == NULL)
    return RECORD_MATCH_NONE;
  return record_match_refuse (self->counts,
      result == RECORD_READER_UNFINISHED
          || (result == RECORD_READER_MALFORMED && self->skip_errors),
      problem, error);
}

static RecordMatchResult
use_entry (RecordMatch *self, guint64 number, gboolean held, GError **error)
{
  Entry *entry = entry_at (self, number);
  RecordMatchResult result = RECORD_MATCH_FOUND;

  self->next = number + 1;
  self->held = held;
  if (self->found != entry)
    result = read_entry (self, entry, error);
  if (result == RECORD_MATCH_FOUND) {
    self->counts->unmatched -= !(entry->place & USED);
    entry->place |= USED;
  }
  return result;
}

/* Finds the entry of a frame. An index is a key that has to be met exactly. */
static RecordMatchResult
find_entry (RecordMatch *self, const RecordSearch *search, GError **error)
{
  const gboolean by_index = self->by == RECORD_MATCH_INDEX;
  const guint64 key = by_index ? search->step.index : search->step.time;
  const guint64 tolerance = by_index ? 0 : search->tolerance, hold = by_index ? 0 : search->hold;
  guint64 above, below, before = G_MAXUINT64, after = G_MAXUINT64;

  if (self->entries->len == 0)
    return RECORD_MATCH_NONE;
  set_pass_length (self, search->step.duration);
  if (!GST_CLOCK_TIME_IS_VALID (key))
    return exists (self, self->next) ? use_entry (self, self->next, FALSE, error)
                                     : RECORD_MATCH_NONE;
  above = below = number_above (self, key);
  while (below > 0 && !is_timed (self, below - 1))
    below--;
  while (exists (self, above) && !is_timed (self, above))
    above++;
  if (below > 0)
    before = key - key_of (self, below - 1);
  if (exists (self, above))
    after = key_of (self, above) - key;
  if (after < before && after <= tolerance)
    return use_entry (self, above, FALSE, error);
  if (below > 0 && before <= tolerance)
    return use_entry (self, below - 1, FALSE, error);
  if (below > 0 && before <= hold && hold > 0)
    return use_entry (self, below - 1, TRUE, error);
  return RECORD_MATCH_NONE;
}

/* ------------------------------------------------------------------ reading forward */

static RecordedFrame *
peek (RecordMatch *self, guint i)
{
  return i < self->ahead->len ? g_ptr_array_index (self->ahead, i) : NULL;
}

/* Removes a record ahead that is not used. */
static void
drop (RecordMatch *self, guint i)
{
  g_ptr_array_add (self->spare, g_ptr_array_steal_index (self->ahead, i));
  self->counts->unmatched += !self->seeking;
}

/* Reads one record and appends it to `ahead`. Returns RECORD_MATCH_NONE at the end of the file, and
 * after the deadline. */
static RecordMatchResult
read_ahead (RecordMatch *self, GError **error)
{
  RecordedFrame *frame = self->spare->len > 0
      ? g_ptr_array_steal_index_fast (self->spare, self->spare->len - 1)
      : frame_new ();
  RecordMatchResult result = RECORD_MATCH_FAILED;
  gboolean again = TRUE;

  while (again) {
    GError *problem = NULL;
    const RecordReaderResult read = record_reader_next (self->reader, frame, &problem);

    again = read == RECORD_READER_UNFINISHED
        || (read == RECORD_READER_MALFORMED && self->skip_errors);
    if (problem)
      result = record_match_refuse (self->counts, again, problem, error);
    else if (read == RECORD_READER_FRAME)
      result = RECORD_MATCH_FOUND;
    else if (read == RECORD_READER_END || line_reader_is_late (self->lines))
      result = RECORD_MATCH_NONE;
    else
      result = RECORD_MATCH_FLUSHING;
  }
  self->counts->ignored = record_reader_ignored (self->reader);
  g_ptr_array_add (result == RECORD_MATCH_FOUND ? self->ahead : self->spare, frame);
  if (result == RECORD_MATCH_FOUND && !self->decided && !decide (self, frame, error))
    result = RECORD_MATCH_FAILED;
  return result;
}

/* Makes the first record ahead the one that was found. */
static RecordMatchResult
take_first (RecordMatch *self)
{
  g_ptr_array_add (self->spare, self->record);
  self->record = g_ptr_array_steal_index (self->ahead, 0);
  self->have_record = TRUE;
  self->held = FALSE;
  return RECORD_MATCH_FOUND;
}

/* Returns the distance, in ns before the time, within which a record is taken without reading
 * the next one. */
static guint64
get_shortcut (const RecordSearch *search)
{
  const guint64 duration = search->step.duration > 0 ? search->step.duration
                                                     : UNKNOWN_FRAME_DURATION;

  return MIN (search->tolerance, duration / 4);
}

/* Reads until the first record ahead is the last one at or before the time, and the second the
 * first one after it, or until it is certain which one is used. */
static RecordMatchResult
read_around (RecordMatch *self, const RecordSearch *search, GError **error)
{
  const guint64 time = search->step.time, shortcut = get_shortcut (search);
  RecordMatchResult result = RECORD_MATCH_FOUND;

  while (result == RECORD_MATCH_FOUND) {
    const RecordedFrame *first = peek (self, 0), *second = peek (self, 1);

    if (first && first->timestamp == RECORDED_FRAME_NO_TIME)
      drop (self, 0);
    else if (second
        && (second->timestamp == RECORDED_FRAME_NO_TIME || second->timestamp < first->timestamp))
      drop (self, 1);
    else if (second && second->timestamp <= time)
      drop (self, 0);
    else if (second || (first && first->timestamp > time)
        || (first && time - first->timestamp <= shortcut))
      break;
    else
      result = read_ahead (self, error);
  }
  return result;
}

static guint64
distance (const RecordedFrame *frame, guint64 time)
{
  if (frame == NULL)
    return G_MAXUINT64;
  return frame->timestamp > time ? frame->timestamp - time : time - frame->timestamp;
}

static RecordMatchResult
find_time_forward (RecordMatch *self, const RecordSearch *search, GError **error)
{
  const guint64 time = search->step.time, hold = search->hold;
  RecordMatchResult result = read_around (self, search, error);
  guint64 near;

  if (result == RECORD_MATCH_FLUSHING || result == RECORD_MATCH_FAILED)
    return result;
  near = distance (peek (self, 1), time);
  if (near < distance (peek (self, 0), time) && near <= search->tolerance)
    drop (self, 0);
  near = distance (peek (self, 0), time);
  if (peek (self, 0) && near <= search->tolerance)
    return take_first (self);
  if (peek (self, 0) && peek (self, 0)->timestamp <= time) {
    if (near <= hold)
      take_first (self);
    else
      drop (self, 0);
  }
  self->held = self->have_record && hold > 0 && self->record->timestamp <= time
      && time - self->record->timestamp <= hold;
  return self->held ? RECORD_MATCH_FOUND : RECORD_MATCH_NONE;
}

static RecordMatchResult
find_index_forward (RecordMatch *self, guint64 index, GError **error)
{
  RecordMatchResult result = RECORD_MATCH_FOUND;

  while (
      result == RECORD_MATCH_FOUND && (peek (self, 0) == NULL || peek (self, 0)->index < index)) {
    if (peek (self, 0))
      drop (self, 0);
    else
      result = read_ahead (self, error);
  }
  if (result != RECORD_MATCH_FOUND)
    return result;
  return peek (self, 0)->index == index ? take_first (self) : RECORD_MATCH_NONE;
}

static RecordMatchResult
find_forward (RecordMatch *self, const RecordSearch *search, GError **error)
{
  RecordMatchResult result = RECORD_MATCH_FOUND;

  if (self->by == RECORD_MATCH_INDEX)
    return find_index_forward (self, search->step.index, error);
  if (GST_CLOCK_TIME_IS_VALID (search->step.time))
    return find_time_forward (self, search, error);
  if (peek (self, 0) == NULL)
    result = read_ahead (self, error);
  return result == RECORD_MATCH_FOUND ? take_first (self) : result;
}

/* ------------------------------------------------------------------------ the interface */

/* Follows a jump of the stream. */
static RecordMatchResult
jump (RecordMatch *self, const StreamPositionStep *step, GError **error)
{
  const gboolean by_index = self->by == RECORD_MATCH_INDEX;
  GError *problem = NULL;

  if (by_index && step->index_unknown) {
    g_set_error (error, RECORD_ERROR, RECORD_ERROR_UNUSABLE,
        " cannot compute the index of the frame after a seek: match=index needs a frame rate in "
        "the caps or durations");
    return RECORD_MATCH_FAILED;
  }
  self->seeking = TRUE;
  if (self->indexed || !(step->rewound || (by_index && step->index_back)))
    return RECORD_MATCH_FOUND;
  while (self->ahead->len > 0)
    drop (self, 0);
  self->have_record = FALSE;
  if (record_reader_rewind (self->reader, &problem))
    return RECORD_MATCH_FOUND;
  g_set_error (error, RECORD_ERROR, RECORD_ERROR_UNUSABLE,
      " cannot seek backward, because it cannot be read again from its start: %s",
      problem->message);
  g_error_free (problem);
  return RECORD_MATCH_FAILED;
}

/* Fits the boxes of the record that was found to the frame. */
static RecordMatchResult
fit (RecordMatch *self, const RecordSearch *search, GError **error)
{
  GError *problem = NULL;

  if (recorded_frame_fit (self->record, search->width, search->height, &problem))
    return RECORD_MATCH_FOUND;
  g_prefix_error (&problem, "%" G_GUINT64_FORMAT ": ",
      self->record->line > 0 ? self->record->line : line_reader_count (self->lines));
  self->have_record = FALSE;
  return record_match_refuse (self->counts, self->skip_errors, problem, error);
}

RecordMatchResult
record_match_find (RecordMatch *self, const RecordSearch *search, RecordedFrame **frame,
    GError **error)
{
  RecordMatchResult result = RECORD_MATCH_FOUND;

  *frame = NULL;
  line_reader_set_deadline (self->lines, search->deadline);
  if (self->indexed)
    result = read_index (self, error);
  else if (!self->decided && self->by != RECORD_MATCH_INDEX)
    result = read_ahead (self, error);
  if (result == RECORD_MATCH_FOUND && search->step.jumped)
    result = jump (self, &search->step, error);
  if (result == RECORD_MATCH_FOUND)
    result = self->indexed ? find_entry (self, search, error) : find_forward (self, search, error);
  if (result <= RECORD_MATCH_NONE)
    self->seeking = FALSE;
  if (result == RECORD_MATCH_FOUND)
    result = fit (self, search, error);
  if (result != RECORD_MATCH_FOUND)
    return result;
  if (self->held)
    self->counts->held++;
  else
    self->counts->matched++;
  *frame = self->record;
  return result;
}

void
record_match_finish (RecordMatch *self)
{
  while (self->ahead->len > 0)
    drop (self, 0);
}
