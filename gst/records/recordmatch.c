/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordmatch: a binary search in a sorted array for a regular file, a comparison with two records
 * for a pipe. The array has a time or index and a position of each record, not its boxes, so that
 * a file of a million lines takes 16 MB; to parse a line again takes a few microseconds. */
#include "recordmatch.h"

#include <string.h>

#define UNKNOWN_FRAME_DURATION (40 * GST_MSECOND)

/* flags in Entry.place; a position in a file is below all of them */
#define USED (G_GUINT64_CONSTANT (1) << 63)    /* a frame got the record */
#define COUNTED (G_GUINT64_CONSTANT (1) << 62) /* it was counted as unmatched */
#define UNTIMED (G_GUINT64_CONSTANT (1) << 61) /* it has no time, in a file with times */
#define BAD (G_GUINT64_CONSTANT (1) << 60)     /* it is malformed, or was skipped */
#define OFFSET (BAD - 1)

/* A line of a regular file. One that is UNTIMED or BAD has the key of the line before it. */
typedef struct
{
  guint64 key;   /* time in ns, or index of the frame */
  guint64 place; /* position of the line in the file, in bytes, and flags */
} Entry;

struct _RecordMatch
{
  RecordReader *reader;
  RecordMatchBy by; /* RECORD_MATCH_AUTO: not decided yet */
  gboolean decided; /* the first record was seen */
  gboolean skip_errors, loop;
  gboolean seeking; /* the stream has jumped, so records that are passed are not counted */
  gboolean reverse; /* the stream is played in reverse */
  RecordMatchCounts counts;
  gchar *first_skipped;  /* the message about the first malformed line, or NULL */
  RecordedFrame *record; /* the record found last; it is found again if `have_record` */
  gboolean have_record;
  gboolean was_held; /* it was returned last as a held record */

  /* of a regular file. In a looped file, entry number v is entry v % n of pass v / n. */
  gboolean indexed; /* it is a regular file, not followed */
  gboolean ready;   /* it was read through */
  gboolean sorted, distinct;
  GArray *entries;     /* Entry, in order of key and position */
  guint records;       /* entries that have a key of their own */
  guint bad;           /* entries that are BAD */
  guint64 frames;      /* of the file */
  guint64 end;         /* position behind the last line */
  guint64 ignored;     /* boxes of ground truth */
  guint64 pass_length; /* in ns or frames; 0: not known yet */
  guint64 next;        /* number of the entry behind the one found last */
  guint64 found;       /* number of the entry of `record` */
  GError *fatal;       /* ends the file, at the last entry in it; or NULL */
  guint64 fatal_offset;

  /* of a pipe or followed file */
  GPtrArray *ahead; /* of RecordedFrame, up to two: the records that come next */
  GPtrArray *spare; /* of RecordedFrame */
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
record_match_new (RecordReader *reader, RecordMatchBy by, gboolean skip_errors, gboolean loop)
{
  RecordMatch *self = g_new0 (RecordMatch, 1);

  self->reader = reader;
  self->by = by;
  self->skip_errors = skip_errors;
  self->loop = loop;
  self->indexed = !record_reader_may_wait (reader);
  self->sorted = self->distinct = TRUE;
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
  g_clear_error (&self->fatal);
  g_free (self->first_skipped);
  g_free (self);
}

void
record_match_set_deadline (RecordMatch *self, gint64 deadline)
{
  record_reader_set_deadline (self->reader, deadline);
}

/* Counts a malformed line; keeps the first message. Frees the error. */
static void
count_skipped (RecordMatch *self, GError *problem)
{
  if (self->counts.skipped++ == 0)
    self->first_skipped = g_strdup (problem->message);
  g_error_free (problem);
}

/* Decides by the first record how records are found. */
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
add_entry (RecordMatch *self, guint64 key, guint64 place)
{
  const Entry entry = { key, place };
  const Entry *last = self->entries->len > 0
      ? &g_array_index (self->entries, Entry, self->entries->len - 1)
      : NULL;

  self->sorted &= last == NULL || key >= last->key;
  self->distinct &= last == NULL || key > last->key;
  g_array_append_val (self->entries, entry);
}

static void
add_record (RecordMatch *self, const RecordedFrame *frame)
{
  const gboolean timed = frame->timestamp != RECORDED_FRAME_NO_TIME;
  const guint len = self->entries->len;

  if (self->by == RECORD_MATCH_INDEX || timed) {
    add_entry (self, self->by == RECORD_MATCH_INDEX ? frame->index : frame->timestamp,
        frame->offset);
    self->records++;
  } else {
    add_entry (self, len > 0 ? g_array_index (self->entries, Entry, len - 1).key : 0,
        frame->offset | UNTIMED);
  }
}

/* Adds a line that is an error when the stream reaches it. */
static void
add_bad (RecordMatch *self, guint64 offset)
{
  const guint len = self->entries->len;

  add_entry (self, len > 0 ? g_array_index (self->entries, Entry, len - 1).key : 0, offset | BAD);
  self->bad++;
}

static gint
compare_entries (gconstpointer a, gconstpointer b)
{
  const Entry *one = a, *two = b;

  if (one->key != two->key)
    return one->key < two->key ? -1 : 1;
  return (one->place & OFFSET) < (two->place & OFFSET) ? -1 : 1;
}

/* Removes records of a time that a later line has too. */
static void
remove_superseded (RecordMatch *self)
{
  Entry *entries = (Entry *) self->entries->data;
  const guint len = self->entries->len;
  gboolean have = FALSE;
  guint64 last = 0;
  guint to = len;

  for (guint i = len; i-- > 0;) {
    const gboolean keyed = !(entries[i].place & (UNTIMED | BAD));

    if (keyed && have && entries[i].key == last) {
      self->counts.superseded++;
      self->records--;
      continue;
    }
    if (keyed) {
      have = TRUE;
      last = entries[i].key;
    }
    entries[--to] = entries[i];
  }
  memmove (entries, entries + to, (len - to) * sizeof (Entry));
  g_array_set_size (self->entries, len - to);
}

static void
finish_index (RecordMatch *self)
{
  if (!self->sorted)
    g_array_sort (self->entries, compare_entries);
  if (!self->sorted || !self->distinct)
    remove_superseded (self);
  self->frames = record_reader_frames (self->reader);
  self->ignored = record_reader_ignored (self->reader);
  self->end = record_reader_position (self->reader);
  self->ready = TRUE;
}

/* Reads the headers of all lines, or goes on where a flush interrupted that. */
static RecordMatchResult
read_index (RecordMatch *self, GError **error)
{
  while (!self->ready) {
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
        count_skipped (self, problem);
        break;
      case RECORD_READER_MALFORMED:
        if (self->skip_errors) {
          count_skipped (self, problem);
        } else {
          add_bad (self, record_reader_offset (self->reader));
          g_error_free (problem);
        }
        break;
      case RECORD_READER_FAILED:
        if (problem->domain != RECORD_ERROR) {
          g_propagate_error (error, problem);
          return RECORD_MATCH_FAILED;
        }
        self->fatal = problem;
        self->fatal_offset = record_reader_offset (self->reader);
        add_bad (self, self->fatal_offset);
        finish_index (self);
        break;
    }
  }
  return RECORD_MATCH_FOUND;
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
has_key (RecordMatch *self, guint64 number)
{
  return !(entry_at (self, number)->place & (UNTIMED | BAD));
}

/* Returns whether there is an entry with this number. */
static gboolean
exists (RecordMatch *self, guint64 number)
{
  return self->pass_length > 0 ? self->entries->len > 0 : number < self->entries->len;
}

/* Sets the length of a pass of a looped file, at the first search. */
static void
set_pass_length (RecordMatch *self, guint64 duration)
{
  const Entry *entries = (const Entry *) self->entries->data;

  if (!self->loop || self->pass_length > 0 || self->records == 0)
    return;
  if (self->by == RECORD_MATCH_INDEX) {
    self->pass_length = self->frames;
    return;
  }
  self->pass_length = entries[self->entries->len - 1].key - entries[0].key;
  if (duration == 0 && self->records > 1)
    duration = self->pass_length / (self->records - 1);
  self->pass_length += duration > 0 ? duration : UNKNOWN_FRAME_DURATION;
}

/* ------------------------------------------------------------------ reading an entry */

/* Reads the record that begins at a place of the file. In MOT text, a malformed line behind the
 * record is met first; it was counted before. */
static RecordReaderResult
read_at (RecordMatch *self, guint64 offset, guint64 line, GError **error)
{
  const gboolean mot = record_reader_format (self->reader) == RECORD_FORMAT_MOT;
  RecordReaderResult result;
  GError *problem = NULL;

  if (!record_reader_seek (self->reader, offset, line, 0, error))
    return RECORD_READER_FAILED;
  do {
    g_clear_error (&problem);
    result = record_reader_next (self->reader, self->record, &problem);
  } while (mot
      && (result == RECORD_READER_UNFINISHED
          || (result == RECORD_READER_MALFORMED && self->skip_errors)));
  if (problem)
    g_propagate_error (error, problem);
  return result;
}

/* Returns whether the stream must not pass this line. */
static gboolean
is_error (RecordMatch *self, guint64 number)
{
  const guint64 place = entry_at (self, number)->place;

  return (place & BAD)
      && (!self->skip_errors || (self->fatal && (place & OFFSET) == self->fatal_offset));
}

/* Sets the error of a line that cannot be used. Returns RECORD_MATCH_FAILED, or RECORD_MATCH_NONE
 * if the file has changed and the line is good now. */
static RecordMatchResult
fail_at (RecordMatch *self, guint64 number, GError **error)
{
  const guint64 offset = entry_at (self, number)->place & OFFSET;
  RecordReaderResult result;

  self->have_record = FALSE;
  if (self->fatal && offset == self->fatal_offset) {
    g_propagate_error (error, g_error_copy (self->fatal));
    return RECORD_MATCH_FAILED;
  }
  result = read_at (self, offset, record_reader_line_at (self->reader, offset), error);
  if (result == RECORD_READER_FLUSHING)
    return RECORD_MATCH_FLUSHING;
  return result == RECORD_READER_FRAME || result == RECORD_READER_END ? RECORD_MATCH_NONE
                                                                      : RECORD_MATCH_FAILED;
}

/* Reads an entry. Returns RECORD_MATCH_NONE if its line is malformed and was skipped. */
static RecordMatchResult
read_entry (RecordMatch *self, guint64 number, GError **error)
{
  Entry *entry = entry_at (self, number);
  const guint64 offset = entry->place & OFFSET;
  RecordReaderResult result;
  GError *problem = NULL;

  if (self->have_record && self->found == number)
    return RECORD_MATCH_FOUND;
  self->have_record = FALSE;
  result = read_at (self, offset, 1, &problem);
  if (result == RECORD_READER_MALFORMED || result == RECORD_READER_UNFINISHED) {
    /* once more, for the number of the line in the message */
    g_clear_error (&problem);
    result = read_at (self, offset, record_reader_line_at (self->reader, offset), &problem);
  }
  if (result == RECORD_READER_FLUSHING)
    return RECORD_MATCH_FLUSHING;
  if (result == RECORD_READER_FRAME) {
    self->have_record = TRUE;
    self->found = number;
    return RECORD_MATCH_FOUND;
  }
  if (problem && result != RECORD_READER_UNFINISHED
      && (result == RECORD_READER_FAILED || !self->skip_errors)) {
    g_propagate_error (error, problem);
    return RECORD_MATCH_FAILED;
  }
  if (problem) /* otherwise the file has become shorter */
    count_skipped (self, problem);
  self->records -= has_key (self, number);
  entry->place |= BAD;
  self->bad++;
  return RECORD_MATCH_NONE;
}

/* Passes the entries before `number`: counts those that were not used, and fails at a malformed
 * line. After a jump and in reverse playback nothing is counted. */
static RecordMatchResult
pass_entries (RecordMatch *self, guint64 number, GError **error)
{
  const guint64 count = number > self->next ? number - self->next : 0, len = self->entries->len;
  guint64 i = number - count % (len > 0 ? len : 1);

  if (self->seeking || self->reverse || number < self->next) {
    if (self->seeking)
      self->next = number;
    self->seeking = FALSE;
    return RECORD_MATCH_FOUND;
  }
  if (len > 0 && count >= len) { /* whole passes of a looped file */
    self->counts.unmatched += count / len * (len - self->bad);
    for (guint k = 0; k < len && self->bad > 0; k++)
      if (is_error (self, k))
        return fail_at (self, k, error);
  }
  for (; i < number; i++) {
    Entry *entry = entry_at (self, i);
    RecordMatchResult result = RECORD_MATCH_NONE;

    if (is_error (self, i))
      result = fail_at (self, i, error);
    if (result != RECORD_MATCH_NONE)
      return result;
    if (!(entry->place & BAD) && (self->loop || !(entry->place & (USED | COUNTED)))) {
      entry->place |= COUNTED;
      self->counts.unmatched++;
    }
  }
  self->next = number;
  return RECORD_MATCH_FOUND;
}

/* Returns the record of an entry, and counts it. RECORD_MATCH_NONE: the line was skipped. */
static RecordMatchResult
use_entry (RecordMatch *self, guint64 number, RecordedFrame **frame, GError **error)
{
  RecordMatchResult result = pass_entries (self, number, error);
  Entry *entry;

  if (result == RECORD_MATCH_FOUND)
    result = read_entry (self, number, error);
  if (result != RECORD_MATCH_FOUND)
    return result;
  entry = entry_at (self, number);
  if (!self->loop && (entry->place & COUNTED))
    self->counts.unmatched--;
  entry->place = (entry->place & ~COUNTED) | USED;
  self->next = MAX (self->next, number + 1);
  self->was_held = FALSE;
  self->counts.matched++;
  *frame = self->record;
  return RECORD_MATCH_FOUND;
}

/* Handles a frame without a record of its own, before entry `above`. */
static RecordMatchResult
pass_frame (RecordMatch *self, guint64 above, GError **error)
{
  const gboolean counting = !self->seeking && !self->reverse;
  RecordMatchResult result = pass_entries (self, above, error);

  if (result != RECORD_MATCH_FOUND)
    return result;
  /* where nothing is counted, a malformed line at this place is an error nevertheless */
  for (guint64 i = above; !counting && i-- > 0 && !has_key (self, i);)
    if (is_error (self, i) && (result = fail_at (self, i, error)) != RECORD_MATCH_NONE)
      return result;
  return RECORD_MATCH_NONE;
}

/* ------------------------------------------------------------------ searching the index */

static guint64
distance (guint64 a, guint64 b)
{
  return a > b ? a - b : b - a;
}

/* Returns the record before the time if it is held, where `before` is its number. */
static RecordMatchResult
hold_entry (RecordMatch *self, guint64 before, guint64 above, RecordedFrame **frame, GError **error)
{
  RecordMatchResult result = read_entry (self, before, error);

  if (result == RECORD_MATCH_FOUND)
    result = pass_entries (self, before, error);
  if (result != RECORD_MATCH_FOUND)
    return result;
  entry_at (self, before)->place |= USED;
  self->next = MAX (self->next, before + 1);
  result = pass_entries (self, above, error);
  if (result != RECORD_MATCH_FOUND)
    return result;
  self->was_held = TRUE;
  self->counts.held++;
  *frame = self->record;
  return RECORD_MATCH_FOUND;
}

static RecordMatchResult
find_entry (RecordMatch *self, const RecordSearch *search, RecordedFrame **frame, GError **error)
{
  const guint64 above = number_above (self, search->time);
  guint64 before = above, after = above;
  gboolean has_before = FALSE, has_after = FALSE;

  while (before > 0 && !has_before)
    has_before = has_key (self, --before);
  while (exists (self, after) && !has_after)
    has_after = has_key (self, after++);
  after--;
  if (has_after && distance (key_of (self, after), search->time) <= search->tolerance
      && !(has_before
          && distance (key_of (self, before), search->time)
              <= distance (key_of (self, after), search->time)))
    return use_entry (self, after, frame, error);
  if (has_before && distance (key_of (self, before), search->time) <= search->tolerance)
    return use_entry (self, before, frame, error);
  if (has_before && search->hold > 0
      && distance (key_of (self, before), search->time) <= search->hold)
    return hold_entry (self, before, above, frame, error);
  return pass_frame (self, above, error);
}

/* Searches again as long as lines are found to be malformed and skipped. */
static RecordMatchResult
find_in_index (RecordMatch *self, const RecordSearch *search, RecordedFrame **frame, GError **error)
{
  RecordMatchResult result = RECORD_MATCH_NONE;
  guint bad;

  set_pass_length (self, search->frame_duration);
  do {
    bad = self->bad;
    result = RECORD_MATCH_NONE;
    if (self->records > 0)
      result = find_entry (self, search, frame, error);
    else if (self->entries->len > 0)
      result = pass_frame (self, self->entries->len, error);
  } while (result == RECORD_MATCH_NONE && self->bad > bad);
  return result;
}

static RecordMatchResult
find_index (RecordMatch *self, guint64 index, RecordedFrame **frame, GError **error)
{
  guint64 above, number;

  set_pass_length (self, 0);
  if (self->entries->len == 0)
    return RECORD_MATCH_NONE;
  above = number = number_above (self, index);
  while (number > 0 && !has_key (self, number - 1))
    number--;
  if (number > 0 && key_of (self, number - 1) == index)
    return use_entry (self, number - 1, frame, error);
  return pass_frame (self, above, error);
}

/* ------------------------------------------------------------------ reading forward */

static RecordedFrame *
peek (RecordMatch *self, guint i)
{
  return i < self->ahead->len ? g_ptr_array_index (self->ahead, i) : NULL;
}

/* Removes the first record ahead, and counts it unless the stream has jumped. */
static void
drop_first (RecordMatch *self)
{
  g_ptr_array_add (self->spare, g_ptr_array_steal_index (self->ahead, 0));
  if (!self->seeking)
    self->counts.unmatched++;
}

/* Reads one record to the end of `ahead`. Returns RECORD_MATCH_NONE at the end of the file, and
 * when the deadline has come. */
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
    if (again)
      count_skipped (self, problem);
    else if (problem)
      g_propagate_error (error, problem);
    else if (read == RECORD_READER_FRAME)
      result = RECORD_MATCH_FOUND;
    else if (read == RECORD_READER_END || record_reader_is_late (self->reader))
      result = RECORD_MATCH_NONE;
    else
      result = RECORD_MATCH_FLUSHING;
  }
  g_ptr_array_add (result == RECORD_MATCH_FOUND ? self->ahead : self->spare, frame);
  if (result == RECORD_MATCH_FOUND && !self->decided && !decide (self, frame, error))
    result = RECORD_MATCH_FAILED;
  return result;
}

/* Makes the first record ahead the one that was found. */
static RecordMatchResult
take_first (RecordMatch *self, RecordedFrame **frame)
{
  g_ptr_array_add (self->spare, self->record);
  self->record = *frame = g_ptr_array_steal_index (self->ahead, 0);
  self->have_record = TRUE;
  self->was_held = FALSE;
  return RECORD_MATCH_FOUND;
}

/* Returns the distance, in ns before the time, within which a record is taken without reading
 * the next one. */
static guint64
get_shortcut (const RecordSearch *search)
{
  guint64 duration = search->frame_duration > 0 ? search->frame_duration : UNKNOWN_FRAME_DURATION;

  return MIN (search->tolerance, duration / 4);
}

/* Reads until the first record ahead is the last one at or before the time, and the second the
 * first one after it, or until it is certain which one is used. */
static RecordMatchResult
read_around (RecordMatch *self, const RecordSearch *search, GError **error)
{
  const guint64 shortcut = get_shortcut (search);
  RecordMatchResult result = RECORD_MATCH_FOUND;

  while (result == RECORD_MATCH_FOUND) {
    const RecordedFrame *first = peek (self, 0), *second = peek (self, 1);

    if (first && first->timestamp == RECORDED_FRAME_NO_TIME) {
      drop_first (self);
    } else if (second
        && (second->timestamp == RECORDED_FRAME_NO_TIME || second->timestamp < first->timestamp)) {
      g_ptr_array_add (self->spare, g_ptr_array_steal_index (self->ahead, 1));
      self->counts.unmatched += !self->seeking;
    } else if (second && second->timestamp <= search->time) {
      drop_first (self);
    } else if (second || (first && first->timestamp > search->time)
        || (first && search->time - first->timestamp <= shortcut)) {
      break;
    } else {
      result = read_ahead (self, error);
    }
  }
  return result;
}

/* Returns the record found last if it is held for this frame. */
static RecordMatchResult
hold_record (RecordMatch *self, const RecordSearch *search, RecordedFrame **frame)
{
  const guint64 time = self->have_record ? self->record->timestamp : RECORDED_FRAME_NO_TIME;

  if (time > search->time || search->time - time > search->hold || search->hold == 0)
    return RECORD_MATCH_NONE;
  self->was_held = TRUE;
  self->counts.held++;
  *frame = self->record;
  return RECORD_MATCH_FOUND;
}

static RecordMatchResult
find_forward (RecordMatch *self, const RecordSearch *search, RecordedFrame **frame, GError **error)
{
  RecordMatchResult result = read_around (self, search, error);
  guint64 near = G_MAXUINT64, far = G_MAXUINT64;

  if (result == RECORD_MATCH_FLUSHING || result == RECORD_MATCH_FAILED)
    return result;
  if (peek (self, 0))
    near = distance (peek (self, 0)->timestamp, search->time);
  if (peek (self, 1))
    far = distance (peek (self, 1)->timestamp, search->time);
  if (far < near && far <= search->tolerance) {
    drop_first (self);
    near = far;
  }
  if (near <= search->tolerance) {
    take_first (self, frame);
    self->counts.matched++;
    result = RECORD_MATCH_FOUND;
  } else {
    if (peek (self, 0) && peek (self, 0)->timestamp <= search->time) {
      if (near <= search->hold)
        take_first (self, frame);
      else
        drop_first (self);
    }
    *frame = NULL;
    result = hold_record (self, search, frame);
  }
  self->seeking = FALSE;
  return result;
}

static RecordMatchResult
find_index_forward (RecordMatch *self, guint64 index, RecordedFrame **frame, GError **error)
{
  RecordMatchResult result = RECORD_MATCH_FOUND;

  while (
      result == RECORD_MATCH_FOUND && (peek (self, 0) == NULL || peek (self, 0)->index < index)) {
    if (peek (self, 0))
      drop_first (self);
    else
      result = read_ahead (self, error);
  }
  if (result == RECORD_MATCH_FLUSHING || result == RECORD_MATCH_FAILED)
    return result;
  self->seeking = FALSE;
  if (result == RECORD_MATCH_NONE || peek (self, 0)->index != index)
    return RECORD_MATCH_NONE;
  self->counts.matched++;
  return take_first (self, frame);
}

/* ------------------------------------------------------------------------ the interface */

RecordMatchResult
record_match_by (RecordMatch *self, RecordMatchBy *by, GError **error)
{
  RecordMatchResult result = RECORD_MATCH_FOUND;

  if (self->indexed) {
    result = read_index (self, error);
  } else if (!self->decided && self->by != RECORD_MATCH_INDEX) {
    result = read_ahead (self, error);
    if (result == RECORD_MATCH_NONE)
      result = RECORD_MATCH_FOUND;
  }
  /* a file without a good record: its first line is the error */
  if (result == RECORD_MATCH_FOUND && self->indexed && !self->decided && self->bad > 0)
    result = fail_at (self, 0, error);
  *by = self->decided ? self->by : self->by == RECORD_MATCH_INDEX ? self->by : RECORD_MATCH_AUTO;
  return result == RECORD_MATCH_NONE ? RECORD_MATCH_FOUND : result;
}

RecordMatchResult
record_match_at_time (RecordMatch *self, const RecordSearch *search, RecordedFrame **frame,
    GError **error)
{
  *frame = NULL;
  return self->indexed ? find_in_index (self, search, frame, error)
                       : find_forward (self, search, frame, error);
}

RecordMatchResult
record_match_at_index (RecordMatch *self, guint64 index, RecordedFrame **frame, GError **error)
{
  *frame = NULL;
  return self->indexed ? find_index (self, index, frame, error)
                       : find_index_forward (self, index, frame, error);
}

RecordMatchResult
record_match_take_next (RecordMatch *self, RecordedFrame **frame, GError **error)
{
  RecordMatchResult result = RECORD_MATCH_FOUND;

  *frame = NULL;
  if (!self->indexed) {
    if (peek (self, 0) == NULL)
      result = read_ahead (self, error);
    if (result != RECORD_MATCH_FOUND)
      return result;
    self->counts.matched++;
    return take_first (self, frame);
  }
  set_pass_length (self, 0);
  for (guint64 number = self->next; exists (self, number) && self->bad < self->entries->len;
       number++) {
    if (is_error (self, number))
      return fail_at (self, number, error);
    if (entry_at (self, number)->place & BAD)
      continue;
    if ((result = use_entry (self, number, frame, error)) != RECORD_MATCH_NONE)
      return result;
  }
  return RECORD_MATCH_NONE;
}

void
record_match_skip_found (RecordMatch *self, const gchar *reason)
{
  if (self->was_held)
    self->counts.held--;
  else
    self->counts.matched--;
  self->have_record = FALSE;
  count_skipped (self, g_error_new_literal (RECORD_ERROR, RECORD_ERROR_MALFORMED, reason));
}

guint64
record_match_line (RecordMatch *self)
{
  return self->indexed ? record_reader_line_at (self->reader, self->record->offset)
                       : self->record->line;
}

RecordMatchResult
record_match_jump (RecordMatch *self, gboolean back, gboolean reverse, GError **error)
{
  self->reverse = reverse;
  self->seeking = TRUE;
  if (self->indexed || !back || (!self->decided && self->ahead->len == 0))
    return RECORD_MATCH_FOUND;
  while (self->ahead->len > 0)
    drop_first (self);
  self->have_record = FALSE;
  return record_reader_rewind (self->reader, error) ? RECORD_MATCH_FOUND : RECORD_MATCH_FAILED;
}

/* Counts the entries that the stream has not reached, and lines that were written since. */
static void
finish_indexed (RecordMatch *self)
{
  if (read_index (self, NULL) != RECORD_MATCH_FOUND || self->reverse || self->loop)
    return;
  for (; self->next < self->entries->len; self->next++) {
    Entry *entry = entry_at (self, self->next);

    if (!(entry->place & (USED | COUNTED | BAD))) {
      entry->place |= COUNTED;
      self->counts.unmatched++;
    }
  }
  if (record_reader_seek (self->reader, self->end, 1, self->frames, NULL))
    self->counts.unmatched += record_reader_count_rest (self->reader);
}

void
record_match_finish (RecordMatch *self)
{
  if (self->indexed) {
    finish_indexed (self);
    return;
  }
  self->seeking = self->reverse;
  while (self->ahead->len > 0)
    drop_first (self);
  if (!self->reverse)
    self->counts.unmatched += record_reader_count_rest (self->reader);
}

const RecordMatchCounts *
record_match_counts (RecordMatch *self)
{
  return &self->counts;
}

guint64
record_match_ignored (RecordMatch *self)
{
  return self->indexed ? self->ignored : record_reader_ignored (self->reader);
}

const gchar *
record_match_first_skipped (RecordMatch *self)
{
  return self->first_skipped;
}
