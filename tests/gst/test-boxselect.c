/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxselect: boxes that are dropped for their size, position, label or mark, alone, in front of and
 * behind nmsfilter, and the texts of the properties about them.
 */
#include "gstrunner.h"

/* Pairs of boxes: nmsfilter removes the second one of each pair unless the first one is dropped
 * before. The centers are 50,25 and 45,25; 220,240 and 220,235; 430,430. */
#define PAIRS \
  "1 a 0,0,100,50 0.9; 2 a 0,0,90,50 0.8; 3 b 200,200,40,80 0.9; 4 b 200,200,40,70 0.8; " \
  "5 c 400,400,60,60 0.7"
#define EMPTY "1 a 0,0,10,0 0.9; 2 a 100,0,0,10 0.9; 3 a 200,0,0,0 0.9"
#define ROTATED "1 a 300,200,100,10 0.9 @1.5707963267948966"
/* parts in front of the boxes that they belong to */
#define PARTS \
  "4 d 0,0,10,10 0.9 in 3; 3 c 0,0,20,20 0.9 in 2; 2 b 0,0,30,30 0.9 in 1; 1 a 0,0,400,400 0.9; " \
  "5 d 0,0,10,10 0.9 in 2"
/* a part of a dropped box, and a part that is dropped */
#define CARS \
  "1 car 0,0,200,100 0.9; 2 wheel 10,80,20,20 0.9 in 1; 3 wheel 12,80,20,20 0.8; " \
  "4 car 300,300,100,100 0.9; 5 wheel 300,380,9,9 0.9 in 4"

static void
test_rows (void)
{
#define ROW(name, properties, boxes, ids) \
  { \
    name, "boxselect " properties, boxes, ids \
  }
#define NEIGHBORS "1 a 0,0,100,100; 2 a 0,0,110,100; 3 a 300,0,100,100; 4 a 300,0,101,100"
  static const FrameRow rows[] = {
    /* a box exactly at a limit passes */
    ROW ("limits", "", PAIRS, "1 2 3 4 5"),
    ROW ("limits", "max-width=100", PAIRS, "1 2 3 4 5"),
    ROW ("limits", "max-width=99.5", PAIRS, "2 3 4 5"),
    ROW ("limits", "min-width=60", PAIRS, "1 2 5"),
    ROW ("limits", "min-width=60.5", PAIRS, "1 2"),
    ROW ("limits", "min-height=80", PAIRS, "3"),
    ROW ("limits", "max-height=75", PAIRS, "1 2 4 5"),
    ROW ("limits", "min-area=4500", PAIRS, "1 2"),
    ROW ("limits", "max-area=4500", PAIRS, "2 3 4 5"),
    ROW ("limits", "max-aspect-ratio=1.9", PAIRS, "2 3 4 5"),
    ROW ("limits", "min-aspect-ratio=0.51", PAIRS, "1 2 4 5"),
    ROW ("limits",
        "min-width=1 max-width=1000 min-height=1 max-height=1000 min-area=1 max-area=9999999 "
        "min-aspect-ratio=0.01 max-aspect-ratio=100",
        PAIRS, "1 2 3 4 5"),
    /* the aspect ratio is infinity without a height, 0 without a width; a point has none */
    ROW ("empty boxes", "max-aspect-ratio=1e9", EMPTY, "2 3"),
    ROW ("empty boxes", "min-aspect-ratio=1e-9", EMPTY, "1 3"),
    ROW ("empty boxes", "min-area=0.1", EMPTY, ""),
    /* normalized coordinates have rounding errors: a tenth of the width is 64 pixels */
    ROW ("exact limits",
        "min-width=64 max-width=64 min-height=48 max-height=48 min-area=3072 max-area=3072",
        "1 a 0:0:64:48 1; 2 a 64:48:128:96 1; 3 a 128:96:192:144 1; 4 a 192:144:256:192 1; "
        "5 a 256:192:320:240 1; 6 a 320:240:384:288 1; 7 a 384:288:448:336 1; "
        "8 a 448:336:512:384 1; 9 a 512:384:576:432 1",
        "1 2 3 4 5 6 7 8 9"),
    ROW ("class limits", "min-width=60 class-limits=\"o,b=[o,min-width=40]\"", PAIRS, "1 2 3 4 5"),
    ROW ("class limits", "min-width=60 class-limits=\"o,b=[o,min-width=0]\"", PAIRS, "1 2 3 4 5"),
    ROW ("class limits",
        "class-limits=\"o,b=[o,max-height=75,min-aspect-ratio=0.1],c=[o,min-area=3601]\"", PAIRS,
        "1 2 4"),
    ROW ("class limits", "max-width=50 class-limits=\"o,a=[o,min-height=5]\"", PAIRS, "3 4"),
    ROW ("class limits", "class-limits=\"o,options=<[o,class=a,max-width=99]>\"", PAIRS, "2 3 4 5"),
    ROW ("region", "roi=0,0,640,480", PAIRS, "1 2 3 4 5"),
    ROW ("region", "roi=45,25,5,1", PAIRS, "2"),
    ROW ("region", "roi=46,25,5,1", PAIRS, "1"),
    ROW ("region", "roi=\" 0, 236.5 ,640,1e3\"", PAIRS, "3 5"),
    ROW ("region", "roi=0,49%,640,100%", PAIRS, "3 5"),
    ROW ("region", "roi=0,0,100%,50%", PAIRS, "1 2 4"),
    ROW ("region", "roi=-10,-10%,50%,110%", PAIRS, "1 2 3 4"),
    ROW ("region", "roi=\"\"", PAIRS, "1 2 3 4 5"),
    ROW ("labels", "keep-classes=a,c", PAIRS "; 6 - 500,0,9,9", "1 2 5"),
    ROW ("labels", "keep-classes=\" b ,,\"", PAIRS "; 6 - 500,0,9,9", "3 4"),
    ROW ("labels", "drop-classes=\"a, c\"", PAIRS "; 6 - 500,0,9,9", "3 4 6"),
    ROW ("labels", "keep-classes=a,b drop-classes=a", PAIRS "; 6 - 500,0,9,9", "3 4"),
    ROW ("labels", "keep-classes=nothing", PAIRS "; 6 - 500,0,9,9", ""),
    ROW ("labels", "keep-classes=\"\" drop-classes=,", PAIRS "; 6 - 500,0,9,9", "1 2 3 4 5 6"),
    /* a part of a dropped box is dropped, and a dropped part leaves its parent */
    ROW ("parents", "max-width=150 min-width=10", CARS, "3 4"),
    ROW ("chain of parts", "max-width=300", PARTS, ""),
    ROW ("chain of parts", "max-width=300 drop-classes=b", PARTS, "4 3 5"),
    ROW ("chain of parts", "drop-classes=a", PARTS, "4 3 2 5"),
    ROW ("chain of parts", "class-limits=\"o,b=[o,max-width=29]\"", PARTS, "1"),
    /* the sides of a rotated box count, not those of the upright rectangle around it */
    ROW ("rotated", "min-width=100 max-height=10", ROTATED, "1"),
    ROW ("rotated", "max-width=50", ROTATED, ""),
    ROW ("rotated", "min-aspect-ratio=10", ROTATED, "1"),
    { "states",
        "boxselect action=tag drop-classes=x min-width=10 min-area=200 max-height=100 "
        "max-aspect-ratio=3 roi=100,100,300,300 drop-cut=true",
        "1 x 200,200,50,50 0.9; 2 a 200,200,9,50 0.9; 3 a 200,200,10,19 0.9; "
        "4 a 200,200,50,101 0.9; 5 a 200,200,50,16 0.9; 6 a 74,200,50,50 0.9; "
        "7 a 105,200,50,50 0.9 cut; 8 a 106,200,50,50 0.1",
        "1 2 3 4 5 6 7 8",
        "1=dropped-class 2=too-small 3=too-small 4=too-large 5=wrong-aspect-ratio 6=outside-roi "
        "7=cut-by-edge 8=kept",
        "boxes-in=8 boxes-out=1 dropped-class=1 too-small=2 too-large=1 wrong-aspect-ratio=1 "
        "outside-roi=1 cut-by-edge=1" },
    /* a dropped box suppresses none, with another label neither */
    { "in front", "nmsfilter", PAIRS, "1 3 5", .first = "boxselect max-width=100" },
    { "in front", "nmsfilter", PAIRS, "2 3 5", .first = "boxselect max-width=99.5" },
    { "in front", "nmsfilter class-agnostic=true", PAIRS "; 7 d 0,0,100,50 0.5", "3 5 7",
        .first = "boxselect drop-classes=a" },
    /* ... and counts neither as a neighbor nor towards a limit */
    { "in front", "nmsfilter min-neighbors=1", NEIGHBORS, "1 3", .first = "boxselect" },
    { "in front", "nmsfilter min-neighbors=1", NEIGHBORS, "3", .first = "boxselect max-width=105" },
    { "in front", "nmsfilter max-detections=1", PAIRS, "3", .first = "boxselect max-width=90" },
    { "in front", "nmsfilter max-candidates=1", PAIRS, "3", .first = "boxselect max-width=90" },
    /* behind nmsfilter, a dropped box has suppressed others before */
    { "behind", "boxselect max-width=99.5", PAIRS, "3 5", .first = "nmsfilter" },
    /* nmsfilter leaves tagged boxes, boxselect removes small ones whatever their tags are */
    { "tagged", "nmsfilter", PAIRS, "1 2 3 5", .first = "boxselect action=tag max-width=99.5" },
    { "tagged", "boxselect min-width=95", PAIRS, "1", .first = "nmsfilter action=tag" },
    /* With action=tag, each element leaves the boxes that the other one has tagged as dropped, in
     * either order, and the tags say what the elements would remove: 2 is kept because 1 takes no
     * part. */
    { "both tag", "nmsfilter action=tag", PAIRS, "1 2 3 4 5", "1=too-large 2=kept 4=suppressed:2",
        "not-selected=1 suppressed=1 boxes-in=5", "boxselect action=tag max-width=99.5" },
    /* other limits decide again about what boxselect dropped, but not about suppressed boxes */
    { "both tag", "boxselect action=tag max-height=60", PAIRS, "1 2 3 4 5",
        "1=kept 2=kept 3=too-large 4=suppressed:2", NULL,
        "boxselect action=tag max-width=99.5 ! nmsfilter action=tag" },
    { "both tag", "boxselect action=tag max-height=60", PAIRS, "1 2 3 4 5",
        "1=kept 2=suppressed:0 3=too-large 4=suppressed:2 5=kept", "not-selected=2 too-large=1",
        "nmsfilter action=tag" },
    /* parts are dropped for the reason of their parent, and 3 is kept because 2 takes no part */
    { "both tag", "nmsfilter action=tag", CARS, "1 2 3 4 5",
        "1=too-large 2=too-large 3=kept 4=kept 5=too-small", NULL,
        "boxselect action=tag max-width=150 min-width=10" },
  };

  expect_frames (rows, G_N_ELEMENTS (rows));
}

/* Sends a box of 20 x 20 pixels at x = 200. Returns whether it is kept. */
static gboolean
keeps (GstHarness *h)
{
  g_autoptr (GstBuffer) out = through (h, frame_with ("1 a 200,100,20,20 0.9"));

  return count_on (out) == 1;
}

/* The region follows the size of the frame; one in per cent does not apply without a size. */
static void
test_caps_changes (void)
{
#define SMALL_CAPS "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1"
#define NO_SIZE "application/x-test"
  static const struct
  {
    const gchar *caps, *roi; /* NULL: unchanged */
    gboolean kept;
    const gchar *says;
  } rows[] = { { NO_SIZE, "0,0,150,480", FALSE, NULL }, { FRAME_CAPS, "0,0,50%,100%", TRUE, NULL },
    { SMALL_CAPS, NULL, FALSE, NULL }, { NO_SIZE, NULL, TRUE, "roi in per cent does not apply" },
    { NULL, NULL, TRUE, NULL }, { SMALL_CAPS, NULL, FALSE, NULL },
    { FRAME_CAPS, NULL, TRUE, NULL } };
  g_autoptr (GstHarness) h = harness_new_caps ("boxselect", NULL);
  GstBus *bus = harness_bus (h);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    if (rows[i].caps)
      gst_harness_set_src_caps_str (h, rows[i].caps);
    if (rows[i].roi)
      g_object_set (h->element, "roi", rows[i].roi, NULL);
    g_assert_cmpint (keeps (h), ==, rows[i].kept);
    if (rows[i].says)
      assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), rows[i].says);
    g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 0);
  }
}

static void
test_defaults (void)
{
  g_autoptr (GstElement) element = element_new ("boxselect");

  assert_values (element,
      "min-width max-width min-height max-height min-area max-area min-aspect-ratio "
      "max-aspect-ratio roi keep-classes drop-classes class-limits drop-cut action",
      "0 0 0 0 0 0 0 0 NULL NULL NULL NULL false remove");
}

/* Each property applies from the next buffer on. */
static void
test_changes_while_playing (void)
{
  static const gchar *const rows[][3] = { { "min-width", "21", "0" }, { "roi", "0,0,100,100", "" },
    { "keep-classes", "b", "" }, { "drop-classes", "a", "" },
    { "class-limits", "o,a=[o,max-area=300]", "o" } };
  g_autoptr (GstHarness) h = harness_new ("boxselect");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_assert_true (keeps (h));
    gst_util_set_object_arg (G_OBJECT (h->element), rows[i][0], rows[i][1]);
    g_assert_false (keeps (h));
    gst_util_set_object_arg (G_OBJECT (h->element), rows[i][0], rows[i][2]);
  }
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
    g_object_set (element, "roi", NULL, "class-limits", NULL, "max-width", 0.0, "max-area", 0.0,
        NULL);
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
    if (g_str_has_prefix (unusable[i].property, "min"))
      continue;
    gst_util_set_object_arg (G_OBJECT (h->element), unusable[i].property, unusable[i].value);
    assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), unusable[i].says);
    assert_values (h->element, "roi", "0,0,150,480");
    g_assert_false (keeps (h));
  }
}

static const TestCase cases[] = { CASE (test_rows), CASE (test_caps_changes), CASE (test_defaults),
  CASE (test_changes_while_playing), CASE (test_unusable_at_start),
  CASE (test_unusable_while_playing), { NULL } };

GST_TEST_PROGRAM (cases);
