/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordqueue: the records that recordmatch chooses from, read ahead in the order of the
 * file. It checks their order, counts malformed lines, stops at the end of a session,
 * reads a looped file again at its end, and goes to another place in the file.
 */
#pragma once

#include "recordindex.h"
#include "recordwindow.h"

G_BEGIN_DECLS

typedef enum
{
  RECORD_MATCH_FOUND,
  RECORD_MATCH_NONE, /* no record matches this buffer */
  RECORD_MATCH_FLUSHING,
  RECORD_MATCH_FAILED,
} RecordMatchResult;

typedef struct
{
  guint64 matched;   /* records used */
  guint64 held;      /* buffers that got a record of an earlier time */
  guint64 unmatched; /* records not used, except those that a seek skips */
  guint64 skipped;   /* malformed lines */
} RecordMatchCounts;

/* Where a stream goes on after a jump. */
typedef struct
{
  guint64 time;     /* stream time in ns, if records are matched by time */
  guint64 index;    /* of the frame, if they are matched by index */
  guint64 slack;    /* as in RecordQuery */
  gboolean back;    /* at or before an earlier buffer */
  gboolean reverse; /* the stream is played in reverse */
  gboolean next;    /* not a seek, but the next buffer of reverse playback */
} RecordJump;

/* recordmatch reads all fields, and changes only those of the first group. */
typedef struct
{
  gboolean by_time;       /* records are matched by time, so sessions matter */
  gboolean seeking;       /* discarded records are not counted */
  gboolean reverse;       /* the stream is played in reverse */
  guint64 counted_key;    /* records before it were counted already; 0: none */
  guint64 frame_duration; /* of the stream, in ns; 0: unknown */
  RecordMatchCounts counts;

  RecordReader *reader;
  gboolean skip_errors, loop;
  GPtrArray *frames;      /* of RecordedFrame: records read ahead */
  GPtrArray *spare;       /* of RecordedFrame: to be reused */
  RecordedFrame *pending; /* by time: the first record of the next session, or NULL */
  RecordWindow window;    /* sorts sessions in decoding order */
  RecordIndex *index;     /* not used for a looped file or a pipe */
  gboolean started;       /* the file was read since it was opened */
  gboolean end;           /* the file has no more records */
  gchar *first_skipped;   /* the message about the first malformed line, or NULL */

  /* of the current session, by time */
  guint session;       /* counted from 0 in the order of the file */
  guint64 number;      /* as in the file */
  gboolean descending; /* its times descend */

  /* of the current pass; a looped file is read in several passes */
  guint64 time_offset, index_offset;
  guint64 first_time, last_time; /* of the records with a time, time_offset included */
  guint64 timed;                 /* number of records with a time */
  guint64 last_line;             /* line of the record at last_time */
  guint64 records;               /* number of records */
  guint64 skipped;               /* number of malformed lines */
} RecordQueue;

/* Makes an empty queue, which owns `reader`. */
RecordQueue *record_queue_new (RecordReader *reader, gboolean skip_errors, gboolean loop);
void record_queue_free (RecordQueue *self);

/* Returns record `i` of `frames`. */
RecordedFrame *record_queue_peek (const RecordQueue *self, guint i);

/* Maps a time to a number that ascends along the current session. */
guint64 record_queue_key (const RecordQueue *self, guint64 time);

/* Returns whether the record is before `counted_key`. */
gboolean record_queue_was_counted (const RecordQueue *self, const RecordedFrame *frame);

/* Removes the first `count` records. Counts them as unmatched, unless `seeking` or they are
 * not after `counted_key`. */
void record_queue_discard (RecordQueue *self, guint count);

/* Removes the first record and returns it; record_queue_recycle () takes it back. */
RecordedFrame *record_queue_take (RecordQueue *self);
void record_queue_recycle (RecordQueue *self, RecordedFrame *frame);

/* Reads one record to the end of the queue, by time in order of time also if a regular
 * file is in decoding order. Returns RECORD_MATCH_FOUND, or
 * RECORD_MATCH_NONE at the end of the file or of the session, which sets `pending`. At
 * the end of a looped file, skips whole passes before `time` or before frame `index`, of
 * which the caller sets one and the other to 0. */
RecordMatchResult record_queue_read (RecordQueue *self, guint64 time, guint64 index,
    GError **error);

/* Moves on to the next session, of which `pending` is the first record; discards the
 * records of the current one. */
void record_queue_next_session (RecordQueue *self);

/* Counts a line as skipped; keeps the first message. */
void record_queue_count_skipped (RecordQueue *self, const gchar *message);

/* Returns whether record_queue_go_to () works: the file is neither a pipe nor looped. */
gboolean record_queue_can_jump (RecordQueue *self);

/* Goes to where the records for `jump` are. With `back`, prefers the sessions after the
 * current one. Discards all records in the queue. */
RecordMatchResult record_queue_go_to (RecordQueue *self, const RecordJump *jump, gboolean back,
    GError **error);

/* Goes to the start of the file, and to the first pass. Discards all records. */
RecordMatchResult record_queue_restart (RecordQueue *self, GError **error);

/* Discards all records and counts those that were not read as unmatched too, unless the
 * file is looped or was played in reverse. Sets `end`, except in a file that was not read. */
void record_queue_finish (RecordQueue *self);

G_END_DECLS
