/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * benchfilter: times nmsfilter on regions of interest. Two parts are timed separately:
 * nms_run on the same boxes, and the calls of GStreamer that every filter of this metadata
 * needs. These calls alternate with the element, buffer by buffer, so that the times can be
 * subtracted.
 */
#include "bench-elements.h"

#include <gst/video/video.h>
#include <nmscore.h>

#include <string.h>

/* Runs nms_run on the columns that nmsfilter makes of the boxes. Writes the outcomes to
 * `outcome`. */
static void
time_nms (const GArray *list, Timings *timings, guint8 *outcome)
{
  nms_context *ctx = nms_context_new ();
  nms_boxes boxes = { .size = sizeof boxes, .count = list->len };
  nms_options options;
  nms_result result = { .size = sizeof result };
  gfloat *rows = g_new (gfloat, 4 * list->len), *scores = g_new (gfloat, list->len);
  gint32 *classes = g_new (gint32, list->len);

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
  for (guint i = 0; i < timings_calls (timings); i++) {
    const guint64 start = timings_now (timings);
    const gint error = nms_run (ctx, &boxes, &options, &result);
    timings_add (timings, &timings->main, start);
    if (error < 0)
      g_error ("%s", nms_context_error (ctx));
  }
  memcpy (outcome, result.outcome, list->len);
  timings_print (timings, "nms_run on %u boxes", list->len);
  nms_context_free (&ctx);
  g_free (rows);
  g_free (scores);
  g_free (classes);
}

typedef struct {
  const guint8 *outcome;
  guint next;
} Dropper;

static gboolean
drop_suppressed (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  Dropper *dropper = data;

  if ((*meta)->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE
      && dropper->outcome[dropper->next++] != NMS_OUTCOME_KEPT)
    *meta = NULL;
  return TRUE;
}

/* Reads a field with the fastest call: by quark, from GStreamer 1.26 on by GstIdStr. */
#if GST_CHECK_VERSION(1, 26, 0)
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

enum { FIELDS = 5 };

typedef struct {
  Field detection, fields[FIELDS];
  gdouble sum; /* a sum, so that the compiler does not remove the reads */
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
read_regions (Reader *reader, GstBuffer *buffer)
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
reader_check (const Reader *reader, guint boxes)
{
  if (reader->sum <= 0 && boxes > 0)
    g_error ("the confidences are gone");
}

typedef enum { ATTACH, READ, DROP, COPY, FREE, PARTS } Part;

static const gchar *const part_names[PARTS] = {
  "  (detector's own: attaching them)",
  "  reading alone, at the least",
  "  dropping alone, at the least",
  "  (gst_buffer_copy of a buffer with them)",
  "  (freeing a buffer with them)",
};

static void
time_part (Part part, const GArray *list, Timings *timings, const guint8 *outcome)
{
  Reader reader = reader_new ();

  for (guint i = 0; i < timings_calls_for (timings, list); i++) {
    GstBuffer *buffer = gst_buffer_new (), *copy = NULL;
    Dropper dropper = { outcome, 0 };
    guint64 start = timings_now (timings);

    attach_all (buffer, list);
    if (part != ATTACH)
      start = timings_now (timings);
    if (part == READ)
      read_regions (&reader, buffer);
    else if (part == DROP)
      gst_buffer_foreach_meta (buffer, drop_suppressed, &dropper);
    else if (part == COPY)
      copy = gst_buffer_copy (buffer);
    else if (part == FREE)
      gst_clear_buffer (&buffer);
    timings_add (timings, &timings->main, start);
    gst_clear_buffer (&buffer);
    gst_clear_buffer (&copy);
  }
  reader_check (&reader, part == READ ? list->len : 0);
  timings_print (timings, "%s", part_names[part]);
}

/* Pushes new buffers with these boxes. Returns the number of boxes on the last filtered buffer.
 * With `shared` each buffer has a second owner, as behind a tee. Without `shared` the calls of
 * GStreamer alone are timed too, in turn with the element. */
static guint
time_filter (Bed *bed, const GArray *list, gboolean shared, const guint8 *outcome, Timings *timings)
{
  Reader reader = reader_new ();

  for (guint i = 0; i < timings_calls_for (timings, list); i++) {
    GstBuffer *buffer = gst_buffer_new (), *other = NULL;

    attach_all (buffer, list);
    GST_BUFFER_PTS (buffer) = i * FRAME;
    if (shared)
      other = gst_buffer_ref (buffer);
    timings_push (timings, bed, buffer);
    gst_clear_buffer (&other);
    if (!shared && list->len > 0) {
      Dropper dropper = { outcome, 0 };
      guint64 start;

      buffer = gst_buffer_new ();
      attach_all (buffer, list);
      start = timings_now (timings);
      read_regions (&reader, buffer);
      gst_buffer_foreach_meta (buffer, drop_suppressed, &dropper);
      timings_add (timings, &timings->beside, start);
      gst_buffer_unref (buffer);
    }
  }
  reader_check (&reader, shared ? 0 : list->len);
  return gst_buffer_get_n_meta (bed->caught, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

void
bench_filter (Timings *timings)
{
  const guint counts[] = { 0, 10, 100, 1000 };
  Bed bed;

  if (!bed_open (&bed, "nmsfilter", "iou-threshold", IOU_TEXT, NULL))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    GArray *list = make_detections (counts[i]);
    guint8 *outcome = g_malloc0 (counts[i] + 1);
    guint kept, kept_alone = 0;

    if (counts[i] > 0)
      time_nms (list, timings, outcome);
    kept = time_filter (&bed, list, FALSE, outcome, timings);
    timings_print (timings, FILTER_ROW, counts[i], kept, "");
    if (counts[i] > 0) {
      timings_print_series (timings, &timings->beside, "  GStreamer's part: reading and dropping");
      time_part (READ, list, timings, outcome);
      time_part (DROP, list, timings, outcome);
      time_part (ATTACH, list, timings, outcome);
      time_part (FREE, list, timings, outcome);
      for (guint j = 0; j < counts[i]; j++)
        kept_alone += outcome[j] == NMS_OUTCOME_KEPT;
      if (kept_alone != kept)
        g_error ("nmsfilter keeps %u boxes, nms_run %u", kept, kept_alone);
      kept = time_filter (&bed, list, TRUE, outcome, timings);
      timings_print (timings, FILTER_ROW, counts[i], kept, ", of a shared buffer");
      time_part (COPY, list, timings, outcome);
    }
    g_free (outcome);
    g_array_unref (list);
  }
  bed_close (&bed);
}
