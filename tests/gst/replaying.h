/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replaying: a boxreplay under test, with a recording that the test writes. */
#pragma once

#include "steps.h"

/* The harness has 10 frames a second and room for boxes at any x. */
#define CAPS "video/x-raw,format=GRAY8,width=9000,height=9000,framerate=10/1"

/* A line with the box x,2,3,4; `members` come before its objects. */
#define LINE(members, x) "{" members "\"objects\":[{\"x\":" #x ",\"y\":2,\"w\":3,\"h\":4}]}\n"

typedef struct
{
  GstHarness *h, *text; /* harness of the video; harness of the pad `boxes`, or NULL */
  GstBus *bus;
  gchar *path;      /* path of the recording, or "pad boxes" */
  int fd;           /* the end of a pipe for writing; -1: none */
  guint records;    /* number of those written */
  gint64 start;     /* time of the first step, in us */
  GThread *waiting; /* pushes a frame */
  gboolean failed;  /* a push has ended in an error */
} Replay;

/* A recording, and the steps that play it. */
typedef struct
{
  const gchar *name, *properties;
  /* The text of the file, "|" for a FIFO, "pad" for the pad boxes, or what steps_records takes: the
   * first record has a box with x = 1, the second one with x = 2, and so on. */
  const gchar *contents;
  /* Those of steps_event, and with times in frames:
   *   2:7        a buffer at 2 * FRAME gets a first box with x = 7
   *   2..4:7     buffers at 2, 3 and 4 get 7, 8 and 9; 4..2:9 is the reverse
   *   2:-        it gets no box, as 2:-1
   *   -:7        the buffer has no PTS
   *   2:!        the push ends in an error; 2:!eos in another result
   *   1?         a buffer at 1 is pushed by a thread, and waits; ?:7 is its result
   *   waits-30   that thread still waits after 30 ms
   *   took-50    50 ms have passed since the first step
   *   bare       caps without a size and a rate
   *   ready      the element stops
   *   +5         a record at 5 is written to the file or FIFO, or pushed to the pad with this time;
   *              5!eos has another result than ok; 5'text and 'text write this text instead
   *   move       the file is moved away; <5 and <'text write to that one
   *   truncate, unlink
   *   text-...   an event of the pad boxes */
  const gchar *steps;
  /* The only error (if there is a step 2:!) or warning contains this text and the name of the file.
   * NULL: there is neither an error nor a warning. */
  const gchar *says;
} ReplayRow;

/* Plays a row. */
void replay_row (gconstpointer row);

/* Creates a boxreplay of these contents; replay_play plays steps with it. */
void replay_open (Replay *r, const gchar *contents, const gchar *properties);
void replay_play (Replay *r, const gchar *steps);
void replay_close (Replay *r);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Replay, replay_close)

/* Pushes one buffer. Returns x of its first box, or -1 if it has none. */
gint replay_x_at (Replay *r, GstClockTime pts);
