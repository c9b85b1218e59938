/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: the class of a box, all forms of the properties classes and class-options,
 * and the messages about invalid ones.
 */
#include "gstrunner.h"

/* Each class has a pair with IoU 2/3 and a third box far away. */
#define STREET \
  "1 person 0,0,100,100 0.9; 2 person 20,0,100,100 0.8; 3 person 0,300,100,100 0.2; " \
  "4 traffic_light 200,0,100,100 0.9; 5 traffic_light 220,0,100,100 0.8; " \
  "6 traffic_light 200,300,100,100 0.2; 7 car 400,0,100,100 0.9; 8 car 420,0,100,100 0.8; " \
  "9 car 400,300,100,100 0.2"

#define TWO "1 a 0,0,100,100 0.9; 2 b 20,0,100,100 0.8"

static void
test_rows (void)
{
  static const FrameRow rows[] = {
    { "classes list", "nmsfilter classes=person", STREET, "1 3 4 5 6 7 8 9" },
    { "classes list", "nmsfilter classes=\" person ,, traffic light,\"", STREET, "1 3 4 6 7 8 9" },
    { "classes list", "nmsfilter classes=\" , \"", STREET, "1 3 4 6 7 9" },
    { "classes list", "nmsfilter classes=nobody", STREET, "1 2 3 4 5 6 7 8 9" },
    { "classes list", "nmsfilter classes=person score-threshold=0.5 max-detections=1", STREET,
        "1 4 5 6 7 8 9" },
    { "classes list", "nmsfilter classes=person,car class-agnostic=true max-detections=3", STREET,
        "1 3 4 5 6 7" },
    { "class options keys",
        "nmsfilter class-options=\"o,options=<[o,class=\\\"traffic light\\\",iou-threshold=0.7,"
        "score-threshold=0.5],[o,class=car,max=5]>\"",
        STREET, "1 3 4 5 7 9" },
    /* the score-threshold of a class replaces the general one, higher or lower */
    { "class options keys",
        "nmsfilter score-threshold=0.85 class-options=\"o,car=[o,score-threshold=0.1]\"", STREET,
        "1 4 7 9" },
    { "class options keys",
        "nmsfilter score-threshold=0.85 class-options=\"o,car=[o,score-threshold=-3.5e38]\"",
        STREET, "1 4 7 9" },
    /* max=0 removes the general limit */
    { "class options keys", "nmsfilter max-per-class=1 class-options=\"o,car=[o,max=0]\"", STREET,
        "1 4 7 9" },
    { "class options keys", "nmsfilter class-options=\"o,nobody=[o,max=1]\"", STREET,
        "1 3 4 6 7 9" },
    { "class options keys", "nmsfilter class-options=o", STREET, "1 3 4 6 7 9" },
    /* the options of the class of the box that may be suppressed apply */
    { "candidate decides",
        "nmsfilter class-agnostic=true class-options=\"o,a=[o,iou-threshold=0.9]\"", TWO, "1" },
    { "candidate decides",
        "nmsfilter class-agnostic=true class-options=\"o,b=[o,iou-threshold=0.9]\"", TWO, "1 2" },
    /* The label id is used only if the label is empty: 1 suppresses 2, 3 suppresses 5, 4 suppresses
     * 6. 10 has no class and suppresses 11. */
    { "label ids", "nmsfilter",
        "1 a 0,0,100,100 0.9 as 7; 2 a 5,0,100,100 0.8 as 8; 3 '' 0,0,100,100 0.7 as 7; "
        "4 '' 5,0,100,100 0.6 as 8; 5 '' 5,0,100,100 0.5 as 7; 6 - 0,0,100,100 0.4 as 8; "
        "7 - 0,0,100,100 0.3 as -2147483648; 8 - 0,0,100,100 0.3 as 2147483647; "
        "9 - 0,0,100,100 0.3 as 0; 10 - 0,0,100,100 0.2; 11 '' 5,0,100,100 0.1",
        "1 3 4 7 8 9 10" },
  };

  expect_frames (rows, G_N_ELEMENTS (rows));
}

/* All forms of the same options. */
static void
test_class_options_forms (void)
{
  static const gchar *const same[] = {
    "o,person=[o,iou-threshold=0.7],car=[o,max=1]",
    "o,options=<[o,class=person,iou-threshold=0.7],[o,class=car,max=1]>",
    "o,options={[o,class=person,iou-threshold=0.7],[o,class=car,max=1]}",
    "o,options=<[o,class=person,iou-threshold=0.7]>,car=[o,max=1]",
    "o,person=[o,iou-threshold=(float)0.7],car=[o,max=(uint)1]",
    "o,person=[o,iou-threshold=(string)0.7],car=[o,max=(gint64)1]",
    "o,person=[o,iou-threshold=(double)0.7],car=[o,max=(double)1]",
    "o,person=[o,iou-threshold=(fraction)7/10],car=[o,max=(guint64)1]",
    "o,options=<(GstStructure)[o,class=person,iou-threshold=0.7],[o,max=1,class=car]>",
  };

  for (guint i = 0; i < G_N_ELEMENTS (same); i++) {
    g_autofree gchar *line = g_strdup_printf ("nmsfilter class-options=\"%s\"", same[i]);

    expect (line, frame_with (STREET), "1 2 3 4 6 7");
  }
}

static const struct
{
  const gchar *options;
  const gchar *says; /* pattern of the message */
} unusable[] = {
  { "o,person=[o,iou=0.3]", "*unknown key \"iou\"*\"person\"*iou-threshold*score-threshold*max*" },
  { "o,person=[o,iou-threshold=1.01]", "*iou-threshold*\"person\"*1.01*0 to 1*" },
  { "o,person=[o,iou-threshold=-0.1]", "*iou-threshold*\"person\"*-0.1*0 to 1*" },
  { "o,person=[o,iou-threshold=high]", "*iou-threshold*\"person\"*high*0 to 1*" },
  { "o,person=[o,iou-threshold=true]", "*iou-threshold*\"person\"*true*0 to 1*" },
  { "o,person=[o,iou-threshold=nan]", "*iou-threshold*\"person\"*nan*0 to 1*" },
  { "o,person=[o,score-threshold=(string)\"\"]", "*score-threshold*\"person\"*number*" },
  { "o,person=[o,score-threshold=(string)\"0.5 or so\"]", "*score-threshold*\"person\"*number*" },
  { "o,person=[o,max=-1]", "*max*\"person\"*-1*whole number*" },
  { "o,person=[o,max=1.5]", "*max*\"person\"*1.5*whole number*" },
  { "o,person=[o,max=(gint64)4294967296]", "*max*\"person\"*4294967296*whole number*" },
  { "o,person=[o,max=<1,2>]", "*max*\"person\"*whole number*" },
  { "o,person=[o,min-width=9]", "*unknown key \"min-width\"*\"person\"*max*" },
  { "o,cat=5", "*\"cat\"*as in o,cat=?o,iou-threshold=0.3?, *options=<?o,class=*keys*max*" },
  { "o,options=5", "*\"options\"*as in o,person=?o,iou-threshold=0.3?, *options=<?o,class=*" },
  { "person,max=5", "*\"max\"*as in o,person=?o,iou-threshold=0.3?, *options=<?o,class=*" },
  { "o,options=<[o,max=1]>", "*entry 0*no class*" },
  { "o,options=<[o,class=a],5>", "*entry 1*no class*" },
  { "o,options=<[o,class=(string)\"\",max=1]>", "*class is empty*" },
  { "o,options=<[o,class=car,max=1],[o,class=car,max=2]>", "*\"car\"*twice*" },
  { "o,car=[o,max=1],options=<[o,class=car,max=2]>", "*\"car\"*twice*" },
};

static void
set_options (GstElement *element, const gchar *text)
{
  g_autoptr (GstStructure) options = gst_structure_from_string (text, NULL);

  if (options == NULL)
    g_error ("no structure: %s", text);
  g_object_set (element, "class-options", options, NULL);
}

/* If it is set before the start: one error when the element starts, none before. If it is set while
 * playing: one warning, and the last valid value remains in use. */
static void
test_unusable (void)
{
  g_autoptr (GstHarness)
      h = harness_new ("nmsfilter class-options=\"o,person=[o,iou-threshold=0.7]\"");
  GstBus *bus = harness_bus (h);

  for (guint i = 0; i < G_N_ELEMENTS (unusable); i++) {
    g_autoptr (GstElement) element = element_new ("nmsfilter");
    g_autoptr (GstStructure) set = NULL, left = NULL;

    set_options (element, unusable[i].options);
    expect_no_start (element, unusable[i].says);
    g_object_get (element, "class-options", &set, NULL); /* unchanged */
    g_assert_nonnull (set);
    set_options (element, "o,car=[o,max=1]");
    expect_start (element);

    set_options (h->element, unusable[i].options);
    assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), unusable[i].says);
    expect_through (h, frame_with (STREET), "1 2 3 4 6 7 9");
    g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR), ==, 0);
    g_object_get (h->element, "class-options", &left, NULL);
    g_assert_true (gst_structure_has_field (left, "person"));
  }
}

/* Very many label ids, each with one duplicate. */
static void
test_many_label_ids (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");

  for (guint round = 0; round < 3; round++) {
    GstBuffer *buffer = frame_new (0);
    g_autoptr (GstBuffer) out = NULL;

    for (guint i = 0; i < 6000; i++)
      gst_structure_set (add_scored (buffer, 1, "", (Rect) { i % 2, 0, 100, 100 }, 0.9)
                             ->params->data,
          "label_id", G_TYPE_INT, (gint) (i / 2 * 2654435761u), NULL);
    out = through (h, buffer);
    g_assert_cmpuint (count_on (out), ==, 3000);
  }
  g_assert_cmpuint (stat_of (h->element, "suppressed"), ==, 9000);
}

static const TestCase cases[] = { CASE (test_rows), CASE (test_class_options_forms),
  CASE (test_unusable), CASE (test_many_label_ids), { NULL } };

GST_TEST_PROGRAM (cases);
