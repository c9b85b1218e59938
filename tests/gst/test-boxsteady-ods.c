/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxsteady on GstAnalytics: tracks, held ODs, the ids of a tracker, and regions of ODs. */
#include "gstrunner.h"
#include "odboxes.h"

typedef struct
{
  const gchar *name, *line;
  const gchar *frames[4][2]; /* the ODs, and what comes out, as assert_ods_text takes it */
  guint track;               /* of a tracker upstream; 0: none */
} Row;

static const Row rows[] = {
  /* An OD that is not confirmed is removed with its class; the others keep classes and get tracks.
   * The third frame has no meta. */
  { "tracks", "boxsteady smoothing=0 hold=1",
      { { "car 100,20,30,40 0.5 green; dog 200,20,30,40 0.5",
            "5: 0 car 100,20,30,40 0.5 green #1; 2 dog 200,20,30,40 0.5 #2" },
          { "car 300,20,30,40 0.5 red; car 100,20,30,40 0.5 green; dog 200,20,30,40 0.5",
              "5: 0 car 100,20,30,40 0.5 green #1; 2 dog 200,20,30,40 0.5 #2" },
          { NULL, "4: 0 car 100,20,30,40 0.5 #1!; 2 dog 200,20,30,40 0.5 #2!" }, { NULL, "0:" } } },
  /* Places are smoothed in the OD: 100, then 112 with the gain 0.75. */
  { "places", "boxsteady smoothing=0.5",
      { { "car 100,20,60,80 0.5", "2: 0 car 100,20,60,80 0.5 #1" },
          { "car 112,20,60,80 0.5", "2: 0 car 109,20,60,80 0.5 #1" } } },
  { "given", "boxsteady smoothing=0",
      { { "car 100,20,60,80 0.5", "2: 0 car 100,20,60,80 0.5 #77" },
          { "car 100,20,60,80 0.5", "2: 0 car 100,20,60,80 0.5 #77" },
          { NULL, "2: 0 car 100,20,60,80 0.5 #77!" } },
      77 },
  { NULL },
};

static void
test_row (gconstpointer pointer)
{
  const Row *row = pointer;
  g_autoptr (GstHarness) h = harness_new (row->line);

  for (guint i = 0; i < G_N_ELEMENTS (row->frames) && row->frames[i][1]; i++) {
    g_autoptr (GstBuffer) buffer = frame_new (i * 100 * GST_MSECOND);

    if (row->frames[i][0]) {
      const guint od = add_ods (buffer, row->frames[i][0]);

      if (row->track)
        add_track (buffer, od, row->track);
    }
    buffer = through (h, buffer);
    assert_ods_text (buffer, row->frames[i][1]);
  }
}

/* A region and an OD with its id are one box, also where it is held. */
static void
test_regions (void)
{
  g_autoptr (GstHarness) h = harness_new ("boxsteady smoothing=0");

  for (guint i = 0; i < 2; i++) {
    g_autoptr (GstBuffer) buffer = frame_new (i * 100 * GST_MSECOND);

    if (i == 0) {
      add_ods (buffer, "dog 300,20,30,40 0.5; car 100,20,60,80 0.5");
      add_boxes (buffer, "1 car 100,20,60,80 0.5");
    }
    buffer = through (h, buffer);
    g_assert_cmpstr (boxes_on (buffer), ==, "100,20,60,80");
    assert_ods_text (buffer,
        i ? "4: 0 dog 300,20,30,40 0.5 #2!; 2 car 100,20,60,80 0.5 #1!"
          : "4: 0 dog 300,20,30,40 0.5 #2; 1 car 100,20,60,80 0.5 #1");
    assert_ids (buffer, i ? "2" : "1");
  }
}

static const TestCase cases[] = { TEST_ROWS ("/boxsteady/%s", test_row, rows),
  { "/boxsteady/regions", test_regions }, { NULL } };

GST_TEST_PROGRAM (cases);
