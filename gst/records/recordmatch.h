/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordmatch: finds the record of each frame of a stream, by one rule: a frame takes the record
 * nearest to its stream time, at most a tolerance away; of several records with one time the last
 * one written counts. Records of a file without times are found by their index.
 *
 * A regular file is read through once, before the first record is needed, and an index of 16 bytes
 * a record is kept. Frames may then come in any order: after seeks, in reverse, in decoding order.
 * A pipe and a followed file are read forward, one record ahead of the frame, which waits for it; a
 * record in them that is not after the one before counts as unmatched.
 */
#pragma once

#include "recordreader.h"

G_BEGIN_DECLS

typedef struct _RecordMatch RecordMatch;

/* The values of the property `match`. */
typedef enum
{
  RECORD_MATCH_AUTO = 0, /* TIMESTAMP if the first record has a time, otherwise INDEX */
  RECORD_MATCH_TIMESTAMP = 1,
  RECORD_MATCH_INDEX = 2,
} RecordMatchBy;

typedef enum
{
  RECORD_MATCH_FOUND,
  RECORD_MATCH_NONE, /* no record matches this frame */
  RECORD_MATCH_FLUSHING,
  RECORD_MATCH_FAILED,
} RecordMatchResult;

typedef struct
{
  guint64 matched;    /* frames that got a record of their own */
  guint64 held;       /* frames that got a record of an earlier time */
  guint64 unmatched;  /* records not used, except those that a seek skips */
  guint64 superseded; /* records of a time that a later line has too */
  guint64 skipped;    /* malformed lines */
} RecordMatchCounts;

/* Makes a matcher, which owns `reader`. With skip_errors, malformed lines are
 * counted and the message about the first one is kept; without, a malformed line
 * makes the functions below return RECORD_MATCH_FAILED when the stream reaches it. With loop, the
 * file begins again at its end, one frame duration later. */
RecordMatch *record_match_new (RecordReader *reader, RecordMatchBy by, gboolean skip_errors,
    gboolean loop);
void record_match_free (RecordMatch *self);

/* Sets the time (g_get_monotonic_time ()) until which the functions below wait for a record
 * of a pipe; then they go on as if there were none yet. 0, the default: no limit. */
void record_match_set_deadline (RecordMatch *self, gint64 deadline);

/* Sets `by` to RECORD_MATCH_TIMESTAMP or RECORD_MATCH_INDEX, reading the first
 * record or the index if that decides it; to RECORD_MATCH_AUTO if there are no records yet.
 * Returns RECORD_MATCH_FOUND, _FLUSHING or _FAILED. */
RecordMatchResult record_match_by (RecordMatch *self, RecordMatchBy *by, GError **error);

/* What a frame needs, all in ns. */
typedef struct
{
  guint64 time;           /* stream time */
  guint64 tolerance;      /* largest distance of its record */
  guint64 hold;           /* largest age of an earlier record, if it has none; 0: none */
  guint64 frame_duration; /* of the stream; 0: unknown */
} RecordSearch;

/* Finds the record nearest to the time, at most the tolerance away; the earlier one of two
 * at the same distance. Without one, returns the last record before the time if that is
 * not older than `hold`, and counts it as held. Where reading may wait, as for a pipe, a
 * record up to a quarter of a frame before the time is taken without looking for a nearer
 * one, which would only come with the next frame. The matcher owns the record, which is
 * valid until the next call. */
RecordMatchResult record_match_at_time (RecordMatch *self, const RecordSearch *search,
    RecordedFrame **frame, GError **error);

/* Finds the record of the frame with this index, from 0. */
RecordMatchResult record_match_at_index (RecordMatch *self, guint64 index, RecordedFrame **frame,
    GError **error);

/* Returns the record behind the one that was found last, for a buffer without a time. */
RecordMatchResult record_match_take_next (RecordMatch *self, RecordedFrame **frame, GError **error);

/* Counts the record found last as skipped instead of matched, because it cannot be
 * used for this reason. */
void record_match_skip_found (RecordMatch *self, const gchar *reason);

/* Returns the number of the line of the record found last. */
guint64 record_match_line (RecordMatch *self);

/* Says that the stream has jumped, with `back` to a time at or before an earlier one; `reverse`: it
 * is played in reverse. The counts are kept, and the records between are not counted as unmatched.
 * A followed file is read from its start after a jump backward. Returns RECORD_MATCH_FOUND, or
 * RECORD_MATCH_FAILED with G_FILE_ERROR_SPIPE after a jump backward in a pipe. */
RecordMatchResult record_match_jump (RecordMatch *self, gboolean back, gboolean reverse,
    GError **error);

/* Handles the end of the stream: counts the remaining records of the file as unmatched, unless it
 * is looped or played in reverse. */
void record_match_finish (RecordMatch *self);

const RecordMatchCounts *record_match_counts (RecordMatch *self);

/* Returns the number of boxes of MOT ground truth that are left out because their flag is 0. */
guint64 record_match_ignored (RecordMatch *self);

/* Returns the message about the first line that was skipped, with its line number;
 * NULL if none was skipped. */
const gchar *record_match_first_skipped (RecordMatch *self);

G_END_DECLS
