/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxsteady: what it makes of streams that are written as text. A `|` separates frames, 100 ms from
 * each other. A box is X,Y,W,H, with `@TRACK` if a tracker gave it an id; an output box has `#ID`,
 * and `!` if it is held. A word without a comma, such as those of steps.h, happens before the
 * frame. test-steadyreference.py checks which boxes are linked and held, and all numbers.
 */
#include "gstrunner.h"
#include "steps.h"

#define A "100,100,40,80"
#define B "300,100,40,80"
#define ONE "1 person " A
#define TWO ONE "; 2 person " B
#define PLAIN "boxsteady smoothing=0 "

static void
add_word (GstBuffer *buffer, const gchar *word)
{
  g_auto (GStrv) parts = g_strsplit (word, "@", 2);
  g_autofree gchar *box = g_strdup_printf ("%u person %s 0.5%s%s", count_on (buffer) + 1, parts[0],
      parts[1] ? " #" : "", parts[1] ? parts[1] : "");

  add_boxes (buffer, box);
}

/* Returns frame `number` of the stream with these boxes. */
static GstBuffer *
frame_at (guint number, const gchar *boxes)
{
  GstBuffer *buffer = frame_new (number * 100 * GST_MSECOND);

  add_boxes (buffer, boxes);
  return buffer;
}

/* Sends what a word names; or changes the time or the flags of the next frame. */
static void
happen (GstHarness *h, const gchar *word, GstClockTime *time, GstBuffer *buffer)
{
  if (steps_event (h, word))
    return;
  if (g_str_equal (word, "stream")) {
    gst_harness_push_event (h, gst_event_new_stream_start ("other"));
  } else if (g_str_equal (word, "size") || g_str_equal (word, "framerate")) {
    g_autoptr (GstCaps) caps = gst_pad_get_current_caps (h->srcpad);

    caps = gst_caps_make_writable (caps);
    if (*word == 's')
      gst_caps_set_simple (caps, "width", G_TYPE_INT, 600, NULL);
    else
      gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 5, 1, NULL);
    gst_harness_push_event (h, gst_event_new_caps (caps));
  } else if (g_str_equal (word, "tag")) {
    gst_harness_push_event (h, gst_event_new_tag (gst_tag_list_new_empty ()));
  } else if (g_str_equal (word, "custom")) {
    gst_harness_push_event (h, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, NULL));
  } else if (g_str_equal (word, "drain")) {
    g_autoptr (GstQuery) query = gst_query_new_drain ();

    gst_pad_peer_query (h->srcpad, query);
  } else if (g_str_equal (word, "discont")) {
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  } else if (g_str_equal (word, "untimed")) {
    *time = GST_CLOCK_TIME_NONE;
  } else {
    g_assert_true (g_ascii_isdigit (word[strspn (word, "-")]));
    *time += atoll (word) * GST_MSECOND;
  }
}

static void
write_regions (GString *text, GstBuffer *buffer)
{
  GstVideoRegionOfInterestMeta *roi;

  EACH_REGION (buffer, roi)
  {
    const GstStructure *s = gst_video_region_of_interest_meta_get_param (roi, "object_id");
    gint id;

    g_string_append_printf (text, "%d,%d,%u,%u", (gint) roi->x, (gint) roi->y, roi->w, roi->h);
    if (s && gst_structure_get_int (s, "id", &id))
      g_string_append_printf (text, "#%d", id);
    g_string_append (text, s && gst_structure_has_field (s, "lost") ? "! " : " ");
  }
}

/* Adds the boxes of all buffers that have come out. */
static void
pull_all (GstHarness *h, GString *text)
{
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (h))) {
    write_regions (text, buffer);
    g_string_append (text, "| ");
    gst_buffer_unref (buffer);
  }
}

/* Returns what comes out. Free it. */
static gchar *
steady (GstHarness *h, const gchar *frames)
{
  g_auto (GStrv) list = g_strsplit (frames, "|", -1);
  GString *text = g_string_new (NULL);
  const gint64 step = strstr (frames, "reverse") ? -100 : 100;
  GstClockTime time = 0;

  for (guint i = 0; list[i]; i++) {
    g_auto (GStrv) words = g_strsplit (list[i], " ", -1);
    GstBuffer *buffer = frame_new (0);

    for (guint k = 0; words[k]; k++)
      if (strchr (words[k], ','))
        add_word (buffer, words[k]);
      else if (words[k][0])
        happen (h, words[k], &time, buffer);
    GST_BUFFER_PTS (buffer) = time;
    if (GST_CLOCK_TIME_IS_VALID (time))
      time += step * (gint64) GST_MSECOND;
    g_assert_cmpint (gst_harness_push (h, buffer), ==, GST_FLOW_OK);
    pull_all (h, text);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  pull_all (h, text);
  g_string_truncate (text, text->len - 2);
  return g_string_free (text, FALSE);
}

static void
test_streams (void)
{
  static const struct
  {
    const gchar *launch, *frames, *expected;
  } rows[] = {
    /* the first frame shows all boxes; later ones have to be confirmed */
    { PLAIN, A "|" A " " B "|" A " " B, A "#1 | " A "#1 | " A "#1 " B "#2 " },
    { PLAIN, "|" A "| | |" A "|", "| | | | | " },
    /* a lost box is held, and moved on, until it has left the frame */
    { PLAIN, "40,100,40,80|20,100,40,80|||",
        "40,100,40,80#1 | 20,100,40,80#1 | 0,100,40,80#1! | 0,100,20,80#1! | " },
    /* ids of a tracker are used */
    { PLAIN "hold=1", A "@7 " B "@9|" A "@7 " B "@9||",
        A "#7 " B "#9 | " A "#7 " B "#9 | " A "#7! " B "#9! | " },
    /* where time jumps, links begin anew */
    { PLAIN, A "|" A "|seek-0 500 " B, A "#1 | " A "#1 | " B "#2 " },
    { PLAIN, A "|from-0 " B, A "#1 | " B "#2 " },
    { PLAIN, A "|stream " B, A "#1 | " B "#2 " },
    { PLAIN, A "|size " B, A "#1 | " B "#2 " },
    { PLAIN, A "|framerate " B, A "#1 | " A "#1! " },
    { PLAIN, A "|-101 " B, A "#1 | " B "#2 " },
    { PLAIN, A "|-100 " B, A "#1 | " A "#1! " },
    { PLAIN, A "|900 " B, A "#1 | " A "#1! " },
    { PLAIN, A "|901 " B, A "#1 | " B "#2 " },
    { PLAIN "max-gap=100000000", A "|1 " B, A "#1 | " B "#2 " },
    { PLAIN, A "|discont " B, A "#1 | " A "#1! " },
    { PLAIN, "untimed " A "|" B "|discont " B, A "#1 | " A "#1! | " B "#2 " },
    { PLAIN, "reverse-9999 900000 " A "|" B "|" B, A "#1 | " A "#1! | " B "#2 " A "#1! " },
    /* lookahead keeps a box that is confirmed later, and fills the gap before that */
    { PLAIN "lookahead=1", "|" A "|" A, "| " A "#1 | " A "#1 " },
    { PLAIN "lookahead=2", "|" A "||" A, "| " A "#1 | " A "#1! | " A "#1 " },
    { PLAIN "lookahead=1", "reverse-9999 900000 |" A "|" A, "| " A "#1 | " A "#1 " },
    /* ... and holds it until it is found again */
    { PLAIN "lookahead=2 hold=2", A "|" A "|||" A,
        A "#1 | " A "#1 | " A "#1! | " A "#1! | " A "#1 " },
    /* ... and is over where time jumps */
    { PLAIN "lookahead=3", "|" A "|from-0 " A, "| | " A "#1 " },
    { PLAIN "lookahead=3", A "|" A "|size " B, A "#1 | " A "#1 | " B "#2 " },
    { PLAIN "lookahead=3", A "|" A "||901 " B, A "#1 | " A "#1 | " A "#1! | " B "#2 " },
    { PLAIN "lookahead=3", A "|" A "|seek-0 500 " B, B "#2 " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GstHarness) h = harness_new (rows[i].launch);
    g_autofree gchar *text = steady (h, rows[i].frames);

    if (!g_str_equal (text, rows[i].expected))
      g_error ("row %u, %s, %s\n  gives \"%s\"\n  not   \"%s\"", i, rows[i].launch, rows[i].frames,
          text, rows[i].expected);
  }
}

/* Boxes of other labels, or with other label ids, are other objects. */
static void
test_labels (void)
{
  static const gchar *const boxes[] = { "1 car 100,100,40,80 0.5 as 0",
    "1 dog 100,100,40,80 0.5 as 0", "1 - 100,100,40,80 0.5 as 2", "1 - 100,100,40,80 0.5 as 3" };
  g_autoptr (GstHarness) h = harness_new ("boxsteady hold=0");

  for (guint i = 0; i < G_N_ELEMENTS (boxes); i++)
    expect_through (h, frame_at (i, boxes[i]), i == 0 ? "1" : "");
}

/* action=tag removes nothing. Boxes that nmsfilter tagged as dropped are left as they are. */
static void
test_tags (void)
{
  static const gchar *const rows[][3] = {
    { "boxsteady", "1 3", "1= 3=suppressed" },
    { "boxsteady action=tag", "1 2 3", "1=kept 2=unconfirmed 3=suppressed" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GstHarness) h = harness_new (rows[i][0]);
    g_autoptr (GstBuffer) buffer = NULL;

    expect_through (h, frame_at (0, ONE "; 3 person 500,100,40,80 tagged suppressed"), "1 3");
    buffer = through (h, frame_at (1, TWO "; 3 person 500,100,40,80 tagged suppressed"));
    assert_ids (buffer, rows[i][1]);
    assert_tags (buffer, rows[i][2]);
    assert_stats (h->element, "not-linked=2");
  }
}

static void
test_stats (void)
{
  g_autoptr (GstHarness) h = harness_new ("boxsteady");

  g_free (steady (h, A "|" A " " B "||from-0 " B "| 5,5,0,9"));
  assert_stats (h->element,
      "frames=5 boxes-in=5 boxes-out=6 unconfirmed=1 held=2 not-linked=1 links=2 restarts=1");
}

/* A buffer without boxes, where no box is held, is passed on; one with other owners is not changed,
 * but copied. */
static void
test_buffers (void)
{
  g_autoptr (GstHarness) h = harness_new ("boxsteady");
  GstBuffer *empty = frame_new (0), *shared = frame_at (1, ONE), *out;

  out = through (h, empty);
  g_assert_true (out == empty);
  gst_buffer_unref (out);
  expect_through (h, gst_buffer_ref (shared), "");
  assert_ids (shared, "1");
  gst_buffer_unref (shared);
}

/* The number of links is bounded, and a frame with more than 4,096 boxes is left as it is. */
static void
test_many (void)
{
  g_autoptr (GstHarness) h = harness_new ("boxsteady confirm=1 hold=1000");
  const guint counts[] = { 4096, 4096, 4096, 4097, 4096 };
  const guint expected[] = { 4096, 8192, 4096, 4097, 4096 };

  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    GstBuffer *buffer = frame_at (i, "");
    g_autofree gchar *label = g_strdup_printf ("label %u", i);

    for (guint k = 0; k < counts[i]; k++)
      add_region (buffer, 0, label, (Rect) { (gint) (k % 64) * 9, (gint) (k / 64) * 7, 8, 6 });
    buffer = through (h, buffer);
    g_assert_cmpuint (count_on (buffer), ==, expected[i]);
    gst_buffer_unref (buffer);
  }
}

static GstPadProbeReturn
note (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GString *text = user_data;

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER)
    g_string_append_printf (text, "%u%s ",
        (guint) (GST_BUFFER_PTS (info->data) / (100 * GST_MSECOND)),
        GST_BUFFER_IS_DISCONT (info->data) ? "!" : "");
  else
    g_string_append_printf (text, "%s ", GST_EVENT_TYPE_NAME (info->data));
  return GST_PAD_PROBE_OK;
}

/* Buffers that wait leave before an event, a query for them and a buffer with the flag DISCONT (!);
 * a flush discards them. */
static void
test_order (void)
{
  static const gchar *const order[][2] = { { "b b b b", "0 1 " },
    { "b b b b tag b eos", "0 1 2 3 tag 4 eos " }, { "b gap-0 b eos", "0 gap 1 eos " },
    { "b custom", "0 custom-downstream " }, { "b b drain b", "0 1 " },
    { "b b b discont b b b", "0 1 2 3! " },
    { "b b seek-0 b eos", "flush-start flush-stop segment 2 eos " } };

  for (guint i = 0; i < G_N_ELEMENTS (order); i++) {
    g_autoptr (GstHarness) h = harness_new ("boxsteady lookahead=2");
    g_auto (GStrv) words = g_strsplit (order[i][0], " ", -1);
    g_autoptr (GString) text = g_string_new (NULL);
    g_autoptr (GstBuffer) next = frame_at (0, "");
    guint number = 0;

    gst_pad_add_probe (h->sinkpad,
        GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM
            | GST_PAD_PROBE_TYPE_EVENT_FLUSH,
        note, text, NULL);
    for (guint k = 0; words[k]; k++)
      if (g_str_equal (words[k], "b")) {
        g_assert_cmpint (gst_harness_push (h, next), ==, GST_FLOW_OK);
        next = frame_at (++number, "");
      } else {
        happen (h, words[k], NULL, next);
      }
    if (!g_str_equal (text->str, order[i][1]))
      g_error ("%s gives \"%s\"", order[i][0], text->str);
  }
}

/* The distance of frames is that of the caps, or the longest one so far. */
static void
test_latency (void)
{
  static const struct
  {
    const gchar *launch, *caps;
    guint before, after; /* ms */
  } latencies[] = { { "boxsteady", FRAME_CAPS, 50, 50 },
    { "boxsteady lookahead=3", FRAME_CAPS, 350, 350 },
    { "boxsteady lookahead=3", "video/x-raw,format=GRAY8,width=640,height=480,framerate=0/1", 50,
        50 + 3 * 40 } };

  for (guint i = 0; i < G_N_ELEMENTS (latencies); i++) {
    g_autoptr (GstHarness) h = harness_new_caps (latencies[i].launch, latencies[i].caps);

    gst_harness_set_upstream_latency (h, 50 * GST_MSECOND);
    g_assert_cmpuint (gst_harness_query_latency (h), ==, latencies[i].before * GST_MSECOND);
    gst_harness_push (h, frame_new (0));
    gst_harness_push (h, frame_new (40 * GST_MSECOND));
    gst_harness_push (h, frame_new (70 * GST_MSECOND));
    g_assert_cmpuint (gst_harness_query_latency (h), ==, latencies[i].after * GST_MSECOND);
  }
}

static GstPadProbeReturn
propose_pool (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  if (GST_QUERY_TYPE (info->data) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;
  gst_query_add_allocation_pool (info->data, NULL, 640 * 480, 2, *(guint *) user_data);
  return GST_PAD_PROBE_HANDLED;
}

/* Pools have a buffer more for each one that waits. */
static void
test_pools (void)
{
  g_autoptr (GstHarness) h = harness_new ("boxsteady lookahead=3");
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (h->sinkpad);

  for (guint most = 0; most < 9; most += 8) {
    g_autoptr (GstQuery) query = gst_query_new_allocation (caps, TRUE);
    guint size, least, found;
    gulong probe = gst_pad_add_probe (h->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, propose_pool,
        &most, NULL);

    g_assert_true (gst_pad_peer_query (h->srcpad, query));
    gst_query_parse_nth_allocation_pool (query, 0, NULL, &size, &least, &found);
    g_assert_cmpuint (size, ==, 640 * 480);
    g_assert_cmpuint (least, ==, 5);
    g_assert_cmpuint (found, ==, most ? 11 : 0);
    gst_pad_remove_probe (h->sinkpad, probe);
  }
}

/* With lookahead too, boxes are tagged by what later frames show, and buffers that wait are freed
 * when the element stops. The lookahead does not change before that. */
static void
test_waiting (void)
{
  static const gchar *const frames[] = { "", TWO, ONE };
  g_autoptr (GstHarness) h = harness_new ("boxsteady lookahead=1 action=tag");
  GstBuffer *buffer, *last = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (frames); i++) {
    gst_clear_buffer (&last);
    last = frame_at (i, frames[i]);
    gst_harness_push (h, gst_buffer_ref (last));
  }
  gst_buffer_unref (gst_harness_try_pull (h));
  buffer = gst_harness_try_pull (h);
  assert_tags (buffer, "1=kept 2=unconfirmed");
  gst_buffer_unref (buffer);
  g_object_set (h->element, "lookahead", 2, NULL);
  assert_values (h->element, "lookahead", "1");
  g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (last), ==, 2);
  gst_element_set_state (h->element, GST_STATE_READY);
  g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (last), ==, 1);
  gst_buffer_unref (last);
}

static void
test_defaults (void)
{
  g_autoptr (GstElement) element = element_new ("boxsteady");

  assert_values (element,
      "iou-threshold confirm window hold smoothing score max-gap lookahead action",
      "0.30000001192092896 2 3 5 0.60000002384185791 mean 1000000000 0 remove");
}

static const TestCase cases[] = { { "/boxsteady/streams", test_streams },
  { "/boxsteady/labels", test_labels }, { "/boxsteady/tags", test_tags },
  { "/boxsteady/stats", test_stats }, { "/boxsteady/buffers", test_buffers },
  { "/boxsteady/many", test_many }, { "/boxsteady/order", test_order },
  { "/boxsteady/latency", test_latency }, { "/boxsteady/pools", test_pools },
  { "/boxsteady/waiting", test_waiting }, { "/boxsteady/defaults", test_defaults }, { NULL } };

GST_TEST_PROGRAM (cases);
