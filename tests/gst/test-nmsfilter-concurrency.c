/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: many streams in one process. Sixteen pipelines play at once. Meanwhile
 * other threads set and read properties, replace the filters of playing pipelines, and
 * build, play and free pipelines. Each frame of the eight streams that are not changed
 * must come out as it does alone; in the others the counts of the statistics must add
 * up. Run under ThreadSanitizer too (tests/run.sh tsan).
 */
#include "gstrunner.h"
#include "playing.h"

#define STREAMS 16
#define STEADY 8      /* streams 0 to 7 keep their properties */
#define SWAPPED 12    /* the filters of streams from 12 on are replaced */
#define VARIANTS 40   /* different frames, which repeat */
#define SETTINGS 1500 /* operations of one thread of each kind */
#define READINGS 1500
#define PIPELINES 40
#define SWAPS 60

static const gchar *const steady_settings[STEADY] = {
  "iou-threshold=0.3",
  "engine=sequential",
  "engine=sorted inclusive=true",
  "engine=spatial",
  "max-detections=5",
  "class-agnostic=true score-threshold=0.5",
  "missing-score=area min-neighbors=1",
  "classes=car,dog max-per-class=3",
};

typedef struct
{
  guint64 frames, boxes_in, boxes_out;
} Totals;

typedef struct
{
  GstElement *pipeline;
  guint32 expected[VARIANTS]; /* hash of the result; only for streams that are not changed */

  /* used by the streaming thread */
  guint sent, wrong;
  Totals seen;

  Totals retired; /* sums of the filters that were replaced */
  GMutex swap_mutex;
  GCond swap_cond;
  gboolean flowing; /* a buffer has passed the present filter */
} Stream;

static Stream streams[STREAMS];

/* -------------------------------------------------------------------- frames */

/* Attaches the boxes of frame `variant`: up to 40 of three classes, some without a
 * confidence, some parts of others. */
static guint
attach_boxes (GstBuffer *buffer, guint variant)
{
  static const gchar *const labels[] = { "person", "car", "dog" };
  g_autoptr (GRand) rand = g_rand_new_with_seed (variant);
  guint count = (guint) g_rand_int_range (rand, 0, 41);

  for (guint i = 0; i < count; i++) {
    const gchar *label = labels[g_rand_int_range (rand, 0, 3)];
    gint x = g_rand_int_range (rand, 0, 200), y = g_rand_int_range (rand, 0, 200);
    gint w = g_rand_int_range (rand, 20, 200), h = g_rand_int_range (rand, 20, 200);
    gdouble confidence = g_rand_double (rand);
    GstVideoRegionOfInterestMeta *roi;

    if (variant % 4 == 0 && i % 3 == 0)
      roi = add_region (buffer, (gint) i + 1, label, (Rect) { x, y, w, h });
    else
      roi = add_exact (buffer, (gint) i + 1, label,
          (const gdouble[]) { x, y, x + w + 0.25, y + h + 0.25 }, confidence);
    if (variant % 5 == 0 && i > 4)
      roi->parent_id = (gint) i / 3;
  }
  return count;
}

/* Returns a hash of the ids on the buffer, in order. */
static guint32
digest (GstBuffer *buffer)
{
  guint32 hash = 2166136261u;
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
              GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)))
    hash = (hash ^ (guint32) ((GstVideoRegionOfInterestMeta *) meta)->id) * 16777619u;
  return hash;
}

/* Computes the result for each frame with a filter that runs alone. */
static void
find_expected (Stream *stream, const gchar *settings)
{
  g_autofree gchar *line = g_strdup_printf ("nmsfilter %s", settings);
  g_autoptr (GstHarness) h = harness_new (line);

  for (guint i = 0; i < VARIANTS; i++) {
    g_autoptr (GstBuffer) buffer = frame_new (i * 100 * GST_MSECOND);

    attach_boxes (buffer, i);
    buffer = through (h, buffer);
    stream->expected[i] = digest (buffer);
  }
}

/* ------------------------------------------------------------------ pipelines */

/* Sends caps, because fakesrc has none. (A capsfilter sometimes posts an error when a
 * pipeline is stopped in mid-stream.) */
static GstPadProbeReturn
on_source_event (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_STREAM_START
      && !gst_pad_has_current_caps (pad)) {
    g_autoptr (GstCaps) caps = gst_caps_from_string (FRAME_CAPS);
    g_autoptr (GstEvent) event = gst_event_new_caps (caps);

    gst_pad_store_sticky_event (pad, event);
  }
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
on_source (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Stream *stream = user_data;
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));

  GST_BUFFER_PTS (buffer) = stream->sent * 100 * GST_MSECOND;
  stream->seen.boxes_in += attach_boxes (buffer, stream->sent++ % VARIANTS);
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
on_sink (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Stream *stream = user_data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  guint index = (guint) (GST_BUFFER_PTS (buffer) / (100 * GST_MSECOND));

  stream->wrong += index != stream->seen.frames++;
  stream->wrong += stream < streams + STEADY
      && digest (buffer) != stream->expected[index % VARIANTS];
  stream->seen.boxes_out += count_on (buffer);
  return GST_PAD_PROBE_OK;
}

static GstElement *
pipeline_new (const gchar *settings, const gchar *source_settings, Stream *stream)
{
  GstElement *pipeline = playing_new (
      "fakesrc name=source format=time sizetype=fixed sizemax=16 %s ! identity name=before ! "
      "nmsfilter name=filter %s ! fakesink name=sink async=false",
      source_settings, settings);

  playing_probe_type (pipeline, "source", "src", GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      on_source_event, NULL);
  playing_probe (pipeline, "source", "src", on_source, stream);
  playing_probe (pipeline, "sink", "sink", on_sink, stream);
  return pipeline;
}

/* Waits for the end of the stream. Drops the other messages of the pipeline. */
static void
wait_for_end (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);

  g_assert_cmpstr (GST_MESSAGE_TYPE_NAME (message), ==, "eos");
}

/* Adds the counts of a filter, which must add up at any time. */
static void
add_totals (Totals *totals, GstElement *filter)
{
  static const gchar *const drops[] = { "suppressed", "below-score", "not-candidate", "over-cap",
    "too-few-neighbors", "no-score", "invalid" };
  g_autoptr (GstStructure) stats = NULL;
  guint64 value, in, out, dropped = 0;

  g_object_get (filter, "stats", &stats, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (drops); i++) {
    g_assert_true (gst_structure_get_uint64 (stats, drops[i], &value));
    dropped += value;
  }
  g_assert_true (gst_structure_get (stats, "frames", G_TYPE_UINT64, &value, "boxes-in",
      G_TYPE_UINT64, &in, "boxes-out", G_TYPE_UINT64, &out, NULL));
  g_assert_cmpuint (in, ==, out + dropped);
  totals->frames += value;
  totals->boxes_in += in;
  totals->boxes_out += out;
}

/* ----------------------------------------------------------- the other threads */

static GstElement *
filter_of (const Stream *stream)
{
  return gst_bin_get_by_name (GST_BIN (stream->pipeline), "filter");
}

/* Sets a random property. With `refused` also sets values that a playing filter refuses
 * with a warning, and with which a stopped one would not start. */
static void
set_something (GstElement *filter, GRand *rand, gboolean refused)
{
  static const struct
  {
    const gchar *name, *values[4];
  } texts[] = {
    { "iou-threshold", { "0", "0.3", "0.7", "1" } },
    { "score-threshold", { "-inf", "-1", "0.3", "0.9" } },
    { "max-detections", { "0", "1", "7", "19" } },
    { "max-per-class", { "0", "1", "3", "8" } },
    { "max-candidates", { "0", "1", "3", "8" } },
    { "min-neighbors", { "0", "1", "2", "3" } },
    { "interval", { "0", "50000000", "100000000", "150000000" } },
    { "classes", { "person", "car,dog", "", "cat" } },
    { "engine", { "auto", "sequential", "sorted", "spatial" } },
    { "missing-score", { "neighbors", "area", "order", "drop" } },
    { "action", { "remove", "tag", "remove", "tag" } },
    { "class-agnostic", { "true", "false", "true", "false" } },
    { "inclusive", { "true", "false", "true", "false" } },
    { "class-options",
        { "o,car=[o,max=2]", "o,dog=[o,iou-threshold=0.2,score-threshold=0.1]",
            "o,person=[o,score-threshold=0.6],car=[o,max=1]", "o,car=[o,most=2]" } },
    { "method-options", { "o,sigma=1", "o", "o,min-score=0.5", "o,sigma=-1" } },
  };
  const guint i = (guint) g_rand_int_range (rand, 0, G_N_ELEMENTS (texts));

  gst_util_set_object_arg (G_OBJECT (filter), texts[i].name,
      texts[i].values[g_rand_int_range (rand, 0, refused ? 4 : 3)]);
}

static gpointer
change_settings (gpointer user_data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (GPOINTER_TO_UINT (user_data));

  for (guint i = 0; i < SETTINGS; i++) {
    gint number = g_rand_int_range (rand, STEADY, STREAMS);
    GstElement *filter = filter_of (&streams[number]);

    if (filter) { /* else it is being replaced */
      set_something (filter, rand, number < SWAPPED);
      gst_object_unref (filter);
    }
  }
  return NULL;
}

static gpointer
read_settings (gpointer user_data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (GPOINTER_TO_UINT (user_data));

  for (guint i = 0; i < READINGS; i++) {
    GstElement *filter = filter_of (&streams[g_rand_int_range (rand, 0, STREAMS)]);
    g_autofree gchar *engine = NULL, *classes = NULL;
    g_autoptr (GstStructure) options = NULL;
    Totals totals = { 0 };
    gfloat threshold;

    if (filter == NULL)
      continue;
    add_totals (&totals, filter);
    g_object_get (filter, "engine-in-use", &engine, "classes", &classes, "class-options", &options,
        "iou-threshold", &threshold, NULL);
    gst_object_unref (filter);
  }
  return NULL;
}

/* Builds, plays and frees pipelines. Every second one is stopped in mid-stream. */
static gpointer
build_pipelines (gpointer user_data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (GPOINTER_TO_UINT (user_data));

  for (guint i = 0; i < PIPELINES; i++) {
    Stream *stream = g_new0 (Stream, 1);

    /* on_sink compares only streams in streams[], so not this one */
    stream->pipeline = pipeline_new ("", i % 2 ? "" : "num-buffers=20", stream);
    gst_element_set_state (stream->pipeline, GST_STATE_PLAYING);
    if (i % 2)
      g_usleep ((gulong) g_rand_int_range (rand, 0, 2000));
    else
      wait_for_end (stream->pipeline);
    gst_element_set_state (stream->pipeline, GST_STATE_NULL);
    if (i % 2 == 0)
      g_assert_cmpuint (stream->seen.frames, ==, 20);
    gst_object_unref (stream->pipeline);
    g_free (stream);
  }
  return NULL;
}

static GstPadProbeReturn
on_first_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Stream *stream = user_data;

  g_mutex_lock (&stream->swap_mutex);
  stream->flowing = TRUE;
  g_cond_signal (&stream->swap_cond);
  g_mutex_unlock (&stream->swap_mutex);
  return GST_PAD_PROBE_REMOVE;
}

/* Runs while no buffer is in the filter. */
static GstPadProbeReturn
swap_now (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Stream *stream = user_data;
  GstBin *bin = GST_BIN (stream->pipeline);
  g_autoptr (GstElement) before = gst_bin_get_by_name (bin, "before");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (bin, "sink");
  GstElement *old = filter_of (stream), *new;

  gst_element_unlink (before, old);
  gst_element_unlink (old, sink);
  gst_bin_remove (bin, old);
  gst_element_set_state (old, GST_STATE_NULL);
  add_totals (&stream->retired, old);
  gst_object_unref (old);

  new = gst_element_factory_make ("nmsfilter", "filter");
  gst_bin_add (bin, new);
  playing_probe_type (stream->pipeline, "filter", "src", GST_PAD_PROBE_TYPE_BUFFER, on_first_buffer,
      stream);
  g_assert_true (gst_element_link_many (before, new, sink, NULL));
  g_assert_true (gst_element_sync_state_with_parent (new));
  return GST_PAD_PROBE_REMOVE;
}

/* Waits for the first buffer that passes the present filter. */
static void
wait_for_flow (Stream *stream)
{
  g_mutex_lock (&stream->swap_mutex);
  while (!stream->flowing)
    g_cond_wait (&stream->swap_cond, &stream->swap_mutex);
  g_mutex_unlock (&stream->swap_mutex);
}

/* Replaces a filter only after a buffer has passed it. An idle probe that runs while sticky
 * events are sent would give the next filter only the remaining events, without stream-start. */
static gpointer
swap_filters (gpointer user_data)
{
  for (guint i = SWAPPED; i < STREAMS; i++)
    wait_for_flow (&streams[i]);
  for (guint i = 0; i < SWAPS; i++) {
    Stream *stream = &streams[SWAPPED + i % (STREAMS - SWAPPED)];
    g_autoptr (GstElement) before = gst_bin_get_by_name (GST_BIN (stream->pipeline), "before");
    g_autoptr (GstPad) pad = gst_element_get_static_pad (before, "src");

    stream->flowing = FALSE;
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_IDLE, swap_now, stream, NULL);
    wait_for_flow (stream);
  }
  return NULL;
}

/* ------------------------------------------------------------------------ test */

static void
test_streams (void)
{
  static const GThreadFunc functions[] = { change_settings, change_settings, read_settings,
    read_settings, build_pipelines, build_pipelines, swap_filters };
  GThread *threads[G_N_ELEMENTS (functions)];
  guint64 frames = 0;

  for (guint i = 0; i < STREAMS; i++) {
    const gchar *settings = i < STEADY ? steady_settings[i] : "";

    g_mutex_init (&streams[i].swap_mutex);
    g_cond_init (&streams[i].swap_cond);
    if (i < STEADY)
      find_expected (&streams[i], settings);
    streams[i].pipeline = pipeline_new (settings, "", &streams[i]);
    if (i >= SWAPPED)
      playing_probe_type (streams[i].pipeline, "filter", "src", GST_PAD_PROBE_TYPE_BUFFER,
          on_first_buffer, &streams[i]);
  }
  for (guint i = 0; i < STREAMS; i++)
    g_assert_cmpint (gst_element_set_state (streams[i].pipeline, GST_STATE_PLAYING), !=,
        GST_STATE_CHANGE_FAILURE);

  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    threads[i] = g_thread_new ("other", functions[i], GUINT_TO_POINTER (i + 1));
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    g_thread_join (threads[i]);

  for (guint i = 0; i < STREAMS; i++)
    gst_element_send_event (streams[i].pipeline, gst_event_new_eos ());
  for (guint i = 0; i < STREAMS; i++) {
    Stream *stream = &streams[i];
    Totals totals;
    GstElement *filter;

    wait_for_end (stream->pipeline);
    gst_element_set_state (stream->pipeline, GST_STATE_NULL);
    filter = filter_of (stream);
    totals = stream->retired;
    add_totals (&totals, filter);
    g_assert_cmpuint (stream->wrong, ==, 0);
    g_assert_cmpuint (stream->seen.frames, ==, stream->sent);
    g_assert_cmpuint (stream->sent, >, 0);
    g_assert_cmpuint (totals.frames, ==, stream->sent);
    g_assert_cmpuint (totals.boxes_in, ==, stream->seen.boxes_in);
    if (i < STEADY)
      g_assert_cmpuint (totals.boxes_out, ==, stream->seen.boxes_out);
    frames += totals.frames;
    gst_object_unref (filter);
    gst_object_unref (stream->pipeline);
    g_mutex_clear (&stream->swap_mutex);
    g_cond_clear (&stream->swap_cond);
  }
  g_test_message ("%" G_GUINT64_FORMAT " frames in all", frames);
}

static const TestCase cases[] = { CASE (test_streams), { NULL } };

GST_TEST_PROGRAM (cases);
