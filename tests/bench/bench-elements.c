/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-elements: measures the time that the elements take for a buffer.
 *
 *   bench-elements [--json] [--quick] [filter] [analytics] [overlay] [files]
 *
 * Without a name all four are measured. Each buffer is created right before the push, as
 * if a detector upstream had just written it. Only the push is timed: from the pad
 * before the element to the pad after it, in one thread without a queue. For nmsfilter
 * two parts are timed separately: nms_run on the same boxes, and the calls of GStreamer
 * that any filter of this metadata needs at least. The latter alternate with the
 * element, buffer by buffer, so that the times can be subtracted. Times are wall-clock
 * times, except those of the file elements: they take so long that other programs would
 * disturb the measurement, so they are CPU times.
 */
#include "bed.h"

#ifdef HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif
#include <gst/video/video.h>
#include <glib/gstdio.h>
#include <nmscore.h>

#include <string.h>
#include <time.h>

#define MAX_CALLS 4000
#define IOU 0.5f

/* ----------------------------------------------------------------- figures */

typedef struct
{
  guint64 times[MAX_CALLS];
  guint calls;
} Series;

typedef struct
{
  gboolean json, quick;
  guint rows;                   /* printed */
  clockid_t clock;
  Series main, beside;          /* the times, and those of what alternates with it */
} Report;

static guint64
now (const Report * report)
{
  struct timespec t;

  clock_gettime (report->clock, &t);
  return GST_TIMESPEC_TO_TIME (t);
}

static void
add_time (const Report * report, Series * series, guint64 start)
{
  series->times[series->calls++] = now (report) - start;
}

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  const guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;
  return (x > y) - (x < y);
}

static guint
calls_wanted (const Report * report)
{
  return report->quick ? 200 : MAX_CALLS;
}

/* Prints the times since the last row, without the first tenth, which warms up. */
static void
print_series (Report * report, Series * series, const gchar * what)
{
  guint64 *times = series->times + series->calls / 10;
  const guint n = series->calls - series->calls / 10;

  qsort (times, n, sizeof *times, compare_times);
  if (report->json)
    g_print ("%s\n  {\"what\": \"%s\", \"median_us\": %.3f, \"q1_us\": %.3f, \"q3_us\": %.3f, "
        "\"calls\": %u}", report->rows ? "," : "", what, times[n / 2] / 1e3, times[n / 4] / 1e3,
        times[n * 3 / 4] / 1e3, n);
  else
    g_print ("%-58s %9.2f us  (%.2f .. %.2f)\n", what, times[n / 2] / 1e3, times[n / 4] / 1e3,
        times[n * 3 / 4] / 1e3);
  report->rows++;
  series->calls = 0;
}

static void
print_row (Report * report, const gchar * what)
{
  print_series (report, &report->main, what);
}

/* ----------------------------------------------------------------- element */

/* Pushes a buffer, which it takes, and adds the time. Frees the previous buffer first,
 * because freeing it is not part of the time of the element. */
static void
push (Bed * bed, GstBuffer * buffer, Report * report)
{
  guint64 start;

  gst_clear_buffer (&bed->caught);
  start = now (report);
  bed_push (bed, buffer);
  add_time (report, &report->main, start);
}

static guint
count_regions (GstBuffer * buffer)
{
  return gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

/* --------------------------------------------------------------- nmsfilter */

static guint
calls_for (const GArray * list, const Report * report)
{
  return list->len > 500 ? calls_wanted (report) / 4 : calls_wanted (report);
}

/* Runs nms_run on the columns that nmsfilter makes of the boxes. Writes the outcomes to
 * `outcome`. */
static void
time_nms (const GArray * list, Report * report, guint8 * outcome)
{
  nms_context *ctx = nms_context_new ();
  nms_boxes boxes = { .size = sizeof boxes, .count = list->len };
  nms_options options;
  nms_result result = { .size = sizeof result };
  gfloat *rows = g_new (gfloat, 4 * list->len), *scores = g_new (gfloat, list->len);
  gint32 *classes = g_new (gint32, list->len);
  gchar *what;

  for (guint i = 0; i < list->len; i++) {
    const Detection *d = &g_array_index (list, Detection, i);
    rows[4 * i] = (gfloat) d->x;
    rows[4 * i + 1] = (gfloat) d->y;
    rows[4 * i + 2] = (gfloat) (d->x + d->w);
    rows[4 * i + 3] = (gfloat) (d->y + d->h);
    scores[i] = (gfloat) d->confidence;
    classes[i] = d->label;
  }
  nms_boxes_set_rows (&boxes, rows);
  boxes.score.data = scores;
  boxes.class_id.data = classes;
  nms_options_init (&options, sizeof options);
  options.iou_threshold = IOU;
  options.outputs = NMS_OUTPUT_OUTCOME;
  for (guint i = 0; i < calls_wanted (report); i++) {
    const guint64 start = now (report);
    const gint error = nms_run (ctx, &boxes, &options, &result);
    add_time (report, &report->main, start);
    if (error < 0)
      g_error ("%s", nms_context_error (ctx));
  }
  memcpy (outcome, result.outcome, list->len);
  what = g_strdup_printf ("nms_run on %u boxes", list->len);
  print_row (report, what);
  g_free (what);
  nms_context_free (&ctx);
  g_free (rows);
  g_free (scores);
  g_free (classes);
}

typedef struct
{
  const guint8 *outcome;
  guint next;
} Dropper;

static gboolean
drop_suppressed (GstBuffer * buffer, GstMeta ** meta, gpointer data)
{
  Dropper *dropper = data;

  if ((*meta)->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE &&
      dropper->outcome[dropper->next++] != NMS_KEPT)
    *meta = NULL;
  return TRUE;
}

/* Reads a field with the fastest call: by quark, from GStreamer 1.26 on by GstIdStr. */
#if GST_CHECK_VERSION (1, 26, 0)
typedef GstIdStr Field;
#define FIELD_SET(field, name) gst_id_str_set_static_str (field, name)
#define FIELD_VALUE(s, field) gst_structure_id_str_get_value (s, field)
#define IS_NAMED(s, field) gst_id_str_is_equal (gst_structure_get_name_id_str (s), field)
#else
typedef GQuark Field;
#define FIELD_SET(field, name) (*(field) = g_quark_from_static_string (name))
#define FIELD_VALUE(s, field) gst_structure_id_get_value (s, *(field))
#define IS_NAMED(s, field) (gst_structure_get_name_id (s) == *(field))
#endif

enum
{ FIELDS = 5 };

typedef struct
{
  Field detection, fields[FIELDS];
  gdouble sum;                  /* a sum, so that the compiler does not remove the reads */
} Reader;

static Reader
reader_new (void)
{
  const gchar *const names[FIELDS] = { "x_min", "x_max", "y_min", "y_max", "confidence" };
  Reader reader = { 0 };

  FIELD_SET (&reader.detection, "detection");
  for (guint i = 0; i < FIELDS; i++)
    FIELD_SET (&reader.fields[i], names[i]);
  return reader;
}

/* Reads the boxes and confidences as every filter of such metadata has to. */
static void
read_regions (Reader * reader, GstBuffer * buffer)
{
  const GType api = GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE;
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state, api))) {
    const GstStructure *s = ((GstVideoRegionOfInterestMeta *) meta)->params->data;
    if (!IS_NAMED (s, &reader->detection))
      continue;
    for (guint i = 0; i < FIELDS; i++) {
      const GValue *value = FIELD_VALUE (s, &reader->fields[i]);
      if (value && G_VALUE_TYPE (value) == G_TYPE_DOUBLE)
        reader->sum += value->data[0].v_double;
    }
  }
}

static void
reader_check (const Reader * reader, guint boxes)
{
  if (reader->sum <= 0 && boxes > 0)
    g_error ("the confidences are gone");
}

typedef enum
{ ATTACH, READ, DROP, COPY, FREE, PARTS } Part;

static const gchar *const part_names[PARTS] = {
  "  (detector's own: attaching them)",
  "  reading alone, at the least",
  "  dropping alone, at the least",
  "  (gst_buffer_copy of a buffer with them)",
  "  (freeing a buffer with them)",
};

static void
time_part (Part part, const GArray * list, Report * report, const guint8 * outcome)
{
  Reader reader = reader_new ();

  for (guint i = 0; i < calls_for (list, report); i++) {
    GstBuffer *buffer = gst_buffer_new (), *copy = NULL;
    Dropper dropper = { outcome, 0 };
    guint64 start = now (report);

    attach_all (buffer, list);
    if (part != ATTACH)
      start = now (report);
    if (part == READ)
      read_regions (&reader, buffer);
    else if (part == DROP)
      gst_buffer_foreach_meta (buffer, drop_suppressed, &dropper);
    else if (part == COPY)
      copy = gst_buffer_copy (buffer);
    else if (part == FREE)
      gst_clear_buffer (&buffer);
    add_time (report, &report->main, start);
    gst_clear_buffer (&buffer);
    gst_clear_buffer (&copy);
  }
  reader_check (&reader, part == READ ? list->len : 0);
  print_row (report, part_names[part]);
}

/* Pushes new buffers with these boxes and returns how many boxes the last buffer kept. With
 * `shared` each buffer has a second owner, as behind a tee. Without `shared` the calls of
 * GStreamer alone are timed in turn with the element. */
static guint
time_filter (Bed * bed, const GArray * list, gboolean shared, const guint8 * outcome,
    Report * report)
{
  Reader reader = reader_new ();

  for (guint i = 0; i < calls_for (list, report); i++) {
    GstBuffer *buffer = gst_buffer_new (), *other = NULL;

    attach_all (buffer, list);
    GST_BUFFER_PTS (buffer) = i * FRAME;
    if (shared)
      other = gst_buffer_ref (buffer);
    push (bed, buffer, report);
    gst_clear_buffer (&other);
    if (!shared && list->len > 0) {
      Dropper dropper = { outcome, 0 };
      guint64 start;

      buffer = gst_buffer_new ();
      attach_all (buffer, list);
      start = now (report);
      read_regions (&reader, buffer);
      gst_buffer_foreach_meta (buffer, drop_suppressed, &dropper);
      add_time (report, &report->beside, start);
      gst_buffer_unref (buffer);
    }
  }
  reader_check (&reader, shared ? 0 : list->len);
  return count_regions (bed->caught);
}

static void
print_filter_row (Report * report, guint count, guint kept, const gchar * how)
{
  gchar *what = g_strdup_printf ("nmsfilter, %u boxes, %u kept%s", count, kept, how);

  print_row (report, what);
  g_free (what);
}

static void
bench_filter (Report * report)
{
  const guint counts[] = { 0, 10, 100, 1000 };
  Bed bed;

  if (!bed_open (&bed, "nmsfilter", "iou-threshold", "0.5", NULL))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    GArray *list = make_detections (counts[i]);
    guint8 *outcome = g_malloc0 (counts[i] + 1);
    guint kept, kept_alone = 0;

    if (counts[i] > 0)
      time_nms (list, report, outcome);
    kept = time_filter (&bed, list, FALSE, outcome, report);
    print_filter_row (report, counts[i], kept, "");
    if (counts[i] > 0) {
      print_series (report, &report->beside, "  GStreamer's part: reading and dropping");
      time_part (READ, list, report, outcome);
      time_part (DROP, list, report, outcome);
      time_part (ATTACH, list, report, outcome);
      time_part (FREE, list, report, outcome);
      for (guint j = 0; j < counts[i]; j++)
        kept_alone += outcome[j] == NMS_KEPT;
      if (kept_alone != kept)
        g_error ("nmsfilter keeps %u boxes, nms_run %u", kept, kept_alone);
      kept = time_filter (&bed, list, TRUE, outcome, report);
      print_filter_row (report, counts[i], kept, ", of a shared buffer");
      time_part (COPY, list, report, outcome);
    }
    g_free (outcome);
    g_array_unref (list);
  }
  bed_close (&bed);
}

#ifdef HAVE_ANALYTICS
/* The same boxes as GstAnalytics detections, with or without a class mtd for each,
 * written as by a decoder that knows their number. */
static void
attach_ods (GstBuffer * buffer, const GArray * list, gboolean classes)
{
  const guint mtds = list->len * (classes ? 2 : 1);
  GstAnalyticsRelationMetaInitParams params = { MAX (mtds, 1), mtds * 64 + 64 };
  GstAnalyticsRelationMeta *meta = gst_buffer_add_analytics_relation_meta_full (buffer, &params);

  for (guint i = 0; i < list->len; i++) {
    const Detection *d = &g_array_index (list, Detection, i);
    const GQuark label = g_quark_from_static_string (detection_label (d));
    GstAnalyticsODMtd od;
    GstAnalyticsClsMtd cls;

    gst_analytics_relation_meta_add_od_mtd (meta, label, d->x, d->y, d->w, d->h,
        (gfloat) d->confidence, &od);
    if (classes && gst_analytics_relation_meta_add_one_cls_mtd (meta, (gfloat) d->confidence,
            label, &cls)) {
      gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, od.id,
          cls.id);
      gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, cls.id,
          od.id);
    }
  }
}

/* Measures how long GStreamer takes to read all relations. */
static void
time_relations (const GArray * list, gboolean classes, Report * report)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstAnalyticsRelationMeta *meta;
  guint found = 0, count;
  guint64 start;

  attach_ods (buffer, list, classes);
  meta = gst_buffer_get_analytics_relation_meta (buffer);
  count = (guint) gst_analytics_relation_get_length (meta);
  start = now (report);
  for (guint id = 0; id < count; id++) {
    gpointer state = NULL;
    GstAnalyticsMtd other;

    while (gst_analytics_relation_meta_get_direct_related (meta, id,
            GST_ANALYTICS_REL_TYPE_ANY, GST_ANALYTICS_MTD_TYPE_ANY, &state, &other))
      found++;
  }
  add_time (report, &report->beside, start);
  if (found != (classes ? 2 : 0) * list->len)
    g_error ("%u relations found", found);
  gst_buffer_unref (buffer);
}

static void
bench_analytics (Report * report)
{
  const guint counts[] = { 10, 100, 300 };
  Bed bed;

  if (!bed_open (&bed, "nmsfilter", "iou-threshold", "0.5", NULL))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (counts) * 4; i++) {
    const gboolean classes = i & 1, shared = i & 2;
    GArray *list = make_detections (counts[i / 4]);
    guint left;

    for (guint call = 0; call < calls_for (list, report); call++) {
      GstBuffer *buffer = gst_buffer_new (), *other = NULL;

      attach_ods (buffer, list, classes);
      GST_BUFFER_PTS (buffer) = call * FRAME;
      if (shared)
        other = gst_buffer_ref (buffer);
      push (&bed, buffer, report);
      gst_clear_buffer (&other);
      if (!shared)
        time_relations (list, classes, report);
    }
    left = (guint) gst_analytics_relation_get_length (gst_buffer_get_analytics_relation_meta
        (bed.caught));
    print_filter_row (report, counts[i / 4], classes ? left / 2 : left, classes
        ? shared ? ", ODs with a class, shared" : ", ODs with a class"
        : shared ? ", ODs, of a shared buffer" : ", ODs");
    if (!shared)
      print_series (report, &report->beside, "  (GStreamer: looking through all relations)");
    g_array_unref (list);
  }
  bed_close (&bed);
}
#else
static void
bench_analytics (Report * report)
{
}
#endif

/* -------------------------------------------------------------- boxoverlay */

static gboolean
drop_region (GstBuffer * buffer, GstMeta ** meta, gpointer data)
{
  if ((*meta)->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)
    *meta = NULL;
  return TRUE;
}

/* Draws on one frame again and again, because new pixels would not change the work. */
static void
bench_overlay (Report * report)
{
  const guint counts[] = { 0, 10, 50 };
  GRand *rand = g_rand_new_with_seed (1);
  GstVideoInfo info;
  GstBuffer *frame;
  Bed bed;

  if (!bed_open (&bed, "boxoverlay", NULL))
    goto done;
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_I420, WIDTH, HEIGHT);
  frame = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_memset (frame, 0, 128, info.size);
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    GArray *list = make_detections (counts[i] * 5 / 2);
    gchar *what = g_strdup_printf ("boxoverlay, %u boxes with label and score, I420 %dx%d",
        counts[i], WIDTH, HEIGHT);

    for (guint call = 0; call < calls_wanted (report) / 4; call++) {
      guint attached = 0;
      for (guint j = 0; j < list->len && attached < counts[i]; j++) {
        Detection d = g_array_index (list, Detection, j);
        if (d.confidence < 0.7)
          continue;
        d.confidence = g_rand_double_range (rand, 0.3, 1);      /* another text */
        attach (frame, &d, attached++);
      }
      GST_BUFFER_PTS (frame) = call * FRAME;
      push (&bed, frame, report);
      frame = g_steal_pointer (&bed.caught);
      gst_buffer_foreach_meta (frame, drop_region, NULL);
    }
    print_row (report, what);
    g_free (what);
    g_array_unref (list);
  }
  gst_buffer_unref (frame);
  bed_close (&bed);
done:
  g_rand_free (rand);
}

/* -------------------------------------------------- boxrecord and boxreplay */

static void
bench_files (Report * report)
{
  const guint frames = calls_wanted (report) / 4;
  gchar *folder = g_dir_make_tmp ("bench-elements-XXXXXX", NULL);
  gchar *path = g_build_filename (folder, "boxes.jsonl", NULL);
  GArray *list = make_detections (100);
  Bed bed;

  report->clock = CLOCK_PROCESS_CPUTIME_ID;
  if (bed_open (&bed, "boxrecord", "location", path, NULL)) {
    for (guint i = 0; i < frames; i++) {
      GstBuffer *buffer = gst_buffer_new ();
      attach_all (buffer, list);
      GST_BUFFER_PTS (buffer) = i * FRAME;
      push (&bed, buffer, report);
    }
    bed_close (&bed);
    print_row (report, "boxrecord, 100 boxes, JSON Lines into a file");
  }
  if (g_file_test (path, G_FILE_TEST_EXISTS) &&
      bed_open (&bed, "boxreplay", "location", path, NULL)) {
    for (guint i = 0; i < frames; i++) {
      GstBuffer *buffer = gst_buffer_new ();
      GST_BUFFER_PTS (buffer) = i * FRAME;
      push (&bed, buffer, report);
      if (count_regions (bed.caught) != list->len)
        g_error ("boxreplay attached %u of %u boxes", count_regions (bed.caught), list->len);
    }
    bed_close (&bed);
    print_row (report, "boxreplay, 100 boxes, JSON Lines from a file");
  }
  g_array_unref (list);
  g_unlink (path);
  g_rmdir (folder);
  g_free (path);
  g_free (folder);
}

int
main (int argc, char **argv)
{
  Report *report = g_new0 (Report, 1);
  guint major, minor, micro, nano;

  static const struct
  {
    const gchar *name;
    void (*run) (Report * report);
  } parts[] = {
    { "filter", bench_filter },
    { "analytics", bench_analytics },
    { "overlay", bench_overlay },
    { "files", bench_files },
  };
  guint wanted = 0;             /* a bit each */

  gst_init (&argc, &argv);
  for (int i = 1; i < argc; i++) {
    guint k = 0;

    report->json |= g_str_equal (argv[i], "--json");
    report->quick |= g_str_equal (argv[i], "--quick");
    while (k < G_N_ELEMENTS (parts) && !g_str_equal (argv[i], parts[k].name))
      k++;
    if (k < G_N_ELEMENTS (parts)) {
      wanted |= 1u << k;
    } else if (!g_str_equal (argv[i], "--json") && !g_str_equal (argv[i], "--quick")) {
      g_print ("usage: bench-elements [--json] [--quick] [filter] [analytics] [overlay] "
          "[files]\n");
      return !g_str_equal (argv[i], "--help");
    }
  }
  report->clock = CLOCK_MONOTONIC;
  gst_version (&major, &minor, &micro, &nano);
  if (report->json)
    g_print ("{\"gstreamer\": \"%u.%u.%u\", \"rows\": [", major, minor, micro);
  for (guint k = 0; k < G_N_ELEMENTS (parts); k++)
    if (wanted == 0 || wanted & 1u << k)
      parts[k].run (report);
  if (report->json)
    g_print ("\n]}\n");
  g_free (report);
  return 0;
}
