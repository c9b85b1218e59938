/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-streams: many nmsfilters in one process, each in a thread.
 *
 *   bench-streams [--json] [--quick]
 *
 * Measures twice: at full speed, for the throughput; and at 25 frames a second for each
 * stream, for the time of a frame while other streams work (the 99th percentile of each
 * stream). For throughput each thread pushes the same buffer again and again and keeps a
 * reference, so that nmsfilter makes a copy with the kept boxes, as behind a tee.
 * Creating the metadata of a frame anew would take several times as long as filtering
 * it, under a lock of GLib. Runs on the processors that it may use.
 */
#define _GNU_SOURCE
#include "bed.h"

#include <sched.h>

#define STREAMS 16
#define BOXES 100
#define MAX_SPENT 2000

typedef struct {
  GArray *list; /* of Detection; shared and read-only */
  gint64 until; /* microseconds, monotonic */
  gint64 pace;  /* microseconds between two frames; 0: none */
  gint64 first; /* microseconds; start of the first frame */
  guint frames;
  gfloat spent[MAX_SPENT]; /* microseconds of the last pushes */
} Stream;

static gdouble
now (void)
{
  return gst_util_get_timestamp () / 1e3;
}

static GstBuffer *
frame_new (const Stream *stream)
{
  GstBuffer *buffer = gst_buffer_new ();

  attach_all (buffer, stream->list);
  GST_BUFFER_PTS (buffer) = stream->frames * FRAME;
  return buffer;
}

static gpointer
run_stream (gpointer data)
{
  Stream *stream = data;
  GstBuffer *kept;
  Bed bed;

  if (!bed_open (&bed, "nmsfilter", NULL))
    return NULL;
  kept = frame_new (stream);
  while (g_get_monotonic_time () < stream->until) {
    GstBuffer *buffer;
    gdouble start;

    if (stream->pace) {
      const gint64 due = stream->first + stream->frames * stream->pace;
      const gint64 wait = due - g_get_monotonic_time ();
      if (wait > 0)
        g_usleep ((gulong) wait);
    }
    buffer = stream->pace ? frame_new (stream) : gst_buffer_ref (kept);
    start = now ();
    bed_push (&bed, buffer);
    stream->spent[stream->frames++ % MAX_SPENT] = (gfloat) (now () - start);
    gst_clear_buffer (&bed.caught);
  }
  gst_buffer_unref (kept);
  bed_close (&bed);
  return stream;
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  const gfloat x = *(const gfloat *) a, y = *(const gfloat *) b;
  return (x > y) - (x < y);
}

typedef struct {
  guint frames;
  gdouble seconds, median, p99, worst_p99;
} Result;

/* Sets p99 to the median and worst_p99 to the maximum of the 99th percentiles of the
 * streams. Returns FALSE if there is no nmsfilter. */
static gboolean
run (GArray *list, gdouble seconds, gboolean paced, Result *result)
{
  Stream *streams = g_new0 (Stream, STREAMS);
  const gint64 start = g_get_monotonic_time ();
  gfloat medians[STREAMS], p99[STREAMS];
  GThread *threads[STREAMS];
  gboolean ok = TRUE;

  for (guint i = 0; i < STREAMS; i++) {
    streams[i].list = list;
    streams[i].until = start + (gint64) (seconds * 1e6);
    streams[i].pace = paced ? 40000 : 0;
    streams[i].first = start + i * 40000 / STREAMS;
    threads[i] = g_thread_new ("stream", run_stream, &streams[i]);
  }
  for (guint i = 0; i < STREAMS; i++)
    ok &= g_thread_join (threads[i]) != NULL;
  *result = (Result) { .seconds = (g_get_monotonic_time () - start) / 1e6 };
  for (guint i = 0; i < STREAMS && ok; i++) {
    Stream *s = &streams[i];
    const guint known = MIN (s->frames, MAX_SPENT);
    qsort (s->spent, known, sizeof *s->spent, compare);
    medians[i] = s->spent[known / 2];
    p99[i] = s->spent[known * 99 / 100];
    result->frames += s->frames;
  }
  if (ok) {
    qsort (medians, STREAMS, sizeof *medians, compare);
    qsort (p99, STREAMS, sizeof *p99, compare);
    result->median = medians[STREAMS / 2];
    result->p99 = p99[STREAMS / 2];
    result->worst_p99 = p99[STREAMS - 1];
  }
  g_free (streams);
  return ok;
}

int
main (int argc, char **argv)
{
  gboolean json = FALSE, quick = FALSE;
  GArray *list;
  cpu_set_t cpus;
  Result fast, paced;
  int res = 1;

  gst_init (&argc, &argv);
  for (int i = 1; i < argc; i++) {
    json |= g_str_equal (argv[i], "--json");
    quick |= g_str_equal (argv[i], "--quick");
    if (!g_str_equal (argv[i], "--json") && !g_str_equal (argv[i], "--quick")) {
      g_print ("usage: bench-streams [--json] [--quick]\n");
      return !g_str_equal (argv[i], "--help");
    }
  }
  sched_getaffinity (0, sizeof cpus, &cpus);
  list = make_detections (BOXES);
  if (run (list, quick ? 1 : 5, FALSE, &fast) && run (list, quick ? 2 : 10, TRUE, &paced)) {
    res = 0;
    if (json)
      g_print ("{\"streams\": %d, \"boxes\": %d, \"processors\": %d, \"frames_per_second\": %.0f, "
               "\"paced_fps\": 25, \"median_us\": %.2f, \"p99_us\": %.2f, "
               "\"worst_p99_us\": %.2f}\n",
          STREAMS, BOXES, CPU_COUNT (&cpus), fast.frames / fast.seconds, paced.median, paced.p99,
          paced.worst_p99);
    else
      g_print ("%d streams of %d boxes on %d processors\n"
               "as fast as they go: %.0f frames/s in all\n"
               "at 25 frames/s each: median %.2f us, p99 %.2f us (the worst stream's %.2f us)\n",
          STREAMS, BOXES, CPU_COUNT (&cpus), fast.frames / fast.seconds, paced.median, paced.p99,
          paced.worst_p99);
  }
  g_array_unref (list);
  return res;
}
