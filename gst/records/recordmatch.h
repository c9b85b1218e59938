/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmatch: which recorded frame belongs to which frame of a stream, by time or
 * by index, in one pass over the file with a look-ahead of one record (and, in
 * between, those that have no time). Each record is used once, and the order
 * is kept: what was passed over is gone until record_match_restart.
 */
#pragma once

#include "recordreader.h"

G_BEGIN_DECLS

typedef struct _RecordMatch RecordMatch;

/* The numbers are those of the property `match`. */
typedef enum
{
  RECORD_MATCH_AUTO = 0,        /* by time if the first record has one */
  RECORD_MATCH_TIMESTAMP = 1,
  RECORD_MATCH_INDEX = 2,
} RecordMatchBy;

typedef enum
{
  RECORD_MATCH_FOUND,
  RECORD_MATCH_NONE,            /* the file has nothing for this frame */
  RECORD_MATCH_FLUSHING,
  RECORD_MATCH_FAILED,
} RecordMatchResult;

typedef struct
{
  guint64 matched;
  guint64 unmatched;            /* passed over; not by a seek */
  guint64 skipped;              /* lines in error */
} RecordMatchCounts;

/* Takes the file. With skip_errors, lines in error are counted, the reason of
 * the first kept; without, they end it. With loop, the end of the file is
 * followed by its beginning, one frame later. */
RecordMatch *record_match_new (RecordReader * reader, RecordMatchBy by, gboolean skip_errors,
    gboolean loop);
void record_match_free (RecordMatch * self);

/* Says how to match: RECORD_MATCH_TIMESTAMP or _INDEX, reading the first record if
 * that decides it; RECORD_MATCH_AUTO if the file has no record. */
RecordMatchResult record_match_by (RecordMatch * self, RecordMatchBy * by, GError ** error);

/* The record for a frame at that time (ns of stream time): the nearest one not
 * farther than `tolerance`, the earlier of two. frame_duration is for loop; 0
 * if unknown. The record belongs to the matcher, until the next call. */
RecordMatchResult record_match_at_time (RecordMatch * self, guint64 time, guint64 tolerance,
    guint64 frame_duration, RecordedFrame ** frame, GError ** error);

/* The record for frame number `index`, from 0. */
RecordMatchResult record_match_at_index (RecordMatch * self, guint64 index, RecordedFrame ** frame,
    GError ** error);

/* The next record, whatever it is: for a frame that has no time. */
RecordMatchResult record_match_take_next (RecordMatch * self, RecordedFrame ** frame,
    GError ** error);

/* The record found last was of no use, for that reason: counts it as skipped
 * instead of matched. */
void record_match_skip_found (RecordMatch * self, const gchar * reason);

/* From the beginning again; does nothing if nothing was read yet. The counts
 * go on. */
gboolean record_match_restart (RecordMatch * self, GError ** error);

/* Records that the next call passes over are skipped by a seek. */
void record_match_begin_seek (RecordMatch * self);

/* Counts what the file still holds as unmatched, unless it loops. Only
 * record_match_restart brings it back. */
void record_match_finish (RecordMatch * self);

const RecordMatchCounts *record_match_counts (RecordMatch * self);

/* The first line that was skipped, and why; NULL: none was. */
const gchar *record_match_first_skipped (RecordMatch * self);

G_END_DECLS
