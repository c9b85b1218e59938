/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "timings.h"

guint64
timings_now (const Timings *timings)
{
  struct timespec t;

  clock_gettime (timings->clock, &t);
  return GST_TIMESPEC_TO_TIME (t);
}

void
timings_add (const Timings *timings, Series *series, guint64 start)
{
  series->times[series->calls++] = timings_now (timings) - start;
}

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  const guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;
  return (x > y) - (x < y);
}

guint
timings_calls (const Timings *timings)
{
  return timings->quick ? 200 : MAX_CALLS;
}

guint
timings_calls_for (const Timings *timings, const GArray *list)
{
  return list->len > 500 ? timings_calls (timings) / 4 : timings_calls (timings);
}

void
timings_print_series (Timings *timings, Series *series, const gchar *what)
{
  guint64 *times = series->times + series->calls / 10;
  const guint n = series->calls - series->calls / 10;
  gchar *escaped = g_strescape (what, NULL);

  qsort (times, n, sizeof *times, compare_times);
  if (timings->json)
    g_print ("%s\n  {\"what\": \"%s\", \"median_us\": %.3f, \"q1_us\": %.3f, \"q3_us\": %.3f, "
             "\"calls\": %u}",
        timings->rows ? "," : "", escaped, times[n / 2] / 1e3, times[n / 4] / 1e3,
        times[n * 3 / 4] / 1e3, n);
  else
    g_print ("%-58s %9.2f us  (%.2f .. %.2f)\n", what, times[n / 2] / 1e3, times[n / 4] / 1e3,
        times[n * 3 / 4] / 1e3);
  timings->rows++;
  series->calls = 0;
  g_free (escaped);
}

void
timings_print (Timings *timings, const gchar *format, ...)
{
  va_list values;
  gchar *what;

  va_start (values, format);
  what = g_strdup_vprintf (format, values);
  va_end (values);
  timings_print_series (timings, &timings->main, what);
  g_free (what);
}

void
timings_push (Timings *timings, Bed *bed, GstBuffer *buffer)
{
  guint64 start;

  gst_clear_buffer (&bed->caught);
  start = timings_now (timings);
  bed_push (bed, buffer);
  timings_add (timings, &timings->main, start);
}
