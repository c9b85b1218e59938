/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmatch: which recorded frame belongs to which frame of a stream, by time or
 * by index, in one pass over the file with a look-ahead of one record (and, in
 * between, those that have no time). Each record is used once, and the order
 * is kept: what was passed over is gone until box_match_restart.
 */
#pragma once

#include "recordreader.h"

G_BEGIN_DECLS

typedef struct _BoxMatch BoxMatch;

/* The numbers are those of the property `match`. */
typedef enum
{
  BOX_MATCH_AUTO = 0,           /* by time if the first record has one */
  BOX_MATCH_TIMESTAMP = 1,
  BOX_MATCH_INDEX = 2,
} BoxMatchBy;

typedef enum
{
  BOX_MATCH_FOUND,
  BOX_MATCH_NONE,               /* the file has nothing for this frame */
  BOX_MATCH_FLUSHING,
  BOX_MATCH_FAILED,
} BoxMatchResult;

typedef struct
{
  guint64 matched;
  guint64 unmatched;            /* passed over; not by a seek */
  guint64 skipped;              /* lines in error */
} BoxMatchCounts;

/* Takes the file. With skip_errors, lines in error are counted, the reason of
 * the first kept; without, they end it. With loop, the end of the file is
 * followed by its beginning, one frame later. */
BoxMatch *box_match_new (BoxFile * file, BoxMatchBy by, gboolean skip_errors, gboolean loop);
void box_match_free (BoxMatch * self);

/* Says how to match: BOX_MATCH_TIMESTAMP or _INDEX, reading the first record if
 * that decides it; BOX_MATCH_AUTO if the file has no record. */
BoxMatchResult box_match_by (BoxMatch * self, BoxMatchBy * by, GError ** error);

/* The record for a frame at that time (ns of stream time): the nearest one not
 * farther than `tolerance`, the earlier of two. frame_duration is for loop; 0
 * if unknown. The record belongs to the matcher, until the next call. */
BoxMatchResult box_match_at_time (BoxMatch * self, guint64 time, guint64 tolerance,
    guint64 frame_duration, BoxFrame ** frame, GError ** error);

/* The record for frame number `index`, from 0. */
BoxMatchResult box_match_at_index (BoxMatch * self, guint64 index, BoxFrame ** frame,
    GError ** error);

/* The next record, whatever it is: for a frame that has no time. */
BoxMatchResult box_match_take_next (BoxMatch * self, BoxFrame ** frame, GError ** error);

/* The record found last was of no use, for that reason: counts it as skipped
 * instead of matched. */
void box_match_skip_found (BoxMatch * self, const gchar * reason);

/* From the beginning again; does nothing if nothing was read yet. The counts
 * go on. */
gboolean box_match_restart (BoxMatch * self, GError ** error);

/* Records that the next call passes over are skipped by a seek. */
void box_match_seeking (BoxMatch * self);

/* Counts what the file still holds as unmatched, unless it loops. Only
 * box_match_restart brings it back. */
void box_match_finish (BoxMatch * self);

const BoxMatchCounts *box_match_counts (BoxMatch * self);

/* The first line that was skipped, and why; NULL: none was. */
const gchar *box_match_first_skipped (BoxMatch * self);

void box_match_set_flushing (BoxMatch * self, gboolean flushing);

G_END_DECLS
