/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-elements: measures the time that the elements take for a buffer.
 *
 *   bench-elements [filter] [overlay] [files] [merge]
 *
 * Without a name all four are measured. Each buffer is created right before the push, as if a
 * detector upstream had just written it, and only the push is timed, from the pad before the
 * element to the harness behind it. The row of `identity`, which does nothing, is the time of the
 * harness. Times are wall-clock times, except those of the file elements: they take so long that
 * other programs would disturb the measurement, so they are CPU times. So are those of boxmerge,
 * because it has a thread of its own.
 */
#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#ifdef HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WIDTH 1280
#define HEIGHT 720
#define CAPS "video/x-raw,format=I420,width=1280,height=720,framerate=25/1"
#define FRAME (GST_SECOND / 25)
#define CALLS 2000
#define BOXES 100
#define BRANCHES 8
#define LABELLED " with label and score, I420 1280x720"

/* ------------------------------------------------------------------- times */

static struct {
  clockid_t clock;
  guint calls;
  gdouble us[CALLS];
} series;

static gdouble
now (void)
{
  struct timespec t;

  clock_gettime (series.clock, &t);
  return (gdouble) t.tv_sec * 1e6 + (gdouble) t.tv_nsec / 1e3;
}

static void
add_since (gdouble start)
{
  series.us[series.calls++] = now () - start;
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;
  return (x > y) - (x < y);
}

/* Prints the median and the quartiles, without the first tenth, in which the caches are filled. */
static void
print_row (const gchar *format, ...)
{
  gdouble *us = series.us + series.calls / 10;
  const guint n = series.calls - series.calls / 10;
  va_list values;
  gchar *what;

  va_start (values, format);
  what = g_strdup_vprintf (format, values);
  va_end (values);
  qsort (us, n, sizeof *us, compare);
  g_print ("%-58s %9.2f us  (%.2f .. %.2f)\n", what, us[n / 2], us[n / 4], us[n * 3 / 4]);
  series.calls = 0;
  g_free (what);
}

/* ------------------------------------------------------------------- boxes */

typedef struct {
  gint x, y, w, h, label;
  gdouble confidence;
} Detection;

static const gchar *const labels[] = { "person", "car", "bicycle", "dog" };

/* Returns `count` boxes (Detection). 60 % of them repeat one of the others, slightly moved and with
 * a lower confidence, at random positions in the buffer. The objects lie in a grid of 25 x 16. */
static GArray *
make_detections (guint count)
{
  GArray *list = g_array_sized_new (FALSE, FALSE, sizeof (Detection), count);
  GRand *rand = g_rand_new_with_seed (count);
  const guint objects = MAX (1, count * 2 / 5);

  for (guint i = 0; i < count; i++) {
    const guint object = i % objects, place = object * (400 / objects);
    const gboolean copy = i >= objects;
    Detection d = { .w = 40, .h = 36, .label = (gint) (object % G_N_ELEMENTS (labels)) };

    d.x = (gint) (place % 25) * 51 + (copy ? g_rand_int_range (rand, 0, 4) : 2);
    d.y = (gint) (place / 25) * 45 + (copy ? g_rand_int_range (rand, 0, 4) : 2);
    d.confidence = copy ? g_rand_double_range (rand, 0.3, 0.6) : g_rand_double_range (rand, 0.7, 1);
    g_array_append_val (list, d);
  }
  for (guint i = count; i > 1; i--) {
    const guint j = (guint) g_rand_int_range (rand, 0, (gint32) i);
    const Detection d = g_array_index (list, Detection, i - 1);
    g_array_index (list, Detection, i - 1) = g_array_index (list, Detection, j);
    g_array_index (list, Detection, j) = d;
  }
  g_rand_free (rand);
  return list;
}

static void
attach_region (GstBuffer *buffer, const Detection *d, guint id)
{
  GstVideoRegionOfInterestMeta *meta = gst_buffer_add_video_region_of_interest_meta (buffer,
      labels[d->label], (guint) d->x, (guint) d->y, (guint) d->w, (guint) d->h);

  meta->id = (gint) id + 1;
  gst_video_region_of_interest_meta_add_param (meta,
      gst_structure_new ("detection", "x_min", G_TYPE_DOUBLE, d->x / (gdouble) WIDTH, "x_max",
          G_TYPE_DOUBLE, (d->x + d->w) / (gdouble) WIDTH, "y_min", G_TYPE_DOUBLE,
          d->y / (gdouble) HEIGHT, "y_max", G_TYPE_DOUBLE, (d->y + d->h) / (gdouble) HEIGHT,
          "confidence", G_TYPE_DOUBLE, d->confidence, "label_id", G_TYPE_INT, d->label, NULL));
}

static void
attach_regions (GstBuffer *buffer, const GArray *list)
{
  for (guint i = 0; i < list->len; i++)
    attach_region (buffer, &g_array_index (list, Detection, i), i);
}

/* The same with random confidences, so that each buffer has other texts. */
static void
attach_new_texts (GstBuffer *buffer, const GArray *list)
{
  for (guint i = 0; i < list->len; i++) {
    Detection d = g_array_index (list, Detection, i);
    d.confidence = g_random_double_range (0.3, 1);
    attach_region (buffer, &d, i);
  }
}

static guint
count_regions (GstBuffer *buffer)
{
  return gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

#ifdef HAVE_ANALYTICS
/* Attaches the boxes as GstAnalytics detections, with or without a class mtd for each. Allocates
 * the meta at its final size, as a decoder does that knows the number of boxes. */
static void
attach_mtds (GstBuffer *buffer, const GArray *list, gboolean classes)
{
  const guint mtds = list->len * (classes ? 2 : 1);
  GstAnalyticsRelationMetaInitParams params = { mtds, mtds * 64 + 64 };
  GstAnalyticsRelationMeta *meta = gst_buffer_add_analytics_relation_meta_full (buffer, &params);

  for (guint i = 0; i < list->len; i++) {
    const Detection *d = &g_array_index (list, Detection, i);
    const GQuark label = g_quark_from_static_string (labels[d->label]);
    const GstAnalyticsRelTypes relates = GST_ANALYTICS_REL_TYPE_RELATE_TO;
    GstAnalyticsODMtd od;
    GstAnalyticsClsMtd cls;

    gst_analytics_relation_meta_add_od_mtd (meta, label, d->x, d->y, d->w, d->h,
        (gfloat) d->confidence, &od);
    if (classes
        && gst_analytics_relation_meta_add_one_cls_mtd (meta, (gfloat) d->confidence, label,
            &cls)) {
      gst_analytics_relation_meta_set_relation (meta, relates, od.id, cls.id);
      gst_analytics_relation_meta_set_relation (meta, relates, cls.id, od.id);
    }
  }
}

static void
attach_ods (GstBuffer *buffer, const GArray *list)
{
  attach_mtds (buffer, list, FALSE);
}

static void
attach_ods_with_classes (GstBuffer *buffer, const GArray *list)
{
  attach_mtds (buffer, list, TRUE);
}
#endif

/* -------------------------------------------------- an element in a harness */

enum { SHARED = 1, PIXELS = 2, FILES = 4 };

typedef struct {
  const gchar *part, *element, *text;
  guint boxes, flags;
  void (*attach) (GstBuffer *buffer, const GArray *list); /* NULL: the element attaches them */
} Row;

/* SHARED: each buffer has a second owner, as behind a tee. PIXELS: buffers have the same pixels
 * again and again, because new ones would not change the work. FILES: processor time; all boxes
 * must be left. */
static const Row rows[] = {
  { "filter", "identity", "", BOXES, 0, attach_regions },
  { "filter", "nmsfilter", "", BOXES, 0, attach_regions },
  { "filter", "nmsfilter", ", of a shared buffer", BOXES, SHARED, attach_regions },
#ifdef HAVE_ANALYTICS
  { "filter", "nmsfilter", ", ODs", BOXES, 0, attach_ods },
  { "filter", "nmsfilter", ", ODs with a class", BOXES, 0, attach_ods_with_classes },
#endif
  { "overlay", "boxoverlay", LABELLED, 0, PIXELS, attach_new_texts },
  { "overlay", "boxoverlay", LABELLED, 10, PIXELS, attach_new_texts },
  { "overlay", "boxoverlay", LABELLED, 50, PIXELS, attach_new_texts },
  { "files", "boxrecord", ", JSON Lines", BOXES, FILES, attach_regions },
  { "files", "boxreplay", ", JSON Lines", BOXES, FILES, NULL },
};

static void
time_row (const Row *row, GstMemory *pixels, const gchar *path)
{
  gchar *launch = row->flags & FILES ? g_strdup_printf ("%s location=%s", row->element, path)
                                     : g_strdup (row->element);
  GstHarness *h = gst_harness_new_parse (launch);
  GArray *list = make_detections (row->boxes);

  series.clock = row->flags & FILES ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  gst_harness_set_src_caps_str (h, CAPS);
  for (guint i = 0; i < (row->flags & (PIXELS | FILES) ? CALLS / 4 : CALLS); i++) {
    GstBuffer *buffer = gst_buffer_new (), *other = NULL;
    gdouble start;

    if (row->flags & PIXELS)
      gst_buffer_append_memory (buffer, gst_memory_ref (pixels));
    if (row->attach)
      row->attach (buffer, list);
    GST_BUFFER_PTS (buffer) = i * FRAME;
    if (row->flags & SHARED)
      other = gst_buffer_ref (buffer);
    start = now ();
    gst_harness_push (h, buffer);
    add_since (start);
    buffer = gst_harness_pull (h);
    if (row->flags & FILES && count_regions (buffer) != list->len)
      g_error ("%s left %u of %u boxes", row->element, count_regions (buffer), list->len);
    gst_buffer_unref (buffer);
    gst_clear_buffer (&other);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  gst_harness_teardown (h);
  print_row ("%s, %u boxes%s", row->element, row->boxes, row->text);
  g_array_unref (list);
  g_free (launch);
}

/* ---------------------------------------------------------------- boxmerge */

/* The time of a frame is the processor time of the element's thread from one output to the next
 * one: waiting costs none, and GstAggregator's work for each buffer is included. This program's
 * thread pushes the branches and the main stream, and frees all buffers that come out. */
static GstPadProbeReturn
note_output (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  gdouble *start = data;

  if (*start != 0)
    add_since (*start);
  *start = now ();
  return GST_PAD_PROBE_OK;
}

static void
time_merge (guint count, const gchar *source)
{
  GstHarness *h = gst_harness_new_with_padnames ("boxmerge", "sink", "src"), *branches[BRANCHES];
  GArray *list = make_detections (count);
  GstPad *src = gst_element_get_static_pad (h->element, "src");
  gdouble start = 0;

  series.clock = CLOCK_THREAD_CPUTIME_ID;
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BUFFER, note_output, &start, NULL);
  gst_harness_set_live (h, FALSE);
  gst_harness_set_src_caps_str (h, CAPS);
  for (gint i = 0; i < BRANCHES; i++) {
    GstPad *pad;

    branches[i] = gst_harness_new_with_element (h->element, "sink_%u", NULL);
    gst_harness_set_live (branches[i], FALSE);
    pad = gst_pad_get_peer (branches[i]->srcpad);
    g_object_set (pad, "source", source, "xpos", i, NULL);
    gst_object_unref (pad);
    gst_harness_set_src_caps_str (branches[i], CAPS);
  }
  for (guint frame = 0; frame < CALLS / 4; frame++) {
    GstBuffer *out;

    for (guint i = 0; i <= BRANCHES; i++) {
      GstBuffer *buffer = gst_buffer_new ();

      GST_BUFFER_PTS (buffer) = frame * FRAME;
      if (i < BRANCHES)
        attach_regions (buffer, list);
      gst_harness_push (i < BRANCHES ? branches[i] : h, buffer);
    }
    out = gst_harness_pull (h);
    if (count_regions (out) != BRANCHES * list->len)
      g_error ("boxmerge attached %u boxes", count_regions (out));
    gst_buffer_unref (out);
  }
  print_row ("boxmerge, %u branches of %u boxes%s", BRANCHES, list->len,
      source ? ", source=\"\"" : "");
  for (guint i = 0; i < BRANCHES; i++)
    gst_harness_teardown (branches[i]);
  gst_object_unref (src);
  gst_harness_teardown (h);
  g_array_unref (list);
  series.clock = CLOCK_MONOTONIC;
}

int
main (int argc, char **argv)
{
  static const guint merged[] = { 10, 38, 300 };
  gchar *folder = g_dir_make_tmp ("bench-elements-XXXXXX", NULL);
  gchar *path = g_build_filename (folder, "boxes.jsonl", NULL);
  GstVideoInfo info;
  GstMemory *pixels;

  gst_init (&argc, &argv);
  series.clock = CLOCK_MONOTONIC;
  g_print ("%s\n", gst_version_string ());
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_I420, WIDTH, HEIGHT);
  pixels = gst_allocator_alloc (NULL, info.size, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (argc == 1 || g_strv_contains ((const gchar *const *) argv + 1, rows[i].part))
      time_row (&rows[i], pixels, path);
  for (guint i = 0; i < G_N_ELEMENTS (merged); i++)
    if (argc == 1 || g_strv_contains ((const gchar *const *) argv + 1, "merge"))
      for (guint k = 0; k < (i ? 2 : 1); k++)
        time_merge (merged[i], k ? "" : NULL);
  gst_memory_unref (pixels);
  g_unlink (path);
  g_rmdir (folder);
  g_free (path);
  g_free (folder);
  return 0;
}
