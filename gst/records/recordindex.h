/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordindex: a sparse index of a recording that can be read from any place. It has a
 * checkpoint of 32 bytes for every 16 KiB of the file, and for each session another of
 * 56 bytes, so a record is found by reading the 16 KiB before it. Checkpoints are added
 * while the file is read; a jump beyond the last one reads the headers of the lines up
 * to its target.
 */
#pragma once

#include "recordreader.h"

G_BEGIN_DECLS

typedef struct _RecordIndex RecordIndex;

/* The place of a record in the file, as record_reader_seek () takes it. */
typedef struct
{
  guint64 offset, line, index;
  guint64 time; /* RECORDED_FRAME_NO_TIME if it has none */
} RecordCheckpoint;

/* What a jump by time looks for. Sessions are counted from 0 in the order of the file. */
typedef struct
{
  guint64 time;     /* stream time in ns */
  guint64 slack;    /* ns by which a session may begin later or end earlier */
  guint session;    /* the stream's session before the jump; set to its new one */
  gboolean stay;    /* searches this session only */
  gboolean back;    /* prefers the sessions after this one to this one */
  gboolean reverse; /* prefers sessions of reverse playback to others */
} RecordQuery;

RecordIndex *record_index_new (void);
void record_index_free (RecordIndex *self);

/* Adds a record; ignores one that was added before. Records come in the order of the
 * file; only records without a time may be left out. */
void record_index_add (RecordIndex *self, const RecordedFrame *frame);

/* Maps a time to a number that ascends along a session, also in reverse playback. */
guint64 record_index_key (gboolean reverse, guint64 time);

/* Set `place` to the last checkpoint from which reading on meets the record for a time
 * or with a frame index, or to the start of the file. They may read further records, and
 * leave the reader anywhere. Return RECORD_READER_FRAME, _FLUSHING or _FAILED. */
RecordReaderResult record_index_find_time (RecordIndex *self, RecordReader *reader,
    RecordQuery *query, RecordCheckpoint *place, GError **error);
RecordReaderResult record_index_find_index (RecordIndex *self, RecordReader *reader, guint64 index,
    RecordCheckpoint *place, GError **error);

G_END_DECLS
