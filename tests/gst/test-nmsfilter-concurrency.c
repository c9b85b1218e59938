/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: many streams in one process. Twelve threads push frames, each through a filter of its
 * own. Meanwhile other threads set and read properties, and start and stop more filters, some of
 * them in mid-stream. Each frame of the eight streams that are not changed must come out as it does
 * alone, and the statistics of all must count what came out. Run under ThreadSanitizer too
 * (tests/run.sh tsan).
 */
#include "gstrunner.h"

#define STREAMS 12
#define STEADY 8      /* streams 0 to 7 keep their properties */
#define VARIANTS 40   /* different frames, which repeat */
#define SETTINGS 1500 /* operations of one thread of each kind */
#define READINGS 1500
#define SHORT 40 /* short streams of one thread */
#define SHORT_FRAMES 20

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
  GstHarness *h;
  gboolean changes;           /* other threads set its properties */
  guint32 expected[VARIANTS]; /* hash of the result; only for streams that are not changed */
  guint64 frames, boxes_in, boxes_out;
} Stream;

static Stream streams[STREAMS];
static gint running; /* atomic: threads that change, read or start filters */

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

/* Pushes frame `i` of a stream. Returns its hash, or 0 if the filter has been stopped. */
static guint32
push_frame (Stream *stream, guint i)
{
  GstBuffer *buffer = frame_new (i * 100 * GST_MSECOND);
  const guint count = attach_boxes (buffer, i % VARIANTS);
  const GstFlowReturn flow = gst_harness_push (stream->h, buffer);
  g_autoptr (GstBuffer) out = NULL;

  if (flow == GST_FLOW_FLUSHING)
    return 0;
  g_assert_cmpint (flow, ==, GST_FLOW_OK);
  out = gst_harness_try_pull (stream->h);
  g_assert_nonnull (out);
  stream->frames++;
  stream->boxes_in += count;
  stream->boxes_out += count_on (out);
  return digest (out);
}

/* Fails unless the statistics of the filter count the boxes. Frees the harness. */
static void
end_stream (Stream *stream)
{
  GstElement *filter = stream->h->element;

  g_assert_cmpuint (stat_of (filter, "frames"), ==, stream->frames);
  g_assert_cmpuint (stat_of (filter, "boxes-in"), ==, stream->boxes_in);
  if (!stream->changes) /* with action=tag, dropped boxes come out */
    g_assert_cmpuint (stat_of (filter, "boxes-out"), ==, stream->boxes_out);
  gst_harness_teardown (stream->h);
}

/* ------------------------------------------------------------------- threads */

static gpointer
run_stream (gpointer user_data)
{
  Stream *stream = user_data;

  for (guint i = 0; i < VARIANTS || g_atomic_int_get (&running) > 0; i++) {
    const guint32 hash = push_frame (stream, i);

    if (!stream->changes)
      g_assert_cmphex (hash, ==, stream->expected[i % VARIANTS]);
  }
  return NULL;
}

static gpointer
change_settings (gpointer user_data)
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
  g_autoptr (GRand) rand = g_rand_new_with_seed (GPOINTER_TO_UINT (user_data));

  for (guint n = 0; n < SETTINGS; n++) {
    Stream *stream = &streams[g_rand_int_range (rand, STEADY, STREAMS)];
    const guint i = (guint) g_rand_int_range (rand, 0, G_N_ELEMENTS (texts));

    gst_util_set_object_arg (G_OBJECT (stream->h->element), texts[i].name,
        texts[i].values[g_rand_int_range (rand, 0, 4)]);
  }
  g_atomic_int_add (&running, -1);
  return NULL;
}

static gpointer
read_settings (gpointer user_data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (GPOINTER_TO_UINT (user_data));

  for (guint i = 0; i < READINGS; i++) {
    GstElement *filter = streams[g_rand_int_range (rand, 0, STREAMS)].h->element;
    g_autofree gchar *engine = NULL, *classes = NULL;
    g_autoptr (GstStructure) options = NULL, stats = NULL;
    gfloat threshold;

    g_object_get (filter, "engine-in-use", &engine, "classes", &classes, "class-options", &options,
        "iou-threshold", &threshold, "stats", &stats, NULL);
  }
  g_atomic_int_add (&running, -1);
  return NULL;
}

static gpointer
run_short_stream (gpointer user_data)
{
  Stream *stream = user_data;

  for (guint i = 0; i < SHORT_FRAMES && push_frame (stream, i) != 0; i++)
    ;
  return NULL;
}

/* Starts and stops filters, every second one in mid-stream. */
static gpointer
start_filters (gpointer user_data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (GPOINTER_TO_UINT (user_data));

  for (guint i = 0; i < SHORT; i++) {
    Stream stream = { .h = harness_new ("nmsfilter") };
    GThread *thread = g_thread_new ("short", run_short_stream, &stream);

    if (i % 2) {
      g_usleep ((gulong) g_rand_int_range (rand, 0, 2000));
      gst_element_set_state (stream.h->element, GST_STATE_NULL);
    }
    g_thread_join (thread);
    if (i % 2 == 0)
      g_assert_cmpuint (stream.frames, ==, SHORT_FRAMES);
    if (stream.frames == SHORT_FRAMES)
      end_stream (&stream);
    else /* a frame may have been counted that did not come out */
      gst_harness_teardown (stream.h);
  }
  g_atomic_int_add (&running, -1);
  return NULL;
}

/* ---------------------------------------------------------------------- test */

static void
test_streams (void)
{
  static const GThreadFunc functions[] = { change_settings, change_settings, read_settings,
    read_settings, start_filters, start_filters };
  GThread *threads[STREAMS + G_N_ELEMENTS (functions)];

  for (guint i = 0; i < STREAMS; i++) {
    g_autofree gchar *line = g_strconcat ("nmsfilter ", i < STEADY ? steady_settings[i] : "", NULL);
    Stream alone = { .h = harness_new (line) };

    for (guint k = 0; k < VARIANTS; k++)
      streams[i].expected[k] = push_frame (&alone, k);
    end_stream (&alone);
    streams[i].h = harness_new (line);
    streams[i].changes = i >= STEADY;
  }
  running = G_N_ELEMENTS (functions);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = i < STREAMS ? g_thread_new ("stream", run_stream, &streams[i])
                             : g_thread_new ("other", functions[i - STREAMS], GUINT_TO_POINTER (i));
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  for (guint i = 0; i < STREAMS; i++)
    end_stream (&streams[i]);
}

static const TestCase cases[] = { CASE (test_streams), { NULL } };

GST_TEST_PROGRAM (cases);
