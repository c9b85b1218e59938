/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replaying: a boxreplay under test, with a recording that the test writes. */
#pragma once

#include "gstboxes.h"

/* The frames are 16x16 pixels, 10 a second. */
#define FRAME (100 * GST_MSECOND)
#define CAPS "video/x-raw,format=GRAY8,width=16,height=16,framerate=10/1"

typedef struct
{
  GstHarness *h;
  GstBus *bus;
  gchar *path;
} Replay;

/* Creates a boxreplay with these properties and a file with these contents. */
void replay_open (Replay *r, const gchar *contents, const gchar *properties);
void replay_close (Replay *r);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Replay, replay_close)

/* Returns JSON Lines with one record at each of these times, in frames: "0 1.5 2". The only box of
 * a record has x = 1, 2, 3, ..., which identifies it. Free it. */
gchar *replay_records (const gchar *times);
void replay_open_records (Replay *r, const gchar *times, const gchar *properties);

/* Plays steps, separated by blanks, with times in frames:
 *   2:7        a buffer at 2 * FRAME gets a first box with x = 7
 *   2:-        it gets no box
 *   -:7        the buffer has no PTS
 *   from-5     a segment begins
 *   flush      FLUSH_START and FLUSH_STOP
 *   seek-5     flush and from-5
 *   eos        EOS
 *   quiet      neither errors nor warnings have been posted
 *   matched=3  the field `matched` of the property stats is 3 */
void replay_play (Replay *r, const gchar *steps);

/* Plays these steps with a file of these contents, or with records at these times. */
void replay_check (const gchar *contents, const gchar *properties, const gchar *steps);

/* Fails unless the first buffer ends in an error that contains `says` and the name of the file. */
void replay_check_error (const gchar *contents, const gchar *properties, const gchar *says);

GstBuffer *replay_buffer (GstClockTime pts);
guint replay_count (GstBuffer *buffer);
GstVideoRegionOfInterestMeta *replay_box (GstBuffer *buffer, guint n);

/* Pushes one buffer. Returns x of its first box, or -1 if it has none. */
gint replay_x_at (Replay *r, GstClockTime pts);

/* Returns the text of the only message of that type. Fails if there is none or more than
 * one. Free it. */
gchar *replay_message (GstBus *bus, GstMessageType type);

/* Fails unless the only message of that type contains `what` and the name of the file. */
void replay_must_say (Replay *r, GstMessageType type, const gchar *what);

/* Begins a segment that is played in reverse and ends at 0. */
void replay_reverse (Replay *r, GstClockTime stop);

/* Opens a FIFO that a boxreplay with these properties reads. Returns its end for writing, which
 * replay_close_pipe () closes if it is not -1. */
int replay_open_pipe (Replay *r, const gchar *properties);
void replay_close_pipe (Replay *r, int fd);

/* Returns a line at `time` in ns whose only box has this x. Free it. */
gchar *replay_line (guint64 time, guint x);

/* Fails unless the element of this launch line cannot start, twice, with an error that contains the
 * text. */
void replay_must_refuse (const gchar *text, const gchar *launch, ...) G_GNUC_PRINTF (2, 3);
