/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxselect: boxes that are dropped for their size, position, label or mark, alone, in front of and
 * behind nmsfilter, and the texts of the properties about them.
 */
#include "gstrunner.h"

/* Pairs of boxes: the better one of each pair suppresses the other one unless it is dropped
 * before. */
static GstBuffer *
pairs (void)
{
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer,
      "1 a 0,0,100,50 0.9; 2 a 0,0,90,50 0.8; 3 b 200,200,40,80 0.9; 4 b 200,200,40,70 0.8; "
      "5 c 400,400,60,60 0.7");
  return buffer;
}

/* Fails unless a boxselect and the nmsfilter behind it leave these regions. */
static void
expect_both (const gchar *launch_line, GstBuffer *buffer, const gchar *ids)
{
  expect ("nmsfilter", filtered (launch_line, buffer), ids);
}

static void
test_limits (void)
{
  expect ("nmsfilter", pairs (), "1 3 5");
  /* a box exactly at the limit passes; the box that is dropped suppresses none */
  expect_both ("boxselect max-width=100", pairs (), "1 3 5");
  expect_both ("boxselect max-width=99.5", pairs (), "2 3 5");
  expect_both ("boxselect min-width=60", pairs (), "1 5");
  expect_both ("boxselect min-width=60.5", pairs (), "1");
  expect_both ("boxselect min-height=80", pairs (), "3");
  expect_both ("boxselect max-height=75", pairs (), "1 4 5");
  expect_both ("boxselect min-area=4500", pairs (), "1");
  expect_both ("boxselect max-area=4500", pairs (), "2 3 5");
  expect_both ("boxselect max-aspect-ratio=1.9", pairs (), "2 3 5");
  expect_both ("boxselect min-aspect-ratio=0.51", pairs (), "1 4 5");
  expect_both ("boxselect min-width=1 max-width=1000 min-height=1 max-height=1000 min-area=1 "
               "max-area=9999999 min-aspect-ratio=0.01 max-aspect-ratio=100",
      pairs (), "1 3 5");
}

/* A box without a width or height has the aspect ratio 0 or infinity; a point has none. */
static void
test_empty_boxes (void)
{
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer, "1 a 0,0,10,0 0.9; 2 a 100,0,0,10 0.9; 3 a 200,0,0,0 0.9");
  expect_both ("boxselect max-aspect-ratio=1e9", gst_buffer_ref (buffer), "2 3");
  expect_both ("boxselect min-aspect-ratio=1e-9", gst_buffer_ref (buffer), "1 3");
  expect_both ("boxselect min-area=0.1", buffer, "");
}

/* Normalized coordinates have rounding errors: a tenth of the width is 64 pixels. */
static void
test_exact_limits (void)
{
  GstBuffer *buffer = frame_new (0);

  for (gint i = 0; i < 9; i++)
    add_exact (buffer, i + 1, "a", i * 64, i * 48, (i + 1) * 64, (i + 1) * 48, 0.5);
  expect_both ("boxselect min-width=64 max-width=64 min-height=48 max-height=48 min-area=3072 "
               "max-area=3072",
      buffer, "1 2 3 4 5 6 7 8 9");
}

static void
test_rotated (void)
{
  g_autoptr (GstBuffer) buffer = frame_new (0);

  gst_video_region_of_interest_meta_add_param (add_scored (buffer, 1, "a", 300, 200, 100, 10, 0.9),
      gst_structure_new ("rotation", "angle", G_TYPE_DOUBLE, G_PI / 2, NULL));
  /* the sides of the box count, not those of the upright rectangle around it */
  expect_both ("boxselect min-width=100 max-height=10", gst_buffer_ref (buffer), "1");
  expect_both ("boxselect max-width=50", gst_buffer_ref (buffer), "");
  expect_both ("boxselect min-aspect-ratio=10", gst_buffer_ref (buffer), "1");
}

static void
test_class_limits (void)
{
  expect_both ("boxselect min-width=60 class-limits=\"o,b=[o,min-width=40]\"", pairs (), "1 3 5");
  expect_both ("boxselect min-width=60 class-limits=\"o,b=[o,min-width=0]\"", pairs (), "1 3 5");
  expect_both ("boxselect class-limits=\"o,b=[o,max-height=75,min-aspect-ratio=0.1],"
               "c=[o,min-area=3601]\"",
      pairs (), "1 4");
  expect_both ("boxselect max-width=50 class-limits=\"o,a=[o,min-height=5]\"", pairs (), "3");
  expect_both ("boxselect class-limits=\"o,options=<[o,class=a,max-width=99]>\"", pairs (),
      "2 3 5");
}

static void
test_region (void)
{
  /* centers: 1 (50, 25), 2 (45, 25), 3 (220, 240), 4 (220, 235), 5 (430, 430) */
  expect_both ("boxselect roi=0,0,640,480", pairs (), "1 3 5");
  expect_both ("boxselect roi=45,25,5,1", pairs (), "2");
  expect_both ("boxselect roi=46,25,5,1", pairs (), "1");
  expect_both ("boxselect roi=\" 0, 236.5 ,640,1e3\"", pairs (), "3 5");
  expect_both ("boxselect roi=0,49%,640,100%", pairs (), "3 5");
  expect_both ("boxselect roi=0,0,100%,50%", pairs (), "1 4");
  expect_both ("boxselect roi=-10,-10%,50%,110%", pairs (), "1 3");
  expect_both ("boxselect roi=\"\"", pairs (), "1 3 5");
}

static void
test_labels (void)
{
  GstBuffer *buffer = pairs ();

  add_scored (buffer, 6, NULL, 500, 0, 10, 10, 0.9);
  expect_both ("boxselect keep-classes=a,c", gst_buffer_ref (buffer), "1 5");
  expect_both ("boxselect keep-classes=\" b ,,\"", gst_buffer_ref (buffer), "3");
  expect_both ("boxselect drop-classes=\"a, c\"", gst_buffer_ref (buffer), "3 6");
  expect_both ("boxselect keep-classes=a,b drop-classes=a", gst_buffer_ref (buffer), "3");
  expect_both ("boxselect keep-classes=nothing", gst_buffer_ref (buffer), "");
  expect_both ("boxselect keep-classes=\"\" drop-classes=,", gst_buffer_ref (buffer), "1 3 5 6");
  /* a dropped label suppresses no other label */
  add_boxes (buffer, "7 d 0,0,100,50 0.5");
  expect ("nmsfilter class-agnostic=true", filtered ("boxselect drop-classes=a", buffer),
      "3 5 6 7");
}

static void
test_states_and_stats (void)
{
  static const gchar *const states[] = { "dropped-class", "too-small", "too-small", "too-large",
    "wrong-aspect-ratio", "outside-roi", "cut-by-edge", "kept" };
  g_autoptr (GstHarness)
      h = harness_new ("boxselect action=tag drop-classes=x min-width=10 min-area=200 "
                       "max-height=100 max-aspect-ratio=3 roi=100,100,300,300 drop-cut=true");
  GstBuffer *buffer = frame_new (0), *out;

  add_boxes (buffer,
      "1 x 200,200,50,50 0.9; 2 a 200,200,9,50 0.9; 3 a 200,200,10,19 0.9; "
      "4 a 200,200,50,101 0.9; 5 a 200,200,50,16 0.9; 6 a 74,200,50,50 0.9");
  add_structure (add_scored (buffer, 7, "a", 105, 200, 50, 50, 0.9), "source, cut=(boolean)true;");
  add_boxes (buffer, "8 a 106,200,50,50 0.1");
  out = through (h, buffer);
  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    assert_tag (out, (gint) i + 1, states[i]);
  gst_buffer_unref (out);
  g_assert_cmpuint (stat_of (h->element, "too-small"), ==, 2);
  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    if (!g_str_equal (states[i], "kept") && !g_str_equal (states[i], "too-small"))
      g_assert_cmpuint (stat_of (h->element, states[i]), ==, 1);
  assert_stats (h->element, "boxes-in=8 boxes-out=1");
}

/* A part of a dropped box is dropped for the same reason; a dropped part leaves its parent. */
static void
test_parents (void)
{
  GstBuffer *buffer = frame_new (0), *out;

  add_boxes (buffer,
      "1 car 0,0,200,100 0.9; 2 wheel 10,80,20,20 0.9 in 1; 3 wheel 12,80,20,20 0.8; "
      "4 car 300,300,100,100 0.9; 5 wheel 300,380,9,9 0.9 in 4");
  out = filtered ("nmsfilter action=tag",
      filtered ("boxselect action=tag max-width=150 min-width=10", gst_buffer_ref (buffer)));
  assert_tags (out, "1=too-large 2=too-large");
  assert_tag (out, 3, "kept"); /* because 2 does not take part */
  assert_tags (out, "4=kept 5=too-small");
  gst_buffer_unref (out);
  expect_both ("boxselect max-width=150 min-width=10", buffer, "3 4");
}

/* Boxes that are dropped count neither as neighbors nor towards a limit. */
static void
test_takes_part_in_nothing (void)
{
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer, "1 a 0,0,100,100; 2 a 0,0,110,100; 3 a 300,0,100,100; 4 a 300,0,101,100");
  expect ("nmsfilter min-neighbors=1", gst_buffer_ref (buffer), "1 3");
  expect ("nmsfilter min-neighbors=1", filtered ("boxselect max-width=105", buffer), "3");
  expect ("nmsfilter max-detections=1", filtered ("boxselect max-width=90", pairs ()), "3");
  expect ("nmsfilter max-candidates=1", filtered ("boxselect max-width=90", pairs ()), "3");
}

/* Behind nmsfilter, a dropped box has suppressed others before. */
static void
test_behind (void)
{
  expect ("boxselect max-width=99.5", filtered ("nmsfilter", pairs ()), "3 5");
  expect ("boxselect", pairs (), "1 2 3 4 5");
  expect ("boxselect min-width=60", pairs (), "1 2 5");
}

/* With action=tag, each element leaves the boxes that the other one has tagged as dropped, in
 * either order, and the tags say what the elements would remove. */
static void
test_tags (void)
{
  GstBuffer *out = filtered ("boxselect action=tag max-width=99.5", pairs ());
  GstHarness *h = harness_new ("nmsfilter action=tag");

  assert_tags (out, "1=too-large 2=kept");
  out = through (h, out);
  assert_tag (out, 1, "too-large");
  assert_tag (out, 2, "kept"); /* because 1 takes no part */
  assert_tag (out, 4, "suppressed:2");
  assert_stats (h->element, "not-selected=1 suppressed=1 boxes-in=5");
  gst_harness_teardown (h);

  /* other limits decide again about boxes that boxselect dropped, but not about suppressed ones */
  out = filtered ("boxselect action=tag max-height=60", out);
  assert_tags (out, "1=kept 3=too-large 4=suppressed:2");
  gst_buffer_unref (out);

  h = harness_new ("boxselect action=tag max-height=60");
  out = through (h, filtered ("nmsfilter action=tag", pairs ()));
  assert_tags (out, "1=kept 2=suppressed:0 3=too-large 4=suppressed:2 5=kept");
  assert_stats (h->element, "not-selected=2 too-large=1");
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  /* nmsfilter leaves tagged boxes, boxselect removes small ones whatever their tags are */
  expect ("nmsfilter", filtered ("boxselect action=tag max-width=99.5", pairs ()), "1 2 3 5");
  expect ("boxselect min-width=95", filtered ("nmsfilter action=tag", pairs ()), "1");
}

/* A chain of parts, and parts that come before their parents. */
static void
test_chain_of_parts (void)
{
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer,
      "4 d 0,0,10,10 0.9 in 3; 3 c 0,0,20,20 0.9 in 2; 2 b 0,0,30,30 0.9 in 1; "
      "1 a 0,0,400,400 0.9; 5 d 0,0,10,10 0.9 in 2");
  expect ("boxselect max-width=300", gst_buffer_ref (buffer), "");
  expect ("boxselect max-width=300 drop-classes=b", gst_buffer_ref (buffer), "4 3 5");
  expect ("boxselect drop-classes=a", gst_buffer_ref (buffer), "4 3 2 5");
  expect ("boxselect class-limits=\"o,b=[o,max-width=29]\"", buffer, "1");
}

/* ---------------------------------------------------------- sizes of frames */

#define SMALL_CAPS "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1"

/* Sends a box of 20 x 20 pixels at x = 200. Returns whether it is kept. */
static gboolean
keeps (GstHarness *h)
{
  GstBuffer *buffer = frame_new (0);
  guint left;

  add_boxes (buffer, "1 a 200,100,20,20 0.9");
  buffer = through (h, buffer);
  left = count_on (buffer);
  gst_buffer_unref (buffer);
  return left == 1;
}

static void
set_caps (GstHarness *h, const gchar *text)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (text);

  g_assert_true (gst_harness_push_event (h, gst_event_new_caps (caps)));
}

/* The region follows the size of the frame; without a size it does not apply, with one
 * warning. */
static void
test_caps_changes (void)
{
  g_autoptr (GstHarness) h = harness_new ("boxselect roi=0,0,50%,100%");
  GstBus *bus = harness_bus (h);

  g_assert_true (keeps (h));
  set_caps (h, SMALL_CAPS);
  g_assert_false (keeps (h));
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 0);
  set_caps (h, "application/x-test");
  g_assert_true (keeps (h));
  g_assert_true (keeps (h));
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 1);
  set_caps (h, SMALL_CAPS);
  g_assert_false (keeps (h));
  set_caps (h, FRAME_CAPS);
  g_assert_true (keeps (h));
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 0);
}

/* A region in pixels needs no size. */
static void
test_no_size (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("boxselect roi=0,0,150,480", "application/x-test");
  GstBus *bus = harness_bus (h);

  g_assert_false (keeps (h));
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 0);
  g_object_set (h->element, "roi", "0,0,10%,100%", NULL);
  g_assert_true (keeps (h));
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), "roi in per cent does not apply");
}

/* --------------------------------------------------------------- properties */

/* Names, types and defaults. */
static void
test_defaults (void)
{
  static const struct
  {
    const gchar *name, *type, *value;
  } fixed[] = {
    { "min-width", "gfloat", "0" },
    { "max-width", "gfloat", "0" },
    { "min-height", "gfloat", "0" },
    { "max-height", "gfloat", "0" },
    { "min-area", "gfloat", "0" },
    { "max-area", "gfloat", "0" },
    { "min-aspect-ratio", "gfloat", "0" },
    { "max-aspect-ratio", "gfloat", "0" },
    { "roi", "gchararray", NULL },
    { "keep-classes", "gchararray", NULL },
    { "drop-classes", "gchararray", NULL },
    { "class-limits", "GstStructure", NULL },
    { "drop-cut", "gboolean", "false" },
    { "action", "GstNmsAction", "remove" },
  };
  g_autoptr (GstElement) element = element_new ("boxselect");

  for (guint i = 0; i < G_N_ELEMENTS (fixed); i++) {
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), fixed[i].name);
    GValue value = G_VALUE_INIT;
    gchar *text;

    g_assert_nonnull (spec);
    g_assert_cmpstr (g_type_name (spec->value_type), ==, fixed[i].type);
    g_value_init (&value, spec->value_type);
    g_object_get_property (G_OBJECT (element), fixed[i].name, &value);
    g_assert_true (g_param_value_defaults (spec, &value));
    text = fixed[i].value ? gst_value_serialize (&value) : NULL;
    if (fixed[i].value)
      g_assert_cmpstr (text, ==, fixed[i].value);
    g_free (text);
    g_value_unset (&value);
  }
}

static void
test_changes_while_playing (void)
{
  g_autoptr (GstHarness) h = harness_new ("boxselect");

  g_assert_true (keeps (h));
  g_object_set (h->element, "min-width", 21.0, NULL);
  g_assert_false (keeps (h));
  g_object_set (h->element, "min-width", 0.0, "roi", "0,0,100,100", NULL);
  g_assert_false (keeps (h));
  g_object_set (h->element, "roi", NULL, "keep-classes", "b", NULL);
  g_assert_false (keeps (h));
  g_object_set (h->element, "keep-classes", NULL, "drop-classes", "a", NULL);
  g_assert_false (keeps (h));
  g_object_set (h->element, "drop-classes", NULL, NULL);
  gst_util_set_object_arg (G_OBJECT (h->element), "class-limits", "o,a=[o,max-area=300]");
  g_assert_false (keeps (h));
  g_object_set (h->element, "class-limits", NULL, NULL);
  g_assert_true (keeps (h));
}

static const struct
{
  const gchar *property, *value, *says;
} unusable[] = {
  { "roi", "1,2,3", "roi: \"1,2,3\"" },
  { "roi", "1,2,3,4,5", "x,y,width,height" },
  { "roi", "0,0,0,100%", "greater than 0" },
  { "roi", "0,0,-5,100", "greater than 0" },
  { "roi", "a,0,5,100", "roi: \"a,0,5,100\"" },
  { "roi", "0x1,0,5,100", "pixels or per cent" },
  { "roi", "nan,0,5,100", "pixels or per cent" },
  { "roi", "1e999,0,5,100", "pixels or per cent" },
  { "roi", "0,0,5%%,100", "pixels or per cent" },
  { "roi", "0,0,,100", "pixels or per cent" },
  { "class-limits", "o,person=[o,min-width=-1]", "min-width of class \"person\" is -1" },
  { "class-limits", "o,a=[o,max-area=1e39]", "must be a finite number of 0" },
  { "class-limits", "o,a=[o,min-aspect-ratio=wide]", "is wide, must be a finite number" },
  { "class-limits", "o,a=[o,min-height=40,max-height=39]", "exceeds max-height, so no box" },
  { "class-limits", "o,a=[o,max=3]",
      "unknown key \"max\" for class \"a\"; the keys are min-width" },
  { "class-limits", "o,min-area=5", "as in o,person=[o,min-width=0.3]" },
  { "class-limits", "o,a=[o,min-area=1],options=<[o,class=a]>", "class \"a\" is listed twice" },
  { "min-width", "101", "min-width: it exceeds max-width" },
  { "min-area", "300", "min-area: it exceeds max-area" },
};

/* An error at the start. */
static void
test_unusable_at_start (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (unusable); i++) {
    g_autoptr (GstElement) element = element_new ("boxselect max-width=100 max-area=200");

    gst_util_set_object_arg (G_OBJECT (element), unusable[i].property, unusable[i].value);
    expect_no_start (element, unusable[i].says);
    if (g_str_has_prefix (unusable[i].property, "class"))
      g_object_set (element, "class-limits", NULL, NULL);
    else
      gst_util_set_object_arg (G_OBJECT (element), unusable[i].property, "");
    g_object_set (element, "max-width", 0.0, "max-area", 0.0, NULL);
    expect_start (element);
  }
}

/* A warning while playing; the previous value stays in use. */
static void
test_unusable_while_playing (void)
{
  g_autoptr (GstHarness) h = harness_new ("boxselect roi=0,0,150,480");
  GstBus *bus = harness_bus (h);

  for (guint i = 0; i < G_N_ELEMENTS (unusable); i++) {
    gchar *roi;

    if (g_str_has_prefix (unusable[i].property, "min"))
      continue;
    gst_util_set_object_arg (G_OBJECT (h->element), unusable[i].property, unusable[i].value);
    assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), unusable[i].says);
    g_object_get (h->element, "roi", &roi, NULL);
    g_assert_cmpstr (roi, ==, "0,0,150,480");
    g_free (roi);
    g_assert_false (keeps (h));
  }
}

/* ------------------------------------------------------------ random frames */

typedef struct
{
  gint x, y;
  guint w, h;
  const gchar *label;
  gdouble confidence;
} Random;

static void
add_random (GstBuffer *buffer, gint id, const Random *r)
{
  add_scored (buffer, id, r->label, r->x, r->y, r->w, r->h, r->confidence);
}

static Random
random_box (GRand *random)
{
  static const gchar *const labels[] = { "a", "b", "c" };

  return (Random) { g_rand_int_range (random, 0, 12) * 30, g_rand_int_range (random, 0, 10) * 30,
    (guint) g_rand_int_range (random, 1, 8) * 20, (guint) g_rand_int_range (random, 1, 8) * 20,
    labels[g_rand_int_range (random, 0, 3)], g_rand_int_range (random, 0, 50) / 50.0 };
}

static gboolean
passes (const Random *r)
{
  const gdouble w = r->w, h = r->h, x = r->x + w / 2, y = r->y + h / 2;

  return !g_str_equal (r->label, "c") && w >= 40 && w <= 120 && h <= 140
      && w * h >= (g_str_equal (r->label, "b") ? 4000 : 2000) && w / h >= 0.5 && w / h <= 2
      && x >= 32 && x < 352 && y >= 48 && y < 288;
}

/* Dropping boxes equals a frame that never had them. */
static void
test_as_if_absent (void)
{
  g_autoptr (GstHarness) select = harness_new (
      "boxselect drop-classes=c min-width=40 max-width=120 max-height=140 min-area=2000 "
      "min-aspect-ratio=0.5 max-aspect-ratio=2 roi=5%,10%,50%,50% "
      "class-limits=\"o,b=[o,min-area=4000]\"");
  g_autoptr (GstHarness) whole = harness_new ("nmsfilter iou-threshold=0.3 max-detections=9");
  g_autoptr (GstHarness) without = harness_new ("nmsfilter iou-threshold=0.3 max-detections=9");
  g_autoptr (GRand) random = g_rand_new_with_seed (5);
  guint kept = 0;

  for (guint round = 0; round < 200; round++) {
    g_autoptr (GstBuffer) all = frame_new (0), passing = frame_new (0);
    g_autofree gchar *ids = NULL;

    for (gint i = 0; i < 60; i++) {
      Random r = random_box (random);

      add_random (all, i, &r);
      if (passes (&r))
        add_random (passing, i, &r);
    }
    all = through (whole, through (select, all));
    passing = through (without, passing);
    kept += count_on (passing);
    ids = g_strdup (ids_on (passing));
    assert_ids (all, ids);
  }
  g_assert_cmpuint (kept, >, 500);
}

static const TestCase cases[] = { CASE (test_limits), CASE (test_empty_boxes),
  CASE (test_exact_limits), CASE (test_rotated), CASE (test_class_limits), CASE (test_region),
  CASE (test_labels), CASE (test_states_and_stats), CASE (test_parents),
  CASE (test_takes_part_in_nothing), CASE (test_behind), CASE (test_tags),
  CASE (test_chain_of_parts), CASE (test_caps_changes), CASE (test_no_size), CASE (test_defaults),
  CASE (test_changes_while_playing), CASE (test_unusable_at_start),
  CASE (test_unusable_while_playing), CASE (test_as_if_absent), { NULL } };

GST_TEST_PROGRAM (cases);
