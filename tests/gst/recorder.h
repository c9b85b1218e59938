/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recorder: a boxrecord in a harness, for the tests of its text, files and pipes. */
#pragma once

#include "steps.h"

/* Number of boxes of a line longer than PIPE_BUF: about 8 kB. */
#define BIG 200

/* The steps that a recorder plays, and the lines that it must write. */
typedef struct
{
  const gchar *name, *properties;
  /* text of the file, NULL (no file), "|" (a FIFO with a reader), "|late", "/dev/full", or "pad"
   * (instead of a file, the pad boxes) */
  const gchar *before;
  /* Those of steps_event, and with times in frames:
   *   5, 5..9    frames, each with the box 1,2,3,4; 5u is a delta unit, 5t has a DTS, 5o no box
   *   5!         the push ends in an error
   *   stream-a   a stream begins with the id a
   *   open       a reader of the FIFO comes; close: it reads what is there and leaves, leave: it
   *              leaves only
   *   move       the file is moved away; that one must keep its text
   *   lines:3    the file has three lines, lines:>3 more, or the reader has got them */
  const gchar *steps;
  /* The text of the file at the end, or what the reader or the pad gets; NULL: not compared.
   * "0 1d - 2h" are records as steps_records takes them. The pad gets lines such as "gap 3+1" for
   * an event, which lasts one frame, and "3+1 " in front of the text of a buffer. */
  const gchar *after;
  const gchar *says; /* the only error or warning contains this; NULL: there is none */
} RecorderRow;

/* Plays a row. */
void recorder_row (gconstpointer row);

/* Returns the text that the member `after` of a row stands for. Free it. */
gchar *recorder_text (const gchar *after);

/* Returns a boxrecord that plays. If `bus` is not NULL, sets it to the bus of its messages, which
 * it owns. */
GstHarness *recorder_new (GstBus **bus, const gchar *location, const gchar *properties);

/* Fails unless a boxrecord with these properties cannot start, and its error contains the text. */
void recorder_must_refuse (const gchar *location, const gchar *properties, const gchar *text);

/* Pushes the frame at index * FRAME, with that number of boxes. */
GstFlowReturn recorder_push (GstHarness *h, guint index, guint boxes);

/* Pushes frames from..to-1, each with one box; fails unless each passes. */
void recorder_push_range (GstHarness *h, guint from, guint to);

/* Fails unless `text` consists of complete lines of JSON. Returns their number. */
guint recorder_lines (const gchar *text);

/* Fails unless the file consists of complete lines of JSON. Returns their number. */
guint recorder_file_lines (const gchar *path);

/* Appends what the pipe holds now to `text`. */
void recorder_drain (int fd, GString *text);
