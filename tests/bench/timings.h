/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * timings: collects the times of single calls and prints their median and quartiles, as
 * text or JSON.
 */
#pragma once

#include "bed.h"

#include <time.h>

#define MAX_CALLS 4000

typedef struct {
  guint64 times[MAX_CALLS];
  guint calls;
} Series;

typedef struct {
  gboolean json, quick;
  guint rows; /* printed */
  clockid_t clock;
  Series main, beside; /* times of the measured call, and of what alternates with it */
} Timings;

/* Returns the time of the clock in ns. */
guint64 timings_now (const Timings *timings);

/* Adds the time since `start` to a series of these timings. */
void timings_add (const Timings *timings, Series *series, guint64 start);

/* Return the number of calls to time: of a single call, and for buffers with these boxes. */
guint timings_calls (const Timings *timings);
guint timings_calls_for (const Timings *timings, const GArray *list);

/* Prints a row with the times added to a series since its last row, without the first tenth,
 * in which the caches are filled. timings_print does so for `main`, and formats the name of the
 * row as printf does. */
void timings_print_series (Timings *timings, Series *series, const gchar *what);
void timings_print (Timings *timings, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

/* Pushes a buffer, which it takes, and adds the time to `main`. Frees the previous buffer
 * first, because freeing it is not part of the time of the element. */
void timings_push (Timings *timings, Bed *bed, GstBuffer *buffer);
