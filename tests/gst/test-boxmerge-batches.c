/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxmerge with a branch of batches: the boxes of slices in the main frame. */
#include "batches.h"
#include "gstrunner.h"
#include "merging.h"

#define SLICES "video/x-raw(meta:GstAnalyticsBatchMeta),format=GRAY8,width=640,height=480"
#define SMALL "video/x-raw,format=GRAY8,width=160,height=120,framerate=10/1"

/* Returns a slice of a text: "7", x of a region of 30x40 pixels at x, 20, or "-", without one;
 * and with @240,0 the place of its crop of 320x240 in the main frame. */
static GstBuffer *
slice_new (const gchar *text)
{
  const gchar *at = strchr (text, '@');
  g_autofree gchar *box = g_strdup_printf ("1 o %d,20,30,40 0.5", atoi (text));
  GstBuffer *slice = frame_with (*text != '-' ? box : "");

  if (at) {
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (slice);

    g_assert_cmpint (sscanf (at, "@%u,%u", &crop->x, &crop->y), ==, 2);
    crop->width = 320;
    crop->height = 240;
  }
  return slice;
}

/* Returns a batch. Streams are separated by " | " and have pictures of 320x240, or of 160x120
 * behind "small". Their slices are separated by blanks; those of a buffer list by +. */
static GstBuffer *
batch_of (const gchar *text)
{
  gchar **streams = g_strsplit (text, " | ", -1);
  GstBuffer *batch = batches_new (0, g_strv_length (streams));

  for (guint i = 0; streams[i]; i++) {
    gchar **objects = g_strsplit (streams[i], " ", -1);

    batches_begin_stream (batch, i, NULL, QUARTER_CAPS, 0);
    for (guint k = 0; objects[k] && *objects[k]; k++) {
      gchar **slices = g_strsplit (objects[k], "+", -1);
      g_autoptr (GstCaps) small = gst_caps_from_string (SMALL);
      GstBufferList *list;

      if (g_str_equal (slices[0], "small")) {
        batches_add (batch, i, gst_event_new_caps (small));
      } else if (slices[1] == NULL) {
        batches_add (batch, i, slice_new (slices[0]));
      } else {
        list = gst_buffer_list_new ();
        for (guint s = 0; slices[s]; s++)
          gst_buffer_list_add (list, slice_new (slices[s]));
        batches_add (batch, i, list);
      }
      g_strfreev (slices);
    }
    g_strfreev (objects);
  }
  g_strfreev (streams);
  return batch;
}

typedef struct
{
  const gchar *name, *launch, *caps, *batch; /* as batch_of takes it */
  guint boxes;
  const gchar *expected;
} Row;

/* Merges a batch with a main buffer, which gets these boxes. */
static void
run_row (gconstpointer data)
{
  const Row *row = data;
  g_autofree gchar *found = NULL;
  g_autoptr (GstBuffer) out = NULL;
  g_auto (Merging) m = { 0 };

  merging_open (&m, row->launch, 1, row->caps, FALSE);
  out = merging_merge (&m, batch_of (row->batch), NULL);
  found = merging_sources (out);
  g_assert_cmpstr (found, ==, row->expected);
  merging_expect_stat (&m, 0, "merged", 1);
  merging_expect_stat (&m, 0, "boxes", row->boxes);
}

static const Row rows[] = {
  { "tiles", "boxmerge sink_0::tiles=2x2 sink_0::source=slices", SLICES, "0 1 2 3", 4,
      "0,20,30,40 slices; 321,20,30,40 slices cut; 2,260,30,40 slices; 323,260,30,40 slices cut" },
  /* from the second tile on; one has no boxes */
  { "list", "boxmerge sink_0::tiles=2x2 sink_0::tile-index=1", SLICES, "1+-+3", 2,
      "321,20,30,40 sink_0 cut; 323,260,30,40 sink_0 cut" },
  /* one tile each; that of tile 1 has no buffer in this batch */
  { "streams", "boxmerge sink_0::tiles=2x2", BATCH_CAPS, "0 |  | 2 | 3", 3,
      "0,20,30,40 sink_0; 2,260,30,40 sink_0; 323,260,30,40 sink_0 cut" },
  /* a crop states the place in the main frame; the picture may be scaled */
  { "crops", "boxmerge", SLICES, "1@0,0 2@240,0 small 3@100,200", 3,
      "1,20,30,40 sink_0; 242,20,30,40 sink_0 cut; 106,240,60,80 sink_0" },
  { "no-streams", "boxmerge", BATCH_CAPS, "", 0, "" },
  { "empty-streams", "boxmerge", BATCH_CAPS, " | ", 0, "" },
  { NULL },
};

static void
test_errors (void)
{
  static const gchar *const errors[][2] = { { "boxmerge sink_0::tiles=2x1", "has no tile 2" },
    { "boxmerge", "a buffer is none" } };

  for (guint i = 0; i < G_N_ELEMENTS (errors); i++) {
    GstBus *bus;
    g_auto (Merging) m = { 0 };

    merging_open (&m, errors[i][0], 1, SLICES, FALSE);
    bus = harness_bus (m.main);
    gst_harness_push (m.branch[0], i ? slice_new ("0") : batch_of ("0 1 2"));
    merging_push_main (&m, 0);
    merging_expect_error (bus, errors[i][1]);
  }
}

/* The boxes of the last batch are held, but not the memory of its slices. The batch itself does
 * not change, so another branch of a tee may have it. */
static void
test_hold (void)
{
  for (guint shared = 0; shared < 2; shared++) {
    GstBuffer *batch = batch_of ("5"), *slice = batches_get (batch, 0, 0);
    GstMemory *memory = gst_buffer_get_memory (slice, 0);
    g_auto (Merging) m = { 0 };

    merging_open (&m, "boxmerge sink_0::tiles=2x2 sink_0::hold=1000000000", 1, SLICES, FALSE);
    gst_harness_push (m.branch[0], shared ? gst_buffer_ref (batch) : batch);
    merging_play (&m, "m0 =0:5");
    g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (memory), ==, 1 + (gint) shared);
    merging_play (&m, "eos-a m100 =100:5 a.held:1");
    gst_memory_unref (memory);
    if (shared) {
      g_assert_true (batches_get (batch, 0, 0) == slice);
      g_assert_cmpuint (gst_buffer_n_memory (slice), ==, 1);
      g_assert_cmpuint (count_on (slice), ==, 1);
      gst_buffer_unref (batch);
    }
  }
}

static const TestCase cases[] = { TEST_ROWS ("/batches/%s", run_row, rows), CASE (test_errors),
  CASE (test_hold), { NULL } };

GST_TEST_PROGRAM (cases);
