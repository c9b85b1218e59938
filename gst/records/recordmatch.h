/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordmatch: finds the record for each buffer of a stream, by time or by index. It
 * reads the file on, one record ahead and any records without a time in between, and
 * uses each record at most once. Only record_match_jump () brings discarded records
 * back.
 *
 * By time, it matches within one session of the file at a time. It goes on to the next
 * session where the stream has passed the end of one, and to the session that fits
 * best where the stream jumps.
 */
#pragma once

#include "recordqueue.h"

G_BEGIN_DECLS

typedef struct _RecordMatch RecordMatch;

/* The values of the property `match`. */
typedef enum
{
  RECORD_MATCH_AUTO = 0, /* TIMESTAMP if the first record has a time, otherwise INDEX */
  RECORD_MATCH_TIMESTAMP = 1,
  RECORD_MATCH_INDEX = 2,
} RecordMatchBy;

/* Makes a matcher, which owns `reader`. With skip_errors, malformed lines are
 * counted and the message about the first one is kept; without, a malformed line
 * makes the functions below return RECORD_MATCH_FAILED. With loop, the file begins
 * again at its end, one frame duration later. */
RecordMatch *record_match_new (RecordReader *reader, RecordMatchBy by, gboolean skip_errors,
    gboolean loop);
void record_match_free (RecordMatch *self);

/* Sets the time (g_get_monotonic_time ()) until which the functions below wait for a record
 * of a pipe; then they go on as if there were none yet. 0, the default: no limit. */
void record_match_set_deadline (RecordMatch *self, gint64 deadline);

/* Sets `by` to RECORD_MATCH_TIMESTAMP or RECORD_MATCH_INDEX, reading the first
 * record if that decides it; to RECORD_MATCH_AUTO if there are no records yet.
 * Returns RECORD_MATCH_FOUND, _FLUSHING or _FAILED. */
RecordMatchResult record_match_by (RecordMatch *self, RecordMatchBy *by, GError **error);

/* What a buffer needs, all in ns. */
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

/* Returns the next record, for a buffer without a time. */
RecordMatchResult record_match_take_next (RecordMatch *self, RecordedFrame **frame, GError **error);

/* Counts the record found last as skipped instead of matched, because it cannot be
 * used for this reason. */
void record_match_skip_found (RecordMatch *self, const gchar *reason);

/* Goes to where the records for `jump` are; the counts are kept, and records that the
 * next call discards are not counted as unmatched. A looped file is read again from its
 * start for a jump backward. Returns RECORD_MATCH_FOUND, _FLUSHING or _FAILED; a jump
 * backward fails with G_FILE_ERROR_SPIPE if the file is a pipe. */
RecordMatchResult record_match_jump (RecordMatch *self, const RecordJump *jump, GError **error);

/* Counts the remaining records of the file as unmatched, unless it is looped or was
 * played in reverse. Afterwards only record_match_jump () gives records again. */
void record_match_finish (RecordMatch *self);

const RecordMatchCounts *record_match_counts (RecordMatch *self);

/* Returns the message about the first line that was skipped, with its line number;
 * NULL if none was skipped. */
const gchar *record_match_first_skipped (RecordMatch *self);

G_END_DECLS
