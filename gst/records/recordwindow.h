/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordwindow: sorts the records of a session in decoding order by time. In that order
 * times go back by a few frames, so the earliest of the next RECORD_WINDOW_MOST + 1
 * records is the next one in order of time.
 */
#pragma once

#include "recordedframe.h"

G_BEGIN_DECLS

/* Largest number of frames by which H.264 and H.265 reorder. */
#define RECORD_WINDOW_MOST 16

typedef struct
{
  GPtrArray *frames;   /* of RecordedFrame, in order of time */
  RecordedFrame *next; /* the record after the sorted ones, or NULL */
  gboolean ended;      /* the file has no more records */

  /* private */
  gboolean sorting; /* a record of the session is marked */
  guint64 session;
  gboolean reverse;
} RecordWindow;

void record_window_init (RecordWindow *self);
void record_window_clear (RecordWindow *self);

/* Takes a record, the newest of the file, if it is to be sorted: if it has a time, and it or
 * one before it in its session is marked as in decoding order. Returns FALSE if not; then
 * it sets `next` to it if the records in the window are to be taken first. */
gboolean record_window_add (RecordWindow *self, RecordedFrame *frame);

/* Removes and returns the next record in order of time, or NULL if there is none or more
 * have to be added to know it. */
RecordedFrame *record_window_take (RecordWindow *self);

/* Forgets the session. The window must be empty. */
void record_window_reset (RecordWindow *self);

G_END_DECLS
