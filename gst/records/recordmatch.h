/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordmatch: finds the record of each frame of a stream, by one rule: a frame takes the record
 * nearest to its stream time, at most a tolerance away; of several records with the same time, the
 * last one written counts. Records of a file without times are found by their index.
 *
 * A regular file is read through once, before the first record is needed, and an index of 16 bytes
 * a record is kept. Frames may then come in any order: after seeks, in reverse, in decoding order.
 * A pipe and a followed file are read forward, one record ahead of the frame, which waits for it; a
 * record in them that is not after the one before counts as unmatched.
 */
#pragma once

#include "linereader.h"
#include "recordreader.h"
#include "streamposition.h"

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
  guint64 matched;      /* frames that got a record of their own */
  guint64 held;         /* frames that got a record of an earlier time */
  guint64 unmatched;    /* records that no frame got, except those that a seek in a pipe skips */
  guint64 superseded;   /* records whose time a later line has, too */
  guint64 skipped;      /* malformed lines */
  guint64 ignored;      /* boxes of MOT ground truth with flag 0 */
  gchar *first_skipped; /* the message about the first malformed line, or NULL; owned */
} RecordMatchCounts;

/* Sets the counts to 0. */
void record_match_counts_reset (RecordMatchCounts *counts);

/* Handles a line that cannot be used. If `skip` is TRUE, counts it, keeps the first message and
 * returns RECORD_MATCH_NONE; otherwise sets *error and returns RECORD_MATCH_FAILED. Takes
 * `problem`. */
RecordMatchResult record_match_refuse (RecordMatchCounts *counts, gboolean skip, GError *problem,
    GError **error);

/* What a frame needs. Times are in ns. */
typedef struct
{
  StreamPositionStep step;
  guint64 tolerance;  /* largest distance of a record that matches the frame */
  guint64 hold;       /* maximum age of an earlier record for a frame without a match, or 0 */
  gint64 deadline;    /* time (g_get_monotonic_time ()) until which to wait; 0 for no limit */
  gint width, height; /* size of the frame in pixels; 0 if unknown */
} RecordSearch;

/* Makes a matcher, which owns `reader`. If skip_errors is TRUE, malformed lines are counted and
 * skipped; otherwise record_match_find () returns RECORD_MATCH_FAILED at such a line. If loop is
 * TRUE, the file begins again after its end, one frame duration later. `counts` is not owned. */
RecordMatch *record_match_new (RecordReader *reader, RecordMatchBy by, gboolean skip_errors,
    gboolean loop, RecordMatchCounts *counts);
void record_match_free (RecordMatch *self);

/* Finds the record nearest to the time, at most the tolerance away; of two at the same distance,
 * the earlier one. If there is none, returns the last record before the time, unless it is older
 * than `hold`, and counts it as held. A frame without a time gets the record after the one that
 * was found last. Where reading may wait, as for a pipe, a record up to a quarter of a
 * frame before the time is taken without looking for a nearer one, which would only come with the
 * next frame; at the deadline the frame has none. The boxes of *frame fit the size of the frame.
 * The matcher owns it, and it is valid until the next call. Fails after a jump backward in a pipe;
 * a followed file is read from its start then. */
RecordMatchResult record_match_find (RecordMatch *self, const RecordSearch *search,
    RecordedFrame **frame, GError **error);

/* Handles the end of the stream: counts the record read ahead as unmatched. */
void record_match_finish (RecordMatch *self);

G_END_DECLS
